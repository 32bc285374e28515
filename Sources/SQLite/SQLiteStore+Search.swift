public import AggregatorCore
public import AggregatorStore
public import AggregatorText
import CAggregatorSQLite

extension SQLiteStore {
  public func records(
    of source: String, matching words: [FoldedText], after position: Int64, limit: Int
  ) async throws(SourceError) -> RecordSlice {
    let search = SQLiteSearch(words)
    return try await read { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return .empty }
      let window = RecordWindow(
        of: number, after: position, limit: RecordWindow.limit(showingMoreThan: limit))
      var slice = RecordSlice(try connection.records(search, in: window), limit: limit)
      if position <= PositionRange(of: number).start || search.isEverything {
        slice.total = try connection.total(of: search, in: slice, of: number)
      }
      return slice
    } ?? .empty
  }

  /// Asks the index once for the first page, if there are few matches.
  ///
  /// Otherwise each rank is a query of its own, in first-seen order, so a page begins anywhere without reading those
  /// before it.
  public func records(
    of source: String, matching search: RankedSearch, after start: RankedPosition?, limit: Int
  ) async throws(SourceError) -> (slice: RecordSlice, last: SearchRank) {
    let prepared = SQLiteSearch(search.words)
    let wantedName = search.name.map { NamePrefix($0, isIndexed: search.isNameIndexed) }
    return try await read { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return (.empty, .other) }
      let range = PositionRange(of: number)
      let matches = start == nil ? try connection.matches(prepared, of: number, in: range) : nil
      if let matches, matches.count <= StoreLimit.countedMatches {
        return try connection.firstPage(of: matches, search, prepared, of: number, limit: limit)
      }
      var name = wantedName
      // Asked once, since it takes as long as both ranks of names where no record begins so.
      // What begins with the name begins with its first word.
      let first = matches?.first(where: \.begins) ?? matches?.last
      let before = first.map { $0.position - 1 } ?? range.start
      if let wanted = name, try !connection.hasBeginning(wanted, of: number, after: before) {
        name = nil
      }
      var page = RankedSlice(after: start, limit: limit)
      for start in page.starts where page.missing > 0 {
        let found = try connection.records(
          of: start.rank, prepared, id: search.id, name,
          in: RecordWindow(of: number, after: start.position, limit: page.missing))
        page.append(found, of: start.rank)
      }
      var slice = page.slice
      // Otherwise there are more matches than are counted.
      if start == nil, matches == nil {
        slice.total = try connection.total(of: prepared, in: slice, of: number)
      }
      return (slice, page.last)
    } ?? (.empty, .other)
  }
}

/// A query split into the parts that the index can find, pieces of three characters and more, and the
/// rest.
struct SQLiteSearch: Sendable {
  /// The expression for the index; `nil` if the index cannot help.
  let match: String?
  let hasSeveralWords: Bool
  /// A word to look for in every text; `nil` if the index finds all.
  let scanned: String?
  /// Further such words, as a JSON array.
  let furtherScanned: String?
  /// All words, as a JSON array.
  let words: String

  var isEverything: Bool { match == nil && scanned == nil }

  init(_ words: [FoldedText]) {
    let words = words.map(\.searchable).filter { !$0.isEmpty }
    // The index counts in Unicode scalars, and confuses the last three of the first plane.
    let indexed = words.filter { word in
      word.unicodeScalars.count >= 3
        && !word.unicodeScalars.contains { 0xFFFD...0xFFFF ~= $0.value }
    }
    hasSeveralWords = indexed.count > 1
    let others = words.filter { !indexed.contains($0) }
    match =
      indexed.isEmpty
      ? nil
      : indexed.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: " AND ")
    scanned = others.first
    furtherScanned = others.count > 1 ? others.dropFirst().jsonArray : nil
    self.words = words.jsonArray
  }
}

/// A name to look for at the beginning of a record's text, where its name is.
private struct NamePrefix: Sendable {
  let text: String
  /// The expression for the index: the text begins with the name; `nil` for a name of one or two letters.
  let beginning: String?

  init(_ text: String, isIndexed: Bool) {
    self.text = text
    beginning = isIndexed ? "^ \"\(text.replacing("\"", with: "\"\""))\"" : nil
  }
}

/// A match by the index alone, which `begins` if the text begins with the first word.
private typealias IndexedMatch = (position: Int64, begins: Bool)

extension Connection {
  /// All matches in first-seen order, or one more than are counted; `nil` where the index does not suffice.
  fileprivate mutating func matches(
    _ search: SQLiteSearch, of source: Int64, in range: PositionRange
  ) throws(SQLiteFailure) -> [IndexedMatch]? {
    guard let match = search.match, try isCounted(search, of: source) else { return nil }
    try addBegins()
    return try rows(
      """
      SELECT rowid, begins(search) FROM search
      WHERE search MATCH ?1 AND rowid > ?2 AND rowid <= ?3 ORDER BY rowid LIMIT ?4
      """, match, range.start, range.end, StoreLimit.countedMatches + 1
    ) { (position: $0.integer(0), begins: $0.integer(1) == 1) }
  }

