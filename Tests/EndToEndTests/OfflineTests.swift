import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The program without a key and without a network.
@Suite struct OfflineTests {
  @Test func `without a key, heroes come from the bundle with a hint to set one`() async throws {
    let sandbox = try Sandbox()
    for _ in 1...2 {
      let outcome = try await Binary.run("heroes search spider", in: sandbox)
      #expect(outcome.status == 0)
      #expect(outcome.lines.count == 6)
      for line in outcome.lines {
        #expect(
          line.split(separator: "\t").dropFirst().first?.hasPrefix("Spider") == true, "\(line)")
      }
      #expect(
        outcome.errors == """
          warning: heroes: showing bundled sample data (COMIC_VINE_API_KEY is not set)
          hint: get a key at https://comicvine.gamespot.com/api
          hint: aggregator config set COMIC_VINE_API_KEY

          """)
    }
    #expect(try sandbox.files(under: "home").isEmpty)
  }

  @Test func `--offline opens no connection, with or without a key`() async throws {
    let service = try FakeServer()
    let outcome = try await Binary.run(
      "heroes search spider --offline --json", environment: service.settings)
    #expect(outcome.status == 0)
    #expect(
      outcome.errors.hasPrefix("warning: heroes: showing bundled sample data (offline mode)"))
    let provenance = try outcome.envelope().provenance
    #expect(provenance?.origin == "bundled")
    #expect(provenance?.reason == "offline")
    #expect(service.requests.isEmpty)
    #expect(service.connectionCount == 0)
  }

  @Test(arguments: [
    ("heroes show 999999999", "heroes: hero 999999999"),
    ("heroes open 999999999", "heroes: hero 999999999"),
    ("heroes image 999999999 -o x", "heroes: hero 999999999"),
    ("products show nothing", "products: product nothing"),
    ("countries show XX", "countries: country XX"),
  ])
  func `without local data, --offline exits 69 and names the record`(
    line: String, record: String
  ) async throws {
    let outcome = try await Binary.run("\(line) --offline")
    #expect(outcome.status == 69)
    #expect(outcome.output == "")
    #expect(
      outcome.errors == """
        error: \(record) is neither cached nor bundled (offline mode)
        hint: retry without --offline

        """)
  }

  @Test func `a user can only be cached or bundled, with or without --offline`() async throws {
    for option in ["--offline", ""] {
      let outcome = try await Binary.run("users show nobody@example.com \(option)")
      #expect(outcome.status == 69)
      #expect(
        outcome.errors == """
          error: users: user nobody@example.com is neither cached nor bundled
          hint: aggregator users search nobody@example.com

          """)
    }
  }

  @Test func `no key and no fallback exits 77`() async throws {
    let outcome = try await Binary.run("heroes search spider --no-fallback")
    #expect(outcome.status == 77)
    #expect(outcome.output == "")
    #expect(
      outcome.errors == """
        error: heroes: COMIC_VINE_API_KEY is not set
        hint: get a key at https://comicvine.gamespot.com/api
        hint: aggregator config set COMIC_VINE_API_KEY

        """)
  }

  @Test func `lists the whole bundle once, also page by page in other processes`()
    async throws
  {
    let whole = try await Binary.run("countries list --all --offline --json").envelope()
    #expect(whole.items.count == 250)
    #expect(Set(whole.items.map(\.code)).count == 250)
    #expect(whole.page.next == nil)

    let first = try await Binary.run("countries list --offline --limit 100 --json").envelope()
    let cursor = try #require(first.page.next)
    // The reason is that of the first page, although the second one would have another.
    let second = try await Binary.run("countries list --limit 100 --json --cursor \(cursor)")
    let page = try second.envelope()
    #expect(second.status == 0)
    #expect(page.provenance?.origin == "bundled")
    #expect(page.provenance?.reason == "offline")
    #expect(first.items.map(\.code) + page.items.map(\.code) == whole.items.prefix(200).map(\.code))
  }

  @Test func `an empty answer is not a failure`() async throws {
    let outcome = try await Binary.run("heroes search zzzz --offline")
    #expect(outcome.status == 0)
    #expect(outcome.output == "")
    #expect(
      outcome.errors == """
        No heroes match "zzzz"
        warning: heroes: only bundled sample data was available (offline mode)

        """)
  }

  @Test(arguments: ["C", "C.UTF-8"])
  func `the locale has no effect`(locale: String) async throws {
    let outcome = try await Binary.run(
      "countries search curacao --offline", environment: ["LC_ALL": locale])
    #expect(outcome.output == "CW\tCuraçao\tNA\tWillemstad\n")
  }
}
