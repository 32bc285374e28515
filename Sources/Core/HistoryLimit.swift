import AggregatorText

/// The history of changes that a store keeps of each source.
public struct HistoryLimit: Hashable, Sendable {
  /// The age at which changes are removed.
  public var age: Duration

  /// The number of changes above which the oldest are removed; 0 for no history.
  public var count: Int

  /// 90 days, and at most 100 000 changes.
  public static let standard = HistoryLimit(age: .seconds(90 * 86_400), count: 100_000)

  public static let off = HistoryLimit(age: .zero, count: 0)

  public var isOff: Bool { count == 0 }

  public init(age: Duration, count: Int) {
    self.age = age
    self.count = count
  }

  /// Parses an age, a number of changes, or both, such as `30d 5000`; `off` for none.
  ///
  /// A part that is missing is that of ``standard``.
  public init?(_ text: String) {
    if text.lowercased() == "off" {
      self = .off
      return
    }
    let words = text.split(separator: " ")
    guard 1...2 ~= words.count else { return nil }
    var (age, count): (Duration?, Int?)
    for word in words {
      if count == nil, word.first != "+", word.utf8.count < 10, let number = Int(word), number > 0 {
        count = number
      } else if age == nil, let span = Duration(span: String(word)) {
        age = span
      } else {
        return nil
      }
    }
    self.init(age: age ?? Self.standard.age, count: count ?? Self.standard.count)
  }
}

extension Duration {
  /// Parses a whole number of seconds, minutes, hours, days or weeks: `90m`, `2h`, `30d`.
  package init?(span text: String) {
    self.init(text, numbers: 1...99_999, units: [.seconds, .minutes, .hours, .days, .weeks])
  }
}
