import AggregatorKit
import Testing

@testable import AggregatorFilters
@testable import AggregatorQueries
@testable import AggregatorTerminal

/// Conditions of `--where` and the order of `--sort`.
@Suite struct ConditionTests {
  private struct Thing: Record {
    var id: Int
    var text: String?
    var number: Double?
    var list: [String] = []
    var bool: Bool?
  }

  private static let fields: [Field<Thing>] = [
    Field("id", "ID", \.id, about: ""), Field("text", "Text", \.text, about: ""),
    Field("number", "Number", \.number, about: ""), Field("list", "List", \.list, about: ""),
    Field("bool", "Bool", \.bool, about: ""),
  ]

  private func matches(_ condition: String, _ thing: Thing) throws -> Bool {
    try Selection(SelectionText(conditions: [condition]), Self.fields).matches(thing)
  }

  @Test(arguments: [
    "a=x or b=y", "a=x OR b=y", "a=x || b=y", "a=x && b=y", "a=x or (b=y)", "(a=x)", "not a=x",
    "a=x and not b=y", "a=x or not b=y",
  ])
  func `refuses other joints than and`(text: String) {
    let error = #expect(throws: CommandError.self) { try TypedCondition.all(in: text) }
    #expect(error?.code == .usage)
    #expect(error?.hint != nil)
  }

  @Test(arguments: ["a=x or y", "a='x or b=y'", "a=to be or not to be", "a=not b"])
  func `takes words that join nothing for a value`(text: String) throws {
    #expect(try TypedCondition.all(in: text).count == 1)
  }

