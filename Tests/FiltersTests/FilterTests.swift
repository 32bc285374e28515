import AggregatorCore
import AggregatorFoundation
import AggregatorText
import Testing

@testable import AggregatorFilters

/// Filters and orders of records.
@Suite struct FilterTests {
  @Test(arguments: ["text<x", "text>1990-13-45", "text>=last year", "text in a..b"])
  func `compares dates with dates only`(text: String) throws {
    let filter = try Filter(text)
    func check(_ text: String) throws {
      for condition in filter.conditions { try condition.check(Thing(id: 1, text: text)) }
    }
    #expect(throws: SourceError.self) { try check("1990-05-01") }
    try check("a")
  }

  @Test func `compares texts exactly, or folded`() throws {
    let thing = Thing(id: 1, text: "Spider-Man")
    #expect(try thing.matches("text=Spider-Man"))
    #expect(try !thing.matches("text=spider-man"))
    #expect(try thing.matches("text~SPIDERM"))
    #expect(try thing.matches("text!=Hulk"))
    #expect(try thing.matches("text>hulk") && !thing.matches("text<Hulk"))
    // In quotes, the name of a field is a text.
    #expect(try thing.matches("text>\"number\"") && !thing.matches("text < 'list'"))
    #expect(try thing.matches(TypedFilter("text>'number'").quoted))
    #expect(try Thing(id: 1).matches("text=") && Thing(id: 1, text: "").matches("text="))
    #expect(try !Thing(id: 1).matches("text!=") && thing.matches("text!="))
    #expect(try Thing(id: 1).matches("text!=Hulk") && !Thing(id: 1).matches("text<z"))
    #expect(try thing.matches("text in (Hulk, Spider-Man)") && !thing.matches("text in (Hulk)"))
    #expect(try Thing(id: 1).matches("text in (Hulk, '')") && !thing.matches("text in ('')"))
    #expect(try !thing.matches("text>5") && !thing.matches("text<5"))
    #expect(try !thing.matches("text>2026-01-05") && !thing.matches("text in 1..9"))
    #expect(try thing.matches("text in r..t") && !Thing(id: 1).matches("text in a..z"))
    #expect(try thing.matches("text~/^spider.*n$/i") && !thing.matches("text~/^spider/"))
    #expect(try !Thing(id: 1).matches("text~/x*/") && thing.matches("text~/x*/"))
  }

  @Test func `a space of a text that values contain may be a sign there that is left out`() throws {
    let thing = Thing(id: 1, text: "Ann O’Brien, Spider-Man")
    for text in ["obrien", "o brien", "O'BRIEN", "ann o brien", "brien spider man", "o brien, sp"] {
      #expect(try thing.matches("text~\"\(text)\""), "\(text)")
    }
    // Spaces at the ends are those of the value.
    for text in ["nn obrien x", "an no", " brien", "spider ", "' x", "' ann"] {
      #expect(try !thing.matches("text~\"\(text)\""), "\(text)")
    }
  }

  @Test func `compares fields whose names need quotes`() throws {
    let fields = [Field<Thing>("Customer Name", "Customer", \.text, about: "")]
    func filter(_ text: String) throws -> Filter<Thing> {
      try Filter(TypedFilter(text), fields, at: Thing.now)
    }
    let ann = Thing(id: 1, text: "Ann")
    #expect(try filter(#""Customer Name" = Ann"#).matches(ann))
    #expect(try !filter(#"not ("Customer Name"~an)"#).matches(ann))
    let condition = try #require(filter(#""Customer Name"=EU or AS or DC"#).conditions.first)
    #expect(
      condition.nearMiss(in: [Thing(id: 2, text: "AS")], or: nil)
        == #""Customer Name" in (EU, AS, DC)"#)
  }

  @Test func `the members of an object are suggested in its place`() throws {
    let fields = ["owner.name", "owner.email"].map { Field<Thing>($0, $0, \.text, about: "") }
    let error = #expect(throws: FilterError.self) { try fields.field(named: "owner") }
    // Two names are no suggestion, which is one text.
    #expect(error?.suggestion == nil && error?.hint == "similar fields: owner.name, owner.email")
  }

