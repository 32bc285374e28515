package import AggregatorCore

#if os(Linux)
  import CAggregatorCurl
  import Synchronization

  /// HTTP by libcurl, which is opened at the first request.
  ///
  /// Connections are kept alive and shared by all requests of one engine. Its thread starts with the
  /// first request and ends with the engine.
  package final class CurlEngine: HTTPEngine {
    private let libraries: [String]
    private let loop = Mutex<CurlLoop?>(nil)

    /// An engine.
    ///
    /// - Parameter libraries: The file names under which to look for libcurl, best first.
    package init(libraries: [String] = ["libcurl.so.4", "libcurl-gnutls.so.4"]) {
      self.libraries = libraries
    }

    deinit { loop.withLock { $0?.stop() } }

    package func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse {
      if Task.isCancelled { throw .cancelled }
      let loop = try startedLoop()
      let id = loop.newID()
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          loop.start(CurlJob(id: id, request: request, continuation: continuation))
          // The handler may have run before the loop knew the job.
          if Task.isCancelled { loop.cancel(id) }
        }
      } onCancel: {
        loop.cancel(id)
      }
      return try result.get()
    }

    private func startedLoop() throws(SourceError) -> CurlLoop {
      let loop = loop.withLock { loop in
        if loop == nil, libraries.contains(where: { ccurl_load($0) }) { loop = CurlLoop() }
        return loop
      }
      guard let loop else {
        throw SourceError(
          .unreachable, "libcurl is not installed", remedy: "run 'apt-get install libcurl4'")
      }
      return loop
    }
  }

  /// One request on its way to the loop, and who waits for its reply.
  struct CurlJob: Sendable {
    let id: UInt64
    let request: WireRequest
    let continuation: CheckedContinuation<Result<HTTPResponse, SourceError>, Never>
  }
#endif
