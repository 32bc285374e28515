public import AggregatorCore
public import AggregatorFoundation
package import AggregatorStore
import AggregatorText

/// Downloads the records of a service into the store, and resumes from the last checkpoint.
public struct Sync<Item: SourceRecord>: Sendable {
  var base: any DataSource<Item>
  let recordStore: RecordStore<Item>
  /// The number of records per request.
  let size: Int
  let mode: SyncMode
  /// The most rows that the service lists; `nil` for no limit.
  let depth: Int?
  let clock: any Clock<Duration>
  let now: @Sendable () -> Date
  let observer: Observer

  /// See ``Policy/readsFirstPageAgain``.
  package var readsFirstPageAgain = false

  /// Lists of changed records; `nil` if every sync has to read everything.
  package var changes: ChangeSource<Item>?

  /// The partitions of the list, to which the cursors of the source lead; `nil` if it is one list.
  package var partitions: (any PartitionList)?

  /// The program that sends the records; `nil` if they are pages of a list.
  package var feed: (any RecordFeed<Item>)?

  /// The partition that is read; `nil` for a list without any, and for all of them.
  var partition: SyncedPartition?

  /// True to read everything, even if the service lists changes or sends a page again as it was; only that finds
  /// removed records.
  public var readsEverything = false

  /// A digest of all that decides what is read from a response, besides the request and the response; `nil` to read every page.
  ///
  /// A page whose digest has not changed is not read again.
  package var readingDigest: UInt64?

  /// The number of pages that even a single job reads ahead: 0 where a page is a request.
  package var minPagesAhead = 0

  /// The name under which other machines see this one in a store that they share.
  let worker: String

  /// The wait if the service is rate-limited and does not say for how long.
  private static var firstWait: Duration { .seconds(60) }
  /// The longest wait that is not demanded: each refusal without a page after the one before doubles the wait.
  private static var maxWait: Duration { .seconds(15 * 60) }
  /// A sync ends at so many refusals without a page between them, if it has waited for so long.
  private static var mostRefusals: Int { 8 }
  private static var longestWaits: Duration { .seconds(3600) }

  package init(
    base: any DataSource<Item>, recordStore: RecordStore<Item>, size: Int, mode: SyncMode,
    depth: Int? = nil, clock: any Clock<Duration>, now: @escaping @Sendable () -> Date,
    observer: Observer, worker: String = SyncWorker.name
  ) {
    self.base = base
    self.recordStore = recordStore
    self.size = size
    self.mode = mode
    self.depth = depth
    self.clock = clock
    self.now = now
    self.observer = observer
    self.worker = worker
  }

  var checkpointName: String {
    switch mode {
    case .full(let collection): name("sync \(collection)")
    case .endless(let collection): UpstreamLoader<Item>.checkpoint(of: collection)
    }
  }

  /// The name of a checkpoint: that of the partition, or of the whole list.
  func name(_ name: String) -> String { partition.map { "\(name) \($0.key)" } ?? name }

  /// Fetches page after page, from where the last run stopped.
  ///
  /// Records are stored in one transaction with the checkpoint after them. However the run ends, even by
  /// `kill -9`, no stored page is fetched again, except the last one after a second or more, unless its cursor is answered only
  /// once: if it has other records by then, the sync goes on, but is not complete.
  ///
  /// Up to `pages`, `nil` for all, are fetched, up to `jobs` at once where later cursors can be computed,
  /// and stored in order; both are 1 or more. At a rate limit, local or upstream, it `waits` or ends with
  /// `rateLimited`; it also ends if the service goes on refusing for hours. `progress` is called after each transaction,
  /// and before the first one if earlier runs have read pages.
  ///
  /// In a store that machines share, all that sync the source at the same time divide its pages among them, each
  /// with its own `jobs` and bound. A list of partitions is divided by them. If later cursors cannot be computed, one of them fetches, and the others wait
  /// for it if they `wait`, or end with `busy`.
  public func run(
    upTo pages: Int? = nil, jobs: Int = 1, waits: Bool = false,
    progress: @escaping @Sendable (SyncResult) -> Void = { _ in }
  ) async -> SyncResult {
    await Observer.$current.withValue(observer) {
      await ReadPreference.$current.withValue(.primary) {
        let result = await runObserved(upTo: pages, jobs: jobs, waits: waits, progress)
        await noteFailure(of: result)
        return result
      }
    }
  }

