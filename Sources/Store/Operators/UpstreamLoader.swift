public import AggregatorCore
package import Foundation

/// Fetches records that were never seen before from an endless source into the store.
///
/// Each upstream page is one transaction: its records, and where upstream goes on. So whoever comes
/// next, in this process or another, goes on at the very next page.
public struct UpstreamLoader<Item: Record>: Sendable {
  package let base: any DataSource<Item>
  package let recordStore: RecordStore<Item>
  /// How many records upstream is asked for at a time.
  package let size: Int
  /// Which of upstream's collections it is, where settings choose: each goes on where it ended.
  package let collection: String
  package let now: @Sendable () -> Date

  package init(
    base: any DataSource<Item>, recordStore: RecordStore<Item>, size: Int, collection: String,
    now: @escaping @Sendable () -> Date
  ) {
    self.base = base
    self.recordStore = recordStore
    self.size = size
    self.collection = collection
    self.now = now
  }

  /// So many upstream pages in a row without anything new end it.
  static var maxEmptyPages: Int { 10 }

  private var checkpoint: String { Self.checkpoint(of: collection) }

  /// The name of the place where upstream goes on.
  static func checkpoint(of collection: String) -> String {
    collection.isEmpty ? "upstream" : "upstream \(collection)"
  }

  /// Where upstream goes on once it has said that there is no more.
  ///
  /// No cursor looks like it.
  static var end: String { "." }

  /// Fetches until enough is new.
  ///
  /// - Parameters:
  ///   - count: How many new records are wanted, 1 or more. As whole pages are fetched it may get more.
  ///   - progress: Called after each page with the number of new records so far.
  /// - Returns: What it got, and why it got no more.
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
        // Where another process was faster, what is new has gone to it.
        if page.changes.hasMoved { emptyPages = page.changes.added.isEmpty ? emptyPages + 1 : 0 }
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

  /// Whether upstream has said that there is no more.
  func isAtEnd() async throws(SourceError) -> Bool {
    try await recordStore.store.checkpoint(checkpoint, of: recordStore.source) == Self.end
  }

  /// Fetches one upstream page; `nil` at upstream's end.
  private func takePage() async throws(SourceError) -> (
    page: Page<Item>, changes: StoreChanges
  )? {
    let start = try await recordStore.store.checkpoint(checkpoint, of: recordStore.source)
    guard start != Self.end else { return nil }
    let page: Page<Item>
    do {
      page = try await base.page(PageRequest(after: start.flatMap(Cursor.init), limit: size))
    } catch .invalidCursor where start != nil {
      // Upstream counts in another way now. What is known stays known.
      page = try await base.page(PageRequest(limit: size))
    }
    // Whoever went on would never come back to these records.
    guard !page.isUnreadable else { throw .unreadable(page.unreadable) }
    let update = CheckpointUpdate(checkpoint, from: start, to: page.next?.description ?? Self.end)
    return (page, try await recordStore.save(page.records, update: update, at: now()))
  }
}

extension SourceError {
  /// No row of a page could be read.
  static func unreadable(_ rows: Unreadable) -> SourceError {
    let reason = rows.firstReason.map { " (\($0))" } ?? ""
    return SourceError(.malformed, "none of \(rows.count) rows could be read\(reason)")
  }
}

/// What an ``UpstreamLoader`` got.
public struct UpstreamLoadResult: Sendable {
  /// How many records were new.
  public private(set) var added = 0

  /// How many upstream pages were fetched.
  public private(set) var pages = 0

  /// The rows that could not be read.
  public private(set) var unreadable = Unreadable.none

  /// Who answered last; `nil` if nobody did.
  public private(set) var provenance: Provenance?

  /// Why upstream gave no more, if it did not.
  public internal(set) var end: PaginationEnd?

  /// The failure that ended it, if one did.
  public internal(set) var failure: SourceError?

  mutating func add(_ page: Page<some Record>, _ changes: StoreChanges) {
    added += changes.added.count
    pages += 1
    unreadable = unreadable + page.unreadable
    provenance = page.provenance
  }

  /// Adds what was got after this.
  mutating func add(_ later: UpstreamLoadResult) {
    added += later.added
    pages += later.pages
    unreadable = unreadable + later.unreadable
    provenance = later.provenance ?? provenance
    end = later.end
    failure = later.failure
  }
}
