/// Moves the white space of JSON text (RFC 8259) and touches nothing else.
///
/// Tokens are copied byte for byte, so key order, duplicate keys and numbers of any length stay as the
/// service wrote them, which no decoder and encoder would achieve.
package struct JSONFormatter {
  /// How deep values may be nested, so that hostile text cannot grow without bound by its indentation.
  package static let deepest = 64

  private let source: [UInt8]
  private let isIndented: Bool
  private let limit: Int
  private var at = 0
  private var result: [UInt8] = []

  private init(_ source: [UInt8], isIndented: Bool, limit: Int) {
    self.source = source
    self.isIndented = isIndented
    self.limit = limit
    result.reserveCapacity(source.count)
  }

  /// The text with one member or element a line.
  ///
  /// - Parameters:
  ///   - source: UTF-8.
  ///   - limit: The most bytes wanted.
  /// - Returns: `nil` if it is no JSON, is nested too deeply, or would be longer than `limit`.
  package static func indented(_ source: [UInt8], atMost limit: Int = .max) -> [UInt8]? {
    var spacing = JSONFormatter(source, isIndented: true, limit: limit)
    return spacing.run()
  }

  /// The text without white space: equal for texts that differ in nothing else.
  ///
  /// - Parameter source: UTF-8.
  /// - Returns: `nil` if it is no JSON or is nested too deeply.
  package static func compact(_ source: [UInt8]) -> [UInt8]? {
    var spacing = JSONFormatter(source, isIndented: false, limit: .max)
    return spacing.run()
  }

  private mutating func run() -> [UInt8]? {
    guard value(depth: 0) else { return nil }
    skipSpace()
    return at == source.count && result.count <= limit ? result : nil
  }

  private mutating func value(depth: Int) -> Bool {
    skipSpace()
    guard at < source.count, depth <= Self.deepest, result.count <= limit else { return false }
    switch source[at] {
    case UInt8(ascii: "{"): return container(endingWith: UInt8(ascii: "}"), depth)
    case UInt8(ascii: "["): return container(endingWith: UInt8(ascii: "]"), depth)
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "t"): return literal("true")
    case UInt8(ascii: "f"): return literal("false")
    case UInt8(ascii: "n"): return literal("null")
    default: return number()
    }
  }

  private mutating func container(endingWith end: UInt8, _ depth: Int) -> Bool {
    copy(1)
    skipSpace()
    if take(end) { return true }
    repeat {
      newLine(depth + 1)
      if end == UInt8(ascii: "}") {
        skipSpace()
        guard string() else { return false }
        skipSpace()
        guard take(UInt8(ascii: ":")) else { return false }
        if isIndented { result.append(UInt8(ascii: " ")) }
      }
      guard value(depth: depth + 1) else { return false }
      skipSpace()
    } while take(UInt8(ascii: ","))
    newLine(depth)
    return take(end)
  }

  private mutating func string() -> Bool {
    guard peek() == UInt8(ascii: "\"") else { return false }
    var end = at + 1
    while end < source.count, source[end] != UInt8(ascii: "\"") {
      guard source[end] >= 0x20 else { return false }
      if source[end] == UInt8(ascii: "\\") {
        guard end + 1 < source.count else { return false }
        if source[end + 1] == UInt8(ascii: "u") {
          let digits = source[(end + 2)...].prefix(4)
          guard digits.count == 4, digits.allSatisfy({ $0.hexDigit != nil }) else { return false }
        } else if !#""\/bfnrt"#.utf8.contains(source[end + 1]) {
          return false
        }
        end += 1
      }
      end += 1
    }
    guard end < source.count else { return false }
    copy(end + 1 - at)
    return true
  }

  private mutating func number() -> Bool {
    let start = at
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")), !digits() { return false }
    if take(UInt8(ascii: ".")), !digits() { return false }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      if !digits() { return false }
    }
    return at > start
  }

  private mutating func digits() -> Bool {
    let count = source[at...].prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }.count
    copy(count)
    return count > 0
  }

  private mutating func literal(_ word: StaticString) -> Bool {
    let isThere = word.withUTF8Buffer { source[at...].starts(with: $0) }
    if isThere { copy(word.utf8CodeUnitCount) }
    return isThere
  }

  private func peek() -> UInt8? { at < source.count ? source[at] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    copy(1)
    return true
  }

  private mutating func copy(_ count: Int) {
    result += source[at..<(at + count)]
    at += count
  }

  private mutating func skipSpace() {
    while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      at += 1
    }
  }

  private mutating func newLine(_ depth: Int) {
    guard isIndented else { return }
    result.append(UInt8(ascii: "\n"))
    result.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
  }
}

extension UInt8 {
  /// The value of this hexadecimal digit; `nil` if it is none.
  var hexDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
