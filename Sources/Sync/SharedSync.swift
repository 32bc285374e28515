import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import Synchronization

/// One worker's part in a full pass that several workers share, on one machine or on many.
///
/// Each leases pages that can be requested in any order, fetches them, and saves them in one transaction with
/// the news that they are done; in the same one it leases the next.
struct SharedSync<Item: SourceRecord>: Sendable {
  /// The reason a worker stops.
  enum End: Sendable {
    case complete
    /// Another worker has completed the pass.
    case completedByOther
    /// The worker has fetched as many pages as it may.
    case bounded
    case failed(SourceError)
    /// The service's pages are not where they were expected.
    case unpredictable
  }

  typealias FetchedLease = (lease: SharedPass.Lease, page: Page<EncodedRecord<Item>>)

  /// A transaction: pages to save, leases to take and to renew.
  struct Step: Sendable {
    var pages: [FetchedLease] = []
    var count = 0
    var held: [SharedPass.Lease] = []
    var releases = false
    /// The pass that the worker takes part in; `nil` before it has joined one.
    var pass: String?
  }

  /// The result of a transaction.
  struct Outcome: Sendable {
    /// The pass after it; `nil` if the one that the worker had joined is over.
    var pass: SharedPass?
    var taken: [SharedPass.Lease] = []
    /// The pages whose lease had expired, so that nothing was saved.
    var lost: Set<Int64> = []
    var otherWorkers: Set<String> = []
    var changes = StoreChanges()
  }

  enum Event: Sendable {
    case fetched(SharedPass.Lease, Result<Page<EncodedRecord<Item>>, SourceError>)
    case saved(Step, Result<Outcome, SourceError>)
    case pollIsDue
    case renewalIsDue
  }

  /// A lease that is not renewed for this long is given to another worker.
  static var leaseTime: Duration { .seconds(60) }

  /// The pause after which a worker looks again whether there is something for it to do.
  private static var pollInterval: Duration { .milliseconds(500) }

  let sync: Sync<Item>
  let source: EncodingSource<Item>
  /// The last position, and the number of records, when this worker began.
  let lastPosition: Int64
  let known: Int
  /// True if no pass over all records had come to its end.
  let isFirst: Bool

  /// Takes part until the pass is complete, or this worker has fetched `bound` pages.
  func run(
    upTo bound: Int?, _ jobs: Int, _ result: inout SyncResult, _ progress: (SyncResult) -> Void
  ) async -> End {
    var work = SharedWork<Item>(jobs: jobs, bound: bound, known: known)
    let end = await withTaskGroup(of: Event.self) { group in
      defer { group.cancelAll() }
      group.addTask { await pause(Self.leaseTime / 3, then: .renewalIsDue) }
      while true {
        while let lease = work.nextToFetch() {
          group.addTask { [size = work.size ?? sync.size] in await fetch(lease, size) }
        }
        if let step = work.nextStep() {
          group.addTask {
            await .saved(step, Result { () async throws(SourceError) in try await perform(step) })
          }
        } else if work.isIdle {
          if let end = work.end { return end }
          if work.startsWaiting() {
            group.addTask { await pause(Self.pollInterval, then: .pollIsDue) }
          }
        }
        guard !Task.isCancelled, let event = await group.next() else { return .failed(.cancelled) }
        if case .renewalIsDue = event {
          group.addTask { await pause(Self.leaseTime / 3, then: .renewalIsDue) }
        }
        if work.take(event, &result, isPredicted: isPredicted) { progress(result) }
      }
    }
    // Also if the task is cancelled: otherwise the others wait until the leases expire.
    if !work.held.isEmpty {
      let step = Step(held: work.held, releases: true, pass: work.pass)
      await Task { _ = try? await perform(step) }.value
    }
    return end
  }

  private func pause(_ time: Duration, then event: Event) async -> Event {
    try? await sync.clock.sleep(for: time)
    return event
  }

  // MARK: - Pages

  /// The request of a page, or of what follows some of its rows; `nil` if its cursor cannot be computed.
  private func request(_ page: Int, _ size: Int, skipping rows: Int = 0) -> PageRequest? {
    let first = PageRequest(limit: size)
    guard page * size + rows > 0 else { return first }
    let cursor = sync.base.cursor(skipping: page * size + rows, from: first)
    return cursor.map { PageRequest(after: $0, limit: size) }
  }

  /// True if the page after this one is where it was expected.
  private func isPredicted(_ page: Page<EncodedRecord<Item>>, at index: Int, size: Int) -> Bool {
    page.next == nil || page.next == request(index + 1, size)?.cursor
  }

  private func fetch(_ lease: SharedPass.Lease, _ size: Int) async -> Event {
    await .fetched(
      lease,
      Result { () async throws(SourceError) in
        var page = try await first(lease.place, size)
        // A service may send fewer rows than requested, and often does at the end of its list.
        while let next = page.next, 1..<size ~= page.rowCount,
          next == request(lease.place, size, skipping: page.rowCount)?.cursor
        {
          let rest = PageRequest(after: next, limit: size - page.rowCount)
          let more = try await source.page(rest)
          page.append(more)
          if more.rowCount == 0 { break }
        }
        return page
      })
  }

