import AggregatorKit
import Foundation

/// Words for people, on standard error: errors, warnings, hints, notes.
///
/// Everything is made harmless first: most of it repeats what a service sent or a person typed.
struct Diagnostics: Sendable {
  private let output: Output
  private let style: Style
  private let isQuiet: Bool
  private let program: String
  /// How many cells a line has; `nil` where it is no terminal, which needs no breaks.
  private let width: Int?

  /// The most cells of one message: some four lines of a terminal.
  private static let mostCells = 320

  /// The most cells of a note, which may hold a cursor of 512 characters that must not be cut.
  private static let mostCellsOfNote = 720

  /// Words of a program.
  ///
  /// - Parameters:
  ///   - program: What the program is called.
  ///   - isQuiet: Whether only errors are told.
  ///   - hasColor: Whether words are coloured.
  ///   - width: How many cells a line has; `nil` for no breaks.
  init(of program: String, isQuiet: Bool, hasColor: Bool, width: Int? = nil) {
    self.width = width
    self.program = program
    output = Output(descriptor: STDERR_FILENO)
    style = Style(isOn: hasColor)
    self.isQuiet = isQuiet
  }

  /// What ended the program, or a part of its work.
  ///
  /// Never silent.
  func error(_ failure: CommandError) {
    line(.error, "error", failure.message)
    if let suggestion = failure.suggestion {
      put("\nDid you mean '\(suggestion.safeLine.fitted(to: Self.mostCells))'?")
    }
    if let hint = failure.hint { self.hint(hint) }
  }

  /// What the reader should know, and what to do about it.
  func warning(_ message: String, hint: Hint? = nil) {
    guard !isQuiet else { return }
    line(.warning, "warning", message)
    if let hint { self.hint(hint) }
  }

  /// What the reader may want to know.
  func note(_ message: String) {
    guard !isQuiet else { return }
    for line in lines(of: message.safeLine.fitted(to: Self.mostCellsOfNote)) {
      put(style(.label, line))
    }
  }

  /// A command line of this program.
  func command(_ words: String) -> String { "\(program) \(words)" }

  /// One line of what `--verbose` tells.
  func trace(_ message: String) {
    for line in lines(of: message.safeLine.fitted(to: Self.mostCellsOfNote)) {
      put(style(.label, line))
    }
  }

  private func hint(_ hint: Hint) {
    switch hint {
    case .words(let words): line(.hint, "hint", words)
    case .command(let command): line(.hint, "hint", "\(program) \(command)")
    }
  }

  private func line(_ role: Style.Role, _ word: String, _ message: String) {
    let text = "\(word): \(message.safeLine.fitted(to: Self.mostCells))"
    for (index, line) in lines(of: text).enumerated() {
      let tail = line.dropFirst(word.count + 1)
      put(index == 0 ? style(role, word + ":") + tail : line)
    }
  }

  private func lines(of text: String) -> [String] {
    width.map { Wrap($0).lines(of: text) } ?? [text]
  }

  private func put(_ text: String) {
    // Nobody is left to be told that standard error is closed.
    try? output.write(text + "\n")
  }
}

extension Observer {
  /// One line for every request, once it is over, and for every wait before it begins.
  ///
  /// What is known comes first: an address may be too long for its line.
  ///
  /// - Parameter diagnostics: Where the lines go.
  init(tracing diagnostics: Diagnostics) {
    self.init { event in
      switch event {
      case .received(let status, let bytes, let time, let address):
        diagnostics.trace("\(status), \(bytes) bytes in \(time.text): \(address)")
      case .lost(let error, let time, let address):
        diagnostics.trace("\(error.message) after \(time.text): \(address)")
      case .waiting(let time, let reason): diagnostics.trace("waiting \(time.text): \(reason)")
      // Who answered is said anyway.
      case .asked, .answered, .failed, .fellBack, .retrying, .sent: break
      }
    }
  }
}
