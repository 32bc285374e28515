public import AggregatorCore
import AggregatorFiles
public import Foundation

/// Writes down what another transport sends and receives: a text file for each exchange, which people
/// can read, edit, compare and commit, and which ``ReplayingTransport`` answers from.
///
/// - Secrets are left out: those of the request, and those given to ``init(_:into:hiding:now:)``. Each
///   exchange is searched for them before anything is written, whatever form they have taken; where one
///   cannot be removed the call fails, and nothing is written.
/// - Of a reply's header only the fields are kept that tell how to read it, how old it is, when to come
///   back and where more is; never cookies.
/// - A failure is recorded too, and so is a silence that lasted until the caller's deadline. A call that
///   was cancelled for another reason is not.
/// - The directory is made with mode 0700, the files have mode 0600. Several processes may record into
///   the same one; exchanges are numbered in the order in which they ended.
public struct RecordingTransport: Transport {
  /// Where files are written: a disk may take its time, and tasks must not stand still for it.
  private static let queue = DispatchQueue(label: "aggregator.recording")

  private let base: any Transport
  private let directory: RecordingDirectory
  private let secrets: [Secret]
  private let clock: ExchangeTime

  /// What the calendar says: the time of the exchange that was recorded last, in whole seconds, and what
  /// has passed since; before the first one the time that it is.
  ///
  /// A ``PluginEnvironment`` that has it gives the same times now and when the recording is replayed.
  public var now: @Sendable () -> Date { { [clock] in clock.now } }

  /// A transport that records.
  ///
  /// - Parameters:
  ///   - base: What sends the requests.
  ///   - path: The directory; made if it is missing.
  ///   - secrets: What must not be written, beside the secrets of the requests.
  ///   - now: What the calendar says; the system's date by default.
  /// - Throws: ``SourceError`` with code `storage` if the directory cannot be made or written.
  public init(
    _ base: any Transport, into path: String, hiding secrets: [Secret],
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws(SourceError) {
    directory = RecordingDirectory(path: path)
    try directory.make()
    self.base = base
    self.secrets = secrets
    clock = ExchangeTime(before: now, on: ContinuousClock())
  }

  /// Sends a request and writes down what came of it.
  ///
  /// - Parameter request: What to send.
  /// - Returns: What the other transport returned.
  /// - Throws: What the other transport threw, or ``SourceError`` with code `notRecorded`.
  public func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let result = await Result { () async throws(SourceError) in try await base.send(request) }
    switch result {
    case .success(let response): try await record(request, .reply(response))
    case .failure(let error) where error.code != .cancelled:
      try await record(request, .failure(error))
    // A deadline that passes cancels the call from outside.
    case .failure where Deadline.hasPassed: try await record(request, .silence)
    case .failure: break
    }
    return try result.get()
  }

  private func record(
    _ request: HTTPRequest, _ outcome: RecordedExchange.Outcome
  ) async throws(SourceError) {
    let scan = SecretScanner(secrets + request.secrets.map(Secret.init))
    let exchange = try RecordedExchange(request, outcome, at: clock.stamp, without: scan)
    let text = exchange.text
    let slug = exchange.request.slug
    guard !scan.finds(in: Array(text)), !scan.finds(in: Array(slug.utf8)) else {
      throw .tellsSecret
    }
    let written = await withCheckedContinuation { continuation in
      Self.queue.async {
        continuation.resume(
          returning: Result { () throws(SystemFailure) in try directory.add(text, named: slug) })
      }
    }
    do throws(SystemFailure) { try written.get() } catch {
      let cause = SourceError(
        .storage, "\(directory.path) cannot be written: \(error.words)",
        remedy: "see that the disk has room and that the directory is yours")
      throw SourceError(.notRecorded, cause.message, remedy: cause.remedy, cause: cause)
    }
    // Only now: a replay does not wait for a disk.
    clock.advance(to: exchange.time)
  }
}

extension RecordedRequest {
  /// A name for a file: `get-api-characters`.
  fileprivate var slug: String {
    let path = authority.split(separator: "/").dropFirst(2).joined(separator: "-")
    let words = "\(method.rawValue)-\(path)".lowercased().split {
      !($0.isASCII && ($0.isLetter || $0.isNumber))
    }
    return String(words.joined(separator: "-").prefix(60))
  }
}