  /// Leaves the failure of a sync, or removes that of the one before; a store that fails cannot have it.
  private func noteFailure(of result: SyncResult) async {
    // Others say nothing of the service.
    let others: [SourceError.Code] = [.busy, .cancelled, .offline, .storage, .unusableStore]
    if let code = result.failure?.code, others.contains(code) { return }
    // A pause was demanded in the answer to another request, some time before.
    let isPaused = (result.failure?.cause as? LocalRateLimitError)?.pauseReason != nil
    let words = isPaused ? LocalRateLimitError.pause : result.failure?.message.oneLine(atMost: 500)
    try? await note(Coverage.failureCheckpoint, words)
  }

  private func runObserved(
    upTo pages: Int?, jobs: Int, waits: Bool,
    _ progress: @escaping @Sendable (SyncResult) -> Void
  ) async -> SyncResult {
    if let feed { return await run(feed, waits: waits, progress) }
    if let partitions {
      return await run(partitions, upTo: pages, jobs: jobs, waits: waits, progress)
    }
    do throws(SourceError) {
      if let changes, let state = try await changeState(), !isFullDue(state) {
        // In a store that machines share, one of them does it.
        guard recordStore.store.isShared else {
          return await runChanges(changes, upTo: pages, jobs: jobs, waits: waits, progress)
        }
        var result = await holdingLease(waits: waits) { () async throws(SourceError) in
          // Changes since then are for the next sync.
          let present = try await changeState()
          return present?.pass == nil && present?.last != state.last
        } _: {
          await runChanges(changes, upTo: pages, jobs: jobs, waits: waits, progress)
        }
        if result.fullReason == nil, result.pages == 0 { result.kind = .incremental }
        return result
      }
    } catch {
      var result = SyncResult()
      result.failure = error
      return result
    }
    return await runFull(upTo: pages, jobs: jobs, waits: waits, progress)
  }

  /// Reads everything, or more of an endless source.
  private func runFull(
    upTo pages: Int?, jobs: Int, waits: Bool, _ progress: @Sendable (SyncResult) -> Void
  ) async -> SyncResult {
    guard recordStore.store.isShared else {
      return await run(upTo: pages, jobs: jobs, waits: waits, isDivided: false, progress).result
    }
    if isDivisible {
      let (result, isOver) = await run(
        upTo: pages, jobs: jobs, waits: waits, isDivided: true, progress)
      if isOver { return result }
    }
    return await holdingLease(waits: waits, isFinished: isFullFinished) {
      await run(upTo: pages, jobs: jobs, waits: waits, isDivided: false, progress).result
    }
  }

  /// True if the pages of a pass can be requested in any order.
  private var isDivisible: Bool {
    isFull && base.readsAhead && hasComputedCursors
  }

  private var hasComputedCursors: Bool {
    base.cursor(skipping: size, from: PageRequest(limit: size)) != nil
  }

  /// Runs alone, or as one of several workers; `isOver` is false if the pages turn out not to be divisible.
  func run(
    upTo pages: Int?, jobs: Int, waits: Bool, isDivided: Bool,
    _ progress: @Sendable (SyncResult) -> Void
  ) async -> (result: SyncResult, isOver: Bool) {
    var result = SyncResult()
    if !isFull { result.kind = .endless }
    var comparesSeam = isFull
    let isOver = await retrying(waits: waits, &result) { result throws(SourceError) in
      let bound = pages.map { $0 - result.pages }
      if isDivided {
        return try await fetchDivided(upTo: bound, jobs, &result, progress) ? .over : .other
      }
      guard bound.map({ $0 > 0 }) ?? true,
        try await fetch(upTo: bound, jobs, &comparesSeam, &result, progress)
      else {
        // A full pass ends with its last batch.
        if !isFull, result.pages > 0 {
          _ = try await recordStore.save(StoreBatch([], completesSync: true), at: now())
        }
        return .over
      }
      return .again
    }
    return (result, isOver)
  }

