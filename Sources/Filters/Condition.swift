package import AggregatorCore
package import AggregatorFoundation
import AggregatorText

/// A condition on a field of records: `publisher=Marvel`.
package struct Condition<Item>: Sendable {
  private enum Test: Sendable {
    case compare(Comparison, Operand)
    case oneOf([Operand])
    case range(Operand, Operand)
    case pattern(Pattern)
  }

  package let field: Field<Item>
  private let test: Test
  /// The operands with which values are compared by their order: kept, as each value of a list asks for them.
  private let bounds: [Operand]

  package init(
    _ typed: TypedCondition, _ fields: [Field<Item>], at now: Date
  ) throws(FilterError) {
    field = try fields.field(of: typed)
    switch typed.test {
    case .compare(let comparison, let value):
      guard !value.isEmpty || comparison.acceptsEmpty else {
        throw FilterError(
          "missing value after \"\(typed.field)\(comparison.rawValue)\"",
          hint:
            "write \(field.name.asField)= for records without a value, \(field.name.asField)!= for all others"
        )
      }
      guard
        !comparison.isOrder || typed.isQuoted || !fields.contains(where: { $0.name == value })
      else {
        throw FilterError(
          "a filter cannot compare two fields: \"\(value)\" is one",
          hint:
            "a query in SQL can: WHERE \(field.name) \(comparison.rawValue) \(value); quote a text")
      }
      test = .compare(comparison, try field.operand(value, for: comparison, at: now))
    case .oneOf(let values):
      var operands: [Operand] = []
      for value in values { operands.append(try field.operand(value, for: .equal, at: now)) }
      test = .oneOf(operands)
    case .range(let low, let high):
      if field.kind.isNumeric, let remedy = field.remedy(forRange: low, high) {
        throw FilterError(
          "invalid range \(low)..\(high) for field \"\(field.name)\": must be of numbers",
          hint: remedy)
      }
      let operands = (
        try field.operand(low, for: .greaterOrEqual, at: now),
        try field.operand(high, for: .lessOrEqual, at: now)
      )
      guard !operands.0.isAbove(operands.1) else {
        throw FilterError(
          "no value of \"\(typed.field)\" is from \(low) to \(high)",
          hint: "write \(typed.field.asField) in \(high)..\(low)")
      }
      test = .range(operands.0, operands.1)
    case .pattern(let text, let ignoresCase):
      test = .pattern(try Pattern(text, ignoringCase: ignoresCase))
    }
    bounds =
      switch test {
      case .compare(let comparison, let operand) where comparison.isOrder: [operand]
      case .range(let low, let high): [low, high]
      case .compare, .oneOf, .pattern: []
      }
  }

  /// Fails with code `invalidRequest` if a record has a date where the condition compares with another text.
  package func check(_ item: Item) throws(SourceError) {
    if bounds.contains(where: { !$0.isPeriod }) { try check(field[item]) }
  }

  package func check(_ value: JSON) throws(SourceError) {
    guard let operand = bounds.first(where: { !$0.isPeriod }) else { return }
    for case .string(let text) in value.present where Period(recorded: text)?.isDate == true {
      throw misfit(operand, CommonKind.date.requirement ?? "")
    }
  }

  /// True if the condition compares values by their order, so that it is false for those of another kind.
  package var comparesOrder: Bool { !bounds.isEmpty }

  /// Counts the values of records that have this one.
  package func add(_ value: JSON, of records: Int = 1, to values: inout ComparedValues) {
    for value in value.present {
      values.count += records
      if bounds.contains(where: { $0.order(of: value) == nil }) {
        values.skipped += records
      }
    }
  }

  /// A warning if values are neither above nor below that of the condition.
  package func warning(of values: ComparedValues) -> Warning? {
    guard values.skipped > 0, let bound = bounds.first(where: { !$0.ordersTexts }) ?? bounds.first
    else { return nil }
    let kind =
      bound.ordersTexts
      ? "text" : bound.number == nil ? "dates" : bound.isPeriod ? "numbers or dates" : "numbers"
    let all = values.count.of("value")
    return Warning(
      .incomparable,
      "\(values.skipped) of \(all) of \"\(field.name)\" cannot be compared as \(kind)")
  }

  private func misfit(_ operand: Operand, _ requirement: String) -> SourceError {
    let meant: String? =
      switch test {
      case .compare(let comparison, _): field.remedy(for: operand, comparison)
      case .range(let low, let high): field.remedy(forRange: low.text, high.text)
      case .oneOf, .pattern: nil
      }
    return SourceError(
      .invalidRequest,
      "invalid value \"\(operand.text.oneLine(atMost: 80))\" for field \"\(field.name)\": must be \(requirement)",
      remedy: operand.text.missingJoint != nil
        ? "join conditions by \"and\""
        : operand.text.contains("..")
          ? Remedy("write \(field.name.asField) in \(operand.text.oneLine(atMost: 80))")
          : (meant ?? operand.text.dateOfDots.map { "write the date as \($0)" }).map { Remedy($0) })
  }

  /// Fails with code `invalidRequest` if all values are numbers, dates, or true or false, and the condition compares them
  /// with a value that is none.
  ///
  /// - Parameter kind: That of all records, as one value of another kind is reason enough for the text.
  package func check(all kind: CommonKind) throws(SourceError) {
    let operand = operands.first { operand in
      switch kind {
      case .none, .mixed: false
      case .number: operand.number == nil
      case .bool: operand.bool == nil
      case .date: !operand.isPeriod
      }
    }
    guard let operand, let requirement = kind.requirement else { return }
    throw misfit(operand, requirement)
  }

  /// The operands that are compared as values of a kind.
  private var operands: [Operand] {
    switch test {
    case .compare(.equal, let operand), .compare(.notEqual, let operand):
      operand.text.isEmpty ? [] : [operand]
    case .oneOf(let operands): operands.filter { !$0.text.isEmpty }
    case .compare, .range, .pattern: bounds
    }
  }

  /// True if it tells other records at another time.
  package var isRelative: Bool {
    switch test {
    case .compare(_, let operand): operand.isRelative
    case .oneOf(let operands): operands.contains(where: \.isRelative)
    case .range, .pattern: bounds.contains(where: \.isRelative)
    }
  }

  /// True if ``check(all:)`` may fail.
  package var needsAllValues: Bool {
    switch field.kind {
    case .any: !operands.isEmpty
    case .text: operands.contains { !$0.isPeriod }
    case .integer, .number, .bool, .list: false
    }
  }

  /// The value nearest to the text of the condition, among those of records and one that was found before; of a text
  /// like `EU or AS` or `EU,AS`, which is one value, the condition with a list if a record has one of them.
  ///
  /// The condition that is meant by one in another notation, such as `F*`, which no record meets.
  package func nearMiss(in items: [Item], or best: String?) -> String? {
    let values = items.lazy.flatMap { field[$0].present.map(\.cell) }
    func list(of parts: [String]) -> String? {
      guard parts.count > 1, !parts.contains(where: { $0.contains(/[,()]/) }) else { return nil }
      let list = "\(field.name.asField) in (\(parts.joined(separator: ", ")))"
      return best == list || values.contains(where: parts.contains) ? list : nil
    }
    if case .oneOf(let operands) = test {
      let words = operands.flatMap { $0.text.split(whereSeparator: \.isWhitespace) }
      return words.count > operands.count ? list(of: words.map(String.init)) : nil
    }
    guard case .compare(let comparison, let operand) = test else { return nil }
    // A code such as 007.
    if comparison == .equal, operand.number != nil {
      return best
        ?? items.lazy.flatMap { field[$0].present }.first { operand.order(of: $0) == .equal }?.cell
    }
    guard operand.isText else { return nil }
    if let joint = operand.text.missingJoint {
      let parts = [operand.text[..<joint], operand.text[joint...]].map { String($0).trimmed }
      let text = "\(field.name.asField)\(comparison.rawValue)\(parts.joined(separator: " and "))"
      return (try? TypedFilter(text)) == nil ? nil : text
    }
    guard [Comparison.equal, .contains].contains(comparison) else { return nil }
    if let pattern = operand.text.patternOfWildcards {
      return "\(field.name.asField)~/\(pattern)/i"
    }
    guard comparison == .equal else { return nil }
    if ["nil", "none", "null"].contains(operand.text.lowercased()) {
      return "\(field.name.asField)="
    }
    let parts = operand.text.split(separator: /(?i) or |\s*[,|]\s*/).map(String.init)
    if let list = list(of: parts) { return list }
    return nearest(to: operand.text, in: (best.map { [$0] } ?? []) + values)
  }

  /// The different values of the field in records, and those found before, if the condition wants another one; `nil` if
  /// they are too many or too long to be listed.
  package func values(in items: [Item], and known: Set<String>?) -> Set<String>? {
    guard let known, case .compare(.equal, let operand) = test, operand.isText else { return nil }
    let values = known.union(items.lazy.flatMap { field[$0].present.map(\.cell) })
    return values.count <= 12 && values.allSatisfy { $0.utf8.count <= 24 } ? values : nil
  }

  package func matches(_ item: Item) -> Bool { matches(field[item]) }

  package func matches(_ value: JSON) -> Bool { matches(value, until: { false }) ?? false }

  /// `nil` if `isOver` became true during the search for a pattern.
  func matches(_ value: JSON, until isOver: () -> Bool) -> Bool? {
    let values = value.present
    switch test {
    case .compare(.equal, let operand): return operand.isEqual(to: values)
    case .compare(.notEqual, let operand): return !operand.isEqual(to: values)
    case .compare(.contains, let operand):
      return values.contains(where: operand.isContained)
    case .compare(let comparison, let operand):
      return values.contains { operand.order(of: $0).map(comparison.accepts) ?? false }
    case .oneOf(let operands): return operands.contains { $0.isEqual(to: values) }
    case .range(let low, let high):
      return values.contains { value in
        guard let first = low.order(of: value), let last = high.order(of: value) else {
          return false
        }
        return first != .below && last != .above
      }
    case .pattern(let pattern):
      for value in values {
        guard let isMatch = pattern.matches(value.cell, until: isOver) else { return nil }
        if isMatch { return true }
      }
      return false
    }
  }
}

