extension String {
  /// This text as a name in SQL, whatever it contains.
  package var sqlName: String {
    // A zero byte would end the statement.
    "\"\(replacing("\"", with: "\"\"").replacing("\0", with: "\u{2400}"))\""
  }

  /// This text as a literal in SQL, whatever it contains.
  package var sqlText: String {
    let quoted = "'\(replacing("'", with: "''"))'"
    return quoted.contains("\0") ? "(\(quoted.replacing("\0", with: "' || char(0) || '")))" : quoted
  }
}
