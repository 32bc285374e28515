extension String {
  /// The text without blanks around it; `nil` if it holds a line break or another control
  /// character, which no settings file can express and no service takes.
  package var singleLine: String? {
    var rest = Substring(self).unicodeScalars
    while rest.first?.properties.isWhitespace == true { rest.removeFirst() }
    while rest.last?.properties.isWhitespace == true { rest.removeLast() }
    for scalar in rest {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: return nil
      default: continue
      }
    }
    return String(rest)
  }
}
