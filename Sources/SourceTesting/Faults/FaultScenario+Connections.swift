import AggregatorKit
import Foundation

extension FaultScenario {
  /// Longer than any reply of this machine takes, and short enough to be waited for.
  private static let silence = Duration.milliseconds(60)

  /// The connection fails.
  static let connections = [
    FaultScenario("refused", "Nobody listens.", .failing, says: [.unreachable], play: .refuse),
    FaultScenario(
      "reset", "The connection is reset instead of a reply.", .failing, says: [.connectionLost],
      play: .answer { _ in .reset }),
    FaultScenario(
      "closed", "The connection is closed instead of a reply.", .failing, says: [.connectionLost],
      play: .answer { _ in .closed }),
    FaultScenario(
      "stalled", "No reply ever comes.", .failing, says: [.timedOut], idle: silence,
      play: .answer { _ in .stalled }),
  ]

  /// The reply breaks off, or comes slowly.
  static let bodies = [
    FaultScenario(
      "cut", "The connection is closed in the middle of the body.", .failing,
      says: [.connectionLost],
      play: .body { .cut(after: $0.prefix($0.count / 2), of: $0.count) }),
    FaultScenario(
      "too-long", "Content-Length promises more than comes.", .failing, says: [.connectionLost],
      play: .body { .cut(after: $0, of: $0.count + 100) }),
    FaultScenario(
      "too-short", "Content-Length promises less than comes.", .failing, says: [.malformed],
      play: .body { .cut(after: $0, of: $0.count * 2 / 3) }),
    FaultScenario(
      "stalled-body", "The reply falls silent in the middle of the body.", .failing,
      says: [.timedOut], idle: silence,
      play: .body { .stalled(after: $0.prefix($0.count / 2), of: $0.count) }),
    FaultScenario(
      "slow", "The body drips, and comes in the end.", .passing,
      play: .body { .dripping($0, every: .milliseconds(2), size: max($0.count / 5, 1)) }),
    FaultScenario(
      "too-slow", "The body drips too slowly to come in time.", .failing, says: [.timedOut],
      overall: silence,
      play: .body { .dripping($0, every: .milliseconds(20), size: max($0.count / 50, 1)) }),
  ]
}

extension FaultScenario.Play {
  /// The service's own body, sent in another way.
  fileprivate static func body(_ send: @escaping @Sendable (Data) -> LoopbackReply) -> Self {
    .answer { send($0.fair().body) }
  }
}
