/// What is known of the calls to one source: when the last of each kind were made, and until when it
/// wants none.
package struct RateLimiterState: Hashable, Sendable {
  /// The longest time that a service is believed to want to be left alone, and that anybody waits.
  package static let longestWait = Duration.seconds(24 * 3600)

  /// When this was written; `nil` if it never was.
  private var writtenAt: Timestamp?
  /// Until when the service wants to be left alone.
  private(set) var opensAt: Timestamp?
  private var windows: [String: SlidingWindow] = [:]

  package init() {}

  /// The first free turn; taken if it comes at once or sooner than patience ends.
  package mutating func reserve(
    _ kind: CallKind, cost: Int, by rate: Rate?, at now: Duration, maxWait: Duration
  ) -> SlidingWindow.Turn {
    settle(at: now)
    var window = windows[kind.rawValue] ?? SlidingWindow()
    let turn = window.reserve(
      cost, by: rate?.bounds ?? [], at: now, notBefore: opensAt,
      maxWait: min(maxWait, Self.longestWait))
    // Where there is nothing to remember nothing changes, and so nothing is written.
    if turn.isTaken, rate != nil {
      windows[kind.rawValue] = window
      writtenAt = Timestamp(now)
    }
    return turn
  }

  /// How many calls the bound with the longest period leaves.
  package func left(_ kind: CallKind, cost: Int, by rate: Rate, at now: Duration) -> Int {
    guard let bound = rate.bounds.max(by: { $0.period < $1.period }) else { return 0 }
    let used = windows[kind.rawValue]?.cost(since: now - bound.period) ?? 0
    return max(0, bound.count - used) / cost
  }

  /// Takes a call back that was not made.
  mutating func giveBack(_ turn: SlidingWindow.Turn, of kind: CallKind, cost: Int) {
    windows[kind.rawValue]?.giveBack(turn.time, cost)
  }

  /// Leaves the source alone for some time.
  mutating func close(for wait: Duration, at now: Duration) {
    settle(at: now)
    let end = Timestamp(now) + min(wait, Self.longestWait)
    guard opensAt.map({ $0 < end }) ?? true else { return }
    opensAt = end
    writtenAt = Timestamp(now)
  }

  /// Whether the service wants to be left alone now.
  func isClosed(at now: Duration) -> Bool { opensAt.map { now < $0.sinceStart } ?? false }

  /// Moves everything back where the calendar was put back since it was written.
  ///
  /// Without that, nobody could call until the calendar has caught up.
  private mutating func settle(at now: Duration) {
    guard let last = writtenAt, last > Timestamp(now) else { return }
    let jump = last.sinceStart - Timestamp(now).sinceStart
    for kind in windows.keys { windows[kind]?.shift(by: jump) }
    opensAt = opensAt.map { $0 - jump }
    writtenAt = Timestamp(now)
  }
}

extension RateLimiterState: Codable {
  private enum CodingKeys: String, CodingKey { case writtenAt, opensAt, windows }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let writtenAt = try container.decode(Timestamp.self, forKey: .writtenAt)
    self.writtenAt = writtenAt
    opensAt = try container.decodeIfPresent(Timestamp.self, forKey: .opensAt)
    windows = try container.decode([String: SlidingWindow].self, forKey: .windows)
    // Nothing that was ever written lies further ahead; what does would close the source for ever.
    let latest = (windows.values.map(\.last) + [opensAt]).compactMap(\.self).max() ?? writtenAt
    guard latest <= writtenAt + Self.longestWait else {
      throw DecodingError.dataCorruptedError(
        forKey: .windows, in: container, debugDescription: "a turn too far ahead")
    }
  }
}
