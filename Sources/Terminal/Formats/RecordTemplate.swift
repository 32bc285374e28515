import AggregatorKit

/// The text of `--template`, with `{name}` for the value of a field: `{name}\t{capital}`, in a form after the name as in
/// Python (`{name:<20}`, `{price:>8.2f}`), with a case (`{name|upper}`) and a text for no value as in a shell (`{name:-none}`).
///
/// `\t`, `\n`, `\\`, `\{` and `\}` are a tab, a line break and the characters themselves.
package struct RecordTemplate: Hashable, Sendable {
  private enum Part: Hashable {
    case text(String)
    case field(Placeholder)
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
          let place = template.distance(from: template.startIndex, to: rest.startIndex)
          let typed = escaped.map(String.init) ?? ""
          throw Self.invalid(
            "\"\\\(typed)\" at character \(place - typed.count) is no escape")
        }
      case "{":
        let place = template.distance(from: template.startIndex, to: rest.startIndex)
        guard let end = rest.firstIndex(of: "}") else {
          throw Self.invalid("the \"{\" at character \(place) is not closed")
        }
        guard !rest.hasPrefix("{") else { throw Self.invalid("a field is in single braces") }
        let typed = rest[..<end].trimmed
        guard let field = Placeholder(typed) else {
          throw CommandError(
            .usage,
            "invalid value for --template: \"{\(typed)}\" at character \(place) has an invalid form",
            hint:
              .words(
                "write {name:<20}, {name:>20} or {name:^20} for a width, {name:.10} for a shorter text, {price:.2f} for decimals, "
                  + "{name|upper} or {name|lower} for a case, {name:-none} for a text in place of no value"
              )
          )
        }
        rest = rest[end...].dropFirst()
        parts += [.text(plain), .field(field)]
        plain = ""
        if !fields.contains(field.name) { fields.append(field.name) }
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
      case .field(let field):
        return field.text(
          of: fields.first { $0.name == field.name }?[record] ?? .null, isSafe: isSafe)
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

/// A field in braces: its name, then the form of its value.
private struct Placeholder: Hashable {
  let name: String
  private var letterCase: Substring?
  private var alignment: Substring?
  private var width = 0
  /// The most cells of a text, or the decimals of a number.
  private var precision: Int?
  private var isOfNumbers = false
  private var fallback: Substring?

  /// `nil` if the form is invalid.
  init?(_ typed: String) {
    let end = typed.firstIndex { "|:".contains($0) } ?? typed.endIndex
    name = typed[..<end].trimmed
    let form =
      /(?:\| *(upper|lower) *)?(?::([<>^])?([1-9][0-9]{0,2})?(?:\.([0-9]{1,2})(f)?)?)?(?::-([^}]*))?/
    guard let parts = typed[end...].wholeMatch(of: form)?.output else { return nil }
    (letterCase, alignment, fallback) = (parts.1, parts.2, parts.6)
    width = parts.3.flatMap { Int($0) } ?? 0
    precision = parts.4.flatMap { Int($0) }
    isOfNumbers = parts.5 != nil
  }

  /// - Parameter isSafe: True to take from the value what a terminal might obey.
  func text(of value: JSON, isSafe: Bool) -> String {
    var text = isSafe ? value.cell.safeLine : value.cell
    var isNumber = true
    switch value {
    // Exact, unlike as a floating-point number.
    case .integer(let number):
      if let precision, precision > 0 {
        text = "\(number)." + String(repeating: "0", count: precision)
      }
    case .number(let number): if let precision { text = number.fixed(to: precision) }
    default:
      isNumber = false
      if let letterCase { text = letterCase == "upper" ? text.uppercased() : text.lowercased() }
      if let precision, !isOfNumbers { text = String(text[...].prefix(cells: precision)) }
    }
    if text.isEmpty, let fallback { text = String(fallback) }
    let room = max(0, width - text.displayWidth)
    let before =
      switch alignment ?? (isNumber ? ">" : "<") {
      case "<": 0
      case "^": room / 2
      default: room
      }
    return String(repeating: " ", count: before) + text
      + String(repeating: " ", count: room - before)
  }
}

extension Double {
  /// With this number of decimals, rounded as by `printf`.
  fileprivate func fixed(to decimals: Int) -> String {
    var bytes = [CChar](repeating: 0, count: 512)
    let count = withVaList([Int32(decimals), self]) { vsnprintf(&bytes, 512, "%.*f", $0) }
    return String(decoding: bytes.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