  /// The closest of all matches, and their number.
  fileprivate mutating func firstPage(
    of matches: [IndexedMatch], _ search: RankedSearch, _ prepared: SQLiteSearch, of source: Int64,
    limit: Int
  ) throws(SQLiteFailure) -> (slice: RecordSlice, last: SearchRank) {
    var page = RankedSlice(after: nil, limit: limit)
    let window = RecordWindow(of: source, limit: page.missing)
    page.append(try records(of: .id, prepared, id: search.id, nil, in: window), of: .id)
    // Only those that begin with the first word can begin with the name; each is read to see.
    var named: [SearchRank: [StoredRecord]] = [:]
    var isNamed: Set<Int64> = []
    if search.name != nil {
      for match in matches where match.begins {
        guard let (record, rank) = try record(at: match.position, search, of: source),
          rank != .other
        else { continue }
        isNamed.insert(match.position)
        if named[rank, default: []].count < page.missing {
          named[rank, default: []].append(record)
        }
      }
    }
    for rank in [SearchRank.name, .beginning] { page.append(named[rank] ?? [], of: rank) }
    for match in matches where !isNamed.contains(match.position) && page.missing > 0 {
      guard let (record, _) = try record(at: match.position, search, of: source) else { continue }
      page.append([record], of: .other)
    }
    var slice = page.slice
    slice.total = try total(of: prepared, in: slice, of: source, indexed: matches.count)
    return (slice, page.last)
  }

  /// A match that is neither deleted nor removed upstream nor the one with the ID, and its rank.
  private mutating func record(
    at position: Int64, _ search: RankedSearch, of source: Int64
  ) throws(SQLiteFailure) -> (record: StoredRecord, rank: SearchRank)? {
    try row(
      """
      SELECT r.position, r.saved, r.json, NULL,
        CASE
          WHEN ?3 IS NULL OR substr(r.folded, 1, length(?3)) <> ?3 THEN 'other'
          WHEN substr(r.folded, length(?3) + 1, 1) IN ('', char(10)) THEN 'name'
          ELSE 'beginning'
        END
      FROM records r
      WHERE r.position = ?1 AND r.removed_upstream IS NULL AND r.id IS NOT ?2
        AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?4 AND t.id = r.id)
      """, position, search.id, search.name, source
    ) { row in
      let rank: SearchRank =
        switch row.text(4) {
        case "name": .name
        case "beginning": .beginning
        default: .other
        }
      return (StoredRecord(row), rank)
    }
  }

  /// False also where looking for one takes too long: every record is read, 100 000 in less than 0.1 s.
  fileprivate mutating func hasBeginning(
    _ name: NamePrefix, of source: Int64, after position: Int64
  ) throws(SQLiteFailure) -> Bool {
    guard let beginning = name.beginning else {
      return try recordCount(of: source) <= StoreLimit.comparedNames
    }
    return try row(
      "SELECT true FROM search WHERE search MATCH ?1 AND rowid > ?2 AND rowid <= ?3 LIMIT 1",
      beginning, position, PositionRange(of: source).end
    ) { _ in true } ?? false
  }

  /// The matches of one rank.
  fileprivate mutating func records(
    of rank: SearchRank, _ search: SQLiteSearch, id: String?, _ name: NamePrefix?,
    in window: RecordWindow
  ) throws(SQLiteFailure) -> [StoredRecord] {
    switch rank {
    case .id:
      guard let id else { return [] }
      // A match as any other: it contains all words.
      return try rows(
        """
        SELECT r.position, r.saved, r.json, NULL FROM records r
        WHERE r.source = ?1 AND r.id = ?2 AND r.position > ?3 AND r.removed_upstream IS NULL
          AND NOT EXISTS (SELECT 1 FROM json_each(?4) w WHERE instr(r.folded, w.value) = 0)
          AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = r.source AND t.id = r.id)
        """, window.source, id, window.start, search.words, read: StoredRecord.init)
    case .name, .beginning:
      guard let name else { return [] }
      guard let beginning = name.beginning else {
        return try rows(
          """
          SELECT r.position, r.saved, r.json, NULL FROM records r
          WHERE r.position > ?1 AND r.position <= ?2
            AND substr(r.folded, 1, length(?3)) = ?3
            AND (substr(r.folded, length(?3) + 1, 1) IN ('', char(10))) = ?4
            AND r.removed_upstream IS NULL AND r.id IS NOT ?5
            AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?6 AND t.id = r.id)
          ORDER BY r.position LIMIT ?7
          """, window.start, window.end, name.text, rank == .name ? 1 : 0, id, window.source,
          window.limit,
          read: StoredRecord.init)
      }
      return try rows(
        """
        SELECT r.position, r.saved, r.json, NULL
        FROM search JOIN records r ON r.position = search.rowid
        WHERE search MATCH ?1 AND search.rowid > ?2 AND search.rowid <= ?3
          AND r.removed_upstream IS NULL AND r.id IS NOT ?4
          AND (substr(r.folded, length(?5) + 1, 1) IN ('', char(10))) = ?8
          AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?6 AND t.id = r.id)
        ORDER BY search.rowid LIMIT ?7
        """, beginning, window.start, window.end, id, name.text, window.source, window.limit,
        rank == .name ? 1 : 0,
        read: StoredRecord.init)
    case .other:
      return try records(
        search, in: window, withoutID: id, withoutBeginning: name?.text)
    }
  }

