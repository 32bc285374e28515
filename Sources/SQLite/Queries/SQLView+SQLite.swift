import AggregatorFoundation
import AggregatorStore

extension SQLView {
  /// Two layers, because SQLite passes the reader of a table to the ``SQLAuthorizer`` only by name:
  /// a query may use any name in `WITH heroes AS …`, but cannot guess `inner`.
  ///
  /// `number` is `nil` if nothing is stored; `function` is the name of that of the computed columns.
  ///
  /// With `hasTooLarge` the records of ``tooLarge(of:over:maxSize:)`` are left out.
  func definition(
    of number: Int64?, over inner: String, hasTooLarge: Bool, computedBy function: String
  ) -> String {
    let names = columns.map(\.sqlName)
    let body: String
    if bundled != nil {
      body = source.select(from: "temp.\(Self.bundledName(inner)) WHERE position > 0") {
        "\(function.sqlName)(json, \($0))"
      }
    } else if let number {
      // A condition of the query may be evaluated before those of the view.
      let json = hasTooLarge ? "CASE WHEN \(isTooLarge(inner)) THEN NULL ELSE json END" : "json"
      // It reads some column of `records`, here `position`: if no column of a table is read
      // (`SELECT count(*) FROM heroes`), SQLite does not tell the authorizer which view reads it.
      body = source.select(
        of: "\(number)", in: "main.", json: json,
        where: hasTooLarge ? "NOT \(isTooLarge(inner))" : nil
      ) { "\(function.sqlName)(\(json), \($0))" }
    } else {
      body = "SELECT \(names.map { "NULL AS \($0)" }.joined(separator: ", ")) WHERE 0"
    }
    let origin = "\((bundled == nil ? "cached" : "bundled").sqlText) AS \(Self.origin)"
    return """
      CREATE TEMP VIEW \(inner.sqlName) AS \(body);
      CREATE TEMP VIEW \(name.sqlName) AS
      SELECT \((names + (hasOrigin ? [origin] : [])).joined(separator: ", ")) FROM temp.\(inner.sqlName);
      """
  }

  /// The statements that make a table of ``bundled``.
  func bundledTable(over inner: String) -> [String] {
    let table = "temp.\(Self.bundledName(inner))"
    let rows = (bundled ?? []).map { record in
      "INSERT INTO \(table) (json) VALUES (\(String(decoding: record, as: UTF8.self).sqlText))"
    }
    return ["CREATE TABLE \(table) (position INTEGER PRIMARY KEY, json TEXT)"] + rows
  }

  private static func bundledName(_ inner: String) -> String { "\(inner)_bundled".sqlName }

  /// Collects the positions of the records of more than `maxSize` bytes, which cannot even be read under
  /// such a limit.
  func tooLarge(of number: Int64, over inner: String, maxSize: Int) -> String {
    """
    CREATE TEMP TABLE \(Self.tooLargeName(inner)) (position INTEGER PRIMARY KEY);
    INSERT INTO temp.\(Self.tooLargeName(inner)) SELECT position FROM main.records
    WHERE \(source.isShown("\(number)", in: "main.")) AND length(CAST(json AS BLOB)) > \(maxSize)
    """
  }

  private func isTooLarge(_ inner: String) -> String {
    "(position IN (SELECT position FROM temp.\(Self.tooLargeName(inner))))"
  }

  private static func tooLargeName(_ inner: String) -> String { "\(inner)_large".sqlName }
}