extension Comparison {
  /// The comparison with the sides exchanged.
  fileprivate var reversed: Comparison {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .equal, .notEqual, .contains: self
    }
  }

  var isOrder: Bool { !acceptsEmpty && self != .contains }

  fileprivate var acceptsEmpty: Bool { self == .equal || self == .notEqual }

  fileprivate func accepts(_ order: Operand.Order) -> Bool {
    switch self {
    case .less: order == .below
    case .lessOrEqual: order != .above
    case .greater: order == .above
    case .greaterOrEqual: order != .below
    case .equal, .notEqual, .contains: false
    }
  }
}

extension Field {
  /// The notation that is meant by a null of other languages, a decimal comma, a surplus parenthesis or words for a date,
  /// and the number of a date in Unix time.
  fileprivate func remedy(for operand: Operand, _ comparison: Comparison) -> String? {
    let (name, value) = (name.asField, operand.text)
    if comparison.isOrder, let seconds = operand.seconds {
      return "if it is Unix time, write \(name)\(comparison.rawValue)\(seconds)"
    }
    if let match = value.wholeMatch(of: /(?i)(?:last|past) (?:(\d{1,4}) )?(day|week|month|year)s?/)
    {
      return
        "write \(name)\(comparison.rawValue)\(match.1 ?? "1") \(match.2)\(match.1 == nil ? "" : "s") ago"
    }
    if ["null", "nil", "none"].contains(value.lowercased()), !comparison.isOrder {
      let isEqual = comparison == .equal
      return "write \(name)\(isEqual ? "=" : "!="), which matches records "
        + (isEqual ? "without a value" : "with a value")
    }
    if let number = value.decimalComma { return "write \(name)\(comparison.rawValue)\(number)" }
    if let match = value.wholeMatch(of: /([^()\s]+)\)+/) {
      return "no ( before ): write \(name)\(comparison.rawValue)\(match.1)"
    }
    return nil
  }

  /// The range that is meant by one of numbers with decimal commas.
  fileprivate func remedy(forRange low: String, _ high: String) -> String? {
    let bounds = [low, high].map { $0.decimalComma ?? $0 }
    return bounds == [low, high] ? nil : "write \(name.asField) in \(bounds[0])..\(bounds[1])"
  }

  /// The operand of a comparison with values of the field; empty for a missing value.
  fileprivate func operand(
    _ value: String, for comparison: Comparison, at now: Date
  ) throws(FilterError) -> Operand {
    let operand = Operand(value, at: now)
    func invalid(_ requirement: String, _ example: String? = nil) -> FilterError {
      FilterError(
        "invalid value \"\(value)\" for field \"\(name)\": must be \(requirement)",
        hint: example.map {
          if let remedy = remedy(for: operand, comparison) { return remedy }
          return value.missingJoint != nil
            ? "join conditions by \"and\""
            : value.contains("..")
              ? "write \(name.asField) in \(value)" : "such as \(name.asField)\($0)"
        })
    }
    func refused(by kind: String, _ accepted: String) -> FilterError {
      FilterError(
        "\(comparison.rawValue) cannot be used with the \(kind) field \"\(name)\"",
        hint: "use \(accepted)")
    }
    guard !value.isEmpty else { return operand }
    switch (kind, comparison) {
    case (_, .contains):
      guard !operand.folded.text.isEmpty else { throw invalid("text to search for") }
    case (.integer, _), (.number, _):
      guard operand.number != nil else { throw invalid("a number", ">10") }
    case (.bool, .equal), (.bool, .notEqual):
      guard operand.bool != nil else { throw invalid("true or false (or yes or no)", "=true") }
    case (.bool, _): throw refused(by: "true-or-false", "= or !=")
    case (.list, .equal), (.list, .notEqual): break
    case (.list, _): throw refused(by: "list", "=, != or ~")
    case (.text, _), (.any, _): break
    }
    return operand
  }
}

