import AggregatorKit
import Synchronization

/// What a source did, in the order of its doing.
final class Journal: Sendable {
  private let lines = Mutex<[String]>([])
  private let durations = Mutex<[Duration]>([])

  /// Writes down every event.
  var observer: Observer { Observer { [self] in write($0) } }

  /// The events in words.
  var events: [String] { lines.withLock { $0 } }

  /// The waits that were announced.
  var waits: [Duration] { durations.withLock { $0 } }

  private func write(_ event: Event) {
    let line =
      switch event {
      case .asked(_, let call): "asked \(call)"
      case .answered(_, let call, let provenance, let count):
        "answered \(call) \(provenance.origin) \(count)"
      case .failed(_, let call, let error): "failed \(call) \(error.code)"
      case .waiting(let wait, let reason): "waiting \(wait): \(reason)"
      case .retrying(let error): "retrying \(error.code)"
      case .fellBack(let error): "fell back \(error.code)"
      default: "other"
      }
    if case .waiting(let wait, _) = event { durations.withLock { $0.append(wait) } }
    lines.withLock { $0.append(line) }
  }
}
