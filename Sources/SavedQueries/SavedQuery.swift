import AggregatorFilters
import AggregatorKit
package import AggregatorTerminal

/// A command line under a name of its own.
package struct SavedQuery: Hashable, Sendable {
  package let name: String

  /// The words of a command line without the program, as a shell would read them, or `!` and a script for `sh`.
  package let text: String

  package let words: [String]

  /// The script for `sh`; `nil` for the words of a command line.
  package let script: String?

  /// Parses the text of a query; errors have the code `usage`.
  package init(_ name: String, text: String) throws(CommandError) {
    func invalid(_ reason: String, hint: Hint? = nil) -> CommandError {
      CommandError(.usage, "invalid query \"\(name)\": \(reason)", hint: hint)
    }
    let text = text.trimmed
    guard !text.unicodeScalars.contains(where: \.isForbidden) else {
      throw invalid("it has a control character")
    }
    self.name = name
    self.text = text
    if text.hasPrefix("!") {
      guard let script = String(text.dropFirst()).nonBlank else {
        throw invalid("the script is missing")
      }
      (self.script, words) = (script, [])
    } else {
      do { words = try ShellWords.words(of: text) } catch {
        throw invalid("a quote is not closed", hint: "quote words as for a shell")
      }
      guard let first = words.first else { throw invalid("the words are missing") }
      // It would never name a command.
      guard !first.isEmpty else { throw invalid("the first word is empty") }
      script = nil
    }
  }

  /// A query of these words; a single one with spaces or `!` is the text.
  package init(_ name: String, typed words: [String]) throws(CommandError) {
    let isText =
      words.count == 1 && (words[0].hasPrefix("!") || words[0].contains(where: \.isWhitespace))
    if words.count > 1, words[0].hasPrefix("!") {
      throw CommandError(
        .usage, "invalid query \"\(name)\": the script must be one argument",
        hint: "put all that follows ! into quotes, with it")
    }
    try self.init(name, text: isText ? words[0] : ShellWords.line(of: words))
  }

  /// A query of these words, in which a dollar sign is one.
  package init(_ name: String, literal words: [String]) throws(CommandError) {
    try self.init(name, typed: words.map { $0.replacing("$", with: "$$") })
  }

  /// The same query under another name.
  package func renamed(_ name: String) throws(CommandError) -> SavedQuery {
    try SavedQuery(name, text: text)
  }

  /// The name of another query, or a source or command, with which it begins; `nil` for a script.
  package var beginning: String? { words.first }

  private static let shellOperators: Set = ["|", "||", "&", "&&", ";", "<", ">", ">>"]

  /// The words of a program as the text of a script, if one of them is an operator of a shell, such as `|`.
  package func scriptText(running program: String) -> String? {
    guard words.contains(where: Self.shellOperators.contains) else { return nil }
    let typed = words.map { Self.shellOperators.contains($0) ? $0 : ShellWords.line(of: [$0]) }
    return "!\(([program] + typed).joined(separator: " "))"
  }

  /// The same query, which begins with another word.
  package func beginning(with word: String) throws(CommandError) -> SavedQuery {
    try SavedQuery(name, text: ShellWords.line(of: [word] + words.dropFirst()))
  }

  /// True for a name of 1 to 32 ASCII letters, digits, `-` and `_`, which begins with a letter.
  package static func isName(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Za-z][A-Za-z0-9_\-]{0,31}/) != nil
  }
}

// MARK: - Arguments

extension SavedQuery {
  /// The treatment of a parameter without an argument.
  package enum Missing: Sendable {
    case isRefused
    /// The words end before one that it is, and it stays as it is in others; arguments go to their end: a line is being typed.
    case endsWords
    /// The parameter stays as it is.
    case isKept
    /// As before, in words that do not run.
    case isKeptUnchecked
  }

  private enum Piece {
    case text(Substring)
    /// `$1` to `$9`.
    case argument(Int)
    /// `$@`
    case others
  }

