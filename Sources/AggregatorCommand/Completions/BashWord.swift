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
