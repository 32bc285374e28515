import AggregatorText

/// Parses a ``TypedFilter`` by recursive descent.
struct FilterParser {
  /// In Unicode scalars.
  static let maxLength = 10_000
  /// Of parentheses.
  private static let maxDepth = 50

  private let text: String
  // By scalars, as a sign is part of a larger character if a combining one is beside it.
  private let scalars: [Unicode.Scalar]
  private var index = 0
  /// The number of open parentheses.
  private var groups = 0
  /// The number of scalars before what was typed.
  private let given: Int

  init(_ text: String, on field: String? = nil) throws(FilterError) {
    self.text = text
    let name = field.map { "\($0) " } ?? ""
    given = name.unicodeScalars.count
    scalars = Array((name + text).unicodeScalars)
    guard scalars.count <= Self.maxLength else {
      throw FilterError(
        "the filter is too long: \(scalars.count) characters (maximum \(Self.maxLength))")
    }
  }

  /// The texts of the filters that must all hold: the whole text if an `or` joins them.
  mutating func conjuncts() throws(FilterError) -> [String] {
    var texts: [String] = []
    repeat {
      let start = index
      _ = try part()
      texts.append(string(start..<index).trimmed)
    } while take("and")
    skipSpace()
    return index == scalars.count ? texts : [text]
  }

  mutating func filter() throws(FilterError) -> TypedFilter {
    let filter = try choice()
    skipSpace()
    guard index == scalars.count else { throw unexpected }
    return filter
  }

  private func invalid(
    _ problem: String, at position: Int? = nil, hint: String? = nil
  ) -> FilterError {
    let shown = text.unicodeScalars.count <= 200 ? text : text.oneLine(atMost: 200)
    let place = max(0, min(position ?? index, scalars.count) - given) + 1
    return .syntax(
      "invalid condition \"\(shown)\": \(problem) (character \(place))", hint: hint)
  }

  /// The error for text where only `and`, `or`, a closing parenthesis or the end may be.
  private var unexpected: FilterError {
    if scalars[index] == ")" {
      return invalid("no ( before )", hint: "quote a value that contains it")
    }
    for word in ["and", "or"] where keyword(word, at: index) == scalars.count {
      return invalid("no condition after \"\(word)\"", at: scalars.count)
    }
    let isSymbol = "|&".unicodeScalars.contains(scalars[index])
    return invalid(
      "\"and\" or \"or\" must follow here",
      hint: isSymbol ? "write \"and\" for && and \"or\" for ||" : nil)
  }

  // MARK: - Joints

  private mutating func choice() throws(FilterError) -> TypedFilter {
    var parts = [try conjunction()]
    while take("or") { parts.append(try conjunction()) }
    return .any(of: parts)
  }

  private mutating func conjunction() throws(FilterError) -> TypedFilter {
    var parts = [try part()]
    while take("and") { parts.append(try part()) }
    return .all(of: parts)
  }

  private mutating func part() throws(FilterError) -> TypedFilter {
    skipSpace()
    var isNegated = false
    while current != "(", !startsCondition(index), let next = negated(index) {
      index = next
      isNegated.toggle()
    }
    let filter = current == "(" ? try group() : try condition()
    return isNegated ? .negation(of: filter) : filter
  }

  private mutating func group() throws(FilterError) -> TypedFilter {
    let start = index
    index += 1
    groups += 1
    guard groups <= Self.maxDepth else {
      throw invalid("too many parentheses in each other (maximum \(Self.maxDepth))", at: start)
    }
    let filter = try choice()
    skipSpace()
    guard current == ")" else {
      guard index == scalars.count else { throw unexpected }
      throw invalid("unclosed (", at: start)
    }
    index += 1
    groups -= 1
    return filter
  }

  /// Moves behind a joint that follows.
  private mutating func take(_ word: String) -> Bool {
    let start = afterSpace(index)
    guard let end = keyword(word, at: start), end < scalars.count,
      scalars[end] == "(" || afterSpace(end) < scalars.count
    else { return false }
    index = afterSpace(end)
    return true
  }

