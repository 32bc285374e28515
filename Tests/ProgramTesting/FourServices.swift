import AggregatorFakeServices

/// The sources with a fake service.
typealias FourServices = FakeServices

extension FakeServices {
  /// The sources, with the field of their IDs.
  static let sources = [
    (name: "countries", id: "code"), (name: "heroes", id: "id"), (name: "products", id: "id"),
    (name: "users", id: "email"),
  ]

  /// Their names on a command line: `countries,heroes,products,users`.
  static let names = sources.map(\.name).joined(separator: ",")

  /// The number of requests to the service of a source, or to all.
  func requestCount(of source: String? = nil) -> Int {
    let counts = [
      "countries": countries.requests.count, "heroes": heroes.requests.count,
      "products": products.requests.count, "users": users.requests.count,
    ]
    return source.map { counts[$0] ?? 0 } ?? counts.values.reduce(0, +)
  }
}
