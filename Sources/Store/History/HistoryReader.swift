package import AggregatorFoundation

/// A transaction of a store, open for reading the history of a source.
package protocol HistoryReader: ~Copyable {
  associatedtype Failure: Error

  /// The number of a source and its history; `nil` if none is kept.
  mutating func history(
    of source: String
  ) throws(Failure) -> (source: Int64, history: HistoryStatus)?

  /// The points of the last two completed syncs, the later one first.
  mutating func syncs(
    of source: Int64
  ) throws(Failure) -> [(mark: HistoryMark, date: Date?)]

  /// The text of a checkpoint; `nil` if there is none.
  mutating func checkpoint(_ name: String, of source: Int64) throws(Failure) -> String?

  /// The point of a date: the last record first seen until then, or the ``PositionRange/start``, and the last
  /// change until then, or `trimmed`.
  ///
  /// Read from the end, so that only what is later is read, and one more row: a clock that was set back moves the
  /// point, but tears nothing apart.
  mutating func mark(
    of source: Int64, at date: Date, trimmed: Int64
  ) throws(Failure) -> HistoryMark

  /// The records that are new or have changed since a point, without deleted ones, in the order of their positions.
  ///
  /// They begin after `position`, and are at most `limit`.
  mutating func changedRecords(
    of source: Int64, since mark: HistoryMark, after position: Int64, limit: Int
  ) throws(Failure) -> [StoredChange]

  /// A record and the time at which it was first seen; `nil` if it is not stored.
  mutating func record(
    _ id: String, in source: Int64
  ) throws(Failure) -> (record: StoredRecord, firstSeen: Date)?

  /// The changes of a record, the latest first, at most `limit`.
  mutating func events(
    at position: Int64, limit: Int
  ) throws(Failure) -> [StoredHistory.Event]
}

extension HistoryReader where Self: ~Copyable {
  /// The history of a record; `nil` if it is not stored or no history is kept.
  package mutating func history(
    of id: String, in name: String, limit: Int
  ) throws(Failure) -> StoredHistory? {
    guard let (source, history) = try history(of: name),
      let (record, firstSeen) = try record(id, in: source)
    else { return nil }
    var events = try events(at: record.position, limit: RecordWindow.limit(showingMoreThan: limit))
    let hasMore = events.count > limit
    if hasMore { events.removeLast() }
    return StoredHistory(
      record: record, firstSeen: firstSeen,
      knownSince: firstSeen < history.start ? history.start : nil, events: events,
      hasMore: hasMore)
  }

  /// The changes of a source since a point; `nil` if nothing is known of it.
  package mutating func changes(
    of name: String, since start: HistoryStart, after position: Int64, limit: Int
  ) throws(Failure) -> ChangeSlice? {
    guard let (source, history) = try history(of: name),
      var changes = try comparison(with: start, in: history, of: source)
    else { return nil }
    changes.changes = try changedRecords(
      of: source, since: changes.start, after: position,
      limit: RecordWindow.limit(showingMoreThan: limit))
    changes.hasMore = changes.changes.count > limit
    if changes.hasMore { changes.changes.removeLast() }
    return changes
  }

  /// The start of a comparison, without changes.
  private mutating func comparison(
    with start: HistoryStart, in history: HistoryStatus, of source: Int64
  ) throws(Failure) -> ChangeSlice? {
    let trimmed = history.mark.change - Int64(history.count)
    let (point, isWhole): ((mark: HistoryMark, date: Date?), Bool)
    var hasEarlierSync = true
    switch start {
    case .mark(let mark):
      point = (mark, nil)
      isWhole = mark.change >= trimmed
    case .sync:
      let ends = try ends(of: source, since: history.start, trimmed: trimmed)
      guard let last = ends.first else { return nil }
      // All that a first sync has found is new to the store, and not to the service.
      hasEarlierSync = ends.count > 1
      point = hasEarlierSync ? ends[1] : last
      isWhole = point.mark.change >= trimmed
    case .date(let date):
      point = (try mark(of: source, at: date, trimmed: trimmed), date)
      // Also if all records were first seen later: the service may have changed before.
      isWhole = date >= history.start
    }
    var slice = ChangeSlice(
      start: point.mark, date: point.date, knownSince: isWhole ? nil : history.start, changes: [],
      hasMore: false)
    slice.hasEarlierSync = hasEarlierSync
    return slice
  }

  /// The points of the ends of the last syncs, complete or not, the latest first.
  private mutating func ends(
    of source: Int64, since start: Date, trimmed: Int64
  ) throws(Failure) -> [(mark: HistoryMark, date: Date?)] {
    var ends = try syncs(of: source)
    let text = try checkpoint(IncompleteEnds.checkpoint, of: source)
    // The history of earlier ones was cleared or removed.
    for date in IncompleteEnds(text).dates where date >= start {
      ends.append((try mark(of: source, at: date, trimmed: trimmed), date))
    }
    return ends.sorted { ($1.date ?? .distantPast) < ($0.date ?? .distantPast) }
  }
}
