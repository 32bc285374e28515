package import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// Finds secrets, in any encoding of UTF-8, and replaces them: in what a service sends, in records, in messages, and
/// in recordings.
///
/// Found are the secret itself, the secret after any of its characters were percent-encoded (RFC 3986), escaped as
/// in JSON or replaced by HTML character references, up to three times over, the secret with HTML tags or invisible
/// characters inside it, and the secret as a part of base64. The same holds for a token without its prefix, such as
/// `Bearer`.
///
/// ASCII letters match in either case. The other letters of a secret match as they are, all in capitals, all in lower
/// case, and with a capital at the beginning of each word, composed or decomposed (UAX #15). Not found are other
/// mixtures of their cases, the special cases of a language (Turkish, Lithuanian), compatibility forms such as
/// full-width letters, and encodings other than UTF-8.
package struct SecretScanner: Sendable {
  /// Shorter secrets occur by chance in any text, so they cannot be replaced or reported.
  package static let minimumLength = 8

  /// The most nested escapings that are decoded.
  private static let maxLayers = 3

  /// The encodings that ``finds(in:)`` looks for, in lower case.
  private let needles: [[UInt8]]

  /// The encodings that ``redacted(_:)`` replaces, in lower case.
  private let replaced: [[UInt8]]

  /// `true` if a secret contains an escape itself, so that no decoding is certain to lead back to it.
  let hasEscapedSecret: Bool

  package init(_ secrets: [Secret]) {
    let texts = Set(secrets.flatMap(\.texts).filter { !$0.isEmpty })
    func lowered(_ texts: Set<String>) -> [[UInt8]] {
      // Most runs know no secret, and a set of bytes is a type that is made at run time.
      texts.isEmpty ? [] : Array(Set(texts.flatMap(\.encodings).map { $0.map(\.lowercased) }))
    }
    needles = lowered(texts)
    replaced = lowered(texts.filter { $0.count >= Self.minimumLength })
    hasEscapedSecret = texts.contains { Array($0.utf8).unescaped != nil }
  }

  /// `true` if there is nothing to replace.
  package var isEmpty: Bool { replaced.isEmpty }

  package func redacted(_ response: HTTPResponse) -> HTTPResponse {
    guard !isEmpty else { return response }
    var response = response
    response.headers = response.headers.map { (redacted($0.name), redacted($0.value)) }
    response.statusLine = response.statusLine.map { redacted($0) }
    let body = Array(response.body)
    let ranges = ranges(of: replaced, in: body)
    if !ranges.isEmpty { response.body = Data(body.replacing(ranges)) }
    return response
  }

  package func redacted(_ text: String) -> String {
    let bytes = Array(text.utf8)
    let ranges = ranges(of: replaced, in: bytes)
    return ranges.isEmpty ? text : String(decoding: bytes.replacing(ranges), as: UTF8.self)
  }

  /// The bytes with `REDACTED` for each secret of at least ``minimumLength`` characters.
  package func redacted(_ bytes: [UInt8]) -> [UInt8] {
    bytes.replacing(ranges(of: replaced, in: bytes))
  }

  /// The bytes with a text of the same length for each of these secrets: positions in them stay what they are.
  func masked(_ bytes: [UInt8]) -> [UInt8] {
    var masked = bytes
    for range in ranges(of: replaced, in: bytes) {
      let mask = Array(Secret.mark.utf8.prefix(range.count))
      let rest = [UInt8](repeating: UInt8(ascii: "*"), count: range.count - mask.count)
      masked.replaceSubrange(range, with: mask + rest)
    }
    return masked
  }

  package func redacted(_ error: SourceError) -> SourceError {
    guard !isEmpty else { return error }
    var error = error
    error.message = redacted(error.message)
    error.remedy = error.remedy.map { Remedy(redacted($0.text), $0.action) }
    return error
  }

  /// `true` if the bytes contain a secret of any length, in any encoding.
  package func finds(in bytes: [UInt8]) -> Bool { !ranges(of: needles, in: bytes).isEmpty }

  /// The parts of `bytes` that encode a needle, in any order.
  private func ranges(of needles: [[UInt8]], in bytes: [UInt8]) -> [Range<Int>] {
    guard !needles.isEmpty else { return [] }
    var found: [Range<Int>] = []
    var layer = bytes
    // The ways from the layer back to `bytes`, the last one first.
    var maps: [OffsetMap] = []
    for _ in 0...Self.maxLayers {
      found += layer.ranges(of: needles).map { maps.reduce($0) { $1.source(of: $0) } }
      if let (text, map) = layer.withoutTags {
        found += text.ranges(of: needles).map { ([map] + maps).reduce($0) { $1.source(of: $0) } }
      }
      guard let (inner, map) = layer.unescaped else { break }
      layer = inner
      maps.insert(map, at: 0)
    }
    return found
  }
}

