/// The times of the last calls: exact, where a token bucket would let twice the rate through when a
/// burst follows a pause.
package struct SlidingWindow: Hashable, Sendable {
  /// When a call may be made.
  package struct Turn: Equatable {
    let time: Timestamp
    /// How long it is until then.
    package let wait: Duration
    /// Whether the turn was taken: it is not if the caller will not wait for it.
    let isTaken: Bool
    /// Whether it is the first one after a time without turns.
    let isOpening: Bool
  }

  /// Calls that count as made at the same time.
  private struct Group: Hashable {
    var time: Timestamp
    var cost: Int
  }

  /// More than these are no longer remembered one by one.
  private static let mostGroups = 1024
  /// Where a cost that was read is damaged; sums of it never overflow.
  private static let largestCost = 1 << 40

  /// The calls that still count, ascending; some lie ahead.
  private var groups: [Group] = []

  /// The time of the last call, which may lie ahead.
  var last: Timestamp? { groups.last?.time }

  /// The first free turn; taken if it comes at once or sooner than patience ends.
  ///
  /// - Parameters:
  ///   - cost: As how many a call counts.
  ///   - bounds: What holds in every window; no call is remembered if there are none.
  ///   - now: The time.
  ///   - opening: A time before which there is no turn.
  ///   - patience: How long the caller would wait.
  /// - Returns: The turn.
  mutating func reserve(
    _ cost: Int = 1, by bounds: [Rate.Bound], at now: Duration, notBefore opening: Timestamp? = nil,
    maxWait: Duration
  ) -> Turn {
    let present = Timestamp(now)
    let free = (bounds.map { firstTime(for: cost, within: $0) } + [opening]).compactMap(\.self)
      .max()
    // A turn that is given back may leave a gap; later callers still queue behind the last one.
    let time = max(present, free ?? present, bounds.isEmpty ? present : last ?? present)
    // The present is rounded up, and nobody waits for the rest of a millisecond without need.
    let isNow = time == present && free.map { $0.sinceStart <= now } ?? true
    let wait = isNow ? .zero : time.sinceStart - now
    let isTaken = isNow || wait < maxWait
    if isTaken, let longest = bounds.map(\.period).max() {
      groups.removeFirst(groups.prefix { $0.time.sinceStart + longest <= now }.count)
      append(Group(time: time, cost: cost))
      thinOut(longest)
    }
    return Turn(time: time, wait: wait, isTaken: isTaken, isOpening: time == opening)
  }

  /// What the calls after some time cost.
  func cost(since time: Duration) -> Int {
    groups.reduce(0) { $0 + ($1.time.sinceStart > time ? $1.cost : 0) }
  }

  /// Takes a call back that was not made.
  mutating func giveBack(_ time: Timestamp, _ cost: Int = 1) {
    guard let index = groups.lastIndex(where: { $0.time == time }) else { return }
    groups[index].cost -= cost
    if groups[index].cost <= 0 { groups.remove(at: index) }
  }

  /// Moves all calls back in time.
  mutating func shift(by duration: Duration) {
    for index in groups.indices { groups[index].time = groups[index].time - duration }
  }

  /// When one more call keeps a bound; `nil` if at any time.
  private func firstTime(for cost: Int, within bound: Rate.Bound) -> Timestamp? {
    // A call that costs more than the bound allows leaves no room for any other.
    var room = bound.count - cost
    for group in groups.reversed() {
      room -= group.cost
      if room < 0 { return group.time + bound.period }
    }
    return nil
  }

  private mutating func append(_ group: Group) {
    if last == group.time {
      groups[groups.count - 1].cost += group.cost
    } else {
      groups.append(group)
    }
  }

  /// Bounds the memory at high rates: older calls that lie close together count as made at the time of
  /// the latest of them, which never lets more through.
  private mutating func thinOut(_ longest: Duration) {
    guard groups.count > Self.mostGroups else { return }
    let slot = Timestamp(longest / Double(Self.mostGroups / 4)).milliseconds
    let recent = groups.suffix(Self.mostGroups / 2)
    var thinned: [Group] = []
    for group in groups.dropLast(recent.count) {
      if let before = thinned.last,
        before.time.milliseconds / slot == group.time.milliseconds / slot
      {
        thinned[thinned.count - 1] = Group(time: group.time, cost: before.cost + group.cost)
      } else {
        thinned.append(group)
      }
    }
    groups = thinned + recent
  }
}

/// A flat list, so that it stays short: each time, counted from the one before, and its cost.
extension SlidingWindow: Codable {
  package init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    var previous: Int64 = 0
    while !container.isAtEnd {
      let gap = try container.decode(Int64.self)
      let cost = try container.decode(Int.self)
      let (sum, overflows) = previous.addingReportingOverflow(gap)
      guard !overflows, let time = Timestamp(milliseconds: sum), last.map({ $0 < time }) ?? true,
        1...Self.largestCost ~= cost
      else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "no times of calls")
      }
      groups.append(Group(time: time, cost: cost))
      previous = sum
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    var previous: Int64 = 0
    for group in groups {
      try container.encode(group.time.milliseconds - previous)
      try container.encode(group.cost)
      previous = group.time.milliseconds
    }
  }
}