  // MARK: - Conditions

  private mutating func condition() throws(FilterError) -> TypedFilter {
    skipSpace()
    let start = index
    let word = endOfField(start)
    try checkFieldQuotes(at: start)
    if start >= given, current != "\"" { try checkSigns(start..<word) }
    let field = current == "\"" ? try quoted() : string(start..<word)
    index = afterSpace(word)
    if let next = keyword("not", at: index), let end = keyword("in", at: afterSpace(next)) {
      index = end
      return .not(.condition(try membership(of: field)))
    }
    if let end = keyword("in", at: index), word > start {
      index = end
      return .condition(try membership(of: field))
    }
    guard let first = current, first.isOperator else { throw noOperator(after: field, at: start) }
    guard word > start else {
      let name = afterSpace(index + 1)..<endOfField(afterSpace(index + 1))
      let rest = string(index + 1..<scalars.count).trimmed
      throw invalid(
        "no field before the operator",
        hint: first != "!"
          ? nil
          : startsPart(index + 1)
            ? "write not \(rest.oneLine(atMost: 80))"
            : isAlone(name) ? "write \(string(name).oneLine(atMost: 80))=no" : nil)
    }
    let comparison = Comparison.allCases.sorted { $0.rawValue.count > $1.rawValue.count }
      .first { scalars[index...].starts(with: $0.rawValue.unicodeScalars) }
    guard let comparison else {
      let isNegated = scalars[index...].starts(with: "!~".unicodeScalars)
      throw invalid(
        "! must be followed by =",
        hint: isNegated ? "write not \(field.oneLine(atMost: 80).asField)~VALUE" : nil)
    }
    index += comparison.rawValue.unicodeScalars.count
    skipSpace()
    if comparison == .contains, let pattern = try takePattern(of: field) {
      return .condition(TypedCondition(field, pattern))
    }
    let isQuoted = current?.isQuote ?? false
    let value = try value(of: field, comparison)
    return .condition(TypedCondition(field, .compare(comparison, value), isQuoted: isQuoted))
  }

  private func noOperator(after field: String, at start: Int) -> FilterError {
    // The parenthesis of `(active)`.
    let field = groups > 0 ? String(field.prefix { $0 != ")" }) : field
    let word = string(index..<endOfField(index)).lowercased()
    let isGiven = start < given
    let shown = isGiven ? "" : field.oneLine(atMost: 80).asField
    var known =
      word == "is"
      ? Self.hint(onState: string(index..<scalars.count), of: shown)
      : Self.hint(on: word, after: shown)
    let sign = "\(field)\(word.prefix(1))".first { Self.signs[$0] != nil }
    if let sign, let meant = Self.signs[sign] {
      let name = isGiven ? "" : field.prefix { $0 != sign }.oneLine(atMost: 80).asField
      known = "write \(name)\(meant)VALUE"
    }
    // `region:EU`, as in searches of other services.
    let typed = string(start..<endOfValue(start)).trimmed.oneLine(atMost: 80)
    if !isGiven, let parts = typed.wholeMatch(of: /([\w.-]+):\s*(\S.*)/) {
      known = "write \(parts.1)=\(parts.2)"
    }
    if isGiven {
      let value = (text.nonBlank.map { String($0) } ?? "VALUE").oneLine(atMost: 80)
      return invalid(
        "no operator", hint: known ?? "write '=\(value)', or another of = != ~ < <= > >=")
    }
    let all = "FIELD=VALUE with one of = != ~ < <= > >=, or FIELD in (A, B)"
    let before = string(0..<start).split { $0.isWhitespace || $0 == "(" }.last?.lowercased()
    let isAlone = isAlone(start..<endOfField(start))
    let isShort = before == "not" || index < scalars.count
    let state = "\(shown)=\(before == "not" ? "no" : "yes") if it is true or false"
    let operators =
      !isAlone
      ? "write \(all)" : isShort ? "write \(state), or FIELD=VALUE" : "write \(all), or \(state)"
    guard index < scalars.count, let end = scalars[index...].firstIndex(where: \.isOperator) else {
      return invalid("no operator", hint: known ?? operators)
    }
    let isSymbol = "|&".unicodeScalars.contains(scalars[index])
    let name = string(start..<end).trimmed.oneLine(atMost: 80)
    return invalid(
      "no operator after \"\(field.oneLine(atMost: 80))\"",
      hint: isSymbol
        ? "write \"and\" for && and \"or\" for ||"
        : known
          ?? (isAlone
            ? operators : "\(operators); quote a name with spaces, as in \(name.asField)=VALUE"))
  }