  /// The continuation after a part of a sync.
  enum Continuation { case again, over, other }

  /// Calls `body` again and again, and waits at rate limits if it may; false if another way of syncing has to follow.
  func retrying(
    waits: Bool, _ result: inout SyncResult,
    _ body: (inout SyncResult) async throws(SourceError) -> Continuation
  ) async -> Bool {
    var (refusals, waited) = (0, Duration.zero)
    while true {
      let before = result.pages
      do throws(SourceError) {
        switch try await body(&result) {
        case .again:
          refusals = 0
          continue
        case .over: return true
        case .other: return false
        }
      } catch {
        let local = error.cause as? LocalRateLimitError
        if result.pages > before || refusals == 0 { (refusals, waited) = (0, .zero) }
        if local == nil { refusals += 1 }
        guard waits, error.code == .rateLimited,
          local != nil || refusals < Self.mostRefusals || waited < Self.longestWaits
        else {
          result.failure = error
          return true
        }
        // Many services send 429 without Retry-After.
        let requested = error.retryAfter ?? .zero
        var wait = requested > .zero ? requested : Self.firstWait
        var reason = local?.pauseReason ?? error.message
        if local == nil, refusals > 1 {
          for _ in 1..<refusals where wait < Self.maxWait { wait = min(wait * 2, Self.maxWait) }
          reason += ", \(refusals) times in a row"
          if wait > requested, requested > .zero { reason += " (asked for \(requested.text))" }
        }
        waited += wait
        observer(.waiting(wait, reason: reason))
        do { try await clock.sleep(for: wait) } catch {
          result.failure = .cancelled
          return true
        }
      }
    }
  }

  /// Fetches as one of several workers; returns false if the pages turn out not to be divisible.
  private func fetchDivided(
    upTo bound: Int?, _ jobs: Int, _ result: inout SyncResult, _ progress: (SyncResult) -> Void
  ) async throws(SourceError) -> Bool {
    let status = try await recordStore.store.status(of: recordStore.source)
    let shared = SharedSync(
      sync: self, source: try await source, lastPosition: status.lastPosition,
      known: status.knownUpstream, isFirst: try await isFirst)
    switch await shared.run(upTo: bound, jobs, &result, progress) {
    case .complete:
      // Or another worker has found that the pages are not divisible, and goes on alone.
      if let activity = try await activity(), activity.pages == nil { return false }
      try await conclude(&result)
    case .completedByOther:
      if let activity = try await activity(), activity.pages == nil { return false }
      result.isComplete = try await isCompletionNoted()
      if !result.isComplete {
        result.shortfall = Shortfall(
          .incomplete, "another worker has ended the sync, and did not find it complete")
      }
    case .bounded: break
    case .unpredictable: return false
    case .failed(let error): throw error
    }
    return true
  }

  private var source: EncodingSource<Item> {
    get async throws(SourceError) {
      EncodingSource(
        base: base, recordStore: recordStore, folds: try await recordStore.completeSync() == nil,
        comparing: comparing)
    }
  }

  /// `nil` if pages are always read.
  private var comparing: PageComparing<Item>? {
    guard let readingDigest, !readsEverything, case .full(let collection) = mode, hasComputedCursors
    else {
      return nil
    }
    return PageComparing(
      recordStore: recordStore, name: name("page \(collection)"), seed: readingDigest, now: now)
  }

  /// True if the service was known to have more records than these.
  func isKnown(moreThan count: Int) async throws(SourceError) -> Bool {
    let (store, source) = (recordStore.store, recordStore.source)
    guard let partition else { return try await store.status(of: source).knownUpstream > count }
    return try await store.ids(of: source, startingWith: partition.prefix, limit: count + 1).count
      > count
  }

