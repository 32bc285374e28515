package import AggregatorKit
import AggregatorTerminal

/// The kind of the values of a field as records have them, because services rarely declare it.
package enum ValueKind: String, Sendable {
  case text, number, date, bool, list
  /// Values of several kinds, or none that is known.
  case any

  package init<Item>(of field: Field<Item>, in items: [Item]) {
    switch field.kind {
    case .integer, .number: self = .number
    case .bool: self = .bool
    case .list: self = .list
    case .text, .any:
      let values = items.lazy.map { field[$0] }.filter { $0 != JSON.null && $0 != "" }
      let kinds = Set(values.map { ValueKind($0) })
      let isText = field.kind == .text || kinds == [.text, .date]
      self = (kinds.count == 1 ? kinds.first : nil) ?? (isText ? .text : .any)
    }
  }

  private init(_ value: JSON) {
    switch value {
    case .integer, .number: self = .number
    case .bool: self = .bool
    case .string(let text): self = Period(recorded: text)?.isDate == true ? .date : .text
    case .array: self = .list
    case .null, .object: self = .any
    }
  }

  /// A value that a person typed, as conditions have it: `20000` of `20,000`, `true` of `yes`; `nil` if it is not of this kind.
  package func value(typed text: String) -> String? {
    switch self {
    case .text, .list, .any: return text
    case .number:
      let isGrouped = text.wholeMatch(of: /-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?/) != nil
      let number = isGrouped ? text.replacing(",", with: "") : text
      return number.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?/) == nil ? nil : number
    case .date: return Period(recorded: text) == nil ? nil : text
    case .bool: return ["yes": "true", "no": "false", "true": "true", "false": "false"][text]
    }
  }

  /// The requirement of ``value(typed:)``: `a number`.
  package var requirement: String {
    switch self {
    case .text, .list, .any: "a text"
    case .number: "a number"
    case .date: "a date such as 2026, 2026-11 or 2026-11-22"
    case .bool: "yes or no"
    }
  }

  /// The two orders of the values, ascending and descending: `oldest first`.
  package var orders: (ascending: String, descending: String) {
    switch self {
    case .text, .list: ("A to Z", "Z to A")
    case .number: ("smallest first", "largest first")
    case .date: ("oldest first", "newest first")
    case .bool: ("no first", "yes first")
    case .any: ("ascending", "descending")
    }
  }
}

/// Kinds and decimals of the values of some records, by the names of their fields.
package struct FieldSample: Sendable {
  package var kinds: [String: ValueKind] = [:]
  /// The number of decimals of each number of a field: as many as one of them needs.
  package private(set) var decimals: [String: Int] = [:]
  /// More decimals are those of quotients.
  package static let maxDecimals = 8
  /// The fields whose values are numbers, some of them as texts, such as IDs.
  package var numerals: Set<String> = []
  /// The fields whose values are few and repeat, so that a value selects several records.
  package var repeated: Set<String> = []
  /// True if most of the first cached records have a picture; `nil` if none is cached.
  package var hasPictures: Bool?

  package init() {}

  /// The kind by which the values of a field are sorted.
  package func orderKind(of field: String) -> ValueKind {
    numerals.contains(field) ? .number : kinds[field] ?? .any
  }

  package mutating func add(_ value: JSON, of field: String) {
    guard value.isNumber else { return }
    decimals[field] = max(decimals[field] ?? 0, value.decimals(atMost: Self.maxDecimals))
  }
}

extension [Bool] {
  /// True if more than half of these are.
  package var areMostlyTrue: Bool { count(where: \.self) * 2 > count }
}
