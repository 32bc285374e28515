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
