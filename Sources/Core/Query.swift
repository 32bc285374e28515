/// What somebody looks for: one or more words.
///
/// A record matches when *every* word, folded (see ``Folded``), occurs somewhere in its searchable text.
public struct Query: Hashable, Sendable, CustomStringConvertible {
  /// The words as they were typed, joined by single spaces.
  public let text: String

  /// A query from typed text.
  ///
  /// - Parameter text: One or more words.
  /// - Throws: ``SourceError`` with code `badUsage` if there is no word in it.
  public init(_ text: some StringProtocol) throws(SourceError) {
    // By scalars: a mark without a letter would make one character of itself and the space before it.
    let words = String(text).unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
    guard !words.isEmpty else {
      throw SourceError(
        .badUsage, "the query is blank", remedy: "give at least one word to look for")
    }
    self.text = words.map { String($0) }.joined(separator: " ")
  }

  /// The words to find, folded.
  public var words: [Folded] {
    text.unicodeScalars.split(separator: " ").map { Folded(String($0)) }
  }

  /// The words as they were typed.
  public var description: String { text }
}
