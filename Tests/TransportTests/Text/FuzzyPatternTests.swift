import AggregatorText
import Testing

@Suite struct FuzzyPatternTests {
  /// The points of fzf: https://github.com/junegunn/fzf, `src/algo/algo.go`.
  private static let (match, gap, more) = (16, -3, -1)
  private static let (boundary, white, delimiter, camel, run) = (8, 10, 9, 7, 4)

  /// Texts, typed words, the first and the last character that match, and the score that fzf documents.
  static let examples: [(text: String, typed: String, from: Int, to: Int, score: Int)] = [
    ("fooBarbaz1", "obz", 2, 8, match * 3 + camel + gap + more * 3),
    ("foo bar baz", "fbb", 0, 8, match * 3 + white * 2 + white * 2 + 2 * gap + 4 * more),
    ("/AutomatorDocument.icns", "rdoc", 9, 12, match * 4 + camel + run * 2),
    ("/man1/zshcompctl.1", "zshc", 6, 9, match * 4 + delimiter * 2 + delimiter * 3),
    (
      "/.oh-my-zsh/cache", "zshc", 8, 12,
      match * 4 + boundary * 2 + boundary * 2 + gap + delimiter
    ),
    ("foo/bar/baz", "fbb", 0, 8, match * 3 + white * 2 + delimiter * 2 + 2 * gap + 4 * more),
    ("fooBarBaz", "fbb", 0, 6, match * 3 + white * 2 + camel * 2 + 2 * gap + 2 * more),
    ("foo barbaz", "fbb", 0, 7, match * 3 + white * 2 + white + gap * 2 + more * 3),
    ("fooBar Baz", "foob", 0, 3, match * 4 + white * 2 + white * 3),
    ("xFoo-Bar Baz", "foo-b", 1, 5, match * 5 + camel * 2 + camel * 2 + boundary + boundary),
    ("fooBarbaz", "oBz", 2, 8, match * 3 + camel + gap + more * 3),
    ("foo-bar", "o-ba", 2, 5, match * 4 + boundary * 3),
    ("Danço", "danco", 0, 4, match * 5 + white * 2 + white * 4),
  ]

  @Test(arguments: examples)
  func `scores are those of fzf`(text: String, typed: String, from: Int, to: Int, score: Int) throws
  {
    let found = try #require(FuzzyPattern(typed).match(in: FuzzyText(text)))
    #expect(found.score == score)
    #expect(found.characters.min() == from)
    #expect(found.characters.max() == to)
    #expect(found.characters.count == typed.count)
  }

  private func order(_ texts: [String], _ typed: String) -> [String] {
    var list = FuzzyList()
    for text in texts { list.append(text) }
    return (list.matches(of: FuzzyPattern(typed)) { false } ?? []).map { texts[$0] }
  }

  @Test(arguments: [
    // A run before single letters.
    ("man", ["xmanx", "xmxaxn", "m-a-n-x"], ["m-a-n-x", "xmanx", "xmxaxn"]),
    ("spi", ["Vespiary", "Spider-Man", "S. P. I."], ["Spider-Man", "S. P. I.", "Vespiary"]),
    // The beginnings of words, of camelCase, and after separators.
    ("dd", ["Maddox", "Daredevil", "Doom Doctor"], ["Doom Doctor", "Daredevil", "Maddox"]),
    ("sb", ["crossbow", "SpiderBoy", "silver_bird"], ["SpiderBoy", "silver_bird", "crossbow"]),
    // The shorter, and then the earlier one.
    ("hulk", ["Hulkling", "Hulk", "Hulks"], ["Hulk", "Hulks", "Hulkling"]),
    ("hulk", ["Hulk one", "Hulk two"], ["Hulk one", "Hulk two"]),
    // The end of a word before a longer one.
    ("hulk", ["Hulkling", "Hulk", "Red Hulk"], ["Hulk", "Red Hulk", "Hulkling"]),
    (
      "item 7", ["Item 73 東京", "Item 78 x", "Item 7 naïve"],
      ["Item 7 naïve", "Item 78 x", "Item 73 東京"]
    ),
    (
      "Item 7", ["7\tItem 73", "20\tItem 78", "30\tItem 7 naïve"],
      ["30\tItem 7 naïve", "7\tItem 73", "20\tItem 78"]
    ),
    // Whole words, whatever is before them, then the beginnings of words, then other letters.
    (
      "man", ["Magneto", "Iceman", "Martian Manhunter", "Mantis", "Spider-Man", "Iron Man"],
      ["Iron Man", "Spider-Man", "Mantis", "Martian Manhunter", "Magneto", "Iceman"]
    ),
    // All words, in any order.
    ("man spi", ["Spider-Man", "Man", "Spider"], ["Spider-Man"]),
  ])
  func `the best match comes first`(typed: String, texts: [String], expected: [String]) {
    let found = order(texts, typed)
    #expect(found == expected, "\(found)")
  }

