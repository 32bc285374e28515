public import AggregatorCore
import Foundation

/// One source's part of a ``Store``: its records as the type that they are.
public struct RecordStore<Item: Record>: Sendable {
  /// The source's name.
  public let source: String

  /// Where the records are kept.
  public let store: any Store

  private let text: @Sendable (Item) -> Folded

  /// A source's part of a store.
  ///
  /// - Parameters:
  ///   - source: The source's name.
  ///   - store: Where the records are kept.
  ///   - text: The folded text of a record that queries look into.
  public init(
    _ source: String, in store: any Store, text: @escaping @Sendable (Item) -> Folded
  ) {
    self.source = source
    self.store = store
    self.text = text
  }

  /// Saves what a page brought.
  ///
  /// - Parameters:
  ///   - items: The records.
  ///   - page: The page that they make, and what it is saved under.
  ///   - move: Where a walk goes on.
  ///   - date: The date of the fetching.
  /// - Returns: What was new, and what had changed.
  /// - Throws: ``SourceError`` with code `storage`, `busy` or `malformed`.
  func save(
    _ items: [Item], page: (key: String, page: FetchedPage)? = nil, update: CheckpointUpdate? = nil,
    at date: Date
  ) async throws(SourceError) -> StoreChanges {
    try await save(written: written(items), page: page, update: update, at: date)
  }

  /// Saves records that have been written down before.
  func save(
    written items: [EncodedRecord<Item>], page: (key: String, page: FetchedPage)? = nil,
    update: CheckpointUpdate?,
    at date: Date
  ) async throws(SourceError) -> StoreChanges {
    try await store.save(
      StoreBatch(items.map(entry), page: page, update: update), of: source, at: date)
  }

  /// Records with the JSON that the store compares.
  ///
  /// - Parameter items: The records.
  /// - Returns: The same, in the same order.
  /// - Throws: ``SourceError`` with code `malformed`.
  func written(_ items: [Item]) throws(SourceError) -> [EncodedRecord<Item>] {
    do { return try items.map(EncodedRecord.init) } catch {
      throw SourceError(.malformed, "a record of \(source) cannot be written down")
    }
  }

  private func entry(_ written: EncodedRecord<Item>) -> StoreEntry {
    let item = written.item
    return StoreEntry(id: item.id.description, json: written.json) {
      text(item)
    } completed: { known in
      // What was written by another version may be unreadable: then there is nothing to keep of it.
      guard let known = try? JSONText(known)?.read(Item.self) else { return nil }
      let merged = item.merged(over: known)
      guard merged != item else { return nil }
      return (try? CanonicalJSON.bytes(of: merged)).map { ($0, text(merged)) }
    }
  }

  /// The records that can still be read, and how many cannot.
  func items(_ stored: [StoredRecord]) -> (items: [Item], unreadable: Unreadable) {
    var items: [Item] = []
    var unreadable = Unreadable.none
    for record in stored {
      if let item = try? JSONText(record.json)?.read(Item.self) {
        items.append(item)
      } else {
        unreadable = unreadable + Unreadable(count: 1, firstReason: "stored by another version")
      }
    }
    return (items, unreadable)
  }

  /// The stored record with this id, deleted or not; `nil` if there is none that can be read.
  func item(
    _ id: Item.ID
  ) async throws(SourceError) -> (item: Item, savedAt: Date, removedUpstreamAt: Date?)? {
    guard let record = try await store.record(id.description, of: source) else { return nil }
    return items([record]).items.first.map { ($0, record.savedAt, record.removedUpstreamAt) }
  }
}
