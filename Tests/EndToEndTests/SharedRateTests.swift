import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting

/// Rates and retry times that processes share.
@Suite struct SharedRateTests {
  /// When requests came, by kind of call.
  private final class Arrivals: Sendable {
    private let times = Mutex<[String: [ContinuousClock.Instant]]>([:])

    func note(_ request: LoopbackRequest) {
      let kind = request.path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
      times.withLock { $0[kind, default: []].append(.now) }
    }

    subscript(kind: String) -> [ContinuousClock.Instant] {
      times.withLock { $0[kind, default: []].sorted() }
    }
  }

  @Test func `two processes share the rate of each kind of call`() async throws {
    let arrivals = Arrivals()
    let service = try FakeServer { request in
      arrivals.note(request)
      guard let id = request.path.split(separator: "-").last.flatMap({ Int($0.dropLast()) }) else {
        return .json(NextTests.rows(0..<3, total: 3))
      }
      return .json(
        #"{"error":"OK","status_code":1,"results":{"id":\#(id),"name":"Hero \#(id)"}}"#)
    }
    let home = try TestHome(service.settings.merging(["COMIC_VINE_RATE": "4/s"]) { $1 })
    func show(_ ids: Range<Int>) async throws -> Outcome {
      try await home.run(
        "heroes show \(ids.map(String.init).joined(separator: " ")) --fields id --tsv")
    }
    async let one = show(1..<8)
    async let two = show(8..<15)
    // Another kind of call has turns of its own.
    async let other = home.run("heroes list --limit 3 --tsv")
    #expect(try await one.ids == Array(1..<8))
    #expect(try await two.ids == Array(8..<15))
    #expect(try await other.ids == Array(0..<3))

    let times = arrivals["character"]
    #expect(times.count == 14)
    // Between its turn and its arrival a call may be late, as by the start of a process; turns alone
    // would be a whole second apart.
    for (early, late) in zip(times, times.dropFirst(4)) {
      #expect(late - early > .milliseconds(500), "\(times.map { $0 - times[0] })")
    }
    #expect(arrivals["characters"].count == 1)
  }

  private static func asking(for seconds: Int) -> LoopbackReply {
    .status(429, "slow down", headers: [("Retry-After", "\(seconds)")])
  }

  @Test func `after Retry-After, cached data answers without a request`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    let known = try await home.run("heroes list --limit 5 --tsv")
    try home.file.age(byDays: 1)
    service.fail(with: Self.asking(for: 3600), times: 1)
    #expect(try await home.run("heroes list --limit 5 --tsv").output == known.output)
    let count = service.requests.count
    #expect(count == 2)

    let outcome = try await home.run("heroes list --limit 5 --json")
    let provenance = try outcome.envelope().provenance
    #expect(outcome.status == 0)
    #expect(provenance?.origin == "cached")
    #expect(provenance?.reason == "rateLimited")
    #expect(
      outcome.errors.contains(
        "warning: heroes: cached, fetched 24 h ago (rate limited by the service "), "\(outcome)")
    #expect(outcome.errors.contains(", after GET /"), "\(outcome)")
    #expect(outcome.errors.contains(")\nhint: retry in "), "\(outcome)")
    // Other kinds of call do not ask either.
    let shown = try await home.run("heroes show 1443 --json")
    #expect(try shown.envelope().items.map(\.id) == [1443])
    #expect(try shown.envelope().provenance?.reason == "rateLimited")
    let found = try await home.run("heroes search superman --json")
    #expect(try found.envelope().provenance?.origin == "bundled")
    let refused = try await home.run("heroes list --no-fallback")
    #expect(refused.status == 75)
    #expect(refused.output == "")
    #expect(
      refused.errors.hasPrefix(
        "error: heroes: rate limited by the service "), "\(refused)")
    #expect(service.requests.count == count)
    // A person may try in spite of it, and an answer ends the pause.
    let tried = try await home.run("heroes list --limit 5 --refresh --json")
    #expect(try tried.envelope().provenance?.origin == "live")
    #expect(try await home.run("heroes list --limit 6 --no-fallback").status == 0)
  }

  @Test func `a run makes one request in spite of a pause, whatever the number of its sources`()
    async throws
  {
    let server = try LoopbackServer { _ in Self.asking(for: 600) }
    let home = try TestHome()
    try home.sandbox.write(
      """
      {"service": {"base": "\(server.baseURL)/", "rows": "data", "id": "id", "rate": "off"},
       "resources": {"a": {"url": "/a"}, "b": {"url": "/b"}, "c": {"url": "/c"}}}
      """, to: home.manifestPath("crm.json"))
    let first = try await home.run("sync crm-a")
    #expect(first.status == 75 && server.requests.count == 1, "\(first)")
    // Before the first of them nothing had been demanded of crm-b.
    for count in [3, 4] {
      let outcome = try await home.run("sync crm-a crm-b crm-c --refresh")
      #expect(outcome.status != 0 && server.requests.count == count, "\(outcome)")
    }
  }

  @Test func `with an empty store, bundled data answers with the retry time`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    service.fail(with: Self.asking(for: 3600))
    for calls in [1, 1] {
      let outcome = try await home.run("heroes list --limit 5 --json")
      #expect(outcome.status == 0)
      #expect(try outcome.envelope().provenance?.origin == "bundled")
      #expect(try outcome.envelope().provenance?.reason == "rateLimited")
      #expect(outcome.errors.contains("\nhint: retry in "), "\(outcome)")
      #expect(service.requests.count == calls)
    }
  }

  @Test func `waits if the wait is short`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    service.fail(with: Self.asking(for: 1), times: 1)
    let start = ContinuousClock.now
    let outcome = try await home.run("heroes list --limit 5 --json")
    #expect(try outcome.envelope().provenance?.origin == "live")
    #expect(service.requests.count == 2)
    #expect(.now - start > .seconds(1))
  }
}
