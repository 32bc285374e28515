/// A value on its way into text.
enum CanonicalValue {
  case text(String)
  /// A number, a truth value or null, as it is written.
  case word(String)
  /// What is still being filled.
  case node(CanonicalNode)
}

/// The place of a value: containers are filled in any order, so that all is written at the end.
///
/// Only one encoder has it, and nothing else does.
final class CanonicalNode {
  enum Kind {
    /// An object without members stands for who writes nothing, as in Foundation.
    case object
    case array
    case single(CanonicalValue)
  }

  var kind = Kind.object
  var elements: [CanonicalValue] = []
  var members: [(name: String, value: CanonicalValue)] = []
}

extension CanonicalNode {
  /// Writes the value.
  func write(to bytes: inout [UInt8]) {
    switch kind {
    case .single(let value): value.write(to: &bytes)
    case .array:
      bytes.append(UInt8(ascii: "["))
      for (index, value) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object:
      bytes.append(UInt8(ascii: "{"))
      // Sorting is stable, so that the last of several with one name is the last of them here too.
      let sorted = members.sorted { $0.name < $1.name }
      for (index, member) in sorted.enumerated()
      where index + 1 == sorted.count || sorted[index + 1].name != member.name {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        CanonicalValue.text(member.name).write(to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}

extension CanonicalValue {
  func write(to bytes: inout [UInt8]) {
    switch self {
    case .text(let text): Self.write(text, to: &bytes)
    case .word(let word): bytes += word.utf8
    case .node(let node): node.write(to: &bytes)
    }
  }

  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { text in
      // Most text has nothing to escape.
      if text.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
        bytes += text
      } else {
        for byte in text { write(byte, to: &bytes) }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func write(_ byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""): bytes += #"\""#.utf8
    case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
    case 0x08: bytes += #"\b"#.utf8
    case 0x0C: bytes += #"\f"#.utf8
    case 0x0A: bytes += #"\n"#.utf8
    case 0x0D: bytes += #"\r"#.utf8
    case 0x09: bytes += #"\t"#.utf8
    case ..<0x10: bytes += #"\u000\#(String(byte, radix: 16))"#.utf8
    case ..<0x20: bytes += #"\u00\#(String(byte, radix: 16))"#.utf8
    default: bytes.append(byte)
    }
  }
}
