public import AggregatorCore
package import Foundation

/// Fetches the pages of a service into the store, those that came together in one transaction.
public struct Sync<Item: Record>: Sendable {
  let base: any DataSource<Item>
  let recordStore: RecordStore<Item>
  /// How many records upstream is asked for at a time.
  let size: Int
  let mode: SyncMode
  let clock: any Clock<Duration>
  let now: @Sendable () -> Date
  /// Who is told that it waits.
  let observer: Observer

  /// How long to wait at first, and at most, where the service does not say until when.
  private static var firstWait: Duration { .seconds(60) }
  private static var longestWait: Duration { .seconds(15 * 60) }

  package init(
    base: any DataSource<Item>, recordStore: RecordStore<Item>, size: Int, mode: SyncMode,
    clock: any Clock<Duration>, now: @escaping @Sendable () -> Date, observer: Observer
  ) {
    self.base = base
    self.recordStore = recordStore
    self.size = size
    self.mode = mode
    self.clock = clock
    self.now = now
    self.observer = observer
  }

  /// The name of the place where it goes on.
  private var checkpointName: String {
    switch mode {
    case .pass(let collection): "sync \(collection)"
    case .growth(let collection): UpstreamLoader<Item>.checkpoint(of: collection)
    }
  }

  /// Fetches page after page, from where the last run stopped.
  ///
  /// Each page's records are stored in one transaction with where the next run goes on. Whatever ends it, even
  /// `kill -9`, all pages before that are kept and are not fetched again.
  ///
  /// - Parameters:
  ///   - pages: How many pages at most, 1 or more; `nil` for all.
  ///   - jobs: How many pages are asked for at a time, 1 or more; they are stored in order all the same.
  ///     More than one takes effect where pages can be addressed ahead.
  ///   - waits: Whether to wait until the service, or our own limit, lets us go on; otherwise that ends
  ///     it with `rateLimited`.
  ///   - progress: Called after each transaction.
  /// - Returns: What it did, and why it did no more.
  public func run(
    upTo pages: Int?, jobs: Int, waits: Bool, progress: @Sendable (SyncResult) -> Void
  ) async -> SyncResult {
    var result = SyncResult()
    var maxEmptyPages = Self.firstWait
    while true {
      let before = result.pages
      let bound = pages.map { $0 - result.pages }
      do throws(SourceError) {
        guard bound.map({ $0 > 0 }) ?? true,
          try await walk(upTo: bound, jobs, &result, progress)
        else { return result }
      } catch {
        guard waits, error.code == .rateLimited else {
          result.failure = error
          return result
        }
        // Many services say that it is too much, and not until when.
        if result.pages > before { maxEmptyPages = Self.firstWait }
        let asked = error.retryAfter ?? .zero
        let wait = asked > .zero ? asked : maxEmptyPages
        if asked <= .zero { maxEmptyPages = min(maxEmptyPages * 2, Self.longestWait) }
        observer(.waiting(wait, reason: error.message))
        do { try await clock.sleep(for: wait) } catch {
          result.failure = .cancelled
          return result
        }
      }
    }
  }

