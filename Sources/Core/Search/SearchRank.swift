/// The closeness of a record to a search: the closest come first where a search is local.
public enum SearchRank: Int, Codable, Comparable, CaseIterable, Sendable {
  /// The record's ID is the query.
  case id
  /// The record's name, the first line of its searchable text, is the query.
  case name
  /// The name begins with the query.
  case beginning
  case other

  public static func < (left: SearchRank, right: SearchRank) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// A search whose closest matches come first.
public struct RankedSearch: Hashable, Sendable {
  public let words: [FoldedText]

  /// The ID that the query spells; `nil` if it is not a valid ID.
  public let id: String?

  /// The words as one text, to compare with names; `nil` if it is too short for an index of three characters.
  public let name: String?

  /// The same, however short, for records that are compared one by one.
  private let text: String

  public init<Item: Record>(_ query: Query, for type: Item.Type) {
    words = query.words
    id = Item.ID(query.text)?.description
    let text = words.map(\.text).joined(separator: " ")
    let scalars = text.unicodeScalars
    let isIndexed =
      scalars.count >= 3 && !scalars.contains { $0.value == 0 || 0xFFFD...0xFFFF ~= $0.value }
    name = isIndexed ? text : nil
    self.text = text
  }

  /// The rank of a record with this ID and searchable text, in a store, where names too short for its index have none.
  public func rank(_ id: String, _ text: FoldedText) -> SearchRank {
    rank(id, text, comparing: name)
  }

  /// The rank of a record that is compared with the query itself, however short that is.
  package func localRank(_ id: String, _ text: FoldedText) -> SearchRank {
    rank(id, text, comparing: self.text)
  }

  private func rank(_ id: String, _ text: FoldedText, comparing name: String?) -> SearchRank {
    if id == self.id { return .id }
    guard let name, text.text.utf8.starts(with: name.utf8) else { return .other }
    let next = text.text.utf8.dropFirst(name.utf8.count).first
    return next == nil || next == UInt8(ascii: "\n") ? .name : .beginning
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