  @Test(arguments: [
    ("id name", "id,name"), ("id; name", "id,name"), ("avg", "mean"), ("id nam", nil),
  ])
  func `what is meant by a name is suggested`(name: String, suggestion: String?) throws {
    let fields = ["id", "name", "mean"].map { Field<Thing>($0, $0, \.text, about: "") }
    let error = #expect(throws: FilterError.self) { try fields.field(named: name) }
    #expect(error?.suggestion == suggestion)
  }

  @Test func `dates of RFC 822 are dates`() throws {
    let texts = [
      "Mon, 02 Jan 2023 10:00:00 GMT", "Tue, 27 Dec 2022 23:30:00 -0100", "1 Feb 2023 09:00 Z",
      "Sun, 02 Jan 22 10:00:00 PST",
    ]
    let things = texts.enumerated().map { Thing(id: $0.offset, text: $0.element) }
    func ids(_ filter: String) throws -> [Int] {
      try things.filter { try $0.matches(filter) }.map(\.id)
    }
    #expect(try ids("text>2022") == [0, 2])
    #expect(try ids("text=2022-12-28") == [1])
    #expect(try ids("text>=2022-12-28T00:30:00Z and text<2023-02") == [0, 1])
    #expect(try ids("text=2022-01-02T18:00:00Z") == [3])
    #expect(try ids("text='\(texts[0])'") == [0])
    let order = try RecordOrder(["-text"], Thing.fields)
    #expect(order.sorted(things).map(\.id) == [2, 0, 1, 3])
    let monday = try #require(Period("2023-01-02T09:00:00Z"))
    for text in [
      "mon, 02 jan 2023 09:00:00 gmt", "Monday, 2 January 2023 9:00:00 GMT",
      "MON, 02 JAN 2023 10:00:00 CET", "2 Janu 23 9:00:00 z",
    ] {
      let period = try #require(Period(recorded: text), "\(text)")
      #expect(period.start == monday.start, "\(text)")
    }
    #expect(Period(recorded: "Wednesday, 27 September 2023 09:00:00 +0000") != nil)
    let condition = try #require(try Filter("text>abc").conditions.first)
    #expect(throws: SourceError.self) { try condition.check(things[0]) }
    for text in [
      "Mon, 32 Jan 2023 10:00:00 GMT", "Mon, 02 Jan 2023", "2 Jan 2023 10:00:00 XYZ",
      "1 May be 10:00 Z", "1 Ma 2023 10:00 Z", "Smith, 1 Mayor 2023 10:00 Z",
    ] {
      #expect(Period(recorded: text) == nil, "\(text)")
    }
  }

