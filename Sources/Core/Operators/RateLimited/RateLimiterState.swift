import AggregatorText

/// The state of the rate limit of an account: the times of the last calls, the rates of its sources, and the pauses that
/// the service demanded.
package struct RateLimiterState: Hashable, Sendable {
  /// The longest pause that a service can demand, and the longest wait for a turn.
  package static let maxWait = Duration.seconds(24 * 3600)

  /// The time of the last change; `nil` if there was none.
  private(set) var writtenAt: Timestamp?
  /// The pauses that were demanded of sources, by name.
  private(set) var pauses: [String: Pause] = [:]
  private var windows: [String: SharedWindow] = [:]

  /// A pause that a response demanded.
  package struct Pause: Codable, Hashable, Sendable {
    /// When it was demanded.
    fileprivate let time: Timestamp
    fileprivate let end: Timestamp
    /// The method and the path of the request; `nil` if unknown.
    fileprivate let request: String?

    /// The reason no call is made: only a response of the service demands a pause.
    ///
    /// - Parameter now: The time at which its age is told; `nil` for a call that waits, while the age grows.
    fileprivate func reason(at now: Duration?) -> String {
      let reason = LocalRateLimitError.pause
      guard let request else { return reason }
      let age = now.map { now in
        let seconds = (now - time.sinceStart).components.seconds
        return seconds < 1 ? " just now" : " \(Duration.seconds(seconds).text) ago"
      }
      return "\(reason)\(age ?? ""), after \(request)"
    }
  }

  package init() {}

  /// Finds the first free turn, and takes it if the wait is zero or less than `maxWait`.
  ///
  /// - Parameter caller: The source whose rate `limit` has: it replaces the rate that the source had before.
  package mutating func reserve(
    _ kind: CallKind, by limit: CallLimit, of caller: Caller, at now: Duration, maxWait: Duration
  ) -> SlidingWindow.Turn {
    adjust(at: now)
    let name = limit.window(of: kind)
    var window = windows[name] ?? SharedWindow()
    window.use(limit, of: caller, at: now)
    let bounds = window.bounds(of: limit)
    let held = window.held(by: limit, of: caller)
    let pause = limit.heedsPauses ? pause(of: caller, at: now) : nil
    var turn = window.calls.reserve(
      limit.cost, by: bounds, at: now, notBefore: pause?.end, maxWait: min(maxWait, Self.maxWait))
    let holding = pause.flatMap { $0.end == turn.time ? $0 : nil }
    turn.reason = holding?.reason(at: nil) ?? held?.reason ?? ""
    turn.demand = holding?.reason(at: now)
    // Without a rate nothing changes, so nothing is written.
    if turn.isTaken, !bounds.isEmpty {
      windows[name] = window
      writtenAt = Timestamp(now)
    }
    return turn
  }

  /// The rate that holds calls back most, the other source that has it, and the number of calls left in its longest
  /// period; `nil` for no rate.
  package func heldRate(
    _ kind: CallKind, by limit: CallLimit, of caller: Caller, at now: Duration
  ) -> (rate: Rate, source: String?, left: Int)? {
    var window = windows[limit.window(of: kind)] ?? SharedWindow()
    window.use(limit, of: caller, at: now)
    guard let held = window.held(by: limit, of: caller),
      let bound = held.rate.bounds.max(by: { $0.period < $1.period })
    else { return nil }
    let used = window.calls.cost(since: now - bound.period)
    return (held.rate, held.source, max(0, bound.count - used) / limit.cost)
  }

  /// Forgets the rate of a source that is removed.
  mutating func forgetRate(of source: String) {
    for name in windows.keys { windows[name]?.forgetRate(of: source) }
  }

  /// Returns a turn that was not used.
  mutating func giveBack(_ turn: SlidingWindow.Turn, of kind: CallKind, by limit: CallLimit) {
    windows[limit.window(of: kind)]?.calls.giveBack(turn.time, limit.cost)
  }

  /// Records that a call whose turn has come is made now, or lets it wait on because an earlier one was made late.
  ///
  /// - Returns: The turn with the rest of the wait, zero if the call is made.
  mutating func confirm(
    _ turn: SlidingWindow.Turn, of kind: CallKind, by limit: CallLimit, as caller: Caller,
    at now: Duration
  ) -> SlidingWindow.Turn {
    adjust(at: now)
    let name = limit.window(of: kind)
    guard let before = windows[name] else { return turn.moved(to: turn.time) }
    var window = before
    var confirmed = window.calls.confirm(
      turn, limit.cost, by: before.bounds(of: limit), at: now)
    confirmed.reason = before.held(by: limit, of: caller)?.reason ?? ""
    guard window != before else { return confirmed }
    windows[name] = window
    writtenAt = Timestamp(now)
    return confirmed
  }

  /// Records that the requests of calls have left later than at their turns.
  mutating func move(_ calls: [(turn: AdmittedTurn, time: Timestamp)], cost: Int) {
    for (call, time) in calls {
      windows[call.window]?.calls.move(call.turn.time, to: time, cost)
    }
  }

  /// Pauses the calls of a source, and those of all once another one has a pause, too.
  ///
  /// - Parameter request: The method and the path of the request whose response demands it.
  mutating func close(
    for wait: Duration, of caller: Caller, at now: Duration, after request: String? = nil
  ) {
    adjust(at: now)
    let end = Timestamp(now) + min(wait, Self.maxWait)
    pauses = pauses.filter { $0.value.end.sinceStart > now }
    guard pauses[caller.name].map({ $0.end < end }) ?? true else { return }
    pauses[caller.name] = Pause(time: Timestamp(now), end: end, request: request)
    writtenAt = Timestamp(now)
  }

  /// Ends pauses, but for those that the service has demanded again since.
  mutating func open(_ ended: [String: Pause]) {
    pauses = pauses.filter { ended[$0.key] != $0.value }
  }

  /// The pause that holds for a source: its own, or for as long as the service refuses several, so that it means the
  /// account, the last but one to end, if that is longer; `nil` for none.
  func pause(of caller: Caller, at now: Duration) -> Pause? {
    let pauses = pauses.filter { $0.value.end.sinceStart > now }
    let shared = pauses.values.sorted { $0.end > $1.end }.dropFirst().first
    return [pauses[caller.name], shared].compactMap(\.self).max { $0.end < $1.end }
  }

  /// The refusal of a call of a source during a pause; `nil` if there is none.
  mutating func refusal(of caller: Caller, at now: Duration) -> SourceError? {
    adjust(at: now)
    return pause(of: caller, at: now).map {
      .held($0.reason(at: now), pauseReason: $0.reason(at: nil), for: $0.end.sinceStart - now)
    }
  }

  /// Shifts all times back if the system clock was set back since the last change.
  ///
  /// Otherwise no call could be made until the clock has caught up.
  private mutating func adjust(at now: Duration) {
    guard let last = writtenAt, last > Timestamp(now) else { return }
    let jump = last.sinceStart - Timestamp(now).sinceStart
    for name in windows.keys { windows[name]?.calls.shift(by: jump) }
    pauses = pauses.mapValues {
      Pause(time: $0.time - jump, end: $0.end - jump, request: $0.request)
    }
    writtenAt = Timestamp(now)
  }
}

