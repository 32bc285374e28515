package import AggregatorCore
import Foundation

/// Finds secrets, in any encoding, in text that is about to be recorded.
///
/// Letters match in either case. Found are the secret itself, the secret after any of its characters were
/// percent-encoded (RFC 3986), escaped as in JSON or replaced by HTML character references, up to three
/// times over, and the secret as a part of base64.
package struct SecretScanner: Sendable {
  /// The most nested escapings that are decoded.
  private static let mostLayers = 3

  /// The encodings that ``finds(in:)`` looks for, in lower case.
  private let needles: [[UInt8]]

  /// The encodings that ``redacted(_:)`` replaces, in lower case, longest first.
  private let replaced: [[UInt8]]

  package init(_ secrets: [Secret]) {
    let texts = Set(secrets.map { $0.reveal(\.self) }.filter { !$0.isEmpty })
    func lowered(_ forms: [String]) -> [[UInt8]] {
      Set(forms.map { $0.utf8.map(\.lowercased) }).sorted { $0.count > $1.count }
    }
    needles = lowered(texts.flatMap(SecretEncoding.undecodable))
    replaced = lowered(
      texts.filter { $0.count >= SecretEncoding.minimumLength }.flatMap(SecretEncoding.texts))
  }

  /// The bytes with `REDACTED` for each secret in one of its usual encodings.
  package func redacted(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for needle in replaced {
      var clean: [UInt8] = []
      var rest = 0
      let low = bytes.map(\.lowercased)
      while let found = low.offset(of: needle, from: rest) {
        clean += bytes[rest..<found]
        clean += Redactor.mark.utf8
        rest = found + needle.count
      }
      if rest > 0 { bytes = clean + bytes[rest...] }
    }
    return bytes
  }

  func redacted(_ text: String) -> String {
    String(decoding: redacted(Array(text.utf8)), as: UTF8.self)
  }

  /// `true` if the bytes contain a secret in any encoding.
  package func finds(in bytes: [UInt8]) -> Bool {
    guard !needles.isEmpty else { return false }
    var layer = bytes
    for _ in 0...Self.mostLayers {
      let low = layer.map(\.lowercased)
      if needles.contains(where: { low.offset(of: $0) != nil }) { return true }
      guard let inner = layer.unescaped else { return false }
      layer = inner
    }
    return false
  }
}

extension [UInt8] {
  /// The first occurrence of `needle`; `nil` if there is none, or if it is empty.
  func offset(of needle: [UInt8], from start: Int = 0) -> Int? {
    withUnsafeBytes { bytes in
      UnsafeRawBufferPointer(rebasing: bytes[start...]).offset(of: needle).map { $0 + start }
    }
  }

  /// The bytes with one layer of `%2F`, `\/`, `\u002f` and `&#47;` decoded; `nil` if there is none.
  fileprivate var unescaped: [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    var hasChanged = false
    var rest = self[...]
    while let special = rest.firstIndex(where: \.beginsEscape) {
      result += rest[..<special]
      let (length, text) = rest[special...].escape
      if length > 1 { hasChanged = true }
      result += text
      rest = rest[(special + length)...]
    }
    return hasChanged ? result + rest : nil
  }
}

extension ArraySlice<UInt8> {
  /// The length of the escape at the start, and the text that it encodes.
  fileprivate var escape: (length: Int, text: [UInt8]) {
    switch first {
    case UInt8(ascii: "%"): percentEscape
    case UInt8(ascii: "\\"): backslashEscape
    default: characterReference
    }
  }

  private var percentEscape: (length: Int, text: [UInt8]) {
    let digits = dropFirst().prefix(2).compactMap(\.hexDigit)
    return digits.count == 2 ? (3, [digits[0] << 4 | digits[1]]) : plain
  }

  private var backslashEscape: (length: Int, text: [UInt8]) {
    guard let kind = dropFirst().first else { return plain }
    guard kind == UInt8(ascii: "u"), let high = unicodeEscape else { return (2, [kind]) }
    if 0xD800..<0xDC00 ~= high, let low = dropFirst(6).unicodeEscape, 0xDC00..<0xE000 ~= low {
      return (12, Self.bytes(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)))
    }
    return (6, Self.bytes(high))
  }

  /// The number in `\u002f` at the start.
  private var unicodeEscape: UInt32? {
    let digits = dropFirst(2).prefix(4).compactMap(\.hexDigit)
    guard digits.count == 4, starts(with: Array(#"\u"#.utf8)) else { return nil }
    return digits.reduce(0) { $0 << 4 | UInt32($1) }
  }

  private var characterReference: (length: Int, text: [UInt8]) {
    guard let end = prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return plain }
    let name = String(decoding: self[(startIndex + 1)..<end], as: UTF8.self)
    return (end - startIndex + 1, Array(HTMLEntity.text(of: name).utf8))
  }

  private var plain: (length: Int, text: [UInt8]) { (1, Array(prefix(1))) }

  private static func bytes(_ code: UInt32) -> [UInt8] {
    Array(String(Character(Unicode.Scalar(code) ?? "\u{FFFD}")).utf8)
  }
}

extension UInt8 {
  /// `true` for `%`, `\` and `&`.
  fileprivate var beginsEscape: Bool {
    self == UInt8(ascii: "%") || self == UInt8(ascii: "\\") || self == UInt8(ascii: "&")
  }

  /// The lower-case letter of one of `A-Z`; any other byte is unchanged.
  fileprivate var lowercased: UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self
  }
}
