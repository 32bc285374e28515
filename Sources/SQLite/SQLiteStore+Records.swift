public import AggregatorCore
public import AggregatorStore
import Foundation

extension SQLiteStore {
  /// More matches than these are not counted.
  static let mostCounted = 1000

  /// Among more records than these the matches of several words are not counted: each word may be
  /// everywhere, and both hardly anywhere.
  static let mostIntersected = 100_000

  /// Records in first-seen order, without those deleted and those that vanished.
  public func records(
    of source: String, matching words: [Folded], after position: Int64, limit: Int
  ) async throws(SourceError) -> StoredSlice {
    let search = StoredSearch(words)
    return try await read { connection throws(SQLiteFailure) in
      guard let number = try connection.number(of: source) else { return .empty }
      let range = PositionRange(of: number)
      // One more than wanted tells whether there are more. Positions outside are nobody's.
      var records = try connection.records(
        search, of: number, after: min(max(position, range.start), range.end), to: range.end,
        limit: min(limit, .max - 1) + 1)
      let hasMore = records.count > limit
      if hasMore { records.removeLast() }
      var total: Int?
      if !search.isEverything, position <= range.start {
        let count =
          hasMore
          ? try connection.count(search, of: number, in: range, atMost: Self.mostCounted + 1)
          : records.count
        total = count > Self.mostCounted ? nil : count
      } else if search.isEverything {
        total = try connection.recordCount(of: number)
      }
      return StoredSlice(records: records, hasMore: hasMore, total: total)
    } ?? .empty
  }

  /// A record, even if it was deleted or has vanished.
  public func record(
    _ id: String, of source: String
  ) async throws(SourceError) -> StoredRecord? {
    let found = try await read { connection throws(SQLiteFailure) in
      try connection.row(
        """
        SELECT position, saved, json, vanished FROM records
        WHERE source = (SELECT number FROM sources WHERE name = ?1) AND id = ?2
        """, source, id, read: StoredRecord.init)
    }
    return found ?? nil
  }
}

/// A query, as the store can look for it: the index finds pieces of three characters and more.
struct StoredSearch: Sendable {
  /// What the index is asked for; `nil` if it cannot help.
  let match: String?
  /// Whether the index is asked for more than one word.
  let hasSeveralWords: Bool
  /// A word that must be looked for in every text; `nil` if the index finds all.
  let scanned: String?
  /// Further such words, as a JSON array.
  let furtherScanned: String?

  /// Whether every record matches.
  var isEverything: Bool { match == nil && scanned == nil }

  init(_ words: [Folded]) {
    let words = words.map(\.stored).filter { !$0.isEmpty }
    // The index counts in Unicode scalars, and takes the last three of the first plane for one.
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
  }
}

extension Connection {
  /// Records in the order of their positions, without those deleted and those that vanished.
  fileprivate mutating func records(
    _ search: StoredSearch, of source: Int64, after start: Int64, to end: Int64, limit: Int
  ) throws(SQLiteFailure) -> [StoredRecord] {
    if let match = search.match {
      try rows(
        """
        SELECT r.position, r.saved, r.json, NULL
        FROM search JOIN records r ON r.position = search.rowid
        WHERE search MATCH ?1 AND search.rowid > ?2 AND search.rowid <= ?3 AND r.vanished IS NULL
          AND (?4 IS NULL OR instr(r.folded, ?4) > 0)
          AND (?5 IS NULL OR NOT EXISTS
            (SELECT 1 FROM json_each(?5) w WHERE instr(r.folded, w.value) = 0))
          AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?6 AND t.id = r.id)
        ORDER BY search.rowid LIMIT ?7
        """, match, start, end, search.scanned, search.furtherScanned, source, limit,
        read: StoredRecord.init)
    } else {
      try rows(
        """
        SELECT r.position, r.saved, r.json, NULL FROM records r
        WHERE r.position > ?1 AND r.position <= ?2 AND r.vanished IS NULL
          AND (?3 IS NULL OR instr(r.folded, ?3) > 0)
          AND (?4 IS NULL OR NOT EXISTS
            (SELECT 1 FROM json_each(?4) w WHERE instr(r.folded, w.value) = 0))
          AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.source = ?5 AND t.id = r.id)
        ORDER BY r.position LIMIT ?6
        """, start, end, search.scanned, search.furtherScanned, source, limit,
        read: StoredRecord.init)
    }
  }

  /// How many records match, counted up to a bound, by the index alone.
  ///
  /// - Returns: The bound where the index does not suffice: looking into every record takes too long.
  fileprivate mutating func count(
    _ search: StoredSearch, of source: Int64, in range: PositionRange, atMost bound: Int
  ) throws(SQLiteFailure) -> Int {
    guard let match = search.match, search.scanned == nil else { return bound }
    if search.hasSeveralWords {
      guard try recordCount(of: source) <= SQLiteStore.mostIntersected else { return bound }
    }
    let count = try row(
      """
      SELECT count(*) FROM (
        SELECT 1 FROM search WHERE search MATCH ?1 AND rowid > ?2 AND rowid <= ?3
          AND rowid NOT IN (
            SELECT r.position FROM tombstones t
            CROSS JOIN records r ON r.source = t.source AND r.id = t.id WHERE t.source = ?4)
          AND rowid NOT IN (SELECT position FROM records WHERE vanished IS NOT NULL)
        LIMIT ?5)
      """, match, range.start, range.end, source, bound
    ) { $0.integer(0) }
    return Int(count ?? 0)
  }

  /// How many records there are of a source, without those deleted and those that vanished: counted
  /// once, but for the few that are deleted.
  mutating func recordCount(of source: Int64) throws(SQLiteFailure) -> Int {
    let count = try row(
      """
      SELECT records - vanished - (
        SELECT count(*) FROM tombstones t WHERE t.source = ?1 AND EXISTS (
          SELECT 1 FROM records r
          WHERE r.source = t.source AND r.id = t.id AND r.vanished IS NULL))
      FROM sources WHERE number = ?1
      """, source
    ) { $0.integer(0) }
    return Int(count ?? 0)
  }
}

extension Folded {
  /// This text as the store keeps and compares it: with a sign for zero bytes, at which SQLite would
  /// end it.
  var stored: String { text.utf8.contains(0) ? text.replacing("\0", with: "\u{2400}") : text }
}

extension StoredRecord {
  /// The row `position, saved, json, removedUpstream`.
  fileprivate init(_ row: borrowing Statement) {
    self.init(
      position: row.integer(0), json: row.bytes(2), savedAt: row.date(1) ?? .distantPast,
      removedUpstreamAt: row.date(3))
  }
}
