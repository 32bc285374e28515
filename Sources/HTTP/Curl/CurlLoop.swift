import AggregatorCore

#if os(Linux)
  import CAggregatorCurl
  import Foundation
  import Synchronization

  /// The thread that runs all transfers of an engine.
  ///
  /// Everything that belongs to libcurl lives on that thread; other threads leave their wishes in the
  /// inbox and wake it.
  final class CurlLoop: Sendable {
    private struct Inbox {
      var jobs: [CurlJob] = []
      var cancelled: [UInt64] = []
      var isStopped = false
    }

    /// Idle connections that are kept, and the most to one host; requests beyond wait in libcurl.
    private static let connections = (kept: 32, perHost: 32)

    private let inbox = Mutex(Inbox())
    private let lastID = Atomic<UInt64>(0)

    // A pointer is not Sendable, but of all functions only curl_multi_wakeup is called off the thread,
    // which libcurl allows; the inbox's lock keeps it from happening after the handle was freed.
    private nonisolated(unsafe) let multi: UnsafeMutableRawPointer

    /// Starts the thread; `nil` if memory ran out.
    init?() {
      guard let multi = ccurl_multi_new() else { return nil }
      self.multi = multi
      _ = ccurl_multi_set_long(
        multi, Int32(CCURL_MULTI_MAXCONNECTS.rawValue), Self.connections.kept)
      _ = ccurl_multi_set_long(
        multi, Int32(CCURL_MULTI_MAX_HOST_CONNECTIONS.rawValue), Self.connections.perHost)
      let thread = Thread { self.run() }  // keeps the loop alive until `stop`
      thread.name = "http"
      thread.start()
    }

    func newID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

    /// Begins a job, which is answered exactly once.
    func start(_ job: CurlJob) { post { $0.jobs.append(job) } }

    /// Ends a job with `cancelled`; does nothing if it is unknown or has ended.
    func cancel(_ id: UInt64) { post { $0.cancelled.append(id) } }

    /// Ends the thread.
    ///
    /// No job may be under way.
    func stop() { post { $0.isStopped = true } }

    private func post(_ change: (inout Inbox) -> Void) {
      inbox.withLock { inbox in
        guard !inbox.isStopped else { return }
        change(&inbox)
        _ = ccurl_multi_wakeup(multi)
      }
    }

    private func run() {
      // Signals are for threads that expect them; above all, TLS libraries provoke SIGPIPE.
      var signals = sigset_t()
      sigfillset(&signals)
      pthread_sigmask(SIG_BLOCK, &signals, nil)

      var transfers: [UInt64: CurlTransfer] = [:]
      while true {
        let mail = inbox.withLock { inbox in
          defer { inbox.jobs = []; inbox.cancelled = [] }
          return inbox
        }
        ccurl_enter()
        for job in mail.jobs { transfers[job.id] = begin(job) }
        for id in mail.cancelled { end(&transfers, id, with: .failure(.cancelled)) }
        if mail.isStopped { break }
        let problem = ccurl_multi_perform(multi)
        collect(&transfers, problem)
        let maxWait = expire(&transfers)
        ccurl_leave()
        _ = ccurl_multi_poll(multi, maxWait)
      }
      inbox.withLock { _ in ccurl_multi_free(multi) }
      ccurl_leave()
    }

    private func begin(_ job: CurlJob) -> CurlTransfer? {
      guard let transfer = CurlTransfer(job), ccurl_multi_add(multi, transfer.easy) == 0 else {
        job.continuation.resume(
          returning: .failure(SourceError(.unreachable, "libcurl cannot begin a transfer")))
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

    /// Answers the transfers that ended; all of them if libcurl itself is in trouble.
    private func collect(_ transfers: inout [UInt64: CurlTransfer], _ problem: Int32) {
      var code: Int32 = 0
      while let easy = ccurl_multi_next_done(multi, &code) {
        // Borrowed: `transfers` owns it until `end`.
        guard let context = ccurl_easy_private(easy) else { continue }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        end(&transfers, transfer.job.id, with: transfer.result(code))
      }
      guard problem != 0 else { return }
      for id in Array(transfers.keys) {
        let error = SourceError(.connectionLost, "libcurl failed (\(problem))")
        end(&transfers, id, with: .failure(error))
      }
    }

    /// Ends the transfers whose line was silent for too long.
    ///
    /// - Returns: Milliseconds until the next one could be.
    private func expire(_ transfers: inout [UInt64: CurlTransfer]) -> Int32 {
      var maxWait: Duration = .seconds(3600)
      let now = ContinuousClock.now
      for (id, transfer) in transfers {
        let left = transfer.maxWait(at: now)
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
