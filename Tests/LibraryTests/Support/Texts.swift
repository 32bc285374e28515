import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization

/// Text shared by processes, as in a ``SourceStore``.
final class Texts: Sendable {
  /// A failure of changes.
  enum Fault: CaseIterable {
    /// Another process holds the lock.
    case busy
    /// The disk is full: the change is made but cannot be written.
    case full
    /// Fails in cancelled tasks.
    case cancellable
    /// Needs a second attempt, because another process was faster.
    case twice
  }

  private struct State {
    var texts: [String: String] = [:]
    var fault: Fault?
    var changes = 0
    var writes = 0
  }

  private let state = Mutex(State())

  var texts: [String: String] { state.withLock(\.texts) }

  /// The number of attempted changes.
  var changes: Int { state.withLock(\.changes) }

  /// The number of writes.
  var writes: Int { state.withLock(\.writes) }

  func fail(_ fault: Fault?) { state.withLock { $0.fault = fault } }

  /// Writes text from outside.
  func set(_ key: String, _ text: String?) { state.withLock { $0.texts[key] = text } }

  func change(
    _ key: String, _ body: @escaping @Sendable (String?, Date?) -> String?
  ) async throws(SourceError) {
    // Other tasks may interfere here, as with a real store.
    await Task.yield()
    let error: SourceError? = state.withLock { state in
      state.changes += 1
      switch state.fault {
      case .busy: return .because(.busy)
      case .cancellable where Task.isCancelled: return .cancelled
      case .twice: _ = body("text of a writer who gave up", nil)
      default: break
      }
      guard let text = body(state.texts[key], nil) else { return nil }
      if state.fault == .full { return .because(.storage) }
      state.texts[key] = text
      state.writes += 1
      return nil
    }
    if let error { throw error }
  }

  /// The shared state as one process sees it.
  func sharedState(at now: @escaping @Sendable () -> Date) -> SharedState {
    SharedState(of: "notes", now: now) { [self] key, body throws(SourceError) in
      try await change(key, body)
    }
  }
}
