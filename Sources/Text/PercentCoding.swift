extension String {
  /// The text with everything but unreserved characters percent-encoded (RFC 3986, section 2.3).
  ///
  /// Stricter than `URLComponents`, which leaves `+`, `,` and `:` in a query as they are: servers read
  /// `+` as a space, and some split a value at its commas and colons.
  package var percentEncoded: String {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(utf8.count)
    for byte in utf8 {
      if byte.isUnreserved {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), UInt8(hexDigit: byte >> 4), UInt8(hexDigit: byte & 15)]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}

extension StringProtocol {
  /// The text with its percent encodings decoded; `nil` if one is incomplete, or the result is not UTF-8.
  package var percentDecoded: String? { utf8.decodingPercents() }
}

extension Collection<UInt8> {
  /// The text of these bytes with their percent encodings decoded; `nil` if one is incomplete, or the result is not
  /// UTF-8.
  package func decodingPercents(plusIsSpace: Bool = false) -> String? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(count)
    var rest = makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.next()?.hexDigit, let low = rest.next()?.hexDigit else { return nil }
        decoded.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
      default: decoded.append(byte)
      }
    }
    return String(validating: decoded, as: UTF8.self)
  }
}

extension UInt8 {
  /// `true` for `A-Z a-z 0-9 - . _ ~`.
  package var isUnreserved: Bool {
    isASCIIAlphanumeric || "-._~".utf8.contains(self)
  }

  /// `true` for `A-Z a-z`.
  package var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }

  /// `true` for `A-Z a-z 0-9`.
  package var isASCIIAlphanumeric: Bool { isASCIILetter || self &- 0x30 < 10 }

  /// The value of this hexadecimal digit, in either case; `nil` for any other byte.
  package var hexDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The upper-case hexadecimal digit of a value from 0 to 15.
  package init(hexDigit value: UInt8) {
    self = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
