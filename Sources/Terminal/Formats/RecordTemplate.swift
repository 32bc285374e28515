package import AggregatorKit

/// The text of `--template`, with `{name}` for the value of a field: `{name}\t{capital}`, in a form after the name as in
/// Python (`{name:<20}`, `{price:>8,.2f}`, `{id:05}`, `{added:%Y-%m-%d}` in UTC), with a case (`{name|upper}`) and a text for no value as in a shell (`{name:-none}`).
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
                "write {name:<20}, {name:>20} or {name:^20} for a width, {name:.10} for a shorter text, {price:,.2f} for decimals and thousands, {id:05} for zeros, "
                  + "{added:%Y-%m-%d} for a date, {name|upper} or {name|lower} for a case, {name:-none} for a text in place of no value"
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

  /// Throws `usage` for a form that no value of its field has; a text may be a date, or an ID of digits.
  ///
  /// - Parameter kinds: The kinds of ``fields``, as far as they are known.
  package func check(_ kinds: [String: FieldKind]) throws(CommandError) {
    for case .field(let field) in parts {
      guard let kind = kinds[field.name], let lack = field.lack(of: kind) else { continue }
      throw CommandError(
        .usage,
        "invalid value for --template: values of \"\(field.name)\" are no \(lack), "
          + "but of kind \(kind.rawValue)",
        hint: "{name:<20}, {name:.10} and {name|upper} fit any value")
    }
  }

  private static func invalid(_ reason: String) -> CommandError {
    CommandError(
      .usage, "invalid value for --template: \(reason)",
      hint:
        "fields are in braces, as in '{id}\\t{name}'; write \\t, \\n, \\\\ and \\{ for a tab, a line break and the characters"
    )
  }

  /// The line of a record, whose values have pictures of control characters, and lose all else that a terminal might obey if
  /// it `isSafe`.
  ///
  /// - Parameter columns: Those of ``fields``, by the names in the template.
  private func line<Item>(
    of record: Item, _ columns: [String: Field<Item>], isSafe: Bool
  ) -> String {
    parts.map { part in
      switch part {
      case .text(let text): return text
      case .field(let field):
        return field.text(of: columns[field.name]?[record] ?? .null, isSafe: isSafe)
      }
    }.joined() + "\n"
  }

  func writer<Item>(
    for listing: Listing<Item>, on terminalLayout: TerminalLayout
  ) -> any RecordWriter<Item> {
    let shown = listing.chosen ?? listing.fields
    var columns: [String: Field<Item>] = [:]
    for (typed, name) in zip(fields, shown.names(shownAs: fields)) {
      columns[typed] = shown.first { $0.name == name }
    }
    return LineWriter { [columns] record, text in
      text += line(of: record, columns, isSafe: terminalLayout.isRead)
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
  private var hasThousands = false
  /// The form of a date, as in `strftime`.
  private var dateForm: String?
  private var fallback: Substring?

  /// `nil` if the form is invalid.
  init?(_ typed: String) {
    let end = typed.firstIndex { "|:".contains($0) } ?? typed.endIndex
    name = typed[..<end].trimmed
    let form =
      /(?:\| *(upper|lower) *)?(?::(?:(%.*?)|([<>^0])?([1-9][0-9]{0,2})?(,)?(?:\.([0-9]{1,2})(f)?)?))?(?::-([^}]*))?/
    guard let parts = typed[end...].wholeMatch(of: form)?.output else { return nil }
    (letterCase, alignment, fallback) = (parts.1, parts.3, parts.8)
    width = parts.4.flatMap { Int($0) } ?? 0
    precision = parts.6.flatMap { Int($0) }
    (hasThousands, isOfNumbers) = (parts.5 != nil, parts.7 != nil)
    dateForm = parts.2.map(String.init)
    // Others are unknown to some systems, or depend on the time zone.
    let letters = dateForm?.replacing("%%", with: "")
    guard letters?.contains(/%[^YymdeHIMSpjbBaAFTDGVu]|%$/) != true,
      !(hasThousands && alignment == "0")
    else { return nil }
  }

  /// The values that the form is for, if those of a kind are others; `nil` if it fits.
  func lack(of kind: FieldKind) -> String? {
    switch kind {
    case .integer, .number: dateForm == nil ? nil : "dates"
    case .text: isOfNumbers || hasThousands ? "numbers" : nil
    case .bool, .list:
      dateForm != nil ? "dates" : isOfNumbers || hasThousands ? "numbers" : nil
    case .any: nil
    }
  }

  /// - Parameter isSafe: True to take from the value all that a terminal might obey, not only control characters.
  func text(of value: JSON, isSafe: Bool) -> String {
    // A record is one line.
    let cell = value.isNested ? value.text : value.cell
    var text = isSafe ? cell.safeLine : cell.lineWithoutControls
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
      // A year, a month or a day has no more than it says.
      if let dateForm, case .string(let value) = value, let date = Period(recorded: value),
        date.isDate,
        value.utf8.count > 10 || !dateForm.contains(/%[HIMSpT]/)
      {
        text = dateForm.filled(at: date.start)
      }
      if let letterCase { text = letterCase == "upper" ? text.uppercased() : text.lowercased() }
      if let precision, !isOfNumbers { text = String(text[...].prefix(cells: precision)) }
    }
    if isNumber, hasThousands { text = text.withThousands }
    if text.isEmpty, let fallback { text = String(fallback) }
    let room = max(0, width - text.displayWidth)
    // An ID is often a number as text.
    if alignment == "0", isNumber || text.wholeMatch(of: /-?(0|[1-9][0-9]*)/) != nil {
      let sign = text.prefix { $0 == "-" }
      return sign + String(repeating: "0", count: room) + text.dropFirst(sign.count)
    }
    let before =
      switch alignment ?? (isNumber ? ">" : "<") {
      case "<", "0": 0
      case "^": room / 2
      default: room
      }
    return String(repeating: " ", count: before) + text
      + String(repeating: " ", count: room - before)
  }
}

