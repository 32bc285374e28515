import AggregatorKit

/// The text of `--template`, with `{name}` for the value of a field: `{name}\t{capital}`.
///
/// `\t`, `\n`, `\\`, `\{` and `\}` are a tab, a line break and the characters themselves.
package struct RecordTemplate: Hashable, Sendable {
  private enum Part: Hashable {
    case text(String)
    case field(String)
  }

  private var parts: [Part] = []

  /// The names of the fields, each once, in their order.
  package private(set) var fields: [String] = []

  /// Errors have the code `usage`.
  package init(_ template: String) throws(CommandError) {
    var plain = ""
    var rest = template[...]
    while let character = rest.popFirst() {
      switch character {
      case "\\":
        switch rest.popFirst() {
        case "t": plain += "\t"
        case "n": plain += "\n"
        case let escaped? where "\\{}".contains(escaped): plain.append(escaped)
        case let escaped:
          throw Self.invalid("\"\\\(escaped.map(String.init) ?? "")\" is no escape")
        }
      case "{":
        guard let end = rest.firstIndex(of: "}") else {
          throw Self.invalid("a \"{\" is not closed")
        }
        let name = rest[..<end].trimmed
        guard !name.contains("{") else { throw Self.invalid("a field is in single braces") }
        rest = rest[end...].dropFirst()
        parts += [.text(plain), .field(name)]
        plain = ""
        if !fields.contains(name) { fields.append(name) }
      default: plain.append(character)
      }
    }
    parts.append(.text(plain))
    guard !fields.isEmpty else { throw Self.invalid("it names no field") }
  }

  private static func invalid(_ reason: String) -> CommandError {
    CommandError(
      .usage, "invalid value for --template: \(reason)",
      hint:
        "fields are in braces, as in '{id}\\t{name}'; write \\t, \\n, \\\\ and \\{ for a tab, a line break and the characters"
    )
  }

  /// The line of a record, whose values lose what a terminal might obey if it `isSafe`.
  fileprivate func line<Item>(of record: Item, _ fields: [Field<Item>], isSafe: Bool) -> String {
    parts.map { part in
      switch part {
      case .text(let text): return text
      case .field(let name):
        let cell = fields.first { $0.name == name }?[record].cell ?? ""
        return isSafe ? cell.safeLine : cell
      }
    }.joined() + "\n"
  }

  func writer<Item>(
    for listing: Listing<Item>, on terminalLayout: TerminalLayout
  ) -> any RecordWriter<Item> {
    let fields = listing.chosen ?? listing.fields
    return LineWriter { record, text in
      text += line(of: record, fields, isSafe: terminalLayout.isRead)
    }
  }
}
