/// When the call that is running must be over.
///
/// ``DataSource/timeout(_:clock:)`` sets it for everything underneath, so that nobody begins a wait
/// that cannot end in time.
package struct Deadline: Sendable {
  /// The deadline of the running call; `nil` if it has none.
  @TaskLocal package static var current: Deadline?

  /// The time left; negative when the deadline has passed.
  package let remaining: @Sendable () -> Duration

  /// Whether a wait of this length ends before the deadline of the running call.
  ///
  /// - Parameter wait: How long it would take.
  /// - Returns: `true` if there is no deadline.
  package static func leavesRoom(for wait: Duration) -> Bool {
    current.map { wait < $0.remaining() } ?? true
  }

  /// Whether the deadline of the running call has passed.
  package static var hasPassed: Bool { !leavesRoom(for: .zero) }

  /// The nearer of this deadline and the one around it.
  var tightened: Deadline {
    guard let outer = Deadline.current else { return self }
    return Deadline { [self] in min(remaining(), outer.remaining()) }
  }

  /// A deadline some time from now.
  package init(after duration: Duration, on clock: some Clock<Duration>) {
    let end = clock.now.advanced(by: duration)
    self.init { clock.now.duration(to: end) }
  }

  private init(remaining: @escaping @Sendable () -> Duration) { self.remaining = remaining }
}
