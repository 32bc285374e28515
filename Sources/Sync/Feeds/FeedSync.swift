import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import AggregatorText

/// The progress of the syncs of a feed: a checkpoint that lasts from one sync to the next.
private struct FeedProgress {
  /// The state from which the feed goes on.
  var state: String?
  var version: Int?

  /// The last position of the store when the present pass over everything began; `nil` between two passes, and until
  /// the pass has a state: without one it cannot be continued.
  var start: Int64?

  /// True if a record of the pass could not be read, so that none counts as removed.
  var isIncomplete = false

  init() {}

  init(_ text: String?) {
    guard let json = text.flatMap({ JSON(reading: Data($0.utf8)) }) else { return }
    state = json["state"]?.string
    version = json["version"]?.integer
    start = json["start"]?.integer.map(Int64.init)
    isIncomplete = json["incomplete"] != nil
  }

  var text: String {
    var members: [JSON.Member] = []
    if let state { members.append(.init("state", .string(state))) }
    if let version { members.append(.init("version", .integer(version))) }
    if let start { members.append(.init("start", .integer(Int(clamping: start)))) }
    if isIncomplete { members.append(.init("incomplete", true)) }
    return JSON.object(members).text
  }
}

extension JSON {
  fileprivate var integer: Int? { if case .integer(let number) = self { number } else { nil } }
}

extension Sync {
  /// Runs a feed to its end, from where its last run stopped.
  ///
  /// Records are stored in one transaction with the state after them, so that whatever ends the run, the next one misses
  /// nothing, and repeats only what was after the last state. A pass over everything that ends well proves which records
  /// were removed.
  func run(
    _ feed: some RecordFeed<Item>, waits: Bool, _ progress: @Sendable (SyncResult) -> Void
  ) async -> SyncResult {
    guard recordStore.store.isShared else { return await run(feed, progress) }
    return await holdingLease(waits: waits) { () async throws(SourceError) in
      false
    } _: {
      await run(feed, progress)
    }
  }

  private func run(
    _ feed: some RecordFeed<Item>, _ progress: (SyncResult) -> Void
  ) async -> SyncResult {
    var result = SyncResult()
    result.kind = feed.isIncremental ? .incremental : .full
    do throws(SourceError) {
      let run = try await FeedRun(
        of: recordStore.source, in: recordStore.store, as: "feed \(collection)",
        isIncremental: feed.isIncremental, now: now)
      if readsEverything { run.startOver() }
      let end = try await feed.run(from: run.state) { batch throws(SourceError) in
        let entries = recordStore.entries(try recordStore.encoded(batch.records))
        try await run.save(entries, batch.step, &result)
        progress(result)
      }
      result.warnings = end.warnings
      try await run.finish(end, &result)
      progress(result)
      try await conclude(&result, ofAll: !feed.isIncremental)
    } catch { result.failure = error }
    return result
  }
}

/// One run of a feed, which does not depend on the type of its records.
private final class FeedRun {
  private let source: String
  private let store: any SourceStore
  private let name: String
  private let isIncremental: Bool
  private let now: @Sendable () -> Date
  /// The checkpoint as this run has last read or written it.
  private var stored: String?
  private var progress: FeedProgress
  /// The last position of the store when the pass began.
  private var start: Int64?
  /// True from the first step of a pass over everything on.
  private var hasBegun: Bool
  /// True if records have a version, so that the tap says when it is whole.
  private var hasVersion = false
  /// True once a version is known to be whole, until another one begins.
  private var isConcluded = false

  var state: String? { progress.state }

  init(
    of source: String, in store: any SourceStore, as name: String, isIncremental: Bool,
    now: @escaping @Sendable () -> Date
  ) async throws(SourceError) {
    (self.source, self.store, self.name) = (source, store, name)
    (self.isIncremental, self.now) = (isIncremental, now)
    stored = try await store.checkpoint(name, of: source)
    progress = FeedProgress(stored)
    start = progress.start
    hasBegun = start != nil
  }