  /// Fetches from the checkpoint on; returns true if another process has moved it meanwhile, so that this
  /// one has to read it again.
  private func fetch(
    upTo bound: Int?, _ jobs: Int, _ comparesSeam: inout Bool, _ result: inout SyncResult,
    _ progress: (SyncResult) -> Void
  ) async throws(SourceError) -> Bool {
    var stored = try await recordStore.store.checkpoint(checkpointName, of: recordStore.source)
    guard stored != UpstreamLoader<Item>.end else {
      result.isComplete = true
      return false
    }
    var checkpoint = try await decoded(stored)
    if result.pages == 0 {
      (result.earlierPages, result.passed) = (checkpoint.pages, checkpoint.records)
      if checkpoint.pages > 0 { progress(result) }
    }
    result.expected = checkpoint.expected
    let isFirst = try await isFirst
    // That of a divided pass is left when its pages turn out not to be divisible.
    if let stored, checkpoint.cursor == nil, PartitionEnd(stored) == nil,
      SharedPass(stored, at: now()) == nil
    {
      result.hasRestarted = true
    }
    let source = try await source
    if comparesSeam {
      try await compareSeam(of: &checkpoint, &stored, in: source)
      comparesSeam = false
    }
    let rows = depth.map { max(1, $0 - checkpoint.rows) }
    let pages = source.pages(
      PaginationState(
        matching: nil, after: checkpoint.cursor,
        passing: checkpoint.cursor == nil ? 0 : checkpoint.records, size: size,
        bound: PaginationBound(items: rows, pages: bound), remembering: .pages),
      // One job fetches and stores alternately, so that at most one fetched page is discarded.
      ahead: max(jobs > 1 ? jobs : 0, minPagesAhead)
    ).makeAsyncIterator()
    var next = stored
    var isOver = true
    var firstIDs: Set<RecordKey>?
    do throws(SourceError) {
      let isEnd = try await SyncPipeline(
        pages: pages, depth: depth, tracking: changes?.tracking, comparing: source.comparing,
        now: now
      ).run(
        from: checkpoint
      ) { step, checkpoint throws(SourceError) in
        var page = step.page
        if try await isDoubtfulEnd(page, after: checkpoint) {
          page = try await source.page(PageRequest(after: checkpoint.cursor, limit: size))
        }
        if let end = step.end, end.isWithoutProgress { throw .noProgress(end) }
        if checkpoint.cursor == nil {
          firstIDs = page.ids
        } else if let firstIDs, page.next == nil, step.end == .exhausted,
          try await isShifted(from: firstIDs, until: page, after: checkpoint)
        {
          page.warnings.append(
            Warning(.mixedGenerations, "the list changed meanwhile: its first page is another one")
          )
        }
        return page
      } transaction: { batch in
        let update = update(of: batch, from: next, isFirst: isFirst)
        next = update.to
        return { () async throws(SourceError) in try await save(batch, update) }
      } saved: { batch, changes throws(SourceError) in
        result.add(batch, changes)
        guard changes.didMoveCheckpoint else { return false }
        checkpoint = batch.checkpoint
        stored = update(of: batch, from: stored, isFirst: isFirst).to
        isOver = batch.isLast
        result.passed = checkpoint.records - result.repeated
        if batch.isLast { try await finish(batch, changes, &result) }
        progress(result)
        return true
      }
      // A page that was requested again continues the list, but not the sequence.
      return !isEnd || !isOver
    } catch .invalidCursor where checkpoint.cursor != nil {
      // Upstream's paging has changed. The stored records stay.
      try await move(checkpointName, from: stored, to: nil)
      result.hasRestarted = true
      return true
    } catch let error where error.code == .noProgress && isFull {
      // Further on the pages only repeat, so the next sync starts over.
      try await move(checkpointName, from: stored, to: nil)
      if partition == nil, try await recordStore.completeSync() == nil {
        let all = checkpoint.total.map { "; the service reports \($0.of("record"))" } ?? ""
        let shortfall = Shortfall(.noProgress, error.message + all)
        try await note(Coverage.shortfallCheckpoint, shortfall.checkpoint)
      }
      throw error
    }
  }

