public import AggregatorFoundation

/// A year, month, day, minute or second of a date as in ISO 8601: `2026`, `2026-01-05`,
/// `2026-01-05T09:12:44Z`, `2026-01-05 09:12:44.5+0200`; in UTC without a zone.
package struct Period: Hashable, Sendable {
  /// In seconds since 1970.
  package let start: Double

  /// The start of the next one.
  package let end: Double

  /// True if it names a day: a year alone is a number.
  package let isDate: Bool

  /// A period of seconds since 1970.
  package init(_ seconds: Range<Double>) {
    (start, end, isDate) = (seconds.lowerBound, seconds.upperBound, true)
  }

  package init?(_ text: String) {
    var reader = Reader(rest: Array(text.utf8)[...])
    guard let year = reader.number(digits: 4) else { return nil }
    var (first, next) = (Self.days(year, 1), Self.days(year + 1, 1))
    if !reader.rest.isEmpty {
      guard reader.skip(anyOf: "-"), let month = reader.number(digits: 2), 1...12 ~= month else {
        return nil
      }
      first = Self.days(year, month)
      if month < 12 { next = Self.days(year, month + 1) }
    }
    isDate = !reader.rest.isEmpty
    if isDate {
      guard reader.skip(anyOf: "-"), let day = reader.number(digits: 2), 1...(next - first) ~= day
      else { return nil }
      (first, next) = (first + day - 1, first + day)
    }
    var (start, end) = (Double(first) * 86400, Double(next) * 86400)
    if !reader.rest.isEmpty {
      guard reader.skip(anyOf: "Tt "), let time = reader.time() else { return nil }
      start += time.start
      // More decimals than a Double distinguishes name the smallest period that it does.
      end = max(start + time.length, start.nextUp)
    }
    (self.start, self.end) = (start, end)
  }

  private static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
  ]

  private static let zones = [
    "GMT": "Z", "UT": "Z", "UTC": "Z", "EST": "-0500", "EDT": "-0400", "CST": "-0600",
    "CDT": "-0500", "MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
    "CET": "+0100", "CEST": "+0200",
  ]

  /// A period as the values of records name it: also a time of RFC 822, as RSS has it, `Mon, 02 Jan 2023 10:00:00 GMT`.
  package init?(recorded text: String) {
    if let period = Period(text) {
      self = period
      return
    }
    // Most texts are none, and few of these have a comma where that of a day is.
    let bytes = text.utf8
    let hasDay = bytes.prefix(10).dropFirst(3).contains(UInt8(ascii: ","))
    guard bytes.count < 48, hasDay || bytes.first.map({ 0x30...0x39 ~= $0 }) == true else {
      return nil
    }
    let words = text.split(separator: " ").dropFirst(hasDay ? 1 : 0).map { $0 }
    guard words.count == 5, words[0].count <= 2, words[1].count >= 3,
      let month = Self.months.firstIndex(where: { $0.hasPrefix(words[1].lowercased()) }),
      let year = words[2].count == 2
        ? UInt(words[2]).map({ $0 + ($0 < 50 ? 2000 : 1900) }) : UInt(words[2])
    else { return nil }
    let time = words[3].dropFirst().first == ":" ? "0\(words[3])" : String(words[3])
    let zone = words[4].uppercased()
    func two(_ text: some StringProtocol) -> String { (text.count < 2 ? "0" : "") + text }
    self.init(
      "\(year)-\(two("\(month + 1)"))-\(two(words[0]))T\(time)\(Self.zones[zone] ?? zone)"
    )
  }

  /// The number of days from 1970-01-01 to the first of a month, by Hinnant's `days_from_civil`.
  private static func days(_ year: Int, _ month: Int) -> Int {
    let shifted = year - (month <= 2 ? 1 : 0)
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func skip(anyOf characters: String) -> Bool {
      guard let first = rest.first, characters.utf8.contains(first) else { return false }
      rest.removeFirst()
      return true
    }

    mutating func number(digits count: Int) -> Int? {
      let digits = rest.prefix(count)
      guard digits.count == count, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
      rest.removeFirst(count)
      return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The seconds since midnight in UTC, and the precision.
    mutating func time() -> (start: Double, length: Double)? {
      guard let hour = number(digits: 2), 0...23 ~= hour, skip(anyOf: ":"),
        let minute = number(digits: 2), 0...59 ~= minute
      else { return nil }
      var start = Double(hour * 3600 + minute * 60)
      var length = 60.0
      if skip(anyOf: ":") {
        // 60 is a leap second.
        guard let second = number(digits: 2), 0...60 ~= second else { return nil }
        start += Double(second)
        length = 1
        if skip(anyOf: ".,") {
          guard let first = rest.first, 0x30...0x39 ~= first else { return nil }
          while let digit = number(digits: 1) {
            length /= 10
            start += Double(digit) * length
          }
        }
      }
      guard let offset = zone(), rest.isEmpty else { return nil }
      return (start - offset, length)
    }

    /// The seconds ahead of UTC.
    private mutating func zone() -> Double? {
      if rest.isEmpty || skip(anyOf: "Zz") { return 0 }
      let sign: Double = skip(anyOf: "+") ? 1 : skip(anyOf: "-") ? -1 : 0
      guard sign != 0, let hours = number(digits: 2), 0...23 ~= hours else { return nil }
      _ = skip(anyOf: ":")
      guard let minutes = rest.isEmpty ? 0 : number(digits: 2), 0...59 ~= minutes else {
        return nil
      }
      return sign * Double(hours * 3600 + minutes * 60)
    }
  }
}

extension Date {
  /// The date in UTC, to the second: `2026-01-05T09:12:44Z` (RFC 3339).
  ///
  /// Without a formatter, which costs milliseconds at first use. Dates outside the years 0 to 9999 are
  /// clamped.
  public var iso8601: String {
    let interval = timeIntervalSince1970
    let bounded = min(max(interval.isNaN ? 0 : interval, -62_167_219_200), 253_402_300_799)
    let seconds = Int64(bounded.rounded(.down))
    let days = Int((Double(seconds) / 86400).rounded(.down))
    let (year, month, day) = Self.civil(days: days)
    let second = Int(seconds - Int64(days) * 86400)
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
