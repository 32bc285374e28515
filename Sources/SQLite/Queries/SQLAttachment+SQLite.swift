import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import AggregatorText
import CAggregatorSQLite

extension SQLAttachment {
  /// The statement that makes the table known by its name; `nil` for a database.
  var view: String? {
    columns.map { columns in
      let values = columns.enumerated().map { index, column in
        let value = Self.column(index)
        return (column.type.map { "CAST(\(value) AS \($0))" } ?? value)
          + " AS \(column.name.sqlName)"
      }
      return """
        CREATE TEMP VIEW \(name.sqlName) AS
        SELECT \(values.joined(separator: ", ")) FROM \(schema.sqlName).\(Self.rows)
        """
    }
  }
}

extension Connection {
  /// Attaches a file for reading, and returns its tables, of which a hostile file may have many.
  mutating func attach(
    _ file: SQLAttachment, _ diagnostics: SQLiteDiagnostics
  ) throws(SourceError) -> [SQLTable] {
    do throws(SQLiteFailure) {
      do throws(SQLiteFailure) { return try attach(file, "mode=ro") } catch let error
        where error.primary == SQLITE_CANTOPEN || error.primary == SQLITE_READONLY
      {
        // For example in a read-only directory; with a log its contents would be incomplete.
        guard !FileManager.default.fileExists(atPath: "\(file.path)-wal") else { throw error }
        try run("DETACH ?1", file.schema)
        return try attach(file, "immutable=1")
      }
    } catch {
      throw diagnostics.error(of: error, attached: file)
    }
  }

  private mutating func attach(
    _ file: SQLAttachment, _ mode: String
  ) throws(SQLiteFailure) -> [SQLTable] {
    let path = file.path.percentEncoded
    try run("ATTACH ?1 AS ?2", "file:\(path)?\(mode)", file.schema)
    // The columns of a view are known only to a query of it, which may fail.
    let tables = try rows(
      """
      SELECT name, iif(type = 'table',
        (SELECT json_group_array(c.name) FROM pragma_table_info(l.name, l.schema) c), '[]')
      FROM pragma_table_list l
      WHERE schema = ?1 COLLATE NOCASE AND type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      ORDER BY name LIMIT 100
      """, file.schema
    ) { row in
      let columns = JSON(reading: Data((row.text(1) ?? "").utf8)).flatMap { $0.texts } ?? []
      return SQLTable(schema: file.name, name: row.text(0) ?? "", columns: columns)
    }
    guard let columns = file.columns else { return tables }
    var table = SQLTable(schema: nil, name: file.name, columns: columns.map(\.name))
    for column in columns {
      let number: FieldKind = column.type == "INTEGER" ? .integer : .number
      table.kinds[column.name] = column.type == nil ? FieldKind.text : number
    }
    return [table]
  }
}

extension JSON {
  fileprivate var texts: [String]? {
    guard case .array(let values) = self else { return nil }
    return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }
}
