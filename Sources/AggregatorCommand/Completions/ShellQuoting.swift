/// A command line that somebody is typing, up to the cursor, as a shell reads it.
///
/// Quotes and backslashes are taken away; a quote may still be open. Variables and substitutions stay
/// as they are: their values are not known here, and nothing is run.
package struct TypedLine: Equatable {
  /// The words that are complete, that of the program first.
  package private(set) var words: [String] = []

  /// The word at the cursor; empty where one would begin.
  package private(set) var last = ""

  /// The quote in which the cursor is.
  package private(set) var quote: Quote?

  /// What of the last word the shell will leave as it is: it replaces only the rest.
  package private(set) var kept = ""

  /// A quote that goes on until it is closed.
  package enum Quote: Equatable {
    /// `'…'`: everything is what it is.
    case single
    /// `"…"`
    case double
    /// `$'…'`
    case dollar

    fileprivate var mark: Unicode.Scalar { self == .double ? "\"" : "'" }
  }

  /// Reads a line.
  ///
  /// - Parameters:
  ///   - text: The line, from the program's word to the cursor.
  ///   - shell: Whose rules hold.
  ///   - breaks: Where bash takes words apart: its `COMP_WORDBREAKS`.
  package init(_ text: String, in shell: Shell, breaks: String = TypedLine.standardBreaks) {
    var reader = Reader(
      rest: Array(text.unicodeScalars)[...], shell: shell,
      breaks: shell == .bash ? Set(breaks.unicodeScalars) : [])
    reader.read()
    words = reader.words
    last = String(String.UnicodeScalarView(reader.word))
    quote = reader.quote
    kept = String(String.UnicodeScalarView(reader.word.prefix(reader.keptCount)))
  }

  /// What `COMP_WORDBREAKS` is where nobody changed it.
  package static let standardBreaks = " \t\n\"'@><=;|&(:"
}

/// Goes through a line.
private struct Reader {
  var rest: ArraySlice<Unicode.Scalar>
  let shell: Shell
  let breaks: Set<Unicode.Scalar>

  var words: [String] = []
  /// The word at the cursor; in an array, whose length costs nothing.
  var word: [Unicode.Scalar] = []
  var quote: TypedLine.Quote?
  /// How many characters of the word come before what will be replaced.
  var keptCount = 0

  /// Whether there is a word, even if it is empty, as `''` is.
  private var isInside = false
  /// ``keptCount`` as it was before the quote.
  private var keptBeforeQuote = 0

  init(rest: ArraySlice<Unicode.Scalar>, shell: Shell, breaks: Set<Unicode.Scalar>) {
    self.rest = rest
    self.shell = shell
    self.breaks = breaks
  }

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
      keptCount = 0
      return
    case "'": open(.single)
    case "\"": open(.double)
    case "$" where shell != .fish && rest.first == "'":
      rest.removeFirst()
      open(.dollar)
    case "\\":
      // A line break that is escaped is none; what is not there yet cannot be read.
      guard let next = rest.popFirst(), next != "\n" else { break }
      word.append(next)
    default:
      word.append(scalar)
      // Bash leaves an @ to the word that it begins.
      if breaks.contains(scalar) { keptCount = word.count - (scalar == "@" ? 1 : 0) }
    }
    isInside = true
  }

  private mutating func open(_ quote: TypedLine.Quote) {
    self.quote = quote
    keptBeforeQuote = keptCount
    keptCount = word.count
  }

  private mutating func readQuoted(_ scalar: Unicode.Scalar, _ quote: TypedLine.Quote) {
    if scalar == quote.mark {
      self.quote = nil
      keptCount = keptBeforeQuote
      return
    }
    guard scalar == "\\", let next = rest.first, escapable(in: quote).contains(next) else {
      word.append(scalar)
      return
    }
    rest.removeFirst()
    if next != "\n" { word.append(next) }
  }

  /// What a backslash makes plain.
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

/// How bash writes a word, so that it means the word and nothing else.
///
/// What other shells take as it is, and quote themselves, bash puts into the line letter by letter.
package enum BashWord {
  /// Marks that mean themselves anywhere in a word.
  private static let plain = Set("_@%+=:,./-".unicodeScalars)

  /// A word, or its end, as it is written.
  ///
  /// - Parameters:
  ///   - word: What is meant; without control characters.
  ///   - quote: The quote that is open before it.
  /// - Returns: What is to be typed, up to where bash closes the quote itself.
  package static func writing(_ word: some StringProtocol, inside quote: TypedLine.Quote?) -> String
  {
    var text = ""
    let last = word.unicodeScalars.indices.last
    for (index, scalar) in zip(word.unicodeScalars.indices, word.unicodeScalars) {
      text += writing(scalar, inside: quote, isLast: index == last)
    }
    return text
  }

  private static func writing(
    _ scalar: Unicode.Scalar, inside quote: TypedLine.Quote?, isLast: Bool
  ) -> String {
    switch quote {
    case nil: isPlain(scalar) ? "\(scalar)" : "\\\(scalar)"
    // After a quote's own mark bash adds none, so the last one must close the quote.
    case .single where scalar == "'": isLast ? #"'\'"# : #"'\''"#
    case .single: "\(scalar)"
    case .double where scalar == "\"": isLast ? #""\""# : #"\""#
    // Within these quotes history would be looked up, and a backslash before the mark would stay.
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
