package import AggregatorFilters
package import AggregatorKit
import AggregatorTerminal

// Filters in SQL alone, as people write them, without the function `matches`.

extension TypedCondition {
  /// The condition in SQL that every store understands as a filter does; `nil` if there is none.
  package func plainSQL(of kind: FieldKind) -> String? {
    let isText = kind == .text
    guard isText || [.integer, .number, .bool].contains(kind) else { return nil }
    let literals = values.compactMap { Self.literal($0, kind) }
    guard literals.count == values.count else { return nil }
    let column = field.sqlSpelling
    let list = literals.filter { !$0.isEmpty }.joined(separator: ", ")
    switch test {
    case .compare(.equal, ""): return Self.isEmpty(column, kind)
    case .compare(.notEqual, ""):
      return isText ? "coalesce(\(column), '') <> ''" : "\(column) IS NOT NULL"
    case .compare(.equal, _): return "\(column) = \(list)"
    case .compare(.notEqual, _): return "(\(column) <> \(list) OR \(column) IS NULL)"
    case .oneOf(let values) where !values.contains(""): return "\(column) IN (\(list))"
    case .compare(let comparison, _)
    where comparison != .contains && !isText && kind != .bool && !list.isEmpty:
      return "\(column) \(comparison.rawValue) \(list)"
    case .range(let low, let high) where !isText && kind != .bool && !low.isEmpty && !high.isEmpty:
      return "\(column) BETWEEN \(low) AND \(high)"
    case .compare, .oneOf, .range, .pattern: return nil
    }
  }

  private static func isEmpty(_ column: String, _ kind: FieldKind) -> String {
    kind == .text ? "coalesce(\(column), '') = ''" : "\(column) IS NULL"
  }

  /// `nil` if values of the kind are not compared with the text as databases compare them; empty for an empty text.
  private static func literal(_ text: String, _ kind: FieldKind) -> String? {
    guard !text.isEmpty else { return "" }
    switch kind {
    case .integer, .number:
      let isPlain = text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?/) != nil && text.utf8.count <= 15
      return isPlain ? text : nil
    case .bool:
      return ["true": "true", "yes": "true", "false": "false", "no": "false"][text.lowercased()]
    case .text:
      // Dates are periods, 1.5 is 1.50, and letters beyond ASCII may have several spellings.
      let isPeriod = Period(recorded: text) != nil || Period(words: text, at: .now) != nil
      return isPeriod || Numeral(text) != nil || !text.utf8.allSatisfy { 0x20..<0x7F ~= $0 }
        ? nil : text.sqlText
    case .list, .any: return nil
    }
  }

  /// Conditions in SQL that usually select the same records, the shortest first.
  ///
  /// Only the values of a table tell which of them do: whether each `é` is one character, or all dates have one format.
  var likelySQL: [String] {
    let column = field.sqlSpelling
    let days = values.map(\.days)
    let (first, last) = (days.first ?? nil, days.last ?? nil)
    func within(_ start: String?, _ end: String?) -> String? {
      start.flatMap { start in end.map { "(\(column) >= \(start) AND \(column) < \($0))" } }
    }
    let found: [String?] =
      switch test {
      case .compare(_, ""), .pattern: []
      case .compare(.equal, let value):
        ["\(column) = \(value.sqlText)", within(first?.start, first?.end)]
      case .compare(.notEqual, let value):
        [
          "(\(column) <> \(value.sqlText) OR \(column) IS NULL)",
          within(first?.start, first?.end).map { "\($0) IS NOT TRUE" },
        ]
      case .compare(.contains, let value):
        value.contains(where: "%_".contains) ? [] : ["\(column) LIKE \("%\(value)%".sqlText)"]
      case .compare(let comparison, let value):
        [
          "\(column) \(comparison.rawValue) \(value.sqlText)",
          first.map { days in
            switch comparison {
            case .greater: "\(column) >= \(days.end)"
            case .lessOrEqual: "\(column) < \(days.end)"
            default: "\(column) \(comparison.rawValue) \(days.start)"
            }
          },
        ]
      case .range(let low, let high):
        [
          "\(column) BETWEEN \(low.sqlText) AND \(high.sqlText)",
          within(first?.start, last?.end),
        ]
      case .oneOf(let values):
        [Self.isOne(of: values, column)]
      }
    return found.compactMap(\.self)
  }

  private static func isOne(of values: [String], _ column: String) -> String? {
    let present = values.filter { !$0.isEmpty }
    guard !present.isEmpty else { return nil }
    let list = "\(column) IN (\(present.map(\.sqlText).joined(separator: ", ")))"
    return present.count == values.count ? list : "(\(list) OR \(isEmpty(column, .text)))"
  }
}

extension String {
  /// The first day of the period that this text names, and the first one after it, as literals in SQL; `nil` for any other
  /// text, and for parts of a day.
  fileprivate var days: (start: String, end: String)? {
    guard let period = Period(recorded: self) ?? Period(words: self, at: .now),
      [period.start, period.end].allSatisfy({ $0.remainder(dividingBy: 86_400) == 0 })
    else { return nil }
    func day(_ time: Double) -> String {
      String(Date(timeIntervalSince1970: time).iso8601.prefix(10)).sqlText
    }
    return (day(period.start), day(period.end))
  }
}

extension ServedSQL {
  /// The most values that are compared to simplify a query.
  private static let mostCompared = 400_000

  /// The query of a list, in which conditions with `matches` are written without it, as people do, where that selects the same
  /// records of the table as it is now; unchanged for a table with too many of them.
  package func simplified(_ text: String, of source: any ServedSource) async -> String {
    let found = text.matches(of: /matches\((?:"((?:[^"]|"")+)"|(\w+)), '((?:[^']|'')*)'\)/)
    // None of them is part of a value.
    guard found.count == text.matches(of: /matches\(/).count else { return text }
    var likely: [String: [String]] = [:]
    for match in found {
      let quoted = match.1.map { String($0).replacing("\"\"", with: "\"") }
      let field = quoted ?? match.2.map { String($0) } ?? ""
      let test = String(match.3).replacing("''", with: "'")
      let filter = try? TypedFilter("\(field.asField) \(test)")
      likely[String(match.0)] = filter?.conditions.first?.likelySQL
    }
    let pairs = likely.flatMap { exact, plain in plain.map { (plain: $0, exact: exact) } }
    guard !pairs.isEmpty, let count = await source.recordCount(),
      count * pairs.count <= Self.mostCompared
    else { return text }
    let differences: [String] = pairs.map { pair in
      "max((\(pair.plain)) IS TRUE <> ((\(pair.exact)) IS TRUE))"
    }
    let comparison =
      "SELECT \(differences.joined(separator: ", ")) FROM \(source.name.sqlSpelling)"
    guard let row = try? await answer(to: comparison).get().rows.first else { return text }
    var simple = text
    // The first way to write one that selects the same takes its place, so that no other one finds it.
    for (pair, difference) in zip(pairs, row) where difference == .integer(0) {
      simple = simple.replacing(pair.exact, with: pair.plain)
    }
    return simple
  }
}
