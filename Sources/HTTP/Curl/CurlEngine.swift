package import AggregatorCore

#if os(Linux)
  import CAggregatorCurl
  import AggregatorFoundation
  import Synchronization

  extension HTTPTransport {
    /// The shared transport of this process, which reuses connections.
    public static let standard = HTTPTransport()

    /// A transport with connections of its own.
    public init() { self.init(engine: CurlEngine()) }
  }

  /// HTTP over libcurl, which is loaded at the first request.
  ///
  /// An engine keeps its connections, and has a thread from its first request on.
  package final class CurlEngine: HTTPEngine {
    private let libraries: [String]
    private let loop = Mutex<CurlLoop?>(nil)

    private static let standardLibraries = ["libcurl.so.4", "libcurl-gnutls.so.4"]

    /// True if libcurl is installed.
    package static var isInstalled: Bool { standardLibraries.contains { ccurl_load($0) } }

    /// - Parameter libraries: The file names of libcurl to try, in order.
    package init(libraries: [String] = standardLibraries) {
      self.libraries = libraries
    }

    deinit { loop.withLock { $0?.stop() } }

    package func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse {
      if Task.isCancelled { throw .cancelled }
      let loop = try startedLoop()
      let id = loop.newID()
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          loop.start(
            CurlJob(
              id: id, request: request, departure: .current, resume: { loop.resume(id) },
              continuation: continuation))
          // The handler may have run before the loop had the job.
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
          .unreachable, "libcurl is not installed", remedy: "run \"apt-get install libcurl4\"")
      }
      return loop
    }
  }

  struct CurlJob: Sendable {
    let id: UInt64
    let request: WireRequest
    /// Notes when the request leaves, which is after libcurl is loaded and connected.
    let departure: Departure?
    /// Continues the transfer once there is room in the response's stream.
    let resume: @Sendable () -> Void
    let continuation: CheckedContinuation<Result<HTTPResponse, SourceError>, Never>
  }

  /// The thread that runs all transfers of an engine.
  ///
  /// Only that thread uses libcurl; other threads put commands into the inbox and wake it.
  final class CurlLoop: Sendable {
    private struct Inbox {
      var jobs: [CurlJob] = []
      var cancelled: [UInt64] = []
      var resumed: [UInt64] = []
      var isStopped = false
    }

    /// The most idle connections, and the most to one host; further requests wait in libcurl.
    private static let connections = (idle: 32, perHost: 32)

    private let inbox = Mutex(Inbox())
    private let lastID = Atomic<UInt64>(0)

    // A pointer is not Sendable, but only curl_multi_wakeup is called on other threads, which libcurl
    // allows; the inbox's lock prevents a call after the handle was freed.
    private nonisolated(unsafe) let multi: UnsafeMutableRawPointer

    /// Starts the thread; `nil` if memory ran out.
    init?() {
      guard let multi = ccurl_multi_new() else { return nil }
      self.multi = multi
      _ = ccurl_multi_set_long(
        multi, Int32(CCURL_MULTI_MAXCONNECTS.rawValue), Self.connections.idle)
      _ = ccurl_multi_set_long(
        multi, Int32(CCURL_MULTI_MAX_HOST_CONNECTIONS.rawValue), Self.connections.perHost)
      SystemThread.start { self.run() }  // retains the loop until `stop`
    }

    func newID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

    /// Starts a job, whose continuation is resumed exactly once.
    func start(_ job: CurlJob) { post { $0.jobs.append(job) } }

    /// Cancels a job; does nothing if it is unknown or has ended.
    func cancel(_ id: UInt64) { post { $0.cancelled.append(id) } }

    /// Continues a job that is paused; does nothing if it has ended.
    func resume(_ id: UInt64) { post { $0.resumed.append(id) } }

    /// Ends the thread; no job may be in flight.
    func stop() { post { $0.isStopped = true } }

    private func post(_ change: (inout Inbox) -> Void) {
      inbox.withLock { inbox in
        guard !inbox.isStopped else { return }
        change(&inbox)
        _ = ccurl_multi_wakeup(multi)
      }
    }

    private func run() {
      // Other threads handle signals; TLS libraries above all cause SIGPIPE.
      var signals = sigset_t()
      sigfillset(&signals)
      pthread_sigmask(SIG_BLOCK, &signals, nil)

      var transfers: [UInt64: CurlTransfer] = [:]
      let connections = KeptConnections()
      while true {
        let commands = inbox.withLock { inbox in
          defer { (inbox.jobs, inbox.cancelled, inbox.resumed) = ([], [], []) }
          return inbox
        }
        ccurl_enter()
        for job in commands.jobs { transfers[job.id] = begin(job, over: connections) }
        for id in commands.cancelled { end(&transfers, id, with: .failure(.cancelled)) }
        for id in commands.resumed { transfers[id]?.resume() }
        if commands.isStopped { break }
        let error = ccurl_multi_perform(multi)
        collect(&transfers, error, connections)
        let maxWait = expire(&transfers)
        ccurl_leave()
        _ = ccurl_multi_poll(multi, maxWait)
      }
      inbox.withLock { _ in ccurl_multi_free(multi) }
      ccurl_leave()
    }

    private func begin(_ job: CurlJob, over connections: KeptConnections) -> CurlTransfer? {
      guard let transfer = CurlTransfer(job, over: connections),
        ccurl_multi_add(multi, transfer.easy) == 0
      else {
        job.continuation.resume(
          returning: .failure(SourceError(.unreachable, "libcurl could not start a transfer")))
        return nil
      }
      return transfer
    }

    private func end(
      _ transfers: inout [UInt64: CurlTransfer], _ id: UInt64,
      with result: Result<HTTPResponse, SourceError>
    ) {
      guard let transfer = transfers.removeValue(forKey: id) else { return }
      _ = ccurl_multi_remove(multi, transfer.easy)
      transfer.job.continuation.resume(returning: result)
    }

    /// Completes the transfers that ended; all of them if libcurl itself failed.
    private func collect(
      _ transfers: inout [UInt64: CurlTransfer], _ failure: Int32, _ connections: KeptConnections
    ) {
      var code: Int32 = 0
      while let easy = ccurl_multi_next_done(multi, &code) {
        // Not retained: `transfers` owns it until `end`.
        guard let context = ccurl_easy_private(easy) else { continue }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        if transfer.needsAnotherConnection {
          _ = ccurl_multi_remove(multi, easy)
          transfers[transfer.job.id] = begin(transfer.job, over: connections)
          continue
        }
        connections.note(easy)
        end(&transfers, transfer.job.id, with: transfer.result(code))
      }
      guard failure != 0 else { return }
      for id in Array(transfers.keys) {
        let error = SourceError(.connectionLost, "libcurl failed (\(failure))")
        end(&transfers, id, with: .failure(error))
      }
    }

    /// Ends the transfers that reached their idle limit; returns the milliseconds until the next one may.
    private func expire(_ transfers: inout [UInt64: CurlTransfer]) -> Int32 {
      var maxWait: Duration = .seconds(3600)
      let now = ContinuousClock.now
      for (id, transfer) in transfers {
        let left = transfer.remainingIdleTime(at: now)
        if left <= .zero {
          let request = transfer.job.request
          let error = SourceError.silent(request.address.authority, for: request.limits.idle)
          end(&transfers, id, with: .failure(error))
        } else {
          maxWait = min(maxWait, left)
        }
      }
      return maxWait.milliseconds
    }
  }
#endif
