public import AggregatorCore
package import AggregatorFoundation
package import AggregatorStore

/// Fetches new records of an endless source into the store.
///
/// Upstream pages are stored in order, in one transaction with the checkpoint after them, so that the next call,
/// in this process or another, resumes at the next page.
public struct UpstreamLoader<Item: SourceRecord>: Sendable {
  package let base: any DataSource<Item>
  package let recordStore: RecordStore<Item>
  /// The number of records per request.
  package let size: Int
  /// The upstream collection that the settings select: each has its own checkpoint.
  package let collection: String
  package let now: @Sendable () -> Date
  /// The policy of its calls to upstream.
  private var cachePolicy: CachePolicy

  package init(
    base: any DataSource<Item>, recordStore: RecordStore<Item>, size: Int, collection: String,
    cachePolicy: CachePolicy = .normal, now: @escaping @Sendable () -> Date
  ) {
    self.base = base
    self.recordStore = recordStore
    self.size = size
    self.collection = collection
    self.cachePolicy = cachePolicy
    self.now = now
  }

  func with(_ cachePolicy: CachePolicy) -> UpstreamLoader {
    var loader = self
    loader.cachePolicy = cachePolicy
    return loader
  }

  /// The number of consecutive upstream pages without a new record that ends a call.
  static var maxEmptyPages: Int { 10 }

  private var checkpoint: String { Self.checkpoint(of: collection) }

  static func checkpoint(of collection: String) -> String {
    collection.isEmpty ? "upstream" : "upstream \(collection)"
  }

  /// The checkpoint at the end of upstream; no cursor looks like it.
  static var end: String { "." }

  /// Fetches until enough records are new.
  ///
  /// It may get more than `count`, 1 or more, because whole pages are fetched. Up to `jobs` pages, 1 or more, are
  /// fetched at once where later cursors can be computed, but no more than may be needed, and are stored in order.
  /// `progress` receives the number of new records so far after each transaction.
  public func take(
    _ count: Int, jobs: Int = 1, progress: (_ added: Int) -> Void
  ) async -> UpstreamLoadResult {
    var result = UpstreamLoadResult()
    var emptyPages = 0
    while result.added < count {
      let bound = (count - result.added - 1) / size + 1
      do throws(SourceError) {
        let isMore = try await take(pages: bound, jobs) { batch, changes in
          result.add(batch, changes)
          progress(result.added)
          // If another process was faster, it got the new records.
          guard changes.didMoveCheckpoint else { return false }
          emptyPages = batch.emptyPages(changes, after: emptyPages)
          return emptyPages < Self.maxEmptyPages
        }
        guard isMore else {
          result.end = .exhausted
          return result
        }
      } catch {
        result.failure = error
        return result
      }
      guard emptyPages < Self.maxEmptyPages else {
        result.end = .nothingNew(pages: emptyPages)
        return result
      }
    }
    return result
  }

  func isAtEnd() async throws(SourceError) -> Bool {
    try await recordStore.store.checkpoint(checkpoint, of: recordStore.source) == Self.end
  }

  /// Fetches pages, and stores them until `saved` returns false; false at the end of upstream.
  ///
  /// Pages that lead nowhere are stored, too: the caller counts those without new records.
  private func take(
    pages bound: Int, _ jobs: Int, saved: (SyncBatch<Item>, StoreChanges) -> Bool
  ) async throws(SourceError) -> Bool {
    var stored = try await recordStore.store.checkpoint(checkpoint, of: recordStore.source)
    guard stored != Self.end else { return false }
    let source = EncodingSource(base: base, recordStore: recordStore)
    var start = SyncCheckpoint(after: 0, at: now())
    start.cursor = stored.flatMap(PageCursor.init)
    var isFirst = true
    repeat {
      let pages = source.pages(
        PaginationState(
          matching: nil, after: start.cursor, size: size, bound: PaginationBound(pages: bound),
          remembering: .pages, cachePolicy: cachePolicy),
        ahead: jobs > 1 ? jobs : 0
      ).makeAsyncIterator()
      do throws(SourceError) {
        _ = try await SyncPipeline(pages: pages, now: now).run(from: start) { step, _ in
          step.page
        } transaction: { batch in
          let next = batch.checkpoint.cursor?.description ?? Self.end
          let update = CheckpointUpdate(checkpoint, from: stored, to: next)
          stored = next
          return { [recordStore] () async throws(SourceError) in
            let saved = StoreBatch(recordStore.entries(batch.records), update: update)
            return try await recordStore.save(saved, at: batch.checkpoint.date)
          }
        } saved: { batch, changes in
          isFirst = false
          return saved(batch, changes)
        }
        return true
      } catch .invalidCursor where isFirst && start.cursor != nil {
        // Upstream's paging has changed. The stored records stay.
        start.cursor = nil
      } catch .invalidCursor where !isFirst {
        return true
      }
    } while true
  }
}

extension SyncBatch {
  /// The number of consecutive pages without a new record at its end, where `earlier` ones precede it; counting
  /// stops at the number that ends a call.
  fileprivate func emptyPages(_ changes: StoreChanges, after earlier: Int) -> Int {
    var added = changes.added[...]
    var (end, emptyPages) = (0, earlier)
    for count in counts {
      end += count
      let new = added.prefix { $0 < end }
      added = added.dropFirst(new.count)
      emptyPages = new.isEmpty ? emptyPages + 1 : 0
      if emptyPages == UpstreamLoader<Item>.maxEmptyPages { break }
    }
    return emptyPages
  }
}

extension SourceError {
  static func unreadable(_ rows: UnreadableRows) -> SourceError {
    let reason = rows.firstReason.map { " (\($0))" } ?? ""
    let amount = rows.count == 1 ? "the only row" : "none of \(rows.count) rows"
    let verb = rows.count == 1 ? "could not be" : "could be"
    return SourceError(.malformed, "\(amount) \(verb) read\(reason)")
  }
}

/// The outcome of an ``UpstreamLoader``.
public struct UpstreamLoadResult: Equatable, Sendable {
  public private(set) var added = 0
  public private(set) var pages = 0
  public private(set) var unreadable = UnreadableRows.none

  /// The provenance of the last page; `nil` if none was fetched.
  public private(set) var provenance: Provenance?

  /// The reason that pagination ended; `nil` if more records may follow.
  public internal(set) var end: PaginationEnd?

  public internal(set) var failure: SourceError?

  mutating func add(_ batch: SyncBatch<some SourceRecord>, _ changes: StoreChanges) {
    added += changes.added.count
    pages += batch.pages
    unreadable = unreadable + batch.unreadable
    provenance = batch.provenance
  }

  mutating func add(_ later: UpstreamLoadResult) {
    added += later.added
    pages += later.pages
    unreadable = unreadable + later.unreadable
    provenance = later.provenance ?? provenance
    end = later.end
    failure = later.failure
  }
}
