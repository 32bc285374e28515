import AggregatorText
import Synchronization

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

    func holds(between before: Neighbor, and after: Neighbor) -> Bool {
      switch self {
      case .start: before == .none
      case .end: after == .none
      case .wordBoundary: (before == .word) != (after == .word)
      case .noWordBoundary: (before == .word) == (after == .word)
      }
    }
  }

  /// A scalar beside a place in the text, as far as assertions depend on it.
  enum Neighbor: Sendable {
    case none, word, other

    init(_ scalar: Unicode.Scalar?) {
      self = scalar.map { $0.isWord ? .word : .other } ?? .none
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
  private let shared: SharedMatcher

  /// The matcher of all texts, so that each finds the transitions which earlier ones have made.
  private final class SharedMatcher: Sendable {
    let matcher: Mutex<Matcher>

    init(_ matcher: Matcher) { self.matcher = Mutex(matcher) }
  }

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
    shared = SharedMatcher(Matcher(program, ignoringCase: self.ignoresCase))
  }

  /// True if the pattern occurs in a text.
  package func matches(_ text: String) -> Bool { matches(text, until: { false }) ?? false }

  /// True if the pattern occurs in a text; `nil` if `isOver`, which is asked every few thousand Unicode scalars, became
  /// true before the end of the text.
  package func matches(_ text: String, until isOver: () -> Bool) -> Bool? {
    let answer = shared.matcher.withLockIfAvailable { $0.matches(text, until: isOver) }
    if let answer { return answer }
    // Another thread is at a text.
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

/// Simulates all instructions of a pattern at once (Thompson 1968), scalar by scalar, and keeps the transitions by scalars of ASCII:
/// a deterministic automaton, whose states are made when a text first reaches them.
struct Matcher: Sendable {
  /// A state of the automaton.
  private struct State: Hashable {
    /// The instructions that follow those which consumed the last scalar, sorted.
    let instructions: [Int]
    let before: Pattern.Neighbor
  }

  /// With more, all are forgotten.
  private static let maxStates = 256
  /// Scalars of ASCII, and the end of the text.
  private static let columns = 129
  private static let unknown: Int32 = -1
  private static let match: Int32 = -2

  private let program: [Pattern.Instruction]
  private let ignoresCase: Bool
  private var states: [State] = []
  private var indices: [State: Int] = [:]
  /// The index of the state that each state and column lead to, `unknown` or `match`.
  private var transitions: [Int32] = []
  /// The number of instructions that were executed.
  private(set) var steps = 0

  init(_ pattern: Pattern) { self.init(pattern.program, ignoringCase: pattern.ignoresCase) }

  init(_ program: [Pattern.Instruction], ignoringCase ignoresCase: Bool) {
    self.program = program
    self.ignoresCase = ignoresCase
  }

  mutating func matches(_ text: String) -> Bool { matches(text, until: { false }) ?? false }

  /// `nil` if `isOver` became true first.
  mutating func matches(_ text: String, until isOver: () -> Bool) -> Bool? {
    let isPlain = text.utf8.allSatisfy { $0 < 0x80 }
    var state = self.index(of: State(instructions: [], before: .none))
    var count = 0
    for scalar in (isPlain ? text : text.canonicallyComposed).unicodeScalars {
      count += 1
      if count % 4096 == 0, isOver() { return nil }
      guard let next = self.state(after: state, scalar) else { return true }
      state = next
    }
    return self.state(after: state, nil) == nil
  }

  /// The index of the state after a scalar, or of any at the end of the text, which has none; `nil` for a match.
  private mutating func state(after state: Int, _ scalar: Unicode.Scalar?) -> Int? {
    let value = scalar?.value ?? 0x80
    guard value < 0x80 || scalar == nil else {
      return makeState(after: states[state], scalar).map { self.index(of: $0) }
    }
    let cell = state * Self.columns + Int(value)
    switch transitions[cell] {
    case Self.match: return nil
    case Self.unknown: break
    case let index: return Int(index)
    }
    guard let next = makeState(after: states[state], scalar) else {
      transitions[cell] = Self.match
      return nil
    }
    let count = states.count
    let found = self.index(of: next)
    // Else all were forgotten.
    if states.count >= count { transitions[cell] = Int32(found) }
    return found
  }

  private mutating func index(of state: State) -> Int {
    if let index = indices[state] { return index }
    if states.count == Self.maxStates {
      states.removeAll(keepingCapacity: true)
      indices.removeAll(keepingCapacity: true)
      transitions.removeAll(keepingCapacity: true)
    }
    let made = states.count
    indices[state] = made
    states.append(state)
    transitions.append(contentsOf: repeatElement(Self.unknown, count: Self.columns))
    return made
  }

  /// The state after a scalar, or after the end of the text, which is never used; `nil` if a match ends before either.
  private mutating func makeState(after state: State, _ scalar: Unicode.Scalar?) -> State? {
    let after = Pattern.Neighbor(scalar)
    let variants = scalar.map { ignoresCase ? $0.caseVariants : [$0] } ?? []
    var isEntered = Array(repeating: false, count: program.count)
    // A match may begin anywhere.
    var stack = state.instructions + [0]
    var next: [Int] = []
    while let instruction = stack.popLast() {
      guard !isEntered[instruction] else { continue }
      isEntered[instruction] = true
      steps += 1
      switch program[instruction] {
      case .scalar(let set):
        if scalar != nil, set.contains(anyOf: variants) { next.append(instruction + 1) }
      case .assertion(let assertion):
        if assertion.holds(between: state.before, and: after) { stack.append(instruction + 1) }
      case .split(let first, let second): stack += [second, first]
      case .jump(let target): stack.append(target)
      case .match: return nil
      }
    }
    return State(instructions: next.sorted(), before: after)
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
