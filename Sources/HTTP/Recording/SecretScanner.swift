package import AggregatorCore
import Foundation

/// Finds secrets in what is about to be written down, whatever form they have taken.
///
/// Letters match in either case. Found are the secret itself, and the secret after any number of
/// characters were percent-encoded (RFC 3986), escaped as in JSON or replaced by HTML character
/// references, up to three times over, or after it was encoded in base64 as a part of something longer.
package struct SecretScanner: Sendable {
  /// Shorter secrets occur by accident, so they cannot be replaced without damage.
  private static let shortest = 8

  /// How many escapings may lie on top of each other.
  private static let mostLayers = 3

  /// What is looked for, in lower case.
  private let needles: [[UInt8]]

  /// What is replaced, in lower case, longest first.
  private let replaced: [[UInt8]]

  /// A scan.
  ///
  /// - Parameter secrets: What must not be written.
  package init(_ secrets: [Secret]) {
    let texts = Set(secrets.map { $0.reveal(\.self) }.filter { !$0.isEmpty })
    func lowered(_ forms: [String]) -> [[UInt8]] {
      Set(forms.map { $0.utf8.map(\.lowercased) }).sorted { $0.count > $1.count }
    }
    needles = lowered(
      texts.flatMap { [$0, $0.replacing(" ", with: "+")] + Self.base64Cores(of: $0) })
    replaced = lowered(
      texts.filter { $0.count >= Self.shortest }.flatMap {
        [
          $0, $0.percentEncoded, $0.replacing(" ", with: "+"), $0.replacing("/", with: #"\/"#),
          $0.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? $0,
        ]
      })
  }

  /// The bytes with `REDACTED` where a secret stands in one of its usual forms.
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

  /// The text with `REDACTED` where a secret stands in one of its usual forms.
  func redacted(_ text: String) -> String {
    String(decoding: redacted(Array(text.utf8)), as: UTF8.self)
  }

  /// Whether a secret stands in the bytes in any form.
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

  /// What a text always looks like inside of base64 (RFC 4648), in both alphabets.
  ///
  /// It depends on how many bytes stand before it; the characters at the edges also on what they are.
  private static func base64Cores(of secret: String) -> [String] {
    (0...2).flatMap { offset -> [String] in
      let padded = Data(repeating: 0, count: offset) + Data(secret.utf8)
      let core = padded.base64EncodedString().prefix(padded.count * 8 / 6)
        .dropFirst((offset * 8 + 5) / 6)
      guard core.count >= shortest else { return [] }
      let inURL = core.replacing("+", with: "-").replacing("/", with: "_")
      return [String(core), String(inURL)]
    }
  }
}

extension [UInt8] {
  /// Where `needle` first occurs; `nil` if it does not, or is empty.
  func offset(of needle: [UInt8], from start: Int = 0) -> Int? {
    withUnsafeBytes { bytes in
      UnsafeRawBufferPointer(rebasing: bytes[start...]).offset(of: needle).map { $0 + start }
    }
  }

  /// The bytes with one layer of `%2F`, `\/`, `\u002f` and `&#47;` read; `nil` if there is none.
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
  /// What the escape at the start is, and what it stands for.
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
  /// Whether this is one of `%`, `\` and `&`.
  fileprivate var beginsEscape: Bool {
    self == UInt8(ascii: "%") || self == UInt8(ascii: "\\") || self == UInt8(ascii: "&")
  }

  /// The byte of the lower-case letter, of one of `A-Z`.
  fileprivate var lowercased: UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self
  }
}
