import AggregatorText

/// Parses the text of a ``Pattern``.
struct PatternParser {
  indirect enum Node {
    case scalar(ScalarSet)
    case assertion(Pattern.Assertion)
    case sequence([Node])
    case choice([Node])
    /// Without a most number, any number.
    case repetition(Node, least: Int, most: Int?)
  }

  private let text: String
  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var depth = 0
  /// True if the pattern begins with `(?i)`.
  private(set) var ignoresCase = false

  init(_ text: String) {
    self.text = text
    scalars = Array(text.canonicallyComposed.unicodeScalars)
  }

  mutating func pattern() throws(FilterError) -> Node {
    if scalars.starts(with: "(?i)".unicodeScalars) {
      ignoresCase = true
      index = 4
    }
    guard index < scalars.count else { throw invalid("it is empty") }
    guard scalars.count <= Pattern.maxLength else {
      throw invalid("it is too long (maximum \(Pattern.maxLength) characters)")
    }
    let node = try choice()
    guard index == scalars.count else {
      throw invalid("no ( before )", hint: #"write \) for a parenthesis"#)
    }
    return node
  }

  /// The error of what begins at `start`: at the present scalar, by default.
  private func invalid(
    _ problem: String, at start: Int? = nil, hint: String? = nil
  ) -> FilterError {
    .syntax(
      "invalid regular expression /\(text.oneLine(atMost: 80))/: \(problem) (character \(min(start ?? index, scalars.count) + 1))",
      hint: hint)
  }

  private func string(_ range: Range<Int>) -> String {
    String(String.UnicodeScalarView(scalars[range]))
  }

  private var current: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard current == scalar else { return false }
    index += 1
    return true
  }

  private mutating func choice() throws(FilterError) -> Node {
    var nodes = [try sequence()]
    while skip("|") { nodes.append(try sequence()) }
    return nodes.count == 1 ? nodes[0] : .choice(nodes)
  }

  private mutating func sequence() throws(FilterError) -> Node {
    var nodes: [Node] = []
    while let scalar = current, scalar != "|", scalar != ")" {
      let node = try atom(scalar)
      nodes.append(try repeated(node))
    }
    return nodes.count == 1 ? nodes[0] : .sequence(nodes)
  }

