import AggregatorFoundation
import AggregatorText

extension Period {
  /// A time that is told from now: `now`, `today`, `yesterday`, `7d ago`, `2 hours ago`; `nil` for another text.
  ///
  /// Days are those of UTC, as those of dates without a zone. What is so long ago is a moment.
  init?(words text: String, at now: Date) {
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
      guard 1...5 ~= digits.count, let count = Double(String(digits)),
        words.count == 2 || digits == words[0], let length = Self.units[String(unit)]
      else { return nil }
      let start = seconds - count * length
      self.init(start..<start.nextUp)
    }
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
