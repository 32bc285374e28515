import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorHTTP
@testable import AggregatorSettings

/// Time in a replay: waits cost nothing, and deadlines hold as they did.
@Suite(.timeLimit(.minutes(10)))
struct RecordingClockTests {
  private let tape = Tape()
  private let clock = ReplayClock()

  /// A source over a recording of these outcomes, with retries and a deadline.
  private func source(
    _ outcomes: Result<HTTPResponse, SourceError>..., deadline: Duration
  ) async throws -> any DataSource<Leaf> {
    for outcome in outcomes {
      let transport = try RecordingTransport(
        ScriptedTransport(outcome), into: URL(filePath: tape.path), hiding: [])
      _ = try? await transport.send(.tape())
    }
    let replay = ReplayingTransport(try Recording(URL(filePath: tape.path)))
    let call = OneCall { () async throws(SourceError) in try await replay.send(.tape()) }
    return call.retry(clock: replay.clock).timeout(deadline, clock: replay.clock)
  }

  private static func busy(_ seconds: Int) -> Result<HTTPResponse, SourceError> {
    .success(.tape("", status: 429, headers: [("Retry-After", "\(seconds)")]))
  }

  @Test func `waits before retries take no time`() async throws {
    let source = try await source(
      Self.busy(3000), Self.busy(3000), .success(.tape("ok")), deadline: .seconds(7000))
    let page = try await source.page(PageRequest())
    #expect(page.records.count == 2)
  }

  @Test func `the current date includes waits that took no time`() async throws {
    try tape.write(
      RecordingReplayTests.head + "GET https://host/a\n\n### HTTP 204\n", to: "1.http")
    let replay = ReplayingTransport(try Recording(URL(filePath: tape.path)))
    _ = try await replay.send(.tape())
    try await Deadline.$current.withValue(Deadline(after: .seconds(90), on: replay.clock)) {
      try await replay.clock.sleep(for: .seconds(60))
    }
    #expect(replay.now().iso8601 == "2026-01-05T09:13:44Z")
  }

  @Test func `a wait longer than the deadline still fails`() async throws {
    let source = try await source(
      Self.busy(3000), Self.busy(3000), .success(.tape("ok")), deadline: .seconds(5000))
    let failure = await source.failure()
    #expect(failure?.code == .rateLimited)
    #expect(failure?.retryAfter == .seconds(3000))
  }

  @Test func `silence ends at the deadline, at once`() async throws {
    try tape.write(
      RecordingReplayTests.head + "GET https://host/a\n\n### silent\n", to: "1.http")
    let source = try await source(deadline: .seconds(5000))
    let failure = await source.failure()
    #expect(failure?.code == .timedOut)
    #expect(failure?.message == "no answer within \(Duration.seconds(5000).text)")
  }

  @Test func `a nested deadline does not wait`() async throws {
    let source = try await source(
      Self.busy(3000), .success(.tape("ok")), deadline: .seconds(7000))
    let outer = source.timeout(.seconds(9000), clock: ReplayClock())
    #expect(try await outer.page(PageRequest()).records.count == 2)
  }

  @Test func `silence without a deadline is a failure too`() async throws {
    try tape.write(
      RecordingReplayTests.head + "GET https://host/a\n\n### silent\n", to: "1.http")
    let replay = ReplayingTransport(try Recording(URL(filePath: tape.path)))
    let error = await #expect(throws: SourceError.self) { try await replay.send(.tape()) }
    #expect(error?.code == .timedOut)
  }

  @Test func `a sleep outside any call lasts until its time or the clock is advanced`()
    async throws
  {
    let begin = ContinuousClock.now
    try await clock.sleep(for: .milliseconds(20))
    #expect(ContinuousClock.now - begin >= .milliseconds(20))

    let clock = clock
    let end = clock.now.advanced(by: .seconds(3000))
    async let slept: Void = clock.sleep(until: end)
    try await Deadline.$current.withValue(Deadline(after: .seconds(9000), on: clock)) {
      try await clock.sleep(for: .seconds(4000))
    }
    try await slept
    #expect(clock.now - begin >= .seconds(4000))
  }

  @Test func `a sleep ends with its task`() async throws {
    let clock = clock
    let sleeper = Task { try await clock.sleep(for: .seconds(3000)) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test func `a replaying environment has no rate limit, no wait and no key`() throws {
    let key = Setting("KEY", .secret, about: "")
    let rate = Setting("RATE", .rate, default: "1/s", about: "")
    let url = Setting("URL", .url, default: "https://host", about: "")
    try tape.write(
      RecordingReplayTests.head + "GET https://host/a\n\n### silent\n", to: "1.http")
    let environment = PluginEnvironment(
      settings: SourceSettings(["KEY": "the real one", "URL": "https://other"]),
      transport: ScriptedTransport()
    ).replaying(try Recording(URL(filePath: tape.path)), knowing: [key, rate, url])
    #expect(environment.settings.secret(key)?.reveal(\.self) == "replay")
    #expect(try environment.settings.rate(rate) == nil)
    #expect(try environment.settings.url(url).absoluteString == "https://other")
    #expect(environment.now().iso8601 == "2026-01-05T09:12:44Z")
    #expect(environment.clock is ReplayClock)
    #expect(environment.transport is ReplayingTransport)
  }
}