extension Secret {
  /// The texts that must not appear: the whole secret, its token or parts, and the credentials in it.
  fileprivate var texts: [String] {
    revealToken { prefix, token in
      guard !prefix.isEmpty else { return [token] + revealParts(Array.init) }
      var texts = [prefix + token, token]
      if prefix.lowercased().hasPrefix("basic"), let decoded = Data(base64Encoded: token) {
        let credentials = String(decoding: decoded, as: UTF8.self)
        texts +=
          [credentials]
          + credentials.split(separator: ":", maxSplits: 1).dropFirst().map(String.init)
      }
      return texts
    }
  }
}

extension String {
  /// The encodings of this secret in the cases and normalization forms that its letters may have.
  fileprivate var encodings: [[UInt8]] {
    // ASCII is compared in lower case.
    if utf8.allSatisfy({ $0 < 0x80 }) { return encodingsAsWritten }
    return [self, uppercased(), lowercased(), capitalizedWords]
      .flatMap { [$0, $0.canonicallyComposed, $0.canonicallyDecomposed] }
      .flatMap(\.encodingsAsWritten)
  }

  /// The text in lower case, with a capital after each character that is not a letter.
  private var capitalizedWords: String {
    var isFirst = true
    return reduce(into: "") { text, character in
      text += isFirst ? character.uppercased() : character.lowercased()
      isFirst = !character.isLetter
    }
  }

  /// The forms of this secret in a layer: the secret itself, `+` for a space, base64, and the rest of the
  /// secret if its own text was taken for escapes.
  private var encodingsAsWritten: [[UInt8]] {
    var forms = ([self, replacing(" ", with: "+")] + base64Cores).map { Array($0.utf8) }
    var form = Array(utf8)
    while let inner = form.unescaped?.bytes, inner.count < form.count {
      if inner.count >= min(utf8.count, SecretScanner.minimumLength) { forms.append(inner) }
      form = inner
    }
    return forms
  }

  /// This base64 in the alphabet for URLs.
  private var inURL: String { replacing("+", with: "-").replacing("/", with: "_") }

  /// The characters of the base64 (RFC 4648) of any longer text that contains this one, in both
  /// alphabets.
  ///
  /// They depend on the number of bytes before it; those at the edges also on the bytes themselves.
  private var base64Cores: [String] {
    let whole = Data(utf8).base64EncodedString()
    // With its end, of which nothing shall remain.
    let own = whole.count < SecretScanner.minimumLength ? [] : [whole, whole.inURL]
    return own
      + (0...2).flatMap { offset -> [String] in
        let padded = Data(repeating: 0, count: offset) + Data(utf8)
        let core = padded.base64EncodedString().prefix(padded.count * 8 / 6)
          .dropFirst((offset * 8 + 5) / 6)
        guard core.count >= SecretScanner.minimumLength else { return [] }
        return [String(core), String(core).inURL]
      }
  }
}

/// The way from offsets in a decoded text to the text that it was decoded from.
private struct OffsetMap {
  private struct Run {
    let start: Int
    let source: Int
    /// The end of an escape in the source; `nil` for text that was copied.
    let end: Int?
  }

  private var runs: [Run] = []

  /// Adds text that begins at `start`, copied or decoded from an escape that ends at `end`.
  mutating func add(_ start: Int, from source: Int, to end: Int? = nil) {
    runs.append(Run(start: start, source: source, end: end))
  }

  func source(of range: Range<Int>) -> Range<Int> {
    let (first, last) = (run(at: range.lowerBound), run(at: range.upperBound - 1))
    let start = first.end == nil ? first.source + range.lowerBound - first.start : first.source
    return start..<(last.end ?? last.source + range.upperBound - last.start)
  }

  /// The run that contains the byte at an offset: the last one that starts there or before.
  private func run(at offset: Int) -> Run {
    var (low, high) = (0, runs.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if runs[middle].start <= offset { low = middle } else { high = middle }
    }
    return runs[low]
  }
}