extension String {
  /// The index of the space before a condition that nothing joins to this value: `EU name~land`.
  fileprivate var missingJoint: Index? {
    firstMatch(of: /\s\w+\s?(?:[!<>]?=|[~<>])/)?.range.lowerBound
  }

  /// The number `4.5` of `4,5`; `nil` for another text, and for `1,500`, which may be a larger number.
  fileprivate var decimalComma: String? {
    wholeMatch(of: /([+-]?\d+),(\d{1,2}|\d{4,})/).map { "\($0.1).\($0.2)" }
  }

  /// A date such as 1.2.2020 in the form of conditions, 2020-02-01; `nil` for another text.
  fileprivate var dateOfDots: String? {
    guard let match = wholeMatch(of: /(\d?\d)\.(0?[1-9]|1[0-2])\.(\d{4})/) else { return nil }
    return "\(match.3)-\("0\(match.2)".suffix(2))-\("0\(match.1)".suffix(2))"
  }

  /// The regular expression of a text with a wildcard or an anchor at an end: `^F` for `F*`; `nil` for another text.
  fileprivate var patternOfWildcards: String? {
    guard let match = wholeMatch(of: /([*%^]?)([\w ]+)([*%$]?)/), (match.1 + match.3) != "" else {
      return nil
    }
    let isAnchored = match.1 == "^" || match.3 == "$"
    return isAnchored
      ? self : "\(match.1.isEmpty ? "^" : "")\(match.2)\(match.3.isEmpty ? "$" : "")"
  }
}

