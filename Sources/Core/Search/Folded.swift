import Foundation

/// Text normalized for matching: without case, diacritics and width.
///
/// `Curaçao`, `CURACAO` and `curacao` fold to the same text, in every locale. Folded texts are compared
/// byte by byte.
public struct Folded: Hashable, Sendable {
  public let text: String

  public init(_ text: some StringProtocol) {
    // Folding preserves composition, such as of 한, which a comparison by bytes would notice.
    self.text =
      Self.latin(text.utf8)
      ?? text.folding(
        options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil
      ).precomposedStringWithCanonicalMapping
  }

  /// True if `word` occurs in this text; an empty word always does.
  public func contains(_ word: Folded) -> Bool {
    var (text, word) = (text, word.text)
    return text.withUTF8 { text in word.withUTF8 { word in text.contains(word) } }
  }

  public func containsAll(_ words: [Folded]) -> Bool { words.allSatisfy(contains) }

  /// Folds text of ASCII, Latin-1 and Latin Extended-A letters, up to `ſ` (U+017F); `nil` for text with
  /// any other letter or symbol.
  ///
  /// Most text qualifies, and Foundation's folding is some forty times slower. The folding of each of
  /// these letters is independent of its neighbors, and the result is composed.
  private static func latin(_ bytes: some Collection<UInt8>) -> String? {
    var folded: [UInt8] = []
    folded.reserveCapacity(bytes.count)
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case 0x41...0x5A: folded.append(byte | 0x20)
      case ..<0x80: folded.append(byte)
      case 0xC3...0xC5:
        guard let second = rest.next() else { return nil }
        folded += latinLetters[Int(byte - 0xC3) << 6 | Int(second & 0x3F)]
      default: return nil
      }
    }
    return String(decoding: folded, as: UTF8.self)
  }

  /// Foundation's folding of the letters from `À` (U+00C0) to `ſ` (U+017F).
  private static let latinLetters = """
    a a a a a a æ c e e e e i i i i ð n o o o o o × ø u u u u y þ ss a a a a a a æ c e e e e \
    i i i i ð n o o o o o ÷ ø u u u u y þ y a a a a a a c c c c c c c c d d đ đ e e e e e e \
    e e e e g g g g g g g g h h ħ ħ i i i i i i i i i ı ĳ ĳ j j k k ĸ l l l l l l ŀ ŀ ł ł n \
    n n n n n ʼn ŋ ŋ o o o o o o œ œ r r r r r r s s s s s s s s t t t t ŧ ŧ u u u u u u u u \
    u u u u w w y y y z z z z z z s
    """.split(separator: " ").map { Array($0.utf8) }
}

extension UnsafeBufferPointer<UInt8> {
  /// True if `word` is a contiguous part of these bytes, or empty.
  ///
  /// The standard library's search of any collection takes a hundred times as long for short texts.
  fileprivate func contains(_ word: Self) -> Bool {
    guard let first = word.first else { return true }
    var rest = self[...]
    while rest.count >= word.count, let start = rest.firstIndex(of: first) {
      rest = rest[start...]
      if rest.starts(with: word) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}