  /// Records in the order of their positions, without deleted ones and ones removed upstream, the one with
  /// `id` and those whose text begins with `beginning`.
  mutating func records(
    _ search: SQLiteSearch, in window: RecordWindow, withoutID id: String? = nil,
    withoutBeginning beginning: String? = nil
  ) throws(SQLiteFailure) -> [StoredRecord] {
    if let match = search.match {
      try rows(
        """
        SELECT r.position, r.saved, r.json, NULL
        FROM search JOIN records r ON r.position = search.rowid
        WHERE search MATCH ?1 AND search.rowid > ?2 AND search.rowid <= ?3
          AND r.removed_upstream IS NULL
          AND (?4 IS NULL OR instr(r.folded, ?4) > 0)
          AND (?5 IS NULL OR NOT EXISTS
            (SELECT 1 FROM json_each(?5) w WHERE instr(r.folded, w.value) = 0))
          AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?6 AND t.id = r.id)
          AND r.id IS NOT ?8 AND (?9 IS NULL OR substr(r.folded, 1, length(?9)) <> ?9)
        ORDER BY search.rowid LIMIT ?7
        """, match, window.start, window.end, search.scanned, search.furtherScanned, window.source,
        window.limit, id, beginning, read: StoredRecord.init)
    } else {
      try rows(
        """
        SELECT r.position, r.saved, r.json, NULL FROM records r
        WHERE r.position > ?1 AND r.position <= ?2 AND r.removed_upstream IS NULL
          AND (?3 IS NULL OR instr(r.folded, ?3) > 0)
          AND (?4 IS NULL OR NOT EXISTS
            (SELECT 1 FROM json_each(?4) w WHERE instr(r.folded, w.value) = 0))
          AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?5 AND t.id = r.id)
          AND r.id IS NOT ?7 AND (?8 IS NULL OR substr(r.folded, 1, length(?8)) <> ?8)
        ORDER BY r.position LIMIT ?6
        """, window.start, window.end, search.scanned, search.furtherScanned, window.source,
        window.limit, id, beginning, read: StoredRecord.init)
    }
  }

  /// The number of all matches, of which `slice` has the first; `nil` where counting takes too long.
  ///
  /// - Parameter indexed: Their number by the index, which also has those that are hidden.
  fileprivate mutating func total(
    of search: SQLiteSearch, in slice: RecordSlice, of source: Int64, indexed: Int? = nil
  ) throws(SQLiteFailure) -> Int? {
    if search.isEverything { return try recordCount(of: source) }
    if slice.hasMore, let indexed, try !hasHidden(source) { return indexed }
    let most = StoreLimit.countedMatches
    let count =
      slice.hasMore ? try count(search, of: source, atMost: most + 1) : slice.records.count
    return count > most ? nil : count
  }

  /// True if matches of a search can be counted by the index alone: scanning every record takes too long.
  mutating func isCounted(
    _ search: SQLiteSearch, of source: Int64
  ) throws(SQLiteFailure) -> Bool {
    guard search.match != nil, search.scanned == nil else { return false }
    guard search.hasSeveralWords else { return true }
    return try recordCount(of: source) <= StoreLimit.intersectedRecords
  }

  /// True if records of a source are deleted or removed upstream.
  private mutating func hasHidden(_ source: Int64) throws(SQLiteFailure) -> Bool {
    try row(
      """
      SELECT removed_upstream > 0 OR EXISTS (SELECT 1 FROM tombstones WHERE source = ?1)
      FROM sources WHERE number = ?1
      """, source
    ) { $0.integer(0) == 1 } ?? false
  }

  /// The number of matches, counted by the index alone and at most up to `bound`; `bound` where the
  /// index does not suffice.
  fileprivate mutating func count(
    _ search: SQLiteSearch, of source: Int64, atMost bound: Int
  ) throws(SQLiteFailure) -> Int {
    guard let match = search.match, try isCounted(search, of: source) else { return bound }
    let range = PositionRange(of: source)
    let count = try row(
      """
      SELECT count(*) FROM (
        SELECT 1 FROM search WHERE search MATCH ?1 AND rowid > ?2 AND rowid <= ?3
          AND ((
            SELECT removed_upstream = 0 AND NOT EXISTS (SELECT 1 FROM tombstones WHERE source = ?4)
            FROM sources WHERE number = ?4)
          OR rowid NOT IN (
            SELECT r.position FROM tombstones t
            CROSS JOIN records r ON r.source = t.source AND r.id = t.id WHERE t.source = ?4)
          AND rowid NOT IN (SELECT position FROM records WHERE removed_upstream IS NOT NULL))
        LIMIT ?5)
      """, match, range.start, range.end, source, bound
    ) { $0.integer(0) }
    return Int(count ?? 0)
  }
}
