import AggregatorKit

extension String {
  /// This part of a JSON document, whose strings are whole, in the colors of `jq`: keys, strings, numbers and words.
  package func coloredJSON(_ style: Style) -> String {
    guard style.isOn else { return self }
    var text = ""
    var rest = utf8[...]
    while let byte = rest.first {
      let piece: Substring.UTF8View
      let role: Style.Role?
      if byte == UInt8(ascii: "\"") {
        piece = rest.prefixString
        role = rest.dropFirst(piece.count).first == UInt8(ascii: ":") ? .key : .id
      } else if byte.isOfWord {
        piece = rest.prefix(while: \.isOfWord)
        role = byte == UInt8(ascii: "n") ? .label : .hint
      } else {
        piece = rest.prefix { $0 != UInt8(ascii: "\"") && !$0.isOfWord }
        role = nil
      }
      let word = String(Substring(piece))
      text += role.map { style($0, word) } ?? word
      rest = rest.dropFirst(piece.count)
    }
    return text
  }
}

extension UInt8 {
  /// True for a byte of a number, `true`, `false` or `null`.
  fileprivate var isOfWord: Bool {
    switch self {
    case 0x30...0x39, 0x61...0x7A: true
    default: "E+-.".utf8.contains(self)
    }
  }
}

extension Substring.UTF8View {
  /// The string of JSON at the beginning, with its quotes.
  fileprivate var prefixString: Substring.UTF8View {
    var isEscaped = true
    var isOver = false
    return prefix { byte in
      if isOver { return false }
      isOver = byte == UInt8(ascii: "\"") && !isEscaped
      // The first quote does not end it.
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
      return true
    }
  }
}

extension RecordWriter {
  /// This writer of JSON, in color if styles are on.
  func colored(in style: Style) -> any RecordWriter<Item> {
    style.isOn ? ColoredJSONWriter(base: self, style: style) : self
  }
}

private struct ColoredJSONWriter<Base: RecordWriter>: RecordWriter {
  var base: Base
  let style: Style

  mutating func begin() -> String { base.begin().coloredJSON(style) }

  mutating func append(_ records: [Base.Item]) -> String {
    base.append(records).coloredJSON(style)
  }

  mutating func finish(_ summary: ListingSummary) -> String {
    base.finish(summary).coloredJSON(style)
  }
}
