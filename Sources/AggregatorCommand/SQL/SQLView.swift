package import AggregatorKit

/// What a query sees of a source: a table of its stored fields, without what was deleted or has vanished.
package struct SQLView: Sendable {
  /// The source's name, which is the table's.
  package let name: String

  /// The names of the columns, those of the fields.
  package let columns: [String]

  private let paths: [String]

  /// The stored fields of a source.
  package init<P: Plugin>(_ plugin: P) {
    name = plugin.name
    let stored = plugin.fields.compactMap { field in field.path.map { (field.name, $0) } }
    columns = stored.map(\.0)
    paths = stored.map(\.1)
  }

  /// The statements that define it.
  ///
  /// It has two layers, because SQLite tells the ``SQLAuthorizer`` who reads a table only by name, and a
  /// query may give a name of its own (`WITH heroes AS …`) to what it reads itself. A name that cannot
  /// be guessed cannot be given.
  ///
  /// - Parameters:
  ///   - number: The source's number in the store; `nil` where nothing of it is stored.
  ///   - inner: The name of the layer that reads the tables of the store.
  /// - Returns: SQL.
  func definition(of number: Int64?, over inner: String) -> String {
    let names = columns.map(\.sqlName)
    let list = names.joined(separator: ", ")
    let body: String
    if let number {
      let values = zip(paths, names).map { path, name in
        let members = path.split(separator: ".").map { ".\"\($0)\"" }.joined()
        return "json_extract(json, \("$\(members)".sqlText)) AS \(name)"
      }
      // It must read some column of `records`, as it does `position`: of a table of which no column is
      // read (`SELECT count(*) FROM heroes`) SQLite does not tell the guard which view reads it.
      let first = number << Schema.positionBits
      body = """
        SELECT \(values.joined(separator: ", ")) FROM main.records
        WHERE position BETWEEN \(first) AND \(first + (1 << Schema.positionBits) - 1)
        AND removed_upstream IS NULL
        AND id NOT IN (SELECT id FROM main.tombstones WHERE source = \(number))
        """
    } else {
      body = "SELECT \(names.map { "NULL AS \($0)" }.joined(separator: ", ")) WHERE 0"
    }
    return """
      CREATE TEMP VIEW \(inner.sqlName) AS \(body);
      CREATE TEMP VIEW \(name.sqlName) AS SELECT \(list) FROM temp.\(inner.sqlName);
      """
  }
}

extension String {
  /// This text as a name in SQL.
  fileprivate var sqlName: String { "\"\(replacing("\"", with: "\"\""))\"" }

  /// This text as a text in SQL.
  fileprivate var sqlText: String { "'\(replacing("'", with: "''"))'" }
}
