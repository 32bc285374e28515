import AggregatorFoundation
package import AggregatorKit

/// The values of fields of all cached records of a source: with it a page of a selection reads its own records only.
///
/// The values are read when they are needed first, and kept as long as the records do not change: those of all fields, or,
/// of more than a million records, only of those that are needed. There is room for 8 fields of a million records; those
/// that were not needed for the longest time go.
package actor RecordIndex<Item: Record> {
  /// The largest number of values.
  static var maxCount: Int { 8_000_000 }

  nonisolated let records: RecordStore<Item>
  private let fields: [Field<Item>]
  private let lacksDetails: @Sendable (Item) -> Bool
  private var table: RecordTable?
  /// The fields of the table, the one that was needed last at the end.
  private var recent: [String] = []
  private var reading: Task<Result<RecordTable, SourceError>, Never>?

  /// - Parameter fields: All that may be needed.
  package init(
    _ records: RecordStore<Item>, _ fields: [Field<Item>],
    lacksDetails: @escaping @Sendable (Item) -> Bool
  ) {
    self.records = records
    self.fields = fields
    self.lacksDetails = lacksDetails
  }

  /// The present records with the values of these fields; `nil` if the store cannot tell whether records have changed.
  func table(of fields: [Field<Item>]) async throws(SourceError) -> RecordTable? {
    while let reading {
      _ = await reading.value
      if self.reading == reading { self.reading = nil }
    }
    guard let revision = try await records.store.revision(of: records.source) else { return nil }
    let known = table?.revision == revision ? table : nil
    let isMissing = { (field: Field<Item>) in known?.columns[field.name] == nil }
    if let known, !fields.contains(where: isMissing) {
      touch(fields.map(\.name))
      return known
    }
    let count = try await records.store.status(of: records.source).records
    // Decoding the records takes longer than reading their values.
    let fits = count * self.fields.count <= Self.maxCount
    let missing = (fits ? self.fields : fields).filter(isMissing)
    touch(missing.map(\.name) + fields.map(\.name))
    let task = Task { [records, lacksDetails] in
      await Result { () async throws(SourceError) in
        try await RecordTable(missing, of: records, at: revision, lacksDetails)
      }
    }
    reading = task
    let result = await task.value
    if reading == task { reading = nil }
    var read = try result.get()
    if let known, known.positions == read.positions {
      read.columns.merge(known.columns) { new, _ in new }
    }
    let room = max(Self.maxCount / max(1, read.positions.count), fields.count)
    while recent.count > room { read.columns[recent.removeFirst()] = nil }
    recent.removeAll { read.columns[$0] == nil }
    table = read
    return read
  }

  /// The rows that match a query, by their rank; all without one.
  nonisolated func found(
    in table: RecordTable, matching query: Query?
  ) async throws(SourceError) -> [Int] {
    guard let query else { return Array(table.positions.indices) }
    var found: [Int] = []
    var position: RecordPosition?
    var hasMore = true
    while hasMore {
      let (slice, last) = try await records.slice(
        PageRequest(matching: query, limit: 2000), after: position)
      found += slice.records.compactMap { table.row(at: $0.position) }
      (position, hasMore) = (last, slice.hasMore && last != nil)
    }
    return found
  }

  private func touch(_ names: [String]) {
    recent.removeAll(where: names.contains)
    for name in names where !recent.contains(name) { recent.append(name) }
  }
}

/// Records of a source at one time, and the values of some of their fields.
struct RecordTable: Sendable {
  let revision: String
  /// The positions of the records, ascending.
  private(set) var positions: [Int64] = []
  /// True for each record that was stored without its details.
  private(set) var lacksDetails: [Bool] = []
  private(set) var unreadable = UnreadableRows.none
  /// The time at which the oldest record was stored.
  private(set) var oldest: Date?
  fileprivate(set) var columns: [String: Column] = [:]

  fileprivate init<Item: Record>(
    _ fields: [Field<Item>], of records: RecordStore<Item>, at revision: String,
    _ lacksDetails: (Item) -> Bool
  ) async throws(SourceError) {
    self.revision = revision
    var builders = fields.map { _ in Column.Builder() }
    var position: Int64 = 0
    var hasMore = true
    while hasMore {
      let slice = try await records.store.records(
        of: records.source, matching: [], after: position, limit: 2000)
      for record in slice.records {
        position = record.position
        oldest = min(oldest ?? record.savedAt, record.savedAt)
        let (items, failed) = records.decoded([record])
        unreadable = unreadable + failed
        guard let item = items.first else { continue }
        positions.append(record.position)
        self.lacksDetails.append(lacksDetails(item))
        for index in fields.indices { builders[index].append(fields[index][item]) }
      }
      hasMore = slice.hasMore
    }
    for (field, builder) in zip(fields, builders) { columns[field.name] = builder.column }
  }

  /// The row of a record; `nil` if it has none.
  func row(at position: Int64) -> Int? {
    var range = 0..<positions.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      if positions[middle] == position { return middle }
      range =
        positions[middle] < position ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }

  /// The rows that a selection shows, in its order.
  func rows<Item>(
    selectedBy selection: Selection<Item>, among found: [Int]
  ) throws(SourceError) -> [Int] {
    var rows = found
    for condition in selection.conditions {
      guard let column = columns[condition.field.name] else { continue }
      for value in column.values { try condition.check(value) }
      let matches = column.values.map(condition.matches)
      rows.removeAll { !matches[Int(column.codes[$0])] }
    }
    for key in (selection.order?.keys ?? []).reversed() {
      columns[key.field.name]?.sort(&rows, isDescending: key.isDescending)
    }
    return rows
  }
}
