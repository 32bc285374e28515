import AggregatorKit

extension JSONPath {
  /// The SQLite expression of ``value(in:)`` for a member of a record's stored JSON, `records.json`:
  /// tables of `json_each` have a column `json`, too.
  ///
  /// `json_extract` has no paths to several values, and quotes in a name confuse some of its versions.
  func sqlExpression(below member: String) -> String {
    var tables: [String] = []
    var conditions: [String] = []
    var parent = ""
    for (index, component) in ([.member(member)] + components).enumerated() {
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
    let rows =
      "FROM \(tables.joined(separator: ", ")) WHERE \(conditions.joined(separator: " AND "))"
    guard isMultiple else { return "(SELECT \(parent).value \(rows) LIMIT 1)" }
    return """
      (SELECT iif(count(*) > 0, json_group_array(json(CASE \(parent).type
        WHEN 'text' THEN json_quote(\(parent).value) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
        ELSE \(parent).value END)), NULL) \(rows) AND \(parent).type <> 'null')
      """
  }
}
