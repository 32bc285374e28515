public import AggregatorCore
package import AggregatorFoundation

/// Fetches new records of an endless source into the store.
///
/// Each upstream page is stored in one transaction with the checkpoint after it, so that the next call, in
/// this process or another, resumes at the next page.
public struct UpstreamLoader<Item: Record>: Sendable {
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
  /// It may get more than `count`, 1 or more, because whole pages are fetched. `progress` receives the
  /// number of new records so far after each page.
  public func take(_ count: Int, progress: (_ added: Int) -> Void) async -> UpstreamLoadResult {
    var result = UpstreamLoadResult()
    var emptyPages = 0
    while result.added < count {
      do throws(SourceError) {
        guard let page = try await takePage() else {
          result.end = .exhausted
          return result
        }
        result.add(page.page, page.changes)
        // If another process was faster, it got the new records.
        if page.changes.didMoveCheckpoint {
          emptyPages = page.changes.added.isEmpty ? emptyPages + 1 : 0
        }
        progress(result.added)
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

  /// Fetches one upstream page; `nil` at the end of upstream.
  @concurrent private func takePage() async throws(SourceError) -> (
    page: Page<Item>, changes: StoreChanges
  )? {
    let start = try await recordStore.store.checkpoint(checkpoint, of: recordStore.source)
    guard start != Self.end else { return nil }
    let first = PageRequest(limit: size, cachePolicy: cachePolicy)
    let page: Page<Item>
    do {
      page = try await base.page(first.after(start.flatMap(Cursor.init)))
    } catch .invalidCursor where start != nil {
      // Upstream's paging has changed. The stored records stay.
      page = try await base.page(first)
    }
    // Going on would lose these records for good.
    guard !page.isUnreadable else { throw .unreadable(page.unreadable) }
    let update = CheckpointUpdate(checkpoint, from: start, to: page.next?.description ?? Self.end)
    return (page, try await recordStore.save(page.records, update: update, at: now()))
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

  mutating func add(_ page: Page<some Record>, _ changes: StoreChanges) {
    added += changes.added.count
    pages += 1
    unreadable = unreadable + page.unreadable
    provenance = page.provenance
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
