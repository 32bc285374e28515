package import AggregatorKit

extension Plugin {
  /// A query that local records match, with near words of theirs for misspelled ones; `nil` if there is none.
  ///
  /// The index finds records that share three letters with a misspelled word, and, unless there are many, a scan
  /// some with its first two, so that the time depends on the query and hardly on the number of records.
  package func suggestion(for query: Query, in environment: PluginEnvironment) async -> String? {
    let typed = query.words
    guard typed.count <= 6 else { return nil }
    let records = await LocalCandidates(of: self, in: environment)
    let fields = fields.filter(\.isSearchable)
    var words: [String] = []
    for word in typed {
      if let known = try? Query(word.text),
        await !records.records(matching: known, limit: 1).isEmpty
      {
        words.append(word.text)
      } else if let near = await records.word(near: word.text, fields) {
        words.append(near)
      } else {
        return nil
      }
    }
    guard words != typed.map(\.text), let suggested = try? Query(words.joined(separator: " ")),
      await !records.records(matching: suggested, limit: 1).isEmpty
    else { return nil }
    return suggested.text
  }
}

extension LocalCandidates {
  private static var maxPieces: Int { 10 }
  private static var recordsPerPiece: Int { 100 }

  fileprivate func word(near word: String, _ fields: [Field<P.Item>]) async -> String? {
    let letters = Array(word.unicodeScalars)
    var seen: Set<String> = []
    var candidates: [String] = []
    var pieces = (0..<max(0, min(letters.count - 2, Self.maxPieces))).map {
      letters[$0..<$0 + 3]
    }
    // Letters that are swapped in the middle of a short word leave only these.
    if letters.count > 2, isQuickToScan { pieces.append(letters[..<2]) }
    for letters in pieces {
      let piece = String(String.UnicodeScalarView(letters))
      guard let query = try? Query(piece) else { continue }
      for record in await records(matching: query, limit: Self.recordsPerPiece) {
        for word in fields.searchableText(of: record).text.split(whereSeparator: \.isWhitespace)
        where word.utf8.count >= 3 && seen.insert(String(word)).inserted {
          candidates.append(String(word))
        }
      }
    }
    return nearest(to: word, in: candidates)
  }
}
