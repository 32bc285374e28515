import AggregatorCore
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// Two chains over the same texts stand for two processes that ask one service.
@Suite(.timeLimit(.minutes(10)))
struct SharedRateTests {
  private let clock = ManualClock()
  private let wall: WallClock
  private let texts = Texts()
  private let service = ScriptedSource(over: notebook(100))

  init() { wall = WallClock(clock) }

  /// The service as a new process uses it.
  private func process(
    _ rate: String, cost: Int = 1, over base: ScriptedSource<Note>? = nil
  ) throws -> some DataSource<Note> {
    (base ?? service).rateLimited(
      by: try #require(Rate(rate)), cost: cost, clock: clock,
      sharing: texts.sharedState { [wall] in wall.now })
  }

  @Test func `is shared by two processes`() async throws {
    let one = try process("2/m")
    let other = try process("2/m").timeout(.seconds(15), clock: clock)
    _ = try await one.page(PageRequest())
    _ = try await other.page(PageRequest())
    let failure = await other.failure()
    #expect(failure?.code == .rateLimited)
    #expect(failure?.retryAfter == .seconds(60))
    #expect(failure?.message == "local rate limit 2/m reached")
    clock.advance(by: .seconds(60))
    #expect(await other.failure() == nil)
    #expect(service.callCount == 3)
  }

  @Test func `persists to the next process`() async throws {
    for _ in 0..<3 { _ = try await process("3/h").page(PageRequest()) }
    let next = try process("3/h").timeout(.seconds(15), clock: clock)
    #expect(await next.failure()?.retryAfter == .seconds(3600))
    _ = try await next.item(1)
    #expect(service.callCount == 4)
  }

  @Test func `counts the requests of each call`() async throws {
    _ = try await process("100/m", cost: 60).page(PageRequest())
    _ = try await process("100/m", cost: 40).page(PageRequest())
    let next = try process("100/m", cost: 1).timeout(.seconds(15), clock: clock)
    #expect(await next.failure()?.code == .rateLimited)
  }

  @Test func `returns a reservation when its caller is cancelled`() async throws {
    let (one, other) = (try process("1/s"), try process("1/s"))
    _ = try await one.page(PageRequest())
    let leaving = Task { await one.failure() }
    await clock.sleepers(atLeast: 1)
    leaving.cancel()
    #expect(await leaving.value?.code == .cancelled)
    async let next = other.failure()
    await clock.sleepers(atLeast: 1)
    #expect(clock.untilNextWake == .seconds(1))
    clock.advance(by: .seconds(1))
    #expect(await next == nil)
  }

