#if canImport(Darwin) || URLSessionOnLinux
  import Foundation
  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// HTTP by URLSession, the engine of Apple systems.
  ///
  /// URLSession has no limit for connecting alone (that counts as silence), joins fields that came
  /// several times, and holds an endless head until the time is up.
  package final class URLSessionEngine: HTTPEngine {
    private let exchanges = URLSessionExchanges()
    private let session: URLSession

    /// An engine with connections of its own.
    package init() {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCache = nil
      configuration.httpCookieStorage = nil
      configuration.httpShouldSetCookies = false
      configuration.urlCredentialStorage = nil
      configuration.httpMaximumConnectionsPerHost = 32
      // The limits are kept here: URLSession knows whole seconds on Linux.
      configuration.timeoutIntervalForRequest = 7 * 24 * 3600
      session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    // The session keeps its delegate until it is told that nothing more comes.
    deinit { session.finishTasksAndInvalidate() }

    package func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse {
      if Task.isCancelled { throw .cancelled }
      guard let task = URLRequest(request).map(session.dataTask) else {
        throw SourceError(.badUsage, "\(request.address.authority) cannot be asked")
      }
      exchanges.open(task, request)
      let result = await withTaskGroup(of: Void.self) { group in
        group.addTask { await self.exchanges.watch(task) }
        defer { group.cancelAll() }
        return await withTaskCancellationHandler {
          await withCheckedContinuation { self.exchanges.begin(task, $0) }
        } onCancel: {
          self.exchanges.stop(task, because: .cancelled)
        }
      }
      return try result.get()
    }
  }

  extension URLRequest {
    fileprivate init?(_ request: WireRequest) {
      guard let url = URL(string: request.address.text) else { return nil }
      self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
      httpMethod = request.method.rawValue
      httpBody = request.body
      httpShouldHandleCookies = false
      for (name, value) in request.headers { addValue(value, forHTTPHeaderField: name) }
    }
  }
#endif
