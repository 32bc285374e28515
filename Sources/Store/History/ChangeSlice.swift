public import AggregatorFoundation

/// A point in the history of a source's records.
public struct HistoryMark: Hashable, Sendable {
  /// The position of the record first seen last.
  public var position: Int64

  /// The number of the last change; numbers ascend.
  public var change: Int64

  public init(position: Int64, change: Int64) {
    self.position = position
    self.change = change
  }
}

/// The point with which the records are compared.
public enum HistoryStart: Hashable, Sendable {
  case date(Date)
  case mark(HistoryMark)
  /// The end of the sync before the last one, whether or not it has found that records may be missing.
  ///
  /// The end of the first sync, if no other one is known.
  case sync
}

/// A record that may have changed since a point of its history.
public struct StoredChange: Hashable, Sendable {
  public var id: String

  /// The record as it is now, or was when it was removed upstream.
  public var record: StoredRecord

  /// True if the service had the record then.
  public var wasListed: Bool

  /// The record as it was then; `nil` if it has not changed since.
  public var before: Data?

  /// The time of the last change; of a record that was first seen after the point, that time.
  public var date: Date

  public init(id: String, record: StoredRecord, wasListed: Bool, before: Data?, date: Date) {
    self.id = id
    self.record = record
    self.wasListed = wasListed
    self.before = before
    self.date = date
  }
}

/// Consecutive changes of a source, one for each record.
public struct ChangeSlice: Hashable, Sendable {
  /// The point with which the records are compared.
  public var start: HistoryMark

  /// The date of the start; `nil` for a mark.
  public var date: Date?

  /// The date before which changes are no longer known, if it is after the start; `nil` if all are known.
  public var knownSince: Date?

  /// The changes in first-seen order.
  public var changes: [StoredChange]

  public var hasMore: Bool

  /// False if the start is the end of the only sync that is known.
  public var hasEarlierSync = true

  public init(
    start: HistoryMark, date: Date?, knownSince: Date?, changes: [StoredChange], hasMore: Bool
  ) {
    self.start = start
    self.date = date
    self.knownSince = knownSince
    self.changes = changes
    self.hasMore = hasMore
  }
}

/// The history that a ``SourceStore`` has of a source.
public struct HistoryStatus: Hashable, Sendable {
  /// The date since which changes are known.
  public var start: Date

  /// The number of changes.
  public var count: Int

  /// The present end of the history.
  public var mark: HistoryMark

  /// The time of the last completed sync; `nil` if none is known.
  public var syncedAt: Date?

  public init(start: Date, count: Int, mark: HistoryMark, syncedAt: Date?) {
    self.start = start
    self.count = count
    self.mark = mark
    self.syncedAt = syncedAt
  }
}
