package import AggregatorKit
import Synchronization

/// Records the events of an ``Observer``.
package final class EventLog: Sendable {
  private let log = Mutex<[Event]>([])

  package init() {}

  package var observer: Observer { Observer { event in self.log.withLock { $0.append(event) } } }

  package var events: [Event] { log.withLock(\.self) }

  /// The number of HTTP requests sent, answered or not.
  package var sentCount: Int {
    events.count { if case .sent = $0 { true } else { false } }
  }

  /// A dump of all events, with everything that could be logged.
  package var text: String {
    var text = ""
    dump(events, to: &text)
    return text
  }
}
