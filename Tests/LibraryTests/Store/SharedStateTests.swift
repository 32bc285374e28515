import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

/// Two stores over one file stand for two processes.
@Suite(.timeLimit(.minutes(10)))
struct SharedStateTests {
  private let directory = FileManager.default.temporaryDirectory
    .appending(path: "shared-state-\(UUID().uuidString)")
  private let clock = ManualClock()
  private let service = ScriptedSource<Note>(pages: [
    .success(.notes(1...1)), .success(.notes(1...1)), .failure(.because(.serverError)),
    .failure(.because(.rateLimited, retryAfter: .seconds(7200))),
  ])

  /// The service as a new process uses it.
  private func process(at path: String) throws -> some DataSource<Note> {
    let wall = WallClock(clock)
    let sharedState = SharedState(of: "notes", in: SQLiteStore(at: path), now: { wall.now })
    return service.rateLimited(by: Rate(2, per: .seconds(3600)), clock: clock, sharing: sharedState)
      .circuitBreaker(
        BreakerPolicy(failures: 1, pause: .seconds(30)), clock: clock, sharing: sharedState
      )
      .timeout(.seconds(15), clock: clock)
  }

  @Test func `shares rates and breakers between processes`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.appending(path: "store.sqlite").path
    for _ in 0..<2 { #expect(await (try process(at: path)).failure() == nil) }
    #expect(await (try process(at: path)).failure()?.message == "local rate limit 2/h reached")
    clock.advance(by: .seconds(3600))
    #expect(await (try process(at: path)).failure()?.code == .serverError)
    #expect(await (try process(at: path)).failure()?.code == .circuitOpen)
    clock.advance(by: .seconds(30))
    #expect(await (try process(at: path)).failure()?.retryAfter == .seconds(7200))
    clock.advance(by: .seconds(3600))
    let failure = await (try process(at: path)).failure()
    #expect(failure?.description == "rate limited by the service (retry in 60 min)")
    #expect(service.callCount == 4)
  }

  @Test func `lets calls pass if the store cannot be created`() async throws {
    let source = try process(at: "/dev/null/store.sqlite")
    for _ in 0..<2 { #expect(await source.failure() == nil) }
    #expect(await source.failure()?.message == "local rate limit 2/h reached")
  }
}
