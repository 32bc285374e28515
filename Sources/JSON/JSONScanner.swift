import AggregatorText

/// Finds the parts of JSON text (RFC 8259), in one pass.
struct JSONScanner {
  /// The text and a terminating zero.
  private let bytes: [UInt8]
  private var position = 0
  private var parts: [JSONText.Part] = []

  /// The parts of a text with a terminating zero, and the offset at which it stops being JSON; `nil` if it is JSON.
  static func scan(_ bytes: [UInt8]) -> (parts: [JSONText.Part], errorOffset: Int?) {
    var scanner = JSONScanner(bytes: bytes)
    let isValue = scanner.value(within: 0)
    scanner.skipSpace()
    let isWhole = isValue && scanner.position == bytes.count - 1
    return (scanner.parts, isWhole ? nil : scanner.position)
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    // Typical responses have a part per dozen bytes.
    parts.reserveCapacity(bytes.count / 12)
  }

  private mutating func value(within depth: Int) -> Bool {
    skipSpace()
    switch bytes[position] {
    case UInt8(ascii: "\""): return text()
    case UInt8(ascii: "{"): return depth < JSONText.maxDepth && object(within: depth + 1)
    case UInt8(ascii: "["): return depth < JSONText.maxDepth && array(within: depth + 1)
    case UInt8(ascii: "t"): return word("true", .bool)
    case UInt8(ascii: "f"): return word("false", .bool)
    case UInt8(ascii: "n"): return word("null", .null)
    default: return number()
    }
  }

  private mutating func object(within depth: Int) -> Bool {
    let index = open(.object)
    guard !closes(UInt8(ascii: "}"), index, after: 0) else { return true }
    var count: UInt32 = 0
    while true {
      skipSpace()
      guard bytes[position] == UInt8(ascii: "\""), text() else { return false }
      skipSpace()
      guard skip(UInt8(ascii: ":")), value(within: depth) else { return false }
      count += 1
      if closes(UInt8(ascii: "}"), index, after: count) { return true }
      guard skip(UInt8(ascii: ",")) else { return false }
    }
  }

  private mutating func array(within depth: Int) -> Bool {
    let index = open(.array)
    guard !closes(UInt8(ascii: "]"), index, after: 0) else { return true }
    var count: UInt32 = 0
    while true {
      guard value(within: depth) else { return false }
      count += 1
      if closes(UInt8(ascii: "]"), index, after: count) { return true }
      guard skip(UInt8(ascii: ",")) else { return false }
    }
  }

  private mutating func open(_ kind: JSONText.Part.Kind) -> Int {
    add(kind, from: position, to: 0)
    position += 1
    return parts.count - 1
  }

  /// Ends an array or an object; `false` if it continues.
  private mutating func closes(_ bracket: UInt8, _ index: Int, after count: UInt32) -> Bool {
    skipSpace()
    guard skip(bracket) else { return false }
    parts[index].end = count
    parts[index].next = UInt32(parts.count)
    return true
  }

  private mutating func text() -> Bool {
    let start = position + 1
    var end = start
    var kind = JSONText.Part.Kind.text
    while true {
      switch bytes[end] {
      case UInt8(ascii: "\""):
        add(kind, from: start, to: end)
        position = end + 1
        return true
      case UInt8(ascii: "\\"):
        guard let length = escapeLength(at: end) else { return false }
        kind = .escapedText
        end += length
      case ..<0x20:
        position = end
        return false
      default: end = bytes.withUnsafeBytes { $0.firstEscaped(from: end) }
      }
    }
  }

  private func escapeLength(at start: Int) -> Int? {
    switch bytes[start + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return 2
    case UInt8(ascii: "u"):
      // The terminating zero ends this before the end of the array.
      for index in (start + 2)..<(start + 6) where bytes[index].hexDigit == nil { return nil }
      return 6
    default: return nil
    }
  }

  private mutating func number() -> Bool {
    let start = position
    _ = skip(UInt8(ascii: "-"))
    if !skip(UInt8(ascii: "0")) { guard skipDigits() else { return false } }
    if skip(UInt8(ascii: ".")) { guard skipDigits() else { return false } }
    if bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
      guard skipDigits() else { return false }
    }
    add(.number, from: start, to: position)
    return true
  }

  private mutating func word(_ word: StaticString, _ kind: JSONText.Part.Kind) -> Bool {
    let start = position
    for offset in 0..<word.utf8CodeUnitCount {
      guard skip(word.utf8Start[offset]) else { return false }
    }
    add(kind, from: start, to: position)
    return true
  }

  private mutating func add(_ kind: JSONText.Part.Kind, from start: Int, to end: Int) {
    parts.append(
      JSONText.Part(
        kind: kind, start: UInt32(start), end: UInt32(end), next: UInt32(parts.count + 1)))
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard bytes[position] == byte else { return false }
    position += 1
    return true
  }

  /// Skips digits; `false` if there are none.
  private mutating func skipDigits() -> Bool {
    let start = position
    while 0x30...0x39 ~= bytes[position] { position += 1 }
    return position > start
  }

  private mutating func skipSpace() {
    while true {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }
}
