import AggregatorCore
import AggregatorFoundation

@testable import AggregatorFilters

/// A record with a field of each kind.
struct Thing: SourceRecord {
  var id: Int
  var text: String?
  var number: Double?
  var list: [String] = []
  var bool: Bool?

  /// The time 2026-03-01T10:00:00Z.
  static let now = Date(timeIntervalSince1970: 1_772_359_200)

  static let fields: [Field<Thing>] = [
    Field("id", "ID", \.id, about: ""), Field("text", "Text", \.text, about: ""),
    Field("number", "Number", \.number, about: ""), Field("list", "List", \.list, about: ""),
    Field("bool", "Bool", \.bool, about: ""),
  ]

  func matches(_ filter: String) throws -> Bool { try Filter(filter).matches(self) }
}

extension Filter<Thing> {
  init(_ text: String) throws { try self.init(try TypedFilter(text), Thing.fields, at: Thing.now) }
}
