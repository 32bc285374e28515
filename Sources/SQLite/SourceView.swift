package import AggregatorCore
import CAggregatorSQLite

/// A source as a table of its fields, without records that are deleted or removed upstream.
package struct SourceView: Sendable {
  private struct Column: Sendable {
    let name: String
    let kind: FieldKind
    /// The path of the value in the record's JSON; `nil` for a computed field.
    let path: String?
    let expression: String?
  }

  package let name: String
  package var columns: [String] { fields.map(\.name) }

  private let fields: [Column]

  package init<Item>(_ name: String, _ fields: [Field<Item>]) {
    self.name = name
    self.fields = fields.map {
      Column(name: $0.name, kind: $0.kind, path: $0.path, expression: $0.sqlExpression)
    }
  }

  /// A `SELECT` of the columns.
  ///
  /// - Parameters:
  ///   - number: The SQL of the source's number.
  ///   - schema: The prefix of the store's tables: `main.`.
  ///   - json: The SQL of a record's JSON.
  ///   - condition: A further condition of records.
  ///   - computed: The SQL of a computed column; `nil` to leave it out.
  package func select(
    of number: String, in schema: String, json: String = "json", where condition: String? = nil,
    computed: (_ column: Int) -> String?
  ) -> String {
    let values = fields.enumerated().compactMap { index, field in
      let value =
        field.path.map { path in
          let members = path.split(separator: ".").map { ".\"\($0)\"" }.joined()
          return "json_extract(\(json), \("$\(members)".sqlText))"
        } ?? computed(index)
      return value.map { "\(field.kind.cast($0)) AS \(field.name.sqlName)" }
    }
    return """
      SELECT \(values.joined(separator: ", ")) FROM \(schema)records
      WHERE \(isShown(number, in: schema))\(condition.map { " AND \($0)" } ?? "")
      """
  }

  /// The condition of records that are neither deleted nor removed upstream.
  package func isShown(_ number: String, in schema: String) -> String {
    """
    position > \(number) << \(Schema.positionBits)
    AND position < \(number) + 1 << \(Schema.positionBits)
    AND removed_upstream IS NULL
    AND id NOT IN (SELECT id FROM \(schema)tombstones WHERE source = \(number))
    """
  }

  // MARK: - In the file

  /// The name of the view, which differs from that of a source with the name of a table.
  fileprivate var storedName: String { Schema.tables.contains(name) ? "source_\(name)" : name }

  /// The view for other programs, which may attach the file under any name and lack the functions of this one.
  fileprivate var definition: String {
    let number = "(SELECT number FROM sources WHERE name = \(name.sqlText))"
    let select = select(of: number, in: "") { fields[$0].expression.map { "(\($0))" } }
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

/// The views in the store's file, for other programs.
package struct SourceViews: Sendable {
  fileprivate struct Stored: Sendable {
    let name: String
    let definition: String
    /// The name and a digest of the definition.
    let mark: String
  }

  fileprivate let keepsOthers: Bool
  private let stored: Lazy<(views: [Stored], mark: String), Never>

  /// - Parameters:
  ///   - keepsOthers: True to keep the views of sources that are not among these.
  ///   - views: Called at the first write.
  package init(
    keepingOthers keepsOthers: Bool = false, _ views: @escaping @Sendable () -> [SourceView]
  ) {
    self.keepsOthers = keepsOthers
    stored = Lazy {
      let stored = views().map { view in
        let definition = view.definition
        let mark = "\(view.storedName):\(String(definition.fnv1a, radix: 36))"
        return Stored(name: view.storedName, definition: definition, mark: mark)
      }
      return (stored, stored.map(\.mark).sorted().joined(separator: " "))
    }
  }

  fileprivate var views: [Stored] { stored.value().views }

  /// The text that the file has if its views are these.
  fileprivate var mark: String { stored.value().mark }
}

extension Connection {
  /// Writes the views that differ from those in the file, in the transaction of another write.
  ///
  /// Only views that a store has created are replaced or removed: other programs may have added their own.
  mutating func update(_ views: SourceViews) throws(SQLiteFailure) {
    let key = "views"
    let mark = try row("SELECT value FROM shared WHERE key = ?1", key) { $0.text(0) ?? "" } ?? ""
    guard mark != views.mark else { return }
    let known = mark.split(separator: " ").map(String.init)
    var marks = Set(known)
    let current = Set(views.views.map(\.mark))
    let names = Set(views.views.map(\.name))
    for known in known where !current.contains(known) {
      let name = String(known.prefix { $0 != ":" })
      guard names.contains(name) || !views.keepsOthers else { continue }
      if try kind(of: name) == "view" { try execute(quoted: "DROP VIEW \(name.sqlName)") }
      marks.remove(known)
    }
    for view in views.views where !marks.contains(view.mark) {
      guard try kind(of: view.name) == nil else { continue }
      do throws(SQLiteFailure) { try execute(quoted: view.definition) } catch let error
        where error.primary == SQLITE_ERROR
      {
        // Records are more important than a view that this version of SQLite does not accept.
        continue
      }
      marks.insert(view.mark)
    }
    let new = marks.sorted().joined(separator: " ")
    guard new != mark else { return }
    try run(
      """
      INSERT INTO shared (key, value) VALUES (?1, ?2)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """, key, new)
  }

  /// `table`, `view` or another kind; `nil` if there is nothing of this name.
  private mutating func kind(of name: String) throws(SQLiteFailure) -> String? {
    try row("SELECT type FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE", name) {
      $0.text(0) ?? ""
    }
  }
}
