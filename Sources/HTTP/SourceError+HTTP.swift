import AggregatorCore

/// The failures that all engines tell in the same words.
extension SourceError {
  static func tooLarge(_ bytes: Int) -> SourceError {
    SourceError(.tooLarge, "the reply is larger than \(bytes.binarySize)")
  }

  static func headTooLarge(_ bytes: Int) -> SourceError {
    SourceError(.tooLarge, "the head of the reply is larger than \(bytes.binarySize)")
  }

  static func notConnected(_ authority: String, within limit: Duration) -> SourceError {
    SourceError(.timedOut, "no connection to \(authority) within \(limit.brief)")
  }

  static func silent(_ authority: String, for limit: Duration) -> SourceError {
    SourceError(.timedOut, "\(authority) was silent for \(limit.brief)")
  }

  static func unfinished(_ authority: String, within limit: Duration) -> SourceError {
    SourceError(.timedOut, "no complete reply from \(authority) within \(limit.brief)")
  }

  static func closedWithoutReply(_ authority: String) -> SourceError {
    SourceError(.connectionLost, "\(authority) closed the connection without a reply")
  }

  static func cutShort(_ authority: String) -> SourceError {
    SourceError(.connectionLost, "\(authority) closed the connection in the middle of the reply")
  }

  static func broken(_ authority: String) -> SourceError {
    SourceError(.connectionLost, "the connection to \(authority) broke")
  }

  static func wronglyCompressed(_ authority: String) -> SourceError {
    SourceError(.malformed, "the reply from \(authority) is compressed in a wrong way")
  }
}

extension Int {
  /// `16 MiB`, `64 KiB` or `1000 bytes`: exact, in the largest unit that divides it.
  fileprivate var binarySize: String {
    if self > 0, isMultiple(of: 1 << 20) { return "\(self >> 20) MiB" }
    if self > 0, isMultiple(of: 1 << 10) { return "\(self >> 10) KiB" }
    return "\(self) bytes"
  }
}

extension Duration {
  /// Whole milliseconds, rounded up, from 1 to 24 days, as C interfaces take them.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < 2_147_483 else { return 2_147_483_000 }
    let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return Int32(Swift.max(1, seconds * 1000 + rest))
  }

  /// `10 s` or `250 ms`.
  fileprivate var brief: String {
    components.attoseconds == 0 ? "\(components.seconds) s" : "\(milliseconds) ms"
  }
}
