extension SourceError {
  /// What kind of failure a ``SourceError`` is.
  ///
  /// New codes may come: switch with a `default`.
  public struct Code: Hashable, Sendable, LosslessStringConvertible {
    private enum Name: String, CaseIterable {
      case cancelled, badUsage, invalidCursor, notFound, badSettings
      case offline, unreachable, connectionLost, timedOut
      case missingKey, invalidKey, rateLimited, rejected, serverError, circuitOpen
      case malformed, tooLarge, stalled, storage, busy, nothingCached, unsupported
      case notRecorded
    }
    private let name: Name

    private init(_ name: Name) { self.name = name }

    /// The code with this name.
    ///
    /// - Parameter description: A name such as `timedOut`; letters only.
    public init?(_ description: String) {
      guard let name = Name(rawValue: description) else { return nil }
      self.name = name
    }

    /// The code's name, as in JSON output: `timedOut`.
    public var description: String { name.rawValue }

    /// The task was cancelled.
    public static let cancelled = Code(.cancelled)
    /// The request makes no sense, such as a blank query.
    public static let badUsage = Code(.badUsage)
    /// The cursor is damaged, outdated, or another source's or query's.
    public static let invalidCursor = Code(.invalidCursor)
    /// There is no record with this id.
    public static let notFound = Code(.notFound)
    /// A setting cannot be read, such as an address that is none.
    public static let badSettings = Code(.badSettings)
    /// The caller forbade the network.
    public static let offline = Code(.offline)
    /// No connection: refused, no route, unknown host, or TLS failed; not retried.
    public static let unreachable = Code(.unreachable)
    /// The connection broke before the reply was complete.
    public static let connectionLost = Code(.connectionLost)
    /// A deadline passed.
    public static let timedOut = Code(.timedOut)
    /// The service wants a key and there is none.
    public static let missingKey = Code(.missingKey)
    /// The service does not accept the key.
    public static let invalidKey = Code(.invalidKey)
    /// Asked too often: the service says so, or our own quota is used up.
    public static let rateLimited = Code(.rateLimited)
    /// The service refuses this request (other 4xx).
    public static let rejected = Code(.rejected)
    /// The service failed (5xx).
    public static let serverError = Code(.serverError)
    /// The service failed so often that it is left alone for a while.
    public static let circuitOpen = Code(.circuitOpen)
    /// The reply could not be understood.
    public static let malformed = Code(.malformed)
    /// The reply is over the size cap.
    public static let tooLarge = Code(.tooLarge)
    /// The service has no such call, such as looking up one record.
    public static let unsupported = Code(.unsupported)
    /// A local file cannot be read or written: a full disk, missing permission.
    public static let storage = Code(.storage)
    /// Another process kept the local store, or a place, locked for too long.
    public static let busy = Code(.busy)
    /// Nothing of this source is in the local store.
    public static let nothingCached = Code(.nothingCached)
    /// An exchange is not in the recording that is replayed, or could not be put into the one that is
    /// made.
    public static let notRecorded = Code(.notRecorded)
    /// A walk was stopped because the source's pages went nowhere; see ``PaginationEnd``.
    public static let stalled = Code(.stalled)

    /// The code in words, where no more is known: `the service cannot be reached`.
    public var text: String {
      switch name {
      case .cancelled: "cancelled"
      case .badUsage: "the request makes no sense"
      case .invalidCursor: "the cursor is not valid"
      case .notFound: "there is no such record"
      case .badSettings: "a setting cannot be read"
      case .offline: "the network is not to be used"
      case .unreachable: "the service cannot be reached"
      case .connectionLost: "the connection broke"
      case .timedOut: "the service did not answer in time"
      case .missingKey: "no key is set"
      case .invalidKey: "the service does not accept the key"
      case .rateLimited: "the service was asked too often"
      case .rejected: "the service refused the request"
      case .serverError: "the service failed"
      case .circuitOpen: "the service failed often and is left alone"
      case .malformed: "the reply could not be understood"
      case .tooLarge: "the reply is too large"
      case .unsupported: "the service has no such call"
      case .storage: "a local file cannot be read or written"
      case .busy: "another process is at work on it"
      case .nothingCached: "nothing is stored"
      case .stalled: "the pages went nowhere"
      case .notRecorded: "the request is not in the recording"
      }
    }
  }
}
