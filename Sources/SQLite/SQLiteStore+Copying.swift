package import AggregatorCore
package import AggregatorStore
import CAggregatorSQLite

extension SQLiteStore: CopyableStore {
  package func copyMark() async throws(SourceError) -> String? {
    try await read { connection throws(SQLiteFailure) in try connection.copyMark() } ?? nil
  }

  package func rowCounts() async throws(SourceError) -> [Int]? {
    try await read { connection throws(SQLiteFailure) in try connection.rowCounts() }
  }

  package func rows(
    of table: CopyTable, in range: CopyRange, atMost limit: CopyLimit
  ) async throws(SourceError) -> [CopyRow] {
    try await read { connection throws(SQLiteFailure) in
      let query = """
        SELECT \(table.columnNames) FROM main.\(table.name)
        WHERE \(table.condition(in: range, parameter: "?"))
        ORDER BY \(table.keyNames) LIMIT \(limit.rows)
        """
      return try connection.withStatement(quoted: query) { handle throws(SQLiteFailure) in
        let statement = try Statement(handle, of: connection.database, binding: range.values)
        var rows: [CopyRow] = []
        var size = 0
        while size < limit.bytes, try statement.step() {
          let row = statement.row(of: table)
          size += row.reduce(0) { $0 + $1.size }
          rows.append(row)
        }
        return rows
      }
    } ?? []
  }

  package func beginCopy(_ mark: String) async throws(SourceError) -> Bool {
    try await write { connection throws(SQLiteFailure) in
      let counts = try connection.rowCounts()
      guard try connection.copyMark() == nil, counts.allSatisfy({ $0 == 0 }) else { return false }
      try connection.setCopyMark(mark)
      return true
    }
  }

  package func replace(
    _ range: CopyRange, of table: CopyTable, by rows: [CopyRow], moving mark: String,
    to next: String
  ) async throws(SourceError) -> Bool {
    try await write { connection throws(SQLiteFailure) in
      guard try connection.copyMark() == mark else { return false }
      let condition = table.condition(in: range, parameter: "?")
      let isSearched = table.name == "records"
      if isSearched {
        // The index can only delete an entry if it is given the old text.
        try connection.run(
          quoted: """
            INSERT INTO search (search, rowid, folded)
            SELECT 'delete', position, folded FROM records WHERE \(condition)
            """, range.values)
      }
      try connection.run(
        quoted: "DELETE FROM main.\(table.name) WHERE \(condition)", range.values)
      try connection.insert(rows, into: table)
      if isSearched {
        try connection.run(
          quoted: """
            INSERT INTO search (rowid, folded) SELECT position, folded FROM records
            WHERE \(condition)
            """, range.values)
      }
      try connection.setCopyMark(next)
      return true
    }
  }

  package func endCopy(_ mark: String) async throws(SourceError) -> Bool {
    try await write { connection throws(SQLiteFailure) in
      guard try connection.copyMark() == mark else { return false }
      try connection.run("DELETE FROM shared WHERE key = ?1", CopyMark.key)
      return true
    }
  }
}

extension Connection {
  fileprivate mutating func copyMark() throws(SQLiteFailure) -> String? {
    try row("SELECT value FROM shared WHERE key = ?1", CopyMark.key) { $0.text(0) } ?? nil
  }

  fileprivate mutating func setCopyMark(_ mark: String) throws(SQLiteFailure) {
    try run(
      """
      INSERT INTO shared (key, value) VALUES (?1, ?2)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """, CopyMark.key, mark)
  }

  fileprivate func rowCounts() throws(SQLiteFailure) -> [Int] {
    try CopyTable.all.map { table throws(SQLiteFailure) in
      let query = "SELECT count(*) FROM main.\(table.name) WHERE \(table.isCopied)"
      return try withStatement(quoted: query) { handle throws(SQLiteFailure) in
        let statement = Statement(handle, of: database)
        return try statement.step() ? Int(statement.integer(0)) : 0
      }
    }
  }

  fileprivate func insert(
    _ rows: [CopyRow], into table: CopyTable
  ) throws(SQLiteFailure) {
    let parameters = table.columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    let insertion = """
      INSERT INTO main.\(table.name) (\(table.columnNames)) VALUES (\(parameters))
      ON CONFLICT DO NOTHING
      """
    try withStatement(quoted: insertion) { handle throws(SQLiteFailure) in
      for row in rows {
        let statement = try Statement(handle, of: database, binding: row)
        while try statement.step() {}
      }
    }
  }

  fileprivate func run(quoted text: String, _ values: CopyRow) throws(SQLiteFailure) {
    try withStatement(quoted: text) { handle throws(SQLiteFailure) in
      let statement = try Statement(handle, of: database, binding: values)
      while try statement.step() {}
    }
  }

  /// Compiles a statement, which contains no names but those of the store's own tables, for `body`.
  fileprivate func withStatement<Answer>(
    quoted text: String, _ body: (OpaquePointer) throws(SQLiteFailure) -> Answer
  ) throws(SQLiteFailure) -> Answer {
    var made: OpaquePointer?
    let code = sqlite3_prepare_v2(database, text, -1, &made, nil)
    guard code == SQLITE_OK, let made else { throw SQLiteFailure(code, on: database) }
    defer { sqlite3_finalize(made) }
    return try body(made)
  }
}

extension Statement {
  fileprivate init(
    _ handle: OpaquePointer, of database: OpaquePointer, binding values: CopyRow
  ) throws(SQLiteFailure) {
    self.init(handle, of: database)
    for (index, value) in values.enumerated() {
      let code = value.bind(to: handle, at: Int32(index + 1))
      guard code == SQLITE_OK else { throw SQLiteFailure(code, on: database) }
    }
  }

  fileprivate borrowing func row(of table: CopyTable) -> CopyRow {
    var row: CopyRow = []
    row.reserveCapacity(table.columns.count)
    for (index, column) in table.columns.enumerated() {
      let index = Int32(index)
      if isNull(index) {
        row.append(.null)
      } else {
        row.append(column.kind == .integer ? .integer(integer(index)) : .text(bytes(index)))
      }
    }
    return row
  }
}

extension CopyValue: SQLiteValue {
  package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .integer(let integer): integer.bind(to: statement, at: index)
    case .text(let text): text.bind(to: statement, at: index)
    case .null: sqlite3_bind_null(statement, index)
    }
  }
}
