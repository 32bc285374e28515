import Testing

@testable import AggregatorCore
@testable import AggregatorKit

/// It is the real clock that is tried here; nothing waits for longer than a millisecond.
@Suite(.timeLimit(.minutes(10)))
struct ClockReachingTests {
  private let clock = ContinuousClock()
  private var nextYear: ContinuousClock.Instant { clock.now.advanced(by: .seconds(365 * 86_400)) }

  @Test func `fires at its time`() async {
    let start = clock.now
    #expect(await clock.reaches(start.advanced(by: .milliseconds(1))))
    #expect(clock.now >= start.advanced(by: .milliseconds(1)))
    // Long past.
    #expect(await clock.reaches(start.advanced(by: .seconds(-60))))
  }

  @Test func `ends when it is cancelled, before it begins and at any time after`() async {
    for round in 0..<500 {
      let task = Task { await clock.reaches(nextYear) }
      for _ in 0..<round % 5 { await Task.yield() }
      task.cancel()
      #expect(await task.value == false)
    }
  }

  @Test func `accepts times beyond the range of nanoseconds`() async {
    let end = clock.now.advanced(by: .seconds(Int64.max / 4))
    let task = Task { await clock.reaches(end) }
    await Task.yield()
    task.cancel()
    #expect(await task.value == false)
  }
}
