import FakeServices
import Foundation
import SourceTesting
import Testing

/// Each source through the built program: what is live, what is unknown, what is broken, what is away.
@Suite struct FourSourcesTests {
  /// Only what all envelopes have.
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
  func `products of every era are listed, searched and shown`(era: ProductsEra) async throws {
    let service = try FakeProducts(era: era)
    let all = try await Binary.run("products list --all --json", environment: service.settings)
    #expect(all.status == 0)
    #expect(all.errors == "")
    let items = try listing(all).items
    #expect(items.count == 30)
    #expect(Set(items.map(\.id)).count == 30)
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

  @Test func `users are listed without an end, searched and shown by their address`() async throws {
    let service = try FakeRandomUser()
    let some = try await Binary.run(
      "users list --all --max-pages 3 --json", environment: service.settings)
    #expect(some.status == 3)
    let emails = try listing(some).items.compactMap(\.email)
    #expect(emails.count > 20)
    #expect(Set(emails).count == emails.count)
    #expect(emails.allSatisfy { $0 == $0.lowercased() })
    #expect(some.errors.contains("warning: users: stopped after 3 pages"))

    let email = try #require(emails.last)
    let shown = try await Binary.run(
      "users show \(email.uppercased()) --json", environment: service.settings)
    #expect(shown.status == 0)
    #expect(try listing(shown).items.map(\.email) == [email])
    let found = try await Binary.run("users search \(email) --json", environment: service.settings)
    #expect(try listing(found).items.map(\.email) == [email])
    #expect(try listing(found).warnings.map(\.code) == ["scanned"])
    let unknown = try await Binary.run(
      "users show nobody@nowhere.example", environment: service.settings)
    #expect(unknown.status == 1)
    #expect(unknown.errors.hasPrefix("error: users: none of the first "))
  }

  @Test func `a user of the bundle is found beside a service that has no end`() async throws {
    let service = try FakeRandomUser()
    let shown = try await Binary.run(
      "users show aino.tormanen@example.com --json", environment: service.settings)
    #expect(shown.status == 0)
    #expect(try listing(shown).items.map(\.email) == ["aino.tormanen@example.com"])
    #expect(try listing(shown).provenance.origin == "bundled")
    #expect(try listing(shown).provenance.reason == "unsupported")
  }

  @Test func `a hero that was not asked for is not shown`() async throws {
    let reply = #"{"status_code":1,"error":"OK","results":{"id":99,"name":"Somebody Else"}}"#
    let service = try FakeServer(.json(reply))
    let shown = try await Binary.run(
      "heroes show 1443 --no-fallback", environment: service.settings)
    #expect(shown.status == 76)
    #expect(shown.output == "")
  }

  @Test func `a row that cannot be read is left out and counted`() async throws {
    let service = try FakeProducts(quirks: [.badRows])
    let outcome = try await Binary.run("products list --all --json", environment: service.settings)
    #expect(outcome.status == 0)
    #expect(try listing(outcome).items.count == 27)
    #expect(try listing(outcome).warnings.map(\.code) == ["unreadable"])
    #expect(outcome.errors.contains("warning: products: 3 rows could not be read (row 2: "))
  }

  @Test(arguments: ["countries", "heroes", "products", "users"])
  func `the bundle answers where the service is away, and says so`(source: String) async throws {
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
      #expect(outcome.errors.contains("warning: \(source): bundled data (cannot connect to "))
      let refused = try await Binary.run(
        "\(source) \(verb) --no-fallback", environment: ["COMIC_VINE_API_KEY": "x1y2z3w4"])
      #expect(refused.status == 69)
      #expect(refused.output == "")
    }
  }
}
