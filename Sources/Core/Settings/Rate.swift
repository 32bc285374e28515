/// How often something may be done: one or more bounds that hold at once.
///
/// Written as `1/s 200/h` or `20000/5m`: a count, a slash, and a period of whole seconds (`s`), minutes
/// (`m`) or hours (`h`).
public struct Rate: Hashable, Sendable, LosslessStringConvertible {
  /// At most `count` in any `period`.
  public struct Bound: Hashable, Sendable {
    /// How many, 1 or more.
    public let count: Int
    /// In which time, more than zero.
    public let period: Duration

    fileprivate let text: String
  }

  /// The bounds; at least one.
  public let bounds: [Bound]

  /// Reads a rate.
  ///
  /// - Parameter description: Bounds separated by spaces, such as `1/s 200/h`.
  public init?(_ description: String) {
    var bounds: [Bound] = []
    for word in description.split(separator: " ") {
      guard let bound = Bound(word) else { return nil }
      bounds.append(bound)
    }
    guard !bounds.isEmpty else { return nil }
    self.bounds = bounds
  }

  /// The bounds as they are written.
  public var description: String { bounds.map(\.text).joined(separator: " ") }
}

extension Rate.Bound {
  fileprivate init?(_ word: Substring) {
    guard let match = word.wholeMatch(of: /([0-9]{1,9})\/([0-9]{0,6})([smh])/),
      let count = Int(match.1), count > 0,
      let number = match.2.isEmpty ? 1 : Int(match.2), number > 0
    else { return nil }
    let seconds = number * (match.3 == "s" ? 1 : match.3 == "m" ? 60 : 3600)
    self.init(count: count, period: .seconds(seconds), text: String(word))
  }
}
