import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The program with a service that works.
@Suite struct LiveTests {
  @Test func `a complete list has every row once and in order`() async throws {
    let service = try FakeComicVine()
    let outcome = try await Binary.run("heroes list --all --json", environment: service.settings)
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
    let envelope = try outcome.envelope()
    #expect(envelope.items.map(\.id) == FakeCharacter.cast.map(\.id))
    #expect(envelope.page.count == FakeCharacter.cast.count)
    #expect(envelope.page.total == FakeCharacter.cast.count)
    #expect(envelope.page.next == nil)
    #expect(envelope.provenance?.origin == "live")
    #expect(envelope.provenance?.reason == nil)
    #expect(envelope.provenance?.fetchedAt != nil)
    #expect(envelope.provenance?.endpoint == "\(service.url.absoluteString)/characters/")
    #expect(envelope.warnings.isEmpty)
    // 257 rows at 100 a page.
    #expect(service.requests.map(\.path) == Array(repeating: "/api/characters/", count: 3))
  }

  @Test func `a small list sends one request for as many rows`() async throws {
    let service = try FakeComicVine()
    let outcome = try await Binary.run("heroes list --limit 5", environment: service.settings)
    #expect(outcome.lines.count == 5)
    #expect(outcome.errors.hasPrefix("5 of 257 heroes · more: --cursor "))
    #expect(service.requests.map { $0.query["limit"] } == ["5"])
  }

  @Test func `a cursor continues in another process`() async throws {
    let service = try FakeComicVine()
    let first = try await Binary.run(
      "heroes list --limit 7 --json", environment: service.settings
    ).envelope()
    let cursor = try #require(first.page.next)
    let second = try await Binary.run(
      "heroes list --limit 7 --json --cursor \(cursor)", environment: service.settings
    ).envelope()
    #expect(
      (first.items + second.items).map(\.id) == FakeCharacter.cast.prefix(14).map(\.id))
  }

  @Test func `a search uses the service's own search`() async throws {
    let service = try FakeComicVine()
    let outcome = try await Binary.run(
      "heroes search spider --all --json", environment: service.settings)
    #expect(outcome.status == 0)
    let envelope = try outcome.envelope()
    #expect(envelope.items.count == 16)
    #expect(envelope.items.allSatisfy { $0.name.hasPrefix("Spider-") })
    #expect(envelope.query == "spider")
    #expect(service.requests.map(\.path) == ["/api/search/"])
    #expect(service.requests.first?.query["query"] == "spider")
  }

  @Test func `shows a hero with powers, teams and a biography without tags`() async throws {
    let service = try FakeComicVine()
    let hero = FakeCharacter.complete
    let card = try await Binary.run(
      "heroes show \(hero.id) --format table", environment: service.settings)
    #expect(card.status == 0)
    #expect(card.errors == "")
    for text in ["Ilse Varga\n", "Cartography, Flight\n", "The Parallels\n", "Ilse met No & Co."] {
      #expect(card.output.contains(text), "\(text)")
    }
    #expect(!card.output.contains("<") && !card.output.contains("&amp;"))
    #expect(service.requests.map(\.path) == ["/api/character/4005-1253/"])

    let json = try await Binary.run(
      "heroes show \(hero.id) --json", environment: service.settings
    ).envelope()
    #expect(json.items.first?.powers == ["Cartography", "Flight"])
    #expect(json.items.first?.teams == ["The Parallels"])
    #expect(json.items.first?.biography?.contains("Ilse met No & Co.") == true)
  }

  @Test func `several records are shown in the order of their IDs`() async throws {
    let service = try FakeComicVine()
    let outcome = try await Binary.run(
      "heroes show 1255 1253 1256 --json", environment: service.settings)
    #expect(outcome.status == 0)
    #expect(try outcome.envelope().items.map(\.id) == [1255, 1253, 1256])
  }

  @Test func `an unknown ID exits 1, some unknown IDs exit 3`() async throws {
    let service = try FakeComicVine()
    let none = try await Binary.run("heroes show 99", environment: service.settings)
    #expect(none.status == 1)
    #expect(none.output == "")
    #expect(
      none.errors == "error: heroes: hero 99 not found\nhint: candidates: 49617 (Spider-Boy 2099)\n"
    )
    #expect(service.requests.count == 1)

    let part = try await Binary.run("heroes show 99 1253 xx --json", environment: service.settings)
    #expect(part.status == 3)
    let envelope = try part.envelope()
    #expect(envelope.items.map(\.id) == [1253])
    #expect(envelope.warnings.map(\.code) == ["notFound", "notFound"])
    #expect(
      envelope.warnings.map(\.message) == [
        "hero 99 not found", "hero \"xx\" not found",
      ])
  }

  @Test func `countries come from their list in one request`() async throws {
    let service = try FakeCountries()
    for (line, count) in [("list --all", 249), ("search new", 4), ("list", 20)] {
      let before = service.requests.count
      let outcome = try await Binary.run(
        "countries \(line) --ndjson", environment: service.settings)
      #expect(outcome.status == 0)
      #expect(outcome.lines.count == count, "\(line)")
      #expect(service.requests.count == before + 1)
    }
    let shown = try await Binary.run("countries show fr CI", environment: service.settings)
    #expect(shown.output == "FR\tFrance\tEU\tParis\nCI\tCôte d'Ivoire\tAF\tYamoussoukro\n")
  }

  @Test func `unreadable rows are dropped and counted`() async throws {
    let service = try FakeComicVine(quirks: [.badRows])
    let outcome = try await Binary.run(
      "heroes list --limit 10 --json", environment: service.settings)
    #expect(outcome.status == 3)
    let envelope = try outcome.envelope()
    #expect(envelope.warnings.map(\.code) == ["unreadable"])
    #expect(envelope.warnings.first?.message.hasPrefix("3 rows could not be read") == true)
    #expect(outcome.errors.contains("warning: heroes: 3 rows could not be read"))
  }
}
