import AggregatorCore

extension Xcconfig {
  /// A part of a value.
  package enum Piece: Hashable, Sendable {
    /// What is written.
    case text(Substring)
    /// `$(KEY)` or `${KEY}`: the value of another key.
    case reference(String)
    /// `$(inherited)`: the value that the same key would have without this line.
    case inherited
  }

  /// Takes a value apart.
  ///
  /// `$()` is nothing, which is how `//` is kept from starting a comment: `https:/$()/host`. A `$`
  /// without a bracket is text.
  ///
  /// - Parameter value: A value as it is written.
  /// - Returns: Its pieces, in order.
  /// - Throws: A fault for a bracket that is never closed, and for what only Xcode understands:
  ///   `$(KEY:lower)` and `$(A_$(B))`.
  package static func pieces(of value: String) throws(XcconfigFault) -> [Piece] {
    var pieces: [Piece] = []
    var rest = Substring(value).utf8
    var written = rest.startIndex
    while let dollar = rest.firstIndex(of: UInt8(ascii: "$")) {
      let open = rest.index(after: dollar)
      rest = rest[open...]
      guard let bracket = rest.first, let closing = closing[bracket] else { continue }
      guard let close = rest.firstIndex(of: closing) else {
        throw XcconfigFault("the value has a $( without its )", remedy: "write $(KEY)")
      }
      let name = rest[rest.index(after: open)..<close]
      guard name.allSatisfy(\.isKeyByte) else {
        throw XcconfigFault(
          "the value has a $(…) with more than a key in it",
          remedy: "write $(KEY), or the text itself")
      }
      if written < dollar { pieces.append(.text(value[written..<dollar])) }
      if name.elementsEqual("inherited".utf8) {
        pieces.append(.inherited)
      } else if !name.isEmpty {
        pieces.append(.reference(String(Substring(name))))
      }
      written = value.utf8.index(after: close)
      rest = value[written...].utf8
    }
    if written < value.endIndex { pieces.append(.text(value[written...])) }
    return pieces
  }

  /// How a text is written as a value, so that reading it gives the text again.
  ///
  /// - Parameter text: A text without line breaks, control characters and surrounding blanks.
  /// - Returns: The text with `$()` wherever `//`, `$(` or a final `;` would be taken for syntax.
  package static func value(writing text: String) -> String {
    var value = ""
    var last: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      switch (last, scalar) {
      case ("/", "/"), ("$", "("), ("$", "{"): value += "$()"
      default: break
      }
      value.unicodeScalars.append(scalar)
      last = scalar
    }
    return last == ";" ? value + "$()" : value
  }

  private static let closing: [UInt8: UInt8] = [
    UInt8(ascii: "("): UInt8(ascii: ")"), UInt8(ascii: "{"): UInt8(ascii: "}"),
  ]
}