  private static func pieces(of word: String) -> [Piece] {
    var pieces: [Piece] = []
    var rest = word[...]
    while let dollar = rest.firstIndex(of: "$") {
      let after = rest[dollar...].dropFirst()
      let next = after.first
      let number = next.flatMap { $0.isASCII ? $0.wholeNumberValue : nil } ?? 0
      pieces.append(.text(rest[..<dollar]))
      switch next {
      case "@"?: pieces.append(.others)
      case "$"?: pieces.append(.text("$"))
      case _ where number > 0: pieces.append(.argument(number))
      default:
        pieces.append(.text("$"))
        rest = after
        continue
      }
      rest = after.dropFirst()
    }
    return pieces + [.text(rest)]
  }

  /// The words with these arguments in the places of `$1` to `$9`; the others in that of `$@`, or else at the end, where the
  /// options are.
  ///
  /// Within a condition of `--where` an argument is a value, whatever is in it. Those in a statement are values of its parameters,
  /// as options before the words.
  ///
  /// - Parameter statement: The indices of the words that are a statement for `sql`.
  /// - Throws: ``CommandError`` with code `usage` for a missing argument, for one in a condition that is not a value of it, and for
  ///   one that a statement has no parameter for.
  package func words(
    with arguments: [String], and options: [String] = [], statement: Set<Int> = [],
    missing: Missing = .isRefused
  ) throws(CommandError) -> [String] {
    let pieces = words.map(Self.pieces)
    var taken: Set<Int> = []
    for case .argument(let number) in pieces.joined() { taken.insert(number - 1) }
    let others = arguments.indices.filter { !taken.contains($0) }.map { arguments[$0] }
    if !statement.isEmpty {
      try checkStatement(pieces, statement)
      // A statement that is only checked stays as it is.
      guard missing == .isRefused else { return words }
      if let surplus = others.first {
        let text = statement.sorted().map { words[$0] }.joined(separator: " ")
        let named = SQLStatement(text).parameterNames.map { "--param \($0)=VALUE" }
        throw CommandError(
          .usage, "unexpected argument \"\(surplus)\" of the saved query \"\(name)\"",
          hint: named.isEmpty
            ? .command("query show \(name)") : .words(named.joined(separator: " ")))
      }
    }
    var expanded: [String] = []
    var parameters: Set<String> = []
    var end: Int?
    var hasPlace = false
    for (index, (word, pieces)) in zip(words, pieces).enumerated() {
      if word == "$@", missing != .endsWords {
        expanded += others
        hasPlace = true
        continue
      }
      if word == "--" { end = end ?? expanded.count }
      let condition = conditionStart(ofWordAt: index)
      var text = ""
      var values: [Unicode.Scalar: String] = [:]
      func add(_ number: Int, _ value: String) throws(CommandError) {
        if statement.contains(index) {
          let parameter = "\(Self.parameter)\(number)"
          parameters.insert("--param=\(parameter)=\(SQLValue.typing(value))")
          return text += ":\(parameter) "
        }
        guard condition != nil, let place = Self.place(of: number) else { return text += value }
        values[place] = value
        text.unicodeScalars.append(place)
      }
      for piece in pieces {
        switch piece {
        case .text(let part): text += part
        case .argument(let number) where arguments.count >= number:
          try add(number, arguments[number - 1])
        case .argument(let number):
          if missing == .endsWords, word == "$\(number)" { return expanded }
          guard missing != .isRefused else {
            throw CommandError(
              .usage, "missing argument $\(number) of the saved query \"\(name)\"",
              hint: .command("query show \(name)"))
          }
          try add(number, "$\(number)")
        case .others:
          try add(0, others.joined(separator: " "))
          hasPlace = hasPlace || missing != .endsWords
        }
      }
      if let condition, !values.isEmpty {
        let filled = try filled(text, from: condition, with: values)
        text = missing == .isKept && arguments.isEmpty ? word : filled
      }
      if word != "$@" { expanded.append(text) }
    }
    if !hasPlace { expanded += others }
    expanded.insert(contentsOf: options, at: end ?? expanded.count)
    return parameters.sorted() + expanded
  }

