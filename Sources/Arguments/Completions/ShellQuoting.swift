/// An unfinished command line, up to the cursor, parsed by the rules of a shell.
///
/// Quotes and backslashes are removed; a quote may still be open. Variables and substitutions stay
/// as they are, because their values are unknown here and nothing is run.
package struct TypedLine: Equatable {
  /// The complete words, the program first.
  package private(set) var words: [String] = []
  package private(set) var last = ""
  package private(set) var quote: Quote?

  /// The beginning of the last word that bash does not replace.
  package private(set) var unreplacedPrefix = ""

  package enum Quote: Equatable {
    case single
    case double
    /// `$'…'`
    case dollar

    fileprivate var mark: Unicode.Scalar { self == .double ? "\"" : "'" }
  }

  /// `text` ends at the cursor; `breaks` are bash's `COMP_WORDBREAKS`.
  package init(_ text: String, in shell: Shell, breaks: String = TypedLine.standardBreaks) {
    var reader = Reader(
      rest: Array(text.unicodeScalars)[...], shell: shell,
      breaks: shell == .bash ? Set(breaks.unicodeScalars) : [])
    reader.read()
    words = reader.words
    last = String(String.UnicodeScalarView(reader.word))
    quote = reader.quote
    unreplacedPrefix = String(String.UnicodeScalarView(reader.word.prefix(reader.prefixLength)))
  }

  /// The default of `COMP_WORDBREAKS`.
  package static let standardBreaks = " \t\n\"'@><=;|&(:"
}

private struct Reader {
  var rest: ArraySlice<Unicode.Scalar>
  let shell: Shell
  let breaks: Set<Unicode.Scalar>

  var words: [String] = []
  /// The word at the cursor, in an array, whose length is O(1).
  var word: [Unicode.Scalar] = []
  var quote: TypedLine.Quote?
  /// The length of the part of the word before the one that bash replaces.
  var prefixLength = 0

  /// `true` inside a word, even an empty one such as `''`.
  var isInside = false
  var prefixLengthBeforeQuote = 0

  mutating func read() {
    while let scalar = rest.popFirst() {
      if let quote {
        readQuoted(scalar, quote)
      } else {
        readPlain(scalar)
      }
    }
  }

  private mutating func readPlain(_ scalar: Unicode.Scalar) {
    switch scalar {
    case " ", "\t", "\n":
      if isInside { words.append(String(String.UnicodeScalarView(word))) }
      word = []
      isInside = false
      prefixLength = 0
      return
    case "'": open(.single)
    case "\"": open(.double)
    case "$" where shell != .fish && rest.first == "'":
      rest.removeFirst()
      open(.dollar)
    case "\\":
      // An escaped line break is ignored, as is a backslash before the cursor.
      guard let next = rest.popFirst(), next != "\n" else { break }
      word.append(next)
    default:
      word.append(scalar)
      // In bash, @ belongs to the word that follows it.
      if breaks.contains(scalar) { prefixLength = word.count - (scalar == "@" ? 1 : 0) }
    }
    isInside = true
  }

  private mutating func open(_ quote: TypedLine.Quote) {
    self.quote = quote
    prefixLengthBeforeQuote = prefixLength
    prefixLength = word.count
  }

  private mutating func readQuoted(_ scalar: Unicode.Scalar, _ quote: TypedLine.Quote) {
    if scalar == quote.mark {
      self.quote = nil
      prefixLength = prefixLengthBeforeQuote
      return
    }
    guard scalar == "\\", let next = rest.first, escapable(in: quote).contains(next) else {
      word.append(scalar)
      return
    }
    rest.removeFirst()
    if next != "\n" { word.append(next) }
  }

  private func escapable(in quote: TypedLine.Quote) -> Set<Unicode.Scalar> {
    switch (quote, shell) {
    case (.single, .fish): ["'", "\\"]
    case (.single, _): []
    case (.double, .fish): ["\"", "\\", "$", "\n"]
    case (.double, _): ["\"", "\\", "$", "`", "\n"]
    case (.dollar, _): ["'", "\"", "\\", "?"]
    }
  }
}

/// Other shells quote completions themselves; bash inserts them literally.
package enum BashWord {
  /// Punctuation that needs no quoting anywhere in a word.
  private static let plain = Set("_@%+=:,./-".unicodeScalars)

  /// Quotes a word, or the end of one after an open quote, which bash closes itself.
  package static func quoted(_ word: some StringProtocol, inside quote: TypedLine.Quote?) -> String
  {
    var text = ""
    let last = word.unicodeScalars.indices.last
    for (index, scalar) in zip(word.unicodeScalars.indices, word.unicodeScalars) {
      text += quoted(scalar, inside: quote, isLast: index == last)
    }
    return text
  }

  private static func quoted(
    _ scalar: Unicode.Scalar, inside quote: TypedLine.Quote?, isLast: Bool
  ) -> String {
    switch quote {
    case nil: isPlain(scalar) ? "\(scalar)" : "\\\(scalar)"
    // Bash adds no closing quote after one, so the last one must close it.
    case .single where scalar == "'": isLast ? #"'\'"# : #"'\''"#
    case .single: "\(scalar)"
    case .double where scalar == "\"": isLast ? #""\""# : #"\""#
    // Unquoted because of history expansion: a backslash before it would stay.
    case .double where scalar == "!": isLast ? #""'!'"""# : #""'!'""#
    case .double: "$`\\".unicodeScalars.contains(scalar) ? "\\\(scalar)" : "\(scalar)"
    case .dollar: scalar == "'" || scalar == "\\" ? "\\\(scalar)" : "\(scalar)"
    }
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    let letter = Character(scalar)
    return letter.isLetter || letter.isNumber || plain.contains(scalar)
  }
}