  private func first(
    _ index: Int, _ size: Int
  ) async throws(SourceError) -> Page<EncodedRecord<Item>> {
    guard let request = request(index, size) else { throw .cancelled }
    let page = try await source.page(request)
    // An empty page ends the list, although more records are known: it may be a fault of the moment.
    guard page.rowCount == 0, page.next == nil, try await sync.isKnown(moreThan: index * size)
    else { return page }
    return try await source.page(request)
  }

  // MARK: - Transactions

  private func perform(_ step: Step) async throws(SourceError) -> Outcome {
    let outcome = Mutex(Outcome())
    let id = String(UInt64.random(in: .min ... .max), radix: 36)
    var batch = sync.recordStore.batch(step.pages.flatMap(\.page.records))
    var count = 0
    batch.readPages = step.pages.compactMap {
      source.comparing?.checkpoint(of: $0.page, after: &count)
    }
    batch.decision = CheckpointDecision(name: sync.checkpointName) { text, time in
      let (update, found) = decide(step, text, at: time ?? sync.now(), newID: id)
      outcome.withLock { $0 = found }
      return update
    }
    let changes = try await sync.recordStore.save(batch, at: sync.now())
    guard !changes.missesUnchanged else {
      throw SourceError(.busy, "records were cleared meanwhile", remedy: "sync again")
    }
    return outcome.withLock { outcome in
      outcome.changes = changes
      return outcome
    }
  }

  private func decide(
    _ step: Step, _ text: String?, at now: Date, newID id: String
  ) -> (update: (CheckpointUpdate, Bool)?, Outcome) {
    let stored = text.flatMap { SharedPass($0, at: now) }
    var outcome = Outcome()
    guard step.pass == nil || step.pass == stored?.id else { return (nil, outcome) }
    var pass = stored ?? SharedPass(id: id, size: sync.size, after: lastPosition, at: now)
    outcome.pass = pass
    outcome.lost = Set(
      step.pages.map(\.lease).filter { !pass.leases.isValid($0, at: now) }.map(\.fence))
    guard outcome.lost.isEmpty else { return (nil, outcome) }
    for (lease, page) in step.pages {
      pass.finish(lease, page, depth: sync.depth, at: now, tracking: sync.changes?.tracking)
    }
    if step.releases {
      pass.release(step.held)
    } else {
      pass.renew(step.held, at: now, for: Self.leaseTime)
    }
    outcome.taken = pass.lease(
      step.count, to: sync.worker, at: now, for: Self.leaseTime, depth: sync.depth)
    outcome.pass = pass
    outcome.otherWorkers = Set(pass.leases.workers(at: now).keys).subtracting([sync.worker])
    var update = CheckpointUpdate(sync.checkpointName, from: text, to: pass.text)
    let isTrusted = pass.isComplete && pass.progress.isCertain && !pass.progress.isCut
    if !step.pages.isEmpty || stored == nil {
      update.reconciliation = Reconciliation(
        begins: stored == nil,
        completion: pass.isComplete ? pass.progress.completion(isTrusted: isTrusted) : nil)
      if isFirst { update.reconciliation?.movesUpTo = pass.progress.start }
    }
    if pass.isComplete {
      update.to = nil
      update.replacesPages = true
    }
    return ((update, pass.isComplete), outcome)
  }
}

/// The pages that one worker has leased, fetched and saved so far.
private struct SharedWork<Item: SourceRecord> {
  private let jobs: Int
  private let known: Int
  /// The number of pages that may still be leased; `nil` for any.
  private var left: Int?

  private var queue: [SharedPass.Lease] = []
  private var fetching = 0
  private var fetched: [SharedSync<Item>.FetchedLease] = []
  private(set) var held: [SharedPass.Lease] = []

  private(set) var pass: String?
  private(set) var size: Int?
  private var isSaving = false
  private var isWaiting = false
  private var needsRenewal = false
  private var isComplete = false
  private var isCompletedByOther = false
  private var isUnpredictable = false
  private var failure: SourceError?

  /// The first records of the pages so far: a service that repeats one page for ever must not be read for ever.
  private var firstIDs: Set<RecordKey> = []
  private var repetitions = 0
  private static var maxRepetitions: Int { 3 }

  /// A transaction with this many records takes no further page.
  private static var maxRecords: Int { 1000 }

  init(jobs: Int, bound: Int?, known: Int) {
    self.jobs = jobs
    self.known = known
    left = bound
  }

  private var isStopping: Bool { failure != nil || isComplete || isUnpredictable }

  var isIdle: Bool { fetching == 0 && !isSaving && (fetched.isEmpty || isStopping) }

