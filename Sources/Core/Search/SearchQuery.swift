public import AggregatorText

/// A search for one or more words.
///
/// A record matches if *every* word, folded (see ``FoldedText``), occurs in its searchable text. Words in double quotes, as in
/// `"new york" city`, are one: they have to occur together. A quote inside a word, as in `7"`, is a character as any other.
public struct SearchQuery: Hashable, Sendable, CustomStringConvertible {
  /// The words as typed, joined by single spaces.
  public let text: String

  /// - Throws: ``SourceError`` with code `invalidRequest` if `text` contains no word, such as only dots, commas, hyphens or quotes.
  public init(_ text: some StringProtocol) throws(SourceError) {
    // By scalars: a combining mark would form one character with the space before it.
    let words = String(text).unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
    self.text = words.map { String($0) }.joined(separator: " ")
    guard !self.words.isEmpty else {
      throw SourceError(.invalidRequest, "empty query", remedy: "specify at least one word")
    }
  }

  /// The words to match, with spaces between those that were in quotes; a word of nothing but ignored punctuation, as in
  /// `spider - man`, is none.
  public var words: [FoldedText] {
    var words: [FoldedText] = []
    var rest = text.unicodeScalars.split(separator: " ")[...]
    while let next = rest.popFirst() {
      var word = String(next).unicodeScalars
      if word.first?.isQuotationMark == true {
        word.removeFirst()
        // One that is still typed has no end.
        while word.last?.isQuotationMark != true, let next = rest.popFirst() {
          if !word.isEmpty { word.append(" ") }
          word += next
        }
        while word.last?.isQuotationMark == true || word.last == " " { word.removeLast() }
      }
      words.append(FoldedText(String(word)))
    }
    return words.filter { !$0.text.isEmpty }
  }

  public var description: String { text }
}

/// The closeness of a record to a search: the closest come first where a search is local, in the order of the records.
///
/// The title of a record is the first line of its searchable text. A word ends where neither a letter nor a digit follows.
public enum SearchRank: Int, Codable, Comparable, CaseIterable, Sendable {
  /// The record's ID is the query.
  case id
  /// The title is the query.
  case name
  /// The title begins with the query, as `Spider-Man` with `spider`.
  case beginning
  /// All words of the query are words of the title.
  case word
  /// All of them are beginnings of words of the title.
  case wordBeginning
  /// All of them occur in the title.
  case title
  case other
  /// A match after so many that a store does not read its title.
  case rest

  public static func < (left: SearchRank, right: SearchRank) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// A search whose closest matches come first.
public struct RankedSearch: Hashable, Sendable {
  public let words: [FoldedText]

  /// The ID that the query spells; `nil` if it is not a valid ID.
  public let id: String?

  /// The words as one text, to compare with names; `nil` if it cannot be compared.
  public let name: String?

  /// True if an index of three characters can find names; others are compared one by one.
  package let isNameIndexed: Bool

  public init<Item: SourceRecord>(_ query: SearchQuery, for type: Item.Type) {
    words = query.words
    id = Item.ID(query.text)?.description
    let text = words.map(\.text).joined(separator: " ")
    let scalars = text.unicodeScalars
    let isComparable =
      !scalars.isEmpty && !scalars.contains { $0.value == 0 || 0xFFFD...0xFFFF ~= $0.value }
    name = isComparable ? text : nil
    isNameIndexed = scalars.count >= 3
  }

  /// The rank of a match with this ID and searchable text.
  public func rank(_ id: String, _ text: FoldedText) -> SearchRank { rank(id, folded: text.text) }

  /// The rank of a match with this ID and folded text, of which the first line suffices.
  package func rank(_ id: String, folded text: String) -> SearchRank {
    if id == self.id { return .id }
    guard let name else { return .other }
    let title = Array(text.utf8.prefix { $0 != UInt8(ascii: "\n") })
    if title.starts(with: name.utf8) {
      return title.count == name.utf8.count ? .name : .beginning
    }
    let places = words.map { FoldedText.place(of: Array($0.text.utf8), in: title) }
    let farthest = places.max() ?? .none
    return farthest == .none ? .other : [.word, .wordBeginning, .title][farthest.rawValue]
  }

  /// The matches with the closest first, otherwise in their order.
  func sorted<Match>(_ matches: [Match], rank: (Match) -> SearchRank) -> [Match] {
    let ranked = matches.map { (match: $0, rank: rank($0)) }
    guard ranked.contains(where: { $0.rank != .other }) else { return matches }
    return SearchRank.allCases.flatMap { rank in
      ranked.filter { $0.rank == rank }.map(\.match)
    }
  }
}
