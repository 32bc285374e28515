import Synchronization

/// The time at which the request of a call leaves.
///
/// That is later than the turn of the call while the program starts, connects or waits for the processor, and the
/// service counts from then.
package final class Departure: Sendable {
  /// The departure of the running call, which the HTTP engine notes.
  @TaskLocal package static var current: Departure?

  private let now: @Sendable () -> Duration
  private let time = Mutex<Duration?>(nil)

  init(now: @escaping @Sendable () -> Duration) { self.now = now }

  /// Notes that the request leaves now; of several requests the last one counts.
  package func note() {
    let now = now()
    time.withLock { $0 = now }
  }

  /// `nil` if no request has left.
  var noted: Duration? { time.withLock(\.self) }
}

/// The departures of an operator's calls that its rate limit does not know yet.
///
/// They are recorded with the next change of the shared state, so that no call writes for its departure alone.
final class Departures: Sendable {
  /// A call whose turn was recorded.
  private struct Call {
    let departure: Departure
    let turn: AdmittedTurn
  }

  private let calls = Mutex<[Call]>([])

  func add(_ departure: Departure, of turn: AdmittedTurn) {
    calls.withLock { $0.append(Call(departure: departure, turn: turn)) }
  }

  /// Forgets a call that has ended and never sent a request.
  func end(_ departure: Departure) {
    calls.withLock { $0.removeAll { $0.departure === departure && departure.noted == nil } }
  }

  /// Takes the calls whose requests have left, with the times that count.
  func take() -> [(turn: AdmittedTurn, time: Timestamp)] {
    calls.withLock { calls in
      let left = calls.compactMap { call in
        call.departure.noted.map { (call.turn, Timestamp(call.turn.time(at: $0))) }
      }
      calls.removeAll { $0.departure.noted != nil }
      return left.filter { $0.0.turn.time < $0.1 }
    }
  }
}

/// A turn whose call is made.
struct AdmittedTurn: Sendable {
  let kind: CallKind
  let turn: SlidingWindow.Turn

  /// The time of the shared state when the call was let through, and that of this process.
  let moment: (shared: Duration, own: Duration)

  /// The time of the shared state at a time of this process.
  fileprivate func time(at own: Duration) -> Duration { moment.shared + (own - moment.own) }
}
