import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Each source through the built program: live, unknown, broken and unavailable data.
@Suite struct FourSourcesTests {
  /// Only the members that all envelopes have.
  private struct Listing: Decodable {
    /// Text, or the number of a hero.
    struct ID: Decodable, Hashable {
      let text: String
      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try (try? container.decode(String.self)) ?? "\(container.decode(Int.self))"
      }
    }
    struct Item: Decodable {
      let id: ID?
      let email: String?
      let title: String?
      let merchant: String?
      let images: [String]?
    }
    let items: [Item]
    let provenance: Envelope.Provenance
    let warnings: [Envelope.Warning]
  }

  private func listing(_ outcome: Outcome) throws -> Listing {
    try JSONDecoder().decode(Listing.self, from: Data(outcome.output.utf8))
  }

  @Test(arguments: ProductsEra.allCases)
  func `lists, searches and shows products of every era`(era: ProductsEra) async throws {
    let service = try FakeProducts(era: era)
    let all = try await Binary.run("products list --all --json", environment: service.settings)
    #expect(all.status == 0)
    #expect(all.errors == "")
    let items = try listing(all).items
    #expect(items.count == 30)
    let ids = Set(items.map(\.id))
    #expect(ids.count == 30)
    #expect(items.flatMap { $0.images ?? [] }.allSatisfy { $0.hasPrefix("http") })

    let title = try #require(items.compactMap(\.title).first)
    let word = try #require(title.split(separator: " ").first).lowercased()
    let found = try await Binary.run(
      ["products", "search", word, "--json"], environment: service.settings)
    #expect(found.status == 0)
    #expect(try listing(found).items.contains { $0.title == title })

    let id = try #require(items.first?.id?.text)
    let shown = try await Binary.run("products show \(id) --json", environment: service.settings)
    #expect(try listing(shown).items.map(\.id?.text) == [id])
    #expect(try listing(shown).provenance.origin == "live")
    let unknown = try await Binary.run(
      "products show 00000000-0000-4000-8000-00000000ffff", environment: service.settings)
    #expect(unknown.status == 1)
    #expect(unknown.output == "")
  }

  @Test func `fetches users once, then lists, searches and shows them from the store`() async throws
  {
    let service = try FakeRandomUser()
    let sandbox = try Sandbox()
    func run(_ line: String) async throws -> Outcome {
      try await Binary.run(line, environment: service.settings, in: sandbox)
    }
    let first = try listing(try await run("users list --json"))
    #expect(first.provenance.origin == "live")
    let emails = first.items.compactMap(\.email)
    #expect(!emails.isEmpty && Set(emails).count == emails.count)
    #expect(emails.allSatisfy { $0 == $0.lowercased() })
    let count = service.requests.count

    let again = try listing(try await run("users list --all --json"))
    #expect(again.items.compactMap(\.email).starts(with: emails))
    #expect(again.provenance.origin == "cached")
    let email = try #require(emails.last)
    let shown = try listing(try await run("users show \(email.uppercased()) --json"))
    #expect(shown.items.map(\.email) == [email])
    let found = try listing(try await run("users search \(email) --json"))
    #expect(found.items.map(\.email) == [email])
    #expect(found.warnings.map(\.code) == ["cachedOnly"])
    let unknown = try await run("users show nobody@nowhere.example")
    #expect(unknown.status == 1)
    #expect(unknown.errors.hasPrefix("error: users: user "))
    #expect(service.requests.count == count)
  }

  @Test func `bundled users answer only while none is cached`() async throws {
    let service = try FakeRandomUser()
    let sandbox = try Sandbox()
    let show = "users show aino.tormanen@example.com --json"
    let bundled = try await Binary.run(show, environment: service.settings, in: sandbox)
    #expect(bundled.status == 0)
    #expect(try listing(bundled).items.map(\.email) == ["aino.tormanen@example.com"])
    #expect(try listing(bundled).provenance.origin == "bundled")
    #expect(try listing(bundled).provenance.reason == "nothingCached")
    #expect(service.requests.isEmpty)
    let loaded = try await Binary.run("users load 1", environment: service.settings, in: sandbox)
    #expect(loaded.status == 0)
    #expect(try await Binary.run(show, environment: service.settings, in: sandbox).status == 1)
  }

  @Test func `does not show a hero that was not requested`() async throws {
    let reply = #"{"status_code":1,"error":"OK","results":{"id":99,"name":"Somebody Else"}}"#
    let service = try FakeServer(.json(reply))
    let shown = try await Binary.run(
      "heroes show 1443 --no-fallback", environment: service.settings)
    #expect(shown.status == 76)
    #expect(shown.output == "")
  }

  @Test func `an unreadable row is dropped and counted`() async throws {
    let service = try FakeProducts(quirks: [.badRows])
    let outcome = try await Binary.run("products list --all --json", environment: service.settings)
    #expect(outcome.status == 3)
    #expect(try listing(outcome).items.count == 27)
    #expect(try listing(outcome).warnings.map(\.code) == ["unreadable"])
    #expect(outcome.errors.contains("warning: products: 3 rows could not be read (row 2: "))
  }

  @Test(arguments: ["countries", "heroes", "products", "users"])
  func `bundled data answers with the reason while the service is down`(source: String) async throws
  {
    // Nothing listens at the addresses that tests have by default.
    for verb in ["list", "search \(source == "users" ? "aino" : "a")"] {
      let outcome = try await Binary.run(
        "\(source) \(verb) --json", environment: ["COMIC_VINE_API_KEY": "x1y2z3w4"])
      #expect(outcome.status == 0)
      let listing = try listing(outcome)
      #expect(!listing.items.isEmpty)
      #expect(listing.provenance.origin == "bundled")
      #expect(listing.provenance.reason == "unreachable")
      #expect(listing.warnings.map(\.code) == ["bundled"])
      #expect(
        outcome.errors.contains(
          "warning: \(source): showing bundled sample data (cannot connect to "))
      let refused = try await Binary.run(
        "\(source) \(verb) --no-fallback", environment: ["COMIC_VINE_API_KEY": "x1y2z3w4"])
      #expect(refused.status == 69)
      #expect(refused.output == "")
    }
  }
}
