import AggregatorText

extension DataSource {
  /// Spaces calls so that a rate limit holds, for each kind of call separately, and pauses them for as
  /// long as the service demands.
  ///
  /// A call waits for its turn, unless its deadline comes first or the wait would exceed a day: then it
  /// fails at once with `rateLimited` and the wait in `retryAfter`, and takes no turn. It counts from when it is
  /// made, and its HTTP request from when it leaves, however late that is.
  ///
  /// A pause that the service demands is handled as by ``respectingRetryAfter(clock:sharing:)``.
  ///
  /// - Parameters:
  ///   - cost: The number of calls that one call counts as, 1 or more; more than a bound allows counts as
  ///     all of it.
  ///   - clock: Waits, and measures without shared state.
  ///   - sharedState: The state shared by processes; by default each operator has its own.
  public func rateLimited(
    by rate: Rate, cost: Int = 1, clock: some Clock<Duration> = ContinuousClock(),
    sharing sharedState: SharedState? = nil
  ) -> some DataSource<Item> {
    admitted(by: CallLimit(rate, cost: cost), clock: clock, sharing: sharedState)
  }

  /// Pauses calls for as long as the service demands; for a service without a known rate limit.
  ///
  /// After a call has failed with `rateLimited` and `retryAfter`, such as for a `Retry-After` (RFC 9110, section
  /// 10.2.3), no call of any kind is made until that time is over; more than a day counts as a day. Calls wait until
  /// then, or fail at once with `rateLimited` and the rest in `retryAfter` if their deadline comes first.
  ///
  /// - Parameters:
  ///   - clock: Waits, and measures without shared state.
  ///   - sharedState: The state shared by processes; by default each operator has its own.
  public func respectingRetryAfter(
    clock: some Clock<Duration> = ContinuousClock(), sharing sharedState: SharedState? = nil
  ) -> some DataSource<Item> {
    admitted(by: CallLimit(nil), clock: clock, sharing: sharedState)
  }
}

/// The limit of the calls of a service: a rate, and the pauses that the service demands.
package struct CallLimit: Sendable {
  /// The rate of the source itself; `nil` if only demanded pauses and other sources limit its calls.
  let rate: Rate?
  /// The rates of the program's other sources of the service, by name; `nil` for a source without one.
  let others: [String: Rate?]
  /// The number of calls that one call counts as.
  let cost: Int
  /// The name of the window of all calls; `nil` if each kind of call has its own.
  private let window: String?
  /// The time by which periods are longer.
  let margin: Duration
  /// False for a call that is made during a pause, and waits for the rate only.
  package var heedsPauses = true
  /// The accounts of which a call was made in spite of a pause; a run has one for all sources of a host.
  package var overrides = SharedValue(Set<String>())

  /// - Parameters:
  ///   - others: The rates that the program's other sources of the service have, by name.
  ///   - window: The name of the window that counts calls of any kind; `nil` for one for each kind.
  ///   - margin: The time by which a request may take longer to the service than a later one: for so long periods
  ///     are extended, because the service counts when requests arrive.
  package init(
    _ rate: Rate?, beside others: [String: Rate?] = [:], cost: Int = 1, window: String? = nil,
    margin: Duration = .zero
  ) {
    precondition(cost > 0, "a call that costs \(cost)")
    self.rate = rate
    self.others = others
    self.cost = cost
    self.window = window
    self.margin = margin
  }

  /// True if calls are counted.
  var hasRate: Bool { rate != nil || others.contains { $0.value != nil } }

  /// The name of the window that counts a call.
  func window(of kind: CallKind) -> String { window ?? kind.rawValue }

  var label: String { rate.map { "rateLimited(by: \($0))" } ?? "respectingRetryAfter()" }

  func refusal(of turn: SlidingWindow.Turn) -> SourceError {
    let reason = turn.demand ?? "local \(turn.reason) reached"
    return .held(reason, pauseReason: turn.demand.map { _ in turn.reason }, for: turn.wait)
  }
}