  /// True for a word that ends the text, or is joined to what follows.
  private func isAlone(_ word: Range<Int>) -> Bool {
    let next = afterSpace(word.upperBound)
    guard !word.isEmpty, next < scalars.count else { return !word.isEmpty }
    return scalars[next] == ")" || keyword("and", at: next) != nil || keyword("or", at: next) != nil
  }

  /// The words of other languages for `~`.
  private static let containing: Set<String> = ["like", "ilike", "contains"]

  /// Words that people write for an operator, and the operator.
  private static let operators: [String: String] = [
    "has": "~", "includes": "~", "equals": "=", "eq": "=", "ne": "!=", "before": "<", "below": "<",
    "under": "<", "lt": "<", "lte": "<=", "after": ">", "above": ">", "over": ">", "gt": ">",
    "gte": ">=",
  ]

  /// The notation here for an operator of other languages, such as `between`; `nil` if the word is none.
  private static func hint(on word: String, after field: String) -> String? {
    switch word {
    case _ where containing.contains(word):
      "write \(field)~VALUE, where ~ means contains; quote a value with the word \"\(word)\""
    case "matches", "regexp": "write \(field)~/PATTERN/"
    case "starts", "startswith": "write \(field)~/^VALUE/"
    case "ends", "endswith": "write \(field)~/VALUE$/"
    case "between": field.isEmpty ? "write in A..B" : "write \(field) in A..B"
    default: operators[word].map { "write \(field)\($0)VALUE" }
    }
  }

  /// The notation here for `is true`, `is not null` and the like.
  private static func hint(onState words: String, of field: String) -> String {
    var words = words.lowercased().split { $0.isWhitespace || $0 == ")" }.dropFirst()
    let sign = words.first == "not" ? "!=" : "="
    if sign == "!=" { words.removeFirst() }
    return switch words.first {
    case let word? where ["true", "false"].contains(word): "write \(field)\(sign)\(word)"
    case "null"?, "empty"?, "missing"?, nil:
      "write \(field)\(sign), which matches records \(sign == "=" ? "without" : "with") a value"
    default: "write \(field)\(sign)VALUE"
    }
  }

  /// Operators of mathematics, and those that are meant.
  private static let signs: [Character: String] = ["≥": ">=", "≤": "<=", "≠": "!="]

  /// The operator that is meant by one with another sign; `nil` for none.
  private static func correction(_ typed: String) -> String? {
    switch typed {
    case "==": "="
    case "<>": "!="
    case "=~", "~=", "~~": "~"
    case "=>": ">="
    case "=<": "<="
    default: nil
    }
  }

