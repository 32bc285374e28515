package import AggregatorFoundation

extension Date {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// A date in one of the three forms of HTTP (RFC 9110, section 5.6.7):
  /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
  ///
  /// `DateFormatter` is slow to create, and depends on the system's locales.
  package init?(httpDate text: String) {
    // All three have the same parts; only day, month and year are in different positions.
    let words = text.split { " ,-:".contains($0) }.dropFirst()
    guard words.count >= 6 else { return nil }
    let parts = Array(words)
    let isC = Self.months.contains(String(parts[0]))
    let (day, month) = isC ? (parts[1], parts[0]) : (parts[0], parts[1])
    let (year, time) = isC ? (parts[5], parts[2...4]) : (parts[2], parts[3...5])
    guard isC ? parts.count == 6 : parts.count == 7 && parts[6] == "GMT",
      let monthIndex = Self.months.firstIndex(of: String(month)),
      [2, 4].contains(year.count), let day = Int(day), let year = Int(year)
    else { return nil }
    let clock = time.compactMap { Int($0) }
    guard clock.count == 3 else { return nil }
    var components = DateComponents(
      timeZone: .gmt, year: year < 100 ? year + (year < 70 ? 2000 : 1900) : year,
      month: monthIndex + 1, day: day, hour: clock[0], minute: clock[1], second: clock[2])
    components.calendar = Calendar(identifier: .gregorian)
    guard 1...31 ~= day, 0...23 ~= clock[0], 0...59 ~= clock[1], 0...60 ~= clock[2],
      let date = components.date
    else { return nil }
    self = date
  }
}
