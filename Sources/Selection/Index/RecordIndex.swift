import AggregatorFilters
import AggregatorFoundation
package import AggregatorKit

/// The values of fields of all cached records of a source: with it a page of a selection reads its own records only.
///
/// The values are read when they are needed first: those of all fields, or, of more than a million records, only of those
/// that are needed. There is room for 8 fields of a million records; those that were not needed for the longest time go.
/// When records have changed, only these are read again, if the store can tell which.
package actor RecordIndex<Item: SourceRecord> {
  /// The largest number of values.
  static var maxCount: Int { 8_000_000 }

  package nonisolated let records: RecordStore<Item>
  private let fields: [Field<Item>]
  private let reader: RecordTable.Reader<Item>
  private(set) var table: RecordTable?
  /// The fields of the table, the one that was needed last at the end.
  private var recent: [String] = []
  /// The rows of the last selections, the latest one at the end, because every page of a list needs the same rows.
  private var selected: [(key: SelectionKey, rows: SelectedRows)] = []
  private var reading: Task<Result<RecordTable, SourceError>, Never>?
  /// The number of readings that have begun.
  private(set) var begun = 0
  /// True if a list has needed the values since the last ``renew()``.
  private var isNeeded = false

  /// - Parameter fields: All that may be needed.
  package init(
    _ records: RecordStore<Item>, _ fields: [Field<Item>],
    lacksDetails: @escaping @Sendable (Item) -> Bool
  ) {
    self.records = records
    self.fields = fields
    reader = RecordTable.Reader(records: records, fields: fields, lacksDetails: lacksDetails)
  }

  /// The present records with the values of these fields; `nil` if the store cannot tell whether records have changed.
  ///
  /// Those who wait meanwhile share the next reading: while a sync goes on, each would find that records have changed
  /// since the last one, and read them again.
  func table(of fields: [Field<Item>]) async throws(SourceError) -> RecordTable? {
    isNeeded = true
    return try await current(fields)
  }

  private func current(_ fields: [Field<Item>]) async throws(SourceError) -> RecordTable? {
    let begunBefore = begun
    while true {
      if let reading {
        let number = begun
        let result = await reading.value
        // One that began earlier may lack what was stored before this call.
        if number > begunBefore, let table = try? result.get(), table.has(fields) { return table }
        continue
      }
      let number = begun
      guard let revision = try await records.store.revision(of: records.source) else { return nil }
      if let table, table.revision == revision, table.has(fields) {
        touch(fields.map(\.name))
        return table
      }
      let count = try await records.store.status(of: records.source).records
      guard begun == number else { continue }
      // Decoding the records takes longer than reading their values.
      let wanted = count * self.fields.count <= Self.maxCount ? self.fields : fields
      touch(wanted.map(\.name) + fields.map(\.name))
      return try await read(wanted, at: revision)
    }
  }

  private func read(
    _ wanted: [Field<Item>], at revision: String
  ) async throws(SourceError) -> RecordTable {
    begun += 1
    let task = Task { @concurrent [self, reader, table] in
      let result = await Result { () async throws(SourceError) in
        try await reader.table(of: wanted, at: revision, after: table)
      }
      // Before those who wait go on.
      await keep(try? result.get(), with: wanted.count)
      return result
    }
    reading = task
    return try await task.value.get()
  }

  private func keep(_ read: RecordTable?, with count: Int) {
    reading = nil
    guard var read else { return }
    let room = max(Self.maxCount / max(1, read.positions.count), count)
    while recent.count > room { read.columns[recent.removeFirst()] = nil }
    recent.removeAll { read.columns[$0] == nil }
    table = read
  }

  /// Reads what a list that is selected or sorted by any field needs, so that the first one does not wait for it; only for
  /// records whose values all have room.
  package func prepare() async throws(SourceError) {
    isNeeded = true
    try await readAll()
  }

  /// Reads what has changed after a sync, if a list has needed the values since the last one; else they go.
  package func renew() async throws(SourceError) {
    guard isNeeded else {
      table = nil
      return
    }
    isNeeded = false
    try await readAll()
  }

  private func readAll() async throws(SourceError) {
    let count = try await records.store.status(of: records.source).records
    guard count * fields.count <= Self.maxCount else { return }
    for (name, column) in try await current(fields)?.columns ?? [:] {
      _ = (column.facetShape(of: name), column.ascending)
    }
  }

  /// The number of present records that match a query; `nil` if it is a search of more records than are counted.
  package nonisolated func count(matching query: SearchQuery?) async throws(SourceError) -> Int? {
    let count = try await records.store.status(of: records.source).records
    guard query != nil else { return count }
    guard count <= Self.maxSearched, let table = try await table(of: []) else { return nil }
    return try await found(in: table, matching: query).count
  }

  /// The number of present records that a selection shows; `nil` if the values of more than `most` records would have to be
  /// read for it.
  package nonisolated func count(
    of selection: Selection<Item>, readingAtMost most: Int
  ) async throws(SourceError) -> Int? {
    let count = try await records.store.status(of: records.source).records
    guard count > 0 else { return 0 }
    guard count <= Self.maxSearched,
      let revision = try await records.store.revision(of: records.source)
    else { return nil }
    var known = await table
    if known?.revision != revision || known?.has(selection.fields) != true {
      known = count <= most ? try await table(of: selection.fields) : nil
    }
    guard let table = known else { return nil }
    return try await selected(by: selection, matching: nil, in: table).rows.count
  }

  /// The number of records before one in the order of a selection; `nil` if it is not among them.
  package nonisolated func offset(
    of id: Item.ID, in selection: Selection<Item>, matching query: SearchQuery?
  ) async throws(SourceError) -> Int? {
    guard let table = try await table(of: selection.fields),
      let record = try await records.store.record(id.description, of: records.source),
      let row = table.row(at: record.position)
    else { return nil }
    return try await selected(by: selection, matching: query, in: table).rows.firstIndex(of: row)
  }

  private static var maxSearched: Int { 50_000 }
  private static var maxSelections: Int { 8 }
  private static var maxSelectedRows: Int { 1_000_000 }

  /// The rows that match a query, by their rank; all without one.
  ///
  /// They are kept as those of a selection without conditions: every page, its total and the facets need the same ones.
  nonisolated func found(
    in table: RecordTable, matching query: SearchQuery?
  ) async throws(SourceError) -> [Int] {
    guard let query else { return Array(table.positions.indices) }
    let key = SelectionKey(
      revision: table.revision, text: SelectionText(conditions: []), query: query)
    if let known = await known(key) { return known.rows }
    var found: [Int] = []
    var position: RecordPosition?
    repeat {
      let (slice, last) = try await records.slice(
        PageRequest(matching: query, limit: 2000), after: position)
      found += slice.records.compactMap { table.row(at: $0.position) }
      position = slice.hasMore ? last : nil
    } while position != nil
    await keep(SelectedRows(rows: found, warnings: []), for: key)
    return found
  }

  /// The rows of a table that match a query and a selection, in the order of the selection.
  nonisolated func selected(
    by selection: Selection<Item>, matching query: SearchQuery?, in table: RecordTable
  ) async throws(SourceError) -> SelectedRows {
    let key = SelectionKey(revision: table.revision, text: selection.text, query: query)
    if !selection.isRelative, let known = await known(key) { return known }
    let found = try await found(in: table, matching: query)
    let rows = SelectedRows(
      rows: try table.rows(selectedBy: selection, among: found),
      warnings: selection.warnings(unfetched: found.count { table.lacksDetails[$0] })
        + table.warnings(of: selection, among: found))
    if !selection.isRelative { await keep(rows, for: key) }
    return rows
  }

  private func known(_ key: SelectionKey) -> SelectedRows? {
    guard let index = selected.firstIndex(where: { $0.key == key }) else { return nil }
    selected.append(selected.remove(at: index))
    return selected.last?.rows
  }

  private func keep(_ rows: SelectedRows, for key: SelectionKey) {
    selected.removeAll { $0.key == key || $0.key.revision != key.revision }
    selected.append((key, rows))
    while selected.count > 1,
      selected.count > Self.maxSelections
        || selected.reduce(0, { $0 + $1.rows.rows.count }) > Self.maxSelectedRows
    {
      selected.removeFirst()
    }
  }

  private func touch(_ names: [String]) {
    recent.removeAll(where: names.contains)
    for name in names where !recent.contains(name) { recent.append(name) }
  }
}

