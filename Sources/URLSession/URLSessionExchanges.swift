import AggregatorCore
import AggregatorHTTP
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The requests in flight, by the identifiers of their tasks.
///
/// Removing an exchange obliges the remover to resume its continuation. Callbacks of tasks that were
/// removed are ignored: after `cancel()` they may continue for a while.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
  private struct Exchange {
    let request: WireRequest
    let begin = ContinuousClock.now
    var lastActivity = ContinuousClock.now
    var continuation: CheckedContinuation<Result<HTTPResponse, SourceError>, Never>?
    var body = Data()
    var isChallenged = false
    /// The error if it ended before it started.
    var refusal: SourceError?

    var end: ContinuousClock.Instant { begin + request.limits.overall }
    var deadline: ContinuousClock.Instant { min(lastActivity + request.limits.idle, end) }
    /// The error of an exchange whose deadline has passed.
    var expiry: SourceError {
      let (authority, limits) = (request.address.authority, request.limits)
      return lastActivity + limits.idle <= .now
        ? .silent(authority, for: limits.idle) : .unfinished(authority, within: limits.overall)
    }

    /// Adds bytes of the body; returns an error if there are too many.
    mutating func receive(_ data: Data) -> SourceError? {
      let limit = request.limits.bodyBytes
      guard data.count <= limit - body.count else { return .tooLarge(limit) }
      lastActivity = .now
      body.append(data)
      return nil
    }
  }

  private let exchanges = Mutex<[Int: Exchange]>([:])

  func open(_ task: URLSessionTask, _ request: WireRequest) {
    exchanges.withLock { $0[task.taskIdentifier] = Exchange(request: request) }
  }

  func begin(
    _ task: URLSessionTask,
    _ continuation: CheckedContinuation<Result<HTTPResponse, SourceError>, Never>
  ) {
    // Under the lock: a task that is cancelled before `resume()` never calls back.
    let refusal = exchanges.withLock { exchanges -> SourceError? in
      if let refusal = exchanges[task.taskIdentifier]?.refusal {
        exchanges[task.taskIdentifier] = nil
        return refusal
      }
      exchanges[task.taskIdentifier]?.continuation = continuation
      task.resume()
      return nil
    }
    if let refusal { continuation.resume(returning: .failure(refusal)) }
  }

  func stop(_ task: URLSessionTask, because error: SourceError) {
    let continuation = exchanges.withLock { exchanges in
      guard exchanges[task.taskIdentifier]?.continuation != nil else {
        exchanges[task.taskIdentifier]?.refusal = error
        return nil as CheckedContinuation<Result<HTTPResponse, SourceError>, Never>?
      }
      task.cancel()
      return exchanges.removeValue(forKey: task.taskIdentifier)?.continuation
    }
    continuation?.resume(returning: .failure(error))
  }

  /// Stops a task at its deadline; returns when it has ended.
  func watch(_ task: URLSessionTask) async {
    // Only the time is copied: a copy of the exchange would make every append copy the body.
    while let deadline = exchanges.withLock({ $0[task.taskIdentifier]?.deadline }) {
      if deadline <= .now {
        let expiry = exchanges.withLock { $0[task.taskIdentifier]?.expiry }
        stop(task, because: expiry ?? .cancelled)
      } else if (try? await Task.sleep(until: deadline, clock: .continuous)) == nil {
        return
      }
    }
  }

  // MARK: - URLSessionDataDelegate

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    exchanges.withLock { $0[dataTask.taskIdentifier]?.lastActivity = .now }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let excess = exchanges.withLock { exchanges -> SourceError? in
      exchanges[dataTask.taskIdentifier]?.receive(data)
    }
    if let excess { stop(dataTask, because: excess) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    exchanges.withLock { $0[task.taskIdentifier]?.lastActivity = .now }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping (URLRequest?) -> Void
  ) {
    // Under the lock, and not for a cancelled task: on Linux the process would crash with
    // "Received callback for HTTP redirection, but we're not waiting for it".
    exchanges.withLock { if $0[task.taskIdentifier] != nil { completionHandler(nil) } }
  }

  // Without a cache it is not called; a session of the app may have one.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask,
    willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping (CachedURLResponse?) -> Void
  ) {
    completionHandler(nil)
  }

  // On Apple systems the delegate of the app's session decides, else the default handling: it checks
  // certificates, and a 401 stays a 401.
  #if !canImport(Darwin)
    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      // The default handling would wait forever.
      exchanges.withLock { $0[task.taskIdentifier]?.isChallenged = true }
      completionHandler(.cancelAuthenticationChallenge, nil)
    }
  #endif

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) })
    else { return }
    let (authority, limits) = (exchange.request.address.authority, exchange.request.limits)
    let result: Result<HTTPResponse, SourceError>
    if exchange.end <= .now {
      // On a busy machine the response may be complete before the task that watches the time runs.
      result = .failure(.unfinished(authority, within: limits.overall))
    } else if let response = task.response as? HTTPURLResponse,
      error == nil || exchange.isChallenged
    {
      result = .success(HTTPResponse(response, body: exchange.body))
    } else {
      result = .failure(
        (error as? URLError)?.sourceError(authority: authority) ?? .broken(authority))
    }
    exchange.continuation?.resume(returning: result)
  }
}

extension HTTPResponse {
  fileprivate init(_ response: HTTPURLResponse, body: Data) {
    let fields = response.allHeaderFields.compactMap { name, value in
      (name as? String).map { name in
        (name: name, value: "\(value)".trimmingCharacters(in: .whitespaces))
      }
    }
    self.init(
      status: response.statusCode, headers: fields.sorted { $0.name < $1.name }, body: body)
  }
}
