import AggregatorText

/// Writes JSON text (RFC 8259) in UTF-8, without white space.
///
/// The caller begins and ends arrays and objects, and begins each element and member; the writer adds
/// commas and escapes.
package struct JSONWriter {
  /// The characters of strings that are escaped.
  package enum Escaping: Sendable {
    /// Those that must be, with the short escapes where there are some, as Foundation's encoder does.
    case required
    /// Also invisible ones, so that the text is safe to print; all but `\n`, `\r` and `\t` as `\u`.
    case invisible
  }

  package private(set) var bytes: [UInt8] = []

  private let escaping: Escaping
  private var isFirst = true

  package init(escaping: Escaping) { self.escaping = escaping }

  package mutating func reserveCapacity(_ count: Int) { bytes.reserveCapacity(count) }

  package mutating func beginArray() { begin(UInt8(ascii: "[")) }
  package mutating func endArray() { end(UInt8(ascii: "]")) }
  package mutating func beginObject() { begin(UInt8(ascii: "{")) }
  package mutating func endObject() { end(UInt8(ascii: "}")) }

  /// Begins an element of an array; its value follows.
  package mutating func beginElement() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
  }

  /// Begins a member of an object; its value follows.
  package mutating func beginMember(_ name: String) {
    beginElement()
    write(string: name)
    bytes.append(UInt8(ascii: ":"))
  }

  /// Writes a number, `true`, `false` or `null`.
  package mutating func write(literal: String) { bytes += literal.utf8 }

  package mutating func write(string: String) {
    bytes.append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { utf8 in
      // Most strings have nothing to escape.
      if UnsafeRawBufferPointer(utf8).firstEscaped() == utf8.count,
        escaping == .required || utf8.allSatisfy({ $0 < 0x7F })
      {
        bytes += utf8
      } else {
        write(escaped: utf8)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func begin(_ bracket: UInt8) {
    bytes.append(bracket)
    isFirst = true
  }

  private mutating func end(_ bracket: UInt8) {
    bytes.append(bracket)
    isFirst = false
  }

  private mutating func write(escaped utf8: UnsafeBufferPointer<UInt8>) {
    switch escaping {
    case .required: for byte in utf8 { write(byte) }
    case .invisible:
      for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
        if scalar.isASCII {
          write(UInt8(truncatingIfNeeded: scalar.value))
        } else if scalar.isInvisible {
          for unit in String(scalar).utf16 { write(unicodeEscape: unit) }
        } else {
          bytes += String(scalar).utf8
        }
      }
    }
  }

  /// Writes an ASCII byte or, if only required escapes are wanted, any byte.
  private mutating func write(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): bytes += #"\""#.utf8
    case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
    case 0x0A: bytes += #"\n"#.utf8
    case 0x0D: bytes += #"\r"#.utf8
    case 0x09: bytes += #"\t"#.utf8
    case 0x08 where escaping == .required: bytes += #"\b"#.utf8
    case 0x0C where escaping == .required: bytes += #"\f"#.utf8
    case ..<0x20: write(unicodeEscape: UInt16(byte))
    case 0x7F where escaping == .invisible: write(unicodeEscape: UInt16(byte))
    default: bytes.append(byte)
    }
  }

  private mutating func write(unicodeEscape unit: UInt16) {
    let digits = String(unit, radix: 16)
    bytes += #"\u"#.utf8
    bytes += repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count)
    bytes += digits.utf8
  }
}
