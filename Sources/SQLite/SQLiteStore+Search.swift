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

  /// Ranks the first matches by their titles; of those after them the index finds the ones that begin with the query.
  ///
  /// There each rank is a query of its own, in first-seen order, so a page begins anywhere without reading those
  /// before it.
  public func records(
    of source: String, matching search: RankedSearch, after start: RankedPosition?, limit: Int
  ) async throws(SourceError) -> (slice: RecordSlice, last: SearchRank) {
    let prepared = SQLiteSearch(search.words)
    let wantedName = search.name.map { NamePrefix($0, isIndexed: search.isNameIndexed) }
    return try await read { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return (.empty, .other) }
      // Without the index each page reads all texts up to the last match that is ranked.
      var mayRank = prepared.match != nil
      if !mayRank { mayRank = try connection.recordCount(of: number) <= StoreLimit.comparedNames }
      let matches =
        start?.rank == .rest || !mayRank
        ? nil : try connection.recentMatches(search, prepared, of: number)
      let end = matches.map(\.end) ?? PositionRange(of: number).start
      var name = wantedName
      // Asked once, since it takes as long as all ranks of names where no record begins so.
      if let end, let wanted = name, try !connection.hasBeginning(wanted, of: number, after: end) {
        name = nil
      }
      var page = RankedSlice(after: start, limit: limit)
      for start in page.starts where page.missing > 0 {
        let ranked = matches?.positions(after: start, atMost: page.missing) ?? []
        if !ranked.isEmpty { page.append(try connection.records(at: ranked), of: start.rank) }
        guard let end, page.missing > 0 else { continue }
        let found = try connection.records(
          of: start.rank, prepared, id: search.id, name,
          in: RecordWindow(of: number, after: max(start.position, end), limit: page.missing))
        page.append(found, of: start.rank)
      }
      var slice = page.slice
      if start == nil {
        slice.total = mayRank ? matches?.total : slice.hasMore ? nil : slice.records.count
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
  /// That the text begins with the name alone, whose end is that of a line: without it, each record that begins so would be
  /// read.
  let whole: String?

  init(_ text: String, isIndexed: Bool) {
    self.text = text
    let quoted = text.replacing("\"", with: "\"\"")
    beginning = isIndexed ? "^ \"\(quoted)\"" : nil
    whole = isIndexed ? "^ \"\(quoted)\n\"" : nil
  }
}

extension Connection {
  /// The first matches, ranked once in each version of the file.
  fileprivate mutating func recentMatches(
    _ search: RankedSearch, _ prepared: SQLiteSearch, of source: Int64
  ) throws(SQLiteFailure) -> RankedMatches {
    // In a snapshot, this is the version that it reads.
    let version = try row("PRAGMA data_version") { $0.integer(0) } ?? 0
    if let known = recentMatches.matches(of: search, in: source, at: version) { return known }
    let matches = try rankedMatches(search, prepared, of: source)
    recentMatches.add(matches, of: search, in: source)
    return matches
  }

  /// The first matches; those that are deleted or removed upstream have no rank.
  fileprivate mutating func rankedMatches(
    _ search: RankedSearch, _ prepared: SQLiteSearch, of source: Int64
  ) throws(SQLiteFailure) -> RankedMatches {
    let window = RecordWindow(of: source, limit: RankedMatches.limit)
    let read = { (row: borrowing Statement) -> RankedMatches.Match in
      let isShown = row.integer(3) == 0
      return (
        row.integer(0), isShown ? search.rank(row.text(1) ?? "", folded: row.text(2) ?? "") : nil
      )
    }
    guard let match = prepared.match else {
      return RankedMatches(
        try rows(
          """
          SELECT r.position, r.id, substr(r.folded, 1, instr(r.folded || char(10), char(10))),
            r.removed_upstream IS NOT NULL
            OR EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?5 AND t.id = r.id)
          FROM records r
          WHERE r.position > ?1 AND r.position <= ?2
            AND (?3 IS NULL OR instr(r.folded, ?3) > 0)
            AND (?4 IS NULL OR NOT EXISTS
              (SELECT 1 FROM json_each(?4) w WHERE instr(r.folded, w.value) = 0))
          ORDER BY r.position LIMIT ?6
          """, window.start, window.end, prepared.scanned, prepared.furtherScanned, source,
          window.limit, read: read))
    }
    return RankedMatches(
      try rows(
        """
        SELECT r.position, r.id, substr(r.folded, 1, instr(r.folded || char(10), char(10))),
          r.removed_upstream IS NOT NULL
          OR EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?6 AND t.id = r.id)
        FROM search JOIN records r ON r.position = search.rowid
        WHERE search MATCH ?1 AND search.rowid > ?2 AND search.rowid <= ?3
          AND (?4 IS NULL OR instr(r.folded, ?4) > 0)
          AND (?5 IS NULL OR NOT EXISTS
            (SELECT 1 FROM json_each(?5) w WHERE instr(r.folded, w.value) = 0))
        ORDER BY search.rowid LIMIT ?7
        """, match, window.start, window.end, prepared.scanned, prepared.furtherScanned, source,
        window.limit, read: read))
  }

  /// The records at the positions of matches, in the order of the positions.
  fileprivate mutating func records(
    at positions: [Int64]
  ) throws(SQLiteFailure) -> [StoredRecord] {
    try rows(
      """
      SELECT r.position, r.saved, r.json, NULL
      FROM json_each(?1) e JOIN records r ON r.position = e.value ORDER BY e.key
      """, positions.jsonArray, read: StoredRecord.init)
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

  /// The matches of one rank behind those that are ranked by their titles.
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
      let isWhole = rank == .name ? 1 : 0
      guard let match = isWhole == 1 ? name.whole : name.beginning else {
        return try rows(
          """
          SELECT r.position, r.saved, r.json, NULL FROM records r
          WHERE r.position > ?1 AND r.position <= ?2
            AND substr(r.folded, 1, length(?3)) = ?3
            AND (substr(r.folded, length(?3) + 1, 1) IN ('', char(10))) = ?4
            AND r.removed_upstream IS NULL AND r.id IS NOT ?5
            AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?6 AND t.id = r.id)
          ORDER BY r.position LIMIT ?7
          """, window.start, window.end, name.text, isWhole, id, window.source,
          window.limit,
          read: StoredRecord.init)
      }
      return try rows(
        """
        SELECT r.position, r.saved, r.json, NULL
        FROM search JOIN records r ON r.position = search.rowid
        WHERE search MATCH ?1 AND search.rowid > ?2 AND search.rowid <= ?3
          AND r.removed_upstream IS NULL AND r.id IS NOT ?4
          AND (substr(r.folded, length(?5) + 1, 1) = char(10)) = ?8
          AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?6 AND t.id = r.id)
        ORDER BY search.rowid LIMIT ?7
        """, match, window.start, window.end, id, name.text, window.source, window.limit,
        isWhole, read: StoredRecord.init)
    case .word, .wordBeginning, .title, .other: return []
    case .rest:
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
  fileprivate mutating func total(
    of search: SQLiteSearch, in slice: RecordSlice, of source: Int64
  ) throws(SQLiteFailure) -> Int? {
    if search.isEverything { return try recordCount(of: source) }
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