extension SourceError {
  /// The error of a call that is not made before a time.
  static func held(_ reason: String, pauseReason: String?, for wait: Duration) -> SourceError {
    SourceError(
      .rateLimited, reason, remedy: "retry in \(wait.text)", retryAfter: wait,
      cause: LocalRateLimitError(pauseReason: pauseReason))
  }
}

/// The cause of a `rateLimited` error of a call that was never made.
package struct LocalRateLimitError: Error {
  /// The reason of a pause that the service has asked for, without its age; `nil` for a rate.
  package let pauseReason: String?

  /// The reason of any pause, whatever request has led to it.
  package static let pause = "rate limited by the service"
}

/// A rate limit: one or more bounds that hold at once.
///
/// Written as `1/s 200/h` or `20000/5m`: a count, a slash, and a period of whole seconds (`s`),
/// minutes (`m`) or hours (`h`). `60/60s` and `60/m` are the same rate.
public struct Rate: Hashable, Sendable, LosslessStringConvertible {
  /// At most `count` in any `period`.
  public struct Bound: Hashable, Sendable {
    /// The maximum number of calls, 1 to 999 999 999.
    public let count: Int
    /// Whole seconds, one or more.
    public let period: Duration

    /// At most `count` in any `period`.
    ///
    /// - Precondition: `count` is from 1 to 999 999 999, and `period` a whole number of seconds from 1 to 999 999.
    public init(_ count: Int, per period: Duration) {
      precondition(1...999_999_999 ~= count, "a rate of \(count)")
      let (seconds, fraction) = period.components
      precondition(1...999_999 ~= seconds && fraction == 0, "a rate per \(period)")
      self.init(count: count, period: period)
    }

    fileprivate init(count: Int, period: Duration) {
      self.count = count
      self.period = period
    }
  }

  /// At least one bound.
  public let bounds: [Bound]

  /// The bounds that hold at once: `Rate(.init(1, per: .seconds(1)), .init(200, per: .seconds(3600)))`.
  public init(_ first: Bound, _ others: Bound...) { bounds = [first] + others }

  /// A rate of one bound, as ``Bound/init(_:per:)`` makes it.
  public init(_ count: Int, per period: Duration) { self.init(Bound(count, per: period)) }

  /// Parses bounds separated by white space, such as `1/s 200/h`.
  public init?(_ description: String) {
    let words = description.split(whereSeparator: \.isWhitespace)
    bounds = words.compactMap(Bound.init)
    guard !bounds.isEmpty, bounds.count == words.count else { return nil }
  }

  /// The seconds that a call takes in the long run.
  package var interval: Double { bounds.map { $0.period / .seconds($0.count) }.max() ?? 0 }

  /// This rate with longer periods.
  func extended(by margin: Duration) -> [Bound] {
    bounds.map { Bound(count: $0.count, period: $0.period + margin) }
  }

  /// The bounds in their shortest form: `1/s 200/h`.
  public var description: String { bounds.map(\.text).joined(separator: " ") }
}

extension Rate.Bound {
  private static let units: [DurationUnit] = [.seconds, .minutes, .hours]

  fileprivate init?(_ word: Substring) {
    let parts = word.split(separator: "/", omittingEmptySubsequences: false)
    // `Int` alone would accept a sign, and any length.
    guard parts.count == 2, parts[0].utf8.count <= 9, parts[0].first != "+",
      let count = Int(parts[0]), count > 0,
      let period = Duration(
        "\(parts[1].count == 1 ? "1" : "")\(parts[1])", numbers: 1...999_999, units: Self.units)
    else { return nil }
    self.init(count: count, period: period)
  }

  fileprivate var text: String {
    let period = period.text(in: Self.units)
    // One unit goes without its number.
    return "\(count)/\(period.count == 2 && period.first == "1" ? period.dropFirst() : period[...])"
  }
}
