import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation

/// The sources with a fake service, each with its own server.
final class FourServices: Sendable {
  let countries: FakeCountries
  let heroes: FakeComicVine
  let products: FakeProducts
  let users: FakeRandomUser

  /// The sources, with the field of their IDs.
  static let sources = [
    (name: "countries", id: "code"), (name: "heroes", id: "id"), (name: "products", id: "id"),
    (name: "users", id: "email"),
  ]

  /// Their names on a command line: `countries,heroes,products,users`.
  static let names = sources.map(\.name).joined(separator: ",")

  init() throws {
    countries = try FakeCountries()
    heroes = try FakeComicVine()
    products = try FakeProducts()
    users = try FakeRandomUser()
  }

  /// Settings with their URLs and without rate limits.
  var settings: [String: String] {
    [countries.settings, heroes.settings, products.settings, users.settings].reduce(into: [:]) {
      $0.merge($1) { $1 }
    }
  }

  /// The number of requests to the service of a source, or to all.
  func requestCount(of source: String? = nil) -> Int {
    let counts = [
      "countries": countries.requests.count, "heroes": heroes.requests.count,
      "products": products.requests.count, "users": users.requests.count,
    ]
    return source.map { counts[$0] ?? 0 } ?? counts.values.reduce(0, +)
  }

  /// Closes all ports.
  func stop() {
    countries.stop()
    heroes.stop()
    products.stop()
    users.stop()
  }
}