  /// The number of characters before a condition in a word; `nil` for another word, and for a condition that is an argument.
  private func conditionStart(ofWordAt index: Int) -> Int? {
    let option = "--where="
    let start = words[index].hasPrefix(option) ? option.count : 0
    let isCondition = start > 0 || index > 0 && words[index - 1] == option.dropLast()
    let isArgument = words[index].dropFirst(start).wholeMatch(of: /\$[1-9@]/) != nil
    return isCondition && !isArgument ? start : nil
  }

  /// The name of the parameters of a statement, before the number of an argument.
  private static let parameter = "argument"

  /// Refuses arguments in quotes and comments of SQL, where no parameter can be, and `$@`, which could be any number of them.
  private func checkStatement(
    _ pieces: [[Piece]], _ statement: Set<Int>
  ) throws(CommandError) {
    func invalid(_ reason: String, _ hint: Hint) -> CommandError {
      CommandError(.usage, "\(reason) of the saved query \"\(name)\"", hint: hint)
    }
    var count = 0
    var text = ""
    for (index, word) in pieces.enumerated() {
      if statement.contains(index) { text += " " }
      for piece in word {
        switch piece {
        case .others: throw invalid("$@ cannot be in the SQL", "name its arguments: $1 to $9")
        case .argument where statement.contains(index):
          text += ":\(Self.parameter) "
          count += 1
        case .text(let part) where statement.contains(index): text += part
        default: break
        }
      }
    }
    // Names in brackets and backticks are of SQLite, and lines that begin with a dot are of the console.
    let plain = text.replacing(
      /'[^']*'?|"[^"]*"?|`[^`]*`?|\[[^\]]*\]?|--[^\n]*|\/\*(?s:.*?)(?:\*\/|$)|(?:^|\n)[ \t]*\.[^\n]*/,
      with: " x ")
    // After an operand, ? is an operator of PostgreSQL.
    let positional =
      /(?i)(?:[=<>(,|+\-*\/%]|\b(?:like|glob|regexp|limit|offset|between|and|or|not|in|is|then|else|when|case|where|having|by|select))\s*\?/
    guard !plain.contains(positional) else {
      throw invalid("? cannot be in the SQL", "write $1 for an argument, or :name for --param")
    }
    let isBound = [text, plain].allSatisfy { text in
      let statement = SQLStatement(text)
      return statement.parameterRanges.count { statement.text[$0] == ":\(Self.parameter)" } == count
    }
    guard isBound else {
      throw invalid(
        "an argument must be a value in the SQL",
        "write $1 outside of quotes: name = $1, or name LIKE '%' || $1 || '%'; $$ is a dollar sign")
    }
  }

  /// The scalar in the place of an argument, which no text has.
  private static func place(of number: Int) -> Unicode.Scalar? {
    Unicode.Scalar(0xFDD0 + UInt32(number))
  }

