import AggregatorFoundation

// Cleans text from services, files and command lines.

extension String {
  /// The text without surrounding white space; `nil` if nothing is left.
  public var nonBlank: String? {
    // Most text has no surrounding white space, as its ends show if they are ASCII.
    if let first = utf8.first, let last = utf8.last, 0x21...0x7E ~= first, 0x21...0x7E ~= last {
      return self
    }
    let text = trimmed
    return text.isEmpty ? nil : text
  }

  /// The text if it is an `http` or `https` URL with a host and without a user name; else `nil`.
  ///
  /// Only such URLs are shown as links and opened: any other scheme might make a browser run a program
  /// or read a file, and a user name can look like a host, as in `https://bank.example@evil.example`.
  public var webAddress: String? {
    if isPlainWebAddress { return self }
    guard let url = URL(string: self), ["http", "https"].contains(url.scheme?.lowercased()),
      url.host()?.isEmpty == false, url.user() == nil, url.password() == nil
    else { return nil }
    return self
  }

  /// True for most web addresses, without parsing them: `https://`, a host of letters, digits, dots and hyphens, and
  /// after its slash only what a path and a query contain as it is (RFC 3986).
  private var isPlainWebAddress: Bool {
    var text = self
    return text.withUTF8 { bytes in
      let start = bytes.begins(with: "https://") ? 8 : bytes.begins(with: "http://") ? 7 : 0
      let (host, rest) = (ASCIISet.plainInHost, ASCIISet.plainInAddress)
      var index = start
      while index < bytes.count, host.contains(bytes[index]) { index += 1 }
      guard start > 0, index > start, index < bytes.count, bytes[index] == UInt8(ascii: "/") else {
        return false
      }
      while index < bytes.count, rest.contains(bytes[index]) { index += 1 }
      return index == bytes.count
    }
  }

  /// This text in single quotes, as one word of a POSIX shell.
  package var shellQuoted: String { "'\(replacing("'", with: #"'\''"#))'" }

  /// The text without surrounding white space; `nil` if it contains a line break or another control
  /// character, which a settings file cannot express and services reject.
  package var singleLine: String? {
    let text = trimmed
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: return nil
      default: continue
      }
    }
    return text
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate func begins(with text: StaticString) -> Bool {
    guard let baseAddress, count >= text.utf8CodeUnitCount else { return false }
    return memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
  }
}

/// Characters of ASCII, which a few instructions look for: a page has thousands of addresses.
private struct ASCIISet {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  init(lettersDigitsAnd others: StaticString) {
    for byte in 0..<UInt8(0x80) where byte.isASCIIAlphanumeric { insert(byte) }
    others.withUTF8Buffer { for byte in $0 { insert(byte) } }
  }

  private mutating func insert(_ byte: UInt8) {
    if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
  }

  func contains(_ byte: UInt8) -> Bool {
    byte < 128 && (byte < 64 ? low : high) &>> UInt64(byte) & 1 == 1
  }

  static let plainInHost = ASCIISet(lettersDigitsAnd: ".-")

  /// Neither `"`, `#` nor `%`.
  static let plainInAddress = ASCIISet(lettersDigitsAnd: "!$&'()*+,-./:;=?@_~")
}

extension StringProtocol {
  /// As at the start of a sentence; a host, a file or a URL stays what it is.
  package var capitalizedFirst: String {
    let word = prefix { !$0.isWhitespace }
    let isName = word == "localhost" || word.dropLast().contains { ".:".contains($0) }
    return isName ? String(self) : prefix(1).uppercased() + dropFirst()
  }

  /// As within a sentence; a word of capitals, such as `ID`, stays.
  package var lowercasedFirst: String {
    dropFirst().first?.isUppercase == true ? String(self) : prefix(1).lowercased() + dropFirst()
  }

  /// The text without surrounding white space.
  package var trimmed: String {
    var rest = Substring(self).unicodeScalars
    while rest.first?.isBlank == true { rest.removeFirst() }
    while rest.last?.isBlank == true { rest.removeLast() }
    return String(rest)
  }

  private static var maxScalars: Int { 12 }

  /// The text on one line, shortened with `…` to `count` characters: each run of white space as one space,
  /// and without invisible characters.
  package func oneLine(atMost count: Int) -> String {
    // Most IDs and words: printable ASCII without spaces.
    let text = String(self)
    if text.utf8.count <= count, text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) { return text }
    var line = ""
    var length = 0
    var isGap = false
    for character in self {
      if character.unicodeScalars.allSatisfy(\.properties.isWhitespace) {
        isGap = !line.isEmpty
        continue
      }
      // A letter may carry any number of marks.
      let scalars = character.unicodeScalars.prefix(Self.maxScalars).filter { !$0.isInvisible }
      guard !scalars.isEmpty else { continue }
      // Without its joiners, an emoji becomes several characters.
      let visible = String(String.UnicodeScalarView(scalars))
      let added = visible.count + (isGap ? 1 : 0)
      guard length + added <= count else { return line + "…" }
      if isGap { line += " " }
      line += visible
      length += added
      isGap = false
    }
    return line
  }
}

extension Unicode.Scalar {
  /// True for double quotes of any language.
  package var isQuotationMark: Bool {
    switch self {
    case "\"", "“", "”", "„", "«", "»": true
    default: false
    }
  }

  /// True for white space, and for the zero-width space, which Unicode does not count as such.
  fileprivate var isBlank: Bool { properties.isWhitespace || value == 0x200B }

  /// True if a terminal may interpret this character instead of showing it, or show nothing: C0 and C1
  /// controls, bidirectional controls, zero-width and other format characters, line and paragraph
  /// separators, tags, private use and unassigned code points.
  ///
  /// Variation selectors and the zero-width joiner are format characters too, but part of emoji and of
  /// several scripts; code that shows text decides about them by context.
  package var isInvisible: Bool {
    // Nearly all characters are printable ASCII.
    if value < 0x7F { return value < 0x20 }
    // Most others are Latin letters.
    if 0xC0..<0x250 ~= value { return false }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      true
    default:
      // Blank fillers that are letters by category.
      [0x115F, 0x1160, 0x3164, 0xFFA0, 0x034F].contains(value)
    }
  }
}