  @Test func `compares numbers as numbers`() throws {
    let ten = Thing(id: 9_007_199_254_740_992, text: "10", number: 10)
    #expect(try ten.matches("number>9") && ten.matches("number=10.0"))
    #expect(try !Thing(id: 1).matches("number>9"))
    #expect(try ten.matches("text>9"))
    #expect(try ten.matches("id<9007199254740993") && !ten.matches("id=9007199254740993"))
    #expect(try ten.matches("number in 9..10") && !ten.matches("number in 10.5..20"))
    #expect(try ten.matches("number in (9, 10.0)") && ten.matches("number~/^1/"))
    #expect(try Thing(id: 1, bool: true).matches("bool=true"))
    for text in ["bool=True", "bool=yes", "bool!=No", "bool in (YES)"] {
      #expect(try Thing(id: 1, bool: true).matches(text), "\(text)")
    }
    for text in ["number=1e1", "number>-.5", "number<.1E+3", "number in -1e-3..1.0e1"] {
      #expect(try ten.matches(text), "\(text)")
    }
    let price = Thing(id: 1, text: "10.50")
    for text in ["text=10.5", "text in (9, 1.05e1)", "text in 10..11", "not text!=10.5"] {
      #expect(try price.matches(text), "\(text)")
    }
    #expect(try !price.matches("text=10.05") && !price.matches("text in (10, 11)"))
    // A code.
    let code = Thing(id: 1, text: "007")
    #expect(try !code.matches("text=7") && code.matches("text=007") && code.matches("text!=7"))
    guard case .condition(let seven) = try Filter("text=7") else { return }
    #expect(seven.nearMiss(in: [code], or: nil) == "007")
    let plain = Thing(id: 7, text: "7", number: 7)
    for text in ["text=007", "text='007'", "text in (007, 07.0)", "text=00"] {
      #expect(try !plain.matches(text), "\(text)")
    }
    #expect(try plain.matches("text!=007") && plain.matches("text>=007"))
    #expect(try code.matches("text in (7, 007)") && !code.matches("text!='007'"))
    // Numbers have no zeros before them.
    #expect(try plain.matches("number=007") && plain.matches("id in (007)"))
    #expect(try ValueCondition("=007", at: Thing.now).matches(.string("7")) { false } == false)
    #expect(try ValueCondition("=007", at: Thing.now).matches(.string("007")) { false } == true)
    guard case .condition(let zeros) = try Filter("text=007") else { return }
    #expect(zeros.nearMiss(in: [plain], or: nil) == "7")
    // Of records, only digits are a number.
    #expect(try !Thing(id: 1, text: "1e9").matches("text>5"))
    #expect(try !Thing(id: 1).matches("bool in (true, false)"))
    for text in [
      "number=1e", "number=0x1", "number=+1", "number=1e999", "number=nan", "bool=maybe",
      "bool=1", "number in (1, x)", "number in 1..x", "bool in false..true",
      "list in a..b", "number in 2..1", "text in 2026..2025", "text~/(/",
    ] {
      #expect(throws: FilterError.self, "\(text)") { try Filter(text) }
    }
  }

  @Test(
    arguments: [
      ("number>=1 number<2", nil, "join conditions by \"and\""),
      ("number in (1..2)", nil, "write number in 1..2"), ("number=x", nil, "such as number>10"),
      ("number=null", nil, "write number=, which matches records without a value"),
      ("number!=NULL", nil, "write number!=, which matches records with a value"),
      ("number>1,5", nil, "write number>1.5"), ("number=4,5", nil, "write number=4.5"),
      ("number in 4,5..6", nil, "write number in 4.5..6"),
      ("$.text=x", "text", "available fields: id, text, number, list, bool"),
      ("'text'=x", "text", "available fields: id, text, number, list, bool"),
      ("list[0]=x", "list", "available fields: id, text, number, list, bool"),
      ("number>1,500", nil, "such as number>10"),
      ("number>3)", nil, "no ( before ): write number>3"),
      ("20<number", "number>20", "the field comes first"),
      ("20<=number<30", nil, nil),
      ("id<number", nil, "a query in SQL can: WHERE id < number; quote a text"),
      ("text >= id", nil, "a query in SQL can: WHERE text >= id; quote a text"),
      ("20 <= number < 30", "number>=20 and number < 30", "the field comes first"),
      ("'x' = text", "text='x'", "the field comes first"),
      ("number>2026-03-01", nil, "if it is Unix time, write number>1772323200"),
      ("txet=number", "text", "available fields: id, text, number, list, bool"),
    ] as [(String, String?, String?)])
  func `names the condition that is meant`(text: String, suggestion: String?, hint: String?) throws
  {
    let error = #expect(throws: FilterError.self) { try Filter(text) }
    if hint != nil { #expect(error?.suggestion == suggestion && error?.hint == hint, "\(text)") }
  }

  @Test(
    arguments: [
      ("text=open and number is null", "write number=, which matches records without a value"),
      ("text=open or number is not null", "write number!=, which matches records with a value"),
      ("text~open and Number is 3", "write Number=VALUE"),
      ("text=x and number has", "write number~"),
      ("text=x and number before 3", "write number<VALUE"),
      ("text=x and number between 1 and 2", "write number in A..B"),
      ("text=x and number in it", "such as number in (1, 2)"),
      ("text=x and not number is null", "write number="),
      ("text=x and (number is null)", "write number=,"),
      ("(text=x and (number is null)) or id=2", "write number=,"),
      ("text=x and \"number\" is null", "write number="),
      ("not (text=x and number is null)", "write number="),
      ("id>1 and text=x, number is null and id<3", "write number="),
      ("text=x and number≥3", "write number>=VALUE"),
      ("text=x and number ≥ 3", "write number>=VALUE"), ("text=x and number:3", "write number=3"),
      ("text=x and bool", "write bool=yes"), ("text=x or not bool and id=1", "write bool=no"),
      ("text=x and (bool)", "write bool=yes"), ("text in a..b and number is null", "write number="),
      ("number=3 and bool", "write bool=yes"),
    ] as [(String, String)])
  func `half of a condition on a known field is no text`(text: String, hint: String) throws {
    let error = #expect(throws: FilterError.self, "\(text)") { try Filter(text) }
    #expect(error?.hint?.hasPrefix(hint) == true, "\(text): \(error?.hint ?? "")")
    #expect(error?.hint?.contains("; quote a text") == true, "\(text): \(error?.hint ?? "")")
  }

  @Test(arguments: [
    "war and peace", "rock and roll is dead", "salt or number", "x and number", "x and (y) is z",
    "not bool", "bool", "this, list", "tags, bool", "x and number: one", "x and boolean",
    "if not number is it", "number is null", "x and 12:30",
    "x and \"", "x, \" is", "x and (", "x and \"number is",
  ])
  func `a text that joins nothing stays one`(text: String) throws {
    #expect(try Thing(id: 1, text: text).matches("text=\(text)"))
  }

  @Test func `half of a condition is named as it was typed, and in quotes it is a text`() throws {
    let text = "open and number is null"
    let error = #expect(throws: FilterError.self) { try Filter("text=\(text)") }
    #expect(error?.message == #"invalid condition "number is null": no operator (character 8)"#)
    #expect(
      error?.hint
        == #"write number=, which matches records without a value; quote a text: text="open and number is null""#
    )
    #expect(try Thing(id: 1, text: text).matches("text=\"\(text)\""))
    #expect(try Thing(id: 1, text: text).matches("text='\(text)' and number="))
  }