  @Test func `what repeats counts once, and there is a limit to the rest`() throws {
    let order = try RecordOrder(
      Array(repeating: "id", count: 3000) + ["-id", "-text", "text"], Self.fields)
    #expect(order.keys.map(\.field.name) == ["id", "text"])
    #expect(order.keys.map(\.isDescending) == [false, true])
    func selection(_ conditions: [String]) throws -> Selection<Thing> {
      try Selection(SelectionText(conditions: conditions), Self.fields)
    }
    let repeated = try selection(Array(repeating: "text=franc", count: 3000) + ["text=franc"])
    // Several conditions have no near miss.
    #expect(repeated.nearMiss(in: [Thing(id: 1, text: "Franc")]) == "Franc")
    _ = try selection((1...100).map { "id!=\($0)" })
    let error = #expect(throws: CommandError.self) {
      try selection([(1...101).map { "id!=\($0)" }.joined(separator: " and ")])
    }
    #expect(error?.code == .usage)
    #expect(error?.message == "too many conditions (maximum 100)")
  }

  @Test(arguments: ["text<x", "text>1990-13-45", "text>=last year"])
  func `compares dates with dates only`(text: String) throws {
    let selection = try Selection(SelectionText(conditions: [text]), Self.fields)
    #expect(throws: SourceError.self) {
      try selection.check([Thing(id: 1, text: "a"), Thing(id: 2, text: "1990-05-01")])
    }
    try selection.check([Thing(id: 1, text: "a")])
  }

  @Test func `knows the value that differs in case and accents only`() throws {
    func nearMiss(_ conditions: String...) throws -> String? {
      try Selection(SelectionText(conditions: conditions), Self.fields)
        .nearMiss(in: [Thing(id: 1, text: "Perú"), Thing(id: 2, text: "France")])
    }
    #expect(try nearMiss("text=peru") == "Perú")
    #expect(try nearMiss("text=franc") == nil)
    #expect(try nearMiss("text~peru") == nil)
    #expect(try nearMiss("text=peru", "id=1") == nil)
  }

  @Test(arguments: [
    ("a=b", ["a|=|b"]), (" a = b c ", ["a|=|b c"]), ("a=", ["a|=|"]),
    ("a>=1 and b!=2", ["a|>=|1", "b|!=|2"]), ("a=x AND b~y", ["a|=|x", "b|~|y"]),
    ("a=Salt and Pepper", ["a|=|Salt and Pepper"]),
    ("a=Salt and Pepper and b<3", ["a|=|Salt and Pepper", "b|<|3"]),
    ("a='x and b=1' and b=2", ["a|=|x and b=1", "b|=|2"]),
    (#"a="q\"\\\n""#, [#"a|=|q"\\n"#]), ("a=''", ["a|=|"]), ("a= and b=1", ["a|=|and b=1"]),
    ("a.b=x=y", ["a.b|=|x=y"]), ("a=O'Brien", ["a|=|O'Brien"]),
    // One character with the sign before or after it.
    ("a=\"\u{301}b\u{D4E}\"", ["a|=|\u{301}b\u{D4E}"]), ("a\u{D4E}!=b", ["a\u{D4E}|!=|b"]),
  ])
  func `parses conditions joined by and`(text: String, expected: [String]) throws {
    let parsed = try TypedCondition.all(in: text).map {
      "\($0.field)|\($0.comparison.rawValue)|\($0.value)"
    }
    #expect(parsed == expected)
    let quoted = try TypedCondition.all(in: text).map(\.quoted).joined(separator: " and ")
    #expect(try TypedCondition.all(in: quoted) == TypedCondition.all(in: text))
  }

  @Test(arguments: [
    "", "a", "=b", "a!b", "a==b", "a<>b", "a='b", "a=\"b\" c", "a='b' and", "a='\\'",
  ])
  func `refuses what is no condition`(text: String) {
    #expect(throws: CommandError.self) { try TypedCondition.all(in: text) }
  }

  @Test func `compares texts exactly, or folded`() throws {
    let thing = Thing(id: 1, text: "Spider-Man")
    #expect(try matches("text=Spider-Man", thing))
    #expect(try !matches("text=spider-man", thing))
    #expect(try matches("text~SPIDERM", thing))
    #expect(try matches("text!=Hulk", thing))
    #expect(try matches("text>hulk", thing) && !matches("text<Hulk", thing))
    #expect(try matches("text=", Thing(id: 1)) && matches("text=", Thing(id: 1, text: "")))
    #expect(try !matches("text!=", Thing(id: 1)) && matches("text!=", thing))
    #expect(try matches("text!=Hulk", Thing(id: 1)) && !matches("text<z", Thing(id: 1)))
  }

  @Test func `compares numbers as numbers`() throws {
    #expect(try matches("number>9", Thing(id: 1, number: 10)))
    #expect(try matches("number=10.0", Thing(id: 1, number: 10)))
    #expect(try !matches("number>9", Thing(id: 1)))
    #expect(try matches("text>9", Thing(id: 1, text: "10")))
    #expect(try matches("id<9007199254740993", Thing(id: 9_007_199_254_740_992)))
    #expect(try !matches("id=9007199254740993", Thing(id: 9_007_199_254_740_992)))
    #expect(try matches("bool=true", Thing(id: 1, bool: true)))
    #expect(throws: CommandError.self) { try matches("number=1e3", Thing(id: 1)) }
    #expect(throws: CommandError.self) { try matches("bool=yes", Thing(id: 1)) }
  }

  @Test func `compares dates as dates`() throws {
    let thing = Thing(id: 1, text: "2026-01-05T23:30:00-02:00")
    #expect(try matches("text=2026-01-06", thing) && !matches("text=2026-01-05", thing))
    #expect(try matches("text>2026-01-05", thing) && !matches("text>2026-01-06", thing))
    #expect(try matches("text<=2026-01-06", thing) && !matches("text<2026-01-06", thing))
    #expect(try matches("text=2026", thing) && matches("text>=2026-01", thing))
    #expect(try matches("text<2026-01-06T01:30:01Z", thing))
    #expect(try matches("text>2025-12-31", Thing(id: 1, text: "2026-01-01")))
    #expect(Period("2024-02-29") != nil && Period("2023-02-29") == nil)
    #expect(Period("1970-01-01T00:00:00.25Z")?.start == 0.25)
    #expect(Period("1969-12-31")?.start == -86400)
    // As short as a Double distinguishes.
    let instant = try #require(Period("9999-12-31T23:59:59.\(String(repeating: "0", count: 400))1"))
    #expect(instant.start < instant.end)
    #expect(Period("2026-13-01") == nil && Period("2026-01-05x") == nil)
  }

  @Test func `looks into lists`() throws {
    let thing = Thing(id: 1, list: ["Flight", "Agility"])
    #expect(try matches("list=Flight", thing) && !matches("list!=Flight", thing))
    #expect(try matches("list~agil", thing) && matches("list!=Web", thing))
    #expect(try matches("list=", Thing(id: 1)) && !matches("list=", thing))
  }

  @Test func `sorts stably, missing values last`() throws {
    let things = [
      Thing(id: 1, text: "b"), Thing(id: 2), Thing(id: 3, text: "10"), Thing(id: 4, text: "Äb"),
      Thing(id: 5, text: "9"), Thing(id: 6, text: "B"), Thing(id: 7, text: ""),
    ]
    func ids(_ order: String) throws -> [Int] {
      try Selection(SelectionText(conditions: [], order: order), Self.fields).sorted(things)
        .map(\.id)
    }
    #expect(try ids("text") == [5, 3, 4, 1, 6, 2, 7])
    #expect(try ids("-text") == [1, 6, 4, 3, 5, 2, 7])
    #expect(try ids("-text, -id") == [6, 1, 4, 3, 5, 7, 2])
    #expect(try ids("number,-id") == [7, 6, 5, 4, 3, 2, 1])
  }
}
