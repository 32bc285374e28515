package import AggregatorKit
import AggregatorServer
import Synchronization

/// The syncs that servers run: one of a source at a time, whoever asks for it, and whether or not anyone watches it.
///
/// They are kept in the store, with the last one of each source, so that servers which share a store show the same
/// ones and can stop those of the others.
package final class SyncJobs: Sendable {
  /// The time between two writes of a running job, and between two looks at one that another server runs.
  static let interval = Duration.seconds(1)
  /// The time without a write after which a job counts as interrupted.
  static let lease = Duration.seconds(20)
  /// The time between two looks at a job of this server.
  private static let localInterval = Duration.milliseconds(100)

  private let jobs: SharedValue<[String: SyncJob]>
  private let clock: any Clock<Duration>
  private let sinceStart: @Sendable () -> Duration
  private let worker: String
  private let running = Mutex<[String: RunningJob]>([:])
  /// The sources of this server that are being changed, or were removed.
  private let refused = Mutex<Set<String>>([])

  package init(in environment: PluginEnvironment) {
    let state =
      environment.store.map { SharedState(of: "serve", in: $0, now: environment.now) }
      ?? SharedState(on: environment.clock)
    jobs = state.shared("syncs", [:])
    clock = environment.clock
    sinceStart = state.now
    worker = SyncWorker.name
  }

  /// A sync of this server.
  private struct RunningJob {
    var job: SyncJob
    var task: Task<Void, Never>?

    /// The job as it is now: a sync of this server is alive, however long ago it was saved.
    func job(at time: Duration) -> SyncJob {
      var job = self.job
      job.updatedAt = Timestamp(time)
      return job
    }
  }

  /// The running jobs and the last ones, by source, with the time.
  func all() async -> (jobs: [String: SyncJob], time: Duration) {
    let time = Mutex(sinceStart())
    let before = running.withLock(\.self)
    var known = await jobs.update { jobs, stored in
      if let stored { time.withLock { $0 = stored } }
      return jobs
    }
    // The last written progress is up to an interval old.
    let now = time.withLock(\.self)
    running.withLock { running in
      // The end of one may be saved after this was read, and before this looks.
      for (source, local) in before
      where known[source]?.id == local.job.id && known[source]?.state == .running {
        known[source] = local.job(at: now)
      }
      // Unless another one has taken its place.
      for (source, local) in running where known[source]?.id ?? local.job.id == local.job.id {
        known[source] = local.job(at: now)
      }
    }
    return (known, now)
  }

  /// Starts a sync of a source, up to `pages` or all, unless one is running, or the source is removed or changed.
  package func start(_ source: any ServedSource, pages: Int?) async {
    let (id, name, worker, now) = (
      String(UInt64.random(in: .min ... .max), radix: 36), source.name, worker, sinceStart
    )
    let job = await jobs.update { [self] jobs, time -> SyncJob? in
      guard !refused.withLock({ $0.contains(name) }) else { return nil }
      let time = time ?? now()
      let other = jobs[source]
      if let other, other.state(at: time) == .running { return other }
      var job = SyncJob(
        id: id, worker: worker, startedAt: Timestamp(time), updatedAt: Timestamp(time))
      job.scope = source.scope
      job.expected = other?.lastTotal
      job.earlier = other?.asEarlier
      jobs[name] = job
      return job
    }
    guard let job, job.id == id else { return }
    running.withLock { running in
      running[name]?.task?.cancel()
      running[name] = RunningJob(job: job)
      running[name]?.task = Task { await run(id, of: source, pages: pages) }
    }
  }

  /// Starts no more syncs of a source, which is removed or changed; false while one is running, or another call has
  /// refused them.
  func refuse(_ source: any ServedSource) async -> Bool {
    let name = source.name
    return await jobs.update { [self] jobs, time in
      // A sync of this server that has ended may not be saved yet.
      let local = running.withLock { $0[name]?.job.state }
      let state = local ?? jobs[source]?.state(at: time ?? sinceStart())
      return refused.withLock { refused in
        state != .running && refused.insert(name).inserted
      }
    }
  }

  /// Starts syncs of a source again.
  func allow(_ name: String) { refused.withLock { _ = $0.remove(name) } }

  /// Ends the sync that this server runs of a source which is gone, or whose name another one has; syncs of one that is
  /// gone are refused.
  ///
  /// Its job stays: it is not one of the other source, and servers that have not noticed yet may run it.
  func end(_ name: String, replacedBy other: (any ServedSource)? = nil) {
    if other == nil { refused.withLock { _ = $0.insert(name) } }
    let local = running.withLock { $0[name] }
    guard let local, other.map(local.job.isOf) != true else { return }
    local.task?.cancel()
  }

  /// Stops the sync of a source, wherever it runs; false if none is running.
  func cancel(_ source: any ServedSource) async -> Bool {
    let name = source.name
    let isRunning = await jobs.update { [sinceStart] jobs, time in
      guard let job = jobs[source], job.state(at: time ?? sinceStart()) == .running else {
        return false
      }
      jobs[name]?.isCancelled = true
      return true
    }
    running.withLock { $0[name]?.task }?.cancel()
    return isRunning
  }

  /// The job of a source as events until it ends; none if there never was one.
  ///
  /// To stop following it does not stop it.
  func events(of source: any ServedSource) -> AsyncStream<ServerSentEvent> {
    let (events, continuation) = AsyncStream<ServerSentEvent>.makeStream()
    let task = Task {
      var last: SyncJob?
      while !Task.isCancelled {
        let now = sinceStart()
        let local = running.withLock { running in
          running[source.name].flatMap { $0.job.isOf(source) ? $0.job(at: now) : nil }
        }
        let (others, time) = local == nil ? await all() : ([:], now)
        guard let job = local ?? others[source] else { break }
        if job.result != last?.result || job.state(at: time) != .running {
          continuation.yield(job.event(at: time))
        }
        last = job
        guard job.state(at: time) == .running else { break }
        try? await clock.sleep(for: local == nil ? Self.interval : Self.localInterval)
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return events
  }

  /// Syncs a source, or joins the sync of it that runs, and returns the counts at its end, as
  /// ``SyncResult/json(of:)`` writes them.
  ///
  /// Cancelling the task stops a sync that it has started.
  package func follow(
    _ source: any ServedSource, pages: Int?,
    progress: (_ records: Int, _ total: Int?) -> Void
  ) async throws(Problem) -> JSON {
    let (jobs, time) = await all()
    let isOthers = jobs[source]?.state(at: time) == .running
    await start(source, pages: pages)
    var last = ServerSentEvent("error", data: "")
    var answer: JSON = [:]
    for await event in events(of: source) {
      last = event
      answer = JSONText(Data(event.data.utf8)).map { JSON($0) } ?? [:]
      if case .integer(let records)? = answer["records"] {
        var total: Int?
        if case .integer(let count)? = answer["total"] { total = count }
        progress(records, total)
      }
    }
    guard !Task.isCancelled else {
      // In a task that is not cancelled itself.
      if !isOthers { _ = await Task { await cancel(source) }.value }
      throw Problem(503, "cancelled", "the sync was stopped")
    }
    guard last.name == "done" else {
      throw Problem(
        502, answer["code"]?.string ?? "failed", answer["message"]?.string ?? "the sync ended",
        hint: "what was downloaded stays; call sync again to go on")
    }
    return answer
  }

  /// Stops all syncs of this server, which ends, and waits until that is saved.
  package func stop() async {
    let tasks = running.withLock { running in
      for name in running.keys { running[name]?.job.state = .interrupted }
      return running.values.compactMap(\.task)
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  // MARK: - Running

  private func run(_ id: String, of source: any ServedSource, pages: Int?) async {
    let name = source.name
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [self] in
        while (try? await clock.sleep(for: Self.interval)) != nil {
          if await save(id, of: name) { change(id, of: name) { $0?.task?.cancel() } }
        }
      }
      let observer = Observer { [self] event in
        guard case .waiting(let time, let reason) = event else { return }
        change(id, of: name) {
          $0?.job.pause = .init(reason: reason, end: Timestamp(sinceStart() + time))
        }
      }
      do {
        let result = try await Observer.$current.withValue(observer) {
          try await source.sync(pages: pages) { [self] result in
            change(id, of: name) { running in
              running?.job.result = result.json(of: name)
              // Other programs sync the source, too.
              if let expected = result.expected { running?.job.expected = expected }
            }
          }
        }
        change(id, of: name) { [self] running in
          running?.job.result = result.json(of: name)
          running?.job.end(result.failure, at: sinceStart())
        }
      } catch {
        change(id, of: name) { $0?.job.end(error, at: sinceStart()) }
      }
      group.cancelAll()
    }
    _ = await save(id, of: name)
    change(id, of: name) { $0 = nil }
  }

  /// Changes a sync of this server, unless the next one of its source has taken its place: once the end of one is saved,
  /// another can begin.
  private func change(_ id: String, of name: String, _ body: (inout RunningJob?) -> Void) {
    running.withLock { running in
      if running[name]?.job.id == id { body(&running[name]) }
    }
  }

  /// Saves the state of a job of this server; true if it is to be stopped.
  private func save(_ id: String, of name: String) async -> Bool {
    guard let job = running.withLock({ $0[name]?.job }), job.id == id else { return false }
    return await jobs.update { [sinceStart] jobs, time in
      // Another server took it for interrupted.
      guard let known = jobs[name], known.id == job.id else { return true }
      jobs[name] = job
      jobs[name]?.isCancelled = known.isCancelled
      jobs[name]?.updatedAt = Timestamp(time ?? sinceStart())
      return known.isCancelled
    }
  }
}

extension SyncJob {
  fileprivate mutating func end(_ error: (any Error)?, at time: Duration) {
    guard state == .running else { return }
    guard let error else {
      state = .done
      return
    }
    let problem = Problem(error)
    state = problem.code == SourceError.Code.cancelled.description ? .cancelled : .failed
    let wait = (error as? SourceError)?.retryAfter
    failure = Failure(
      code: problem.code, message: problem.message, hint: wait == nil ? problem.hint : nil,
      retryAt: wait.map { Timestamp(time + $0) })
  }
}