  private mutating func value(
    of field: String, _ comparison: Comparison
  ) throws(FilterError) -> String {
    if let quote = current, quote.isQuote { return try quoted() }
    if let sign = current, sign.isOperator {
      let typed = string(index + 1..<endOfValue(index + 1)).trimmed
      let value = typed.contains(/^\w|^["'-]/) ? typed : "VALUE"
      // `.region`, as in jq.
      let name = field.hasPrefix(".") ? String(field.dropFirst()) : field
      let known = Self.correction("\(comparison.rawValue)\(sign)")
        .map { "write \("\(name.asField)\($0)\(value)".oneLine(atMost: 80))" }
      throw invalid(
        "unknown operator",
        hint: (known ?? "the operators are = != ~ < <= > >=") + "; quote a value like \"=5\"")
    }
    try checkValueQuotes(at: index)
    let start = index
    index = endOfValue(start)
    try checkSigns(start..<index)
    if let word = otherJoint(start..<index) {
      throw invalid(
        "\"\(string(word))\" cannot join conditions", at: word.lowerBound,
        hint: "join them by \"and\", \"or\" and \"and not\", or quote a value that contains it")
    }
    try check(start..<index)
    return string(start..<index).trimmed
  }

  /// Refuses `||` and `&&` in a text without quotes, which would silently match nothing.
  private func checkSigns(
    _ range: Range<Int>, inList: Bool = false
  ) throws(FilterError) {
    for index in range.dropLast()
    where scalars[index] == scalars[index + 1] && (scalars[index] == "|" || scalars[index] == "&") {
      let isAlternative = scalars[index] == "|"
      let joint = inList ? "a comma" : isAlternative ? "\"or\"" : "\"and\""
      throw invalid(
        "\"\(isAlternative ? "||" : "&&")\" cannot join \(inList ? "values" : "conditions")",
        at: index,
        hint: "join them by \(joint), or quote a value that contains it")
    }
  }

  /// Refuses an unquoted value that looks like more than a value.
  private func check(_ range: Range<Int>) throws(FilterError) {
    let hint = "quote a value that contains it"
    var open = 0
    for index in range {
      switch scalars[index] {
      case "(": open += 1
      // The mouth of :) closes nothing.
      case ")"
      where open == 0 && index > range.lowerBound && scalars[index - 1].properties.isAlphabetic:
        throw invalid("no ( before )", at: index, hint: hint)
      case ")": open -= 1
      case "," where startsCondition(afterSpace(index + 1)):
        throw invalid(
          "\",\" cannot join conditions", at: index, hint: "join them by \"and\", or \(hint)")
      default: break
      }
    }
    let value = string(range).trimmed
    let words = value.split(whereSeparator: \.isWhitespace)
    if words.count > 1, let last = words.last?.lowercased(), ["and", "or"].contains(last) {
      throw invalid(
        "no condition after \"\(last)\"", at: range.upperBound, hint: "add one, or \(hint)")
    }
  }

  /// The pattern between slashes; `nil` for another value.
  private mutating func takePattern(
    of field: String
  ) throws(FilterError) -> TypedCondition.Test? {
    guard current == "/" else { return nil }
    let start = index
    // Taken for a text, a pattern with a wrong flag or without its last slash would silently match nothing.
    let text = string(start..<endOfValue(start)).trimmed
    let hint = "quote a text that begins with \"/\": \(field.asField)~\(text.inQuotes)"
    guard let end = Pattern.endOfLiteral(scalars, from: start) else {
      // A slash within […] does not end it.
      let isOpen = text.dropFirst().contains("/") && text.contains("[")
      throw invalid(
        isOpen
          ? "the regular expression has an unclosed [" : "the regular expression has no end",
        at: start, hint: isOpen ? #"write \[ for a bracket"# : hint)
    }
    let pattern = string(start + 1..<end - 1)
    guard !pattern.isEmpty else {
      throw invalid("the regular expression is empty", at: start, hint: hint)
    }
    index = end
    while let scalar = current, !")|&".unicodeScalars.contains(scalar),
      !scalar.properties.isWhitespace
    {
      index += 1
    }
    let flags = string(end..<index)
    guard ["", "i"].contains(flags) else {
      throw invalid(
        "unknown flag \"\(flags.oneLine(atMost: 80))\" (only \"i\")", at: end, hint: hint)
    }
    return .pattern(pattern, ignoresCase: flags == "i")
  }

  private mutating func quoted() throws(FilterError) -> String {
    let start = index
    guard let end = endOfQuotes(start) else { throw invalid("a quote is missing", at: start) }
    var value = String.UnicodeScalarView()
    index += 1
    while index < end - 1 {
      if scalars[index] == "\\", scalars[index + 1] == scalars[start] || scalars[index + 1] == "\\"
      {
        index += 1
      }
      value.append(scalars[index])
      index += 1
    }
    index = end
    return String(value)
  }

  /// The condition with the list or the range after `in`.
  private mutating func membership(of field: String) throws(FilterError) -> TypedCondition {
    skipSpace()
    guard current == "(" else { return try range(of: field) }
    let start = index
    index += 1
    var values: [String] = []
    while true {
      skipSpace()
      if let quote = current, quote.isQuote {
        values.append(try quoted())
        skipSpace()
      } else {
        try checkValueQuotes(at: index)
        let first = index
        index = endOfElement(first)
        try checkSigns(first..<index, inList: true)
        let value = string(first..<index).trimmed
        if index < scalars.count, value.isEmpty {
          throw invalid("no value in the list of \"in\"", hint: "\"\" is that of a missing value")
        }
        values.append(value)
      }
      guard let end = current else { throw invalid("unclosed (", at: start) }
      guard end == "," || end == ")" else {
        throw invalid("a comma or ) must follow the quoted value")
      }
      index += 1
      if end == ")" { return TypedCondition(field, .oneOf(values)) }
    }
  }

  private mutating func range(of field: String) throws(FilterError) -> TypedCondition {
    try checkValueQuotes(at: index)
    let start = index
    var low: String?
    if let quote = current, quote.isQuote {
      low = try quoted()
      skipSpace()
    }
    let end = endOfValue(index)
    try checkSigns(index..<end)
    guard let dots = self.dots(index..<end), low == nil || dots == index else {
      let typed = string(start..<end).trimmed.oneLine(atMost: 80)
      let correction: String? =
        if let bounds = typed.wholeMatch(of: /(\d+) ?(?:-|to) ?(\d+)/) {
          "\(bounds.1)..\(bounds.2)"
        } else {
          typed.contains(",") ? "(\(typed.filter { !"[]{}".contains($0) }))" : nil
        }
      throw invalid(
        "\"in\" must be followed by (A, B) or A..B", at: start,
        hint: correction.map { "write \(field.oneLine(atMost: 80).asField) in \($0)" }
          ?? "such as \(field.asField) in (1, 2) or \(field.asField) in 1..10")
    }
    let first = low ?? string(index..<dots).trimmed
    index = min(afterSpace(dots + 2), max(end, dots + 2))
    let last: String
    let isQuoted = current?.isQuote ?? false
    if isQuoted {
      last = try quoted()
    } else {
      let start = index
      index = max(start, end)
      last = string(start..<index).trimmed
    }
    guard !first.isEmpty, !last.isEmpty else {
      throw invalid(
        "a range needs two values", at: start,
        hint: "write \(field.asField)>=A or \(field.asField)<=B for an open one")
    }
    return TypedCondition(field, .range(first, last), isQuoted: isQuoted)
  }

  // MARK: - Quotes of other kinds

  /// Refuses a field in other quotes than those of a field.
  private func checkFieldQuotes(at start: Int) throws(FilterError) {
    guard start >= given, let quote = current, quote == "'" || quote == "`" || quote.isCurly,
      let end = scalars[(start + 1)...].prefix(100).firstIndex(where: quote.isClosed(by:))
    else { return }
    let (name, next) = (string(start + 1..<end), afterSpace(end + 1))
    let isField =
      next < scalars.count && scalars[next].isOperator || keyword("in", at: next) != nil
      || keyword("not", at: next) != nil
    // `'x' = name` may be a value before its field.
    guard isField, quote != "'" || name.contains(" ") else { return }
    throw invalid(
      "no field", at: start, hint: "write \(name.inQuotes): a field has straight double quotes")
  }

  /// Refuses a value in curly quotes, which are part of a text: a text processor has made them.
  private func checkValueQuotes(at start: Int) throws(FilterError) {
    guard start < scalars.count, scalars[start].isCurly,
      let end = scalars[(start + 1)...].firstIndex(where: scalars[start].isClosed(by:))
    else { return }
    let isDouble = !scalars[start].isSingle
    // Names begin with a single one, too, and have others within.
    let next = afterSpace(end + 1)
    guard
      isDouble || next == scalars.count || ",)".unicodeScalars.contains(scalars[next])
        || isJoint("and", at: next) || isJoint("or", at: next)
    else { return }
    let meant = text.replacing(isDouble ? /[“”„]/ : /[‘’]/, with: isDouble ? "\"" : "'")
    let isMeant = given == 0 && text.utf8.count <= 200 && (try? TypedFilter(meant)) != nil
    throw invalid(
      "curly quotes are part of a text", at: start,
      hint: (isMeant ? "write \(meant); " : "") + "quote a text with them by straight ones")
  }

  // MARK: - Looking ahead

  private var current: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private mutating func skipSpace() { index = afterSpace(index) }

  private func afterSpace(_ start: Int) -> Int {
    var index = start
    while index < scalars.count, scalars[index].properties.isWhitespace { index += 1 }
    return index
  }

  private func string(_ range: Range<Int>) -> String {
    String(String.UnicodeScalarView(scalars[range]))
  }

  /// The index after a word in any case that a space, a parenthesis or the end follows.
  private func keyword(_ word: String, at start: Int) -> Int? {
    var index = start
    for scalar in word.unicodeScalars {
      guard index < scalars.count, scalars[index].value | 0x20 == scalar.value else { return nil }
      index += 1
    }
    guard index < scalars.count else { return index }
    return scalars[index] == "(" || scalars[index].properties.isWhitespace ? index : nil
  }

  /// The index of what a `not` negates.
  private func negated(_ start: Int) -> Int? {
    guard let end = keyword("not", at: start), afterSpace(end) < scalars.count else { return nil }
    return afterSpace(end)
  }

  /// The end of a name in double quotes, or of a word.
  private func endOfField(_ start: Int) -> Int {
    if start < scalars.count, scalars[start] == "\"", let end = endOfQuotes(start) { return end }
    var index = start
    while index < scalars.count, !scalars[index].isOperator,
      !scalars[index].properties.isWhitespace
    {
      index += 1
    }
    return index
  }

  /// True if an operator follows the first word, also as a word of other languages, or `in` and a list or a range.
  private func startsCondition(_ start: Int) -> Bool {
    let word = endOfField(start)
    guard word > start else { return false }
    if let end = keyword("not", at: start), end < word { return false }
    let next = afterSpace(word)
    if next < scalars.count, scalars[next].isOperator { return true }
    let second = next..<endOfField(next)
    if next > word, afterSpace(second.upperBound) < scalars.count,
      Self.containing.contains(string(second).lowercased())
    {
      return true
    }
    let member = keyword("not", at: next).map(afterSpace) ?? next
    guard next > word, let end = keyword("in", at: member) else { return false }
    let set = afterSpace(end)
    guard set < scalars.count else { return false }
    return scalars[set] == "(" || startsRange(set)
  }

  /// True if two dots are in one of the first three words, or follow a text in quotes.
  private func startsRange(_ start: Int) -> Bool {
    if scalars[start].isQuote {
      guard let end = endOfQuotes(start) else { return false }
      let next = afterSpace(end)
      return dots(next..<min(next + 2, scalars.count)) == next
    }
    var end = start
    for _ in 0..<3 {
      end = afterSpace(end)
      while end < scalars.count, !scalars[end].properties.isWhitespace { end += 1 }
    }
    return dots(start..<end).map { $0 > start } ?? false
  }

  /// The index of the first two dots that are neither more nor fewer.
  private func dots(_ range: Range<Int>) -> Int? {
    var index = range.lowerBound
    while index < range.upperBound {
      guard scalars[index] == "." else {
        index += 1
        continue
      }
      let start = index
      while index < scalars.count, scalars[index] == "." { index += 1 }
      if index - start == 2 { return start }
    }
    return nil
  }

  /// True if a part of a filter follows: a condition, perhaps after `not` and parentheses.
  private func startsPart(_ start: Int) -> Bool {
    var index = afterSpace(start)
    for _ in 0...Self.maxDepth {
      guard index < scalars.count else { return false }
      // A ! is refused, with the word in its place.
      if scalars[index] == "(" || scalars[index] == "!" {
        index = afterSpace(index + 1)
      } else if startsCondition(index) {
        return true
      } else if let next = negated(index) {
        index = next
      } else {
        return false
      }
    }
    return false
  }

  /// True for a joint within an unquoted value, which a space and a part follow.
  private func isJoint(_ word: String, at start: Int) -> Bool {
    guard let end = keyword(word, at: start), end < scalars.count, scalars[end] != "(" else {
      return false
    }
    return startsPart(end)
  }

  private func endOfValue(_ start: Int) -> Int {
    var index = start
    var open = 0
    while index < scalars.count {
      let scalar = scalars[index]
      if scalar.properties.isWhitespace {
        let next = afterSpace(index)
        if isJoint("and", at: next) || isJoint("or", at: next) { return index }
        index = next
        continue
      }
      if groups > 0, scalar == "(" { open += 1 }
      if groups > 0, scalar == ")" {
        guard open > 0 else { return index }
        open -= 1
      }
      index += 1
    }
    return index
  }

  /// The end of an unquoted value in a list.
  private func endOfElement(_ start: Int) -> Int {
    var index = start
    var open = 0
    while index < scalars.count {
      switch scalars[index] {
      case "(": open += 1
      case ")" where open > 0: open -= 1
      case ")": return index
      case "," where open == 0: return index
      default: break
      }
      index += 1
    }
    return index
  }

  private func endOfQuotes(_ start: Int) -> Int? {
    var index = start + 1
    while index < scalars.count {
      if scalars[index] == "\\", index + 1 < scalars.count,
        scalars[index + 1] == scalars[start] || scalars[index + 1] == "\\"
      {
        index += 1
      } else if scalars[index] == scalars[start] {
        return index + 1
      }
      index += 1
    }
    return nil
  }

  /// Words that join conditions, here or elsewhere.
  private static let joints: Set<String> = ["and", "or", "xor", "||", "|", "&&", "&", "not"]

  /// The words in an unquoted value that may join two conditions.
  private func joints(in value: Range<Int>) -> [Range<Int>] {
    var joints: [Range<Int>] = []
    var index = value.lowerBound
    while index < value.upperBound {
      let start = afterSpace(index)
      index = start
      while index < value.upperBound, !scalars[index].properties.isWhitespace { index += 1 }
      guard start < index, index - start <= 3,
        Self.joints.contains(string(start..<index).lowercased())
      else { continue }
      joints.append(start..<index)
    }
    return joints
  }

  /// The index after spaces and parentheses that open.
  private func afterOpening(_ start: Int) -> Int {
    var index = start
    while index < scalars.count, scalars[index] == "(" || scalars[index].properties.isWhitespace {
      index += 1
    }
    return index
  }

  /// A word in an unquoted value that looks like the joint of two conditions.
  private func otherJoint(_ value: Range<Int>) -> Range<Int>? {
    joints(in: value).first { word in
      string(word).lowercased() != "and" && startsCondition(afterOpening(word.upperBound))
    }
  }
}

// MARK: - Half of a condition

extension FilterParser {
  /// Words after a field that begin a condition, here or in other languages.
  private static let verbs: Set<String> = containing.union(operators.keys).union([
    "is", "isn't", "isnt", "in", "not", "between", "matches", "regexp", "starts", "startswith",
    "ends", "endswith",
  ])

  /// The error for half of a condition on a known field in this unquoted value, after a joint: `open and score is null`.
  ///
  /// All after a joint that is a condition has ended the value, so that it would be a part of the text.
  ///
  /// - Parameters:
  ///   - isField: True for the name of a field, in lower case.
  ///   - isFlag: True for that of one that is true or false, which says something alone.
  func halfCondition(
    isField: (String) -> Bool, isFlag: (String) -> Bool
  ) -> FilterError? {
    let all = 0..<scalars.count
    let words = joints(in: all).filter { string($0).lowercased() != "not" }
      .map { (end: $0.upperBound, isWord: true) }
    let commas = all.dropLast().filter {
      scalars[$0] == "," && scalars[$0 + 1].properties.isWhitespace
    }.map { (end: $0 + 1, isWord: false) }
    for joint in (words + commas).sorted(by: { $0.end < $1.end }) {
      var start = afterOpening(joint.end)
      var isNegated = false
      while let next = negated(start) {
        start = afterOpening(next)
        isNegated.toggle()
      }
      func rest() -> String { string(afterSpace(joint.end)..<all.upperBound) }
      let flag = flag(at: start, isFlag)
      if joint.isWord, isAlone(flag) {
        return .syntax(
          "invalid condition \"\(rest().oneLine(atMost: 200))\": no operator",
          hint: "write \(string(flag).asField)=\(isNegated ? "no" : "yes")")
      }
      guard beginsHalf(at: start, isField: isField) else { continue }
      do throws(FilterError) { _ = try TypedFilter(rest()) } catch { return error }
      return invalid("a condition begins within a text", at: start)
    }
    return nil
  }

  /// True if a word that begins a condition follows the name of a field, or a sign of other languages.
  private func beginsHalf(at start: Int, isField: (String) -> Bool) -> Bool {
    let end = endOfField(start)
    guard start < end else { return false }
    let isQuoted = scalars[start] == "\"" && endOfQuotes(start) != nil
    let name = (isQuoted ? string(start + 1..<end - 1) : string(start..<end)).lowercased()
    if !isQuoted, let sign = name.firstIndex(where: { Self.signs[$0] != nil || $0 == ":" }) {
      // `note: this` is a text.
      let isTyped = name[sign] != ":" || name.index(after: sign) < name.endIndex
      return isTyped && isField(String(name[..<sign]))
    }
    let next = afterSpace(end)
    guard end < next, next < scalars.count else { return false }
    let word = string(next..<endOfField(next)).lowercased()
    let isVerb = Self.verbs.contains(word.replacing("’", with: "'").filter { $0 != ")" })
    return (isVerb || word.first.map { Self.signs[$0] != nil } == true) && isField(name)
  }

  /// The range of a word that is a flag; empty for another one.
  private func flag(at start: Int, _ isFlag: (String) -> Bool) -> Range<Int> {
    let end = scalars[start..<endOfField(start)].firstIndex(of: ")") ?? endOfField(start)
    return isFlag(string(start..<end).lowercased()) ? start..<end : start..<start
  }
}

extension String {
  /// This name of a field as in a filter: in quotes if a word of its own would not be read as it.
  package var asField: String {
    let isWord =
      unicodeScalars.allSatisfy { !$0.isOperator && !$0.properties.isWhitespace }
      && !hasPrefix("(") && !contains("||") && !contains("&&")
      && unicodeScalars.first.map { $0.isQuote || $0.isCurly || $0 == "`" } != true
    return isWord ? self : inQuotes
  }
}

extension Unicode.Scalar {
  fileprivate var isOperator: Bool {
    self == "=" || self == "!" || self == "~" || self == "<" || self == ">"
  }

  fileprivate var isQuote: Bool { self == "\"" || self == "'" }

  fileprivate var isCurly: Bool { isSingle || self == "“" || self == "”" || self == "„" }

  fileprivate var isSingle: Bool { self == "‘" || self == "’" }

  /// True for a quote that ends what begins with this one.
  fileprivate func isClosed(by other: Unicode.Scalar) -> Bool {
    isCurly ? other.isCurly && other.isSingle == isSingle : other == self
  }
}