  /// Forgets the state of earlier runs.
  func startOver() { (progress, start, hasBegun) = (FeedProgress(), nil, false) }

  func save(
    _ entries: [StoreEntry], _ batch: FeedStep, _ result: inout SyncResult
  ) async throws(SourceError) {
    result.unreadable = result.unreadable + batch.unreadable
    result.schema = result.schema.merged(with: batch.schema)
    if batch.unreadable.count > 0 { progress.isIncomplete = true }
    var step: Reconciliation?
    // Some taps begin with a version of which no record has come.
    let isKnownVersion = !entries.isEmpty || batch.version == progress.version && hasBegun
    if let version = batch.version, !entries.isEmpty {
      hasVersion = true
      if version != progress.version {
        (progress.version, hasBegun, isConcluded) = (version, false, false)
        progress.isIncomplete = batch.unreadable.count > 0
      }
    }
    if !isIncremental, !isConcluded {
      step = try await self.step(
        isEnd: batch.isWholeVersion && isKnownVersion, isProved: true)
    }
    if let state = batch.state {
      progress.state = state
      progress.start = hasBegun ? start : nil
    }
    let isEnd = step?.completion != nil
    if isEnd { (progress.start, hasBegun, isConcluded) = (nil, false, true) }
    // A batch without a state leaves the earlier one, from which all of it would be sent again.
    let text = batch.state == nil && !isEnd ? stored ?? FeedProgress().text : progress.text
    try await save(entries, to: text, step, completes: false, &result)
    result.pages += 1
    result.passed += entries.count
  }

  /// Takes note that the feed has ended well.
  func finish(_ end: FeedEnd, _ result: inout SyncResult) async throws(SourceError) {
    result.shortfall =
      end.incompleteReason.map { Shortfall(.incomplete, $0) }
      + .unreadable(result.unreadable.count)
    if result.shortfall == nil, progress.isIncomplete {
      result.shortfall = Shortfall(.unreadable, "rows of an earlier part could not be read")
    }
    let isWhole = result.shortfall == nil
    var step: Reconciliation?
    if !isIncremental, !isConcluded, !hasVersion, isWhole {
      step = try await self.step(isEnd: true, isProved: false)
    }
    (progress.start, progress.isIncomplete) = (nil, false)
    try await save([], to: progress.text, step, completes: isWhole, &result)
  }

  /// A step of the pass, which may be its first and its last one.
  private func step(isEnd: Bool, isProved: Bool) async throws(SourceError)
    -> Reconciliation
  {
    if !hasBegun { start = try await store.status(of: source).lastPosition }
    var step = Reconciliation(begins: !hasBegun)
    hasBegun = true
    guard isEnd, !progress.isIncomplete, let start else { return step }
    var completion = Reconciliation.Completion(lastPosition: start, minRecordCount: 0)
    completion.isProved = isProved
    step.completion = completion
    return step
  }

  private func save(
    _ entries: [StoreEntry], to text: String?, _ step: Reconciliation?, completes: Bool,
    _ result: inout SyncResult
  ) async throws(SourceError) {
    let update = CheckpointUpdate(name, from: stored, to: text, reconciliation: step)
    var batch = StoreBatch(entries)
    if store.isShared {
      batch.decision = CheckpointDecision(name: name) { text, _ in
        text == update.from ? (update, completes) : nil
      }
    } else {
      (batch.update, batch.completesSync) = (update, completes)
    }
    let changes = try await store.saveObserved(batch, of: source, at: now())
    guard changes.didMoveCheckpoint else {
      throw SourceError(
        .busy, "another sync has stored records meanwhile", remedy: "try again")
    }
    stored = text
    result.add(changes)
    if let removals = changes.unconfirmedRemovals {
      result.needsConfirmation = true
      result.shortfall = SyncCheckpoint.shortfall(removals)
    }
  }
}
