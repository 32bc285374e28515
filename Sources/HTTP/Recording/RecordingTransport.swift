public import AggregatorCore
import AggregatorFiles
public import AggregatorFoundation
import Dispatch

/// Records the exchanges of another transport: a text file for each, which people can read, edit, compare
/// and commit, and which ``ReplayingTransport`` replays.
///
/// - Secrets are removed: those of the request, those given to ``init(_:into:hiding:now:)``, and in a
///   ``PluginEnvironment`` the tokens with which sources signed in. Each
///   exchange is searched for them, in any encoding, before it is written; if one cannot be removed, or
///   contains an escape itself, the call fails and nothing is written.
/// - Of a response's header, only fields that describe its content, its age, the time of a retry and
///   further pages are recorded; never cookies.
/// - Failures are recorded too, and so is silence until the caller's deadline. A call that was cancelled
///   for another reason is not.
/// - The directory is created with mode 0700, the files have mode 0600. Several processes may record into
///   the same directory; exchanges are numbered in the order in which they ended.
public struct RecordingTransport: Transport {
  private static let queue = DispatchQueue(label: "aggregator.recording")

  private let base: any Transport
  private let directory: RecordingDirectory
  private let liveSecrets: LiveSecrets
  private let clock: ExchangeTime

  /// The current date: the time of the latest recorded exchange, in whole seconds, plus the time since;
  /// the real date before the first one.
  ///
  /// A ``PluginEnvironment`` that uses it has the same times when the recording is replayed.
  public var now: @Sendable () -> Date { { [clock] in clock.now } }

  /// `path` is created if it is missing; `secrets` are removed in addition to those of the requests.
  ///
  /// - Throws: ``SourceError`` with code `storage` if the directory cannot be created or written.
  public init(
    _ base: any Transport, into directory: URL, hiding secrets: [Secret],
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws(SourceError) {
    let live = LiveSecrets()
    live.add(secrets)
    try self.init(base, into: directory, hiding: live, now: now)
  }

  /// Removes the secrets that `liveSecrets` has when an exchange is recorded.
  package init(
    _ base: any Transport, into directory: URL, hiding liveSecrets: LiveSecrets,
    now: @escaping @Sendable () -> Date
  ) throws(SourceError) {
    self.directory = RecordingDirectory(path: directory.relativePath)
    try self.directory.make()
    self.base = base
    self.liveSecrets = liveSecrets
    clock = ExchangeTime(before: now, on: ContinuousClock())
  }

  /// Sends a request and records the exchange.
  ///
  /// A recording has whole bodies: one that the request wants as a stream is received whole, and handed over once it is
  /// recorded. A request is sent and recorded without the conditions on which a service need not send what has not changed.
  ///
  /// - Throws: The error of the other transport, or ``SourceError`` with code `notRecorded`.
  public func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let request = request.unconditional
    liveSecrets.add(request.secrets)
    var whole = request
    whole.responseStream = nil
    let result = await Result { [whole] () async throws(SourceError) in
      try await base.send(whole)
    }
    switch result {
    case .failure(let error) where error.code == .tooLarge && request.responseStream != nil:
      throw SourceError(
        .notRecorded, "not recorded: \(error.message), the most that is recorded", cause: error)
    case .success(let response): try await record(request, .reply(response))
    case .failure(let error) where error.code != .cancelled:
      try await record(request, .failure(error))
    // A deadline cancels the call from outside.
    case .failure where Deadline.hasPassed: try await record(request, .silence)
    case .failure: break
    }
    let response = try result.get()
    return request.responseStream?.taking(response) ?? response
  }

  private func record(
    _ request: HTTPRequest, _ outcome: RecordedExchange.Outcome
  ) async throws(SourceError) {
    let scanner = SecretScanner(liveSecrets.all)
    guard !scanner.hasEscapedSecret else { throw .escapedSecret }
    let exchange = try RecordedExchange(request, outcome, at: clock.stamp, without: scanner)
    let text = exchange.text
    let slug = exchange.request.slug
    guard !scanner.finds(in: Array(text)), !scanner.finds(in: Array(slug.utf8)) else {
      throw .containsSecret
    }
    do throws(SystemFailure) {
      try await Self.queue.run { () throws(SystemFailure) in
        try directory.add(text, named: slug)
      }
    } catch {
      let cause = SourceError(unwritable: directory.path, error)
      throw SourceError(.notRecorded, cause.message, remedy: cause.remedy, cause: cause)
    }
    // After writing, because a replay does not wait for a disk.
    clock.advance(to: exchange.time)
  }
}

extension RecordedRequest {
  /// A part of a file name: `get-api-characters`.
  fileprivate var slug: String {
    let path = endpoint.split(separator: "/").dropFirst(2).joined(separator: "-")
    let words = "\(method.rawValue)-\(path)".lowercased().split {
      !($0.isASCII && ($0.isLetter || $0.isNumber))
    }
    return String(words.joined(separator: "-").prefix(60))
  }
}
