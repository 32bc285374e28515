package import AggregatorKit

package struct CommandError: Error {
  private struct Parts: Sendable {
    var code: ExitCode
    var message: String
    var suggestion: String?
    var hint: Hint?
    var excerpt: [String] = []
  }

  @Indirect private var parts: Parts

  package var code: ExitCode {
    get { parts.code }
    set { parts.code = newValue }
  }

  /// The failure, with values in quotes.
  package var message: String {
    get { parts.message }
    set { parts.message = newValue }
  }
  package var suggestion: String? {
    get { parts.suggestion }
    set { parts.suggestion = newValue }
  }
  package var hint: Hint? {
    get { parts.hint }
    set { parts.hint = newValue }
  }

  /// Lines below the message that show the place of the failure, safe to show.
  package var excerpt: [String] {
    get { parts.excerpt }
    set { parts.excerpt = newValue }
  }

  package init(_ code: ExitCode, _ message: String, suggestion: String? = nil, hint: Hint? = nil) {
    parts = Parts(code: code, message: message, suggestion: suggestion, hint: hint)
  }

  /// A failure that does not belong to a source.
  package init(_ error: SourceError, suggestion: String? = nil) {
    self.init(
      ExitCode(error), error.message, suggestion: suggestion, hint: error.remedy.map(Hint.init))
  }

  /// The value of an expression, whose failures belong to no source.
  package static func wrapping<Value>(
    _ value: @autoclosure () throws(SourceError) -> Value
  ) throws(CommandError) -> Value {
    do { return try value() } catch { throw CommandError(error) }
  }

  package static func missingArgument(_ name: String, hint: Hint? = nil) -> CommandError {
    CommandError(.usage, "missing argument: \(name)", hint: hint)
  }

  package static func exclusive(_ first: String, _ second: String) -> CommandError {
    CommandError(.usage, "\(first) and \(second) cannot be used together")
  }
}

package indirect enum Hint: Equatable, ExpressibleByStringInterpolation, Sendable {
  case words(String)
  /// A command line, without the program's name.
  case command(String)
  /// Two steps, each on its own line.
  case steps(Hint, Hint)
  /// Words that precede the name of the variable for the program's directory.
  case home(String)

  package static let details = Hint.words("--details fetches each record")
  package static let cachedMatches = Hint.words("--offline searches the cached records")

  package init(stringLiteral value: String) { self = .words(value) }

  package init(_ remedy: Remedy) {
    self =
      switch remedy.action {
      case .allowMoreTime?: .words("allow more time with --timeout, or try later")
      case .allowMoreBytes?: .words("\(remedy.text) with --max-size")
      case .moveStore?: .home("\(remedy.text), or set")
      case .nameSettingsFile?: .words("\(remedy.text), or use --config FILE")
      case .record?: .words("\(remedy.text) with --record")
      case .command?: .command(remedy.text)
      default: .words(remedy.text)
      }
  }
}

extension String {
  private static let shownSizes = 1...64

  /// These words as those of a query, in quotes if a shell would change them.
  package var typed: String {
    // After a space it is no option, and a query has none at its beginning.
    guard first != "-" else { return " \(self)".shellQuoted }
    let words = split(separator: " ")
    return !words.isEmpty && words.allSatisfy { String($0).isPlainWord }
      ? self : shellQuoted
  }

  /// This text as one argument of a command line, in quotes if a shell would change it; `nil` if it is too long, or if
  /// it would be taken for an option or is not printed as it is.
  package var argument: String? {
    guard Self.shownSizes ~= utf8.count, first != "-", safeLine == self else { return nil }
    return isPlainWord ? self : shellQuoted
  }

  /// This path or URL as a word of a command line.
  package var typedPath: String {
    allSatisfy { $0.isLetter || $0.isNumber || "-_.@+/:%,".contains($0) } ? self : shellQuoted
  }

  package var isPlainWord: Bool {
    Self.shownSizes ~= utf8.count && first != "-"
      && allSatisfy { $0.isLetter || $0.isNumber || "-_.@+".contains($0) }
  }
}

extension PluginExample {
  /// The ID as an argument of a command line.
  package var idArgument: String { id.argument ?? "ID" }
}

/// The process's exit code, from `sysexits(3)` where it has one.
package enum ExitCode: Int32, CaseIterable, Sendable {
  case success = 0
  case notFound = 1
  case partial = 3
  case usage = 64
  case unavailable = 69
  case bug = 70
  case io = 74
  case tryLater = 75
  case notUnderstood = 76
  case key = 77
  case settings = 78
  case interrupted = 130

  /// The code of `diff --exit-code` if there are differences, as in `git diff`.
  package static let different = ExitCode.notFound

  package init(_ error: SourceError) {
    self =
      switch error.code {
      case .cancelled: .interrupted
      case .notFound, .unsupported: error.isOfUnreadList ? .partial : .notFound
      case .invalidRequest, .invalidCursor: .usage
      case .invalidSettings: .settings
      case .missingKey, .invalidKey: .key
      case .timedOut, .rateLimited, .busy: .tryLater
      case .malformed, .tooLarge: .notUnderstood
      case .storage, .unusableStore: .io
      case .noProgress: .partial
      // The cause is the failure of the request that could not be recorded.
      case .notRecorded: (error.cause as? SourceError).map(Self.init) ?? .unavailable
      default: .unavailable
      }
  }

  package var about: String {
    switch self {
    case .success: "success, including empty lists, cached or bundled data, and a closed pipe"
    case .notFound:
      "record not found, or lookup not supported; for next: end of list or invalid position; for "
        + "diff --exit-code: differences"
    case .partial:
      "partial result: some sources failed, rows could not be read, the listing was cut short, or a lookup, a "
        + "search, a number, a filter, an order, a comparison, an export or a list read to its end is not of all records"
    case .usage: "invalid command line, record ID or --cursor, or blank query"
    case .unavailable:
      "no data: connection failed, server error, request rejected (4xx), service paused, "
        + "--offline without data, or request not in the recording"
    case .bug: "internal error"
    case .io: "cannot read or write: no such file, disk full, permissions"
    case .tryLater: "try later: timeout, rate limit, or a lock in use"
    case .notUnderstood: "the response was invalid or too large"
    case .key: "API key missing, invalid or expired"
    case .settings: "invalid settings"
    case .interrupted: "interrupted (SIGINT); 143 for SIGTERM"
    }
  }
}

extension SourceError {
  /// True for a record that was not found in a list which was not read to its end, and so may have it.
  package var isOfUnreadList: Bool { (cause as? SourceError)?.code == .noProgress }
}
