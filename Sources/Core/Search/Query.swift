/// A search for one or more words.
///
/// A record matches if *every* word, folded (see ``Folded``), occurs in its searchable text.
public struct Query: Hashable, Sendable, CustomStringConvertible {
  /// The words as typed, joined by single spaces.
  public let text: String

  /// - Throws: ``SourceError`` with code `badUsage` if `text` contains no word.
  public init(_ text: some StringProtocol) throws(SourceError) {
    // By scalars: a combining mark would form one character with the space before it.
    let words = String(text).unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
    guard !words.isEmpty else {
      throw SourceError(.badUsage, "empty query", remedy: "specify at least one word")
    }
    self.text = words.map { String($0) }.joined(separator: " ")
  }

  public var words: [Folded] {
    text.unicodeScalars.split(separator: " ").map { Folded(String($0)) }
  }

  public var description: String { text }
}
