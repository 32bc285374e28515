import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// The contents of one source in an ``InMemoryStore``.
struct InMemoryContents {
  struct Row {
    let id: RecordKey
    var record: StoredRecord
    var text: FoldedText
    /// The ``InMemoryContents/revision`` of the last change of the record, or of its deletion.
    var changed: Int
  }

  struct CacheEntry {
    let page: PageMetadata
    let positions: [Int64]
    let fetchedAt: Date
  }

  /// The position before that of the first row; positions have no gaps.
  private let start: Int64
  private var rows: [Row] = []
  private var positions: [RecordKey: Int64] = [:]
  /// The number of rows whose records have moved to later positions.
  private var movedCount = 0
  private var removedCount = 0
  private(set) var pages: [RecordKey: CacheEntry] = [:]
  private(set) var checkpoints: [RecordKey: String] = [:]
  private var fetchedAt: Date?
  private(set) var tombstones: Set<RecordKey>

  /// Another one after each change of the records or the deletions.
  private(set) var revision: Int

  /// The first one since the records were cleared.
  private let firstRevision: Int

  /// The positions seen by reconciliations.
  private var seen: [RecordKey: Set<Int64>] = [:]

  init(start: Int64 = 0, tombstones: Set<RecordKey> = [], revision: Int = 0) {
    self.start = start
    self.tombstones = tombstones
    self.revision = revision
    firstRevision = revision
  }

  /// Returns false if the ID was deleted before.
  mutating func delete(_ id: RecordKey) -> Bool {
    guard tombstones.insert(id).inserted else { return false }
    noteChange(of: id)
    return true
  }

  /// Returns false if the ID was not deleted.
  mutating func restore(_ id: RecordKey) -> Bool {
    guard tombstones.remove(id) != nil else { return false }
    noteChange(of: id)
    return true
  }

  private mutating func noteChange(of id: RecordKey) {
    revision += 1
    if let position = positions[id] { rows[index(position)].changed = revision }
  }

  func update(since earlier: RecordMark?) -> RecordUpdate? {
    let mark = RecordMark(
      revision: "\(revision)", store: 0,
      last: HistoryMark(position: lastPosition, change: Int64(revision)), unrecorded: 0,
      deleted: [], unstored: tombstones.filter { positions[$0] == nil })
    var update = RecordUpdate(mark: mark, count: status.records)
    guard let earlier else { return update }
    guard Int64(firstRevision)...Int64(revision) ~= earlier.last.change else { return nil }
    let changed = rows.filter { $0.changed > earlier.last.change }
    guard changed.count <= RecordUpdate.limit else { return nil }
    for row in changed {
      let record = listedRecord(at: row.record.position)
      update.outdated.insert(row.record.position)
      if let record {
        update.records.append(record)
      } else if positions[row.id] == row.record.position {
        update.removed.append(row.id.text)
      }
    }
    update.addUnstored(since: earlier, changed: changed.map(\.id.text))
    return update
  }

  var lastPosition: Int64 { start + Int64(rows.count) }

  /// `nil` if it is deleted or removed upstream, or if there is none.
  func listedRecord(at position: Int64) -> StoredRecord? {
    guard position > start, position <= lastPosition else { return nil }
    let row = rows[index(position)]
    let isListed = row.record.removedUpstreamAt == nil && !tombstones.contains(row.id)
    return isListed ? row.record : nil
  }

  /// The same with its ID.
  func identifiedRecord(at position: Int64) -> StoredRecord? {
    guard var record = listedRecord(at: position) else { return nil }
    record.id = rows[index(position)].id.text
    return record
  }

  private func index(_ position: Int64) -> Int { Int(position - start) - 1 }

  func row(of id: String) -> Row? { positions[RecordKey(id)].map { rows[index($0)] } }

  var status: StoreStatus {
    var status = StoreStatus()
    let hidden = tombstones.compactMap { positions[$0] }.map { rows[index($0)] }
    status.hidden = hidden.count { $0.record.removedUpstreamAt == nil }
    status.removedUpstream = removedCount
    status.records = rows.count - movedCount - removedCount - status.hidden
    status.deleted = tombstones.count
    status.pages = pages.count
    status.fetchedAt = (pages.values.map(\.fetchedAt) + [fetchedAt].compactMap(\.self)).max()
    status.lastPosition = lastPosition
    return status
  }
}

// MARK: - Reading

extension InMemoryContents {
  /// The rows after a position that are listed, if all words occur in them.
  private func rows(
    matching words: [FoldedText], after position: Int64
  ) -> some Sequence<Row> {
    let next = max(position, start) - start
    return rows.dropFirst(Int(clamping: next)).lazy.filter { row in
      row.record.removedUpstreamAt == nil && !tombstones.contains(row.id)
        && row.text.containsAll(words)
    }
  }

  func records(
    matching words: [FoldedText], after position: Int64, limit: Int
  ) -> RecordSlice {
    let matches = rows(matching: words, after: position).lazy.map(\.record)
    let bound = RecordWindow.limit(showingMoreThan: limit)
    guard words.contains(where: { !$0.text.isEmpty }) else {
      return RecordSlice(Array(matches.prefix(bound)), limit: limit, total: status.records)
    }
    guard position <= start else { return RecordSlice(Array(matches.prefix(bound)), limit: limit) }
    let all = Array(matches)
    return RecordSlice(all, limit: limit, total: all.count)
  }