extension String {
  /// The name of the field that a path of other notations means: `owner.login` for `$.owner.login` and `owner["login"]`, and
  /// the name in single quotes.
  fileprivate var memberPath: String {
    let path = replacing(/\[(?:"([^"]*)"|'([^']*)'|[0-9*]*)\]/) { match in
      (match.1 ?? match.2).map { ".\($0)" } ?? ""
    }
    let name = String(path.trimmingPrefix(/\$?\.|\$(?=.)/))
    return name.wholeMatch(of: /'(.+)'/).map { String($0.1) } ?? name
  }
}

extension Array {
  /// The field of a condition; for `20<age` the error names the condition that is meant.
  fileprivate func field<Item>(of typed: TypedCondition) throws(FilterError) -> Field<Item>
  where Element == Field<Item> {
    let names = map(\.name)
    if case .compare(let comparison, let value) = typed.test,
      let name = value.split(separator: " ").first.map(String.init), names.contains(name),
      nearest(to: typed.field, in: names) == nil
    {
      let rest = String(value.dropFirst(name.count)).trimmed
      throw FilterError(
        "unknown field \"\(typed.field)\"",
        suggestion: "\(name)\(comparison.reversed.rawValue)\(typed.field)"
          + (rest.isEmpty ? "" : " and \(name) \(rest)"), hint: "the field comes first")
    }
    return try field(named: typed.field)
  }