extension RateLimiterState: Codable {
  private enum CodingKeys: String, CodingKey { case writtenAt, pauses, windows }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let writtenAt = try container.decode(Timestamp.self, forKey: .writtenAt)
    self.writtenAt = writtenAt
    pauses = try container.decodeIfPresent([String: Pause].self, forKey: .pauses) ?? [:]
    windows = try container.decode([String: SharedWindow].self, forKey: .windows)
    // A time further ahead is damaged, and would block the source for ever.
    let latest =
      (windows.values.compactMap(\.calls.last) + pauses.values.map(\.end)).max() ?? writtenAt
    guard latest <= writtenAt + Self.maxWait else {
      throw DecodingError.dataCorruptedError(
        forKey: .windows, in: container, debugDescription: "turn too far ahead")
    }
  }
}

/// The calls of several sources, and the rates that they keep.
private struct SharedWindow: Codable, Hashable {
  /// The rate of a source.
  private struct UsedRate: Codable, Hashable {
    let rate: String
    /// The time of its last call.
    let usedAt: Timestamp
  }

  /// The time for which the rate of a source holds for the others after its last call, if its periods are shorter.
  ///
  /// The program knows the rates of its own sources; this is for those of other machines, and of apps.
  private static let memory = Duration.seconds(3600)

  var calls = SlidingWindow()
  private var rates: [String: UsedRate] = [:]

