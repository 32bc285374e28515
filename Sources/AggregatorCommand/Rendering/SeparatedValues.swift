import AggregatorKit

/// Writes one record a line, its cells separated by tabs, without a header, as `gh` does in a pipe.
struct TSVWriter<Item>: RecordWriter {
  let fields: [Field<Item>]

  mutating func append(_ records: [Item]) -> String {
    var text = ""
    for record in records {
      text += fields.map { $0[record].cell.tsvEscaped }.joined(separator: "\t") + "\n"
    }
    return text
  }
}

extension String {
  /// This text as a cell of TSV: `\t`, `\n`, `\r` and `\\` for what they are in C, `\xNN` for each UTF-8
  /// byte of any other character that a terminal may obey or not show.
  ///
  /// Nothing is lost: reading the escapes gives the same text back.
  package var tsvEscaped: String {
    if isPrintableASCII, !utf8.contains(0x5C) { return self }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\t": text += "\\t"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\\": text += "\\\\"
      case _ where scalar.isInvisible:
        for byte in UTF8.encode(scalar) ?? .init() {
          text += (byte < 0x10 ? "\\x0" : "\\x") + String(byte, radix: 16)
        }
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

/// Writes RFC 4180: a header of field names, lines that end in CR LF.
struct CSVWriter<Item>: RecordWriter {
  let fields: [Field<Item>]

  /// Whether cells that a spreadsheet takes for formulas stay as they are.
  let isRaw: Bool

  mutating func begin() -> String { line(fields.map { .string($0.name) }) }

  mutating func append(_ records: [Item]) -> String {
    var text = ""
    for record in records { text += line(fields.map { $0[record] }) }
    return text
  }

  private func line(_ values: [JSON]) -> String {
    let cells = values.map { $0.cell.csvCell(isRaw: isRaw) }
    // A line without any character is a record of no cells to many readers.
    return (cells == [""] ? "\"\"" : cells.joined(separator: ",")) + "\r\n"
  }
}

extension String {
  /// This text as a cell of CSV.
  ///
  /// CSV has no escapes, and its readers are spreadsheets and the people before them: the text is made
  /// harmless as on a terminal (see `safeCell`), but keeps tabs and line breaks. `--json` and `--tsv`
  /// have it exactly.
  ///
  /// - Parameter isRaw: Whether to leave out the `'` before what a spreadsheet takes for a formula: text
  ///   that begins with `=`, `+`, `-`, `@`, a tab or a carriage return and is no plain number.
  /// - Returns: The cell, quoted where it has to be.
  package func csvCell(isRaw: Bool) -> String {
    var text = safeCell
    if !isRaw, text.isFormula { text = "'" + text }
    let needsQuotes = text.utf8.contains { $0 == 0x2C || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }
    guard needsQuotes else { return text }
    // Scalar by scalar: a quote with an accent is another character, but still a quote to readers.
    return "\"" + text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
  }

  private var isFormula: Bool {
    guard let first = utf8.first, "=+-@\t\r".utf8.contains(first) else { return false }
    return !isPlainNumber
  }

  /// Whether this is a decimal number such as -3.5 or +1e-9; `-inf` and `-0x1` are none.
  private var isPlainNumber: Bool {
    utf8.allSatisfy { 0x30...0x39 ~= $0 || "+-.eE".utf8.contains($0) } && Double(self) != nil
  }
}

extension JSON {
  /// This value as the text of one cell.
  ///
  /// Nothing for null; lists are joined by a comma and a space. It is as hostile as the service that
  /// sent it.
  var cell: String {
    switch self {
    case .null: ""
    case .string(let text): text
    case .array(let values): values.map(\.cell).joined(separator: ", ")
    case .bool, .integer, .number, .object: text
    }
  }
}

extension FieldKind {
  /// Whether columns of this kind are aligned at the right and never cut: a number without its last
  /// digits is another number.
  var isNumeric: Bool { self == .integer || self == .number }
}
