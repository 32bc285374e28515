import AggregatorText

/// A regular expression whose matching takes linear time: at most as many steps as the text has Unicode scalars times
/// the pattern has states.
///
/// It has literals, classes, `.`, anchors, groups, `|` and repetitions. Backreferences and lookaround, which would need
/// backtracking, are errors. It matches by Unicode scalars of canonically composed text, anywhere in the text.
package struct Pattern: Sendable {
  /// A step of a compiled pattern, which is one of its states.
  enum Instruction: Sendable {
    /// Consumes one scalar.
    case scalar(ScalarSet)
    case assertion(Assertion)
    case split(Int, Int)
    case jump(Int)
    case match
  }

  enum Assertion: Sendable {
    case start, end, wordBoundary, noWordBoundary

    func holds(between before: Unicode.Scalar?, and after: Unicode.Scalar?) -> Bool {
      switch self {
      case .start: before == nil
      case .end: after == nil
      case .wordBoundary: (before?.isWord ?? false) != (after?.isWord ?? false)
      case .noWordBoundary: !Self.wordBoundary.holds(between: before, and: after)
      }
    }
  }

  /// In Unicode scalars.
  static let maxLength = 1000
  static let maxStates = 500
  /// The largest bound of a repetition such as `a{2,100}`.
  static let maxRepetition = 100
  static let maxDepth = 30

  let ignoresCase: Bool
  let program: [Instruction]

  /// - Parameter ignoresCase: As `(?i)` at the beginning of the pattern.
  package init(_ text: String, ignoringCase ignoresCase: Bool = false) throws(FilterError) {
    var parser = PatternParser(text)
    let node = try parser.pattern()
    self.ignoresCase = ignoresCase || parser.ignoresCase
    var compiler = Compiler()
    guard compiler.append(node) else {
      throw FilterError(
        "the regular expression /\(text.oneLine(atMost: 80))/ is too large",
        hint: "repeat less: it may have \(Self.maxStates) states")
    }
    program = compiler.program + [.match]
  }

  /// True if the pattern occurs in a text.
  package func matches(_ text: String) -> Bool {
    var matcher = Matcher(self)
    return matcher.matches(text)
  }

  /// True if the pattern occurs in a text; `nil` if `isOver`, which is asked every few thousand Unicode scalars, became
  /// true before the end of the text.
  package func matches(_ text: String, until isOver: () -> Bool) -> Bool? {
    var matcher = Matcher(self)
    return matcher.matches(text, until: isOver)
  }

  /// The index after the slash that ends the pattern at a slash; `nil` if there is none.
  static func endOfLiteral(_ scalars: [Unicode.Scalar], from start: Int) -> Int? {
    var index = start + 1
    var isClass = false
    while index < scalars.count {
      switch scalars[index] {
      case "\\": index += 1
      case "[" where isClass && index + 1 < scalars.count && scalars[index + 1] == ":":
        // The bracket after [:alpha: does not end the class.
        index = scalars[(index + 2)...].firstIndex(of: "]") ?? index
      case "[": isClass = true
      case "]": isClass = false
      case "/" where !isClass: return index + 1
      default: break
      }
      index += 1
    }
    return nil
  }

  /// Compiles a node, as long as it is small enough.
  private struct Compiler {
    var program: [Instruction] = []
    private var steps = 0

    /// False if the pattern is too large.
    mutating func append(_ node: PatternParser.Node) -> Bool {
      steps += 1
      // A part that matches nothing has no states, but can be repeated as often.
      guard program.count < maxStates, steps < 10 * maxStates else { return false }
      switch node {
      case .scalar(let set): program.append(.scalar(set))
      case .assertion(let assertion): program.append(.assertion(assertion))
      case .sequence(let nodes):
        for node in nodes { guard append(node) else { return false } }
      case .choice(let nodes):
        var jumps: [Int] = []
        for node in nodes.dropLast() {
          let split = program.count
          program.append(.match)
          guard append(node) else { return false }
          jumps.append(program.count)
          program.append(.match)
          program[split] = .split(split + 1, program.count)
        }
        if let last = nodes.last { guard append(last) else { return false } }
        for jump in jumps { program[jump] = .jump(program.count) }
      case .repetition(let node, let least, let most):
        for _ in 0..<least { guard append(node) else { return false } }
        guard let most else {
          let split = program.count
          program.append(.match)
          guard append(node) else { return false }
          program.append(.jump(split))
          program[split] = .split(split + 1, program.count)
          return true
        }
        var splits: [Int] = []
        for _ in least..<most {
          splits.append(program.count)
          program.append(.match)
          guard append(node) else { return false }
        }
        for split in splits { program[split] = .split(split + 1, program.count) }
      }
      return true
    }
  }
}

/// Simulates all states of a pattern at once (Thompson 1968), scalar by scalar.
struct Matcher {
  private let pattern: Pattern
  /// The instructions that wait for a scalar.
  private var current: [Int] = []
  private var next: [Int] = []
  /// The position at which each instruction was entered last.
  private var entered: [Int]
  private var stack: [Int] = []
  /// The number of instructions that were executed.
  private(set) var steps = 0

