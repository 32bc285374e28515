import AggregatorKit

/// Throws unless a failure's words are short, and nothing in them moves a cursor or hides.
func expectHarmless(_ error: SourceError) throws {
  for words in [error.message, error.remedy?.text ?? ""] {
    try expect(words.count <= 1000, "an error of \(words.count) characters")
    let bad = words.unicodeScalars.first(where: \.isInvisible)
    try expect(bad == nil, "an error with U+\(String(bad?.value ?? 0, radix: 16)): \(error.code)")
  }
}
