public import AggregatorFoundation

extension Date {
  /// The date in UTC, to the second: `2026-01-05T09:12:44Z` (RFC 3339).
  ///
  /// Without a formatter, which costs milliseconds at first use. Dates outside the years 0 to 9999 are
  /// clamped.
  public var iso8601: String {
    let interval = timeIntervalSince1970
    let bounded = min(max(interval.isNaN ? 0 : interval, -62_167_219_200), 253_402_300_799)
    let seconds = Int(bounded.rounded(.down))
    let days = Int((Double(seconds) / 86400).rounded(.down))
    let (year, month, day) = Self.civil(days: days)
    let second = seconds - days * 86400
    return """
      \(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))\
      T\(Self.padded(second / 3600)):\(Self.padded(second / 60 % 60)):\(Self.padded(second % 60))Z
      """
  }

  /// The date so many days after 1970-01-01, by Hinnant's `civil_from_days`: years that begin in March, in
  /// eras of 400 years.
  private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
      dayOfYear - (153 * marchMonth + 2) / 5 + 1
    )
  }

  private static func padded(_ number: Int, _ digits: Int = 2) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
