extension StringProtocol {
  /// The most scalars of one character.
  private static var mostScalars: Int { 12 }

  /// This text, which a stranger wrote, as a short piece of one line.
  ///
  /// - Parameter count: The most characters; what is cut off is shown as `…`.
  /// - Returns: The text with every run of white space as one space, and without invisible characters.
  package func oneLine(atMost count: Int) -> String {
    var line = ""
    var length = 0
    var isGap = false
    for character in self {
      if character.unicodeScalars.allSatisfy(\.properties.isWhitespace) {
        isGap = !line.isEmpty
        continue
      }
      // A letter may carry any number of marks.
      let scalars = character.unicodeScalars.prefix(Self.mostScalars).filter { !$0.isInvisible }
      guard !scalars.isEmpty else { continue }
      // Without what joined them, the parts of an emoji are several.
      let visible = String(String.UnicodeScalarView(scalars))
      let added = visible.count + (isGap ? 1 : 0)
      guard length + added <= count else { return line + "…" }
      if isGap { line += " " }
      line += visible
      length += added
      isGap = false
    }
    return line
  }
}
