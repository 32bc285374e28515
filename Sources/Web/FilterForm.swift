import AggregatorAPI
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorServer

/// What was typed into the form of a filter.
struct FilterForm {
  let field: String
  private let comparison: String
  private let value: String
  private let end: String

  /// How people compare values of these kinds; ``condition(of:)`` knows the names.
  static let comparisons: [(name: String, words: String, kinds: [ValueKind])] = [
    ("=", "is", [.text, .number, .date, .bool, .list, .any]),
    ("!=", "is not", [.text, .number, .list, .any]),
    (oneOf, "is one of", [.text, .number, .list, .any]),
    ("~", "contains", [.text, .list, .any]),
    (">=", "is at least", [.number, .any]), ("<=", "is at most", [.number, .any]),
    ("<", "is before", [.date]), (">", "is after", [.date]),
    (between, "is between", [.number, .date]),
    (empty, "is empty", [.text, .number, .date, .bool, .list, .any]),
    (present, "is not empty", [.text, .number, .date, .bool, .list, .any]),
  ]

  static let between = "between"
  private static let oneOf = "in"
  private static let empty = "empty"
  private static let present = "present"

  /// `nil` for a request that the form did not send.
  init?(_ request: ServerRequest) {
    guard let field = request.parameter("field") else { return nil }
    self.field = field
    comparison = request.parameter("operator") ?? "="
    value = request.parameter("value") ?? ""
    end = request.parameter("to") ?? ""
  }

  /// The condition, as for `--where`.
  func condition(of kind: ValueKind) throws(Problem) -> String {
    switch comparison {
    case Self.empty: return try condition("=", "")
    case Self.present: return try condition("!=", "")
    case Self.between:
      let range = TypedCondition.Test.range(try exact(value, kind), try exact(end, kind))
      return TypedCondition(field, range).quoted
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
