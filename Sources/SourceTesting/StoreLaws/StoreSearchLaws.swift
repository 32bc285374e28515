import AggregatorKit
import AggregatorLaws

extension StoreLaw {
  static let searchMatches = StoreLaw(
    "search-matches",
    "A search finds exactly the records in whose folded text every folded word occurs."
  ) { trial, store, source throws(SourceError) in
    var generator = SeededGenerator(21)
    let texts = (0..<60).map { _ in randomText(words: 1...5, using: &generator) }
    try await store.save(
      texts.enumerated().map { StoreEntry("\($0)", text: $1) }, of: source)
    let folded = texts.map { FoldedText($0) }
    for number in 0..<120 {
      let query =
        number.isMultiple(of: 3)
        ? randomText(words: 1...2, using: &generator)
        : (0...number % 2).map { _ in
          let part = randomPart(of: folded, using: &generator)
          return number.isMultiple(of: 5) ? "\"\(part)\"" : part
        }.joined(separator: " ")
      // Nothing but punctuation is no query.
      guard let query = try? SearchQuery(query) else { continue }
      let matches = folded.indices.filter { folded[$0].containsAll(query.words) }
      let call = "search \(query.text.debugDescription)"
      let limit = number.isMultiple(of: 10) ? 7 : 100
      let found = try await store.all(query.words, of: source, by: limit)
      trial.expect(found.map(\.id), matches.map(String.init), at: call)
      let search = RankedSearch(query, for: LawRecord.self)
      let (slice, last) = try await store.records(
        of: source, matching: search, after: nil, limit: 100)
      let ranks = matches.map { search.rank("\($0)", folded[$0]) }
      let ranked = SearchRank.allCases.flatMap { rank in
        zip(matches, ranks).filter { $0.1 == rank }.map { "\($0.0)" }
      }
      // A store need not rank its matches.
      let ids = slice.records.map(\.id)
      if last != .other || ids != found.map(\.id) {
        trial.expect(ids, ranked, at: "\(call), by rank")
      }
      if let total = slice.total { trial.expect(total, matches.count, at: "\(call): total") }
    }
  }

  static let searchLiteral = StoreLaw(
    "search-literal", "No character of a word is a wildcard or an operator, and none is lost."
  ) { trial, store, source throws(SourceError) in
    let texts = [
      "100% sure", "1000 sure", "a_b_c", "axbxc", #"c:\temp\x"#, "c:temp", #"say "hi" twice"#,
      "say hi twice",
      "cats OR dogs", "cats", "NEAR(x y)", "near", "star*", "start", "^cap", "cap", "nul\u{0}byte",
      "nulbyte", "one\u{1}two", "onetwo", "it's", "its", "-- x;", "Curaçao", "ＣＵＲＡＣＡＯ", "Łódź",
      "한국어",
      "日本語", "😀😃", "x\u{FFFF}y\u{FFFF}z", "[a-z]+", "$1 ?1 :a @b", "E'\\n'", "{\"a\":1}",
    ]
    try await store.save(texts.enumerated().map { StoreEntry("\($0)", text: $1) }, of: source)
    let folded = texts.map { FoldedText($0) }
    // Each text and its beginnings; each of its characters alone or in twos.
    let queries = Set(
      texts + texts.map { String($0.prefix(3)) } + texts.map { String($0.prefix(2)) }
        + texts.flatMap { $0.map(String.init) } + [
          "%%", "a%c", "a_", "__", "\\\\", "\"\"\"", "or", "d OR", #""hi twice" say"#, "“1000 su”",
        ])
    for text in queries.sorted() {
      guard let query = try? SearchQuery(text) else { continue }
      let matches = folded.indices.filter { folded[$0].containsAll(query.words) }
      trial.expect(
        try await store.ids(text, of: source), matches.map(String.init),
        at: "search \(text.debugDescription)")
    }
  }

