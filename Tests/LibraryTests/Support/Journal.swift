import AggregatorKit
import Synchronization

/// Records the events of a source as text.
final class Journal: Sendable {
  private let lines = Mutex<[String]>([])
  private let durations = Mutex<[Duration]>([])

  var observer: Observer { Observer { [self] in write($0) } }

  var events: [String] { lines.withLock { $0 } }

  /// The announced waits.
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
