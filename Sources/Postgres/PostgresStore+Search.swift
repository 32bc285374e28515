public import AggregatorCore
import AggregatorFoundation
public import AggregatorStore
public import AggregatorText

extension PostgresStore {
  public func records(
    of source: String, matching words: [FoldedText], after position: Int64, limit: Int
  ) async throws(SourceError) -> RecordSlice {
    try await inspect(records: true) { connection, database throws(PostgresFailure) in
      guard database.storeVersion != nil else { return .empty }
      let search = PostgresSearch(words, by: database.searchIndex)
      connection.beginSnapshot()
      guard let number = try connection.number(of: source) else {
        try connection.commit()
        return .empty
      }
      let isStart = position <= PositionRange(of: number).start
      let window = RecordWindow(
        of: number, after: position, limit: RecordWindow.limit(showingMoreThan: limit))
      let rows = connection.enqueue(search.select(window))
      let hasTotal = isStart || search.isEverything
      let count = hasTotal ? search.count(of: number).map { connection.enqueue($0) } : nil
      connection.enqueue("COMMIT")
      let results = try connection.run()
      var slice = RecordSlice(results[rows].map(StoredRecord.init), limit: limit)
      if hasTotal { slice.total = search.total(count.map { results[$0] }, in: slice) }
      return slice
    }
  }

  public func records(
    of source: String, matching search: RankedSearch, after start: RankedPosition?, limit: Int
  ) async throws(SourceError) -> (slice: RecordSlice, last: SearchRank) {
    try await inspect(records: true) { connection, database throws(PostgresFailure) in
      guard database.storeVersion != nil else { return (.empty, .other) }
      let words = PostgresSearch(search.words, by: database.searchIndex)
      connection.beginSnapshot()
      guard let number = try connection.number(of: source) else {
        try connection.commit()
        return (.empty, .other)
      }
      var matches: RankedMatches?
      if start?.rank != .rest {
        let found = try connection.rows(words.selectTitles(of: number))
        matches = RankedMatches(
          found.map { row in
            guard row.integer(3) == 0 else { return (row.integer(0), nil) }
            // Zero bytes of folded texts are replaced, not encoded.
            return (row.integer(0), search.rank(row.text(1) ?? "", folded: row.name(2)))
          })
      }
      let end = matches.map(\.end) ?? PositionRange(of: number).start
      // Behind those that are ranked by their titles, each rank is a query of its own, in first-seen order, so a page
      // begins anywhere without reading those before it; all are sent together.
      var page = RankedSlice(after: start, limit: limit)
      var queries: [(rank: SearchRank, index: Int)] = []
      var missing = page.missing
      for start in page.starts where missing > 0 {
        let ranked = matches?.positions(after: start, atMost: missing) ?? []
        if !ranked.isEmpty {
          queries.append((start.rank, connection.enqueue(PostgresSearch.select(at: ranked))))
          missing -= ranked.count
        }
        guard let end, missing > 0 else { continue }
        let window = RecordWindow(of: number, after: max(start.position, end), limit: missing)
        if let statement = words.select(start.rank, of: search, in: window) {
          queries.append((start.rank, connection.enqueue(statement)))
        }
      }
      connection.enqueue("COMMIT")
      let results = try connection.run()
      for (rank, index) in queries where page.missing > 0 {
        page.append(results[index].map(StoredRecord.init), of: rank)
      }
      var slice = page.slice
      if start == nil { slice.total = matches?.total }
      return (slice, page.last)
    }
  }
}

/// A search in SQL: words that the index of trigrams can find, and others.
struct PostgresSearch: Sendable {
  /// The words that the index finds, as patterns for `LIKE`.
  private let patterns: [String]
  /// The words to look for in every text.
  private let scanned: [String]

  var isEverything: Bool { patterns.isEmpty && scanned.isEmpty }

  init(_ words: [FoldedText], by index: PostgresSearchIndex) {
    let words = words.map(\.searchable).filter { !$0.isEmpty }
    let indexed = words.filter { Self.isIndexed($0, by: index) }
    patterns = indexed.map { "%\($0.likePattern)%" }
    scanned = words.filter { !indexed.contains($0) }
  }

  /// True if the index has trigrams of the word: three letters or digits in a row.
  ///
  /// A forced use of the index for fewer reads all of it.
  private static func isIndexed(_ word: String, by index: PostgresSearchIndex) -> Bool {
    guard index != .none else { return false }
    var run = 0
    for scalar in word.unicodeScalars {
      let isLetter =
        index == .asciiTrigrams
        ? scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
        : scalar.properties.isAlphabetic || scalar.properties.numericType == .decimal
      run = isLetter ? run + 1 : 0
      if run == 3 { return true }
    }
    return false
  }

  private static let isShown = """
    r.removed_upstream IS NULL AND NOT EXISTS (
      SELECT 1 FROM aggregator_store.tombstones t WHERE t.source = r.source AND t.id = r.id)
    """

  /// The conditions on a record's text, with parameters from `$first` on.
  private func conditions(from first: Int) -> (sql: String, values: [PostgresValue]) {
    var sql = ""
    for index in patterns.indices { sql += " AND r.folded LIKE $\(first + index)" }
    for index in scanned.indices {
      sql += " AND strpos(r.folded, $\(first + patterns.count + index)) > 0"
    }
    return (sql, (patterns + scanned).map { .utf8(Data($0.utf8)) })
  }

