import AggregatorText

/// Turns text in the encoding that a service names into UTF-8, in pieces.
package struct TextDecoder: Sendable {
  private enum Encoding { case utf8, latin1, utf16(isLittleEndian: Bool) }

  private let encoding: Encoding
  private var isAtStart = true
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
      return hasMark ? Array(bytes.dropFirst(3)) : bytes
    case .latin1:
      var text: [UInt8] = []
      text.reserveCapacity(bytes.count + bytes.count / 8)
      for byte in bytes {
        if byte < 0x80 {
          text.append(byte)
        } else {
          text += UTF8.encode(Self.scalar(ofWindows1252: byte)) ?? UTF8.encodedReplacementCharacter
        }
      }
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

extension Substring {
  fileprivate var trimmingQuotes: Substring {
    hasPrefix("\"") && hasSuffix("\"") && count > 1 ? dropFirst().dropLast() : self
  }
}
