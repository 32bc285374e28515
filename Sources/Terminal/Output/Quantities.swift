package import AggregatorKit

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

  package func count(_ count: Int) -> String { "\(count) \(word(for: count))" }
}

extension Plugin {
  package var noun: RecordNoun { RecordNoun(name) }
}

extension Int {
  /// This number of bytes, rounded: `512 bytes`, `3.2 kB`, `12 MB`.
  package var byteCount: String {
    guard self >= 1024 else { return of("byte") }
    var amount = Double(self) / 1024
    var units = ["kB", "MB", "GB", "TB"][...]
    while amount >= 1000, units.count > 1 {
      amount /= 1024
      units = units.dropFirst()
    }
    let tenths = Int((amount * 10).rounded())
    let digits =
      tenths < 100 && tenths % 10 != 0 ? "\(tenths / 10).\(tenths % 10)" : "\((tenths + 5) / 10)"
    return "\(digits) \(units.first ?? "")"
  }
}
