import AggregatorKit

/// The process's exit code: the numbers of `sysexits(3)` where there is one.
enum ExitCode: Int32, CaseIterable, Sendable {
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

  /// The code that a source's failure ends the program with.
  init(_ error: SourceError) {
    self =
      switch error.code {
      case .cancelled: .interrupted
      case .notFound, .unsupported: .notFound
      case .badUsage, .invalidCursor: .usage
      case .badSettings: .settings
      case .missingKey, .invalidKey: .key
      case .timedOut, .rateLimited, .busy: .tryLater
      case .malformed, .tooLarge: .notUnderstood
      case .storage: .io
      case .stalled: .partial
      // The cause is why nothing could be written down.
      case .notRecorded: (error.cause as? SourceError).map(Self.init) ?? .unavailable
      default: .unavailable
      }
  }

  /// When the program ends with this code.
  var about: String {
    switch self {
    case .success:
      "fine; also an empty list, an answer from stored or bundled data (with a warning), a reader that "
        + "went away"
    case .notFound: "no such record; next at the end, or at a place that is no longer valid"
    case .partial: "a part failed, or a listing was stopped; what was printed is valid"
    case .usage: "wrong command line, also a blank query or a foreign or damaged --cursor"
    case .unavailable:
      "nothing could answer: refused, unknown host, TLS, server error, --offline, not in --replay"
    case .bug: "a bug of this program"
    case .io: "cannot write or read: disk full, permissions"
    case .tryLater: "try later: timeout, too many requests, own quota used up, a place in use"
    case .notUnderstood: "the reply could not be understood, or is too large"
    case .key: "key missing, wrong or expired"
    case .settings: "wrong settings"
    case .interrupted: "interrupted (SIGINT); 143 after SIGTERM"
    }
  }
}
