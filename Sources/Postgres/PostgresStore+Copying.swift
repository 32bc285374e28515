package import AggregatorCore
import AggregatorFoundation
package import AggregatorStore

extension PostgresStore: CopyableStore {
  package func copyMark() async throws(SourceError) -> String? {
    try await read { connection throws(PostgresFailure) in
      try connection.copyMark()
    } ?? nil
  }

  package func rowCounts() async throws(SourceError) -> [Int]? {
    try await read { connection throws(PostgresFailure) in try connection.rowCounts() }
  }

  package func rows(
    of table: CopyTable, in range: CopyRange, atMost limit: CopyLimit
  ) async throws(SourceError) -> [CopyRow] {
    try await read { connection throws(PostgresFailure) in
      let sizes = table.columns.filter { $0.kind != .integer }.map {
        "coalesce(octet_length(\($0.name)), 0)"
      }
      let query = """
        SELECT \(table.columnNames) FROM (
          SELECT *, sum(size) OVER (ORDER BY \(table.keyNames)) - size AS before FROM (
            SELECT \(table.columnNames), (\((["0"] + sizes).joined(separator: " + ")))::bigint AS size
            FROM aggregator_store.\(table.name)
            WHERE \(table.condition(in: range, parameter: "$"))
            ORDER BY \(table.keyNames) LIMIT \(limit.rows)) t) t
        WHERE before < \(limit.bytes) ORDER BY \(table.keyNames)
        """
      return try connection.rows(PostgresStatement(query, range.values.map(PostgresValue.init)))
        .map { $0.copyRow(of: table) }
    } ?? []
  }

  package func beginCopy(_ mark: String) async throws(SourceError) -> Bool {
    try await write { connection throws(PostgresFailure) in
      let found = try connection.copyMark()
      let counts = try connection.rowCounts()
      guard found == nil, counts.allSatisfy({ $0 == 0 }) else { return false }
      connection.enqueue(
        "INSERT INTO aggregator_store.shared (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        .text(CopyMark.key), .text(mark))
      return true
    }
  }

  package func replace(
    _ range: CopyRange, of table: CopyTable, by rows: [CopyRow], moving mark: String,
    to next: String
  ) async throws(SourceError) -> Bool {
    try await write { connection throws(PostgresFailure) in
      guard try connection.copyMark(locking: true) == mark else { return false }
      connection.enqueue(
        PostgresStatement(
          """
          DELETE FROM aggregator_store.\(table.name)
          WHERE \(table.condition(in: range, parameter: "$"))
          """, range.values.map(PostgresValue.init)))
      if !rows.isEmpty { connection.enqueue(.insertion(of: rows, into: table)) }
      connection.enqueue(
        "UPDATE aggregator_store.shared SET value = $2 WHERE key = $1", .text(CopyMark.key),
        .text(next))
      return true
    }
  }

  package func endCopy(_ mark: String) async throws(SourceError) -> Bool {
    try await write { connection throws(PostgresFailure) in
      guard try connection.copyMark(locking: true) == mark else { return false }
      for table in CopyTable.all where table.isNumbered {
        connection.enqueue(
          """
          SELECT setval(
            pg_get_serial_sequence('aggregator_store.\(table.name)', '\(table.keyNames)'),
            coalesce(max(\(table.keyNames)), 0) + 1, false)
          FROM aggregator_store.\(table.name)
          """)
      }
      connection.enqueue(
        "DELETE FROM aggregator_store.shared WHERE key = $1", .text(CopyMark.key))
      connection.enqueueNotification(of: nil)
      return true
    }
  }
}

extension PostgresConnection {
  fileprivate mutating func copyMark(
    locking: Bool = false
  ) throws(PostgresFailure) -> String? {
    try rows(
      """
      SELECT value FROM aggregator_store.shared WHERE key = $1\(locking ? " FOR UPDATE" : "")
      """, .text(CopyMark.key)
    ).first?.text(0)
  }

  fileprivate mutating func rowCounts() throws(PostgresFailure) -> [Int] {
    let counts = CopyTable.all.map { table in
      enqueue("SELECT count(*) FROM aggregator_store.\(table.name) WHERE \(table.isCopied)")
    }
    let results = try run()
    return counts.map { Int(results[$0][0].integer(0)) }
  }
}

extension PostgresStatement {
  /// The insertion of rows, in an array for each column.
  fileprivate static func insertion(
    of rows: [CopyRow], into table: CopyTable
  ) -> PostgresStatement {
    let arrays = table.columns.enumerated().map { index, column in
      "$\(index + 1)::\(column.kind == .integer ? "bigint" : "text")[]"
    }
    let values = table.columns.enumerated().map { index, column -> PostgresValue in
      switch column.kind {
      case .integer: .integers(rows.map { $0[index].integer })
      case .text: .utf8s(rows.map { $0[index].text?.nulEscaped })
      case .plainText: .utf8s(rows.map { $0[index].text })
      }
    }
    return PostgresStatement(
      """
      INSERT INTO aggregator_store.\(table.name) (\(table.columnNames))
      SELECT * FROM unnest(\(arrays.joined(separator: ", "))) ON CONFLICT DO NOTHING
      """, values)
  }
}

extension PostgresRow {
  fileprivate func copyRow(of table: CopyTable) -> CopyRow {
    table.columns.enumerated().map { index, column in
      guard !isNull(index) else { return .null }
      return switch column.kind {
      case .integer: .integer(integer(index))
      case .text: .text(Data(nulEscaped: bytes(index)))
      case .plainText: .text(data(index))
      }
    }
  }
}

extension PostgresValue {
  /// The value of a key, whose texts may contain any character.
  fileprivate init(_ value: CopyValue) {
    self =
      switch value {
      case .integer(let integer): .integer(integer)
      case .text(let text): .utf8(text.nulEscaped)
      case .null: .integer(nil)
      }
  }
}

extension CopyValue {
  fileprivate var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
  fileprivate var text: Data? { if case .text(let text) = self { text } else { nil } }
}