  @Test func `writes nothing for a rejected call`() async throws {
    let source = try process("1/h").timeout(.seconds(15), clock: clock)
    _ = try await source.page(PageRequest())
    for _ in 0..<3 { #expect(await source.failure()?.code == .rateLimited) }
    #expect(texts.writes == 1)
  }

  @Test func `a departure is written with the next call, and no write is its own`() async throws {
    let slow = ScriptedSource<Note> { [clock] _ throws(SourceError) in
      clock.advance(by: .milliseconds(50))
      Departure.current?.note()
      return .notes(1...1)
    } item: { id throws(SourceError) in
      LookupResult(Note(id), provenance: Provenance(.live))
    }
    let (one, other) = (try process("1/s", over: slow), try process("1/s"))
    _ = try await one.page(PageRequest())
    #expect(texts.writes == 1)
    clock.advance(by: .milliseconds(950))
    let failure = await one.timeout(.milliseconds(40), clock: clock).failure()
    #expect(failure?.retryAfter == .milliseconds(50))
    // Now the other process knows it, too.
    #expect(texts.writes == 2)
    let refused = await other.timeout(.milliseconds(40), clock: clock).failure()
    #expect(refused?.retryAfter == .milliseconds(50))
    #expect(texts.writes == 2)
  }

  @Test(arguments: [Texts.Fault.busy, .full])
  func `is in memory when the store fails`(fault: Texts.Fault) async throws {
    let source = try process("2/m").timeout(.seconds(15), clock: clock)
    _ = try await source.page(PageRequest())
    texts.fail(fault)
    _ = try await source.page(PageRequest())
    #expect(await source.failure()?.code == .rateLimited)
    clock.advance(by: .seconds(60))
    #expect(await source.failure() == nil)
    #expect(service.callCount == 3)
  }

  @Test(arguments: [-86_400 * 400.0, -1800, -1, -0.25])
  func `keeps its time when the system clock is set back`(seconds: Double) async throws {
    let source = try process("1/s").timeout(.seconds(15), clock: clock)
    _ = try await source.page(PageRequest())
    wall.put(forward: seconds)
    for call in 2...4 {
      async let failure = source.failure()
      await clock.sleepers(atLeast: 2)
      #expect(clock.untilNextWake == .seconds(1))
      clock.advance(by: .seconds(1))
      #expect(await failure == nil)
      #expect(service.callCount == call)
    }
  }

  @Test func `ignores reservations dated in the future`() async throws {
    wall.put(forward: 86_400 * 3650)
    for _ in 0..<2 { _ = try await process("2/m").page(PageRequest()) }
    wall.put(forward: -86_400 * 3650)
    let source = try process("2/m").timeout(.seconds(15), clock: clock)
    #expect(await source.failure()?.retryAfter == .seconds(60))
    clock.advance(by: .seconds(60))
    #expect(await source.failure() == nil)
  }

  @Test(arguments: [
    #"{"windows":{"list":[1753900000000,1]},"writtenAt":1753000000000}"#,
    #"{"opensAt":1753900000000,"windows":{},"writtenAt":1753000000000}"#,
    #"{"opensAt":9223372036854775807,"windows":{},"writtenAt":9223372036854775807}"#,
    #"{"windows":{"list":[1]},"writtenAt":1753000000000}"#, #"{"windows":{}}"#, "garbage",
  ])
  func `starts over if the text is invalid`(text: String) async throws {
    texts.set("notes/admission", #"{"limiter":\#(text)}"#)
    #expect(await (try process("1/s")).timeout(.seconds(1), clock: clock).failure() == nil)
    #expect(texts.writes == 1)
  }

  @Test(arguments: [7, 1968, 2026])
  func `is never exceeded by two processes in hours of random calls`(seed: UInt64) async throws {
    let traffic = Traffic(on: clock)
    let processes = try (0..<2).map { _ in
      try process("1/s 200/h", over: traffic.service)
        .observed(by: traffic.observer, as: "notes")
    }
    var random = SeededGenerator(seed)
    await withTaskGroup { group in
      while clock.now.offset < .seconds(3 * 3600) {
        let burst = Int(random.next() % 6)
        for _ in 0..<burst {
          let (process, isList) = (processes[Int(random.next() % 2)], random.next() % 4 > 0)
          group.addTask {
            if isList { _ = await process.failure() } else { _ = try? await process.item(1) }
          }
        }
        await traffic.settles(with: burst)
        await traffic.passes(.milliseconds(Int(random.next() % 30_000)))
      }
      group.cancelAll()
    }
    for (kind, minCount) in [(CallKind.list, 600), (.show, 200)] {
      let times = traffic.times(of: kind)
      #expect(times.count >= minCount, "\(kind)")
      for (first, next) in zip(times, times.dropFirst()) { #expect(next - first >= .seconds(1)) }
      for (first, next) in zip(times, times.dropFirst(200)) {
        #expect(next - first >= .seconds(3600))
      }
    }
  }
}

/// Calls that are made at random times and wait on a manual clock.
private final class Traffic: Sendable {
  private let clock: ManualClock
  private let calls = Mutex<[CallKind: [Duration]]>([:])
  /// Every call comes through at once, or begins to wait and comes through later.
  private let steps = Counter()
  private let waits = Counter()
  private let expected = Mutex((steps: 0, wakes: 0))

  init(on clock: ManualClock) { self.clock = clock }

  var service: ScriptedSource<Note> {
    ScriptedSource { [self] request throws(SourceError) in
      note(CallKind(request))
      return .notes(1...1)
    } item: { [self] id throws(SourceError) in
      note(.show)
      return LookupResult(Note(id), provenance: Provenance(.live))
    }
  }

  var observer: Observer {
    Observer { [self] event in
      guard case .waiting = event else { return }
      waits.add()
      steps.add()
    }
  }

  func times(of kind: CallKind) -> [Duration] { calls.withLock { $0[kind] ?? [] } }

  /// Waits until so many new calls have come through or sleep.
  func settles(with count: Int) async {
    let expected = expected.withLock { expected in
      expected.steps += count
      return expected
    }
    await steps.reaches(expected.steps)
    await clock.sleepers(atLeast: waits.value - expected.wakes)
  }

  /// Lets time pass, and everybody come through in their turn.
  func passes(_ time: Duration) async {
    let end = clock.now.advanced(by: time)
    while let wake = clock.untilNextWake, clock.now.advanced(by: wake) <= end {
      let sleepers = clock.sleeperCount
      clock.advance(by: wake)
      let woken = sleepers - clock.sleeperCount
      expected.withLock { $0.wakes += woken }
      await settles(with: woken)
    }
    clock.advance(by: clock.now.duration(to: end))
  }

  private func note(_ kind: CallKind) {
    calls.withLock { $0[kind, default: []].append(clock.now.offset) }
    steps.add()
  }
}