/// The list that rows are selected for.
private struct SelectionKey: Hashable {
  let revision: String
  let text: SelectionText
  let query: SearchQuery?
}

/// The rows of a table that a selection shows, in its order.
struct SelectedRows: Sendable {
  let rows: [Int]
  /// Of fields that lists do not include, and of values that conditions cannot be compared with.
  let warnings: [Warning]
}

/// Records of a source at one time, and the values of some of their fields.
struct RecordTable: Sendable {
  private(set) var revision: String
  /// `nil` if the store cannot tell what has changed since.
  private var mark: RecordMark?
  /// The positions of the records, ascending.
  private(set) var positions: [Int64] = []
  /// True for each record that was stored without its details.
  private(set) var lacksDetails: [Bool] = []
  /// The time at which each record was stored.
  private var dates: [Date] = []
  /// The records that cannot be read.
  private var unreadables: [Int64: (rows: UnreadableRows, date: Date)] = [:]
  fileprivate(set) var columns: [String: Column] = [:]

  var unreadable: UnreadableRows {
    unreadables.values.reduce(.none) { $0 + $1.rows }
  }

  /// The time at which the oldest record was stored.
  private(set) var oldest: Date?

  /// The number of times that all records were read for this table, or the one that it follows.
  private(set) var readings = 1