  /// Takes note of the last batch of a pass.
  private func finish(
    _ batch: SyncBatch<Item>, _ changes: StoreChanges, _ result: inout SyncResult
  ) async throws(SourceError) {
    let checkpoint = batch.checkpoint
    if checkpoint.isCut {
      result.reachedDepth = checkpoint.rows
    } else if isFull {
      let mayMiss = checkpoint.records == 0 ? try await isKnown(moreThan: 0) : false
      result.take(changes, of: checkpoint, known: mayMiss ? 1 : 0)
    } else {
      result.shortfall = checkpoint.pageShortfall
    }
    try await conclude(&result)
  }

  /// Takes note of whether a pass that has ended has read every record.
  ///
  /// - Parameter all: False if it has left out records that were read before, and cannot have changed.
  func conclude(_ result: inout SyncResult, ofAll all: Bool = true) async throws(SourceError) {
    result.isComplete = result.reachedDepth == nil && result.shortfall == nil
    guard partition == nil else {
      if result.isComplete, let changes { try await noteFull(changes, &result) }
      return
    }
    guard isFull else { return }
    try await noteShortfall(of: result, ofAll: all)
    try await note(
      Coverage.checkpoint,
      result.isComplete ? CompleteSync.mark(from: result.begun, to: now()) : nil)
    try await note(Coverage.depthCheckpoint, result.reachedDepth.map { "\($0)" })
    if all, !result.isPartitioned {
      let isMore = result.total.map { $0 < result.passed } ?? false
      try await note(Coverage.sentCheckpoint, isMore ? "\(result.passed)" : nil)
      let total = result.isComplete ? 0 : result.total ?? 0
      try await note(Coverage.totalCheckpoint, total > result.passed ? "\(total)" : nil)
      let known = try await recordStore.store.status(of: recordStore.source).knownUpstream
      let isRead = !result.isComplete && result.passed == known
      try await note(
        Coverage.readCheckpoint,
        isRead ? CompleteSync.mark(from: result.begun, to: now()) : nil)
    }
    guard result.isComplete else { return }
    if partitions == nil, let changes { try await noteFull(changes, &result) }
    try await noteSchema(result.schema, ofAll: all, &result)
  }

  /// Saves a batch; in a store that machines share, not if another one has moved the checkpoint.
  private func save(
    _ batch: SyncBatch<Item>, _ update: CheckpointUpdate
  ) async throws(SourceError) -> StoreChanges {
    let completesSync =
      isFull && batch.isLast && partition == nil && batch.checkpoint.pageShortfall == nil
    var saved = recordStore.batch(batch.records)
    saved.readPages = batch.readPages
    if recordStore.store.isShared {
      saved.decision = CheckpointDecision(name: update.name) { text, _ in
        text == update.from ? (update, completesSync) : nil
      }
    } else {
      (saved.update, saved.completesSync) = (update, completesSync)
    }
    return try await recordStore.save(saved, at: batch.checkpoint.date)
  }

  /// True if a page is empty, and so the last, although more records are known.
  private func isDoubtfulEnd(
    _ page: Page<EncodedRecord<Item>>, after checkpoint: SyncCheckpoint
  ) async throws(SourceError) -> Bool {
    guard isFull, page.records.isEmpty, page.unreadable.count == 0, page.next == nil else {
      return false
    }
    return try await isKnown(moreThan: checkpoint.records)
  }

  /// True if the first page has other records than before, so that others may have moved from one page to another.
  private func isShifted(
    from firstIDs: Set<RecordKey>, until last: Page<EncodedRecord<Item>>,
    after checkpoint: SyncCheckpoint
  ) async throws(SourceError) -> Bool {
    guard readsFirstPageAgain, isFull, last.total == nil, checkpoint.total == nil else {
      return false
    }
    return try await base.page(PageRequest(limit: size)).ids != firstIDs
  }

