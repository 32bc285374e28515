import AggregatorFilters
import AggregatorKit

/// A unit of time by which dates are grouped, in UTC, as in `createdAt:month`.
package enum DateUnit: String, CaseIterable {
  case year, quarter, month, week, day

  /// The unit after a field and a colon; `nil` for another text.
  init?(endOf text: String) {
    guard let colon = text.lastIndex(of: ":"),
      let unit = DateUnit(rawValue: String(text[text.index(after: colon)...]))
    else { return nil }
    self = unit
  }

  /// The unit that a date lies in: `2026-01`, `2026-Q1`, of a week its Monday.
  ///
  /// A value that is no date, or longer than the unit, stays as it is; so do the elements of a list.
  func value(of value: JSON) -> JSON {
    if case .array(let values) = value { return .array(values.map { self.value(of: $0) }) }
    guard case .string(let text) = value, let period = Period(recorded: text) else { return value }
    let name = name(at: period.start)
    return name == self.name(at: period.end.nextDown) ? .string(name) : value
  }

  /// True for what ``value(of:)`` makes of a date.
  func isName(_ value: JSON) -> Bool {
    guard case .string(let text) = value else { return false }
    // A quarter is no period that records have.
    return (Period(text) ?? Period(quarterOrWeek: text)).map { text == name(at: $0.start) } ?? false
  }

  /// - Parameter seconds: Since 1970.
  private func name(at seconds: Double) -> String {
    var days = (seconds / 86_400).rounded(.down)
    // The first Monday was the fifth day.
    if self == .week { days -= days + 3 - 7 * ((days + 3) / 7).rounded(.down) }
    let text = Date(timeIntervalSince1970: days * 86_400).iso8601
    if self == .quarter, let month = Int(text.dropFirst(5).prefix(2)) {
      return "\(text.prefix(4))-Q\((month + 2) / 3)"
    }
    return String(text.prefix(self == .year ? 4 : self == .month ? 7 : 10))
  }
}
