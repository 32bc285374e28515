import AggregatorKit

extension JSONPath {
  /// The PostgreSQL expression of ``value(in:)``, as text, for a member of a record's stored JSON.
  ///
  /// Paths of `#>` lead to several values nowhere, and count from the end of an array for `-1`.
  func postgresExpression(below member: String) -> String {
    var tables: [String] = []
    var order: [String] = []
    var value = "json"
    for (index, component) in ([.member(member)] + components).enumerated() {
      let table = "e\(index)"
      switch component {
      case .member(let name):
        let inner = "\(value) #> ARRAY[\(name.postgresText)]"
        // Other texts of a number are a position for PostgreSQL, but not here.
        let isPlain =
          name.contains(where: \.isLetter) || Int(name).map { "\($0.magnitude)" } == name
        let guarded = isPlain ? inner : "CASE json_typeof(\(value)) WHEN 'object' THEN \(inner) END"
        tables.append("LATERAL (SELECT \(guarded) AS value) \(table)")
      case .each:
        tables.append(
          """
          LATERAL (
            SELECT value, place FROM json_array_elements(
              CASE json_typeof(\(value)) WHEN 'array' THEN \(value) ELSE '[]' END)
              WITH ORDINALITY a (value, place)
            UNION ALL SELECT value, place FROM json_each(
              CASE json_typeof(\(value)) WHEN 'object' THEN \(value) ELSE '{}' END)
              WITH ORDINALITY o (key, value, place)) \(table)
          """)
        order.append("\(table).place")
      }
      value = "\(table).value"
    }
    let rows = "FROM \(tables.joined(separator: ", "))"
    guard isMultiple else { return "(SELECT \(value) #>> '{}' \(rows))" }
    return """
      (SELECT '[' || string_agg(\(value)::text, ',' ORDER BY \(order.joined(separator: ", "))) || ']'
      \(rows) WHERE json_typeof(\(value)) <> 'null')
      """
  }
}
