import AggregatorKit

extension String {
  /// This text as a cell of TSV: `\t`, `\n`, `\r` and `\\` as in C, and `\xNN` for each UTF-8 byte
  /// of any other control character.
  ///
  /// A `DelimitedReader` that replaces escapes returns the same text.
  ///
  /// - Parameters:
  ///   - isShown: True on a terminal: every character is escaped that is invisible or that a terminal may obey.
  ///   - isInTable: True below the names of columns. A quote at the beginning is `\x22` there, because programs that read
  ///     tables, this one included, take it for that of a quoted value.
  package func tsvCell(isShown: Bool, isInTable: Bool = false) -> String {
    let hasQuote = isInTable && utf8.first == 0x22
    if isPrintableASCII, !hasQuote, !utf8.contains(0x5C) { return self }
    var text = hasQuote ? "\\x22" : ""
    for scalar in unicodeScalars.dropFirst(hasQuote ? 1 : 0) {
      switch scalar {
      case "\t": text += "\\t"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\\": text += "\\\\"
      case _ where isShown ? scalar.isInvisible : scalar.properties.generalCategory == .control:
        for byte in UTF8.encode(scalar) ?? .init() {
          text += (byte < 0x10 ? "\\x0" : "\\x") + String(byte, radix: 16)
        }
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// This text as a cell of CSV, quoted if necessary; on a terminal, like `safeCell`.
  ///
  /// Unless `isRaw`, a `'` precedes text that a spreadsheet may take for a formula: it begins with
  /// `=`, `+`, `-` or `@`, also full-width or after blanks or invisible characters, and is not a plain number, or with a tab or a
  /// line break.
  package func csvCell(isRaw: Bool, isShown: Bool = false) -> String {
    var text = isShown ? safeCell : self
    if !isRaw, text.isFormula { text = "'" + text }
    let needsQuotes = text.utf8.contains { $0 == 0x2C || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }
    guard needsQuotes else { return text }
    // By scalar: a quote with a combining accent is another character, but still a quote to
    // parsers.
    return "\"" + text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
  }

  fileprivate var isFormula: Bool {
    guard let first = unicodeScalars.first else { return false }
    let rest = unicodeScalars.drop { $0.properties.isWhitespace || $0.isInvisible }
    let isMarked = rest.first.map { "=+-@＝＋－＠".unicodeScalars.contains($0) } ?? false
    return "\t\r\n".unicodeScalars.contains(first) || isMarked && !String(rest).isPlainNumber
  }

  /// `true` for a decimal number such as -3.5 or +1e-9, but not for `-inf` or `-0x1`.
  private var isPlainNumber: Bool {
    utf8.allSatisfy { 0x30...0x39 ~= $0 || "+-.eE".utf8.contains($0) } && Double(self) != nil
  }
}

extension JSON {
  /// True for a list with lists or objects in it.
  var isNested: Bool { array?.contains { $0.isObject || $0.array != nil } ?? false }

  /// The ``cell`` for programs: a list as a line of CSV with a space after each comma, so that one rule reads all of a column, but
  /// one with lists or objects as JSON text, which has quotes of its own.
  ///
  /// An element is quoted if its end would not be seen, as it is empty, begins or ends with a space, or has a comma, a quote or a
  /// line break.
  package var unambiguousCell: String {
    guard case .array(let elements) = self else { return cell }
    guard !isNested else { return text }
    return elements.map { element in
      let text = element.cell
      let isPlain =
        !text.isEmpty && text.utf8.first != 0x20 && text.utf8.last != 0x20
        && !text.utf8.contains { ",\"\n\r".utf8.contains($0) }
      return isPlain ? text : "\"\(text.replacing("\"", with: "\"\""))\""
    }.joined(separator: ", ")
  }
}

/// Writes lines of CSV (RFC 4180).
struct CSVWriter<Item>: RecordWriter {
  private let columns: [Field<Item>]
  private let hasHeader: Bool
  private let isRaw: Bool
  private let isShown: Bool
  private(set) var defusedFormulas = 0

  /// - Parameter isShown: True on a terminal.
  init(_ columns: [Field<Item>], hasHeader: Bool, isRaw: Bool, isShown: Bool) {
    self.columns = columns
    self.hasHeader = hasHeader
    self.isRaw = isRaw
    self.isShown = isShown
  }

  mutating func begin() -> String { hasHeader ? line(columns.map(\.name)) : "" }

  mutating func append(_ records: [Item]) -> String {
    var text = ""
    for record in records { text += line(columns.map { $0[record].unambiguousCell }) }
    return text
  }

  private mutating func line(_ values: [String]) -> String {
    var cells: [String] = []
    cells.reserveCapacity(values.count)
    for value in values {
      let cell = value.csvCell(isRaw: isRaw, isShown: isShown)
      cells.append(cell)
      // Few cells have a quote at their beginning.
      if !isRaw, cell.utf8.prefix(2).contains(0x27), value.isFormula {
        defusedFormulas += 1
      }
    }
    // Many parsers take an empty line for a record without cells.
    return (cells == [""] ? "\"\"" : cells.joined(separator: ",")) + "\r\n"
  }
}