  init(_ pattern: Pattern) {
    self.pattern = pattern
    entered = Array(repeating: -1, count: pattern.program.count)
  }

  mutating func matches(_ text: String) -> Bool { matches(text, until: { false }) ?? false }

  /// `nil` if `isOver` became true first.
  mutating func matches(_ text: String, until isOver: () -> Bool) -> Bool? {
    let isPlain = text.utf8.allSatisfy { $0 < 0x80 }
    let scalars = Array((isPlain ? text : text.canonicallyComposed).unicodeScalars)
    for position in 0...scalars.count {
      if position % 4096 == 4095, isOver() { return nil }
      let before = position > 0 ? scalars[position - 1] : nil
      let after = position < scalars.count ? scalars[position] : nil
      if position > 0, let before {
        let variants = pattern.ignoresCase ? before.caseVariants : [before]
        swap(&current, &next)
        next.removeAll(keepingCapacity: true)
        // `next` is filled from `current`, which is what waited before this scalar.
        for state in current {
          steps += 1
          guard case .scalar(let set) = pattern.program[state], set.contains(anyOf: variants)
          else { continue }
          if enter(state + 1, at: position, before, after) { return true }
        }
      }
      // A match may begin anywhere.
      if enter(0, at: position, before, after) { return true }
    }
    return false
  }

  /// Adds what an instruction leads to without a scalar to `next`; true for a match.
  private mutating func enter(
    _ state: Int, at position: Int, _ before: Unicode.Scalar?, _ after: Unicode.Scalar?
  ) -> Bool {
    stack.append(state)
    while let state = stack.popLast() {
      guard entered[state] != position else { continue }
      entered[state] = position
      steps += 1
      switch pattern.program[state] {
      case .scalar: next.append(state)
      case .assertion(let assertion):
        if assertion.holds(between: before, and: after) { stack.append(state + 1) }
      case .split(let first, let second):
        stack.append(second)
        stack.append(first)
      case .jump(let target): stack.append(target)
      case .match: return true
      }
    }
    return false
  }
}

/// The scalars that one part of a pattern matches.
struct ScalarSet: Sendable {
  enum Class: String, Sendable {
    case digit, word, space
    // General categories of Unicode, by their names.
    case letter = "L"
    case uppercase = "Lu"
    case lowercase = "Ll"
    case number = "N"
    case decimal = "Nd"
    case punctuation = "P"
    case symbol = "S"
    case separator = "Z"

    func contains(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .digit: "0"..."9" ~= scalar
      case .word: scalar.isWord
      case .space: scalar.properties.isWhitespace
      default: rawValue == scalar.category || rawValue == scalar.category.prefix(1)
      }
    }
  }

  /// Sorted, and apart from each other.
  private let ranges: [ClosedRange<UInt32>]
  private let classes: [(class: Class, isNegated: Bool)]
  private let isNegated: Bool

  init(
    _ ranges: [ClosedRange<UInt32>], _ classes: [(class: Class, isNegated: Bool)] = [],
    isNegated: Bool = false
  ) {
    var merged: [ClosedRange<UInt32>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    self.ranges = merged
    self.classes = classes
    self.isNegated = isNegated
  }

  init(_ scalar: Unicode.Scalar) { self.init([scalar.value...scalar.value]) }

  /// All but the end of a line.
  static let any = ScalarSet([0x0A...0x0A], isNegated: true)

  func contains(anyOf scalars: [Unicode.Scalar]) -> Bool {
    scalars.contains(where: contains) != isNegated
  }

  private func contains(_ scalar: Unicode.Scalar) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if scalar.value < ranges[middle].lowerBound {
        high = middle
      } else if scalar.value > ranges[middle].upperBound {
        low = middle + 1
      } else {
        return true
      }
    }
    return classes.contains { $0.class.contains(scalar) != $0.isNegated }
  }
}

extension Unicode.Scalar {
  fileprivate var isWord: Bool {
    isASCII
      ? "a"..."z" ~= self || "A"..."Z" ~= self || "0"..."9" ~= self || self == "_"
      : properties.isAlphabetic || properties.numericType != nil
  }

  /// The name of the general category: `Lu`; empty for one that no pattern names.
  fileprivate var category: String {
    switch properties.generalCategory {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter, .modifierLetter, .otherLetter: "L"
    case .decimalNumber: "Nd"
    case .letterNumber, .otherNumber: "N"
    case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
      .initialPunctuation, .finalPunctuation, .otherPunctuation:
      "P"
    case .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol: "S"
    case .spaceSeparator, .lineSeparator, .paragraphSeparator: "Z"
    default: ""
    }
  }

  /// The scalar and the one of the other case.
  fileprivate var caseVariants: [Unicode.Scalar] {
    if isASCII {
      let isLetter = "a"..."z" ~= self || "A"..."Z" ~= self
      return isLetter ? [self, Unicode.Scalar(UInt8(value) ^ 0x20)] : [self]
    }
    return [self]
      + [properties.lowercaseMapping, properties.uppercaseMapping].compactMap { text in
        let scalars = text.unicodeScalars
        return scalars.count == 1 && scalars.first != self ? scalars.first : nil
      }
  }
}
