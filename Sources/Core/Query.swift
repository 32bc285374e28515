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
    let words = text.split(whereSeparator: \.isWhitespace)
    guard !words.isEmpty else {
      throw SourceError(
        .badUsage, "the query is blank", remedy: "give at least one word to look for")
    }
    self.text = words.joined(separator: " ")
  }

  /// The words to find, folded.
  public var words: [Folded] { text.split(separator: " ").map { Folded($0) } }

  /// The words as they were typed.
  public var description: String { text }
}
