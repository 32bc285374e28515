import AggregatorFoundation
import AggregatorStore
import CAggregatorSQLite
import CAggregatorSQLiteMemory

extension SQLView {
  /// Two layers, because SQLite passes the reader of a table to the ``SQLAuthorizer`` only by name:
  /// a query may use any name in `WITH heroes AS …`, but cannot guess `inner`.
  ///
  /// `number` is `nil` if nothing is stored; `inner` is also the name of the function of the computed columns, and `member`
  /// that of the function of the others.
  ///
  /// The records of ``tooLarge(of:over:maxSize:)`` over `large` are left out; `nil` if there are none. The columns of
  /// ``SQLView/hidden`` are there if `query`, in lower case, names them.
  func definition(
    of number: Int64?, over inner: String, member: String, without large: String?, for query: String
  ) -> String {
    let isApart = source.list == nil && ["group", "over"].contains { query.contains($0) }
    let named = isApart ? columnsNamed(in: query) : columns
    var names = named.map(\.sqlName)
    let hasRow = hasHidden(SourceView.row, for: query)
    let selected = SourceView.Columns(
      hasRow: hasRow, member: member.sqlName, names: isApart ? Set(named) : nil, isApart: isApart
    ) { column, json in
      "\(inner.sqlName)(\(json), \(column))"
    }
    if hasRow { names.append(SourceView.row) }
    let body: String
    if bundled != nil {
      body = source.select(
        from: "temp.\(Self.bundledName(inner))", where: "position > 0", selected)
    } else if let number {
      // A condition of the query may be evaluated before those of the view.
      let json = large.map { "CASE WHEN \(isTooLarge($0)) THEN NULL ELSE json END" } ?? "json"
      // It reads some column of `records`, here `position`: if no column of a table is read
      // (`SELECT count(*) FROM heroes`), SQLite does not tell the authorizer which view reads it.
      body = source.select(
        of: "\(number)", in: "main.", json: json,
        where: large.map { "NOT \(isTooLarge($0))" }, selected)
    } else {
      body = "SELECT \(names.map { "NULL AS \($0)" }.joined(separator: ", ")) WHERE 0"
    }
    if hasHidden(Self.origin, for: query) {
      names.append("\((bundled == nil ? "cached" : "bundled").sqlText) AS \(Self.origin)")
    }
    return """
      CREATE TEMP VIEW \(inner.sqlName) AS \(body);
      CREATE TEMP VIEW \(name.sqlName) AS
      SELECT \(names.joined(separator: ", ")) FROM temp.\(inner.sqlName);
      """
  }

  /// The columns that a query, in lower case, can read: all if it may have them by `*` or by `NATURAL`.
  private func columnsNamed(in query: String) -> [String] {
    let beforeStars = query.split(separator: "*", omittingEmptySubsequences: false).dropLast()
    let hasAll = beforeStars.contains { text in
      let text = text.reversed().drop(while: \.isWhitespace)
      // A product, or `count(*)`.
      guard let last = text.first, last.isLetter || last.isNumber || "_)\"'`](".contains(last)
      else { return true }
      return ["select", "distinct", "all"].contains { text.starts(with: $0.reversed()) }
    }
    guard !hasAll, !["natural", "--"].contains(where: query.contains) else { return columns }
    // Quotes in a name are doubled.
    let named = columns.filter { name in
      query.contains(name.lowercased()) || name.contains { !$0.isASCII || "\"`".contains($0) }
    }
    return named.isEmpty ? columns : named
  }

  /// The statements that make a table of ``bundled``.
  func bundledTable(over inner: String) -> [String] {
    let table = "temp.\(Self.bundledName(inner))"
    let rows = (bundled ?? []).map { record in
      let json = String(decoding: record.json, as: UTF8.self)
      return "INSERT INTO \(table) (id, json) VALUES (\(record.id.sqlText), \(json.sqlText))"
    }
    return ["CREATE TABLE \(table) (position INTEGER PRIMARY KEY, id TEXT, json TEXT)"] + rows
  }

  private static func bundledName(_ inner: String) -> String { "\(inner)_bundled".sqlName }

  /// Collects the positions of the records of more than `maxSize` bytes, which cannot even be read under
  /// such a limit.
  func tooLarge(of number: Int64, over inner: String, maxSize: Int) -> String {
    """
    CREATE TEMP TABLE \(Self.tooLargeName(inner)) (position INTEGER PRIMARY KEY);
    INSERT INTO temp.\(Self.tooLargeName(inner)) SELECT position FROM main.records
    WHERE length(CAST(json AS BLOB)) > \(maxSize) AND \(source.isShown("\(number)", in: "main."))
    """
  }

  private func isTooLarge(_ inner: String) -> String {
    "(position IN (SELECT position FROM temp.\(Self.tooLargeName(inner))))"
  }

  private static func tooLargeName(_ inner: String) -> String { "\(inner)_large".sqlName }
}

extension Connection {
  /// Defines the function of a record's JSON and a path, which finds what `json_extract` does, without parsing the rest.
  borrowing func defineMember(as name: String) throws(SQLiteFailure) {
    let code = csqlite_define_member(database, name)
    guard code == SQLITE_OK else { throw SQLiteFailure(code, on: database) }
  }
}
