import AggregatorText

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

  /// A rate of one bound: at most `count` in any `period`.
  ///
  /// - Precondition: `count` is from 1 to 999 999 999, and `period` a whole number of seconds from 1 to 999 999.
  public init(_ count: Int, per period: Duration) { self.init(Bound(count, per: period)) }

  /// Parses bounds separated by white space, such as `1/s 200/h`.
  public init?(_ description: String) {
    var bounds: [Bound] = []
    for word in description.split(whereSeparator: \.isWhitespace) {
      guard let bound = Bound(word) else { return nil }
      bounds.append(bound)
    }
    guard !bounds.isEmpty else { return nil }
    self.bounds = bounds
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
        parts[1].count == 1 ? "1\(parts[1])" : parts[1], numbers: 1...999_999, units: Self.units)
    else { return nil }
    self.init(count: count, period: period)
  }

  fileprivate var text: String {
    let period = period.text(in: Self.units)
    // One unit goes without its number.
    return "\(count)/\(period.count == 2 && period.first == "1" ? period.dropFirst() : period[...])"
  }
}
