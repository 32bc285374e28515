package import Foundation

/// Where the processes that ask one source tell each other how it is to be treated: when it was asked
/// last, until when it wants to be left alone, whether it fails.
///
/// What is written there is counted by the calendar, which all processes read.
public struct SharedState: Sendable {
  /// Changes a text under a name, as ``Store/change(_:_:)`` does.
  package typealias Change =
    @Sendable (_ key: String, _ body: @escaping @Sendable (String?) -> String?)
    async throws(SourceError) -> Void

  /// The time since a start that all readers of this board agree on.
  package let now: @Sendable () -> Duration
  private let source: String
  private let change: Change?

  /// The board of a source in texts that others can change too.
  package init(
    of source: String, now: @escaping @Sendable () -> Date, change: @escaping Change
  ) {
    self.now = {
      // A date is a fraction of seconds: what is finer than a microsecond is noise.
      .microseconds((now().timeIntervalSince1970 * 1_000_000).rounded())
    }
    self.source = source
    self.change = change
  }

  /// A board of one operator's own, in memory.
  package init(on clock: some Clock<Duration>) {
    let start = clock.now
    now = { start.duration(to: clock.now) }
    source = ""
    change = nil
  }

  /// A value that is kept on this board under a name.
  package func shared<Value: Codable & Equatable & Sendable>(
    _ name: String, _ initial: Value
  ) -> SharedValue<Value> {
    guard let change else { return SharedValue(initial) }
    let key = "\(source)/\(name)"
    return SharedValue(initial) { body throws(SourceError) in try await change(key, body) }
  }
}