  fileprivate func has<Item>(_ fields: [Field<Item>]) -> Bool {
    fields.allSatisfy { columns[$0.name] != nil }
  }

  /// The row of a record; `nil` if it has none.
  func row(at position: Int64) -> Int? {
    let row = positions.partitioningIndex { $0 >= position }
    return row < positions.count && positions[row] == position ? row : nil
  }

  /// Warnings of values that conditions cannot be compared with: each different value is looked at once.
  func warnings<Item>(of selection: Selection<Item>, among found: [Int]) -> [Warning] {
    let compared = selection.conditionsOnOrder.map { condition in
      var compared = ComparedValues()
      guard let column = columns[condition.field.name] else { return compared }
      var counts = [Int](repeating: 0, count: column.values.count)
      for row in found { counts[Int(column.codes[row])] += 1 }
      for (value, count) in zip(column.values, counts) {
        condition.add(value, of: count, to: &compared)
      }
      return compared
    }
    return selection.warnings(of: compared)
  }

  /// The rows that a selection shows, in its order.
  func rows<Item>(
    selectedBy selection: Selection<Item>, among found: [Int]
  ) throws(SourceError) -> [Int] {
    var rows = found
    for filter in selection.filters {
      for condition in filter.conditions {
        let values = columns[condition.field.name]?.values ?? []
        for value in values { try condition.check(value) }
        if condition.needsAllValues { try condition.check(all: CommonKind(of: values)) }
      }
      let matches = try test(filter)
      rows.removeAll { !matches($0) }
    }
    for key in (selection.order?.keys ?? []).reversed() {
      columns[key.field.name]?.sort(&rows, isDescending: key.isDescending)
    }
    return rows
  }
}

// MARK: - Filters

extension RecordTable {
  /// True for the rows that a filter selects: each condition is compared with the different values once.
  ///
  /// Ends with `cancelled` when nobody waits any more: a pattern may take long for many long texts.
  private func test<Item>(_ filter: Filter<Item>) throws(SourceError) -> (Int) -> Bool {
    switch filter {
    case .condition(let condition):
      guard let column = columns[condition.field.name] else { return { _ in false } }
      let matches = try column.values.map { value throws(SourceError) in
        guard !Task.isCancelled else { throw SourceError.cancelled }
        return condition.matches(value)
      }
      return { matches[Int(column.codes[$0])] }
    case .not(let filter):
      let test = try test(filter)
      return { !test($0) }
    case .all(let parts):
      let tests = try parts.map { part throws(SourceError) in try test(part) }
      return { row in tests.allSatisfy { $0(row) } }
    case .any(let parts):
      let tests = try parts.map { part throws(SourceError) in try test(part) }
      return { row in tests.contains { $0(row) } }
    }
  }
}

// MARK: - Reading

extension RecordTable {
  /// Reads the records of a store into tables.
  struct Reader<Item: SourceRecord>: Sendable {
    let records: RecordStore<Item>
    let fields: [Field<Item>]
    let lacksDetails: @Sendable (Item) -> Bool

    /// The table of these fields, and those of an earlier one.
    fileprivate func table(
      of wanted: [Field<Item>], at revision: String, after earlier: RecordTable?
    ) async throws(SourceError) -> RecordTable {
      let known =
        earlier?.revision == revision
        ? earlier : try await updated(earlier)
      let missing = wanted.filter { known?.has([$0]) != true }
      if let known, missing.isEmpty { return known }
      var read = try await whole(missing)
      if let known, known.positions == read.positions, known.revision == read.revision {
        read.columns.merge(known.columns) { new, _ in new }
      } else if missing.count < wanted.count {
        read = try await whole(wanted)
      }
      read.readings += earlier?.readings ?? 0
      return read
    }

