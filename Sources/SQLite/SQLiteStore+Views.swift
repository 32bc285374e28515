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
    computed: (_ column: Int) -> String?
  ) -> String {
    let tail = """
      \(schema)records
      WHERE \(isShown(number, in: schema))\(condition.map { " AND \($0)" } ?? "")
      """
    return select(from: tail, json: json, computed: computed)
  }

  /// A `SELECT` of the columns of the records in a table.
  func select(
    from tail: String, json: String = "json", computed: (_ column: Int) -> String?
  ) -> String {
    let values = fields.enumerated().compactMap { index, field in
      let value =
        field.path.map { path in
          "json_extract(\(json), \(path.split(separator: ".").map(String.init).sqliteJSONPath))"
        } ?? computed(index)
      return value.map { "\(field.kind.cast($0)) AS \(field.name.sqlName)" }
    }
    return "SELECT \(values.joined(separator: ", ")) FROM \(tail)"
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
  var storedName: String {
    SQLiteSchema.tables.contains(name) ? "source_\(name)" : name
  }

  /// The view for other programs, which may attach the file under any name and lack the functions of this one.
  var definition: String {
    let number = "(SELECT number FROM sources WHERE name = \(name.sqlText))"
    let select = select(of: number, in: "") { fields[$0].expression?.sqliteText }
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
