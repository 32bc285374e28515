/// Text of HTML; interpolated strings are escaped, for content and for quoted attributes.
struct HTML: Sendable {
  var text: String

  fileprivate static func escape(_ string: String, into text: inout String) {
    // By hand: most texts have nothing to escape, and each value of a page comes by here.
    var isPlain = true
    for byte in string.utf8 where isMark(byte) { isPlain = false }
    guard !isPlain else { return text += string }
    var rest = Substring(string).utf8
    while let mark = rest.firstIndex(where: isMark) {
      text += Substring(rest[..<mark])
      text += "&#\(rest[mark]);"
      rest = rest[rest.index(after: mark)...]
    }
    text += Substring(rest)
  }

  private static func isMark(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""),
      UInt8(ascii: "'"):
      true
    default: false
    }
  }
}

extension HTML: ExpressibleByStringInterpolation {
  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 32 * interpolationCount)
    }

    mutating func appendLiteral(_ literal: String) { text += literal }

    /// Disfavored, so that a literal is HTML: of both branches of a condition, the parts would be escaped otherwise.
    @_disfavoredOverload
    mutating func appendInterpolation(_ string: String) { HTML.escape(string, into: &text) }

    mutating func appendInterpolation(_ number: Int) { text += String(number) }

    mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }

    mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { text += part.text } }

    /// Adds an attribute with a space before it; nothing for `nil`.
    mutating func appendInterpolation(attribute name: StaticString, _ value: String?) {
      guard let value else { return }
      text += " \(name)=\""
      HTML.escape(value, into: &text)
      text += "\""
    }
  }

  init(stringLiteral text: String) { self.text = text }

  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
}
