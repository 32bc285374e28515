package import AggregatorKit
import Synchronization

/// What an observer was told.
package final class EventLog: Sendable {
  private let told = Mutex<[Event]>([])

  /// A log in which nothing is written yet.
  package init() {}

  /// What writes into this log.
  package var observer: Observer { Observer { event in self.told.withLock { $0.append(event) } } }

  /// All events so far.
  package var events: [Event] { told.withLock(\.self) }

  /// How many HTTP requests went out, answered or not.
  package var sentCount: Int {
    events.count { if case .sent = $0 { true } else { false } }
  }

  /// All events, as a mirror shows them: everything that could be logged.
  package var text: String {
    var text = ""
    dump(events, to: &text)
    return text
  }
}
