import AggregatorCore

extension FieldExpression {
  /// The SQL of the value as text, for a row with a column `json` of the type `json`.
  var postgresText: String {
    switch self {
    case .value(let path):
      path.plainNames.map { "(json #>> \($0.postgresArray))" } ?? Self.values(at: path)
    case .text(let text): text.postgresText
    case .joined(let parts):
      parts.isEmpty ? "''" : "(\(parts.map(\.postgresText).joined(separator: " || ")))"
    case .coalesce(let first, let second):
      "coalesce(\(first.postgresText), \(second.postgresText))"
    case .age(let birthDate):
      """
      (SELECT CASE WHEN years BETWEEN 0 AND 150 THEN years::text END FROM (
        SELECT CASE WHEN born ~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' THEN
          substr(today, 1, 4)::int - substr(born, 1, 4)::int
            - (substr(today, 6) < substr(born, 6) COLLATE "C")::int END AS years
        FROM (SELECT \(birthDate.postgresText) AS born,
          to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS today) dates) ages)
      """
    }
  }

  /// Paths of `#>` lead to several values nowhere, and count from the end of an array for `-1`.
  private static func values(at path: [JSONPathComponent]) -> String {
    var tables: [String] = []
    var order: [String] = []
    var value = "json"
    for (index, component) in path.enumerated() {
      let table = "e\(index)"
      switch component {
      case .member(let name):
        let inner = "\(value) #> \([name].postgresArray)"
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
    guard path.contains(.each) else { return "(SELECT \(value) #>> '{}' \(rows))" }
    return """
      (SELECT '[' || string_agg(\(value)::text, ',' ORDER BY \(order.joined(separator: ", "))) || ']'
      \(rows) WHERE json_typeof(\(value)) <> 'null')
      """
  }
}

extension [String] {
  /// The path of `#>` to a member below members of these names.
  var postgresArray: String {
    isEmpty ? "'{}'" : "ARRAY[\(map(\.postgresText).joined(separator: ", "))]"
  }
}