    /// A table of all records.
    private func whole(_ fields: [Field<Item>]) async throws(SourceError) -> RecordTable {
      var table: RecordTable
      var attempts = 0
      repeat {
        table = try await scanned(fields)
        attempts += 1
        guard table.mark != nil else { return table }
        // Records have changed meanwhile, and were read or not.
        if let table = try await updated(table) { return table }
      } while attempts < 3
      return table
    }

    private func scanned(_ fields: [Field<Item>]) async throws(SourceError) -> RecordTable {
      let start = try await records.store.update(of: records.source, since: nil)
      let revision = try await records.store.revision(of: records.source)
      var table = RecordTable(revision: start?.mark.revision ?? revision ?? "", mark: start?.mark)
      var builders = fields.map { _ in Column.Builder() }
      var position: Int64 = 0
      var hasMore = true
      while hasMore {
        let slice = try await records.store.records(
          of: records.source, matching: [], after: position, limit: 2000)
        for record in slice.records {
          position = record.position
          guard let item = table.append(record, in: records) else { continue }
          table.lacksDetails.append(lacksDetails(item))
          for index in fields.indices { builders[index].append(fields[index][item]) }
        }
        hasMore = slice.hasMore
      }
      for (field, builder) in zip(fields, builders) { table.columns[field.name] = builder.column }
      table.findOldest()
      return table
    }

    /// The table with what has changed since; `nil` if the store cannot tell, or the table has missed a record.
    private func updated(_ table: RecordTable?) async throws(SourceError) -> RecordTable? {
      guard let table, let mark = table.mark,
        let update = try await records.store.update(of: records.source, since: mark)
      else { return nil }
      let updated = table.updated(by: update, self)
      return updated.positions.count + updated.unreadables.count == update.count ? updated : nil
    }
  }

  /// A table of records that no store has.
  init<Item>(_ items: [Item], _ fields: [Field<Item>]) {
    self.init(revision: "", mark: nil)
    positions = items.indices.map(Int64.init)
    for field in fields where columns[field.name] == nil {
      var builder = Column.Builder()
      for item in items { builder.append(field[item]) }
      columns[field.name] = builder.column
    }
  }

  private init(revision: String, mark: RecordMark?) {
    self.revision = revision
    self.mark = mark
  }

  /// Adds a record, without its values; returns `nil` if it cannot be read.
  private mutating func append<Item: SourceRecord>(
    _ record: StoredRecord, in records: RecordStore<Item>
  ) -> Item? {
    let (items, failed) = records.decoded([record])
    guard let item = items.first else {
      unreadables[record.position] = (failed, record.savedAt)
      return nil
    }
    positions.append(record.position)
    dates.append(record.savedAt)
    return item
  }

  private mutating func findOldest() {
    oldest = ([dates.min()].compactMap(\.self) + unreadables.values.map(\.date)).min()
  }

  private func updated<Item>(by update: RecordUpdate, _ reader: Reader<Item>) -> RecordTable {
    guard !update.records.isEmpty || !update.outdated.isEmpty else {
      var table = self
      (table.revision, table.mark) = (update.mark.revision, update.mark)
      return table
    }
    var table = RecordTable(revision: update.mark.revision, mark: update.mark)
    table.readings = readings
    table.unreadables = unreadables.filter { !update.outdated.contains($0.key) }
    // The rows that stay and the added ones, which are `~0`, `~1` and so on, in the order of their positions.
    var rows: [Int] = []
    rows.reserveCapacity(positions.count + update.records.count)
    var added: [Item] = []
    var next = 0
    func keepRows(before position: Int64) {
      while next < positions.count, positions[next] < position {
        if !update.outdated.contains(positions[next]) {
          rows.append(next)
          table.positions.append(positions[next])
          table.dates.append(dates[next])
          table.lacksDetails.append(lacksDetails[next])
        }
        next += 1
      }
    }
    for record in update.records {
      keepRows(before: record.position)
      guard let item = table.append(record, in: reader.records) else { continue }
      rows.append(~added.count)
      table.lacksDetails.append(reader.lacksDetails(item))
      added.append(item)
    }
    keepRows(before: .max)
    for field in reader.fields {
      table.columns[field.name] = columns[field.name]?.rearranged(
        rows, adding: added.map { field[$0] })
    }
    table.findOldest()
    return table
  }
}
