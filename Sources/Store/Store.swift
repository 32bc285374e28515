public import AggregatorCore
public import Foundation

/// The durable memory of all sources: what they gave, in what order, and what was deleted.
///
/// It knows records as texts only, an id and JSON; ``RecordStore`` puts one source's records in and takes
/// them out. ``SQLiteStore`` keeps it all in one file; another implementation may be a server.
///
/// ## What every conformer promises
///
/// 1. Each call is done as a whole or not at all, beside any number of other processes.
/// 2. What a call has saved survives the sudden end of the process.
/// 3. A record keeps its place in the order in which records were first seen, whatever happens to it.
/// 4. A record that did not change is not written again.
/// 5. Failures are `storage`, or `busy` if others kept it locked too long.
public protocol Store: Sendable {
  /// Records in first-seen order, without those deleted and those that vanished.
  ///
  /// - Parameters:
  ///   - source: The source's name.
  ///   - words: Folded words that must all occur in a record's text; none for everything.
  ///   - position: The position after which to begin; 0 for the start.
  ///   - limit: How many records at most, 1 or more.
  /// - Returns: The records, and whether there are more.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func records(
    of source: String, matching words: [Folded], after position: Int64, limit: Int
  ) async throws(SourceError) -> StoredSlice

  /// A record, even if it was deleted or has vanished.
  ///
  /// - Parameters:
  ///   - id: The record's id.
  ///   - source: The source's name.
  /// - Returns: `nil` if it was never stored.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func record(_ id: String, of source: String) async throws(SourceError) -> StoredRecord?

  /// A page as a service gave it, with its records as they are now.
  ///
  /// - Parameters:
  ///   - key: What the page was saved under.
  ///   - source: The source's name.
  /// - Returns: `nil` if it was never saved, or was dropped for newer ones.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func page(_ key: String, of source: String) async throws(SourceError) -> StoredPage?

  /// A text saved under a name, such as where a walk goes on.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - source: The source's name.
  /// - Returns: `nil` if there is none.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func checkpoint(_ name: String, of source: String) async throws(SourceError) -> String?

  /// Saves what one page brought, all of it or nothing.
  ///
  /// - Parameters:
  ///   - batch: Records, the page that they make, and where the walk goes on.
  ///   - source: The source's name.
  ///   - date: The date of the fetching.
  /// - Returns: What was new, and what had changed.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges

  /// Marks ids as deleted; twice is once.
  ///
  /// - Parameters:
  ///   - ids: The ids, stored or not.
  ///   - source: The source's name.
  ///   - date: Today.
  /// - Returns: Those that were not deleted before.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String]

  /// Takes the mark of deletion away.
  ///
  /// - Parameters:
  ///   - ids: The ids; `nil` for all of the source.
  ///   - source: The source's name.
  /// - Returns: Those that were deleted before.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func restore(_ ids: [String]?, of source: String) async throws(SourceError) -> [String]

  /// Which of some ids are deleted.
  ///
  /// - Parameters:
  ///   - ids: The ids.
  ///   - source: The source's name.
  /// - Returns: Those that are deleted.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func deleted(among ids: [String], of source: String) async throws(SourceError) -> Set<String>

  /// Changes a small text that all processes share, one after another.
  ///
  /// - Parameters:
  ///   - key: The text's name.
  ///   - body: From the text, `nil` at first, to the new one; `nil` to leave it as it is. It may be
  ///     called more than once; what it returned last counts.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func change(
    _ key: String, _ body: @escaping @Sendable (String?) -> String?
  ) async throws(SourceError)

  /// How much there is of a source.
  ///
  /// - Parameter source: The source's name.
  /// - Returns: The numbers.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func status(of source: String) async throws(SourceError) -> StoreStatus

  /// Forgets a source's records, pages and places; nothing comes back in its old place after that.
  ///
  /// - Parameters:
  ///   - source: The source's name.
  ///   - forgetsDeleted: Whether it is also forgotten what was deleted.
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func clear(_ source: String, forgetsDeleted: Bool) async throws(SourceError)
}

extension SharedState {
  /// The board of a source in a store.
  ///
  /// - Parameters:
  ///   - source: The source's name.
  ///   - store: What all processes share.
  ///   - now: What the calendar says.
  public init(
    of source: String, in store: any Store, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.init(of: source, now: now) { key, body throws(SourceError) in
      try await store.change(key, body)
    }
  }
}