  /// Records the rate of a source that makes a call, and forgets those that are no longer used.
  ///
  /// The limits of the other sources that the program knows are newer than their last calls.
  mutating func use(_ limit: CallLimit, of caller: Caller, at now: Duration) {
    func used(_ rate: Rate?) -> UsedRate? {
      rate.map { UsedRate(rate: $0.description, usedAt: Timestamp(now)) }
    }
    rates = rates.filter { source, used in
      let periods = Rate(used.rate)?.bounds.map(\.period) ?? []
      return now - used.usedAt.sinceStart < max(periods.max() ?? .zero, Self.memory)
    }
    for (source, rate) in limit.others
    where rates[source].map({ $0.rate != rate?.description }) ?? false {
      rates[source] = used(rate)
    }
    rates[caller.name] = used(limit.rate)
  }

  mutating func forgetRate(of source: String) { rates[source] = nil }

  /// The rates of all sources, by name.
  private func all(of limit: CallLimit) -> [String: Rate] {
    rates.compactMapValues { Rate($0.rate) }.merging(limit.others.compactMapValues(\.self)) { $1 }
  }

  /// The bounds of all sources, which hold at once: so the lowest rate applies.
  func bounds(of limit: CallLimit) -> [Rate.Bound] {
    Set(all(of: limit).values).flatMap { $0.extended(by: limit.margin) }
  }

  /// The rate that holds calls back most, and the source that has it, `nil` for the caller; `nil` for no rate.
  func held(by limit: CallLimit, of caller: Caller) -> HeldRate? {
    all(of: limit).map { source, rate in
      HeldRate(
        rate: rate, source: source == caller.name ? nil : source,
        time: rate.extended(by: limit.margin).compactMap {
          calls.firstTime(for: limit.cost, within: $0)
        }
        .max()?.milliseconds ?? .min)
    }.max { $0.key < $1.key }
  }
}

/// A rate that holds calls back, and the other source that has it.
private struct HeldRate {
  let rate: Rate
  let source: String?
  /// The time of the next call, in milliseconds.
  let time: Int64

  /// The later the next call the later in order; a rate of the caller itself is preferred to an equal one.
  var key: (Int64, Double, Int, String) {
    (time, rate.interval, source == nil ? 1 : 0, source ?? "")
  }

  var reason: String { "rate limit \(rate)\(source.map { " of \($0)" } ?? "")" }
}

