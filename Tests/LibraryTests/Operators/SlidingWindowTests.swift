import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorKit

/// The arithmetic of `rateLimited`, without any waiting.
@Suite
struct SlidingWindowTests {
  private let ever = Duration.seconds(1_000_000)

  private func bounds(_ rate: String) throws -> [Rate.Bound] {
    try #require(Rate(rate)).bounds
  }

  @Test(arguments: ["1/s", "3/s", "2/s 5/10s", "1/s 4/m", "7/3s 9/4s 20/m", "5/s 5/s", "9/2s 3/s"])
  func `never allows more calls in any window than its bound`(text: String) throws {
    let bounds = try bounds(text)
    var random = SeededGenerator(42)
    for round in 0..<20 {
      var window = SlidingWindow()
      var now = Duration.zero
      var limiterState: [Duration] = []
      for _ in 0..<300 {
        // Bursts, and pauses of every length up to twice the longest window.
        if random.next() % 3 > 0 {
          now += .microseconds(Int(random.next() % (round < 10 ? 700_000 : 9_000_000)))
        }
        let turn = window.reserve(by: bounds, at: now, maxWait: ever)
        #expect(turn.isTaken && turn.wait >= .zero)
        if random.next() % 8 == 0, turn.wait > .zero {
          window.giveBack(turn.time)
        } else {
          limiterState.append(now + turn.wait)
        }
      }
      for bound in bounds {
        for (first, next) in zip(limiterState, limiterState.dropFirst(bound.count)) {
          #expect(next - first >= bound.period, "\(bound.count) turns since \(first)")
        }
      }
    }
  }

  /// A call that sleeps until it believes that its turn has come.
  private struct Sleeper {
    var turn: SlidingWindow.Turn
    var wake: Duration
  }

  @Test(arguments: ["1/s", "3/s", "2/s 5/10s", "7/3s 9/4s 20/m"])
  func `never allows more calls than its bound, however late they wake`(text: String) throws {
    let bounds = try bounds(text)
    var random = SeededGenerator(7)
    for _ in 0..<20 {
      var window = SlidingWindow()
      var made: [Duration] = []
      var sleepers: [Sleeper] = []
      var now = Duration.zero
      var rest = 100
      func late() -> Duration {
        .microseconds(
          Int(random.next() % 4 == 0 ? random.next() % 2_000_000 : random.next() % 5000))
      }
      while rest > 0 || !sleepers.isEmpty {
        let next = sleepers.indices.min { sleepers[$0].wake < sleepers[$1].wake }
        if rest > 0, sleepers.count < 6 {
          rest -= 1
          now += .microseconds(Int(random.next() % 300_000))
          let turn = window.reserve(by: bounds, at: now, maxWait: ever)
          if turn.wait == .zero {
            made.append(now)
          } else {
            sleepers.append(Sleeper(turn: turn, wake: now + turn.wait + late()))
          }
        } else if let next {
          now = max(now, sleepers[next].wake)
          let turn = window.confirm(sleepers[next].turn, by: bounds, at: now)
          if turn.wait == .zero {
            made.append(now)
            sleepers.remove(at: next)
          } else {
            sleepers[next] = Sleeper(turn: turn, wake: now + turn.wait + late())
          }
        }
      }
      #expect(made.count == 100)
      for bound in bounds {
        for (first, next) in zip(made, made.dropFirst(bound.count)) {
          #expect(next - first >= bound.period, "\(bound.count) calls since \(first)")
        }
      }
    }
  }

