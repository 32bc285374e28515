import AggregatorKit

/// Writes a table of GitHub Flavored Markdown, in which columns of numbers are aligned right, as the first records have them.
struct MarkdownWriter<Item: Identifiable & Sendable>: RecordWriter
where Item.ID: CustomStringConvertible {
  private let columns: [Field<Item>]
  private let isShown: Bool
  private var hasBegun = false

  /// - Parameter isShown: True on a terminal.
  init(_ listing: Listing<Item>, isShown: Bool) {
    (columns, self.isShown) = (listing.columns, isShown)
  }

  mutating func append(_ records: [Item]) -> String {
    (records.isEmpty ? "" : begin(with: records))
      + records.map { record in
        Self.row(columns.map { $0[record].cell.markdown(isShown: isShown) })
      }.joined()
  }

  mutating func finish(_ summary: ListingSummary) -> String { begin(with: []) }

  private mutating func begin(with records: [Item]) -> String {
    guard !hasBegun else { return "" }
    hasBegun = true
    return Self.row(columns.map { $0.label.markdown(isShown: isShown) })
      + Self.row(columns.map { $0.hasNumbers(in: records) ? "---:" : "---" })
  }

  private static func row(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |\n" }
}

extension String {
  /// This text on one line of Markdown, in which nothing is markup, HTML or the end of a cell, and control characters are
  /// their pictures.
  fileprivate func markdown(isShown: Bool) -> String {
    var text = ""
    // A line break would end the row.
    for scalar in (isShown ? safeLine : replacing("\r\n", with: "\n")).unicodeScalars {
      switch scalar {
      case "\n", "\r", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}": text += "<br>"
      case "\t": text += " "
      case "\\", "|", "`", "*", "[", "]", "~": text += "\\\(scalar)"
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      // They would show the cells after them in another order.
      case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": break
      default: text.unicodeScalars.append(scalar.withoutControl)
      }
    }
    return text
  }
}

/// Writes a sequence of YAML 1.2 with a mapping for each record; lists and objects in it are JSON, which is YAML.
struct YAMLWriter<Item: Identifiable & Sendable>: RecordWriter
where Item.ID: CustomStringConvertible {
  private let listing: Listing<Item>
  private var isEmpty = true

  init(_ listing: Listing<Item>) { self.listing = listing }

  mutating func append(_ records: [Item]) -> String {
    isEmpty = isEmpty && records.isEmpty
    return records.map { record in
      guard case .object(let members) = listing.object(of: record), !members.isEmpty else {
        return "- {}\n"
      }
      let lines = members.map { member in "\(member.name.yaml): \(member.value.yaml)\n" }
      return "- " + lines.joined(separator: "  ")
    }.joined()
  }

  mutating func finish(_ summary: ListingSummary) -> String { isEmpty ? "[]\n" : "" }
}

extension JSON {
  var yaml: String {
    switch self {
    case .string(let text): return text.yaml
    case .number:
      // YAML 1.1 takes 1e+21 for a text.
      let parts = text.split(separator: "e")
      return parts.count == 2 && !parts[0].contains(".") ? "\(parts[0]).0e\(parts[1])" : text
    case .null, .bool, .integer, .array, .object: return text
    }
  }
}

extension String {
  /// Words that YAML 1.1 or 1.2 reads as something else than text.
  private static let yamlWords: Set = [
    "true", "false", "null", "yes", "no", "on", "off", "y", "n",
  ]

  /// This text as a scalar: plain if it is a few words, else in quotes, as in JSON.
  fileprivate var yaml: String { isPlainYAML ? self : JSON.string(self).text }

  /// True for words of ASCII letters, digits and `_`, `.`, `/`, `@` or `-` with one space between each two of them, of
  /// which the first begins with a letter, and which no version of YAML reads as something else than text.
  ///
  /// By bytes, because it is asked of each name and each value of an export.
  var isPlainYAML: Bool {
    var previous = UInt8(ascii: " ")
    for byte in utf8 {
      switch byte {
      case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, 0x2D...0x2F, 0x40, 0x5F: break
      case 0x20 where previous != 0x20: break
      default: return false
      }
      previous = byte
    }
    guard previous != 0x20, let first = utf8.first, 0x61...0x7A ~= first | 0x20 else {
      return false
    }
    return utf8.count > 5 || !Self.yamlWords.contains(lowercased())
  }
}
