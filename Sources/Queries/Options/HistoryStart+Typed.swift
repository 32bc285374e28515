package import AggregatorKit
package import AggregatorTerminal

extension HistoryStart {
  /// The words of `--since`.
  package static let words = [
    (word: "sync", about: "the completed sync before the last one"),
    (word: "today", about: "the start of the day in UTC"),
    (word: "yesterday", about: "the start of the day before in UTC"),
  ]

  /// Parses a word, a date or a time in UTC, or a span of time before `now`; errors have the code `usage`.
  package init(typed text: String, now: Date) throws(CommandError) {
    let day = 86_400.0
    let today = (now.timeIntervalSince1970 / day).rounded(.down) * day
    switch text.lowercased() {
    case "sync": self = .sync
    case "today": self = .date(Date(timeIntervalSince1970: today))
    case "yesterday": self = .date(Date(timeIntervalSince1970: today - day))
    default:
      if let span = Duration(span: text) {
        self = .date(now.addingTimeInterval(-(span / .seconds(1))))
      } else if let period = Period(text) {
        guard period.start <= now.timeIntervalSince1970 else {
          throw CommandError(
            .usage, "invalid value \"\(text)\" for --since: is in the future",
            hint: "dates and times are in UTC")
        }
        self = .date(Date(timeIntervalSince1970: period.start))
      } else {
        let words = Self.words.map(\.word)
        throw CommandError(
          .usage,
          "invalid value \"\(text)\" for --since: must be \(words.joined(separator: ", ")), a date such as "
            + "2026-01-31, or a span of time such as 90m, 2h or 3d",
          suggestion: nearest(to: text, in: words).map { "--since \($0)" })
      }
    }
  }
}
