public import AggregatorCore
public import AggregatorFoundation

/// The past of a record, as far as a store knows it.
public struct StoredHistory: Hashable, Sendable {
  /// Something that a sync or another answer of the service has shown.
  public struct Event: Hashable, Sendable {
    public enum Kind: String, Sendable { case changed, removed, returned }

    public var kind: Kind

    public var date: Date

    /// The record before the change; `nil` if it did not change by it.
    public var before: Data?

    public init(_ kind: Kind, at date: Date, before: Data? = nil) {
      self.kind = kind
      self.date = date
      self.before = before
    }
  }

  /// The record as it is now, or was when it was removed upstream.
  public var record: StoredRecord

  public var firstSeen: Date

  /// The date before which changes are no longer known, if it is after the record was first seen; `nil` if all are known.
  public var knownSince: Date?

  /// The latest first.
  public var events: [Event]

  public var hasMore: Bool

  public init(
    record: StoredRecord, firstSeen: Date, knownSince: Date?, events: [Event], hasMore: Bool
  ) {
    self.record = record
    self.firstSeen = firstSeen
    self.knownSince = knownSince
    self.events = events
    self.hasMore = hasMore
  }
}

/// The known past of a record.
public struct RecordHistory<Item: SourceRecord>: Sendable {
  public var firstSeen: Date

  /// The date before which changes are no longer known, if it is after the record was first seen; `nil` if all are known.
  public var knownSince: Date?

  /// The latest first, each with the time at which it was found.
  ///
  /// A record that the service has again is `added`.
  public var changes: [(change: RecordChange<Item>, date: Date)] = []

  /// False if there are earlier changes, or if some cannot be read.
  public var isComplete = true
}

extension RecordStore {
  /// The latest changes of a record, at most `limit`, 1 or more; `nil` if the record is not stored or no history is kept.
  ///
  /// As with ``changes(since:after:limit:)``, details that only one of two forms of a record has are not a difference.
  @concurrent public func history(
    of id: Item.ID, limit: Int
  ) async throws(SourceError) -> RecordHistory<Item>? {
    guard let stored = try await store.history(of: id.description, in: source, limit: limit),
      var item = decoded([stored.record]).records.first
    else { return nil }
    var history = RecordHistory<Item>(firstSeen: stored.firstSeen, knownSince: stored.knownSince)
    history.isComplete = !stored.hasMore
    for event in stored.events {
      switch event.kind {
      case .removed: history.changes.append((.removed(item), event.date))
      case .returned: history.changes.append((.added(item), event.date))
      case .changed: break
      }
      guard let json = event.before else { continue }
      // An unreadable form was written by another version: what was before it cannot be compared.
      guard let before = try? JSONText(json)?.read(Item.self) else {
        history.isComplete = false
        break
      }
      let (old, new) = (before.merged(over: item), item.merged(over: before))
      if old != new { history.changes.append((.changed(from: old, to: new), event.date)) }
      // With what is known of later forms: a list in between may have left out a detail.
      item = old
    }
    return history
  }
}
