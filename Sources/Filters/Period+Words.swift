package import AggregatorFoundation
package import AggregatorText

extension Period {
  /// A quarter, or a week as in ISO 8601: `2026-Q1`, `2026-W07`; `nil` for another text.
  package init?(quarterOrWeek text: String) {
    let (name, digits) = (text.prefix(4), text.dropFirst(6))
    guard let year = Period(String(name)), name.utf8.count == 4,
      digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(digits)
    else { return nil }
    switch text.dropFirst(4).prefix(2).uppercased() {
    case "-Q" where digits.utf8.count == 1:
      func month(_ number: Int) -> Period? {
        Period("\(name)-\(number < 10 ? "0" : "")\(number)")
      }
      guard number > 0, let first = month(3 * number - 2), let last = month(3 * number) else {
        return nil
      }
      self.init(first.start..<last.end)
    case "-W" where digits.utf8.count == 2:
      // The first week of a year has its fourth day; 1970 began with a Thursday.
      let day = 86_400.0
      let weekday = (year.start / day + 6).truncatingRemainder(dividingBy: 7)
      let monday =
        year.start + day * (3 - (weekday < 0 ? weekday + 7 : weekday) + 7 * Double(number - 1))
      guard year.start..<year.end ~= monday + 3 * day else { return nil }
      self.init(monday..<monday + 7 * day)
    default: return nil
    }
  }

  /// A time that is told from now: `now`, `today`, `yesterday`, `7d ago`, `2 months ago`, or a quarter or a week; `nil` for
  /// another text.
  ///
  /// Days are those of UTC, as those of dates without a zone. What is so long ago is a moment: a month before the last day of
  /// March is the last one of February.
  package init?(words text: String, at now: Date) {
    if let period = Period(quarterOrWeek: text) {
      self = period
      return
    }
    let day = 86_400.0
    let seconds = now.timeIntervalSince1970
    let today = (seconds / day).rounded(.down) * day
    let words = text.lowercased().split(whereSeparator: \.isWhitespace)
    switch words {
    case ["now"]: self.init(seconds..<seconds.nextUp)
    case ["today"]: self.init(today..<today + day)
    case ["yesterday"]: self.init(today - day..<today)
    default:
      guard 2...3 ~= words.count, words.last == "ago" else { return nil }
      let digits = words[0].prefix { "0"..."9" ~= $0 }
      let unit = words.count == 3 ? words[1] : words[0].dropFirst(digits.count)
      guard 1...5 ~= digits.count, let count = Int(digits), words.count == 2 || digits == words[0],
        let start = Self.start(count, String(unit), before: now)
      else { return nil }
      self.init(start..<start.nextUp)
    }
  }

  /// The time so many units before another one; `nil` for an unknown unit.
  private static func start(_ count: Int, _ unit: String, before now: Date) -> Double? {
    if let length = units[unit] { return now.timeIntervalSince1970 - Double(count) * length }
    let components: [String: Calendar.Component] = [
      "month": .month, "months": .month, "y": .year, "year": .year, "years": .year,
    ]
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    guard let component = components[unit] else { return nil }
    return calendar.date(byAdding: component, value: -count, to: now)?.timeIntervalSince1970
  }

  /// In seconds.
  private static let units: [String: Double] = {
    var units: [String: Double] = [:]
    for (name, length) in [
      ("second", 1.0), ("minute", 60), ("hour", 3600), ("day", 86_400), ("week", 604_800),
    ] {
      for word in [String(name.prefix(1)), name, name + "s"] { units[word] = length }
    }
    return units
  }()
}
