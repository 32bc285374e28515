package import AggregatorCore

/// The records of a source at one time, as far as a store must know them to tell later what has changed.
public struct RecordMark: Hashable, Sendable {
  /// ``SourceStore/revision(of:)`` at that time.
  public let revision: String

  /// Another one if the store may be another one: then its numbers mean nothing.
  let store: Int

  /// The position given last, and the change numbered last.
  package let last: HistoryMark

  /// The number of replaced records that are not in the history: the service sent other details of them.
  let unrecorded: Int64

  /// The positions of the records that only a deletion hides.
  package var deleted: Set<Int64>

  /// The IDs that are deleted although the store has no record of them: those of bundled data.
  package var unstored: Set<RecordKey> = []

  /// True if the store never had a record of the source.
  package var isWithoutRecords: Bool { last.position == range.start }

  /// The numbers of the source that the mark belongs to.
  package var range: PositionRange { PositionRange(of: last.position >> PositionRange.bits) }
}

/// The records that have changed since a mark.
public struct RecordUpdate: Sendable {
  /// The most records of an update: to read all is not slower than to read more.
  package static let limit = 5000

  public let mark: RecordMark

  /// The records that are new, may have changed or are no longer deleted, in the order of their positions, without deleted
  /// ones and ones removed upstream.
  public var records: [StoredRecord] = []

  /// The positions of earlier records that are no longer listed or are among ``records``.
  public var outdated: Set<Int64> = []

  /// The IDs of records that are no longer listed; some may not have been before either.
  public var removed: [String] = []

  /// The IDs that are no longer deleted, and of which the store has no record.
  public var restored: [String] = []

  /// The number of all listed records, by which a reader notices if it has missed one.
  public let count: Int

  /// Adds the deletions of records that the store does not have, and their undoing.
  ///
  /// - Parameter ids: The IDs of the records that may have changed since the mark.
  mutating func addUnstored(since earlier: RecordMark, changed ids: [String]) {
    removed += mark.unstored.subtracting(earlier.unstored).map(\.text)
    // Those that were saved since are no longer unstored either.
    restored = earlier.unstored.subtracting(mark.unstored)
      .subtracting(ids.map { RecordKey($0) }).map(\.text)
  }
}

/// The records that were replaced without a change of the history, the text of a checkpoint: how many there ever were,
/// and the positions of the last ones.
package struct UnrecordedChanges: Sendable {
  /// The name of the checkpoint.
  package static let name = "unrecorded"

  /// Enough for what is opened while a list is shown, and few enough to be written with each of them.
  private static let keptCount = 200

  package private(set) var count: Int64 = 0
  package private(set) var positions: [Int64] = []

  package init(_ text: String?) {
    let numbers = (text ?? "").split(separator: " ").map { Int64($0) ?? 0 }
    count = numbers.first ?? 0
    positions = Array(numbers.dropFirst())
  }

  mutating func add(_ replaced: [Int64]) {
    count &+= Int64(replaced.count)
    positions = (positions + replaced).suffix(Self.keptCount)
  }

  /// Takes note of more changes than the positions tell of.
  mutating func forget() { count &+= Int64(Self.keptCount) + 1 }

  var text: String { ([count] + positions).map(String.init).joined(separator: " ") }

  /// True if the last positions are all that were added since a count.
  fileprivate func reach(_ earlier: Int64) -> Bool {
    0...Int64(positions.count) ~= count &- earlier
  }
}

/// The numbers that a store reads for a ``RecordUpdate``, all at the same time.
package struct RecordNumbers {
  package var store = 0
  package var revision: String
  /// The number of the source.
  package var source: Int64
  package var last: Int64
  /// All records, also those that are not listed.
  package var records: Int
  package var removedUpstream: Int
  /// The numbers of the last change, and of the last that was removed; `nil` if there never was a history.
  package var lastChange: Int64?
  package var trimmed: Int64?
  package var unrecorded: UnrecordedChanges
  /// The positions of the records that only a deletion hides.
  package private(set) var deleted: Set<Int64> = []
  /// The IDs that are deleted without a record.
  private var unstored: Set<RecordKey> = []

  package init(revision: String, source: Int64, last: Int64, unrecorded: UnrecordedChanges) {
    self.revision = revision
    self.source = source
    self.last = last
    self.unrecorded = unrecorded
    (records, removedUpstream) = (0, 0)
  }

  /// - Parameter position: That of its record; `nil` if there is none.
  package mutating func add(deleted id: String, at position: Int64?) {
    if let position { deleted.insert(position) } else { unstored.insert(RecordKey(id)) }
  }

  private var mark: RecordMark {
    RecordMark(
      revision: revision, store: store,
      last: HistoryMark(
        position: last, change: lastChange ?? PositionRange(of: source).start),
      unrecorded: unrecorded.count, deleted: deleted, unstored: unstored)
  }

  /// The update of a mark, or the first one without; `nil` if it is not known what has changed.
  ///
  /// - Parameters:
  ///   - rows: The records that the history has changes of since the mark, the unrecorded ones, those that were
  ///     deleted then and no longer are, and those behind its last one.
  ///   - hidden: The IDs of those that were deleted since the mark.
  package func update(
    since earlier: RecordMark?, _ rows: [ChangedRow], hidden: [String]
  ) -> RecordUpdate? {
    let mark = mark
    var update = RecordUpdate(mark: mark, count: records - removedUpstream - deleted.count)
    guard let earlier else { return update }
    let start = trimmed ?? PositionRange(of: source).start
    guard rows.count <= RecordUpdate.limit, earlier.store == store,
      earlier.last.position >> PositionRange.bits == source, earlier.last.position <= last,
      earlier.last.change >= start, earlier.last.change <= mark.last.change,
      unrecorded.reach(earlier.unrecorded)
    else { return nil }
    update.records = rows.compactMap(\.record)
    update.outdated = Set(rows.map(\.position)).union(newlyDeleted(since: earlier))
    update.removed = hidden + rows.filter { $0.record == nil }.map(\.id)
    update.addUnstored(since: earlier, changed: rows.map(\.id))
    return update
  }

  package func newlyDeleted(since earlier: RecordMark) -> Set<Int64> {
    deleted.subtracting(earlier.deleted)
  }
}

/// A record that may have changed since a mark.
package struct ChangedRow {
  let position: Int64
  let id: String
  /// `nil` if it is not listed.
  let record: StoredRecord?

  package init(_ id: String, _ record: StoredRecord, isDeleted: Bool) {
    position = record.position
    self.id = id
    self.record = record.removedUpstreamAt == nil && !isDeleted ? record : nil
  }
}