  private func filled(
    _ word: String, from start: Int, with values: [Unicode.Scalar: String]
  ) throws(CommandError) -> String {
    func isPlace(_ scalar: Unicode.Scalar) -> Bool { values[scalar] != nil }
    func namesField(_ text: String) -> Bool {
      let conditions = (try? TypedFilter(text))?.conditions ?? []
      return conditions.contains { $0.field.unicodeScalars.contains(where: isPlace) }
    }
    let text = String(word.dropFirst(start))
    // A condition of its own could be there, which would be read as the end of the value before it.
    let joined = values.keys.map { text.replacing(String($0), with: "\($0)=x") }
    guard let typed = try? TypedFilter(text), !([text] + joined).contains(where: namesField)
    else {
      throw CommandError(
        .usage, "an argument of the saved query \"\(name)\" must be a value in its condition",
        hint: "write conditions such as 'name~$1', or '$1' for a whole one")
    }
    // Filled in, values have quotes, in which half of a condition would be a text, whatever its field is.
    do throws(FilterError) {
      for condition in typed.conditions {
        try condition.checkValue { $0.wholeMatch(of: /[a-z_][\w.-]*/) != nil }
      }
    } catch {
      func shown(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
          guard isPlace(scalar) else { return String(scalar) }
          return scalar == Self.place(of: 0) ? "$@" : "$\(scalar.value - 0xFDD0)"
        }.joined()
      }
      throw CommandError(
        .usage, "\(shown(error.message)) in the saved query \"\(name)\"",
        hint: error.hint.map { .words(shown($0)) })
    }
    let filter = typed.replacingValues { text, isPattern in
      text.unicodeScalars.map { scalar in
        guard let value = values[scalar] else { return String(scalar) }
        return isPattern ? value.patternText : value
      }.joined()
    }
    return word.prefix(start) + filter.quoted
  }

  /// A parameter in the words that nothing is filled into, such as `$x` or `$*`.
  package var unknownParameter: String? {
    words.lazy.compactMap { word in
      word.replacing("$$", with: "").firstMatch(
        of: /\$(0|\*|\{[0-9@][^}]*\}?|[A-Za-z_][A-Za-z0-9_]*)/
      )
      .map {
        String($0.output.0)
      }
    }.first
  }

  /// The least number of `$1` to `$9` that the words lack although they have a higher one.
  package var lackingParameter: Int? {
    let numbers = Self.parameterNumbers(in: words)
    return numbers.max().flatMap { (1..<$0).first { !numbers.contains($0) } }
  }

  private static func parameterNumbers(in words: [String]) -> [Int] {
    words.flatMap(pieces).compactMap { piece in
      if case .argument(let number) = piece { number } else { nil }
    }
  }

  /// True if arguments are parts of its words, and none is a word.
  var fillsWords: Bool {
    hasParameters && !words.contains { $0.wholeMatch(of: /\$[1-9@]/) != nil }
  }

  /// The field that a condition compares with the argument of a number; `nil` if there is none.
  func field(ofArgument number: Int) -> String? {
    words.indices.lazy.compactMap { index -> String? in
      guard let start = conditionStart(ofWordAt: index),
        let typed = try? TypedFilter(String(words[index].dropFirst(start)))
      else { return nil }
      return typed.conditions.first { condition in
        if case .compare(_, "$\(number)") = condition.test { true } else { false }
      }?.field
    }.first
  }

  /// True if the words depend on arguments.
  package var hasParameters: Bool {
    words.contains { word in
      Self.pieces(of: word).contains { if case .text = $0 { false } else { true } }
    }
  }

  /// The words that run it: its name, and its parameters, as in `by $1 $2`.
  package var usage: String {
    // What single quotes enclose in a script is often a $1 of another program, such as awk.
    let words = script.map { [$0.replacing(/'[^']*'/, with: "")] } ?? words
    let others = words.flatMap(Self.pieces).contains {
      if case .others = $0 { true } else { false }
    }
    let places = (Self.parameterNumbers(in: words).max().map { Array(1...$0) } ?? []).map {
      "$\($0)"
    }
    return ([name] + places + (others ? ["$@"] : [])).joined(separator: " ")
  }

  /// The words that start the script, whose arguments are `$1`, `$2` and `$@`; appended if it names none of them.
  package func command(with arguments: [String]) -> [String]? {
    script.map { script in
      let takesArguments = script.contains(/\$\{?[@*#1-9]/)
      let line = arguments.isEmpty || takesArguments ? script : "\(script) \"$@\""
      return ["/bin/sh", "-c", line, name] + arguments
    }
  }
}

extension SQLValue {
  /// An argument as `--param` reads it: a number only if that is the same text.
  fileprivate static func typing(_ argument: String) -> String {
    let value = SQLValue(typed: argument)
    return switch value {
    case .integer where value.literal == argument, .number where value.literal == argument: argument
    default: SQLValue.text(argument).literal
    }
  }
}

extension String {
  /// The regular expression of this text.
  fileprivate var patternText: String {
    unicodeScalars.map { #"\^$.|?*+()[]{}/-"#.unicodeScalars.contains($0) ? "\\\($0)" : "\($0)" }
      .joined()
  }
}

extension Unicode.Scalar {
  /// True for what a line of text does not have.
  fileprivate var isForbidden: Bool {
    properties.generalCategory == .control && self != "\n" && self != "\t"
  }
}
