import AggregatorFakeServices
import AggregatorKit
import Testing

@testable import HeroesSource

@Suite struct HeroImageTests {
  private let plugin = HeroesPlugin()
  private let settings = Settings()

  private func addresses(of hero: Hero) throws -> [String?] {
    try ImageSize.allCases.map {
      try plugin.imageAddress(of: hero, $0, in: settings)?.description
    }
  }

  @Test func `a picture has three sizes, which the service names so too`() async throws {
    let service = try FakeComicVine()
    let source = try plugin.remote(
      in: PluginEnvironment(settings: Settings(service.settings), transport: service.transport))
    let hero = try await source.item(1253).item
    #expect(
      try addresses(of: hero) == [
        "https://comicvine.example/a/uploads/scale_small/0/40/1253-portrait.jpg",
        "https://comicvine.example/a/uploads/scale_medium/0/40/1253-portrait.jpg",
        "https://comicvine.example/a/uploads/scale_large/0/40/1253-portrait.jpg",
      ])
    for id in [1254, 1255] {
      // `null`, and the picture that stands for none.
      #expect(try addresses(of: try await source.item(id).item) == [nil, nil, nil])
    }
  }

  @Test func `a picture elsewhere has one size`() throws {
    var hero = Hero(id: 1, name: "X")
    hero.image = "https://cdn.example/x.jpg"
    #expect(try addresses(of: hero) == Array(repeating: "https://cdn.example/x.jpg", count: 3))
  }
}
