import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StoreSearchTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private static let texts = [
    "Spider-Man", "spider man", "Iron Man", "AND OR NOT", "NEAR(spider, man)", "say \"hi\"", "100%",
    "a_b", "a*b*", "folded: text", "한국어 사전", "Straße", "STRASSE", "e\u{301}clair", "éclair",
    "👩‍👩‍👧 family", "ﬁne", "x", "xy", "xyz", "back\\slash", "tab\there", "null", "{\"json\": 1}", "(",
    ")",
    "\u{FFFE}abc", "\u{FFFD}abc", "ÅÄÖ åäö", "日本語", "'quoted'", "", " ", "-", "^start", "İstanbul",
  ]

  @Test(arguments: [
    "spider", "spider man", "man spider", "SPIDER-MAN", "s", "sp", "an", "an i", "AND", "NOT", "OR",
    "NEAR", "NEAR(spider,", "y\"", "\"man spider\"", "\"spider man\"", "\"hi\"", "say \"hi\"", "%",
    "_", "*", "a*", "a*b*", "b*",
    "folded:", "{", "{\"json\":", "(", ")", "한", "한국", "한국어", "사전 한", "ß", "ss", "straße",
    "strasse",
    "e\u{301}", "é", "eclair", "👩", "👩‍👩‍👧", "👩‍👩‍👧 family", "fi", "fine", "x", "xyz", "xyzz", "\\", "\\sl",
    "- x", "x --", "-man", "^start", "^", "' (", "'; --", "null", "text: folded", "\u{FFFE}abc",
    "\u{FFFD}abc", "åäö", "aao", "日", "日本語", "istanbul", "sp id er ma an", "x xy xyz",
  ])
  func `finds the same as a scan of every text`(query: String) async throws {
    try await store.save(Self.texts.enumerated().map { StoreEntry("\($0)", $1) })
    let words = try SearchQuery(query).words
    let expected = Self.texts.indices.filter { FoldedText(Self.texts[$0]).containsAll(words) }
    #expect(try await store.ids(query) == expected.map(String.init))
    #expect(try await store.ids(query, limit: 1) == expected.map(String.init))
    let slice = try await store.records(of: "things", matching: words, after: 0, limit: 1000)
    #expect(slice.total == expected.count)
  }

  @Test func `searches texts with zero bytes`() async throws {
    let texts = ["a\0bcd", "a bcd", "abcd", "\0", "\0\0\0\0", "bcd"]
    try await store.save(texts.enumerated().map { StoreEntry("\($0)", $1) })
    for word in ["\0", "\0bcd", "a\0", "a\0b", "\0\0\0", "bcd", "bcd\0", "a"] {
      let expected = texts.indices.filter { FoldedText(texts[$0]).contains(FoldedText(word)) }
      #expect(try await store.ids(word) == expected.map(String.init), "\(word.debugDescription)")
    }
    #expect(try directory.database().isSound())
  }

  @Test func `finds words of any length and any number`() async throws {
    let long = String((0..<20_000).map { "abcdefghij".randomCharacter(at: $0) })
    try await store.save([StoreEntry("long", long), StoreEntry("short", String(long.prefix(500)))])
    #expect(try await store.ids(long) == ["long"])
    #expect(try await store.ids(String(long.dropFirst(7).prefix(400))) == ["long", "short"])
    #expect(try await store.ids(long + "!").isEmpty)
    let words = (0..<1000).map { String(long.dropFirst($0 / 3).prefix($0 % 7 + 1)) }
    #expect(try await store.ids(words.joined(separator: " ")) == ["long", "short"])
    #expect(try await store.ids((words + ["!"]).joined(separator: " ")).isEmpty)
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `agrees with a scan after any history`(seed: UInt64) async throws {
    var random = SeededGenerator(seed)
    var texts: [String: String] = [:]
    var order: [String] = []
    var deleted: Set<String> = []
    for round in 0..<12 {
      let entries = (0..<Int.random(in: 1...20, using: &random)).map { _ in
        let id = "\(Int.random(in: 0..<60, using: &random))"
        return (id, Self.randomText(using: &random))
      }
      for (id, text) in entries {
        if texts[id] == nil { order.append(id) }
        texts[id] = text
      }
      try await store.save(entries.map { StoreEntry($0, $1) }, at: Double(round))
      try await store.save([StoreEntry("other", Self.randomText(using: &random))], of: "others")
      let id = "\(Int.random(in: 0..<60, using: &random))"
      if deleted.remove(id) != nil {
        #expect(try await store.restore([id], of: "things") == [id])
      } else {
        deleted.insert(id)
        #expect(try await store.delete([id], of: "things", at: .day()) == [id])
      }
      for _ in 0..<12 {
        let text = Self.randomText(using: &random)
        guard let query = try? SearchQuery(text.prefix(Int.random(in: 1...6, using: &random)))
        else {
          continue
        }
        let expected = order.filter {
          !deleted.contains($0) && FoldedText(texts[$0] ?? "").containsAll(query.words)
        }
        let limit = Int.random(in: 1...9, using: &random)
        #expect(try await store.ids(query.text, limit: limit) == expected, "\(query)")
      }
    }
    let present = order.filter { !deleted.contains($0) }
    #expect(try await store.ids() == present)
    #expect(
      try await store.records(of: "things", matching: [], after: 0, limit: 3).total
        == present.count)
    #expect(try directory.database().isSound())
  }

  @Test func `finds the new text of a changed record, not the old one`() async throws {
    try await store.save([StoreEntry("a", "alpha beta"), StoreEntry("b", "beta")])
    try await store.save([StoreEntry("a", "gamma beta")])
    #expect(try await store.ids("alpha").isEmpty)
    #expect(try await store.ids("gamma") == ["a"])
    #expect(try await store.ids("beta") == ["a", "b"])
    #expect(try directory.database().isSound())
  }

  @Test(arguments: [(999, 999), (1000, 1000), (1001, nil)] as [(Int, Int?)])
  func `counts up to a thousand matches`(count: Int, total: Int?) async throws {
    try await store.save((0..<count).map { StoreEntry("\($0)", "common") } + [StoreEntry("z", "z")])
    func counted(_ word: String, limit: Int) async throws -> Int? {
      try await store.records(
        of: "things", matching: [FoldedText(word)], after: 0, limit: limit
      ).total
    }
    #expect(try await counted("common", limit: 5) == total)
    #expect(try await counted("common", limit: 5000) == total)
    #expect(try await counted("co", limit: 5000) == total)
    #expect(try await counted("co", limit: 5) == nil)
    let all = try await store.records(of: "things", matching: [], after: 0, limit: 5)
    #expect(all.total == count + 1)
  }

  @Test(arguments: [Int64.min, -1, 0, 1, 1 << 40, .max])
  func `accepts any position and any limit`(position: Int64) async throws {
    try await store.save([StoreEntry("a"), StoreEntry("b")])
    for words in [[], [FoldedText("text")], [FoldedText("t")]] {
      let slice = try await store.records(
        of: "things", matching: words, after: position, limit: .max)
      #expect(slice.records.count == (position <= 1 << 40 ? 2 : 0))
      #expect(!slice.hasMore)
    }
  }

  private static func randomText(using random: inout SeededGenerator) -> String {
    let pieces = ["a", "b", "ab", "ba", "é", "한", "ß", "👩‍👧", " ", "\"", "*", "AB", "-", "aab", "c "]
    return (0..<Int.random(in: 0...9, using: &random))
      .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
  }
}

extension String {
  /// Characters in an order that hardly repeats.
  fileprivate func randomCharacter(at number: Int) -> Character {
    var random = SeededGenerator(UInt64(number))
    return randomElement(using: &random) ?? " "
  }
}
