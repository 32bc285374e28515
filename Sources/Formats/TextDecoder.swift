import AggregatorText

/// Turns text in the encoding that a service names into UTF-8, in pieces.
package struct TextDecoder: Sendable {
  private enum Encoding { case utf8, latin1, utf16(isLittleEndian: Bool) }

  private let encoding: Encoding
  private var isAtStart = true

  /// True after bytes that are not UTF-8, where that is the encoding: each was read as one of Windows-1252, which is what most
  /// such files are.
  package private(set) var isGuess = false

  /// The bytes of a character that is not complete.
  private var rest: [UInt8] = []

  /// - Parameters:
  ///   - contentType: The value of `Content-Type`, whose `charset` counts; `nil` for none.
  ///   - head: The first bytes, whose byte order mark counts more.
  package init(contentType: String?, head: some Collection<UInt8>) throws(FormatError) {
    if head.starts(with: [0xFF, 0xFE]) {
      encoding = .utf16(isLittleEndian: true)
    } else if head.starts(with: [0xFE, 0xFF]) {
      encoding = .utf16(isLittleEndian: false)
    } else {
      let name = Self.charset(of: contentType)
      switch name {
      case nil, "utf-8", "utf8", "us-ascii", "ascii": encoding = .utf8
      // Browsers read the first as the second, which has letters where the first has none.
      case "iso-8859-1", "latin1", "latin-1", "iso8859-1", "windows-1252", "cp1252":
        encoding = .latin1
      case "utf-16", "utf-16be": encoding = .utf16(isLittleEndian: false)
      case "utf-16le": encoding = .utf16(isLittleEndian: true)
      case let name?:
        throw FormatError(.invalid, "unknown encoding \"\(name.oneLine(atMost: 40))\"")
      }
    }
  }

  /// The `charset` of a content type, in lower case; `nil` for none.
  package static func charset(of contentType: String?) -> String? {
    let parameters = contentType?.split(separator: ";").dropFirst().map(\.trimmed) ?? []
    let charset = parameters.first { $0.lowercased().hasPrefix("charset=") }?.dropFirst(8)
    return charset?.trimmingQuotes.lowercased()
  }

  /// The UTF-8 of further bytes, without a byte order mark.
  package mutating func decode(_ bytes: [UInt8]) -> [UInt8] {
    switch encoding {
    case .utf8:
      defer { isAtStart = isAtStart && bytes.isEmpty }
      let hasMark = isAtStart && bytes.starts(with: [0xEF, 0xBB, 0xBF])
      var text = hasMark ? Array(bytes.dropFirst(3)) : rest + bytes
      rest = Array(text.suffix(text.incompleteSuffix))
      text.removeLast(rest.count)
      return repaired(text)
    case .latin1:
      var text: [UInt8] = []
      text.reserveCapacity(bytes.count + bytes.count / 8)
      for byte in bytes { Self.append(windows1252: byte, to: &text) }
      return text
    case .utf16(let isLittleEndian):
      let all = rest + bytes
      var units = stride(from: 0, to: all.count - 1, by: 2).map { index in
        let (low, high) =
          isLittleEndian ? (all[index], all[index + 1]) : (all[index + 1], all[index])
        return UInt16(high) << 8 | UInt16(low)
      }
      // The second half of a pair may be in the next piece.
      let isSplit = units.last.map { UTF16.isLeadSurrogate($0) } ?? false
      if isSplit { units.removeLast() }
      rest = Array(all.dropFirst(units.count * 2))
      if isAtStart, let first = units.first {
        isAtStart = false
        if first == 0xFEFF { units.removeFirst() }
      }
      return Array(String(decoding: units, as: UTF16.self).utf8)
    }
  }

  /// The UTF-8 of what was left of the last bytes.
  package mutating func finish() -> [UInt8] {
    defer { rest = [] }
    if case .utf8 = encoding { return repaired(rest) }
    return rest.isEmpty ? [] : Array(UTF8.encodedReplacementCharacter)
  }

  /// Text in which bytes that are not UTF-8 are characters of Windows-1252.
  private mutating func repaired(_ bytes: [UInt8]) -> [UInt8] {
    // Nearly all text is valid, and most of it has nothing beyond ASCII.
    guard bytes.contains(where: { $0 >= 0x80 }), String(validating: bytes, as: UTF8.self) == nil
    else { return bytes }
    isGuess = true
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count + bytes.count / 8)
    var parser = Unicode.UTF8.ForwardParser()
    var (iterator, index) = (bytes.makeIterator(), 0)
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let encoded):
        text += encoded
        index += encoded.count
      case .error(let length):
        for byte in bytes[index..<index + length] { Self.append(windows1252: byte, to: &text) }
        index += length
      case .emptyInput: return text
      }
    }
  }

  private static func append(windows1252 byte: UInt8, to text: inout [UInt8]) {
    if byte < 0x80 {
      text.append(byte)
    } else {
      text += UTF8.encode(scalar(ofWindows1252: byte)) ?? UTF8.encodedReplacementCharacter
    }
  }

  private static func scalar(ofWindows1252 byte: UInt8) -> Unicode.Scalar {
    guard 0x80...0x9F ~= byte else { return Unicode.Scalar(byte) }
    return Unicode.Scalar(windows1252[Int(byte) - 0x80]) ?? Unicode.Scalar(byte)
  }

  /// The characters from 0x80 to 0x9F (https://encoding.spec.whatwg.org/index-windows-1252.txt).
  private static let windows1252: [UInt16] = [
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
  ]
}

extension [UInt8] {
  /// The number of bytes at the end that begin a character of UTF-8 of which the rest may follow.
  fileprivate var incompleteSuffix: Int {
    for count in 1...3 where count <= self.count {
      let byte = self[self.count - count]
      if byte < 0x80 { return 0 }
      if byte >= 0xC0 {
        let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
        return length > count ? count : 0
      }
    }
    return 0
  }
}

extension Substring {
  fileprivate var trimmingQuotes: Substring {
    hasPrefix("\"") && hasSuffix("\"") && count > 1 ? dropFirst().dropLast() : self
  }
}
