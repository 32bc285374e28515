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
    word.text.isEmpty || text.utf8.firstRange(of: word.text.utf8) != nil
  }

  /// Whether every word of a query occurs in this text.
  ///
  /// - Parameter words: The words, folded; see ``Query/words``.
  /// - Returns: `true` if each is found.
  public func containsAll(_ words: [Folded]) -> Bool { words.allSatisfy(contains) }
}