  /// The reason there is nothing more to do; `nil` if there may be something later.
  var end: SharedSync<Item>.End? {
    if isUnpredictable { return .unpredictable }
    if let failure { return .failed(failure) }
    if isComplete { return isCompletedByOther ? .completedByOther : .complete }
    return left.map { $0 <= 0 } ?? false && held.isEmpty ? .bounded : nil
  }

  /// True if the pause before the next look begins now.
  mutating func startsWaiting() -> Bool {
    defer { isWaiting = true }
    return !isWaiting
  }

  mutating func nextToFetch() -> SharedPass.Lease? {
    guard !isStopping, fetching < jobs, !queue.isEmpty else { return nil }
    fetching += 1
    return queue.removeFirst()
  }

  mutating func nextStep() -> SharedSync<Item>.Step? {
    guard !isSaving, !isComplete, !isUnpredictable else { return nil }
    var step = SharedSync<Item>.Step(held: held, pass: pass)
    if failure == nil {
      // One page ahead of each job, so that none waits for a transaction.
      step.count = max(0, min(2 * jobs - queue.count - fetching, left ?? .max))
    }
    var count = 0
    while let next = fetched.first, count == 0 || count < Self.maxRecords {
      count += max(1, next.page.records.count)
      step.pages.append(fetched.removeFirst())
    }
    let isHungry = step.count > 0 && queue.isEmpty && fetching < jobs && !isWaiting
    guard !step.pages.isEmpty || isHungry || needsRenewal else { return nil }
    needsRenewal = false
    isSaving = true
    return step
  }

  /// Takes note of an event; returns true if something was saved.
  mutating func take(
    _ event: SharedSync<Item>.Event, _ result: inout SyncResult,
    isPredicted: (Page<EncodedRecord<Item>>, Int, Int) -> Bool
  ) -> Bool {
    switch event {
    case .pollIsDue: isWaiting = false
    case .renewalIsDue: needsRenewal = !held.isEmpty
    case .fetched(let lease, .success(let page)):
      fetching -= 1
      take(page, lease, isPredicted: isPredicted)
    case .fetched(_, .failure(.invalidCursor)):
      fetching -= 1
      isUnpredictable = true
    case .fetched(_, .failure(let error)):
      fetching -= 1
      failure = failure ?? error
    case .saved(let step, let outcome):
      isSaving = false
      switch outcome {
      case .success(let outcome): return take(outcome, of: step, &result)
      case .failure(let error): failure = failure ?? error
      }
    }
    return false
  }

  private mutating func take(
    _ page: Page<EncodedRecord<Item>>, _ lease: SharedPass.Lease,
    isPredicted: (Page<EncodedRecord<Item>>, Int, Int) -> Bool
  ) {
    guard let size, isPredicted(page, lease.place, size) else {
      isUnpredictable = true
      return
    }
    // Going on would lose these records for good.
    guard !page.isUnreadable else {
      failure = failure ?? .unreadable(page.unreadable)
      return
    }
    if let first = page.records.first?.key {
      repetitions = firstIDs.insert(first).inserted ? 0 : repetitions + 1
      if repetitions >= Self.maxRepetitions {
        failure = failure ?? .noProgress(.nothingNew(pages: repetitions))
        return
      }
    }
    fetched.append((lease, page))
  }

  private mutating func take(
    _ outcome: SharedSync<Item>.Outcome, of step: SharedSync<Item>.Step, _ result: inout SyncResult
  ) -> Bool {
    guard let state = outcome.pass else {
      // Another worker has completed the pass.
      (isComplete, isCompletedByOther) = (true, true)
      (held, queue, fetched) = ([], [], [])
      return true
    }
    if pass == nil, result.pages == 0 { result.earlierPages = state.pages }
    (pass, size) = (state.id, state.size)
    if !outcome.lost.isEmpty {
      held.removeAll { outcome.lost.contains($0.fence) }
      fetched = step.pages.filter { !outcome.lost.contains($0.lease.fence) } + fetched
      return false
    }
    result.otherWorkers.formUnion(outcome.otherWorkers)
    let done = Set(step.pages.map(\.lease.fence))
    held.removeAll { done.contains($0.fence) }
    held += outcome.taken
    queue += outcome.taken
    left = left.map { $0 - outcome.taken.count }
    result.add(step.pages.map(\.page), outcome.changes, of: state, known: known)
    isComplete = state.isComplete
    return !step.pages.isEmpty
  }
}

extension Page {
  /// The number of rows that the service sent, readable or not.
  fileprivate var rowCount: Int { records.count + unreadable.count }

  /// Adds the page that follows.
  fileprivate mutating func append(_ page: Page) {
    records += page.records
    unreadable = unreadable + page.unreadable
    next = page.next
    total = page.total ?? total
    warnings += page.warnings
    changeMarks += page.changeMarks
    schema = schema.merged(with: page.schema)
    // It was read from more than one response.
    (digest, unchangedCount) = (nil, nil)
  }
}
