import AggregatorFoundation
import AggregatorStore

extension CompleteSync {
  /// The text of the checkpoint that it leaves.
  static func mark(from begun: Date?, to end: Date) -> String {
    let text = "\(Int64(end.timeIntervalSince1970))"
    // A wrong clock may have put the beginning anywhere.
    guard let begun, begun < end, begun.timeIntervalSince1970 > 1 else { return text }
    // To the millisecond before it, so that a list that was cached in the same second is told from what it has read.
    return "\(text) \((begun.timeIntervalSince1970 * 1000).rounded(.down) / 1000)"
  }
}

extension IncompleteEnds {
  mutating func add(_ end: Date) {
    // Just after it, so that its own changes are before, also where times are rounded down to milliseconds.
    let milliseconds = (end.timeIntervalSince1970 * 1000).rounded(.up) + 0.5
    dates.insert(Date(timeIntervalSince1970: milliseconds / 1000), at: 0)
    dates = Array(dates.prefix(2))
  }

  var text: String {
    dates.map { "\($0.timeIntervalSince1970)" }.joined(separator: " ")
  }
}