  /// Compares the last page before an interruption with what it was, so that a list of which records have moved to pages that
  /// were read before is not taken for complete.
  private func compareSeam(
    of checkpoint: inout SyncCheckpoint, _ stored: inout String?, in source: EncodingSource<Item>
  ) async throws(SourceError) {
    guard let text = checkpoint.seam,
      // A pass that goes on at once has no more time for it than between any two pages.
      now().timeIntervalSince(checkpoint.date) >= 1
    else { return }
    // Without a page since it was compared, it would take the only request that a low quota allows each time.
    var isCertain = !text.isEmpty
    if let seam = PageSeam(text) {
      guard seam.size == size else { return }
      let page: Page<EncodedRecord<Item>>
      do throws(SourceError) {
        page = try await source.page(PageRequest(after: seam.start, limit: size))
      } catch .invalidCursor { return }
      isCertain = seam.text(of: page.records) == text
    }
    if !isCertain { checkpoint.isCertain = false }
    checkpoint.seam = ""
    try await move(checkpointName, from: stored, to: checkpoint.text)
    stored = checkpoint.text
  }

  var isFull: Bool { if case .full = mode { true } else { false } }

  /// True if no pass over all records has come to its end.
  private var isFirst: Bool {
    get async throws(SourceError) {
      guard isFull, partition == nil else { return false }
      return try await recordStore.store.state(
        of: recordStore.source,
        checkpoints: [
          Coverage.checkpoint, Coverage.depthCheckpoint, Coverage.shortfallCheckpoint,
          IncompleteEnds.checkpoint,
        ]
      ).checkpoints.isEmpty
    }
  }

  private func decoded(_ stored: String?) async throws(SourceError) -> SyncCheckpoint {
    let status = try await recordStore.store.status(of: recordStore.source)
    var beginning = SyncCheckpoint(after: status.lastPosition, at: now())
    if isFull, partition == nil, try await recordStore.completeSync() != nil {
      beginning.expected = status.knownUpstream
    }
    guard let stored else { return beginning }
    switch mode {
    case .full:
      var checkpoint = SyncCheckpoint(stored, at: now()) ?? beginning
      checkpoint.noteInterruption()
      return checkpoint
    case .endless:
      var checkpoint = beginning
      checkpoint.cursor = PageCursor(stored)
      return checkpoint
    }
  }

  /// The update of the checkpoint, whose text is `stored`, by a batch.
  private func update(
    of batch: SyncBatch<Item>, from stored: String?, isFirst: Bool
  ) -> CheckpointUpdate {
    var next = batch.checkpoint
    switch mode {
    case .full:
      // A token that is answered only once cannot be sent again.
      if base.readsAhead { next.seam = batch.seam(size: size) }
      let isTrusted = batch.isLast && next.isCertain && !next.isCut && next.isSkipped != true
      var reconciliation = Reconciliation(
        begins: batch.start.cursor == nil,
        completion: batch.isLast ? next.completion(isTrusted: isTrusted) : nil,
        of: partition?.prefix)
      if isFirst { reconciliation.movesUpTo = next.start }
      guard let partition, batch.isLast else {
        return CheckpointUpdate(
          checkpointName, from: stored, to: batch.isLast ? nil : next.text,
          reconciliation: reconciliation, replacesPages: batch.isLast)
      }
      var update = CheckpointUpdate(
        checkpointName, from: stored, to: partition.end(of: next),
        reconciliation: reconciliation)
      update.toIfInconclusive = partition.end(
        at: next.date, because: Shortfall(.incomplete, "records may be missing"))
      return update
    case .endless:
      return CheckpointUpdate(
        checkpointName, from: stored, to: next.cursor?.description ?? UpstreamLoader<Item>.end)
    }
  }

  /// True if the worker that has ended a pass finds it complete, which it notes just after its last page.
  private func isCompletionNoted() async throws(SourceError) -> Bool {
    // By the real time, which its transaction takes, whatever the clock of this sync.
    for _ in 0..<40 {
      let mark = try await recordStore.store.checkpoint(Coverage.checkpoint, of: recordStore.source)
      if mark != nil { return true }
      guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { throw .cancelled }
    }
    return false
  }

  /// Leaves a mark of how a pass has ended, or removes it; see ``RecordStore/completeSync()`` and
  /// ``SourceStore/coverage(of:)``.
  func note(_ name: String, _ new: String?) async throws(SourceError) {
    let mark = try await recordStore.store.checkpoint(name, of: recordStore.source)
    if mark != new { try await move(name, from: mark, to: new) }
  }

