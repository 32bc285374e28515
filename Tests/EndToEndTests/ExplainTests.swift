import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `--explain`: the plan for an answer, and its cost.
@Suite struct ExplainTests {
  /// The explanation without durations and ages.
  private func explained(_ outcome: Outcome) -> [String] {
    outcome.errorLines.filter { $0.hasPrefix("explain: ") }.map { line in
      String(line.dropFirst("explain: ".count)).replacing(/\d+(\.\d+)? (m?s|min)\b/, with: "T")
        .replacing(/fetched (just now|T ago|\d+ \w+ ago)/, with: "fetched A")
    }
  }

  @Test func `explains a live answer, then a cached one`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings.merging(["COMIC_VINE_RATE": "100/h"]) { $1 })
    let plain = try await home.run("heroes list -L 5 --tsv")
    try home.file.age(byDays: 2)
    let live = try await home.run("heroes list -L 5 --tsv --explain")
    #expect(live.output == plain.output)
    let words = explained(live)
    #expect(
      words.prefix(4) == [
        "heroes: live data first; cached pages stay fresh for T",
        "plan: GET \(service.url.absoluteString) (up to 3 attempts)",
        "rate limit 100/h: 99 requests left, no wait",
        "fallback: cached (5 records), then bundled",
      ], "\(words)")
    #expect(words[4] == "result: 5 live records in T")
    #expect(words[5].hasPrefix("1 request (0 retries), ") && words[5].hasSuffix(", T"))
    #expect(words.count == 6)

    let stored = explained(try await home.run("heroes list -L 5 --tsv --explain"))
    #expect(stored[1] == "plan: cached, fetched A, no request")
    #expect(stored[3] == "result: 5 cached records in T")
    #expect(stored[4] == "0 requests (0 retries), 0 bytes, T", "\(stored)")
    #expect(service.requests.count == 2)
  }

  @Test func `counts retries and reports failures`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    service.fail(with: .status(503, "busy"), times: 2)
    let again = explained(try await home.run("heroes search spider -L 2 --explain"))
    #expect(
      again.contains { $0.hasPrefix("3 requests (2 retries), ") })
    #expect(again.filter { $0.hasPrefix("waited: ") }.count == 2, "\(again)")
    service.fail(with: .closed)
    let failed = explained(try await home.run("heroes list -L 2 --explain"))
    #expect(failed.contains("result: 2 cached records in T"), "\(failed)")
    #expect(failed.filter { $0.hasPrefix("failed: ") }.count == 1, "\(failed)")
  }

  @Test func `reports an exhausted rate and disabled requests`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings.merging(["COMIC_VINE_RATE": "1/h"]) { $1 })
    #expect(try await home.run("heroes sync --max-pages 1").status == 3)
    let used = explained(try await home.run("heroes sync --explain"))
    #expect(
      used.contains { $0.hasPrefix("rate limit 1/h: 0 requests left, next in ") }, "\(used)")
    let offline = explained(try await home.run("heroes list --offline --explain"))
    #expect(offline.contains("plan: offline mode (--offline), no request"), "\(offline)")
    let strict = explained(try await home.run("heroes list --no-fallback --explain"))
    #expect(strict.contains("fallback: none"), "\(strict)")
  }

  @Test func `plans no request without a key`() async throws {
    let outcome = try await Binary.run("heroes list --explain")
    let words = explained(outcome)
    #expect(words.contains("plan: no request (COMIC_VINE_API_KEY is not set)"), "\(words)")
    #expect(!words.contains { $0.hasPrefix("plan: GET") || $0.hasPrefix("rate limit") })
  }

  @Test(arguments: [
    "users next -L 3", "users list -L 3", "products search lamp", "countries next", "heroes sync",
  ])
  func `does not change standard output, and shows no secret`(line: String) async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let other = try TestHome(services.settings)
    let plain = try await home.run(line)
    let explained = try await other.run("\(line) --explain --verbose")
    #expect(explained.output == plain.output)
    #expect(explained.status == plain.status)
    #expect(self.explained(explained).count >= 3, "\(explained)")
    #expect(!explained.errors.contains(FakeComicVine.key))
  }

  @Test func `names bundled data only if there is some`() async throws {
    let home = try TestHome()
    let lamps = try FakeLamps()
    #expect(try await home.add(lamps).status == 0)
    let words = explained(try await home.run("lamps list -L 2 --explain"))
    let fallback = try #require(words.first { $0.hasPrefix("fallback: ") })
    #expect(fallback.wholeMatch(of: /fallback: cached \(\d+ records?\)/) != nil, "\(words)")
    #expect(!lamps.pages.isEmpty)
  }

  @Test func `reports a paused service`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    service.fail(with: .closed)
    for _ in 0..<2 { #expect(try await home.run("heroes list -L 2").status == 0) }
    // At once: it is left alone for half a minute only.
    let words = explained(try await home.start("heroes list -L 2 --explain").outcome())
    #expect(
      words.contains { $0.hasPrefix("circuit breaker: failing repeatedly; paused for ") },
      "\(words)")
    #expect(words.contains("plan: no request (the service is paused)"), "\(words)")
    #expect(words.contains { $0.hasPrefix("0 requests (0 retries), ") }, "\(words)")
  }
}
