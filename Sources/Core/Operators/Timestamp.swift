/// A time in whole milliseconds since a start that all who compare it agree on: 1970 for what processes
/// share, the making of an operator for what one process keeps to itself.
///
/// It is rounded up when it is made and compared with the exact time, so that rounding never makes a
/// wait too short.
package struct Timestamp: Hashable, Comparable, Sendable {
  /// How many milliseconds lie between the start and this time.
  package let milliseconds: Int64

  /// Two hundred thousand years: further is nobody's meaning, and sums never overflow.
  private static let furthest: Int64 = 1 << 53

  package init?(milliseconds: Int64) {
    guard milliseconds.magnitude <= Self.furthest else { return nil }
    self.milliseconds = milliseconds
  }

  /// A time so long after the start, rounded up.
  package init(_ sinceStart: Duration) {
    let furthest = Duration.milliseconds(Self.furthest)
    let (seconds, rest) = min(max(sinceStart, .zero - furthest), furthest).components
    let unit: Int64 = 1_000_000_000_000_000
    milliseconds = seconds * 1000 + rest / unit + (rest % unit > 0 ? 1 : 0)
  }

  /// The time since the start.
  package var sinceStart: Duration { .milliseconds(milliseconds) }

  package static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  static func + (moment: Timestamp, duration: Duration) -> Timestamp {
    Timestamp(moment.sinceStart + duration)
  }

  static func - (moment: Timestamp, duration: Duration) -> Timestamp { moment + (.zero - duration) }
}

extension Timestamp: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let moment = Timestamp(milliseconds: try container.decode(Int64.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no time")
    }
    self = moment
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }
}