  /// Leaves the reason a pass that has come to its end may have missed records, and its end, with which later states are
  /// compared; see ``Coverage/shortfall`` and ``HistoryStart/sync``.
  ///
  /// It leaves the warnings of values, too; earlier ones hold no longer after a pass of this run over everything.
  func noteShortfall(of result: SyncResult, ofAll all: Bool = false) async throws(SourceError) {
    let isOfAll =
      all && result.isComplete && result.earlierPages == 0 && result.otherWorkers.isEmpty
    try await recordStore.store.note(
      valueWarnings: result.warnings, of: recordStore.source, isOfAll: isOfAll, at: now())
    try await note(Coverage.shortfallCheckpoint, result.shortfall?.checkpoint)
    guard result.shortfall != nil else { return }
    let text = try await recordStore.store.checkpoint(
      IncompleteEnds.checkpoint, of: recordStore.source)
    var ends = IncompleteEnds(text)
    ends.add(now())
    try await move(IncompleteEnds.checkpoint, from: text, to: ends.text)
  }

  /// Changes a checkpoint, if it is still this one.
  func move(
    _ name: String, from old: String?, to new: String?
  ) async throws(SourceError) {
    let update = CheckpointUpdate(name, from: old, to: new)
    _ = try await recordStore.save(StoreBatch([], update: update), at: now())
  }
}

extension Page {
  fileprivate var ids: Set<RecordKey> { Set(records.map { RecordKey($0.id) }) }
}

/// The kind of a sync, and the collection that it downloads.
///
/// A collection is the set of records that the service sends for certain settings, such as its URL and a
/// seed, identified by a hash of them; each has its own checkpoint.
package enum SyncMode: Hashable, Sendable {
  /// All records, again and again; at the end of each pass, records that were removed upstream are marked.
  case full(of: String)
  /// More records of an endless source, from where the last sync or ``UpstreamLoader`` stopped.
  case endless(of: String)
}

/// The outcome of a ``Sync``.
public struct SyncResult: Equatable, Sendable {
  public enum Kind: String, Sendable {
    /// All records were read.
    case full
    /// The records that have changed were read.
    case incremental
    /// More records of an endless source were read.
    case endless
  }

  public internal(set) var kind = Kind.full

  public internal(set) var added = 0

  /// The number of records that had changed, or that upstream has again.
  public internal(set) var changed = 0

  /// The number of unchanged records, which were not written.
  public internal(set) var unchanged = 0

  /// The number of records that the service no longer has; known only when ``isComplete``.
  public internal(set) var removedUpstream = 0

  public internal(set) var pages = 0

  /// The number of pages of the same pass that earlier, interrupted runs fetched.
  public internal(set) var earlierPages = 0

  /// True if it started over because the checkpoint of an earlier run had expired or become invalid.
  public internal(set) var hasRestarted = false

  /// The number of records fetched by the whole pass so far, including earlier runs.
  public internal(set) var passed = 0

  /// The number of all records, if the service reports it.
  public internal(set) var total: Int?

  /// The number of records of the last complete sync before the pass; `nil` if there was none.
  package internal(set) var expected: Int?

  /// The number of rows whose record came before in the same pass, and is not counted again.
  package internal(set) var repeated = 0

  public internal(set) var unreadable = UnreadableRows.none

  /// True if the service has no more records, and all that it has were read; or all that have changed since
  /// ``changedSince``.
  public internal(set) var isComplete = false

  /// The reason why a pass that read the service's list to its end may have missed records, so that none was
  /// marked as removed upstream; `nil` if there is none, or if it has not come to the end.
  public var inconclusiveReason: String? { shortfall?.description }

  package internal(set) var shortfall: Shortfall?

  /// True if so many records are missing that none was marked: the next complete pass decides.
  public internal(set) var needsConfirmation = false

  /// The number of rows after which the service lists no more, if it may have more; `nil` otherwise.
  public internal(set) var reachedDepth: Int?