extension [UInt8] {
  /// The bytes with `REDACTED` for each range; ranges that overlap become one.
  fileprivate func replacing(_ ranges: [Range<Int>]) -> [UInt8] {
    guard !ranges.isEmpty else { return self }
    var merged: [Range<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound < last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    var clean: [UInt8] = []
    var rest = 0
    for range in merged {
      clean += self[rest..<range.lowerBound]
      clean += Secret.mark.utf8
      rest = range.upperBound
    }
    return clean + self[rest...]
  }

  /// The occurrences of needles, which are in lower case.
  fileprivate func ranges(of needles: [[UInt8]]) -> [Range<Int>] {
    let low = map(\.lowercased)
    return needles.flatMap { needle -> [Range<Int>] in
      var found: [Range<Int>] = []
      var rest = 0
      while let start = low.withUnsafeBytes({ $0.offset(of: needle, from: rest) }) {
        found.append(start..<(start + needle.count))
        rest = start + needle.count
      }
      return found
    }
  }

  /// The bytes with one layer of `%2F`, `\/`, `\u002f` and `&#47;` decoded and without invisible
  /// characters; `nil` if there are none.
  fileprivate var unescaped: (bytes: [UInt8], map: OffsetMap)? {
    var result: [UInt8] = []
    var map = OffsetMap()
    var hasChanged = false
    var rest = startIndex
    func copy(to end: Int) {
      guard rest < end else { return }
      map.add(result.count, from: rest)
      result += self[rest..<end]
    }
    var at = startIndex
    while let special = self[at...].firstIndex(where: \.beginsEscape) {
      let (length, text) = self[special...].escape
      at = special + length
      guard length > 1 else { continue }
      hasChanged = true
      copy(to: special)
      let visible = text.isInvisible ? [] : text
      if !visible.isEmpty { map.add(result.count, from: special, to: at) }
      result += visible
      rest = at
    }
    guard hasChanged else { return nil }
    copy(to: endIndex)
    return (result, map)
  }

  /// The bytes without HTML tags and comments; `nil` if there are none.
  fileprivate var withoutTags: (bytes: [UInt8], map: OffsetMap)? {
    var result: [UInt8] = []
    var map = OffsetMap()
    var rest = startIndex
    func copy(to end: Int) {
      guard rest < end else { return }
      map.add(result.count, from: rest)
      result += self[rest..<end]
    }
    // Found once for all tags before them, so that this takes linear time.
    var (tagEnd, commentEnd) = (startIndex, startIndex)
    var at = startIndex
    while let start = self[at...].firstIndex(of: UInt8(ascii: "<")) {
      at = start + 1
      guard at < endIndex, self[at].beginsTag else { continue }
      let isComment = self[start...].starts(with: "<!--".utf8)
      if tagEnd <= start {
        tagEnd = self[start...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? .max
      }
      if isComment, commentEnd < start + 7 {
        commentEnd =
          withUnsafeBytes { $0.offset(of: Array("-->".utf8), from: start + 4) }.map { $0 + 3 }
          ?? .max
      }
      let end = isComment ? commentEnd : tagEnd
      guard end < .max else { continue }
      // The last `<` before a `>` begins the tag.
      if !isComment, self[at..<end].firstIndex(of: UInt8(ascii: "<")) != nil { continue }
      copy(to: start)
      (rest, at) = (end, end)
    }
    guard rest > startIndex else { return nil }
    copy(to: endIndex)
    return (result, map)
  }

  /// `true` for a character that is not seen, or not shown: zero-width, directions, soft hyphens, joiners,
  /// variation selectors, tags.
  fileprivate var isInvisible: Bool {
    let scalars = String(decoding: self, as: UTF8.self).unicodeScalars
    guard let scalar = scalars.first, scalars.count == 1, !scalar.isASCII else { return false }
    return scalar.properties.isDefaultIgnorableCodePoint
      || scalar.properties.generalCategory == .format
  }
}

extension ArraySlice<UInt8> {
  /// The length of the escape at the start, and the text that it encodes.
  fileprivate var escape: (length: Int, text: [UInt8]) {
    switch first {
    case UInt8(ascii: "%"): percentEscape
    case UInt8(ascii: "\\"): backslashEscape
    case UInt8(ascii: "&"): characterReference
    default: invisibleCharacter
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
    guard let end = dropFirst().prefix(11).firstIndex(where: { !$0.isReferenceName }),
      self[end] == UInt8(ascii: ";")
    else { return plain }
    let name = String(decoding: self[(startIndex + 1)..<end], as: UTF8.self)
    return (end - startIndex + 1, Array(HTMLEntity.text(of: name).utf8))
  }

  /// A character of two to four bytes that is not seen, decoded to nothing.
  private var invisibleCharacter: (length: Int, text: [UInt8]) {
    let length = first.map { $0 >= 0xF0 ? 4 : $0 >= 0xE0 ? 3 : 2 } ?? 1
    let bytes = Array(prefix(length))
    return bytes.count == length && bytes.isInvisible ? (length, bytes) : plain
  }

  private var plain: (length: Int, text: [UInt8]) { (1, Array(prefix(1))) }

  private static func bytes(_ code: UInt32) -> [UInt8] {
    Array(String(Character(Unicode.Scalar(code) ?? "\u{FFFD}")).utf8)
  }
}

extension UInt8 {
  /// `true` for `%`, `\`, `&`, and the first bytes of invisible characters.
  fileprivate var beginsEscape: Bool {
    switch self {
    case UInt8(ascii: "%"), UInt8(ascii: "\\"), UInt8(ascii: "&"): true
    case 0xC2, 0xCD, 0xD8, 0xDB, 0xDC, 0xE1, 0xE2, 0xE3, 0xEF, 0xF0, 0xF3: true
    default: false
    }
  }

  /// `true` for the second byte of a tag or comment.
  fileprivate var beginsTag: Bool {
    0x61...0x7A ~= self | 0x20 || self == UInt8(ascii: "/") || self == UInt8(ascii: "!")
      || self == UInt8(ascii: "?")
  }

  /// `true` for the bytes between `&` and `;` of a character reference.
  fileprivate var isReferenceName: Bool {
    0x61...0x7A ~= self | 0x20 || 0x30...0x39 ~= self || self == UInt8(ascii: "#")
  }

  /// The lower-case letter of one of `A-Z`; any other byte is unchanged.
  fileprivate var lowercased: UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self
  }
}