  @Test(arguments: [
    (
      "57", ["38/Item 38/57", "570/Item 570/1", "3/57/2", "57/Item 57/85.5"],
      ["57", "3", "570", "38"]
    ),
    ("^57$", ["38/Item 38/57", "3/57/2", "57/Item 57/8"], ["57", "3", "38"]),
    (
      "item 12",
      [
        "8/Item 8/12", "7/Lamp/the item 12", "9/12 items/1", "120/Item 120/1", "13/Item 12/1",
      ], ["13", "120", "9", "7", "8"]
    ),
    ("12 item", ["8/Item 8/12", "12/Item 12/1", "3/Item 3/12 items"], ["12", "3", "8"]),
    ("open", ["1/Door/open", "2/Half-open door/shut"], ["2", "1"]),
    // Letters within a word of a name are less than a word elsewhere, and more than letters far apart.
    ("rome", ["1/Margo Comeau/Paris", "2/Anna/Rome", "3/Gerome/Oslo"], ["2", "3", "1"]),
    (
      "storm", ["1/Firestorm/Raymond", "2/Human Torch/Storm", "3/Storms/x", "4/Red Storm/x"],
      ["4", "3", "2", "1"]
    ),
    ("!x open", ["1/Door/open", "2/Open/x", "3/Open/y"], ["3", "1"]),
  ])
  func `the ID comes first, then the name, and then other fields`(
    typed: String, records: [String], expected: [String]
  ) {
    let found = order(records.map { $0.replacing("/", with: "\t") }, typed)
    #expect(found.map { String($0.prefix { $0 != "\t" }) } == expected, "\(found)")
  }

  @Test(arguments: [
    ("sorensen", "Sørensen", true), ("Sørensen", "sorensen", false), ("sørensen", "SORENSEN", true),
    ("darkholme", "Darkhölme", true), ("strasse", "Straße", true), ("日本", "日本の英雄", true),
    ("本日", "日本", false), ("spider", "SPIDER", true), ("Spider", "spider", false),
    ("sPider", "Spider", false), ("Spider", "The Spider", true), ("e\u{301}", "É", true),
    ("жук", "ЖУК", true), ("", "anything", true), ("  ", "anything", true), ("x", "", false),
  ])
  func `case, diacritics and scripts`(typed: String, text: String, matches: Bool) {
    #expect((FuzzyPattern(typed).match(in: FuzzyText(text)) != nil) == matches)
    #expect(order([text], typed).isEmpty != matches)
  }

  /// Two fields and a long one, whose words are far apart.
  private static let record =
    "Spider-Man\tMarvel\t" + String(repeating: "some other words ", count: 6) + "walks on walls"

  @Test(arguments: [
    // Letters apart in a short field, not in a long one, nor over several.
    ("spman", true), ("mvl", true), ("wlkwls", false), ("walls", true), ("manmar", false),
    ("man mar", true),
    ("'ider", true), ("'sman", false), ("^spi", true), ("^mar", true), ("^der", false),
    ("vel$", true), ("walls$", true), ("mar$", false), ("^marvel$", true), ("^marve$", false),
    ("spi !marvel", false), ("spi !batman", true), ("!smn", true), ("!'smn", false),
    ("!^spi", false), ("!^der", true), ("bat | spi", true), ("bat | dc", false),
    ("spi dc | marvel", true), ("!marvel | walls", true), ("'Spi", true), ("'SPI", false),
    // Signs alone are characters.
    ("!", false), ("^", false), ("$", false), ("|", false), ("-", true),
  ])
  func `the signs of fzf are about single fields`(typed: String, matches: Bool) {
    #expect(order([Self.record], typed).isEmpty != matches)
    let found = FuzzyPattern(typed).match(in: FuzzyText(Self.record))
    #expect((found != nil) == matches)
  }

  @Test func `digits are side by side, as in a search for a number`() {
    let texts = ["Mill\t1723", "Fork 12\t904", "Lamp\t11812", "Lock v1.2\t7"]
    #expect(Set(order(texts, "12")) == ["Fork 12\t904", "Lamp\t11812"])
    #expect(order(texts, "1.2") == ["Lock v1.2\t7"])
    #expect(order(texts, "fk 12") == ["Fork 12\t904"])
    #expect(order(texts, "l !12") == ["Lock v1.2\t7", "Mill\t1723"])
  }

  @Test func `a word is marked in its field`() {
    func marked(_ typed: String) -> String {
      let characters = Array(Self.record)
      let found = FuzzyPattern(typed).match(in: FuzzyText(Self.record))?.characters ?? []
      return String(found.sorted().map { characters[$0] })
    }
    #expect(marked("mar") == "Mar" && marked("walls$ !bat ^spi") == "Spiwalls")
    #expect(FuzzyPattern.words(of: "^spi 'man x$ !bat") == "spi man x")
    #expect(FuzzyPattern.words(of: "spi | bat").isEmpty)
  }

  @Test func `the characters of a text with others than letters are found`() {
    let found = FuzzyPattern("ba").match(in: FuzzyText("👨‍👩‍👧‍👦ßba"))
    #expect(found?.characters == [2, 3])
    #expect(FuzzyPattern("ss").match(in: FuzzyText("aßb"))?.characters == [1])
  }

  @Test(.timeLimit(.minutes(10)))
  func `a hostile text takes linear time, and what is cancelled ends`() {
    let long = String(repeating: "a", count: 100_000)
    var list = FuzzyList()
    for _ in 0..<500 { list.append(long) }
    #expect(list.matches(of: FuzzyPattern(long)) { false }?.count == 500)
    #expect(
      list.matches(of: FuzzyPattern(String(repeating: "a", count: 64))) { false }?.count == 500)
    #expect(FuzzyPattern(long).match(in: FuzzyText(long))?.characters.count == 64)
    #expect(list.matches(of: FuzzyPattern("a")) { true } == nil)
  }
}