  public internal(set) var failure: SourceError?

  /// True if the list was read to its end, whatever was missing.
  package var hasEnded: Bool {
    failure == nil && (isComplete || shortfall != nil || reachedDepth != nil)
  }

  /// The partitions that were left out by a rule for errors, so that their records stay as they are.
  public internal(set) var skippedPartitions: [String] = []

  /// True if the list consists of partitions, each of which is judged by itself.
  package internal(set) var isPartitioned = false

  /// True if a rule has left out the partition that was read.
  var isSkipped = false

  /// The mark whose later changes were read, as the service writes it; `nil` if everything was read.
  public internal(set) var changedSince: String?

  /// The end of the last pass over everything; `nil` if this is one.
  public internal(set) var lastFull: Date?

  /// The reason this sync or the next one reads everything, although the service tells what has changed.
  public internal(set) var fullReason: String?

  /// The members of the rows that appeared, vanished or changed their kind since the last complete sync.
  public internal(set) var schemaChanges: [SchemaChange] = []

  /// Messages of the program that sends the records, besides these, and what was guessed.
  package internal(set) var warnings: [Warning] = []

  /// The marks of the records of a pass over everything.
  var marks: SeenMarks?

  /// The members of the rows of a pass over everything.
  var schema: RowSchema?

  /// The beginning of a pass over everything, of which earlier runs may have read a part.
  var begun: Date?

  /// The other workers that fetched pages of the same pass meanwhile.
  public internal(set) var otherWorkers: Set<String> = []

  public init() {}

  /// Adds what one of several workers has saved of a pass, and what the pass came to if it is complete.
  mutating func add(
    _ pages: [Page<some SourceRecord>], _ changes: StoreChanges, of pass: SharedPass, known: Int
  ) {
    add(changes)
    self.pages += pages.count
    total = pass.progress.total ?? total
    note(changes.seenCount, of: pass.progress)
    passed = pass.progress.records - repeated
    for page in pages {
      unreadable = unreadable + page.unreadable
      warnings.addThoseOfValues(in: page.warnings)
    }
    guard pass.isComplete else { return }
    if pass.progress.isCut {
      reachedDepth = pass.progress.rows
    } else {
      take(changes, of: pass.progress, known: known)
    }
  }

  mutating func add(_ changes: StoreChanges) {
    added += changes.added.count
    changed += changes.changed
    unchanged += changes.unchanged
    removedUpstream += changes.removedUpstream
  }

  /// Takes note of what a complete pass found out about removed records.
  mutating func take(_ changes: StoreChanges, of pass: SyncCheckpoint, known: Int) {
    (marks, schema, begun) = (pass.marks, pass.schema, pass.begun)
    isSkipped = pass.isSkipped == true
    shortfall = pass.shortfall(known: known)
    if let seen = changes.incompleteSeenCount, shortfall == nil || seen < pass.records {
      shortfall = shortfall + pass.shortfall(seen: seen)
    }
    shortfall = shortfall ?? changes.unconfirmedRemovals.map(SyncCheckpoint.shortfall)
    needsConfirmation = changes.unconfirmedRemovals != nil
    if pass.reachedDepth == true { reachedDepth = pass.rows }
  }

  /// Takes note of the number of different records that a pass has seen, if it has ended.
  private mutating func note(_ seen: Int?, of pass: SyncCheckpoint) {
    guard let seen else { return }
    let repeats = max(0, pass.records - seen - repeated)
    // Earlier runs or other workers may have counted them.
    if earlierPages == 0, otherWorkers.isEmpty { unchanged -= min(repeats, unchanged) }
    repeated += repeats
  }

  mutating func add(_ batch: SyncBatch<some SourceRecord>, _ changes: StoreChanges) {
    add(changes)
    unchanged -= min(batch.repeated, changes.unchanged)
    repeated += batch.repeated
    note(changes.seenCount, of: batch.checkpoint)
    pages += batch.pages
    total = batch.checkpoint.total ?? total
    unreadable = unreadable + batch.unreadable
    warnings.addThoseOfValues(in: batch.valueWarnings)
  }
}
