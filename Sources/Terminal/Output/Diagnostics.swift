package import AggregatorKit

/// Messages on standard error, sanitized: most text comes from services or the command line.
package struct Diagnostics: Sendable {
  private let output: Output
  private let style: Style
  private let isQuiet: Bool
  private let program: ProgramName
  /// The width of a line; `nil` if standard error is not a terminal, which needs no line breaks.
  private let width: Int?
  private let paged: ListingOutput?

  /// True to print each message as a JSON object on a line of its own.
  package var isJSON = false

  /// The maximum width of a message: some four lines of a terminal.
  private static let maxCells = 320

  /// The maximum width of a note, which may contain a cursor of 512 characters.
  private static let maxCellsOfNote = 720

  /// - Parameter paged: The output whose pager is not disturbed.
  package init(
    of program: ProgramName, isQuiet: Bool, hasColor: Bool, width: Int? = nil,
    after paged: ListingOutput? = nil
  ) {
    self.paged = paged
    self.width = width
    self.program = program
    output = Output(descriptor: STDERR_FILENO)
    style = Style(isOn: hasColor)
    self.isQuiet = isQuiet
  }

  /// `true` if standard error is a terminal.
  package var isForPeople: Bool { width != nil }

  /// Prints an error, even if quiet.
  package func error(_ failure: CommandError) {
    guard !isJSON else {
      let suggestion = failure.suggestion.map { ["did you mean \"\($0)\"?"] } ?? []
      return put("error", failure.message, suggestion + (failure.hint.map(texts) ?? []))
    }
    line(.error, "error", failure.message)
    for line in failure.excerpt { put(line) }
    if let suggestion = failure.suggestion {
      put("\nDid you mean \"\(suggestion.safeLine.fitted(to: Self.maxCells))\"?")
    }
    if let hint = failure.hint { self.hint(hint) }
  }

  package func warning(_ message: String, hint: Hint? = nil) {
    if !isQuiet { alarm(message, hint: hint) }
  }

  /// Prints a warning, even if quiet: something of the user's has been moved or lost.
  package func alarm(_ message: String, hint: Hint? = nil) {
    guard !isJSON else { return put("warning", message, hint.map(texts) ?? []) }
    line(.warning, "warning", message)
    if let hint { self.hint(hint) }
  }

  package func note(_ message: String, hint: Hint? = nil) {
    if !isQuiet { trace(message, hint: hint) }
  }

  package func command(_ arguments: String) -> String { "\(program.text) \(arguments)" }

  /// Prints a message of `--verbose`, even if quiet.
  package func trace(_ message: String, hint: Hint? = nil) {
    guard !isJSON else { return put("info", message, hint.map(texts) ?? []) }
    for line in lines(of: message.safeLine.fitted(to: Self.maxCellsOfNote)) {
      put(style(.label, line))
    }
    if let hint { self.hint(hint) }
  }

  private func hint(_ hint: Hint) {
    for text in texts(of: hint) { line(.hint, "hint", text) }
  }

  /// The lines of a hint.
  package func texts(of hint: Hint) -> [String] {
    switch hint {
    case .words(let words): [words]
    case .command(let command): ["\(program.text) \(command)"]
    case .steps(let first, let second): texts(of: first) + texts(of: second)
    case .home(let words): ["\(words) \(program.variable("HOME"))"]
    }
  }

  private func line(_ role: Style.Role, _ word: String, _ message: String) {
    let text = "\(word): \(message.safeLine.fitted(to: Self.maxCells))"
    for (index, line) in lines(of: text).enumerated() {
      let tail = line.dropFirst(word.count + 1)
      put(index == 0 ? style(role, word + ":") + String(tail) : line)
    }
  }

  private func lines(of text: String) -> [String] {
    width.map { Wrap($0).lines(of: text) } ?? [text]
  }

  private func put(_ level: String, _ message: String, _ hints: [String] = []) {
    let record: JSON = [
      "time": .string(Date().iso8601), "level": .string(level),
      "message": .string(message.safeLine),
    ]
    let all =
      record.members + (hints.isEmpty ? [] : [.init("hints", .array(hints.map(JSON.string)))])
    put(JSON.object(all).text)
  }

  private func put(_ text: String) {
    // If standard error is closed, there is nowhere to report it.
    let print = { @Sendable [output] in _ = try? output.write(text + "\n") }
    if let paged { paged.say(rows: isForPeople ? 1 : 0, print) } else { print() }
  }
}

extension Observer {
  /// A line for every response, failure and wait, with the URL last, because it may be cut.
  package init(tracing diagnostics: Diagnostics) {
    self.init { event in
      switch event {
      case .received(let status, let bytes, let time, let address):
        diagnostics.trace("\(status), \(bytes) bytes in \(time.text): \(address)")
      case .lost(let error, let time, let address):
        diagnostics.trace("\(error.message) after \(time.text): \(address)")
      case .waiting(let time, let reason): diagnostics.trace("\(reason): waiting \(time.text)")
      // The origin is reported with the answer.
      case .asked, .answered, .failed, .fellBack, .retrying, .sent, .stored: break
      }
    }
  }
}
