import AggregatorText

/// PostgreSQL's texts cannot contain a zero byte.
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

  /// This with ASCII letters in lower case, as PostgreSQL reads a name that is not quoted.
  package var foldedInPostgres: String {
    String(decoding: utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
