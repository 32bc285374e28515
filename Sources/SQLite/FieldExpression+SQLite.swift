import AggregatorCore

extension FieldExpression {
  /// The SQL of the value for a row of the table `records`: tables of `json_each` have a column `json`, too.
  var sqliteText: String {
    switch self {
    case .value(let path):
      path.plainNames.map { "json_extract(records.json, \($0.sqliteJSONPath))" }
        ?? Self.values(at: path)
    case .text(let text): text.sqlText
    case .joined(let parts):
      parts.isEmpty ? "''" : "(\(parts.map(\.sqliteText).joined(separator: " || ")))"
    case .coalesce(let first, let second): "coalesce(\(first.sqliteText), \(second.sqliteText))"
    case .age(let birthDate):
      """
      (SELECT CASE WHEN years BETWEEN 0 AND 150 THEN years END FROM (
        SELECT strftime('%Y', 'now') - substr(born, 1, 4)
          - (strftime('%m-%d', 'now') < substr(born, 6)) AS years
        FROM (SELECT \(birthDate.sqliteText) AS born)
        WHERE born GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
          AND substr(born, 6, 2) BETWEEN '01' AND '12' AND substr(born, 9) BETWEEN '01' AND '31'))
      """
    }
  }

  /// `json_extract` has no paths to several values, and quotes in a name confuse some of its versions.
  private static func values(at path: [JSONPathComponent]) -> String {
    var tables: [String] = []
    var conditions: [String] = []
    var parent = ""
    for (index, component) in path.enumerated() {
      let table = "e\(index)"
      tables.append(
        parent.isEmpty
          ? "json_each(records.json) \(table)"
          : "json_each(iif(\(parent).type IN ('array', 'object'), \(parent).value, '[]')) \(table)")
      if case .member(let name) = component {
        // The key of an array's element is an integer.
        let position = Int(name).flatMap { String($0) == name && $0 >= 0 ? ", \($0)" : nil }
        conditions.append("\(table).key IN (\(name.sqlText)\(position ?? ""))")
      }
      parent = table
    }
    if conditions.isEmpty { conditions = ["1"] }
    let rows =
      "FROM \(tables.joined(separator: ", ")) WHERE \(conditions.joined(separator: " AND "))"
    guard path.contains(.each) else { return "(SELECT \(parent).value \(rows) LIMIT 1)" }
    return """
      (SELECT iif(count(*) > 0, json_group_array(json(CASE \(parent).type
        WHEN 'text' THEN json_quote(\(parent).value) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
        ELSE \(parent).value END)), NULL) \(rows) AND \(parent).type <> 'null')
      """
  }
}

extension [String] {
  /// The path of `json_extract` to a member below members of these names, as a literal.
  var sqliteJSONPath: String { "$\(map { ".\"\($0)\"" }.joined())".sqlText }
}
