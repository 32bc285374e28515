import AggregatorFoundation

/// Changes the white space of JSON text (RFC 8259) and nothing else.
///
/// Tokens are copied byte for byte, so key order, duplicate keys and numbers of any length stay as the
/// service wrote them; a decoder and an encoder would change them.
package struct JSONFormatter {
  /// The deepest nesting that is formatted: indentation of hostile text cannot grow without bound.
  package static let maxDepth = 64

  private let text: JSONText
  private let isIndented: Bool
  private let limit: Int
  private var index = 0
  private var result: [UInt8] = []

  /// The text with one member or element a line.
  ///
  /// - Returns: `nil` if `source` is not JSON, is nested too deeply, or the result is longer than
  ///   `limit` bytes.
  package static func indented(_ source: [UInt8], atMost limit: Int = .max) -> [UInt8]? {
    formatted(source, isIndented: true, limit: limit)
  }

  /// The text without white space: equal for texts that differ only in white space.
  ///
  /// - Returns: `nil` if `source` is not JSON or is nested too deeply.
  package static func compact(_ source: [UInt8]) -> [UInt8]? {
    formatted(source, isIndented: false, limit: .max)
  }

  private static func formatted(_ source: [UInt8], isIndented: Bool, limit: Int) -> [UInt8]? {
    // The scanner skips a byte order mark, which is not JSON.
    guard source.first != 0xEF, let text = JSONText(Data(source)) else { return nil }
    var formatter = JSONFormatter(text: text, isIndented: isIndented, limit: limit)
    formatter.result.reserveCapacity(source.count)
    return formatter.value(depth: 0) && formatter.result.count <= limit ? formatter.result : nil
  }

  private mutating func value(depth: Int) -> Bool {
    guard depth <= Self.maxDepth, result.count <= limit else { return false }
    let part = text.parts[index]
    index += 1
    switch part.kind {
    case .null, .bool, .number: result += text.bytes[Int(part.start)..<Int(part.end)]
    case .text, .escapedText: append(quoted: part)
    case .array, .object: return container(part, depth)
    }
    return true
  }

  private mutating func container(_ part: JSONText.Part, _ depth: Int) -> Bool {
    let isObject = part.kind == .object
    result.append(UInt8(ascii: isObject ? "{" : "["))
    for number in 0..<part.end {
      if number > 0 { result.append(UInt8(ascii: ",")) }
      newLine(depth + 1)
      if isObject {
        append(quoted: text.parts[index])
        index += 1
        result.append(UInt8(ascii: ":"))
        if isIndented { result.append(UInt8(ascii: " ")) }
      }
      guard value(depth: depth + 1) else { return false }
    }
    if part.end > 0 { newLine(depth) }
    result.append(UInt8(ascii: isObject ? "}" : "]"))
    return true
  }

  private mutating func append(quoted part: JSONText.Part) {
    result += text.bytes[(Int(part.start) - 1)...Int(part.end)]
  }

  private mutating func newLine(_ depth: Int) {
    guard isIndented else { return }
    result.append(UInt8(ascii: "\n"))
    result.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
  }
}