  /// Walks from where the last run stopped.
  ///
  /// - Returns: Whether another process went on in the meantime, so that this one has to look again.
  private func walk(
    upTo bound: Int?, _ jobs: Int, _ result: inout SyncResult,
    _ progress: (SyncResult) -> Void
  ) async throws(SourceError) -> Bool {
    var written = try await recordStore.store.checkpoint(checkpointName, of: recordStore.source)
    guard written != UpstreamLoader<Item>.end else {
      result.isComplete = true
      return false
    }
    var checkpoint = known(written)
    if result.pages == 0 { result.earlierPages = checkpoint.pages }
    if written != nil, checkpoint.cursor == nil { result.hasRestarted = true }
    let walk = EncodingSource(base: base, recordStore: recordStore).pages(
      after: checkpoint.cursor, size: size, upTo: PaginationBound(pages: bound),
      // One job fetches and stores in turns, so that at most one page is ever fetched in vain.
      ahead: jobs > 1 ? jobs : 0, passing: checkpoint.cursor == nil ? 0 : checkpoint.records,
      remembering: .pages
    ).makeAsyncIterator()
    while true {
      var batch = SyncBatch<Item>(from: checkpoint)
      let end = await fill(&batch, from: walk)
      if batch.pages > 0 {
        let update = update(from: written, checkpoint, to: batch.checkpoint, isLast: batch.isLast)
        let changes = try await recordStore.save(
          written: batch.records, update: update, at: batch.checkpoint.date)
        result.add(batch, changes)
        guard changes.hasMoved else { return true }
        (written, checkpoint) = (update.to, batch.checkpoint)
        result.passed = checkpoint.records
        if batch.isLast {
          result.isComplete = true
          if isPass {
            result.doubt =
              checkpoint.doubt ?? changes.shortReconciliation.map(checkpoint.doubt(met:))
          }
        }
        progress(result)
      }
      switch end {
      case nil: continue
      case .success: return false
      case .failure(.invalidCursor) where checkpoint.cursor != nil:
        // Upstream counts in another way now. What is known stays known.
        try await startOver(from: written)
        result.hasRestarted = true
        return true
      case .failure(let error): throw error
      }
    }
  }

  /// Takes the next page, and those after it that have come already.
  ///
  /// - Returns: How the walk ended; `nil` if it goes on.
  private func fill(
    _ batch: inout SyncBatch<Item>, from walk: PageSequence<EncodedRecord<Item>>.Iterator
  ) async -> Result<Void, SourceError>? {
    do throws(SourceError) {
      repeat {
        guard let step = try await walk.next() else { return .success(()) }
        // Whoever went on would never come back to these records.
        guard !step.page.isUnreadable else { throw .unreadable(step.page.unreadable) }
        if let end = step.end, end.isStall { throw .stalled(end) }
        batch.add(step.page, at: now())
        if step.end != nil { return .success(()) }
      } while batch.hasRoom && walk.isNextReady
      return nil
    } catch {
      return .failure(error)
    }
  }

  private var isPass: Bool { if case .pass = mode { true } else { false } }

  /// Where the last run stopped.
  private func known(_ written: String?) -> SyncCheckpoint {
    let beginning = SyncCheckpoint(at: now())
    guard let written else { return beginning }
    switch mode {
    case .pass: return SyncCheckpoint(written, at: now()) ?? beginning
    case .growth:
      var checkpoint = beginning
      checkpoint.cursor = Cursor(written)
      return checkpoint
    }
  }

  private func update(
    from written: String?, _ checkpoint: SyncCheckpoint, to next: SyncCheckpoint, isLast: Bool
  ) -> CheckpointUpdate {
    switch mode {
    case .pass:
      let isTrusted = isLast && next.doubt == nil
      let reconciliation = Reconciliation(
        begins: checkpoint.cursor == nil,
        completion: isTrusted ? .init(began: next.began, least: next.least) : nil)
      return CheckpointUpdate(
        checkpointName, from: written, to: isLast ? nil : next.text, reconciliation: reconciliation,
        replacesPages: isLast)
    case .growth:
      return CheckpointUpdate(
        checkpointName, from: written, to: next.cursor?.description ?? UpstreamLoader<Item>.end)
    }
  }

  /// Forgets the place, if it is still this one.
  private func startOver(from written: String?) async throws(SourceError) {
    _ = try await recordStore.save(
      [], update: CheckpointUpdate(checkpointName, from: written, to: nil), at: now())
  }
}

/// What it fetches, of which of upstream's collections, where settings choose.
package enum SyncMode: Hashable, Sendable {
  /// All that there is, again and again; at the end of each pass it is known what has vanished.
  case pass(of: String)
  /// More of what has no end, from where the last sync or ``UpstreamLoader`` ended.
  case growth(of: String)
}