  func records(
    matching search: RankedSearch, after start: RankedPosition?, limit: Int
  ) -> (slice: RecordSlice, last: SearchRank) {
    let matches = rows(matching: search.words, after: 0).map { row in
      (record: row.record, rank: search.rank(row.id.text, row.text))
    }
    var page = RankedSlice(after: start, limit: limit)
    for start in page.starts {
      let rest = matches.filter { $0.rank == start.rank && $0.record.position > start.position }
      page.append(rest.map(\.record), of: start.rank)
    }
    var slice = page.slice
    if start == nil { slice.total = matches.count }
    return (slice, page.last)
  }

  func page(_ key: RecordKey) -> CachedPage? {
    pages[key].map { page in
      let records = page.positions.map { rows[index($0)].record }
      return CachedPage(
        records: records.filter { $0.removedUpstreamAt == nil }, page: page.page,
        fetchedAt: page.fetchedAt)
    }
  }
}

// MARK: - Saving

extension InMemoryContents: StoreTransaction {
  typealias Failure = Never

  func state(for batch: StoreBatch, of source: String) -> BatchState {
    BatchState(
      source: 0, last: lastPosition,
      checkpoint: batch.checkpointName.flatMap { checkpoints[RecordKey($0)] },
      records: batch.entries.map { entry in row(of: entry.id)?.record.known(for: entry) })
  }

  mutating func insert(_ records: [BatchPlan.Form], of source: Int64, at date: Date) {
    revision += 1
    for form in records {
      let id = RecordKey(form.id)
      positions[id] = form.position
      let record = StoredRecord(position: form.position, json: form.json, savedAt: date)
      rows.append(Row(id: id, record: record, text: form.text, changed: revision))
    }
  }

  mutating func move(_ moves: [(from: Int64, to: Int64)], of source: Int64, at date: Date) {
    revision += 1
    movedCount += moves.count
    for (old, new) in moves {
      rows[index(old)].changed = revision
      var row = rows[index(old)]
      rows[index(old)].record.removedUpstreamAt = .distantPast
      row.record.position = new
      positions[row.id] = new
      rows.insert(row, at: index(new))
    }
    for (key, page) in pages {
      let positions = page.positions.map { old in moves.first { $0.from == old }?.to ?? old }
      pages[key] = CacheEntry(page: page.page, positions: positions, fetchedAt: page.fetchedAt)
    }
  }

  func count(at positions: [Int64], of source: Int64) -> Int {
    positions.count { position in
      position > start && position <= lastPosition
        && rows[index(position)].record.removedUpstreamAt == nil
    }
  }

  mutating func replace(_ records: [BatchPlan.Form], at date: Date) {
    revision += 1
    for form in records {
      rows[index(form.position)].record.json = form.json
      rows[index(form.position)].record.savedAt = date
      rows[index(form.position)].text = form.text
      rows[index(form.position)].changed = revision
    }
  }

  mutating func mark(_ positions: [Int64], removedUpstreamAt date: Date?) {
    revision += 1
    for position in positions {
      rows[index(position)].record.removedUpstreamAt = date
      rows[index(position)].changed = revision
    }
  }

  mutating func update(_ source: Int64, by changes: SourceChanges) {
    removedCount += changes.removedUpstream
    fetchedAt = changes.fetchedAt ?? fetchedAt
  }

  mutating func savePage(
    _ page: PageMetadata, as key: String, positions: [Int64], of source: Int64, at date: Date
  ) {
    pages[RecordKey(key)] = CacheEntry(page: page, positions: positions, fetchedAt: date)
    guard pages.count > StoreLimit.pages else { return }
    let oldest = pages.min { $0.value.fetchedAt < $1.value.fetchedAt }
    if let oldest { pages[oldest.key] = nil }
  }

  mutating func removePages(of source: Int64) { pages = [:] }

  func checkpoint(_ name: String, of source: Int64) -> String? { checkpoints[RecordKey(name)] }

  mutating func setCheckpoint(_ name: String, to text: String?, of source: Int64) {
    checkpoints[RecordKey(name)] = text
  }

  mutating func noteSeen(_ positions: [Int64], by pass: String, of source: Int64) {
    seen[RecordKey(pass), default: []].formUnion(positions)
  }

  mutating func forgetSeen(by pass: String, of source: Int64) { seen[RecordKey(pass)] = nil }

  func unseen(
    by pass: String, and notes: String, upTo last: Int64, of source: Int64,
    startingWith prefix: String?
  ) -> (missing: [Int64], noted: [Int64], known: Int, seen: Int) {
    let seen = self.seen[RecordKey(pass)] ?? []
    let prefix = prefix ?? ""
    let known = rows.lazy.filter {
      $0.record.position <= last && $0.record.removedUpstreamAt == nil
        && $0.id.text.utf8.starts(with: prefix.utf8)
    }.map(\.record.position)
    return (
      known.filter { !seen.contains($0) }, Array(self.seen[RecordKey(notes)] ?? []), known.count,
      seen.count
    )
  }

  func update(_ history: HistoryUpdate, of source: Int64, at date: Date) {}
}

extension StoredRecord {
  fileprivate func known(for entry: StoreEntry) -> BatchPlan.Known {
    BatchPlan.Known(
      position: position, json: json == entry.json ? nil : json,
      isRemovedUpstream: removedUpstreamAt != nil)
  }
}
