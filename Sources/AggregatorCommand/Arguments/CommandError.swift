import AggregatorKit

/// A failure of the program: its message and exit code.
package struct CommandError: Error {
  var code: ExitCode

  /// What failed, with values in quotes.
  package var message: String

  /// A similar word or command line that may have been intended.
  var suggestion: String?

  /// What to do next.
  var hint: Hint?

  init(_ code: ExitCode, _ message: String, suggestion: String? = nil, hint: Hint? = nil) {
    self.code = code
    self.message = message
    self.suggestion = suggestion
    self.hint = hint
  }

  /// A failure that does not belong to a source.
  init(_ error: SourceError, suggestion: String? = nil) {
    self.init(
      ExitCode(error), error.message, suggestion: suggestion, hint: error.remedy.map(Hint.init))
  }

  /// A failure of a source.
  init(_ error: SourceError, of plugin: some Plugin) {
    self.init(
      ExitCode(error), "\(plugin.name): \(error.message)",
      hint: error.hint(settings: plugin.settings))
  }

  /// A required argument was not given.
  static func missingArgument(_ name: String, hint: Hint? = nil) -> CommandError {
    CommandError(.usage, "missing argument: \(name)", hint: hint)
  }

  /// Two options, or settings, contradict each other.
  static func exclusive(_ first: String, _ second: String) -> CommandError {
    CommandError(.usage, "\(first) and \(second) cannot be used together")
  }
}

/// What to do next.
enum Hint: ExpressibleByStringInterpolation {
  case words(String)
  /// A command line, without the program's name.
  case command(String)

  init(stringLiteral value: String) { self = .words(value) }

  /// A library's remedy, with the option or setting of this program that applies it.
  init(_ remedy: Remedy) {
    self =
      switch remedy.action {
      case .allowMoreTime?: .words("allow more time with --timeout, or try later")
      case .moveStore?: .words("\(remedy.text), or set AGGREGATOR_HOME")
      case .nameSettingsFile?: .words("\(remedy.text), or use --config FILE")
      case .record?: .words("\(remedy.text): use --record instead of --replay")
      default: .words(remedy.text)
      }
  }
}

extension SourceError {
  /// The command or action that mends this failure; `nil` if there is none.
  ///
  /// - Parameter settings: The settings of the source that failed.
  func hint(settings: [Setting]) -> Hint? {
    if let invalid = cause as? InvalidRecordID { return .command(invalid.search) }
    let words = remedy.map(Hint.init)
    return switch code {
    case .missingKey, .invalidKey:
      settings.first(where: \.isSecret).map { .command("config set \($0.key)") } ?? words
    case .circuitOpen: remedy.map { .words("\($0); --refresh retries now") }
    default: words
    }
  }
}

extension String {
  /// This text as an argument in a shell, quoted if necessary.
  var typed: String {
    let words = split(separator: " ")
    return !words.isEmpty && words.allSatisfy { String($0).isPlainWord }
      ? self : "'\(replacing("'", with: #"'\''"#))'"
  }

  /// True if a shell takes this short text literally.
  var isPlainWord: Bool {
    1...64 ~= utf8.count && first != "-"
      && allSatisfy { $0.isLetter || $0.isNumber || "-_.@+".contains($0) }
  }
}
