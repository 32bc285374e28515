import AggregatorText

/// A failure of a data source.
///
/// Neither `message` nor `remedy` contains a secret: sources build them from the redacted descriptions of
/// ``HTTPRequest`` and ``Secret``. Two errors are equal whatever their causes.
public struct SourceError: Error, Sendable {
  private struct Parts: Sendable {
    var code: Code
    var message: String
    var remedy: Remedy?
    var retryAfter: Duration?
    var cause: (any Error)?
  }

  @Indirect private var parts: Parts

  public var code: Code {
    get { parts.code }
    set { parts.code = newValue }
  }

  /// A description for logs, terminals and developers, without a full stop; an app shows `localizedDescription`.
  public var message: String {
    get { parts.message }
    set { parts.message = newValue }
  }

  public var remedy: Remedy? {
    get { parts.remedy }
    set { parts.remedy = newValue }
  }

  /// The time to wait before a retry, as the service or our own rate limit demands; `nil` if unknown.
  public var retryAfter: Duration? {
    get { parts.retryAfter }
    set { parts.retryAfter = newValue }
  }

  public var cause: (any Error)? {
    get { parts.cause }
    set { parts.cause = newValue }
  }

  public init(
    _ code: Code, _ message: String, remedy: Remedy? = nil, retryAfter: Duration? = nil,
    cause: (any Error)? = nil
  ) {
    parts = Parts(
      code: code, message: message, remedy: remedy, retryAfter: retryAfter, cause: cause)
  }

  public static var cancelled: SourceError { SourceError(.cancelled, "cancelled") }

  public static func notFound(
    _ id: some RecordID, in source: String
  ) -> SourceError {
    SourceError(.notFound, "\(source) record \"\(id.description.oneLine(atMost: 80))\" not found")
  }

  /// True if the same call may succeed when it is retried at once or soon.
  public var isTransient: Bool {
    switch code {
    case .timedOut, .connectionLost, .rateLimited, .serverError: true
    default: false
    }
  }

  /// True if another source may answer instead.
  ///
  /// False for a cancelled call, an unknown id, a request that is itself invalid, a locked store, which will be free in
  /// a moment, a store that must not be ignored, and a gap in a recording, which must not be filled silently.
  public var allowsFallback: Bool {
    switch code {
    case .cancelled, .notFound, .invalidCursor, .invalidRequest, .invalidSettings, .busy,
      .unusableStore, .notRecorded:
      false
    default: true
    }
  }

  /// Lets a `catch` name a code: `catch .notFound { … }`.
  public static func ~= (code: Code, error: SourceError) -> Bool { error.code == code }
}

extension SourceError: Equatable {
  /// True if all but the causes are equal: those may be of any type.
  public static func == (left: SourceError, right: SourceError) -> Bool {
    left.code == right.code && left.message == right.message && left.remedy == right.remedy
      && left.retryAfter == right.retryAfter
  }
}

extension SourceError: CustomStringConvertible {
  /// The message and the remedy, if any.
  public var description: String {
    if let remedy { "\(message) (\(remedy))" } else { message }
  }
}

extension SourceError {
  /// The kind of a ``SourceError``.
  ///
  /// New codes may be added: switch with a `default`.
  public struct Code: Hashable, Sendable, LosslessStringConvertible {
    private enum Name: String, CaseIterable {
      case cancelled, invalidRequest, invalidCursor, notFound, invalidSettings
      case offline, unreachable, connectionLost, timedOut
      case missingKey, invalidKey, rateLimited, rejected, serverError, circuitOpen
      case malformed, tooLarge, noProgress, storage, busy, unusableStore, nothingCached, unsupported
      case notRecorded
    }
    private let name: Name

    private init(_ name: Name) { self.name = name }

    /// The code with this name, such as `timedOut`.
    public init?(_ description: String) {
      guard let name = Name(rawValue: description) else { return nil }
      self.name = name
    }

    /// The code's name, as in JSON output: `timedOut`; letters only.
    public var description: String { name.rawValue }