/// The times of the last calls.
///
/// It is exact, whereas a token bucket lets twice the rate through when a burst follows a pause.
package struct SlidingWindow: Hashable, Sendable {
  /// The time at which a call may be made.
  package struct Turn: Equatable {
    let time: Timestamp
    /// The time until then.
    package let wait: Duration
    /// True if the turn was taken: it is not if the wait is too long.
    let isTaken: Bool
    /// The reason the call waits: `rate limit 5/s`.
    package fileprivate(set) var reason = ""
    /// The demand of the service that a call waits for, with its age, for one that does not wait; `nil` for a rate.
    package fileprivate(set) var demand: String?

    /// This turn, moved to another time.
    fileprivate func moved(to time: Timestamp, wait: Duration = .zero) -> Turn {
      Turn(time: time, wait: wait, isTaken: isTaken)
    }
  }

  /// Calls that count as made at the same time.
  private struct Group: Hashable {
    var time: Timestamp
    var cost: Int
  }

  /// The number of groups above which they are merged.
  private static let maxGroups = 1024
  /// The largest cost that can be decoded, so that sums never overflow.
  private static let maxCost = Int(exactly: Int64(1) << 40) ?? .max / 2048

  /// The calls that still count, ascending; some are in the future.
  private var groups: [Group] = []

  /// The time of the last call, which may be in the future.
  var last: Timestamp? { groups.last?.time }

  /// Finds the first free turn, and takes it if the wait is zero or less than `maxWait`.
  ///
  /// - Parameters:
  ///   - cost: The number of calls that the call counts as.
  ///   - bounds: The limits; if empty, calls are not recorded.
  ///   - opening: The end of a pause, before which no call is admitted.
  mutating func reserve(
    _ cost: Int = 1, by bounds: [Rate.Bound], at now: Duration, notBefore opening: Timestamp? = nil,
    maxWait: Duration
  ) -> Turn {
    let present = Timestamp(now)
    let free = (bounds.map { firstTime(for: cost, within: $0) } + [opening]).compactMap(\.self)
      .max()
    // A turn that is returned may leave a gap; later callers still queue behind the last one.
    let time = max(present, free ?? present, bounds.isEmpty ? present : last ?? present)
    // Now is rounded up to avoid sub-millisecond waits.
    let isNow = time == present && free.map { $0.sinceStart <= now } ?? true
    let wait = isNow ? .zero : time.sinceStart - now
    let isTaken = isNow || wait < maxWait
    if isTaken, let longest = bounds.map(\.period).max() {
      groups.removeFirst(groups.prefix { $0.time.sinceStart + longest <= now }.count)
      insert(Group(time: time, cost: cost))
      mergeOldGroups(longest)
    }
    return Turn(time: time, wait: wait, isTaken: isTaken)
  }

  /// The total cost of the calls after a time.
  func cost(since time: Duration) -> Int {
    groups.reduce(0) { $0 + ($1.time.sinceStart > time ? $1.cost : 0) }
  }

  /// Makes a call whose turn has come, at the present, or finds out how long it has to wait on.
  ///
  /// It waits if an earlier call was made late, or if a later one has overtaken it. Turns that are still to come do
  /// not count: their calls will be checked against this one.
  mutating func confirm(
    _ turn: Turn, _ cost: Int = 1, by bounds: [Rate.Bound], at now: Duration
  ) -> Turn {
    let present = Timestamp(now)
    var others = self
    others.giveBack(turn.time, cost)
    others.groups.removeAll { $0.time > present }
    let free = bounds.compactMap { others.firstTime(for: cost, within: $0) }.max()
    guard let free, free.sinceStart > now else {
      let time = max(turn.time, present)
      if time != turn.time { move(turn.time, to: time, cost) }
      return turn.moved(to: time)
    }
    // Among calls that have the same turn, the first to look makes room for the others.
    let isOvertaken = others.last.map { $0 >= turn.time } ?? false
    if isOvertaken { move(turn.time, to: free, cost) }
    return turn.moved(to: isOvertaken ? free : turn.time, wait: free.sinceStart - now)
  }

  /// Moves a call to a later time; if it was so late that its turn is forgotten, it is recorded again.
  mutating func move(_ time: Timestamp, to later: Timestamp, _ cost: Int) {
    giveBack(time, cost)
    insert(Group(time: later, cost: cost))
  }

  /// Returns a turn that was not used.
  mutating func giveBack(_ time: Timestamp, _ cost: Int = 1) {
    guard let index = groups.lastIndex(where: { $0.time == time }) else { return }
    groups[index].cost -= cost
    if groups[index].cost <= 0 { groups.remove(at: index) }
  }

  /// Shifts all calls back in time.
  mutating func shift(by duration: Duration) {
    for index in groups.indices { groups[index].time = groups[index].time - duration }
  }

  /// The first time at which one more call keeps a bound; `nil` for any time.
  fileprivate func firstTime(for cost: Int, within bound: Rate.Bound) -> Timestamp? {
    // A call that costs more than the bound allows leaves no room for any other.
    var room = bound.count - cost
    for group in groups.reversed() {
      room -= group.cost
      if room < 0 { return group.time + bound.period }
    }
    return nil
  }

  private mutating func insert(_ group: Group) {
    let next = groups.lastIndex { $0.time < group.time }.map { $0 + 1 } ?? 0
    if next < groups.count, groups[next].time == group.time {
      groups[next].cost += group.cost
    } else {
      groups.insert(group, at: next)
    }
  }

  /// Bounds the memory at high rates: merges older calls that are close together at the time of the
  /// latest of them, which never lets more through.
  private mutating func mergeOldGroups(_ longest: Duration) {
    guard groups.count > Self.maxGroups else { return }
    let slot = Timestamp(longest / Double(Self.maxGroups / 4)).milliseconds
    let recent = groups.suffix(Self.maxGroups / 2)
    var merged: [Group] = []
    for group in groups.dropLast(recent.count) {
      if let before = merged.last,
        before.time.milliseconds / slot == group.time.milliseconds / slot
      {
        merged[merged.count - 1] = Group(time: group.time, cost: before.cost + group.cost)
      } else {
        merged.append(group)
      }
    }
    groups = merged + recent
  }
}

/// Encoded as a flat, short list: each time, relative to the one before, and its cost.
extension SlidingWindow: Codable {
  package init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    var previous: Int64 = 0
    while !container.isAtEnd {
      let gap = try container.decode(Int64.self)
      let cost = try container.decode(Int.self)
      let (sum, overflows) = previous.addingReportingOverflow(gap)
      guard !overflows, let time = Timestamp(milliseconds: sum), last.map({ $0 < time }) ?? true,
        1...Self.maxCost ~= cost
      else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "invalid times of calls")
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
