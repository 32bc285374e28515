package import AggregatorKit

package struct CommandError: Error {
  package var code: ExitCode

  /// The failure, with values in quotes.
  package var message: String
  package var suggestion: String?
  package var hint: Hint?

  package init(_ code: ExitCode, _ message: String, suggestion: String? = nil, hint: Hint? = nil) {
    self.code = code
    self.message = message
    self.suggestion = suggestion
    self.hint = hint
  }

  /// A failure that does not belong to a source.
  package init(_ error: SourceError, suggestion: String? = nil) {
    self.init(
      ExitCode(error), error.message, suggestion: suggestion, hint: error.remedy.map(Hint.init))
  }

  package static func missingArgument(_ name: String, hint: Hint? = nil) -> CommandError {
    CommandError(.usage, "missing argument: \(name)", hint: hint)
  }

  package static func exclusive(_ first: String, _ second: String) -> CommandError {
    CommandError(.usage, "\(first) and \(second) cannot be used together")
  }
}

package indirect enum Hint: ExpressibleByStringInterpolation, Sendable {
  case words(String)
  /// A command line, without the program's name.
  case command(String)
  /// Two steps, each on its own line.
  case steps(Hint, Hint)
  /// Words that precede the name of the variable for the program's directory.
  case home(String)

  package static let details = Hint.words("--details fetches each record")

  package init(stringLiteral value: String) { self = .words(value) }

  package init(_ remedy: Remedy) {
    self =
      switch remedy.action {
      case .allowMoreTime?: .words("allow more time with --timeout, or try later")
      case .moveStore?: .home("\(remedy.text), or set")
      case .nameSettingsFile?: .words("\(remedy.text), or use --config FILE")
      case .record?: .words("\(remedy.text) with --record")
      case .command?: .command(remedy.text)
      default: .words(remedy.text)
      }
  }
}

extension String {
  package var typed: String {
    let words = split(separator: " ")
    return !words.isEmpty && words.allSatisfy { String($0).isPlainWord }
      ? self : shellQuoted
  }

  package var isPlainWord: Bool {
    1...64 ~= utf8.count && first != "-"
      && allSatisfy { $0.isLetter || $0.isNumber || "-_.@+".contains($0) }
  }
}
