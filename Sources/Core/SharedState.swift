package import AggregatorFoundation
import Synchronization

/// State of a source that processes share: the times of the last calls, the end of a pause, failures.
///
/// Its times are those of the clock that all processes share: the store's, if it has one of its own, such as a
/// server's, or else the system's.
public struct SharedState: Sendable {
  /// Changes the text under a key, as ``SourceStore/change(_:timed:)`` does.
  package typealias Change =
    @Sendable (_ key: String, _ body: @escaping @Sendable (String?, Date?) -> String?)
    async throws(SourceError) -> Void

  /// The time since a start common to all users of this state, unless the storage has a clock of its own.
  package let now: @Sendable () -> Duration
  private var source: String
  private let storage: Storage

  private enum Storage: Sendable {
    case texts(Change)
    case memory(Values)
  }

  private final class Values: Sendable {
    let byName = Mutex<[String: any Sendable]>([:])
  }

  /// The state of a source, in texts that other processes can change too.
  package init(
    of source: String, now: @escaping @Sendable () -> Date, change: @escaping Change
  ) {
    self.now = { now().sinceStart }
    self.source = source
    storage = .texts(change)
  }

  /// State in memory, shared by its copies.
  package init(on clock: some Clock<Duration>) {
    let start = clock.now
    now = { start.duration(to: clock.now) }
    source = ""
    storage = .memory(Values())
  }

  /// The state of another source in the same place.
  package func of(_ source: String) -> SharedState {
    var other = self
    other.source = source
    return other
  }

  package func shared<Value: Codable & Equatable & Sendable>(
    _ name: String, _ initial: Value
  ) -> SharedValue<Value> {
    let key = "\(source)/\(name)"
    switch storage {
    case .texts(let change):
      return SharedValue(initial) { body throws(SourceError) in try await change(key, body) }
    case .memory(let values):
      return values.byName.withLock { values in
        if let known = values[key] as? SharedValue<Value> { return known }
        let value = SharedValue(initial)
        values[key] = value
        return value
      }
    }
  }
}

/// A small value with atomic updates, also across processes if it is in a store.
///
/// Rate limits and circuit breakers must not make a call fail: if the store fails, such as on a full
/// disk, the value continues in the memory of this process.
package final class SharedValue<Value: Codable & Equatable & Sendable>: Sendable {
  /// Changes the shared text, as ``SourceStore/change(_:timed:)`` does.
  typealias Change =
    @Sendable (_ body: @escaping @Sendable (String?, Date?) -> String?) async throws(SourceError)
    -> Void

  private struct Memory: Sendable {
    var value: Value
    /// True without a store, or after the store has failed.
    var isDetached: Bool
  }

  private let initial: Value
  private let change: Change?
  private let memory: Mutex<Memory>

  /// `initial` is also used if the text cannot be read; without `change` the value stays in memory.
  init(_ initial: Value, in change: Change? = nil) {
    self.initial = initial
    self.change = change
    memory = Mutex(Memory(value: initial, isDetached: change == nil))
  }

  /// Updates the value atomically, and writes it if it changed.
  ///
  /// The update completes even if the task is cancelled, because callers release their turns with it.
  ///
  /// - Parameter body: Changes the value; it must be quick, because it blocks other callers. It may be
  ///   called more than once; the last call counts. It receives the storage's time, `nil` if it has no clock of
  ///   its own.
  @discardableResult @_semantics("optimize.sil.specialize.generic.never")
  package func update<Answer: Sendable>(
    _ body: @escaping @Sendable (inout Value, _ time: Duration?) -> Answer
  ) async -> Answer {
    guard let change, !memory.withLock(\.isDetached) else { return updateMemory(body) }
    let outcome = Outcome<Answer>()
    // An unstructured task is not cancelled with this one; it is awaited, so it ends here.
    let isDone = await Task {
      do throws(SourceError) {
        try await change { [self] text, time in
          let known = text.flatMap { JSONText(Data($0.utf8)) }
          var value = (try? known?.read(Value.self)) ?? initial
          let before = value
          outcome.answer.withLock { $0 = body(&value, time?.sinceStart) }
          memory.withLock { [value] in $0.value = value }
          return value == before ? nil : try? CanonicalJSON.text(of: value)
        }
        return true
      } catch {
        return false
      }
    }.value
    if !isDone { memory.withLock { $0.isDetached = true } }
    // If only the writing failed, the memory has the change already.
    return outcome.answer.withLock(\.self) ?? updateMemory(body)
  }

  /// Updates the value by a change that needs no time.
  @discardableResult @_semantics("optimize.sil.specialize.generic.never")
  package func update<Answer: Sendable>(
    _ body: @escaping @Sendable (inout Value) -> Answer
  ) async -> Answer {
    await update { value, _ in body(&value) }
  }

  private func updateMemory<Answer: Sendable>(_ body: (inout Value, Duration?) -> Answer) -> Answer
  {
    memory.withLock { body(&$0.value, nil) }
  }
}

extension Date {
  /// The time since 1970, in microseconds: a date is a fraction of seconds, whose further digits are noise.
  fileprivate var sinceStart: Duration {
    .microseconds((timeIntervalSince1970 * 1_000_000).rounded())
  }
}

/// The result of an update, from a closure that may run anywhere.
private final class Outcome<Answer: Sendable>: Sendable {
  let answer = Mutex<Answer?>(nil)
}

/// A time in whole milliseconds since a common start: 1970 for state shared by processes, the creation of
/// the operator for its own state.
///
/// It is rounded up, and compared with the exact time, so that rounding never makes a wait too short.
package struct Timestamp: Hashable, Comparable, Sendable {
  package let milliseconds: Int64

  /// Two hundred thousand years, so that sums never overflow.
  private static let maximum: Int64 = 1 << 53

  package init?(milliseconds: Int64) {
    guard milliseconds.magnitude <= Self.maximum else { return nil }
    self.milliseconds = milliseconds
  }

  package init(_ sinceStart: Duration) {
    let maximum = Duration.milliseconds(Self.maximum)
    let (seconds, rest) = min(max(sinceStart, .zero - maximum), maximum).components
    let unit: Int64 = 1_000_000_000_000_000
    milliseconds = seconds * 1000 + rest / unit + (rest % unit > 0 ? 1 : 0)
  }

  package var sinceStart: Duration { .milliseconds(milliseconds) }

  package static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  static func + (time: Timestamp, duration: Duration) -> Timestamp {
    Timestamp(time.sinceStart + duration)
  }

  static func - (time: Timestamp, duration: Duration) -> Timestamp { time + (.zero - duration) }
}

/// Coded as its milliseconds.
extension Timestamp: RawRepresentable, Codable {
  package var rawValue: Int64 { milliseconds }

  package init?(rawValue: Int64) { self.init(milliseconds: rawValue) }
}
