import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorWeb

/// What the server is asked for by a path.
@Suite struct RouteTests {
  static let routes: [Route] = [
    .common(.health), .common(.document), .common(.metrics), .api(RoutePath(.sources)),
    .api(RoutePath(.search)),
    .api(RoutePath(.sql)), .page(RoutePath(.sql)),
    .api(RoutePath(.list, "heroes")), .api(RoutePath(.record, "heroes", "a/b")),
    .api(RoutePath(.image, "heroes", "image")), .api(RoutePath(.restore, "heroes", "restore")),
    .page(RoutePath(.start)), .page(RoutePath(.search)), .page(RoutePath(.list, "search")),
    .page(RoutePath(.record, "heroes", "delete")), .page(RoutePath(.delete, "heroes", "1")),
    .page(RoutePath(.restore, "heroes", "1")),
    .page(RoutePath(.remove, "heroes")), .page(RoutePath(.edit, "heroes")), .page(RoutePath(.key)),
    .page(RoutePath(.asset, "style.css")),
  ]

  @Test(arguments: routes)
  func `a path leads to the route that made it`(route: Route) {
    let segments =
      switch route {
      case .api(let route): route.segments
      case .page(let route): route.segments
      default: [String(route.metricLabel.dropFirst())]
      }
    #expect(Route(segments) == route)
  }

  @Test func `a path has methods unless it leads nowhere`() {
    for route in Self.routes { #expect(!route.methods.isEmpty, "\(route)") }
    #expect(Route(["api", "v1", "sync", "heroes"]).methods == ["GET", "POST", "DELETE"])
    #expect(Route(["x"]).methods.isEmpty)
  }

  @Test func `no label of a metric has a word of a client`() {
    let word = "mallory"
    let paths = [
      [word], ["api", word], ["api", "v1", word], ["api", "v1", word, word],
      ["api", "v1", word, word, "image"], ["api", "v1", word, word, word], ["sources", word],
      ["sources", word, word], ["sources", word, word, "delete"], ["sources", word, word, word],
      ["assets", word], ["assets", word, word], ["metrics", word], ["search", word],
    ]
    for path in paths { #expect(!Route(path).metricLabel.contains(word), "\(path)") }
    #expect(Set(Self.routes.map(\.metricLabel)).count == Self.routes.count)
  }

  @Test func `the icon is where browsers look for it`() {
    #expect(Route(["favicon.ico"]) == .page(RoutePath(.asset, "icon.svg")))
  }

  @Test(arguments: [
    ["api"], ["api", "v2", "heroes"], ["api", "v1", "heroes", "1", "x"],
    ["sources"], ["sources", "heroes", "1", "x"], ["metrics", "x"], ["x"],
  ])
  func `other paths lead nowhere`(path: [String]) {
    #expect(Route(path) == .unknown(isForPrograms: path[0] == "api"))
  }
}