  @Test func `compares dates as dates`() throws {
    let thing = Thing(id: 1, text: "2026-01-05T23:30:00-02:00")
    #expect(try thing.matches("text=2026-01-06") && !thing.matches("text=2026-01-05"))
    #expect(try thing.matches("text>2026-01-05") && !thing.matches("text>2026-01-06"))
    #expect(try thing.matches("text<=2026-01-06") && !thing.matches("text<2026-01-06"))
    #expect(try thing.matches("text=2026") && thing.matches("text>=2026-01"))
    #expect(try thing.matches("text<2026-01-06T01:30:01Z"))
    #expect(try thing.matches("text in 2025..2026-01") && !thing.matches("text in 2024..2025"))
    #expect(try Thing(id: 1, text: "2026-01-01").matches("text>2025-12-31"))
    #expect(Period("2024-02-29") != nil && Period("2023-02-29") == nil)
    #expect(Period("1970-01-01T00:00:00.25Z")?.start == 0.25)
    #expect(Period("1969-12-31")?.start == -86400)
    // As short as a Double distinguishes.
    let instant = try #require(Period("9999-12-31T23:59:59.\(String(repeating: "0", count: 400))1"))
    #expect(instant.start < instant.end)
    #expect(Period("2026-13-01") == nil && Period("2026-01-05x") == nil)
  }

