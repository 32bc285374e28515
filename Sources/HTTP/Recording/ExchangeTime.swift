import Foundation
import Synchronization

/// The time of the latest exchange and what has passed since, for whoever asks what time it is.
///
/// Recording and replay both go by it, from the same whole second on, so that what is computed from the
/// time right after an exchange comes out the same.
final class ExchangeTime: Sendable {
  private let latest: Mutex<(time: Date, at: Duration)?>
  private let before: @Sendable () -> Date
  private let elapsed: @Sendable () -> Duration

  /// A time.
  ///
  /// - Parameters:
  ///   - start: What the time is to begin with; `nil` for `before`.
  ///   - before: What the time really is.
  ///   - clock: What measures how time passes.
  init(
    from start: Date? = nil, before: @escaping @Sendable () -> Date, on clock: some Clock<Duration>
  ) {
    let begin = clock.now
    elapsed = { begin.duration(to: clock.now) }
    self.before = before
    latest = Mutex(start.map { ($0, .zero) })
  }

  /// What the time is.
  var now: Date {
    guard let latest = latest.withLock({ $0 }) else { return before() }
    return latest.time.addingTimeInterval((elapsed() - latest.at) / .seconds(1))
  }

  /// What the time really is, in whole seconds, as it is written down.
  var stamp: Date { Date(timeIntervalSince1970: before().timeIntervalSince1970.rounded(.down)) }

  /// Notes the time of an exchange, unless a later one was noted.
  func advance(to time: Date) {
    let at = elapsed()
    latest.withLock { latest in
      if (latest?.time ?? time) <= time { latest = (time, at) }
    }
  }
}
