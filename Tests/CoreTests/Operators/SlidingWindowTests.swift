import Testing

@testable import Core

/// The arithmetic of `rateLimited`, without any waiting.
@Suite
struct SlidingWindowTests {
  private func window(_ rate: String) throws -> SlidingWindow {
    SlidingWindow(try #require(Rate(rate)))
  }

  @Test(arguments: ["1/s", "3/s", "2/s 5/10s", "1/s 4/m", "7/3s 9/4s 20/m", "5/s 5/s", "9/2s 3/s"])
  func `never lets more through in any window than a bound allows`(text: String) throws {
    let rate = try #require(Rate(text))
    var random = Seeded(state: 42)
    for round in 0..<20 {
      var window = SlidingWindow(rate)
      var now = Duration.zero
      var turns: [Duration] = []
      for _ in 0..<300 {
        // Bursts, and pauses of every length up to twice the longest window.
        if random.next() % 3 > 0 {
          now += .milliseconds(Int(random.next() % (round < 10 ? 700 : 9000)))
        }
        let turn = window.reserve(at: now) { _ in true }
        #expect(turn.isTaken && turn.time >= now)
        if random.next() % 8 == 0, turn.time > now {
          window.giveBack(turn.time)
        } else {
          turns.append(turn.time)
        }
      }
      for bound in rate.bounds {
        for (first, next) in zip(turns, turns.dropFirst(bound.count)) {
          #expect(next - first >= bound.period, "\(bound.count) turns since \(first)")
        }
      }
    }
  }

  @Test func `gives every turn as early as the rate allows`() throws {
    var window = try window("2/s 5/10s")
    let times = (0..<8).map { _ in window.reserve(at: .zero) { _ in true }.time }
    #expect(times == [0, 0, 1, 1, 2, 10, 10, 11].map { .seconds($0) })
  }

  @Test func `lets no burst of twice the rate follow a pause`() throws {
    var window = try window("3/s")
    let early = window.reserve(at: .zero) { _ in true }.time
    let late = (0..<4).map { _ in window.reserve(at: .milliseconds(900)) { _ in true }.time }
    #expect(early == .zero)
    #expect(late == [900, 900, 1000, 1900].map { .milliseconds($0) })
  }

  @Test func `takes no turn that the caller will not wait for`() throws {
    var window = try window("1/s")
    #expect(window.reserve(at: .zero) { _ in false } == (.zero, true))
    #expect(window.reserve(at: .zero) { _ in false } == (.seconds(1), false))
    #expect(window.reserve(at: .zero) { $0 == .seconds(1) } == (.seconds(1), true))
  }

  @Test func `serves in the order of coming`() throws {
    var window = try window("2/s")
    let times = (0..<50).map { _ in window.reserve(at: .zero) { _ in true }.time }
    #expect(times == times.sorted())
  }

  @Test func `gives the last turn to the next caller when it is given back`() throws {
    var window = try window("1/s")
    _ = window.reserve(at: .zero) { _ in true }
    let turn = window.reserve(at: .zero) { _ in true }.time
    window.giveBack(turn)
    #expect(window.reserve(at: .milliseconds(200)) { _ in true }.time == turn)
  }
}
