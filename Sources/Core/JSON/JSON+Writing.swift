extension JSON {
  /// This value as JSON text (RFC 8259) on one line.
  ///
  /// Control characters and every invisible character that can change how a terminal shows the text
  /// around it are written as `\u` escapes, so that the text is safe to print.
  public var text: String {
    var text = ""
    write(to: &text)
    return text
  }

  /// This value as JSON text over several lines, two spaces for each level.
  public var indentedText: String {
    var text = ""
    write(to: &text, indentation: 0)
    return text
  }

  /// Writes this value as JSON text.
  ///
  /// - Parameters:
  ///   - text: What to append to.
  ///   - indentation: The level to indent at; `nil` writes one line.
  public func write(to text: inout String, indentation: Int? = nil) {
    switch self {
    case .null: text += "null"
    case .bool(let bool): text += bool ? "true" : "false"
    case .integer(let integer): text += String(integer)
    case .number(let number): text += number.isFinite ? String(number) : "null"
    case .string(let string): Self.write(string, to: &text)
    case .array(let values):
      Self.write(values, between: ("[", "]"), to: &text, indentation: indentation) {
        value, text, inner in
        value.write(to: &text, indentation: inner)
      }
    case .object(let members):
      Self.write(members, between: ("{", "}"), to: &text, indentation: indentation) {
        member, text, inner in
        Self.write(member.name, to: &text)
        text += inner == nil ? ":" : ": "
        member.value.write(to: &text, indentation: inner)
      }
    }
  }

  private static func write<Element>(
    _ elements: [Element], between brackets: (String, String), to text: inout String,
    indentation: Int?, _ write: (Element, inout String, Int?) -> Void
  ) {
    text += brackets.0
    let inner = elements.isEmpty ? nil : indentation.map { $0 + 1 }
    for (index, element) in elements.enumerated() {
      if index > 0 { text += "," }
      if let inner { text += "\n" + String(repeating: "  ", count: inner) }
      write(element, &text, inner)
    }
    if let inner { text += "\n" + String(repeating: "  ", count: inner - 1) }
    text += brackets.1
  }

  private static func write(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.isInvisible:
        for unit in String(scalar).utf16 {
          let hex = String(unit, radix: 16)
          text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        }
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
