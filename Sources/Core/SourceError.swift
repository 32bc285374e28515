/// Why a data source could not answer.
///
/// Neither `message` nor `remedy` ever holds a secret: sources build them from ``HTTPRequest`` and
/// ``Secret`` descriptions, which are redacted.
public struct SourceError: Error, Sendable {
  /// What kind of failure it is, for programs.
  public var code: Code

  /// What went wrong, in words for people, without a full stop.
  public var message: String

  /// What to do about it; `nil` if nothing can be done.
  public var remedy: Remedy?

  /// How long to wait before asking again, if that is known: the service's word, or our own bound.
  public var retryAfter: Duration?

  /// The failure underneath.
  public var cause: (any Error)?

  /// A failure.
  ///
  /// - Parameters:
  ///   - code: What kind of failure it is.
  ///   - message: What went wrong, without a full stop and without secrets.
  ///   - remedy: What to do about it.
  ///   - retryAfter: How long to wait before asking again, if that is known.
  ///   - cause: The failure underneath.
  public init(
    _ code: Code, _ message: String, remedy: Remedy? = nil, retryAfter: Duration? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.retryAfter = retryAfter
    self.cause = cause
  }

  /// The task was cancelled.
  public static var cancelled: SourceError { SourceError(.cancelled, "cancelled") }

  /// Whether the same call may succeed if it is made again at once or soon.
  public var isTransient: Bool {
    switch code {
    case .timedOut, .connectionLost, .rateLimited, .serverError: true
    default: false
    }
  }

  /// Whether another source may be asked instead.
  ///
  /// It may not when the caller went away, when the answer is that there is no such record, when what
  /// was asked is itself wrong, or when a recording has a gap, which nobody should fill unseen.
  public var allowsFallback: Bool {
    switch code {
    case .cancelled, .notFound, .invalidCursor, .badUsage, .badSettings, .notRecorded: false
    default: true
    }
  }

  /// Lets a `catch` name a code: `catch .notFound { … }`.
  public static func ~= (code: Code, error: SourceError) -> Bool { error.code == code }
}

extension SourceError: CustomStringConvertible {
  /// The message, and the remedy if there is one.
  public var description: String {
    if let remedy { "\(message) (\(remedy))" } else { message }
  }
}

extension SourceError {
  /// There is no record with this id.
  ///
  /// - Parameters:
  ///   - id: The id that was asked for.
  ///   - source: The source's name.
  /// - Returns: An error with code `notFound`.
  public static func notFound(
    _ id: some LosslessStringConvertible, in source: String
  ) -> SourceError {
    SourceError(
      .notFound, "no \(source) record has the id '\(id.description.oneLine(atMost: 80))'")
  }
}