  /// Errors name the nearest field.
  package func field<Item>(named name: String) throws(FilterError) -> Field<Item>
  where Element == Field<Item> {
    guard let field = first(where: { $0.name == name }) else {
      // A column of groups of dates has the unit in its name.
      let members = map(\.name).filter {
        $0.hasPrefix("\(name).") || $0.hasPrefix("\(name):") || $0.hasSuffix(".\(name)")
      }
      // `avg(points)`, as in SQL.
      let start = name.firstIndex(of: "(").map(name.index(after:)) ?? name.startIndex
      var meant = String(name[start...].prefix { $0 != ")" })
      if ["avg", "average"].contains(meant) { meant = "mean" }
      let parts = name.split { $0 == " " || $0 == ";" }.map(String.init)
      let path = name.memberPath
      // The beginning of one name: `reg` for `region`.
      let begun = map(\.name).filter { meant.count > 1 && $0.hasPrefix(meant) }
      let areFields = parts.count > 1 && parts.allSatisfy { part in contains { $0.name == part } }
      throw FilterError(
        "unknown field \"\(name)\"",
        suggestion: areFields
          ? parts.joined(separator: ",")
          : path != name && contains { $0.name == path }
            ? path
            : members.isEmpty
              ? nearest(to: meant, in: map(\.name)) ?? (begun.count == 1 ? begun[0] : nil)
              : members.count == 1 ? members[0] : nil,
        hint: members.count > 1
          ? "similar fields: \(members.shortened)" : "available fields: \(map(\.name).shortened)")
    }
    return field
  }
}

extension [String] {
  /// The names; the first of very many.
  fileprivate var shortened: String {
    guard count > 30 else { return joined(separator: ", ") }
    return "\(prefix(20).joined(separator: ", ")) and \(count - 20) more"
  }
}

/// The number of values that a condition was compared with, and of those that it has no order for.
package struct ComparedValues: Sendable {
  fileprivate var count = 0
  fileprivate var skipped = 0

  package init() {}
}

/// The kind that the values of a field have in common.
package enum CommonKind: Sendable {
  /// That of no values.
  case none
  case number, date, bool
  /// Texts, or values of several kinds.
  case mixed

  package init(of values: some Sequence<JSON>) {
    self = .none
    for value in values {
      add(value)
      if self == .mixed { return }
    }
  }

  package mutating func add(_ value: JSON) {
    guard self != .mixed else { return }
    for value in value.present {
      let kind: CommonKind =
        switch value {
        case .integer, .number: .number
        case .bool: .bool
        case .string(let text): Period(recorded: text)?.isDate == true ? .date : .mixed
        case .null, .array, .object: .mixed
        }
      self = self == .none || self == kind ? kind : .mixed
    }
  }

  fileprivate var requirement: String? {
    switch self {
    case .none, .mixed: nil
    case .number: "a number such as 10, -0.5 or 1e3"
    case .date:
      "a date such as 2026, 2026-11, 2026-11-22, yesterday or 7d ago (in s, m, h, d, w, months or y)"
    case .bool: "true or false (or yes or no)"
    }
  }
}

extension Warning.Code {
  /// A filter cannot compare some values.
  package static let incomparable = Warning.Code("incomparable")
}
