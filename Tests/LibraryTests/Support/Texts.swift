import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization

/// Texts that all processes share, as a ``Store`` keeps them.
final class Texts: Sendable {
  /// What goes wrong with a change.
  enum Fault: CaseIterable {
    /// Another process keeps it locked.
    case busy
    /// The disk is full: the change is made but cannot be written.
    case full
    /// It does not work for tasks that are cancelled.
    case cancellable
    /// The first time comes to nothing, as it does where another process was quicker.
    case twice
  }

  private struct State {
    var texts: [String: String] = [:]
    var fault: Fault?
    var changes = 0
    var writes = 0
  }

  private let state = Mutex(State())

  /// What is written now.
  var texts: [String: String] { state.withLock(\.texts) }

  /// How often somebody asked for a change.
  var changes: Int { state.withLock(\.changes) }

  /// How often something was written.
  var writes: Int { state.withLock(\.writes) }

  /// Lets every change go wrong from now on.
  func fail(_ fault: Fault?) { state.withLock { $0.fault = fault } }

  /// Writes a text past everybody.
  func set(_ key: String, _ text: String?) { state.withLock { $0.texts[key] = text } }

  func change(
    _ key: String, _ body: @escaping @Sendable (String?) -> String?
  ) async throws(SourceError) {
    // Whoever comes next may come in between, as with a real store.
    await Task.yield()
    let error: SourceError? = state.withLock { state in
      state.changes += 1
      switch state.fault {
      case .busy: return .because(.busy)
      case .cancellable where Task.isCancelled: return .cancelled
      case .twice: _ = body("text of a writer who gave up")
      default: break
      }
      guard let text = body(state.texts[key]) else { return nil }
      if state.fault == .full { return .because(.storage) }
      state.texts[key] = text
      state.writes += 1
      return nil
    }
    if let error { throw error }
  }

  /// The board of one process.
  func sharedState(at now: @escaping @Sendable () -> Date) -> SharedState {
    SharedState(of: "notes", now: now) { [self] key, body throws(SourceError) in
      try await change(key, body)
    }
  }
}
