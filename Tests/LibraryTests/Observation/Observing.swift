import AggregatorKit
import AggregatorObservation
import AggregatorSourceTesting
import Observation

/// Waits as a view does: looks again when something that `condition` has read changes.
@MainActor func until(_ condition: () -> Bool) async {
  while !condition() {
    await withCheckedContinuation { continuation in
      withObservationTracking {
        _ = condition()
      } onChange: {
        continuation.resume()
      }
    }
  }
}

/// Counts the changes of which a view is told that has read this; at most one.
@MainActor func changes(of read: () -> Void) -> Counter {
  let changes = Counter()
  withObservationTracking(read) { changes.add() }
  return changes
}

extension PagedList<Note> {
  var ids: [Int] { records.map(\.id) }
}

extension PagedList {
  /// The state as text, such as `failed more timedOut`.
  var stateText: String {
    switch state {
    case .idle: "idle"
    case .loading(let load): "loading \(load)"
    case .failed(let load, let error): "failed \(load) \(error.code)"
    case .ended: "ended"
    }
  }
}

/// Answers with notes page by page: 1 to `size` first, and so on to `count`.
@Sendable func paged(_ request: PageRequest, count: Int) -> Page<Note> {
  let first = request.cursor?.place ?? 1
  let last = min(first + request.limit - 1, count)
  var page = Page.notes(first...last, next: last < count ? .place(last + 1) : nil)
  page.total = count
  return page
}

/// A source of 50 notes that a test can make fail, or hold at a gate.
struct Notes {
  let fault = Fault()
  let source: ScriptedSource<Note>

  init(_ count: Int = 50, held gate: Gate? = nil) {
    source = ScriptedSource(held: gate) { [fault] request throws(SourceError) in
      try fault.strike()
      return paged(request, count: count)
    }
  }
}