  @Test(arguments: [
    ("=today", "2026-03-01", true), ("=today", "2026-02-28T23:59:59Z", false),
    ("=today", "2026-03-01T01:00:00+02:00", false), (">yesterday", "2026-03-01T00:00:00Z", true),
    (">yesterday", "2026-02-28", false), (">=Yesterday", "2026-02-28", true),
    ("<now", "2026-03-01T09:59:59Z", true), (">=now", "2026-03-01T09:59:59Z", false),
    (">7d ago", "2026-02-22T10:00:01Z", true), (">7d ago", "2026-02-22T09:59:59Z", false),
    (">1 week ago", "2026-02-22T10:00:01Z", true),
    // Months and years are those of the calendar: 2026-02-01, and 2025-03-01 and 1996-03-01 beyond leap days.
    (">=1 month ago", "2026-02-01T10:00:00Z", true),
    (">1 month ago", "2026-02-01T09:59:59Z", false),
    (">=1y ago", "2025-03-01T10:00:00Z", true), (">1 year ago", "2025-03-01T09:59:59Z", false),
    (">=30 years ago", "1996-03-01T10:00:00Z", true), (">30y ago", "1996-03-01T09:59:59Z", false),
    ("<90 minutes ago", "2026-03-01T08:29:00Z", true),
    (" in 2h ago..now", "2026-03-01T09:00:00Z", true),
    (" in '2h ago'..now", "2026-03-01T07:00:00Z", false),
    (" in 2026-02..yesterday", "2026-02-28T20:00:00Z", true),
    (" in (today, yesterday)", "2026-02-28", true),
    ("=2026-Q1", "2026-03-31T23:59:59Z", true), ("=2026-q1", "2026-04-01", false),
    (" in 2025-Q4..2026-Q1", "2025-10-01", true), (">2025-Q4", "2025-12-31", false),
    // The first week of 2026 begins in 2025.
    ("=2026-W01", "2025-12-29", true), ("<2026-W01", "2025-12-29", false),
    ("=2026-W53", "2027-01-03", true), ("=2024-W01", "2024-01-01", true),
    // Texts are what they were.
    ("=2026-Q1", "2026-Q1", true), ("=today", "today", true), ("<today", "someday", true),
    ("=7d ago", "7d ago", true),
  ])
  func `tells dates from now`(condition: String, text: String, expected: Bool) throws {
    #expect(try Thing(id: 1, text: text).matches("text\(condition)") == expected)
  }

  @Test(arguments: [
    "soon", "7 ago", "7x ago", "d ago", "7d", "1000000d ago", "7 d ago now", "1.5d ago",
    "2026-Q0", "2026-Q5", "2026-Q+1", "26-Q1", "2026-Q01", "2026-W00", "2025-W53", "2026-W1",
  ])
  func `other words are no dates`(word: String) {
    #expect(Period(words: word, at: Thing.now) == nil)
  }

