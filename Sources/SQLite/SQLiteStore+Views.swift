import AggregatorCore
import AggregatorStore
import CAggregatorSQLite

extension SourceView {
  /// A `SELECT` of the columns of the records in a store.
  ///
  /// In SQL: the source's `number`, the prefix of the store's tables, such as `main.`, a record's `json`, a further
  /// `condition` of records, and a `computed` column, which `nil` leaves out.
  func select(
    of number: String, in schema: String, json: String = "json", where condition: String? = nil,
    _ columns: Columns
  ) -> String {
    select(
      from: "\(schema)records",
      where: "\(isShown(number, in: schema))\(condition.map { " AND \($0)" } ?? "")", json: json,
      columns)
  }

  /// The columns of a `SELECT` besides those at paths.
  struct Columns {
    var hasRow = false
    /// The function that finds a value at a path.
    var member = "json_extract"
    /// The names of the fields that are columns; `nil` for all.
    var names: Set<String>?
    /// True to keep SQLite from merging this into a query, which would sort whole records in the place of values.
    var isApart = false
    /// The SQL of a computed column for a record's JSON; `nil` leaves it out.
    let computed: (_ column: Int, _ json: String) -> String?
  }

  /// A `SELECT` of the columns of the records in a table, which has their `id` and `json`.
  func select(
    from table: String, where condition: String, json: String = "json", _ columns: Columns
  ) -> String {
    guard let list else {
      var values = values(in: json, columns)
      if columns.hasRow {
        let row = rowMember.map { "json_extract(\(json), \([$0].sqliteJSONPath))" } ?? json
        values.append("\(row) AS \(Self.row)")
      }
      return """
        SELECT \(values.joined(separator: ", ")) FROM \(table) WHERE \(condition)\(columns.isApart ? " LIMIT -1" : "")
        """
    }
    let names = ownColumns.map(\.sqlName)
    var values = ["\(list.idKind.cast("id")) AS \(names[0])", "position AS \(names[1])"]
    values += self.values(in: "json", columns)
    if columns.hasRow {
      values.append(
        """
        CASE type WHEN 'text' THEN json_quote(value) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
        ELSE value END AS \(Self.row)
        """)
    }
    let path = list.path.sqliteJSONPath
    let id = list.idPath.map { "json_extract(r.json, \($0.sqliteJSONPath))" } ?? "r.id"
    // The limit keeps SQLite from merging this into a join, where it could not make an index of the IDs.
    return """
      SELECT \(values.joined(separator: ", ")) FROM (
        SELECT \(id) AS id, e.key AS position, e.value AS value, e.type AS type,
          iif(e.type IN ('array', 'object'), e.value, NULL) AS json
        FROM (SELECT id, \(json) AS json FROM \(table) WHERE \(condition)) r,
          json_each(
            iif(json_type(r.json, \(path)) = 'array', r.json, json_array(json_extract(r.json, \(path)))),
            iif(json_type(r.json, \(path)) = 'array', \(path), '$')) e
        WHERE json_type(r.json, \(path)) <> 'null') records
      LIMIT -1
      """
  }

  private func values(in json: String, _ columns: Columns) -> [String] {
    fields.enumerated().compactMap { index, field in
      guard columns.names?.contains(field.name) ?? true else { return nil }
      let value =
        field.path.map { path in
          path.isEmpty && list != nil
            ? "value"
            : "\(columns.member)(\(json), \(path.split(separator: ".").map(String.init).sqliteJSONPath))"
        } ?? columns.computed(index, json)
      return value.map { "\(field.kind.cast($0)) AS \(field.name.sqlName)" }
    }
  }

  /// The condition of records that are neither deleted nor removed upstream.
  func isShown(_ number: String, in schema: String) -> String {
    """
    position > \(number) << \(PositionRange.bits)
    AND position < \(number) + 1 << \(PositionRange.bits)
    AND removed_upstream IS NULL
    AND id NOT IN (SELECT id FROM \(schema)tombstones WHERE source = \(number))
    """
  }

  // MARK: - In the file

  /// The name of the view, which differs from that of a source with the name of a table.
  ///
  /// The tables of an index have the name of the index, an underscore and a word.
  var storedName: String {
    let isTaken = [name, source].contains { SQLiteSchema.tables.contains($0) }
    return isTaken ? "source_\(name)" : name
  }

  /// The view for other programs, which may attach the file under any name and lack the functions of this one.
  var definition: String {
    let number = "(SELECT number FROM sources WHERE name = \(source.sqlText))"
    let select = select(
      of: number, in: "", Columns { column, _ in fields[column].expression?.sqliteText })
    return "CREATE VIEW \(storedName.sqlName) AS \(select)"
  }
}

extension FieldKind {
  /// A value as this kind, which gives a column its type: comparisons and other programs use it.
  ///
  /// The canonical JSON of 4.0 is 4.
  fileprivate func cast(_ value: String) -> String {
    switch self {
    case .text, .list: "CAST(\(value) AS TEXT)"
    case .integer, .bool: "CAST(\(value) AS INTEGER)"
    case .number: "CAST(\(value) AS REAL)"
    case .any: value
    }
  }
}

extension Connection {
  /// Writes the views that differ from those in the file, in the transaction of another write.
  mutating func update(_ views: ViewDefinitions) throws(SQLiteFailure) {
    let mark = try sharedText(ViewDefinitions.key) ?? ""
    guard mark != views.mark else { return }
    let new = try views.update(from: mark) { step throws(SQLiteFailure) in try perform(step) }
    if new != mark { try setSharedText(ViewDefinitions.key, to: new) }
  }

  private mutating func perform(_ step: ViewDefinitions.Step) throws(SQLiteFailure) -> Bool {
    switch step {
    case .drop(let name):
      if try kind(of: name) == "view" { try execute(quoted: "DROP VIEW \(name.sqlName)") }
    case .create(let view):
      guard try kind(of: view.name) == nil else { return false }
      do throws(SQLiteFailure) { try execute(quoted: view.definition) } catch {
        // Records are more important than a view that this version of SQLite does not accept.
        guard error.primary == SQLITE_ERROR else { throw error }
        return false
      }
    }
    return true
  }

  /// `table`, `view` or another kind; `nil` if there is nothing of this name.
  private mutating func kind(of name: String) throws(SQLiteFailure) -> String? {
    try row("SELECT type FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE", name) {
      $0.text(0) ?? ""
    }
  }
}
