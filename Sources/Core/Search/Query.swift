/// A search for one or more words.
///
/// A record matches if *every* word, folded (see ``FoldedText``), occurs in its searchable text.
public struct Query: Hashable, Sendable, CustomStringConvertible {
  /// The words as typed, joined by single spaces.
  public let text: String

  /// - Throws: ``SourceError`` with code `invalidRequest` if `text` contains no word, such as only punctuation.
  public init(_ text: some StringProtocol) throws(SourceError) {
    // By scalars: a combining mark would form one character with the space before it.
    let words = String(text).unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
    self.text = words.map { String($0) }.joined(separator: " ")
    guard !self.words.isEmpty else {
      throw SourceError(.invalidRequest, "empty query", remedy: "specify at least one word")
    }
  }

  /// The words to match; a word of nothing but ignored punctuation, as in `spider - man`, is none.
  public var words: [FoldedText] {
    text.unicodeScalars.split(separator: " ").map { FoldedText(String($0)) }.filter {
      !$0.text.isEmpty
    }
  }

  public var description: String { text }
}
