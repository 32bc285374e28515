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

/// The same for PostgreSQL, whose texts cannot contain a zero byte.
extension String {
  /// This text as a name in SQL, whatever it contains; see ``postgresIdentifier``.
  package var postgresName: String {
    "\"\(postgresIdentifier.replacing("\"", with: "\"\""))\""
  }

  /// A name of at most 63 bytes: PostgreSQL would cut a longer one, so it ends in a digest.
  package var postgresIdentifier: String {
    var name = isEmpty ? "\u{2400}" : replacing("\0", with: "\u{2400}")
    guard name.utf8.count > 63 else { return name }
    let digest = "~\(String(name.fnv1a, radix: 36))"
    while name.utf8.count + digest.utf8.count > 63 { name.unicodeScalars.removeLast() }
    return name + digest
  }

  /// This text as a literal in SQL, whatever it contains.
  package var postgresText: String {
    let text = replacing("\0", with: "\u{2400}").replacing("'", with: "''")
    return text.contains("\\") ? "E'\(text.replacing("\\", with: "\\\\"))'" : "'\(text)'"
  }
}
