package import AggregatorKit
import AggregatorSavedQueries
package import AggregatorTerminal

/// A parsed command line, whose values have been checked: the accessors only convert them.
package struct Invocation: Sendable {
  package let arguments: [String]

  private let values: [Option: [String]]
  private let order: [Option]

  /// - Parameter order: The options as they were given, several times if they were.
  package init(arguments: [String], values: [Option: [String]], order: [Option] = []) {
    self.arguments = arguments
    self.values = values
    self.order = order
  }

  package func has(_ option: Option) -> Bool { values[option] != nil }

  /// The value of an option; the last one if it was given several times.
  package func text(_ option: Option) -> String? { values[option]?.last }

  /// The values of an option that may be given several times.
  package func texts(_ option: Option) -> [String] { values[option] ?? [] }

  /// The values of several options in the order in which they were given.
  package func texts(of options: [Option]) -> [(option: Option, text: String)] {
    var rest = values.mapValues { $0[...] }
    return order.filter(options.contains).compactMap { option in
      rest[option]?.popFirst().map { (option, $0) }
    }
  }

  package func count(_ option: Option) -> Int? { text(option).flatMap { Int($0) } }

  package func duration(_ option: Option) -> Duration? {
    text(option).flatMap { Duration(typed: $0) }
  }

  package func span(_ option: Option) -> Duration? { text(option).flatMap { Duration(span: $0) } }

  /// A number of bytes.
  package func size(_ option: Option) -> Int? { text(option).flatMap { Int(size: $0) } }

  package func list(_ option: Option) -> [String]? { text(option).map(Self.words(in:)) }

  /// The words of a list that may be given in several parts.
  package func words(_ option: Option) -> [String] { texts(option).flatMap(Self.words(in:)) }

  private static func words(in text: String) -> [String] {
    text.split(separator: ",").map { $0.trimmingPrefix { $0 == " " } }.map(String.init)
  }

  package func argument(_ name: String) throws(CommandError) -> String {
    guard let argument = arguments.first else { throw .missingArgument(name) }
    try refuseArguments(after: 1)
    return argument
  }

  /// The names that are given, or the one that a person chooses of several on the terminal.
  package func names(
    _ name: String, of known: [String]
  ) throws(CommandError) -> [String] {
    guard arguments.isEmpty else { return arguments }
    guard !known.isEmpty, !has(.noInput), isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1,
      let choice = Confirmation.choose("\(name) is missing:", among: known)
    else { throw .missingArgument(name) }
    return [known[choice]]
  }

  package func query(example: String) throws(CommandError) -> SearchQuery {
    guard !arguments.isEmpty else { throw .missingArgument("QUERY", hint: .command(example)) }
    return try CommandError.wrapping(try SearchQuery(arguments.joined(separator: " ")))
  }

  /// True if a person says yes, or `--yes` was given.
  package func confirms(_ question: String) throws(CommandError) -> Bool {
    if has(.yes) { return true }
    do throws(CommandError) {
      return try Confirmation.ask(question, mayAsk: !has(.noInput))
    } catch {
      let words = Array(CommandLine.arguments.dropFirst())
      // A URL may have a password.
      guard !words.contains(where: { $0 == "--" || $0.contains("://") }) else { throw error }
      let hint = Hint.command(ShellWords.line(of: words + [Option.yes.spelling]))
      throw CommandError(error.code, error.message, hint: hint)
    }
  }

  package func refuseArguments(after count: Int = 0) throws(CommandError) {
    guard arguments.count > count else { return }
    throw CommandError(.usage, "unexpected argument \"\(arguments[count])\"")
  }
}

extension Duration {
  /// Parses a number and `ms`, `s`, `m` or `h`, or a number of seconds, from 1 ms to one day.
  package init?(typed text: String) {
    self.init(
      text, numbers: 0...99_999_999, units: [.milliseconds, .seconds, .minutes, .hours],
      maxDecimals: 3, defaultUnit: .seconds)
    guard .milliseconds(1) ... .seconds(86_400) ~= self else { return nil }
  }
}

extension HistoryStart {
  /// The words of `--since`.
  package static let words = [
    (word: "sync", about: "the end of the sync before the last one"),
    (word: "today", about: "the start of the day in UTC"),
    (word: "yesterday", about: "the start of the day before in UTC"),
  ]

  /// Parses a word, a date or a time in UTC, or a span of time before `now`; errors have the code `usage`, and the name of
  /// the parameter or option.
  package init(
    typed text: String, now: Date, called name: String = "since"
  ) throws(CommandError) {
    let day = 86_400.0
    let today = (now.timeIntervalSince1970 / day).rounded(.down) * day
    switch text.lowercased() {
    case "sync": self = .sync
    case "today": self = .date(Date(timeIntervalSince1970: today))
    case "yesterday": self = .date(Date(timeIntervalSince1970: today - day))
    default:
      if let span = Duration(span: text) {
        self = .date(now.addingTimeInterval(-(span / .seconds(1))))
      } else if let period = Period(text) ?? Self.period(written: text) {
        guard period.start <= now.timeIntervalSince1970 else {
          throw CommandError(
            .usage, "invalid value \"\(text)\" for \(name): is in the future",
            hint: "dates and times are in UTC")
        }
        self = .date(Date(timeIntervalSince1970: period.start))
      } else {
        let words = Self.words.map(\.word)
        throw CommandError(
          .usage,
          "invalid value \"\(text)\" for \(name): must be \(words.joined(separator: ", ")), a date such as "
            + "2026-01-31 or a time such as 2026-01-31T14:30, or a span of time such as 90m, 2h or 3d",
          suggestion: nearest(to: text, in: words).map { "\(name) \($0)" })
      }
    }
  }

  /// A day or a time as pages write it, such as `31 Jan 2026, 14:30 UTC`.
  private static func period(written text: String) -> Period? {
    let form = /([0-9]{1,2} [A-Za-z]+ [0-9]{4})(?:,? ([0-9]{2}:[0-9]{2}(?::[0-9]{2})?))?(?: UTC)?/
    guard let parts = text.trimmed.wholeMatch(of: form)?.output else { return nil }
    let time = parts.2.map(String.init) ?? "00:00"
    return Period(recorded: "\(parts.1) \(time) UTC")
  }
}

extension Int {
  /// Reads a number of bytes: `1000`, `500k`, `16m` or `4g`, in powers of 1024; `nil` for another text, zero, and more
  /// than a petabyte.
  package init?(size text: String) {
    let units: [Character: Int] = ["k": 10, "m": 20, "g": 30]
    let shift = text.lowercased().last.flatMap { units[$0] }
    let digits = shift == nil ? text[...] : text.dropLast()
    guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), digits.utf8.count <= 15,
      let number = Int(digits), 1...(1 << (50 - (shift ?? 0))) ~= number
    else { return nil }
    self = number << (shift ?? 0)
  }
}