    public static let cancelled = Code(.cancelled)
    /// Invalid request, such as an empty query.
    public static let invalidRequest = Code(.invalidRequest)
    /// The cursor is damaged, outdated, or belongs to another source or query.
    public static let invalidCursor = Code(.invalidCursor)
    public static let notFound = Code(.notFound)
    /// Invalid setting, such as a malformed URL.
    public static let invalidSettings = Code(.invalidSettings)
    public static let offline = Code(.offline)
    /// No connection: refused, no route, unknown host, or TLS failed; not retried.
    public static let unreachable = Code(.unreachable)
    /// The connection broke before the reply was complete.
    public static let connectionLost = Code(.connectionLost)
    public static let timedOut = Code(.timedOut)
    /// The service requires an API key and none is set.
    public static let missingKey = Code(.missingKey)
    public static let invalidKey = Code(.invalidKey)
    /// Too many requests, for the service or for the local rate limit.
    public static let rateLimited = Code(.rateLimited)
    /// The service rejects this request (other 4xx).
    public static let rejected = Code(.rejected)
    /// The service failed (5xx).
    public static let serverError = Code(.serverError)
    /// The circuit breaker is open: the service failed repeatedly and is not called for a while.
    public static let circuitOpen = Code(.circuitOpen)
    /// The reply could not be decoded.
    public static let malformed = Code(.malformed)
    public static let tooLarge = Code(.tooLarge)
    /// The service does not offer this call, such as looking up one record.
    public static let unsupported = Code(.unsupported)
    /// A local file cannot be read or written: disk full, permission denied.
    public static let storage = Code(.storage)
    /// Another process held the lock on the local store or the session position for too long.
    public static let busy = Code(.busy)
    /// The local store belongs to a newer version or another program, or is damaged and was chosen by its path:
    /// without it, deleted records would be back and cached ones missing.
    public static let unusableStore = Code(.unusableStore)
    /// The local store has no records of this source.
    public static let nothingCached = Code(.nothingCached)
    /// An exchange is missing from the replayed recording, or could not be added to a new one.
    public static let notRecorded = Code(.notRecorded)
    /// Pagination stopped because the source's pages made no progress; see ``PaginationEnd``.
    public static let noProgress = Code(.noProgress)

    /// The code of an `NSError`: the same in every version.
    var number: Int {
      switch name {
      case .cancelled: 1
      case .invalidRequest: 2
      case .invalidCursor: 3
      case .notFound: 4
      case .invalidSettings: 5
      case .offline: 6
      case .unreachable: 7
      case .connectionLost: 8
      case .timedOut: 9
      case .missingKey: 10
      case .invalidKey: 11
      case .rateLimited: 12
      case .rejected: 13
      case .serverError: 14
      case .circuitOpen: 15
      case .malformed: 16
      case .tooLarge: 17
      case .noProgress: 18
      case .storage: 19
      case .busy: 20
      case .unusableStore: 21
      case .nothingCached: 22
      case .unsupported: 23
      case .notRecorded: 24
      }
    }

    /// All of them.
    package static var all: [Code] { Name.allCases.map(Code.init) }

    /// A generic message: `cannot reach the service`.
    public var text: String {
      switch name {
      case .cancelled: "cancelled"
      case .invalidRequest: "invalid request"
      case .invalidCursor: "invalid cursor"
      case .notFound: "record not found"
      case .invalidSettings: "invalid setting"
      case .offline: "offline mode"
      case .unreachable: "cannot reach the service"
      case .connectionLost: "connection lost"
      case .timedOut: "the service timed out"
      case .missingKey: "API key is not set"
      case .invalidKey: "invalid API key"
      case .rateLimited: "rate limited"
      case .rejected: "the service rejected the request"
      case .serverError: "the service failed"
      case .circuitOpen: "failing repeatedly; paused"
      case .malformed: "malformed response"
      case .tooLarge: "response too large"
      case .unsupported: "not supported by the service"
      case .storage: "cannot read or write a local file"
      case .busy: "locked by another process"
      case .unusableStore: "the local store cannot be used"
      case .nothingCached: "no cached records"
      case .noProgress: "pagination made no progress"
      case .notRecorded: "request not in the recording"
      }
    }
  }
}

/// A way to mend a ``SourceError``.
///
/// Most remedies are text. Those that depend on the program, such as moving its store, also name an
/// ``Action``, which a program can translate to its own options or settings.
public struct Remedy: Hashable, Sendable {
  /// A remedy that only the program can carry out.
  ///
  /// New actions may be added: switch with a `default`.
  public struct Action: Hashable, Sendable {
    private enum Name {
      case allowMoreTime, allowMoreBytes, moveStore, nameSettingsFile, record, command
    }
    private let name: Name
    public static let allowMoreTime = Action(name: .allowMoreTime)
    public static let allowMoreBytes = Action(name: .allowMoreBytes)
    public static let moveStore = Action(name: .moveStore)
    public static let nameSettingsFile = Action(name: .nameSettingsFile)
    public static let record = Action(name: .record)
    /// The text is a command line of the program, without the program's name.
    public static let command = Action(name: .command)
  }

  /// An imperative phrase without a full stop.
  public var text: String

  public var action: Action?

  public init(_ text: String, _ action: Action? = nil) {
    self.text = text
    self.action = action
  }
}

extension Remedy: ExpressibleByStringInterpolation {
  public init(stringLiteral text: String) { self.init(text) }
}

extension Remedy: CustomStringConvertible {
  public var description: String { text }
}
