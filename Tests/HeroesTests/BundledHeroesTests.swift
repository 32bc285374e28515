import AggregatorFakeServices
import AggregatorKit
import Foundation
import HeroesSource
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BundledHeroesTests {
  private let plugin = HeroesPlugin()

  /// The Comic Vine IDs of the bundled characters.
  private static let ids: Set = [
    1440, 1441, 1442, 1443, 1444, 1446, 1453, 1455, 1456, 1457, 1459, 1460, 1461, 1462, 1464,
    1465, 1466, 1467, 1468, 1469, 1472, 1475, 1476, 1493, 1499, 1502, 1503, 1504, 1505, 1689,
    1691, 1699, 1702, 1786, 1791, 1807, 1808, 2047, 2048, 2105, 2120, 2149, 2157, 2259, 2265,
    2268, 2349, 2351, 2353, 2357, 2361, 2363, 2388, 2389, 2395, 2502, 2551, 3298, 3319, 3324,
    3365, 3381, 3548, 3552, 3584, 3586, 3588, 3628, 4324, 4915, 5210, 5368, 5466, 5690, 5691,
    5936, 6270, 6805, 6849, 6903, 7367, 7477, 7606, 7607, 8332, 8337, 9290, 10448, 10451,
    10957, 11202, 12663, 12926, 15032, 15809, 18319, 22804, 23879, 40431, 41952, 46768, 49617,
    57121, 89628, 125054, 162687, 187172,
  ]

  private func everybody() async throws -> [Hero] {
    try await plugin.bundled.page(PageRequest(limit: 1000)).records
  }

  @Test func `has the ids of the service, each once`() async throws {
    let heroes = try await everybody()
    #expect(heroes.count == Self.ids.count)
    #expect(Set(heroes.map(\.id)) == Self.ids)
  }

  @Test(arguments: [
    (1440, "Wolverine"), (1443, "Spider-Man"), (1699, "Batman"), (2048, "Wonder Woman"),
    (3381, "Spawn"), (5466, "Hellboy"), (40431, "Kyle Rayner"), (187172, "Spider Supreme"),
  ])
  func `has the names of the service`(id: Int, name: String) async throws {
    let found = try await plugin.bundled.item(id)
    #expect(found.item.name == name)
    #expect(found.provenance.origin == .bundled)
  }

  @Test func `has publishers, powers and biographies`() async throws {
    // Too little is known about Spider Supreme.
    for hero in try await everybody() where hero.id != 187172 {
      #expect(hero.publisher?.isEmpty == false, "\(hero.name)")
      #expect(hero.powers != nil && hero.teams != nil && hero.aliases != nil, "\(hero.name)")
      #expect(hero.biography?.isEmpty == false, "\(hero.name)")
      #expect(hero.link?.hasSuffix("/4005-\(hero.id)/") == true, "\(hero.name)")
    }
  }

  @Test func `has the same ID as the live record`() async throws {
    var character = FakeCharacter.unknown
    (character.id, character.name) = (1443, "Spider-Man")
    let live = try await FakeComicVine([character]).heroes().item(1443).item
    let bundled = try await plugin.bundled.item(1443).item
    #expect(live.id == bundled.id)
    #expect(live.merged(over: bundled).biography == bundled.biography)
  }

  @Test func `contains the examples of the help`() async throws {
    let request = PageRequest(matching: try SearchQuery(plugin.example.query), limit: 100)
    let heroes = try await plugin.bundled.page(request).records
    let id = try #require(Int(plugin.example.id))
    #expect(heroes.contains { $0.id == id })
    #expect(heroes.count >= 5)
    #expect(try await plugin.bundled.item(id).item.id == id)
  }

  @Test(arguments: [("peter parker", 1443), ("logan", 1440), ("LOGAN  wolverine", 1440)])
  func `is searched by names, real names and aliases`(text: String, id: Int) async throws {
    let page = try await plugin.bundled.page(PageRequest(matching: try SearchQuery(text)))
    #expect(page.records.map(\.id).contains(id))
  }
}
