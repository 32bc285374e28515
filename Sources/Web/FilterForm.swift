import AggregatorAPI
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorServer

/// The input typed into the form of a filter.
struct FilterForm {
  let field: String
  let comparison: String
  /// Several values are divided by commas, or by semicolons where they contain commas.
  let value: String?
  let end: String
  /// The values that were chosen of those that there are.
  private let choices: [String]

  /// How people compare values of these kinds; ``condition(of:)`` knows the names.
  static let comparisons: [(name: String, words: String, kinds: [ValueKind])] = [
    ("=", "is", [.text, .number, .date, .bool, .list, .any]),
    ("!=", "is not", [.text, .number, .list, .any]),
    (oneOf, "is one of", [.text, .number, .list, .any]),
    ("~", "contains", [.text, .list, .any]),
    (">=", "is at least", [.number, .any]), ("<=", "is at most", [.number, .any]),
    (">", "is above", [.number, .any]), ("<", "is below", [.number, .any]),
    ("<", "is before", [.date]), (">", "is after", [.date]),
    (between, "is between", [.number, .date]), (betweenBelow, "is from … to below", [.number]),
    (empty, "is empty", [.text, .number, .date, .bool, .list, .any]),
    (present, "is not empty", [.text, .number, .date, .bool, .list, .any]),
  ]

  private static let between = "between"
  /// Without the end of the range, as histograms have it.
  private static let betweenBelow = "between-below"
  private static let oneOf = "in"
  private static let empty = "empty"
  private static let present = "present"

  /// `nil` for a request that the form did not send.
  init?(_ request: ServerRequest) {
    guard let field = request.parameter("field") else { return nil }
    self.field = field
    comparison = request.parameter("operator") ?? "="
    value = request.parameter("value")
    end = request.parameter("to") ?? ""
    choices = request.query.filter { $0.name == "choice" }.map(\.value)
  }

  /// The form as it is filled in for filters that must all hold; `nil` if it cannot make them.
  init?(_ filters: [TypedFilter], _ kinds: [String: ValueKind]) {
    guard case .condition(let condition)? = filters.first else { return nil }
    let values = filters.flatMap(\.conditions).flatMap(\.values)
    var (comparison, value, end) = (Self.oneOf, values[0], "")
    switch condition.test {
    case .compare(.greaterOrEqual, _) where filters.count == 2:
      guard case .condition(let upper) = filters[1], case .compare(let symbol, _) = upper.test
      else { return nil }
      comparison = symbol == .less ? Self.betweenBelow : Self.between
      end = values[1]
    case _ where filters.count > 1: return nil
    case .compare(.equal, ""): comparison = Self.empty
    case .compare(.notEqual, ""): comparison = Self.present
    case .compare(let symbol, _): comparison = symbol.rawValue
    case .range: (comparison, end) = (Self.between, values[1])
    case .pattern: return nil
    case .oneOf:
      let hasCommas = values.contains { $0.contains(",") }
      guard !values.contains(where: { $0.contains(";") || $0.isEmpty }) else { return nil }
      value = values.joined(separator: hasCommas ? "; " : ", ")
      if hasCommas, values.count == 1 { value += ";" }
    }
    let kind = kinds[condition.field] ?? .any
    let isOffered = Self.comparisons.contains { $0.name == comparison && $0.kinds.contains(kind) }
    guard isOffered else { return nil }
    (field, choices) = (condition.field, [])
    (self.comparison, self.value, self.end) = (comparison, value, end)
  }

  /// The condition, as for `--where`; `nil` if none of the values that there are was chosen.
  func condition(of kind: ValueKind) throws(Problem) -> String? {
    let value = value ?? ""
    switch comparison {
    case Self.oneOf where self.value == nil:
      let set = try choices.map { value throws(Problem) in try exact(value, kind) }
      return set.isEmpty ? nil : TypedCondition(field, .oneOf(set)).quoted
    case Self.empty: return try condition("=", "")
    case Self.present: return try condition("!=", "")
    case Self.between:
      let range = TypedCondition.Test.range(try exact(value, kind), try exact(end, kind))
      return TypedCondition(field, range).quoted
    case Self.betweenBelow:
      return try condition(">=", exact(value, kind)) + " and " + condition("<", exact(end, kind))
    case Self.oneOf:
      // The thousands of a number are no values.
      let separator: Character = value.contains(";") ? ";" : ","
      let values = value.split(separator: separator).map(\.trimmed).filter { !$0.isEmpty }
      let set = try (values.isEmpty ? [""] : values).map { value throws(Problem) in
        try exact(value, kind)
      }
      return TypedCondition(field, .oneOf(set)).quoted
    case "~": return try condition(comparison, value)
    default: return try condition(comparison, value.isEmpty ? "" : try exact(value, kind))
    }
  }

  private func condition(_ symbol: String, _ value: String) throws(Problem) -> String {
    guard let condition = TypedCondition(field, operator: symbol, value) else {
      throw Problem(400, "invalidRequest", "invalid value for operator")
    }
    return condition.quoted
  }

  private func exact(_ text: String, _ kind: ValueKind) throws(Problem) -> String {
    guard !text.isEmpty, let value = kind.value(typed: text) else {
      throw Problem(
        400, "invalidRequest",
        "invalid value \"\(text.oneLine(atMost: 80))\" for field \"\(field.oneLine(atMost: 80))\": must be \(kind.requirement)"
      )
    }
    return value
  }
}