  @Test func `a call that wakes late counts from then, and the next waits for it`() throws {
    var window = SlidingWindow()
    let bounds = try bounds("1/s")
    let turns = (0..<3).map { _ in window.reserve(by: bounds, at: .zero, maxWait: ever) }
    #expect(turns.map(\.wait) == [.zero, .seconds(1), .seconds(2)])
    let second = window.confirm(turns[1], by: bounds, at: .milliseconds(1050))
    #expect((second.wait, second.time) == (.zero, Timestamp(.milliseconds(1050))))
    let before = window
    let again = window.confirm(turns[2], by: bounds, at: .seconds(2))
    #expect(again.wait == .milliseconds(50))
    // It has its place already.
    #expect(window == before)
    #expect(window.confirm(again, by: bounds, at: .milliseconds(2050)).wait == .zero)
    #expect(
      window.reserve(by: bounds, at: .milliseconds(2050), maxWait: ever).wait == .seconds(1))
  }

  @Test func `reserves every call as early as the rate allows`() throws {
    var window = SlidingWindow()
    let bounds = try bounds("2/s 5/10s")
    let waits = (0..<8).map { _ in window.reserve(by: bounds, at: .zero, maxWait: ever).wait }
    #expect(waits == [0, 0, 1, 1, 2, 10, 10, 11].map { .seconds($0) })
  }

  @Test func `allows no burst of twice the rate after a pause`() throws {
    var window = SlidingWindow()
    let bounds = try bounds("3/s")
    let early = window.reserve(by: bounds, at: .zero, maxWait: ever).time
    let late = (0..<4).map { _ in
      window.reserve(by: bounds, at: .milliseconds(900), maxWait: ever).time.milliseconds
    }
    #expect(early.milliseconds == 0)
    #expect(late == [900, 900, 1000, 1900])
  }

  @Test func `rounds waits to whole milliseconds`() throws {
    var window = SlidingWindow()
    let bounds = try bounds("3/s")
    let limiterState = (1...3).map {
      window.reserve(by: bounds, at: .microseconds(400 * $0), maxWait: ever)
    }
    #expect(limiterState.map(\.wait) == [.zero, .zero, .zero])
    #expect(limiterState.map(\.time.milliseconds) == [1, 1, 2])
    let fourth = window.reserve(by: bounds, at: .microseconds(1_000_400), maxWait: ever)
    #expect(fourth.wait == .microseconds(600))
  }

  @Test func `makes no reservation beyond the caller's longest wait`() throws {
    var window = SlidingWindow()
    let bounds = try bounds("1/s")
    #expect(window.reserve(by: bounds, at: .zero, maxWait: .zero).isTaken)
    for _ in 0..<2 {
      let turn = window.reserve(by: bounds, at: .zero, maxWait: .seconds(1))
      #expect((turn.wait, turn.isTaken) == (.seconds(1), false))
    }
    #expect(window.reserve(by: bounds, at: .zero, maxWait: .seconds(1.1)).isTaken)
  }

  @Test func `reserves in the order of arrival`() throws {
    var window = SlidingWindow()
    let bounds = try bounds("2/s")
    let times = (0..<50).map { _ in window.reserve(by: bounds, at: .zero, maxWait: ever).time }
    #expect(times == times.sorted())
  }

  @Test func `gives a returned reservation to the next caller`() throws {
    var window = SlidingWindow()
    let bounds = try bounds("1/s")
    _ = window.reserve(by: bounds, at: .zero, maxWait: ever)
    let turn = window.reserve(by: bounds, at: .zero, maxWait: ever).time
    window.giveBack(turn)
    #expect(window.reserve(by: bounds, at: .milliseconds(200), maxWait: ever).time == turn)
  }

  @Test func `counts each call by its cost, limited to the bound`() throws {
    var window = SlidingWindow()
    let bounds = try bounds("10/s")
    let waits = [4, 4, 2, 1, 30, 1].map {
      window.reserve($0, by: bounds, at: .zero, maxWait: ever).wait
    }
    #expect(waits == [0, 0, 0, 1, 2, 3].map { .seconds($0) })
  }

  @Test func `reserves nothing before the service is available again`() throws {
    var window = SlidingWindow()
    let opening = Timestamp(.seconds(9))
    for bounds in [try bounds("1/s"), []] {
      let turn = window.reserve(by: bounds, at: .zero, notBefore: opening, maxWait: ever)
      #expect(turn.time == opening)
    }
    #expect(
      window.reserve(by: [], at: .seconds(9), notBefore: opening, maxWait: ever).wait == .zero)
  }

  @Test func `uses bounded memory for any number of calls`() throws {
    let bounds = try bounds("50/s 100000/h")
    var window = SlidingWindow()
    var now = Duration.zero
    var limiterState: [Duration] = []
    for _ in 0..<30_000 {
      now += window.reserve(by: bounds, at: now, maxWait: ever).wait
      limiterState.append(now)
      now += .milliseconds(7)
    }
    for (first, next) in zip(limiterState, limiterState.dropFirst(50)) {
      #expect(next - first >= .seconds(1))
    }
    #expect(now < .seconds(602))
    #expect(try JSONEncoder().encode(window).count < 12_000)
  }

  @Test func `reads back the text it wrote`() throws {
    let bounds = try bounds("2/s 5/10s")
    var window = SlidingWindow()
    for _ in 0..<4 { _ = window.reserve(2, by: bounds, at: .seconds(7), maxWait: ever) }
    let text = try JSONEncoder().encode(window)
    #expect(String(decoding: text, as: UTF8.self) == "[7000,2,1000,2,9000,2,1000,2]")
    #expect(try JSONDecoder().decode(SlidingWindow.self, from: text) == window)
  }

  @Test(arguments: [
    "[1]", "[1,0]", "[1,-1]", "[5,1,0,1]", "[5,1,-1,1]", "[9223372036854775807,1]",
    "[9007199254740991,1,9223372036854775807,1]", "[1,9223372036854775807]", "[1.5,1]", "{}",
    "[\"1\",1]",
  ])
  func `rejects invalid text`(text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(SlidingWindow.self, from: Data(text.utf8))
    }
  }
}
