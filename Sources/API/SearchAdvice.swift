import AggregatorKit
package import AggregatorQueries
package import AggregatorSelection
import AggregatorTerminal

/// Advice after a search without matches.
package struct SearchAdvice: Sendable {
  /// The fields that were searched; none if the service was, which searches what it likes.
  package let searched: [FieldEntry]
  /// Of each other field that has the words as a value, a facet of this value alone.
  package let filters: [Facet]

  /// The words of a query, without quotes around them.
  static func value(of query: SearchQuery) -> String {
    String(query.text.unicodeScalars.filter { !$0.isQuotationMark })
  }

  /// The searched fields in words, by their labels or another property.
  package func words(_ name: (FieldEntry) -> String) -> [String] {
    searched.isEmpty ? [] : ["searched: \(searched.map(name).joined(separator: ", "))"]
  }

  /// The advice for programs; `nil` without any.
  func warning(of noun: RecordNoun) -> Warning? {
    let filters = filters.flatMap(\.values).map { value in
      "where=\(value.condition) has \(noun.count(value.count))"
    }
    let words = words(\.id) + filters
    return words.isEmpty ? nil : Warning(.noMatches, words.joined(separator: "; "))
  }
}
