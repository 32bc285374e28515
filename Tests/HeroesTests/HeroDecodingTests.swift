import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import HeroesSource

@Suite(.timeLimit(.minutes(10)))
struct HeroDecodingTests {
  @Test func `reads the long form of a character`() async throws {
    let service = try FakeComicVine()
    let found = try await service.heroes().item(1253)
    let hero = found.item
    #expect(hero.name == "Doctor Meridian")
    #expect(hero.realName == "Ilse Varga")
    #expect(hero.publisher == "Quarry Comics")
    #expect(hero.aliases == ["Noon", "The Line", "Zénith"])
    #expect(hero.powers == ["Cartography", "Flight"])
    #expect(hero.teams == ["The Parallels"])
    #expect(hero.firstAppearance == "Lines! (issue 15)")
    #expect(hero.summary == "Draws lines that hold & bind.\nSome of them.")
    #expect(hero.biography == "Origin\n\nIlse met No & Co.\n\nLater\n\nShe went on.")
    #expect(
      hero.image == "https://comicvine.example/a/uploads/scale_medium/0/40/1253-portrait.jpg")
    #expect(hero.link == "https://comicvine.example/character/4005-1253/")
    #expect(found.provenance.origin == .live)
    #expect(found.provenance.fetchedAt == Fixture.date)
  }

  @Test func `requests a single character with few fields`() async throws {
    let service = try FakeComicVine()
    _ = try await service.heroes().item(1253)
    // Without the trailing slash the service would redirect, and repeat the key.
    #expect(service.requests.map(\.path) == ["/api/character/4005-1253/"])
    let fields = try #require(service.requests.first?.query["field_list"])
      .split(separator: ",").map(String.init)
    #expect(Set(fields).isSuperset(of: ["id", "name", "powers", "teams", "description"]))
    #expect(!fields.contains("issue_credits"))
  }

  @Test func `leaves details of the long form unknown in a list`() async throws {
    let hero = try #require(
      try await FakeComicVine().heroes().page(PageRequest(limit: 1)).records.first)
    #expect(hero.powers == nil)
    #expect(hero.teams == nil)
    #expect(hero.biography == nil)
    #expect(hero.aliases == ["Noon", "The Line", "Zénith"])
  }

  @Test func `reads a character without details`() async throws {
    let hero = try await FakeComicVine().heroes().item(1254).item
    var nobody = Hero(id: 1254, name: "Nobody")
    (nobody.aliases, nobody.powers, nobody.teams) = ([], [], [])
    nobody.link = "https://comicvine.example/character/4005-1254/"
    #expect(hero == nobody)
  }

  @Test func `treats blank text and the blank picture as unknown`() async throws {
    let hero = try await FakeComicVine().heroes().item(1255).item
    #expect(hero.name == "Señor Niebla 🌫")
    #expect(hero.realName == nil)
    #expect(hero.aliases == [])
    #expect(hero.summary == nil)
    #expect(hero.biography == nil)
    #expect(hero.image == nil)
    #expect(hero.firstAppearance == "issue ½")
  }

  @Test func `reads an issue without a number`() async throws {
    #expect(try await FakeComicVine().heroes().item(1256).item.firstAppearance == "Better Late")
  }

  // MARK: - Unusual rows

  /// The hero in a reply whose only row has these members.
  private func hero(with members: String) async throws -> Hero {
    let row = #"{"id":7,"name":"Seven"\#(members.isEmpty ? "" : ",")\#(members)}"#
    let service = try FakeComicVine()
    service.fail(with: .json(#"{"status_code":1,"results":[\#(row)]}"#))
    return try #require(try await service.heroes().page(PageRequest()).records.first)
  }

  @Test func `leaves missing details unknown`() async throws {
    #expect(try await hero(with: "") == Hero(id: 7, name: "Seven"))
  }

  @Test(arguments: [
    #""real_name":1.5"#, #""aliases":["a"]"#, #""deck":{}"#, #""description":[]"#,
    #""publisher":"Quarry""#, #""publisher":[]"#, #""publisher":{"name":null}"#,
    #""first_appeared_in_issue":[]"#,
    #""first_appeared_in_issue":{"name":null,"issue_number":null}"#,
    #""image":"x.jpg""#, #""image":{}"#, #""powers":"many""#, #""teams":{}"#,
    #""image":{"medium_url":"//host/x.jpg"}"#, #""image":{"medium_url":"javascript:alert(1)"}"#,
    #""image":{"medium_url":""}"#, #""site_detail_url":"file:///etc/passwd""#,
    #""gender":"Female","birth":"1911-01-03 00:00:00","count_of_issue_appearances":null"#,
  ])
  func `treats details of an unexpected type as unknown`(members: String) async throws {
    #expect(try await hero(with: members) == Hero(id: 7, name: "Seven"))
  }

  @Test func `keeps the powers that have a name`() async throws {
    let hero = try await hero(with: #""powers":[{"name":"Flight"},null,{"name":null},{"id":3},7]"#)
    #expect(hero.powers == ["Flight"])
  }

  @Test(arguments: [
    #"{"id":7}"#, #"{"name":"Seven"}"#, #"{"id":7,"name":"  "}"#, #"{"id":7.5,"name":"Seven"}"#,
    #"[]"#, #"7"#,
  ])
  func `counts a row without ID or name as unreadable`(row: String) async throws {
    let service = try FakeComicVine()
    service.fail(with: .json(#"{"status_code":1,"results":[\#(row),{"id":8,"name":"Eight"}]}"#))
    let page = try await service.heroes().page(PageRequest())
    #expect(page.records.map(\.id) == [8])
    #expect(page.unreadable.count == 1)
  }

  // MARK: - Merging

  @Test func `merges the short form with the long form`() async throws {
    let heroes = try FakeComicVine().heroes()
    let short = try #require(try await heroes.page(PageRequest(limit: 1)).records.first)
    let long = try await heroes.item(1253).item
    #expect(short != long)
    #expect(short.merged(over: long) == long)
    #expect(long.merged(over: short) == long)
  }

  @Test func `prefers new details and keeps missing ones`() throws {
    var known = Hero(id: 7, name: "Seven")
    known.realName = "Old"
    known.publisher = "Old"
    known.aliases = ["Old"]
    known.powers = ["Old"]
    known.teams = ["Old"]
    known.firstAppearance = "Old"
    known.summary = "Old"
    known.biography = "Old"
    known.image = "https://old.example/x.jpg"
    known.link = "https://old.example/"
    let bare = Hero(id: 7, name: "Sept")
    var kept = known
    kept.name = "Sept"
    #expect(bare.merged(over: known) == kept)
    #expect(known.merged(over: bare) == known)
    var renewed = bare
    renewed.aliases = []
    renewed.powers = ["New"]
    #expect(renewed.merged(over: known).aliases == [])
    #expect(renewed.merged(over: known).powers == ["New"])
  }
}

@Suite struct HeroImageTests {
  private let plugin = HeroesPlugin()
  private let settings = SourceSettings()

  private func addresses(of hero: Hero) throws -> [String?] {
    try ImageSize.allCases.map {
      try plugin.imageAddress(of: hero, $0, in: settings)?.description
    }
  }

  @Test func `a picture has the three sizes of the service`() async throws {
    let service = try FakeComicVine()
    let source = try plugin.remote(
      in: PluginEnvironment(
        settings: SourceSettings(service.settings), transport: service.transport))
    let hero = try await source.item(1253).item
    #expect(
      try addresses(of: hero) == [
        "https://comicvine.example/a/uploads/scale_small/0/40/1253-portrait.jpg",
        "https://comicvine.example/a/uploads/scale_medium/0/40/1253-portrait.jpg",
        "https://comicvine.example/a/uploads/scale_large/0/40/1253-portrait.jpg",
      ])
    for id in [1254, 1255] {
      // `null`, and the blank placeholder picture.
      #expect(try addresses(of: try await source.item(id).item) == [nil, nil, nil])
    }
  }

  @Test func `a picture on another host has one size`() throws {
    var hero = Hero(id: 1, name: "X")
    hero.image = "https://cdn.example/x.jpg"
    #expect(try addresses(of: hero) == Array(repeating: "https://cdn.example/x.jpg", count: 3))
  }
}
