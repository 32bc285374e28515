import AggregatorCore
package import AggregatorStore

extension SourceView {
  /// The name of the view, in lower case as all names that are not quoted.
  package var postgresName: String { name.foldedInPostgres.postgresIdentifier }

  /// The fields that are columns, each under another name.
  private var postgresFields: [Column] {
    var names = Set(ownColumns.map(Self.identifier))
    return fields.filter {
      ($0.path != nil || $0.expression != nil) && names.insert(Self.identifier($0.name)).inserted
    }
  }

  /// The columns without ``row``.
  package var postgresColumns: [String] { ownColumns + postgresFields.map(\.name) }

  private static func identifier(_ name: String) -> String {
    name.foldedInPostgres.postgresIdentifier
  }

  /// The escape of a zero byte in JSON, which PostgreSQL refuses to decode, with the backslashes before it.
  private static let nul = #"(?<!\\)((?:\\\\)*)\\u0000"#
  private static let nulSymbol = "\\1\u{2400}"

  /// The view for people, who may not read the tables of the store.
  ///
  /// A barrier: no condition of a query sees records that the view leaves out. ``row`` is its last column.
  var postgresDefinition: String {
    var columns = list.map { ["\($0.idKind.cast("id"))", "place - 1"] } ?? []
    columns += postgresFields.map { field in
      let value =
        field.path.map { "json #>> \($0.split(separator: ".").map(String.init).postgresArray)" }
        ?? field.expression?.postgresText ?? "NULL"
      return field.kind.cast(value)
    }
    var names = postgresColumns
    if hasRow {
      columns.append("(\(rowMember.map { "json #> \([$0].postgresArray)" } ?? "json"))::text")
      names.append(Self.row)
    }
    let values = zip(columns, names).map { "\($0) AS \($1.foldedInPostgres.postgresName)" }
    return """
      CREATE VIEW \(PostgresSchema.viewSchema).\(postgresName.postgresName)
      WITH (security_barrier) AS SELECT \(values.joined(separator: ", "))
      FROM (\(list.map(elements) ?? records)) records
      """
  }

  /// The `SELECT` of the records that are neither deleted nor removed upstream.
  private var records: String {
    // An ID has the form of `nulEscaped`, and a view shows NUL as its symbol.
    let id =
      list == nil
      ? "" : ", replace(replace(r.id, chr(1) || '0', '\u{2400}'), chr(1) || '1', chr(1)) AS id"
    return """
      SELECT CASE strpos(r.json, \(#"\u0000"#.postgresText)) WHEN 0 THEN r.json::json
        ELSE regexp_replace(r.json, \(Self.nul.postgresText), \(Self.nulSymbol.postgresText), 'g')::json
        END AS json\(id)
      FROM aggregator_store.records r
      WHERE r.source = (
          SELECT number FROM aggregator_store.sources WHERE name = \(source.nulEscaped.postgresText))
        AND r.removed_upstream IS NULL AND NOT EXISTS (
          SELECT 1 FROM aggregator_store.tombstones t WHERE t.source = r.source AND t.id = r.id)
      OFFSET 0
      """
  }

  /// The `SELECT` of the elements of a list.
  private func elements(of list: List) -> String {
    let path = "r.json #> \(list.path.postgresArray)"
    return """
      SELECT r.id, e.value AS json, e.place
      FROM (\(records)) r, LATERAL json_array_elements(
        CASE coalesce(json_typeof(\(path)), 'null') WHEN 'array' THEN \(path) WHEN 'null' THEN '[]'
          ELSE json_build_array(\(path)) END)
        WITH ORDINALITY e (value, place)
      """
  }
}

extension FieldKind {
  /// A text as this kind, and null for one that is none: a cast that fails would fail the query.
  fileprivate func cast(_ text: String) -> String {
    switch self {
    case .text, .list, .any: text
    case .bool: "CASE \(text) WHEN 'true' THEN true WHEN 'false' THEN false END"
    case .integer:
      """
      (SELECT CASE WHEN t ~ '^-?[0-9]{1,19}$' THEN CASE
        WHEN t::numeric BETWEEN \(Int64.min) AND \(Int64.max) THEN t::bigint END END
      FROM (SELECT \(text) AS t) value)
      """
    case .number:
      // Beyond these bounds the cast fails.
      """
      (SELECT CASE WHEN length(t) < 400 AND t ~ '^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]{1,3})?$' THEN CASE
        WHEN abs(t::numeric) BETWEEN 5e-324 AND 1.7976931348623157e308 THEN t::float8
        WHEN abs(t::numeric) < 5e-324 THEN 0 END END
      FROM (SELECT \(text) AS t) value)
      """
    }
  }
}

extension PostgresConnection {
  /// The longest wait for readers of a view: a query may read it for half a minute.
  private static let viewWait = "200"

  /// Writes the views that differ from those in the database, in the transaction of another write, unless their
  /// marks are `settled`; returns the marks that are left, `nil` if nothing was tried.
  mutating func update(
    _ views: ViewDefinitions, unless settled: String?
  ) throws(PostgresFailure) -> String? {
    if viewMark == nil { _ = try run() }
    guard let found = viewMark, found != views.mark, found != settled else { return nil }
    enqueue("SELECT set_config('lock_timeout', $1, true)", .text(Self.viewWait))
    let lock = enqueue(
      "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))", .text(ViewDefinitions.key))
    // Read again behind the lock.
    enqueueViewMark()
    let relations = enqueue(
      """
      SELECT c.relname, c.relkind = 'v' FROM pg_catalog.pg_class c
      WHERE c.relnamespace = to_regnamespace($1)
      """, .text(PostgresSchema.viewSchema))
    let results = try run()
    // Another process is at it.
    guard results[lock][0].bool(0), let mark = viewMark else { return nil }
    var isView = Dictionary(
      results[relations].map { ($0.name(0), $0.bool(1)) }, uniquingKeysWith: { $1 })
    let new = try views.update(from: mark) { step throws(PostgresFailure) in
      switch step {
      case .drop(let name):
        guard isView[name] == true else { return true }
        // It may be part of a view of somebody else.
        let isDropped = try attempt("DROP VIEW \(PostgresSchema.viewSchema).\(name.postgresName)")
        if isDropped { isView[name] = nil }
        return isDropped
      case .create(let view):
        guard isView[view.name] == nil else { return false }
        // Records are more important than a view that the server does not accept.
        return try attempt(view.definition)
      }
    }
    if new != mark { setSharedText(ViewDefinitions.key, to: new) }
    return new
  }

  /// Runs a statement that may fail without the transaction; returns false if it did.
  private mutating func attempt(_ statement: String) throws(PostgresFailure) -> Bool {
    enqueue("SAVEPOINT aggregator_view")
    enqueue(statement)
    enqueue("RELEASE SAVEPOINT aggregator_view")
    do throws(PostgresFailure) {
      _ = try run()
      return true
    } catch {
      guard error.state != nil else { throw error }
      enqueue("ROLLBACK TO SAVEPOINT aggregator_view")
      _ = try run()
      return false
    }
  }
}
