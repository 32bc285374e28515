import AggregatorKit
import Foundation
import Synchronization

/// What the calendar says in one run: the system's date, or what a recording says.
final class SessionCalendar: Sendable {
  private let source = Mutex<@Sendable () -> Date>({ Date() })

  /// The date.
  var date: Date { source.withLock(\.self)() }

  /// Goes by another date from now on.
  func follow(_ now: @escaping @Sendable () -> Date) { source.withLock { $0 = now } }
}