extension Array {
  /// The names of fields as typed, or those of the only fields with this name or head in another case: "ID" for `id`.
  package func names<Item>(shownAs typed: [String]) -> [String] where Element == Field<Item> {
    typed.map { typed in
      guard !contains(where: { $0.name == typed }) else { return typed }
      let meant = filter { field in
        [field.name, field.label].contains { $0.lowercased() == typed.lowercased() }
      }
      return meant.count == 1 ? meant[0].name : typed
    }
  }
}

extension String {
  /// This form of `strftime` with the time in UTC, in seconds since 1970.
  fileprivate func filled(at seconds: Double) -> String {
    var (time, parts) = (time_t(seconds.rounded(.down)), tm())
    gmtime_r(&time, &parts)
    var bytes = [CChar](repeating: 0, count: utf8.count * 12)
    let count = strftime(&bytes, bytes.count, self, &parts)
    return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension Double {
  /// With this number of decimals, or in another form of `printf`, rounded as by it.
  fileprivate func fixed(to decimals: Int, as form: String = "%.*f") -> String {
    var bytes = [CChar](repeating: 0, count: 512)
    let count = withVaList([Int32(decimals), self]) { vsnprintf(&bytes, 512, form, $0) }
    return String(decoding: bytes.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension JSON {
  /// The number of decimals that a number needs; 0 for what is no number, and for one that is too large for them.
  ///
  /// - Parameter most: The most decimals, 15 or fewer: further ones are those of a quotient or of a rounding error.
  package func decimals(atMost most: Int = 6) -> Int {
    guard case .number(let number) = self, abs(number) < 1e15 else { return 0 }
    var count = most
    while count > 0, abs(number) * pow(10, Double(count)) >= 1e15 { count -= 1 }
    var rest = Int((abs(number) * pow(10, Double(count))).rounded())
    while count > 0, rest % 10 == 0 { (rest, count) = (rest / 10, count - 1) }
    return count
  }

  /// A number with one or more decimals, as others of its column have them; `nil` for what is none, and for one that would
  /// lose more than its last digits.
  package func aligned(to decimals: Int) -> String? {
    switch self {
    case .integer(let number): return "\(number)." + String(repeating: "0", count: decimals)
    case .number(let number) where abs(number) < 1e15:
      let text = number.fixed(to: decimals)
      return abs((Double(text) ?? 0) - number) <= min(abs(number) * 1e-4, 1e-6) ? text : nil
    default: return nil
    }
  }

  /// A number below 1, or one so large that its last digits are not exact, with at most seven digits that count; `nil`
  /// for all others.
  package var shortened: String? {
    guard case .number(let number) = self, number != 0, abs(number) < 1 || abs(number) >= 1e16
    else { return nil }
    return number.fixed(to: 7, as: "%.*g")
  }

  /// A computed number as a person reads it: ``shortened``, or with at most six decimals.
  package var rounded: JSON {
    guard case .number(let number) = self else { return self }
    return Double(aligned(to: 6) ?? shortened ?? "").map { .number($0) } ?? .number(number)
  }
}

extension Field {
  /// This field with computed numbers as a person reads them.
  package var rounded: Field { Field(name, label, kind, about: about) { self[$0].rounded } }
}
