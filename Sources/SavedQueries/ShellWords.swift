import AggregatorKit

/// The words of a line, as a shell would read them, and back; nothing in it is expanded.
///
/// By scalars: a quote before a combining accent is a quote.
package enum ShellWords {
  package enum Failure: Error {
    /// A quote is not closed, or a backslash ends the line.
    case unfinished
  }

  package static func words(of line: some StringProtocol) throws(Failure) -> [String] {
    var words: [String] = []
    var word = String.UnicodeScalarView()
    /// True inside a word, even an empty one such as `''`.
    var isInside = false
    var quote: Unicode.Scalar?
    var rest = String(line).unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "'" where quote == nil, "\"" where quote == nil: (quote, isInside) = (scalar, true)
      case quote: quote = nil
      case "\\" where quote == nil || quote == "\"" && (rest.first?.isEscapedInQuotes ?? true):
        guard let next = rest.popFirst() else { throw .unfinished }
        // At the end of a line it continues the line.
        if next == "\n", quote == nil { continue }
        word.append(next)
        isInside = true
      case _ where quote == nil && scalar.properties.isWhitespace:
        if isInside { words.append(String(word)) }
        (word, isInside) = (String.UnicodeScalarView(), false)
      default:
        word.append(scalar)
        isInside = true
      }
    }
    guard quote == nil else { throw .unfinished }
    return isInside ? words + [String(word)] : words
  }

  /// The line of these words, with quotes only where they are needed.
  package static func line(of words: [String]) -> String {
    words.map { word in
      if word.isBareWord { return word }
      let text = word.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined()
      return "'\(text)'"
    }.joined(separator: " ")
  }
}

extension Unicode.Scalar {
  fileprivate var isEscapedInQuotes: Bool { self == "\"" || self == "\\" }
}

extension String {
  fileprivate var isBareWord: Bool {
    !isEmpty && allSatisfy { $0.isLetter || $0.isNumber || "-_.@+/:%,=$".contains($0) }
  }
}
