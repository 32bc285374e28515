/// The word for the records of a source, which is its name if that is a plural.
package struct RecordNoun {
  package let plural: String
  package let singular: String

  /// False for a word such as `weather`, of which there are no two.
  package var isPlural: Bool { singular != plural || Self.irregular[plural] != nil }

  private static let irregular = [
    "cookies": "cookie", "goods": "item", "movies": "movie", "news": "news", "people": "person",
    "series": "series", "shoes": "shoe", "species": "species",
  ]

  /// Derives the singular from a plural, or leaves the word as it is.
  package init(_ plural: String) {
    self.plural = plural
    if let word = Self.irregular[plural] {
      singular = word
    } else if plural.hasSuffix("ies"), plural.count > 4 {
      singular = "\(plural.dropLast(3))y"
    } else if ["oes", "ches", "shes", "sses", "xes"].contains(where: plural.hasSuffix) {
      singular = String(plural.dropLast(2))
    } else if plural.hasSuffix("s"), !["ss", "us", "is"].contains(where: plural.hasSuffix) {
      singular = String(plural.dropLast())
    } else {
      singular = plural
    }
  }

  /// The noun before an ID, beside which the source is named: `hero`, or `record`.
  package var one: String { isPlural ? singular : "record" }

  /// `a hero`, or `a record of weather`.
  package var withArticle: String {
    let word = word(for: 1)
    return "\(word.first.map("aeio".contains) == true ? "an" : "a") \(word)"
  }

  /// `a hero's`, or `a record's`.
  package var ofOne: String { isPlural ? "\(withArticle)'s" : "a record's" }

  /// The noun for so many: `heroes`, or `records of weather`.
  package func word(for count: Int) -> String {
    let word = count == 1 ? singular : plural
    return isPlural ? word : "record\(count == 1 ? "" : "s") of \(word)"
  }

  /// So many: `1 hero`, `20,000 records of weather`.
  package func count(_ count: Int) -> String { "\(count.grouped) \(word(for: count))" }
}