  @Test func `a month ago is in the month before`() throws {
    let last = Date(timeIntervalSince1970: try #require(Period("2024-03-31T00:00Z")).start)
    let leap = Date(timeIntervalSince1970: try #require(Period("2024-02-29T00:00Z")).start)
    let day = Period("2024-02-29")?.start
    #expect(Period(words: "1 month ago", at: last)?.start == day)
    #expect(Period(words: "1y ago", at: leap)?.start == Period("2023-02-28")?.start)
    #expect(try #require(Period(words: "99999 years ago", at: leap)).start < -3e12)
  }

  @Test func `numbers are not compared with words`() throws {
    let field = Field<Thing>("any", "Any", .any, about: "") { .integer($0.id) }
    func condition(_ text: String) throws -> Condition<Thing> {
      guard case .condition(let typed) = try TypedFilter(text) else { throw FilterError("none") }
      return try Condition(typed, [field], at: Thing.now)
    }
    let cheap = try condition("any<cheap")
    #expect(cheap.needsAllValues)
    let numbers = CommonKind(of: [.integer(1), .null, .number(2.5)])
    #expect(throws: SourceError.self) { try cheap.check(all: numbers) }
    let unjoined = try condition("any>=10 any<20")
    let error = #expect(throws: SourceError.self) { try unjoined.check(all: numbers) }
    #expect(error?.remedy == "join conditions by \"and\"")
    let days = CommonKind(of: [.string("2026-01-02")])
    for (text, kind, remedy) in [
      ("any=1..5", numbers, "write any in 1..5"), ("any in (1..5)", numbers, "write any in 1..5"),
      ("any in 1,5..3", numbers, "write any in 1.5..3"),
      ("any=2020..2021", days, "write any in 2020..2021"),
      ("any>last week", days, "write any>1 week ago"),
      ("any>=past 30 days", days, "write any>=30 days ago"),
      ("any<2026-01", numbers, "if it is Unix time, write any<1767225600"),
      ("any<1.02.2020", days, "write the date as 2020-02-01"), ("any<1.13.2020", days, nil),
    ] as [(String, CommonKind, String?)] {
      let error = #expect(throws: SourceError.self) { try condition(text).check(all: kind) }
      #expect(error?.remedy?.text == remedy, "\(text)")
    }
    try cheap.check(all: CommonKind(of: [.integer(1), .string("free")]))
    try cheap.check(all: CommonKind(of: [.null]))
    for text in ["any~cheap", "any=", "any~/x/"] {
      #expect(try !condition(text).needsAllValues)
    }
    // Nor is any value equal to a text of another kind.
    for text in ["any=cheap", "any!=cheap", "any in (1, cheap)"] {
      #expect(try condition(text).needsAllValues)
      #expect(throws: SourceError.self) { try condition(text).check(all: numbers) }
      try condition(text).check(all: CommonKind(of: [.string("cheap")]))
    }
    for text in ["any<2026-01", "any>yesterday", "any=today", "any in 1..7d ago"] {
      #expect(try condition(text).needsAllValues)
      #expect(throws: SourceError.self) { try condition(text).check(all: numbers) }
      try condition(text).check(all: CommonKind(of: [.integer(1), .string("2026-01-02")]))
    }
    // A year is a number as well.
    try condition("any>2026").check(all: numbers)
    let flags = CommonKind(of: [.bool(true), .null])
    for text in ["any=maybe", "any=2024"] {
      #expect(try condition(text).needsAllValues)
      #expect(throws: SourceError.self) { try condition(text).check(all: flags) }
    }
    for text in ["any=false", "any=Yes"] { try condition(text).check(all: flags) }
    let dates = CommonKind(of: [.string("2026-01-02"), .string("2026-01-02T10:00:00Z")])
    #expect(throws: SourceError.self) { try condition("any=1990-13").check(all: dates) }
    for text in ["any=1990-12", "any=yesterday", "any!="] {
      try condition(text).check(all: dates)
    }
  }

  @Test func `looks into lists`() throws {
    let thing = Thing(id: 1, list: ["Flight", "Agility"])
    #expect(try thing.matches("list=Flight") && !thing.matches("list!=Flight"))
    #expect(try thing.matches("list~agil") && thing.matches("list!=Web"))
    #expect(try thing.matches("list in (Web, Agility)") && thing.matches("list~/^Fl/"))
    #expect(try Thing(id: 1).matches("list=") && !thing.matches("list="))
  }

  @Test func `sorts stably, missing values last`() throws {
    let things = [
      Thing(id: 1, text: "b"), Thing(id: 2), Thing(id: 3, text: "10"), Thing(id: 4, text: "Äb"),
      Thing(id: 5, text: "9"), Thing(id: 6, text: "B"), Thing(id: 7, text: ""),
    ]
    func ids(_ names: String...) throws -> [Int] {
      try RecordOrder(names, Thing.fields).sorted(things).map(\.id)
    }
    #expect(try ids("text") == [5, 3, 4, 1, 6, 2, 7])
    #expect(try ids("+text") == [5, 3, 4, 1, 6, 2, 7])
    #expect(try ids("-text") == [1, 6, 4, 3, 5, 2, 7])
    #expect(try ids("-text", "-id") == [6, 1, 4, 3, 5, 7, 2])
    #expect(try ids("number", "-id") == [7, 6, 5, 4, 3, 2, 1])
  }

  @Test func `keeps integers of any length apart`() throws {
    let texts = [
      "-9223372036854775809", "-9223372036854775808", "9223372036854775807", "9223372036854775808",
      "99999999999999999999", "100000000000000000001", "100000000000000000002",
      "7000000000000000000000000000000000000000000001",
      "7000000000000000000000000000000000000000000002",
    ]
    let things = texts.enumerated().map { Thing(id: $0.offset, text: $0.element) }
    let sorted = try RecordOrder(["text"], Thing.fields).sorted(things.reversed())
    #expect(sorted.map(\.id) == Array(texts.indices))
    for (index, text) in texts.enumerated() {
      #expect(try things.filter { try $0.matches("text=\(text)") }.map(\.id) == [index])
      #expect(try things.filter { try $0.matches("text>\(text)") }.count == texts.count - index - 1)
    }
    #expect(try Thing(id: 1, text: "100000000000000000000").matches("text>=1e20"))
    #expect(try !Thing(id: 1, text: "100000000000000000001").matches("text<=1e20"))
  }

  @Test func `counts values`() throws {
    func values(_ list: [JSON]) -> FieldValues {
      var values = FieldValues()
      for value in list { values.add(value) }
      return values
    }
    func statistics(_ list: [JSON]) -> String {
      values(list).statistics.map { "\($0.name) \($0.value.text)" }.joined(separator: ", ")
    }
    let numbers: [JSON] = [.integer(3), .number(1), .null, .integer(1), .number(2.5)]
    #expect(values(numbers).distinct == [.integer(1), .number(2.5), .integer(3)])
    #expect(
      values(numbers).groups.map { "\($0.value.text) \($0.count)" }
        == ["1 2", "2.5 1", "3 1", "null 1"])
    #expect(
      statistics(numbers)
        == "count 4, min 1, max 3, mean 1.875, median 1.75, sum 7.5, distinct 3, empty 1")
    #expect(
      statistics([.integer(1), .integer(3), .integer(2), "n/a", "n/a"])
        == "count 5, min 1, max 3, mean 2, median 2, sum 6, distinct 4, others 2, empty 0")
    #expect(statistics([1, 1, 2].map(JSON.integer)).contains("mean \(4.0 / 3),"))
    #expect(statistics([.number(0.25), .integer(1), .integer(1)]).contains("mean 0.75,"))
    #expect(statistics([.number(0.5), .integer(1), .integer(1)]).contains("mean \(2.5 / 3),"))
    #expect(statistics([.number(443.7), .number(443.9)]).contains("median 443.8,"))
    #expect(
      statistics([1] + Array(repeating: 0, count: 2999).map(JSON.integer))
        .contains("mean \(1.0 / 3000),"))
    // All digits of a quotient, but not those of a rounding error.
    #expect(statistics([0.1, 0.1, 0.1].map(JSON.number)).contains("mean 0.1,"))
    // Of the values, not of the different ones.
    #expect(statistics([.integer(1), .integer(3), "x", "x"]).contains(#"first 1, last "x","#))
    #expect(statistics([.integer(1), "b"]).contains(#"first 1, last "b","#))
    #expect(statistics([.number(0.1), .number(0.2), .number(0.3)]).contains("sum 0.6,"))
    // As decimal fractions: 3 × 0.1 is more than 0.3 in binary.
    #expect(statistics([0.1, 0.1, 0.1].map(JSON.number)).contains("sum 0.3,"))
    #expect(statistics(Array(repeating: .number(8782.39), count: 7)).contains("sum 61476.73,"))
    #expect(statistics([1e-20, 1e-20].map(JSON.number)).contains("sum 2e-20,"))
    #expect(statistics([.integer(.max), .integer(.max)]).contains(/sum 1\.?8/))
    #expect(
      statistics(["2026-01-02", "2025-12-31", ""])
        == #"count 2, earliest "2025-12-31", latest "2026-01-02", distinct 2, empty 1"#)
    #expect(statistics(["b", "Ä"]) == #"count 2, first "Ä", last "b", distinct 2, empty 0"#)
    #expect(statistics([.null]) == "count 0, distinct 0, empty 1")
    let lists: [JSON] = [.array(["x", "y", "x"]), .array(["x"]), .array([])]
    #expect(values(lists).groups.map(\.count) == [2, 1, 1])
  }

  @Test func `counts combinations of values, up to a limit`() {
    var groups = FieldGroups()
    let rows: [[JSON]] = [
      ["a", .integer(1)], ["b", .number(1)], ["a", .number(1)], [.null, .array(["x", "y", "x"])],
    ]
    for row in rows {
      let fits = groups.add(row)
      #expect(fits)
    }
    #expect(
      groups.sorted.map { "\(JSON.array($0.values).text) \($0.count)" }
        == [#"["a",1] 2"#, #"["b",1] 1"#, #"[null,"x"] 1"#, #"[null,"y"] 1"#])
    let many = JSON.array((0..<1000).map { .integer($0) })
    let fits = groups.add([many, many])
    #expect(!fits)
  }

  // MARK: - Any filter

  /// A filter, and what it means, by other means.
  private struct Sample {
    /// How tightly its joint binds: 0 for `or`, 1 for `and`, 2 for neither.
    var strength: Int
    var text: String
    var matches: (Thing) -> Bool

    /// In parentheses where it would bind too loosely, and sometimes elsewhere.
    func text(within strength: Int, _ random: inout SeededGenerator) -> String {
      self.strength < strength || Int.random(in: 0..<8, using: &random) == 0
        ? ["(\(text))", "( \(text) )"].randomElement(using: &random) ?? "" : text
    }

    static func condition(_ random: inout SeededGenerator) -> Sample {
      let number = Int.random(in: 0...4, using: &random)
      let other = number + Int.random(in: 0...2, using: &random)
      let word = ["a", "b", "a b", "x (y)"].randomElement(using: &random) ?? ""
      let samples: [(String, (Thing) -> Bool)] = [
        ("id=\(number)", { $0.id == number }), ("id !=\(number)", { $0.id != number }),
        ("id< \(number)", { $0.id < number }), ("id>=\(number)", { $0.id >= number }),
        ("id in \(number)..\(other)", { $0.id >= number && $0.id <= other }),
        ("id in (\(number),\(other))", { $0.id == number || $0.id == other }),
        ("id not in (\(number))", { $0.id != number }),
        ("number>\(number)", { $0.number.map { $0 > Double(number) } ?? false }),
        ("text=\(word)", { $0.text == word }), ("text!='\(word)'", { $0.text != word }),
        ("text~\(word)", { $0.text?.contains(word) ?? false }),
        ("text=\"\"", { $0.text == nil }),
        ("text in (c, \(word))", { ["c", word].contains($0.text) }),
        ("text~/^a/", { $0.text?.hasPrefix("a") ?? false }),
        ("list=x", { $0.list.contains("x") }), ("list!=y", { !$0.list.contains("y") }),
        ("bool = true", { $0.bool == true }), ("bool!=false", { $0.bool != false }),
      ]
      let sample = samples.randomElement(using: &random) ?? samples[0]
      return Sample(strength: 2, text: sample.0, matches: sample.1)
    }

    static func filter(depth: Int, _ random: inout SeededGenerator) -> Sample {
      guard depth > 0, Int.random(in: 0..<4, using: &random) > 0 else { return condition(&random) }
      let part = filter(depth: depth - 1, &random)
      if Int.random(in: 0..<3, using: &random) == 0 {
        let word = ["not", "NOT"].randomElement(using: &random) ?? ""
        return Sample(strength: 2, text: "\(word) \(part.text(within: 2, &random))") {
          !part.matches($0)
        }
      }
      let other = filter(depth: depth - 1, &random)
      let isAnd = Bool.random(using: &random)
      let strength = isAnd ? 1 : 0
      let word = (isAnd ? ["and", "AND"] : ["or", "Or"]).randomElement(using: &random) ?? ""
      let text =
        "\(part.text(within: strength, &random)) \(word) \(other.text(within: strength, &random))"
      return Sample(strength: strength, text: text) {
        isAnd ? part.matches($0) && other.matches($0) : part.matches($0) || other.matches($0)
      }
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `selects what the filter says`(seed: UInt64) throws {
    var random = SeededGenerator(seed)
    let things = (0..<40).map { _ in
      Thing(
        id: Int.random(in: 0...5, using: &random),
        text: ["a", "b", "c", "a b", "x (y)", "ba", nil].randomElement(using: &random) ?? nil,
        number: [nil, 0, 2.5, 4].randomElement(using: &random) ?? nil,
        list: ["x", "y"].filter { _ in Bool.random(using: &random) },
        bool: [nil, true, false].randomElement(using: &random) ?? nil)
    }
    for _ in 0..<50 {
      let sample = Sample.filter(depth: 4, &random)
      let typed = try TypedFilter(sample.text)
      #expect(try TypedFilter(typed.quoted) == typed, "\(sample.text)")
      let filter = try Filter(typed, Thing.fields, at: Thing.now)
      for thing in things {
        #expect(filter.matches(thing) == sample.matches(thing), "\(sample.text): \(thing)")
      }
    }
  }
}