  static let searchRanked = StoreLaw(
    "search-ranked",
    "A search by rank has the record with the ID first, then titles that are the query, those that begin with it, "
      + "words, beginnings of words and parts of titles, and the rest."
  ) { trial, store, source throws(SourceError) in
    try await store.save(
      [
        StoreEntry("none 1", text: "the bat man"),
        StoreEntry("title 1", text: "the combatman"),
        StoreEntry("beginning 1", text: "Batmans"),
        StoreEntry("start 1", text: "Bat-Man Beyond\nhero"),
        StoreEntry("name 1", text: "Batman\nhero"), StoreEntry("gone", text: "Batman"),
        StoreEntry("Batman", text: "a movie of batman"), StoreEntry("deleted", text: "Batman"),
        StoreEntry("name 2", text: "BÄTMAN"), StoreEntry("none 2", text: "Robin"),
        StoreEntry("other 1", text: "Robin\nbatman"),
        StoreEntry("name 3", text: "batman\nbatman"), StoreEntry("word 1", text: "Lego batman"),
        StoreEntry("beginning 2", text: "a batmobile (batman's)"),
      ], of: source)
    let seen = [
      "none 1", "title 1", "beginning 1", "start 1", "name 1", "Batman", "deleted", "name 2",
      "none 2", "other 1", "name 3", "word 1", "beginning 2",
    ]
    _ = try await store.delete(["deleted"], of: source, at: .law())
    var entries: [StoreEntry] = []
    for id in seen {
      guard let record = try await store.record(id, of: source) else { continue }
      entries.append(StoreEntry(id: id, json: record.json) { FoldedText("unchanged") })
    }
    _ = try await store.pass(entries, of: source, at: 1)
    let search = RankedSearch(try SearchQuery("Batman"), for: LawRecord.self)
    let first = try await store.records(of: source, matching: search, after: nil, limit: 1)
    guard first.last != .other else {
      return trial.context.notApplicable("the store does not rank matches")
    }
    let expected = [
      "Batman", "name 1", "name 2", "name 3", "beginning 1", "start 1", "word 1", "beginning 2",
      "title 1", "other 1",
    ]
    for limit in [1, 2, 3, 4, 5, 9, 10, .max] {
      var ids: [String] = []
      var start: RankedPosition?
      for number in 0..<20 {
        let (slice, last) = try await store.records(
          of: source, matching: search, after: start, limit: limit)
        ids += slice.records.map(\.id)
        let call = "search by rank, limit \(limit), slice \(number + 1)"
        if let total = slice.total { trial.expect(total, expected.count, at: "\(call): total") }
        trial.expect(slice.total != nil, start == nil, at: "\(call): has a total")
        trial.expect(slice.hasMore, ids.count < expected.count, at: "\(call): hasMore")
        guard slice.hasMore, let record = slice.records.last else { break }
        start = RankedPosition(last, record.position)
      }
      trial.expect(ids, expected, at: "search by rank, limit \(limit)")
    }
  }

  /// Letters that fold, and others that an index could stumble over.
  private static let letters = [
    "a", "b", "c", "a", "b", "c", "A", "é", "e\u{301}", "É", "ß", "ø", "Ł", "İ", "ı", "Ａ", "ﬁ", "한",
    "字", "日",
    "😀", "👩‍👩‍👧", "%", "_", "\"", "\\", "*", "(", "^", "{", ":", "-", "'", ".", "\u{0}", "\u{1}",
    "\u{FFFF}",
  ]

  private static func randomText(
    words: ClosedRange<Int>, using generator: inout SeededGenerator
  ) -> String {
    let count = Int.random(in: words, using: &generator)
    return (0..<count).map { _ in
      (0..<Int.random(in: 1...4, using: &generator))
        .map { _ in letters.randomElement(using: &generator) ?? "" }.joined()
    }.joined(separator: Bool.random(using: &generator) ? " " : "\n")
  }

  /// One to four scalars of a text.
  private static func randomPart(
    of texts: [FoldedText], using generator: inout SeededGenerator
  ) -> String {
    let scalars = Array((texts.randomElement(using: &generator)?.text ?? "").unicodeScalars)
    let start = Int.random(in: 0...scalars.count, using: &generator)
    var part = String.UnicodeScalarView()
    part.append(contentsOf: scalars[start...].prefix(Int.random(in: 1...4, using: &generator)))
    return String(part)
  }
}
