import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// Stores the pages of a sequence in batches, and fetches on while a batch is being stored.
///
/// A batch has all pages that arrived while the one before it was being stored: a page that comes alone is
/// stored at once, and the larger a batch is, the less of the file it rewrites for a record.
struct SyncPipeline<Item: SourceRecord> {
  typealias Step = PaginationStep<EncodedRecord<Item>>
  typealias Transaction = @Sendable () async throws(SourceError) -> StoreChanges

  private enum Event: Sendable {
    case saved(Result<StoreChanges, SourceError>)
    case arrived
  }

  let pages: PageSequence<EncodedRecord<Item>>.Iterator
  /// The most rows that the service lists; `nil` for no limit.
  var depth: Int?
  var tracking: ChangeTracking?
  var comparing: PageComparing<Item>?
  let now: @Sendable () -> Date

  /// Runs until the sequence has ended and its pages are stored; false if `saved` ended it.
  ///
  /// `accept` returns the page to store for a step that continues a checkpoint. Its error ends the sequence, as one
  /// of a fetch does: it is thrown when all pages before are stored. When it receives an empty page, they are.
  /// `transaction` stores a batch, each after the one before it, and `saved` returns false to store nothing more.
  func run(
    from checkpoint: SyncCheckpoint,
    accept: (Step, SyncCheckpoint) async throws(SourceError) -> Page<EncodedRecord<Item>>,
    transaction: (SyncBatch<Item>) -> Transaction,
    saved: (SyncBatch<Item>, StoreChanges) async throws(SourceError) -> Bool
  ) async throws(SourceError) -> Bool {
    try await withTaskGroup(of: Event.self) { group in
      // A task may be waiting for the next page.
      defer { group.cancelAll() }
      return await Result { () async throws(SourceError) in
        try await run(from: checkpoint, in: &group, accept, transaction, saved)
      }
    }.get()
  }

  private func run(
    from checkpoint: SyncCheckpoint, in group: inout TaskGroup<Event>,
    _ accept: (Step, SyncCheckpoint) async throws(SourceError) -> Page<EncodedRecord<Item>>,
    _ transaction: (SyncBatch<Item>) -> Transaction,
    _ saved: (SyncBatch<Item>, StoreChanges) async throws(SourceError) -> Bool
  ) async throws(SourceError) -> Bool {
    var batch = SyncBatch<Item>(from: checkpoint)
    var inStore: SyncBatch<Item>?
    var isWaiting = false
    var end: Result<Void, SourceError>?
    while true {
      while end == nil, batch.hasRoom, pages.isNextReady || (inStore == nil && batch.pages == 0) {
        let next = await Result { () async throws(SourceError) in try await pages.next() }
        guard case .success(let step?) = next else {
          end = next.map { _ in }
          break
        }
        isWaiting = false
        if step.page.records.isEmpty, let saving = inStore {
          inStore = nil
          guard try await saved(saving, try await changes(from: &group)) else { return false }
        }
        do throws(SourceError) {
          let page = try await accept(step, batch.checkpoint)
          // Going on would lose these records for good.
          guard !page.isUnreadable else { throw .unreadable(page.unreadable) }
          batch.add(
            page, at: now(), depth: depth, tracking: tracking, comparing: comparing)
          if step.items.isEmpty { batch.repeated += step.page.records.count }
          if step.end != nil || batch.isLast { end = .success(()) }
        } catch { end = .failure(error) }
      }
      guard let saving = inStore else {
        if batch.pages > 0 {
          let transaction = transaction(batch)
          group.addTask {
            await .saved(Result { () async throws(SourceError) in try await transaction() })
          }
          inStore = batch
          batch = SyncBatch(from: batch.checkpoint)
        } else if let end {
          try end.get()
          return true
        }
        continue
      }
      if end == nil, batch.hasRoom, !isWaiting, let arrival = pages.nextArrival {
        isWaiting = true
        group.addTask {
          await arrival()
          return .arrived
        }
      }
      // A page that has arrived is taken above; a failure only when it is its turn.
      guard case .saved(let changes) = await group.next() else { continue }
      inStore = nil
      guard try await saved(saving, try changes.get()) else { return false }
    }
  }

  /// Waits for the transaction.
  private func changes(
    from group: inout TaskGroup<Event>
  ) async throws(SourceError) -> StoreChanges {
    while let event = await group.next() {
      if case .saved(let changes) = event { return try changes.get() }
    }
    throw .cancelled
  }
}
