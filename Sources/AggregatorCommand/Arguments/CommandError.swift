import AggregatorKit

package struct CommandError: Error {
  var code: ExitCode

  /// The failure, with values in quotes.
  package var message: String
  var suggestion: String?
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

  init(_ error: SourceError, of plugin: some Plugin) {
    self.init(
      ExitCode(error), "\(plugin.name): \(error.message)",
      hint: error.hint(settings: plugin.settings))
  }

  static func missingArgument(_ name: String, hint: Hint? = nil) -> CommandError {
    CommandError(.usage, "missing argument: \(name)", hint: hint)
  }

  static func exclusive(_ first: String, _ second: String) -> CommandError {
    CommandError(.usage, "\(first) and \(second) cannot be used together")
  }
}

indirect enum Hint: ExpressibleByStringInterpolation, Sendable {
  case words(String)
  /// A command line, without the program's name.
  case command(String)
  /// Two steps, each on its own line.
  case steps(Hint, Hint)
  /// Words that precede the name of the variable for the program's directory.
  case home(String)

  static let details = Hint.words("--details fetches each record")

  init(stringLiteral value: String) { self = .words(value) }

  init(_ remedy: Remedy) {
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

extension SourceError {
  func hint(settings: [Setting]) -> Hint? {
    if let advice = cause as? LookupAdvice { return advice.hint }
    let words = remedy.map(Hint.init)
    return switch code {
    case .missingKey, .invalidKey:
      setting(among: settings).map { setting in
        let set = Hint.command("config set \(setting.key)")
        return code == .missingKey ? words.map { .steps($0, set) } ?? set : set
      } ?? words
    case .circuitOpen: remedy.map { .words("\($0); --refresh retries now") }
    default: words
    }
  }

  /// The setting that the message names, or the only secret.
  private func setting(among settings: [Setting]) -> Setting? {
    let words = message.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
    let secrets = settings.filter(\.isSecret)
    return settings.first { words.contains($0.key) } ?? (secrets.count == 1 ? secrets.first : nil)
  }
}

extension String {
  var typed: String {
    let words = split(separator: " ")
    return !words.isEmpty && words.allSatisfy { String($0).isPlainWord }
      ? self : shellQuoted
  }

  var isPlainWord: Bool {
    1...64 ~= utf8.count && first != "-"
      && allSatisfy { $0.isLetter || $0.isNumber || "-_.@+".contains($0) }
  }
}
