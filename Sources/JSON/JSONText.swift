package import AggregatorFoundation

/// JSON text (RFC 8259), scanned once for the positions of its values.
///
/// It decodes like Foundation's `JSONDecoder`, in a third of the time, because objects are not turned into
/// dictionaries. The differences: invalid UTF-8 and lone surrogates are read as U+FFFD, so that a broken
/// character does not cost a row; numbers that underflow are zero; those beyond 2^53 with a point or an
/// exponent are not whole; and UTF-16 and trailing commas are invalid.
package final class JSONText: Sendable {
  /// Deeper nesting is rejected, so that reading cannot overflow the stack.
  package static let maxDepth = 512

  /// A value, a member's name, or the beginning of an array or an object, whose contents follow.
  package struct Part: Sendable {
    package enum Kind: Sendable {
      case null, bool, number
      /// A string without escapes, and one with escapes.
      case text, escapedText
      case array, object
    }

    package let kind: Kind
    /// The offset of the first byte; of a string, the first byte inside the quotes.
    package let start: UInt32
    /// The offset of the end; of an array or an object, the number of its elements or members.
    package internal(set) var end: UInt32
    /// The index of the part after it and its contents.
    package internal(set) var next: UInt32
  }

  /// The text and a terminating zero, which saves bounds checks because no JSON has one.
  package let bytes: [UInt8]

  /// All parts, in the order of the text: arrays before their elements, objects before their members, and
  /// names before their values.
  package let parts: [Part]

  /// True to read the members of objects in all the forms that services send them in; see ``Lenient``.
  ///
  /// An optional property is then `nil` if its member is missing, null, blank or of another form; for another one the
  /// member must be there, and not be blank.
  package let isLenient: Bool

  /// Scans UTF-8, with or without a byte order mark; `nil` if it is not JSON.
  package init?(_ text: Data, isLenient: Bool = false) {
    guard text.count < UInt32.max else { return nil }
    self.isLenient = isLenient
    bytes = [UInt8](unsafeUninitializedCapacity: text.count + 1) { buffer, count in
      count = text.copyBytes(to: buffer)
      buffer[count] = 0
      count += 1
    }
    let (parts, errorOffset) = JSONScanner.scan(bytes)
    guard errorOffset == nil else { return nil }
    self.parts = parts
  }

  /// The offset at which a text stops being JSON; `nil` if it is JSON.
  package static func errorOffset(in text: Data) -> Int? {
    JSONScanner.scan(Array(text) + [0]).errorOffset
  }

  /// Reads the value, or that of a member: the names lead to it.
  ///
  /// - Throws: `DecodingError`, or an error of `type`.
  package func read<Value: Decodable>(
    _ type: Value.Type = Value.self, at path: [String] = []
  ) throws -> Value {
    try path.reduce(JSONReader(self)) { try $0.member($1) }.decode(type)
  }

  /// Reads the first element of the array that fulfils a condition; only those are decoded that have `value` as a text, a
  /// number or a name.
  ///
  /// - Throws: `DecodingError`, or an error of `Element`.
  package func firstElement<Element: Decodable>(
    with value: String, where condition: (Element) -> Bool
  ) throws -> Element? {
    guard parts[0].kind == .array else { return nil }
    let array = JSONReader.Container(JSONReader(self))
    var value = value
    return try value.withUTF8 { value in
      var index = 1
      for ordinal in 0..<Int(parts[0].end) {
        let next = Int(parts[index].next)
        if parts[index..<next].contains(where: { holds(value, $0) }) {
          let element = try JSONReader(index, ordinal: ordinal, in: array).decode(Element.self)
          if condition(element) { return element }
        }
        index = next
      }
      return nil
    }
  }
}

extension JSONText {
  /// The string of a part that is text.
  package func string(_ part: Part) -> String {
    let inside = bytes[Int(part.start)..<Int(part.end)]
    guard part.kind == .escapedText else { return String(decoding: inside, as: UTF8.self) }
    return String(decoding: inside.unescaped, as: UTF8.self)
  }

  /// The index of a member's value; `nil` if the object has no such member.
  ///
  /// Of several members with one name it is the first one's, as in Foundation.
  package func index(of name: String, in object: Int) -> Int? {
    var name = name
    return name.withUTF8 { name in
      var index = object + 1
      let end = Int(parts[object].next)
      while index < end {
        if holds(name, parts[index]) { return index + 1 }
        index = Int(parts[index + 1].next)
      }
      return nil
    }
  }

  /// True for a text or a number that is written so, and a text with escapes that means it.
  private func holds(_ name: UnsafeBufferPointer<UInt8>, _ part: Part) -> Bool {
    switch part.kind {
    case .text, .number: break
    case .escapedText: return string(part).utf8.elementsEqual(name)
    case .null, .bool, .array, .object: return false
    }
    let start = Int(part.start)
    guard Int(part.end) - start == name.count else { return false }
    for offset in name.indices where bytes[start + offset] != name[offset] { return false }
    return true
  }

  func names(in object: Int) -> [Int] {
    var names: [Int] = []
    names.reserveCapacity(Int(parts[object].end))
    var index = object + 1
    while index < Int(parts[object].next) {
      names.append(index)
      index = Int(parts[index + 1].next)
    }
    return names
  }
}

/// A member's name or an index in an array.
struct JSONKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
  init(intValue: Int) { (stringValue, self.intValue) = ("Index \(intValue)", intValue) }
}

extension ArraySlice<UInt8> {
  /// The contents of a JSON string, unescaped.
  fileprivate var unescaped: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    var index = startIndex
    while index < endIndex {
      guard self[index] == UInt8(ascii: "\\") else {
        result.append(self[index])
        index += 1
        continue
      }
      switch self[index + 1] {
      case UInt8(ascii: "u"):
        result += String(scalar(at: &index)).utf8
        continue
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "t"): result.append(0x09)
      case let itself: result.append(itself)
      }
      index += 2
    }
    return result
  }

  /// The scalar of one or two `\u` escapes; U+FFFD for a lone surrogate.
  private func scalar(at index: inout Int) -> Unicode.Scalar {
    let first = unit(at: index)
    index += 6
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard UTF16.isLeadSurrogate(first), index + 6 <= endIndex, self[index] == UInt8(ascii: "\\"),
      self[index + 1] == UInt8(ascii: "u"), case let second = unit(at: index),
      UTF16.isTrailSurrogate(second)
    else { return "\u{FFFD}" }
    index += 6
    return UTF16.decode(UTF16.EncodedScalar([first, second]))
  }

  private func unit(at index: Int) -> UInt16 {
    self[(index + 2)..<(index + 6)].reduce(0) { unit, digit in
      // The scanner has checked the digits.
      unit << 4 | UInt16(digit <= UInt8(ascii: "9") ? digit & 0xF : (digit & 0xF) + 9)
    }
  }
}
