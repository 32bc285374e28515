package import AggregatorCore
package import AggregatorStore
import CAggregatorSQLite

extension SQLiteStore: CopyableStore {
  package func copyMark() async throws(SourceError) -> String? {
    try await read { connection throws(SQLiteFailure) in
      try connection.sharedText(CopyMark.key)
    } ?? nil
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
      let statement = try Statement(quoted: query, on: connection)
      try statement.bind(range.values)
      var rows: [CopyRow] = []
      var size = 0
      while size < limit.bytes, try statement.step() {
        let row = statement.row(of: table)
        size += row.reduce(0) { $0 + $1.size }
        rows.append(row)
      }
      return rows
    } ?? []
  }

  package func beginCopy(_ mark: String) async throws(SourceError) -> Bool {
    try await write { connection throws(SQLiteFailure) in
      let counts = try connection.rowCounts()
      guard try connection.sharedText(CopyMark.key) == nil, counts.allSatisfy({ $0 == 0 }) else {
        return false
      }
      try connection.setSharedText(CopyMark.key, to: mark)
      return true
    }
  }

  package func replace(
    _ range: CopyRange, of table: CopyTable, by rows: [CopyRow], moving mark: String,
    to next: String
  ) async throws(SourceError) -> Bool {
    try await write { connection throws(SQLiteFailure) in
      guard try connection.sharedText(CopyMark.key) == mark else { return false }
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
      try connection.setSharedText(CopyMark.key, to: next)
      return true
    }
  }

  package func endCopy(_ mark: String) async throws(SourceError) -> Bool {
    try await write { connection throws(SQLiteFailure) in
      guard try connection.sharedText(CopyMark.key) == mark else { return false }
      try connection.run("DELETE FROM shared WHERE key = ?1", CopyMark.key)
      return true
    }
  }
}

extension Connection {
  fileprivate func rowCounts() throws(SQLiteFailure) -> [Int] {
    try CopyTable.all.map { table throws(SQLiteFailure) in
      let query = "SELECT count(*) FROM main.\(table.name) WHERE \(table.isCopied)"
      let statement = try Statement(quoted: query, on: self)
      return try statement.step() ? Int(statement.integer(0)) : 0
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
    let statement = try Statement(quoted: insertion, on: self)
    for row in rows { try statement.run(row) }
  }

  fileprivate func run(quoted text: String, _ values: CopyRow) throws(SQLiteFailure) {
    try Statement(quoted: text, on: self).run(values)
  }
}

extension Statement {
  fileprivate func row(of table: CopyTable) -> CopyRow {
    table.columns.enumerated().map { index, column in
      guard !isNull(index) else { return .null }
      return column.kind == .integer ? .integer(integer(index)) : .text(data(index))
    }
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
