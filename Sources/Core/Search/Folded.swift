import Foundation

/// Text made ready for matching: without case, diacritics and width.
///
/// `Curaçao`, `CURACAO` and `curacao` fold to the same text, in every locale. Two folded texts are
/// compared byte by byte.
public struct Folded: Hashable, Sendable {
  /// The folded text.
  public let text: String

  /// Folds `text`.
  ///
  /// - Parameter text: Any text.
  public init(_ text: some StringProtocol) {
    // Folding leaves 한 in one piece or in three as it was, and bytes would tell them apart.
    self.text =
      Self.latin(text.utf8)
      ?? text.folding(
        options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil
      ).precomposedStringWithCanonicalMapping
  }

  /// Whether `word` occurs in this text.
  ///
  /// - Parameter word: What to find.
  /// - Returns: `true` for an empty word.
  public func contains(_ word: Folded) -> Bool {
    var (text, word) = (text, word.text)
    return text.withUTF8 { text in word.withUTF8 { word in text.contains(word) } }
  }

  /// Whether every word of a query occurs in this text.
  ///
  /// - Parameter words: The words, folded; see ``Query/words``.
  /// - Returns: `true` if each is found.
  public func containsAll(_ words: [Folded]) -> Bool { words.allSatisfy(contains) }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether bytes occur among these, one after the other; none always do.
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
