import Foundation
import Synchronization

/// A small value that tasks change one after another, and processes too where it is kept in a store.
///
/// It holds what politeness needs to know, and politeness never makes reading fail: when the store
/// fails, such as on a full disk, the value goes on in the memory of this process.
package final class SharedValue<Value: Codable & Equatable & Sendable>: Sendable {
  /// Changes the text that all processes share, as ``Store/change(_:_:)`` does.
  typealias Change =
    @Sendable (_ body: @escaping @Sendable (String?) -> String?) async throws(SourceError) -> Void

  /// What this process knows of the value.
  private struct Memory: Sendable {
    var value: Value
    var isOnItsOwn: Bool
  }

  private let initial: Value
  private let change: Change?
  private let memory: Mutex<Memory>

  /// A value.
  ///
  /// - Parameters:
  ///   - initial: What it is at first, and where the text cannot be read.
  ///   - change: Changes the text that it is kept in; `nil` to keep it in memory.
  init(_ initial: Value, in change: Change? = nil) {
    self.initial = initial
    self.change = change
    memory = Mutex(Memory(value: initial, isOnItsOwn: change == nil))
  }

  /// Changes the value, one caller after the other.
  ///
  /// It is written only if it is another one then. It is done even if the task is cancelled: whoever
  /// leaves must still be able to say so.
  ///
  /// - Parameter body: What to do with it; quick, for all others wait. It may be called more than
  ///   once; the last time counts.
  /// - Returns: What `body` returned.
  @discardableResult
  package func update<Answer: Sendable>(_ body: @escaping @Sendable (inout Value) -> Answer) async
    -> Answer
  {
    guard let change, !memory.withLock(\.isOnItsOwn) else { return updateMemory(body) }
    let outcome = Outcome<Answer>()
    // A task of its own does not know that this one is cancelled; it is awaited, so it ends here.
    let isDone = await Task {
      do throws(SourceError) {
        try await change { [self] text in
          var value = text.flatMap(Self.decoded) ?? initial
          let before = value
          outcome.answer.withLock { $0 = body(&value) }
          memory.withLock { [value] in $0.value = value }
          return value == before ? nil : Self.encoded(value)
        }
        return true
      } catch {
        return false
      }
    }.value
    if !isDone { memory.withLock { $0.isOnItsOwn = true } }
    // Where only the writing failed, the memory has the change already.
    return outcome.answer.withLock(\.self) ?? updateMemory(body)
  }

  private func updateMemory<Answer: Sendable>(_ body: (inout Value) -> Answer) -> Answer {
    memory.withLock { body(&$0.value) }
  }

  private static func decoded(_ text: String) -> Value? {
    try? JSONText(Data(text.utf8))?.read(Value.self)
  }

  private static func encoded(_ value: Value) -> String? {
    try? CanonicalJSON.text(of: value)
  }
}

/// What an update returned, from a closure that may run anywhere.
private final class Outcome<Answer: Sendable>: Sendable {
  let answer = Mutex<Answer?>(nil)
}
