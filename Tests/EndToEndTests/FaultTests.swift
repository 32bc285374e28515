import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The program with services that fail.
@Suite struct FaultTests {
  /// A fault, the exit code without fallback, and the reason with it.
  static let faults: [(name: String, reply: LoopbackReply, status: Int32, reason: String)] = [
    (
      "401", .json(#"{"error":"Invalid API Key","status_code":100,"results":[]}"#, status: 401), 77,
      "invalidKey"
    ),
    ("420", ComicVineFault.quota.reply, 75, "rateLimited"),
    ("429", ComicVineFault.velocity.reply, 75, "rateLimited"),
    ("403", ComicVineFault.blocked.reply, 69, "rejected"),
    ("500", ComicVineFault.broken.reply, 69, "serverError"),
    ("200 HTML", ComicVineFault.page.reply, 76, "malformed"),
    ("200 nonsense", .json("{\"results\": [1, 2"), 76, "malformed"),
    ("closed", .closed, 69, "connectionLost"),
    ("100 MB", .chunked(Data(repeating: 0x20, count: 1 << 20), times: 100), 76, "tooLarge"),
    ("gzip bomb", .gzipBomb(), 76, "tooLarge"),
  ]

  @Test(arguments: faults.indices)
  func `every fault has its exit code, or falls back to bundled data`(index: Int)
    async throws
  {
    let fault = Self.faults[index]
    let service = try FakeServer(fault.reply)
    let failed = try await Binary.run(
      "heroes list --limit 2 --no-fallback --json", environment: service.settings)
    #expect(failed.status == fault.status, "\(fault.name): \(failed)")
    #expect(failed.output == "")
    #expect(failed.errors.hasPrefix("error: heroes: "))
    #expect(failed.errorLines.count <= 6)

    let answered = try await Binary.run(
      "heroes list --limit 2 --json", environment: service.settings)
    #expect(answered.status == 0, "\(fault.name): \(answered)")
    let envelope = try answered.envelope()
    #expect(envelope.items.count == 2)
    #expect(envelope.provenance?.origin == "bundled")
    #expect(envelope.provenance?.reason == fault.reason)
    #expect(answered.errors.contains("warning: heroes: showing bundled sample data ("))
  }

  @Test func `a refused connection is not retried`() async throws {
    let refused = try await Binary.run(
      "heroes list --limit 2 --verbose", environment: ["COMIC_VINE_API_KEY": FakeServer.key])
    #expect(refused.status == 0)
    #expect(refused.lines.count == 2)
    #expect(refused.errors.contains("warning: heroes: showing bundled sample data ("))
    #expect(refused.errorLines.count { $0.contains("/api/characters/") } == 1, "\(refused)")

    let failed = try await Binary.run(
      "heroes list --no-fallback", environment: ["COMIC_VINE_API_KEY": FakeServer.key])
    #expect(failed.status == 69)
    #expect(failed.output == "")
  }

  @Test func `a silent service times out`() async throws {
    let service = try FakeServer(.stalled)
    let answered = try await Binary.run(
      "heroes list --limit 2 --timeout 200ms --json", environment: service.settings)
    #expect(answered.status == 0)
    #expect(try answered.envelope().provenance?.origin == "bundled")
    #expect(try answered.envelope().provenance?.reason == "timedOut")

    let failed = try await Binary.run(
      "heroes list --timeout 200ms --no-fallback", environment: service.settings)
    #expect(failed.status == 75)
    #expect(failed.output == "")
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal ends the program by that signal, also during a request`(signal: Int32)
    async throws
  {
    let service = try FakeServer(.stalled)
    let run = try Binary.start("heroes list --json --timeout 10m", environment: service.settings)
    _ = await service.requests(atLeast: 1)
    #if os(Linux)
      // The one that cleans up first; any other would end the program at once.
      #expect(try run.child.threadsTaking(signal) == 1)
    #endif
    run.child.send(signal)
    let outcome = try await run.outcome()
    #expect(outcome.ending == .signal(signal))
    #expect(outcome.output == "")
    #expect(outcome.errors == "")
  }

  @Test func `a failure midway keeps the rows before it and prints the cursor`() async throws {
    let service = try FakeComicVine()
    let first = try await Binary.run(
      "heroes list --limit 100 --json", environment: service.settings
    ).envelope()
    let broken = try FakeServer { request in
      // The first page works and the second does not.
      request.query["offset"] == "0"
        ? .json(Self.page(of: 0..<100, total: 300)) : ComicVineFault.page.reply
    }
    let outcome = try await Binary.run("heroes list --all --json", environment: broken.settings)
    #expect(outcome.status == 3)
    let envelope = try outcome.envelope()
    #expect(envelope.items.map(\.id) == Array(0..<100))
    #expect(envelope.provenance?.origin == "live")
    #expect(envelope.warnings.map(\.code) == ["malformed"])
    // All but the tag of the generation, which begins with the first page.
    let suffix = { (cursor: String?) in cursor?.split(separator: ".").dropFirst(2) }
    #expect(suffix(envelope.page.next)?.isEmpty == false)
    #expect(suffix(envelope.page.next) == suffix(first.page.next))
    #expect(outcome.errors.contains("warning: heroes: "))
  }

  @Test(arguments: [
    ("the same page for ever", 0), ("two pages in a circle", 1), ("no row that can be read", 2),
  ])
  func `an endless list ends by itself`(what: String, kind: Int) async throws {
    let service = try FakeServer { request in
      let offset = request.query["offset"].flatMap { Int($0) } ?? 0
      let start = kind == 1 ? offset % 200 : 0
      let rows = kind == 2 && offset > 0 ? "[null,null]" : nil
      return .json(Self.page(of: start..<start + 100, total: 1_000_000, rows: rows))
    }
    let outcome = try await Binary.run(
      "heroes list --all --max-pages 0 --json", environment: service.settings)
    #expect(outcome.status == 3)
    let envelope = try outcome.envelope()
    #expect(envelope.items.map(\.id) == Array(0..<(kind == 1 ? 200 : 100)))
    #expect(envelope.warnings.contains { $0.code == "stopped" })
    #expect(
      outcome.errors.contains("warning: heroes: stopped: 3 consecutive pages had no new records"))
    #expect(service.requests.count < 10)
  }

  @Test func `an empty page is the end, whatever the total`() async throws {
    let service = try FakeServer { request in
      let isFirst = request.query["offset"] == "0"
      return .json(Self.page(of: 0..<100, total: 1_000_000, rows: isFirst ? nil : "[]"))
    }
    let outcome = try await Binary.run(
      "heroes list --all --max-pages 0 --json", environment: service.settings)
    #expect(outcome.status == 3)
    #expect(
      try outcome.envelope().warnings.map(\.message)
        == ["the service reports 1,000,000 records but sent 100"])
    #expect(try outcome.envelope().items.count == 100)
    #expect(try outcome.envelope().page.next == nil)
    #expect(service.requests.count == 2)
  }

  @Test func `a list longer than its cap reports so`() async throws {
    let service = try FakeComicVine()
    let outcome = try await Binary.run(
      "heroes list --all --max-pages 2 --json", environment: service.settings)
    #expect(outcome.status == 3)
    #expect(try outcome.envelope().items.count == 200)
    #expect(try outcome.envelope().page.next != nil)
    #expect(
      outcome.errors.contains(
        "warning: heroes: stopped after 2 pages\nhint: continue with --cursor, or set"))
    #expect(service.requests.count == 2)
    let seen = try await Binary.run(
      "heroes list --all --max-pages 2 --session mine", environment: service.settings)
    #expect(seen.errors.contains("hint: continue with \"aggregator heroes next --session mine\""))
  }

  #if os(Linux)
    @Test(arguments: ["100 MB", "gzip bomb"])
    func `data over the cap is never in memory`(name: String) async throws {
      let fault = try #require(Self.faults.first { $0.name == name })
      let service = try FakeServer(fault.reply)
      // Nobody reads on, so the program waits in the middle of its answer, and can be looked at.
      let pipe = try ProgramPipe()
      let run = try Binary.start(
        "heroes list --all --json --timeout 10m", environment: service.settings,
        output: .descriptor(pipe.writeEnd))
      pipe.close(pipe.writeEnd)
      _ = await pipe.firstBytes()
      let memory = try run.child.peakMemory()
      pipe.close(pipe.readEnd)
      let outcome = try await run.outcome()
      #expect(outcome.status == 0, "\(outcome)")
      #expect(memory < 150 << 20, "\(memory >> 20) MiB")
    }
  #endif

  /// A page of Comic Vine's list.
  private static func page(of ids: Range<Int>, total: Int, rows: String? = nil) -> String {
    // What records usually have, without which the program would ask whether it was renamed.
    let details =
      #""real_name":"R","aliases":"A","deck":"D","publisher":{"name":"P"},"#
      + #""first_appeared_in_issue":{"name":"F"},"image":{"icon_url":"https://pictures.example/1.png"},"#
      + #""site_detail_url":"https://heroes.example/1""#
    let heroes = ids.map { #"{"id":\#($0),"name":"Hero \#($0)",\#(details)}"# }
    let rows = rows ?? "[" + heroes.joined(separator: ",") + "]"
    return #"{"error":"OK","limit":100,"offset":0,"number_of_page_results":\#(ids.count),"#
      + #""number_of_total_results":\#(total),"status_code":1,"results":\#(rows)}"#
  }
}
