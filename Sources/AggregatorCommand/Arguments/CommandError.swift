import AggregatorKit

/// Why the program ends without having done what it was asked: what it prints, and its exit code.
package struct CommandError: Error {
  /// The exit code.
  var code: ExitCode

  /// What failed, with the user's own words.
  package var message: String

  /// What the user may have meant.
  var suggestion: String?

  /// What to do next.
  var hint: Hint?

  /// A failure.
  init(_ code: ExitCode, _ message: String, suggestion: String? = nil, hint: Hint? = nil) {
    self.code = code
    self.message = message
    self.suggestion = suggestion
    self.hint = hint
  }

  /// What went wrong outside any source.
  init(_ error: SourceError, suggestion: String? = nil) {
    self.init(
      ExitCode(error), error.message, suggestion: suggestion, hint: error.remedy.map(Hint.init))
  }

  /// The failure of a source.
  init(_ error: SourceError, of plugin: some Plugin) {
    self.init(
      ExitCode(error), "\(plugin.name): \(error.message)",
      hint: error.hint(settings: plugin.settings))
  }
}

extension String {
  /// This text as a person types it in a shell: quoted, unless it is made of plain words.
  var typed: String {
    let words = split(separator: " ")
    return !words.isEmpty && words.allSatisfy { String($0).isPlainWord }
      ? self : "'\(replacing("'", with: #"'\''"#))'"
  }

  /// Whether a person may type this in a shell as it is: letters, digits and some marks, not many.
  var isPlainWord: Bool {
    1...64 ~= utf8.count && first != "-"
      && allSatisfy { $0.isLetter || $0.isNumber || "-_.@+".contains($0) }
  }
}

/// What to do next.
enum Hint: ExpressibleByStringInterpolation {
  /// What to do, in words.
  case words(String)
  /// What to type after the program's name.
  case command(String)

  /// What to do, in words.
  init(stringLiteral value: String) { self = .words(value) }

  /// A library's remedy, with the option or setting of this program that does it.
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
