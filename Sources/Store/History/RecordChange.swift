public import AggregatorCore
public import AggregatorFoundation

/// A difference between a record and an earlier state of it.
public enum RecordChange<Item: SourceRecord>: Hashable, Sendable {
  /// The service has the record, and did not have it before.
  case added(Item)
  case changed(from: Item, to: Item)
  /// A sync found that the service no longer has the record.
  case removed(Item)

  /// The record as it is now, or was when it was removed.
  public var item: Item {
    switch self {
    case .added(let item), .changed(_, let item), .removed(let item): item
    }
  }
}

/// A page of changes.
public struct RecordChanges<Item: SourceRecord>: Sendable {
  /// The point with which the records are compared.
  public var start: HistoryMark

  /// The date of the start; `nil` for a mark.
  public var date: Date?

  /// The date before which changes are not known, if it is after the start; `nil` if all are known.
  public var knownSince: Date?

  /// The changes in first-seen order, each with the time at which it was found.
  public var changes: [(change: RecordChange<Item>, date: Date)] = []

  public var unreadable = UnreadableRows.none

  /// The number of records that were changed, and have changed back since.
  public var reverted = 0

  /// False if the start is the end of the only sync that is known.
  public var hasEarlierSync = true

  /// The position after which the next page begins; `nil` after the last.
  public var next: Int64?
}

extension RecordStore {
  /// The records that differ from an earlier state, at most `limit`, 1 or more, after a position; `nil` if
  /// nothing is known of that state.
  ///
  /// Differences are net: a value that has changed back is none. Details that only one of two forms of a
  /// record has, such as those of a single record and of a list, are not a difference; see
  /// ``SourceRecord/merged(over:)``.
  @concurrent public func changes(
    since start: HistoryStart, after position: Int64 = 0, limit: Int
  ) async throws(SourceError) -> RecordChanges<Item>? {
    let stored = try await store.changes(
      of: source, since: start, after: position, limit: limit)
    guard let stored else { return nil }
    var page = RecordChanges<Item>(
      start: stored.start, date: stored.date, knownSince: stored.knownSince,
      next: stored.hasMore ? stored.changes.last?.record.position : nil)
    page.hasEarlierSync = stored.hasEarlierSync
    for stored in stored.changes {
      let (change, isReverted, unreadable) = change(stored)
      page.unreadable = page.unreadable + unreadable
      if let change { page.changes.append((change, stored.date)) }
      if isReverted { page.reverted += 1 }
    }
    return page
  }

  /// Decodes a change; `nil` if the record is as it was, or cannot be read.
  ///
  /// It `isReverted` if the service had the record then, and has changed it back since.
  package func change(
    _ stored: StoredChange
  ) -> (change: RecordChange<Item>?, isReverted: Bool, unreadable: UnreadableRows) {
    let (items, unreadable) = decoded([stored.record])
    guard let item = items.first else { return (nil, false, unreadable) }
    switch (stored.wasListed, stored.record.removedUpstreamAt == nil) {
    case (false, false): return (nil, false, unreadable)
    case (false, true): return (.added(item), false, unreadable)
    case (true, false): return (.removed(item), false, unreadable)
    case (true, true):
      // It was removed, and has come back as it was.
      guard let json = stored.before else { return (nil, true, unreadable) }
      // An unreadable form was written by another version.
      guard let before = try? JSONText(json)?.read(Item.self) else {
        return (nil, false, unreadable)
      }
      let (old, new) = (before.merged(over: item), item.merged(over: before))
      return old == new
        ? (nil, true, unreadable) : (.changed(from: old, to: new), false, unreadable)
    }
  }
}