  private mutating func atom(_ scalar: Unicode.Scalar) throws(FilterError) -> Node {
    switch scalar {
    case "(": return try group()
    case "[": return .scalar(try scalarClass())
    case "*", "+", "?":
      throw invalid(
        "nothing to repeat before \(scalar)", hint: #"write \\#(scalar) for the sign itself"#)
    case "{": throw invalid("nothing to repeat before {", hint: #"write \{ for the sign itself"#)
    case ".":
      index += 1
      return .scalar(.any)
    case "^":
      index += 1
      return .assertion(.start)
    case "$":
      index += 1
      return .assertion(.end)
    case "\\":
      if let node = assertion() { return node }
      return switch try escape() {
      case .literal(let scalar): .scalar(ScalarSet(scalar))
      case .set(let kind, let isNegated): .scalar(ScalarSet([], [(kind, isNegated)]))
      }
    default:
      index += 1
      return .scalar(ScalarSet(scalar))
    }
  }

  private mutating func group() throws(FilterError) -> Node {
    let start = index
    index += 1
    if skip("?") {
      switch current {
      case ":": index += 1
      case "=", "!": throw lookaround(start)
      case "<" where index + 1 < scalars.count && "=!".unicodeScalars.contains(scalars[index + 1]):
        throw lookaround(start)
      default:
        throw invalid(
          "(? is not supported", at: start,
          hint: "groups are written (…) or (?:…); (?i) at the start ignores case")
      }
    }
    depth += 1
    guard depth <= Pattern.maxDepth else {
      throw invalid("groups are nested too deeply (maximum \(Pattern.maxDepth))", at: start)
    }
    let node = try choice()
    guard skip(")") else {
      throw invalid("unclosed (", at: start, hint: #"write \( for a parenthesis"#)
    }
    depth -= 1
    return node
  }

  private func lookaround(_ start: Int) -> FilterError {
    invalid(
      "lookaround is not supported: matching takes linear time", at: start,
      hint: "join conditions with and, or, not")
  }

  private mutating func assertion() -> Node? {
    guard index + 1 < scalars.count else { return nil }
    switch scalars[index + 1] {
    case "b":
      index += 2
      return .assertion(.wordBoundary)
    case "B":
      index += 2
      return .assertion(.noWordBoundary)
    default: return nil
    }
  }

  // MARK: - Repetition

  private mutating func repeated(_ node: Node) throws(FilterError) -> Node {
    let bounds: (least: Int, most: Int?)
    switch current {
    case "*": bounds = (0, nil)
    case "+": bounds = (1, nil)
    case "?": bounds = (0, 1)
    case "{": bounds = try self.bounds()
    default: return node
    }
    if case .assertion = node { throw invalid("an anchor cannot be repeated") }
    index += 1
    // Which of several matches is found does not matter.
    _ = skip("?")
    switch current {
    case "+": throw invalid("possessive repetition is not supported")
    case "*", "?", "{": throw invalid("a repetition cannot be repeated", hint: "put it in (…)")
    default: return .repetition(node, least: bounds.least, most: bounds.most)
    }
  }

  /// Stops before the closing brace.
  private mutating func bounds() throws(FilterError) -> (least: Int, most: Int?) {
    let start = index
    index += 1
    let least = number()
    var most = least
    if skip(",") {
      most = current == "}" ? nil : number()
      guard current == "}", least != nil else { throw malformedBounds(start) }
    }
    guard let least, current == "}" else { throw malformedBounds(start) }
    guard max(least, most ?? 0) <= Pattern.maxRepetition else {
      throw invalid("too many repetitions (maximum \(Pattern.maxRepetition))", at: start)
    }
    guard most.map({ least <= $0 }) ?? true else {
      throw invalid("the first number must not be the larger one", at: start)
    }
    return (least, most)
  }

  private func malformedBounds(_ start: Int) -> FilterError {
    invalid(
      "a repetition must be {N}, {N,} or {N,M}", at: start, hint: #"write \{ for the sign itself"#)
  }

  private mutating func number() -> Int? {
    let start = index
    while let scalar = current, "0"..."9" ~= scalar, index - start < 6 { index += 1 }
    return Int(string(start..<index))
  }

  // MARK: - Escapes and classes

  private enum Escape {
    case literal(Unicode.Scalar)
    case set(ScalarSet.Class, isNegated: Bool)
  }

  private mutating func escape() throws(FilterError) -> Escape {
    guard index + 1 < scalars.count else {
      throw invalid("nothing after the last \\", hint: #"write \\ for a backslash"#)
    }
    let scalar = scalars[index + 1]
    let escape: Escape
    switch scalar {
    case "d": escape = .set(.digit, isNegated: false)
    case "D": escape = .set(.digit, isNegated: true)
    case "w": escape = .set(.word, isNegated: false)
    case "W": escape = .set(.word, isNegated: true)
    case "s": escape = .set(.space, isNegated: false)
    case "S": escape = .set(.space, isNegated: true)
    case "t": escape = .literal("\t")
    case "n": escape = .literal("\n")
    case "r": escape = .literal("\r")
    case "p", "P": return try category(isNegated: scalar == "P")
    case "0"..."9", "k":
      throw invalid("backreferences are not supported: matching takes linear time")
    case "a"..."z", "A"..."Z":
      throw invalid(
        #"unknown escape \\#(scalar)"#, hint: #"there are \d \w \s \D \W \S \b \B \t \n \r \p{L}"#)
    default: escape = .literal(scalar)
    }
    index += 2
    return escape
  }

  /// The scalars of a general category, such as `\p{L}`, or all others.
  private mutating func category(isNegated: Bool) throws(FilterError) -> Escape {
    let end = scalars[index...].firstIndex(of: "}") ?? scalars.count - 1
    guard index + 2 < end, scalars[index + 2] == "{",
      let kind = ScalarSet.Class(rawValue: string(index + 3..<end))
    else {
      throw invalid(
        "unknown category \(string(index..<end + 1).oneLine(atMost: 80))",
        hint:
          #"there are the general categories L, Lu, Ll, N, Nd, P, S and Z, as in \p{L}; no scripts"#
      )
    }
    index = end + 1
    return .set(kind, isNegated: isNegated)
  }

  /// The classes of POSIX by their names.
  private static let posixClasses: [String: [ScalarSet.Class]] = [
    "alpha": [.letter], "alnum": [.letter, .digit], "digit": [.digit], "lower": [.lowercase],
    "punct": [.punctuation, .symbol], "space": [.space], "upper": [.uppercase], "word": [.word],
  ]

  /// `[:alpha:]` in a class.
  private mutating func posixClass() throws(FilterError) -> [ScalarSet.Class] {
    guard let end = scalars[index...].firstIndex(of: "]"), end > index + 2,
      scalars[index + 1] == ":", scalars[end - 1] == ":",
      let classes = Self.posixClasses[string(index + 2..<end - 1)]
    else {
      throw invalid(
        "unknown class in […]",
        hint:
          "there are [:alpha:] [:alnum:] [:digit:] [:lower:] [:punct:] [:space:] [:upper:] [:word:]"
      )
    }
    index = end + 1
    return classes
  }

  private mutating func scalarClass() throws(FilterError) -> ScalarSet {
    let start = index
    func unclosed(_ parser: Self) -> FilterError {
      parser.invalid("unclosed [", at: start, hint: #"write \[ for a bracket"#)
    }
    index += 1
    let isNegated = skip("^")
    var ranges: [ClosedRange<UInt32>] = []
    var classes: [(ScalarSet.Class, Bool)] = []
    while current != "]" {
      guard let first = current else { throw unclosed(self) }
      if first == "[", index + 1 < scalars.count, ":.=".unicodeScalars.contains(scalars[index + 1])
      {
        classes += try posixClass().map { ($0, false) }
        continue
      }
      let rangeStart = index
      let low: Unicode.Scalar
      switch try member() {
      case .set(let kind, let isNegated):
        classes.append((kind, isNegated))
        continue
      case .literal(let scalar): low = scalar
      }
      // A dash at the end is one.
      guard current == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
        ranges.append(low.value...low.value)
        continue
      }
      index += 1
      guard case .literal(let high) = try member(), low <= high else {
        throw invalid("invalid range in […]", at: rangeStart)
      }
      ranges.append(low.value...high.value)
    }
    guard !ranges.isEmpty || !classes.isEmpty else {
      throw invalid("[] matches nothing", at: start)
    }
    index += 1
    return ScalarSet(ranges, classes.map { (class: $0.0, isNegated: $0.1) }, isNegated: isNegated)
  }

  /// A scalar, or what a backslash precedes, in a class.
  private mutating func member() throws(FilterError) -> Escape {
    guard let scalar = current else { throw invalid("unclosed [") }
    if scalar == "\\" { return try escape() }
    index += 1
    return .literal(scalar)
  }
}
