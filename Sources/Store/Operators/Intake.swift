public import AggregatorCore
package import Foundation

/// Fetches records that were never seen before from an endless source into the store.
///
/// Each upstream page is one transaction: its records, and where upstream goes on. So whoever comes
/// next, in this process or another, goes on at the very next page.
public struct Intake<Item: Record>: Sendable {
  package let base: any DataSource<Item>
  package let shelf: Shelf<Item>
  /// How many records upstream is asked for at a time.
  package let size: Int
  /// Which of upstream's collections it is, where settings choose: each goes on where it ended.
  package let collection: String
  package let now: @Sendable () -> Date

  package init(
    base: any DataSource<Item>, shelf: Shelf<Item>, size: Int, collection: String,
    now: @escaping @Sendable () -> Date
  ) {
    self.base = base
    self.shelf = shelf
    self.size = size
    self.collection = collection
    self.now = now
  }

  /// So many upstream pages in a row without anything new end it.
  static var patience: Int { 10 }

  private var place: String { Self.place(of: collection) }

  /// The name of the place where upstream goes on.
  static func place(of collection: String) -> String {
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
  public func take(_ count: Int, progress: (_ added: Int) -> Void) async -> IntakeResult {
    var result = IntakeResult()
    var barren = 0
    while result.added < count {
      do throws(SourceError) {
        guard let page = try await takePage() else {
          result.end = .exhausted
          return result
        }
        result.add(page.page, page.changes)
        // Where another process was faster, what is new has gone to it.
        if page.changes.hasMoved { barren = page.changes.added.isEmpty ? barren + 1 : 0 }
        progress(result.added)
      } catch {
        result.failure = error
        return result
      }
      guard barren < Self.patience else {
        result.end = .nothingNew(pages: barren)
        return result
      }
    }
    return result
  }

  /// Whether upstream has said that there is no more.
  func isAtEnd() async throws(SourceError) -> Bool {
    try await shelf.store.place(place, of: shelf.source) == Self.end
  }

  /// Fetches one upstream page; `nil` at upstream's end.
  private func takePage() async throws(SourceError) -> (
    page: Page<Item>, changes: StoreChanges
  )? {
    let start = try await shelf.store.place(place, of: shelf.source)
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
    let move = PlaceMove(place, from: start, to: page.next?.description ?? Self.end)
    return (page, try await shelf.save(page.records, move: move, at: now()))
  }
}

extension SourceError {
  /// No row of a page could be read.
  static func unreadable(_ rows: Unreadable) -> SourceError {
    let reason = rows.firstReason.map { " (\($0))" } ?? ""
    return SourceError(.malformed, "none of \(rows.count) rows could be read\(reason)")
  }
}

/// What an ``Intake`` got.
public struct IntakeResult: Sendable {
  /// How many records were new.
  public private(set) var added = 0

  /// How many upstream pages were fetched.
  public private(set) var pages = 0

  /// The rows that could not be read.
  public private(set) var unreadable = Unreadable.none

  /// Who answered last; `nil` if nobody did.
  public private(set) var provenance: Provenance?

  /// Why upstream gave no more, if it did not.
  public internal(set) var end: WalkEnd?

  /// The failure that ended it, if one did.
  public internal(set) var failure: SourceError?

  mutating func add(_ page: Page<some Record>, _ changes: StoreChanges) {
    added += changes.added.count
    pages += 1
    unreadable = unreadable + page.unreadable
    provenance = page.provenance
  }

  /// Adds what was got after this.
  mutating func add(_ later: IntakeResult) {
    added += later.added
    pages += later.pages
    unreadable = unreadable + later.unreadable
    provenance = later.provenance ?? provenance
    end = later.end
    failure = later.failure
  }
}
