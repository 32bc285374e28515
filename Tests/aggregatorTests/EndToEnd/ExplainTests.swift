import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

/// `--explain`: how an answer will be found, and what it took.
@Suite struct ExplainTests {
  /// What was explained, without how long it took.
  private func explained(_ outcome: Outcome) -> [String] {
    outcome.errorLines.filter { $0.hasPrefix("explain: ") }.map { line in
      String(line.dropFirst("explain: ".count)).replacing(/\d+(\.\d+)? (m?s|min)\b/, with: "T")
        .replacing(/fetched (just now|T ago|\d+ \w+ ago)/, with: "fetched A")
    }
  }

  @Test func `says that the service is asked, and then that it need not be`() async throws {
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

  @Test func `counts what is tried again, and names what failed`() async throws {
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

  @Test func `says what is used up, and what may not be asked`() async throws {
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

  @Test(arguments: [
    "users next -L 3", "users list -L 3", "products search lamp", "countries next", "heroes sync",
  ])
  func `changes nothing on standard output, and tells no secret`(line: String) async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let other = try TestHome(services.settings)
    let plain = try await home.run(line)
    let told = try await other.run("\(line) --explain --verbose")
    #expect(told.output == plain.output)
    #expect(told.status == plain.status)
    #expect(explained(told).count >= 3, "\(told)")
    #expect(!told.errors.contains(FakeComicVine.key))
  }

  @Test func `says that a service that failed too often is left alone`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    service.fail(with: .closed)
    for _ in 0..<2 { #expect(try await home.run("heroes list -L 2").status == 0) }
    // At once: it is left alone for half a minute only.
    let words = explained(try await home.start("heroes list -L 2 --explain").outcome())
    #expect(
      words.contains { $0.hasPrefix("circuit breaker: failing repeatedly; paused for ") },
      "\(words)")
    #expect(words.contains { $0.hasPrefix("0 requests (0 retries), ") }, "\(words)")
  }
}