  /// Records in the order of their positions, without deleted ones and ones removed upstream.
  ///
  /// `condition` is a further one, with parameters from `$4` on.
  func select(
    _ window: RecordWindow, where condition: String = "", _ others: [PostgresValue] = []
  ) -> PostgresStatement {
    select(
      window, where: " AND \(Self.isShown)\(condition)", others,
      columns: "r.position, r.saved, r.json, NULL::bigint")
  }

  private func select(
    _ window: RecordWindow, where condition: String = "", _ others: [PostgresValue] = [],
    columns: String
  ) -> PostgresStatement {
    let words = conditions(from: 4 + others.count)
    return PostgresStatement(
      """
      SELECT \(columns) FROM aggregator_store.records r
      WHERE r.position > $1 AND r.position <= $2\(condition)\(words.sql)
      ORDER BY r.position LIMIT $3
      """,
      [.integer(window.start), .integer(window.end), .integer(Int64(window.limit))] + others
        + words.values)
  }

  /// The first matches: their positions, IDs and titles, and 0 for those that are neither deleted nor removed upstream.
  func selectTitles(of source: Int64) -> PostgresStatement {
    select(
      RecordWindow(of: source, limit: RankedMatches.limit),
      columns:
        "r.position, r.id, split_part(r.folded, E'\\n', 1), CASE WHEN \(Self.isShown) THEN 0 ELSE 1 END::bigint"
    )
  }

  /// The records at positions, in the order of these.
  static func select(at positions: [Int64]) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT r.position, r.saved, r.json, NULL::bigint FROM aggregator_store.records r
      WHERE r.position = ANY ($1::bigint[]) ORDER BY r.position
      """, [.integers(positions)])
  }

  /// The matches of one rank behind those that are ranked by their titles; `nil` if it can have none.
  func select(
    _ rank: SearchRank, of search: RankedSearch, in window: RecordWindow
  ) -> PostgresStatement? {
    var conditions: [String] = []
    var values: [PostgresValue] = []
    func parameter(_ value: PostgresValue) -> String {
      values.append(value)
      return "$\(3 + values.count)"
    }
    func text(_ text: String) -> PostgresValue { .utf8(Data(text.utf8)) }
    if rank == .id {
      guard let id = search.id else { return nil }
      conditions.append("r.source = \(window.source) AND r.id = \(parameter(.text(id)))")
    } else {
      if let id = search.id { conditions.append("r.id <> \(parameter(.text(id)))") }
      switch (rank, search.name) {
      case (.rest, nil): break
      case (.word, _), (.wordBeginning, _), (.title, _), (.other, _), (_, nil): return nil
      case (.rest, let name?):
        conditions.append("NOT starts_with(r.folded, \(parameter(text(name))))")
      case (_, let name?):
        let pattern = parameter(text("\(name.likePattern)%"))
        let next = "ascii(substr(r.folded, \(name.unicodeScalars.count + 1), 1))"
        conditions.append(
          """
          r.folded LIKE \(pattern) AND (\(next) IN (0, 10)) = \(rank == .name)
          """)
      }
    }
    return select(window, where: conditions.map { " AND \($0)" }.joined(), values)
  }

  /// Counts the matches, up to the bound above which they are not; `nil` where that takes too long, because
  /// every record would have to be scanned.
  func count(of source: Int64) -> PostgresStatement? {
    let range = PositionRange(of: source)
    if isEverything {
      return PostgresStatement(
        """
        SELECT s.records - s.removed_upstream - (
          SELECT count(*) FROM aggregator_store.tombstones t
            JOIN aggregator_store.records r ON r.source = t.source AND r.id = t.id
          WHERE t.source = s.number AND r.removed_upstream IS NULL)
        FROM aggregator_store.sources s WHERE s.number = $1
        """, [.integer(source)])
    }
    guard scanned.allSatisfy({ $0.unicodeScalars.count >= 3 }) else { return nil }
    let words = conditions(from: 3)
    let bound = scanned.isEmpty ? "" : " AND s.records <= \(StoreLimit.intersectedRecords)"
    return PostgresStatement(
      """
      SELECT (
        SELECT count(*) FROM (
          SELECT 1 FROM aggregator_store.records r
          WHERE r.position > $1 AND r.position <= $2 AND \(Self.isShown)\(words.sql)
          LIMIT \(StoreLimit.countedMatches + 1)) matches)
      FROM aggregator_store.sources s WHERE s.number = \(source)\(bound)
      """, [.integer(range.start), .integer(range.end)] + words.values)
  }

  /// The number of all matches, of which `slice` has the first; `nil` if they were not all counted.
  ///
  /// `counted` is the result of ``count(of:)``.
  func total(_ counted: PostgresResult?, in slice: RecordSlice) -> Int? {
    if !isEverything, !slice.hasMore { return slice.records.count }
    guard let row = counted?.first else { return nil }
    let count = Int(max(0, row.integer(0)))
    return isEverything || count <= StoreLimit.countedMatches ? count : nil
  }
}

extension String {
  /// This as a pattern of `LIKE` that matches it alone.
  fileprivate var likePattern: String {
    var pattern = ""
    for scalar in unicodeScalars {
      if ["%", "_", "\\"].contains(scalar) { pattern.unicodeScalars.append("\\") }
      pattern.unicodeScalars.append(scalar)
    }
    return pattern
  }
}
