import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorSelection
@testable import AggregatorTerminal

/// Pages of a selection by an index are those of the same selection without one.
@Suite struct RecordIndexTests {
  struct Thing: SourceRecord {
    var id: Int
    var text: String?
    var number: Double?
    var list: [String] = []
    var bool: Bool?
  }

  private static let fields: [Field<Thing>] = [
    Field("id", "ID", \.id, about: ""),
    Field("text", "Text", \.text, about: "", isSearchable: true),
    Field("number", "Number", \.number, about: ""), Field("list", "List", \.list, about: ""),
    Field("bool", "Bool", \.bool, about: ""),
  ]

  private static let texts = [
    nil, "", "2", "10", "Éclair", "eclair", "ECLAIR", "2024-05-01", "2024-05", "1999", "Zoë",
    "a b c",
    "日本", "-3.5",
  ]

  private let sandbox: Sandbox
  private let store: SQLiteStore
  private let records: RecordStore<Thing>
  private let index: RecordIndex<Thing>

  init() throws {
    sandbox = try Sandbox()
    store = SQLiteStore(at: sandbox.home.appending(path: "store.sqlite"))
    records = RecordStore("things", in: store) { Self.fields.searchableText(of: $0) }
    index = RecordIndex(records, Self.fields) { $0.bool == nil }
  }

  private static func thing(_ id: Int, _ random: inout SeededGenerator) -> Thing {
    Thing(
      id: id, text: texts.randomElement(using: &random) ?? nil,
      number: [nil, 0, -1.5, 3, 1e6].randomElement(using: &random) ?? nil,
      list: ["x", "y", "z"].filter { _ in Bool.random(using: &random) },
      bool: [nil, true, false].randomElement(using: &random) ?? nil)
  }

  private func save(_ things: [Thing]) async throws {
    _ = try await records.save(things, at: Date())
  }

  @Test func `a selection is as old as the last fetch of its records, changed or not`()
    async throws
  {
    var page = PageMetadata(next: nil, total: nil, endpoint: nil)
    page.rows = 3
    let things = (0..<3).map { Thing(id: $0) }
    for seconds in [1_800_000_000.0, 1_800_000_600] {
      let date = Date(timeIntervalSince1970: seconds)
      _ = try await records.save(things, page: (key: "first", page: page), at: date)
      for source in try sources(["id>0"], nil) {
        #expect(try await source.page(PageRequest()).provenance.fetchedAt == date)
      }
    }
  }

  @Test func `all records as they are take no more than the page that is asked for`()
    async throws
  {
    try await save((0..<1500).map { Thing(id: $0) })
    let stored = records.records
    let base = ScriptedSource<Thing>(page: { request throws(SourceError) in
      guard request.cursor == nil else { throw SourceError(.storage, "read on") }
      return try await stored.page(request)
    })
    let selection = try Selection(
      SelectionText(conditions: []), Self.fields, at: Date(), inAnyCase: true)
    var source = SelectedSource("things", of: base, selection) { _ in false }
    await #expect(throws: SourceError.self) { try await source.page(PageRequest(limit: 20)) }
    source.isAll = true
    let page = try await source.page(PageRequest(limit: 20))
    #expect((page.records.count, page.total) == (20, 1500))
  }

  private func sources(
    _ conditions: [String], _ order: String?
  ) throws -> [any DataSource<Thing>] {
    let selection = try Selection(
      SelectionText(conditions: conditions, order: order), Self.fields, at: Date())
    let selected = SelectedSource(
      "things", of: records.records, selection, mayBeEmpty: true
    ) { $0.bool == nil }
    return [selected, IndexedSource(index, selected)]
  }

  private func all(
    of source: any DataSource<Thing>, matching query: SearchQuery?, by size: Int
  ) async throws -> [Thing] {
    var all: [Thing] = []
    var cursor: PageCursor?
    repeat {
      let page = try await source.page(PageRequest(matching: query, after: cursor, limit: size))
      all += page.records
      cursor = page.next
    } while cursor != nil
    return all
  }

  private static let selections: [(conditions: [String], order: String?)] = [
    ([], "text"), ([], "-text,id"), ([], "number,-text"), (["text~ecl"], nil),
    (["text=eclair"], "-id"),
    (["text>=2024-05-01"], nil), (["text="], "bool"), (["list=x", "list!=y"], "-number"),
    (["number>0"], "list"), (["bool=true and number<=3"], "-list,text"), (["id>40"], nil),
    (["text!=10"], "-bool,number,text"), (["text=nothing at all"], "id"),
    (["text~ecl or not (number in 0..3 or list=x)", "id not in (4, 5)"], "-id"),
    (["text~/^[a-zé]/i and not bool=true"], nil), (["text in 2024..2024-06 or id=3"], nil),
  ]

  @Test(arguments: 0..<3)
  func `shows the same records in the same order, whatever changes`(seed: UInt64) async throws {
    var random = SeededGenerator(seed)
    for round in 0..<4 {
      try await save((0..<60).map { Self.thing($0 + round * 20, &random) })
      _ = try await store.delete(
        ["\(Int.random(in: 0..<60, using: &random))"], of: "things", at: Date())
      for (conditions, order) in Self.selections {
        let sources = try sources(conditions, order)
        for query in [nil, try SearchQuery("e"), try SearchQuery("eclair")] {
          let plain = try? await all(of: sources[0], matching: query, by: 7)
          let indexed = try? await all(of: sources[1], matching: query, by: 7)
          #expect(plain == indexed, "\(conditions) \(order ?? "") \(query?.text ?? "")")
          guard plain != nil else { continue }
          let pages = [
            try await sources[0].page(PageRequest(matching: query)),
            try await sources[1].page(PageRequest(matching: query)),
          ]
          #expect(pages[0].total == pages[1].total && pages[0].warnings == pages[1].warnings)
        }
      }
    }
  }

  @Test(arguments: [
    ("text>100", ["2 of 3 values of \"text\" cannot be compared as numbers"]),
    ("text in 2025-02-01..2026-01-01", ["3 of 3 values of \"text\" cannot be compared as dates"]),
    ("text>2025 or id=1", ["2 of 3 values of \"text\" cannot be compared as numbers or dates"]),
    ("text>A and text!=100 and number>5", []),
  ])
  func `says which values a comparison leaves out`(
    condition: String, messages: [String]
  ) async throws {
    let texts = ["$5", "12/31/2024", "300", "", nil]
    try await save(texts.enumerated().map { Thing(id: $0, text: $1, number: 3, bool: true) })
    for source in try sources([condition], nil) {
      let page = try await source.page(PageRequest())
      #expect(page.warnings.map(\.message) == messages)
    }
  }

  @Test func `a page begins at any position, and goes on behind its last record`() async throws {
    try await save((0..<50).map { Thing(id: $0, number: Double(100 - $0)) })
    let source = try sources([], "number")[1]
    let first = PageRequest(limit: 10)
    let cursor = try #require(source.cursor(skipping: 30, from: first))
    let page = try await source.page(first.after(cursor))
    #expect(page.records.map(\.id) == Array((10...19).reversed()) && page.total == 50)
    // What is deleted or added before the position moves nothing.
    _ = try await store.delete(["49", "48", "10"], of: "things", at: Date())
    try await save([Thing(id: 99, number: -1)])
    let next = try await source.page(first.after(page.next))
    #expect(next.records.map(\.id) == Array((0...9).reversed()) && next.next == nil)
    let end = try await source.page(first.after(source.cursor(skipping: 1000, from: first)))
    #expect(end.records.isEmpty && end.next == nil)
  }

  @Test func `words tell another date on another day, though rows of selections are kept`()
    async throws
  {
    try await save([Thing(id: 1, text: "2026-05-01"), Thing(id: 2, text: "2026-05-03")])
    let day = try #require(ISO8601DateFormatter().date(from: "2026-05-02T12:00:00Z"))
    for (days, ids) in [(0.0, [1, 2]), (2, [2]), (5, []), (0, [1, 2])] {
      let now = day.addingTimeInterval(days * 86_400)
      let text = SelectionText(conditions: ["text>2 days ago"])
      let selection = try Selection(text, Self.fields, at: now)
      let selected = SelectedSource("things", of: records.records, selection) { _ in false }
      let page = try await IndexedSource(index, selected).page(PageRequest())
      #expect(page.records.map(\.id) == ids, "\(days)")
    }
  }

  @Test func `counts the matches of a search that are there now, though its rows are kept`()
    async throws
  {
    let query = try SearchQuery("clair")
    for count in 1...3 {
      try await save([Thing(id: count, text: "Éclair \(count)"), Thing(id: -count, text: "other")])
      for _ in 0..<2 { #expect(try await index.count(matching: query) == count) }
    }
    try await records.delete(2)
    #expect(try await index.count(matching: query) == 2)
  }

  @Test func `a cursor of another selection is invalid`() async throws {
    try await save((0..<50).map { Thing(id: $0) })
    let cursor = try await sources([], "id")[1].page(PageRequest(limit: 5)).next
    for other in [try sources([], "-id")[1], try sources(["id>3"], "id")[1]] {
      await #expect(throws: SourceError.self) {
        try await other.page(PageRequest(after: cursor, limit: 5))
      }
    }
  }

  @Test func `values of one frequency are ordered as records are sorted by them`() async throws {
    let texts = ["Zug", "Ärlen", "berlin", "Aachen", "Berne", "Zug"]
    try await save((0..<24).map { Thing(id: $0, text: texts[$0 % 6]) })
    let all = try Selection(SelectionText(conditions: []), Self.fields, at: Date())
    let facets = try await index.facets(of: Self.fields, selectedBy: all, matching: nil)
    let facet = try #require(facets.first { $0.field == "text" })
    #expect(facet.values.map(\.text) == ["Zug", "Aachen", "Ärlen", "berlin", "Berne"])
  }

  @Test func `facets count values and ranges of what is selected`() async throws {
    try await save(
      (0..<120).map { id in
        Thing(
          id: id, text: id < 100 ? "20\(10 + id % 10)-01-0\(1 + id % 9)" : nil,
          number: Double(id % 7),
          list: id % 2 == 0 ? ["x", "y"] : ["x"], bool: id % 3 == 0 ? nil : true)
      })
    let all = try Selection(SelectionText(conditions: []), Self.fields, at: Date())
    let facets = try await index.facets(of: Self.fields, selectedBy: all, matching: nil)
    // One value of all says nothing, unless it is what was asked for.
    let one = try Selection(SelectionText(conditions: ["id=1"]), Self.fields, at: Date())
    let few = try await index.facets(of: Self.fields, selectedBy: one, matching: nil)
    #expect(!few.contains { $0.field == "list" || $0.field == "id" })
    let uniform = try await index.facets(
      of: Self.fields, selectedBy: one, matching: nil, keepsUniform: true
    ).first { $0.field == "list" }
    #expect(uniform?.isUniform == true && uniform?.values.map(\.text) == ["x"])
    // Ranges of IDs say nothing.
    try #require(facets.map(\.field) == ["text", "number", "list", "bool"])
    #expect(facets[0].isRange && facets[0].values.map(\.text) == (2010...2019).map { "\($0)" })
    #expect(facets[0].missing == 20)
    #expect(facets[2].values.map { "\($0.text) \($0.count)" } == ["x 120", "y 60"])
    #expect(facets[3].values.map(\.count) == [80] && facets[3].missing == 40)
    // Each condition selects what its count says.
    for facet in facets {
      for value in facet.values {
        let selected = try await sources([value.condition], nil)[1].page(PageRequest(limit: 1))
        #expect(selected.total == value.count, "\(value)")
      }
    }
    let some = try Selection(
      SelectionText(conditions: ["list=y", "number=2"]), Self.fields, at: Date())
    let narrowed = try await index.facets(of: Self.fields, selectedBy: some, matching: nil)
    // Conditions on a field narrow the facets of the others, and those on lists their own.
    func counts(_ field: String) -> [Int]? {
      narrowed.first { $0.field == field }?.values.map(\.count)
    }
    #expect(counts("number")?.count == 7 && counts("number")?.reduce(0, +) == 60)
    #expect(counts("list") == [9, 9])
    let chosen = try Selection(
      SelectionText(conditions: ["list=x", "id in (1, 3)"]), Self.fields, at: Date())
    let left = try await index.facets(of: Self.fields, selectedBy: chosen, matching: nil)
    #expect(left.first { $0.field == "list" }?.isUniform == true)
  }

  @Test func `a value that is chosen stays in its facet, also if no record has it`() async throws {
    try await save((0..<40).map { Thing(id: $0, text: $0 < 20 ? "a" : "b", number: Double($0)) })
    let some = try Selection(
      SelectionText(conditions: ["text in (a, c)", "number>=20"]), Self.fields, at: Date())
    func values(keepsUniform: Bool) async throws -> [String] {
      let facets = try await index.facets(
        of: Self.fields, selectedBy: some, matching: nil, keepsUniform: keepsUniform)
      let facet = facets.first { $0.field == "text" }
      return facet?.values.map { "\($0.text) \($0.count)" } ?? []
    }
    #expect(try await values(keepsUniform: true) == ["b 20", "a 0"])
    // Of what can be chosen, for programs, there is nothing.
    #expect(try await values(keepsUniform: false) == [])
  }

  @Test func `what is left of a range is divided further`() async throws {
    let things = (0..<600).map { id in
      let month = 1 + id % 12
      let day = 1 + id % 27
      let date = "20\(10 + id % 10)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
      return Thing(id: id, text: date, number: Double(id) / 4)
    }
    try await save(things)
    var chosen: [String] = []
    let steps: [(field: String, texts: [String])] = [
      ("text", ["2012", "2012-03", "2012-03-15"]), ("number", []),
    ]
    for (field, texts) in steps {
      chosen = []
      for step in 0..<3 {
        let some = try Selection(SelectionText(conditions: chosen), Self.fields, at: Date())
        let facets = try await index.facets(
          of: Self.fields, selectedBy: some, matching: nil, dividesRanges: true)
        let facet = try #require(facets.first { $0.field == field })
        #expect(facet.isRange && facet.isDivided == (step > 0) && facet.values.count > 1)
        let plain = try some.facets(of: Self.fields, in: things, dividesRanges: true)
        #expect(plain.first { $0.field == field } == facet)
        for value in facet.values {
          let part = try await sources(chosen + [value.condition], nil)[1]
            .page(PageRequest(limit: 1))
          #expect(part.total == value.count, "\(value)")
        }
        let next = facet.values.first { texts.isEmpty ? $0.count > 10 : $0.text == texts[step] }
        #expect(texts.isEmpty || next != nil, "\(facet.values.map(\.text))")
        let value = try #require(next ?? facet.values.first)
        chosen = [value.condition]
      }
    }
    // Others have all ranges.
    let some = try Selection(SelectionText(conditions: chosen), Self.fields, at: Date())
    let facets = try await index.facets(of: Self.fields, selectedBy: some, matching: nil)
    #expect(facets.allSatisfy { !$0.isDivided })
  }

  @Test func `facets of many values have the most frequent ones, and the number of the others`()
    async throws
  {
    let things = (0..<400).map { id in
      Thing(id: id, text: "Shop \(id % 13 == 0 ? 0 : id % 130)", number: Double(id % 20))
    }
    try await save(things)
    let all = try Selection(SelectionText(conditions: []), Self.fields, at: Date())
    let facets = try await index.facets(of: Self.fields, selectedBy: all, matching: nil)
    let shops = try #require(facets.first { $0.field == "text" })
    #expect(!shops.isRange && shops.values.count == 60 && shops.frequent.count == 10)
    #expect(shops.values.first?.text == "Shop 0" && shops.values.first?.count == 31)
    #expect(shops.omitted == 61 && shops.others == 111)
    #expect(shops.different == 121 && shops.isNearlyUnique)
    for value in shops.values {
      let selected = try await sources([value.condition], nil)[1].page(PageRequest(limit: 1))
      #expect(selected.total == value.count, "\(value)")
    }
    // More than a dozen numbers.
    let numbers = try #require(facets.first { $0.field == "number" })
    #expect(numbers.isRange && numbers.values.reduce(0) { $0 + $1.count } == 400)
    #expect(!numbers.isNearlyUnique)
    // The same of records that no store has.
    #expect(try all.facets(of: Self.fields, in: things) == facets)
    let some = try Selection(SelectionText(conditions: ["number<3"]), Self.fields, at: Date())
    let narrowed = try some.facets(of: Self.fields, in: things)
    #expect(
      try await index.facets(of: Self.fields, selectedBy: some, matching: nil) == narrowed)
  }

  @Test func `the texts of one number are one value of a facet`() async throws {
    let texts = ["1.10", "1.1", "2.0", "007", "7", "1.1", "a"]
    let things = (0..<28).map { Thing(id: $0, text: texts[$0 % texts.count]) }
    try await save(things)
    let all = try Selection(SelectionText(conditions: []), Self.fields, at: Date())
    let facets = try await index.facets(of: Self.fields, selectedBy: all, matching: nil)
    let facet = try #require(facets.first { $0.field == "text" })
    #expect(
      facet.values.map { "\($0.text) \($0.count)" } == ["1.1 12", "2.0 4", "007 4", "7 4", "a 4"])
    #expect(facet.different == 5)
    let value = try #require(facet.values.first)
    let selected = try await sources([value.condition], nil)[1].page(PageRequest(limit: 1))
    #expect(selected.total == value.count)
    // The same of records that no store has.
    #expect(try all.facets(of: Self.fields, in: things) == facets)
  }

  @Test func `a date of another century does not make one range of all others`() async throws {
    try await save(
      (0..<400).map { id in
        let date = "20\(10 + id % 15)-1\(id % 3)-1\(id % 7)"
        return Thing(id: id, text: id == 0 ? "1900-01-01" : date)
      })
    let all = try Selection(SelectionText(conditions: []), Self.fields, at: Date())
    let facets = try await index.facets(of: Self.fields, selectedBy: all, matching: nil)
    let facet = try #require(facets.first { $0.field == "text" })
    #expect(facet.values.reduce(0) { $0 + $1.count } == 400)
    for value in facet.values {
      #expect(value.count <= 200)
      let selected = try await sources([value.condition], nil)[1].page(PageRequest(limit: 1))
      #expect(selected.total == value.count, "\(value)")
    }
  }

  @Test(arguments: [
    (0, "0 to 9", "90 or more"), (1, "−5 to under −4", "4 to under 5"), (2, "under 0", "90 to 99"),
  ])
  func `ranges are equally wide, and open where few are far from the others`(
    shape: Int, first: String, last: String
  ) async throws {
    try await save(
      (0..<400).map { id in
        let number = Double(id % 100)
        let numbers = [
          id < 390 ? number : Double(id) * 1000, number / 10 - 5, id == 0 ? -1e6 : number,
        ]
        return Thing(id: id, number: numbers[shape])
      })
    let all = try Selection(SelectionText(conditions: []), Self.fields, at: Date())
    let facets = try await index.facets(of: Self.fields, selectedBy: all, matching: nil)
    let values = try #require(facets.first { $0.field == "number" }).values
    #expect(values.first?.text == first && values.last?.text == last, "\(values.map(\.text))")
  }

  @Test(arguments: [
    (500.0, "450 to 500", ["0", "500"]), (507, "500 to 549", ["0", "507"]),
    (500.5, "500 to under 550", ["0", "500.5"]),
  ])
  func `the last range ends with the largest number`(
    most: Double, last: String, ends: [String]
  ) async throws {
    try await save(
      (0..<400).map { Thing(id: $0, number: $0 < 355 ? Double($0 % 71 * 7) : most) })
    let all = try Selection(SelectionText(conditions: []), Self.fields, at: Date())
    let facets = try await index.facets(of: Self.fields, selectedBy: all, matching: nil)
    let facet = try #require(facets.first { $0.field == "number" })
    #expect(facet.values.last?.text == last && facet.ends == ends)
    for value in facet.values {
      let selected = try await sources([value.condition], nil)[1].page(PageRequest(limit: 1))
      #expect(selected.total == value.count, "\(value)")
    }
  }

  private static func number(_ index: Int, _ shape: Int) -> Double {
    let number = Double(index)
    switch shape {
    // Few prices are a thousand times the others, and some are fractions of them.
    case 0: return pow(1.025, number) / 4
    case 1: return pow(1.1, Double(index % 300))
    case 2: return index == 0 ? 1e6 : Double(1000 + index % 90)
    case 3: return index == 0 ? -1e14 : number * 1e-6
    default: return index < 390 ? Double(index % 100) / 100 : number * number
    }
  }

  @Test(arguments: 0..<5)
  func `no range holds nearly all of numbers that differ much`(shape: Int) async throws {
    try await save((0..<400).map { Thing(id: $0, number: Self.number($0, shape)) })
    let all = try Selection(SelectionText(conditions: []), Self.fields, at: Date())
    let facets = try await index.facets(of: Self.fields, selectedBy: all, matching: nil)
    let facet = try #require(facets.first { $0.field == "number" })
    #expect(facet.isRange && 3...20 ~= facet.values.count)
    #expect(facet.values.reduce(0) { $0 + $1.count } == 400)
    for value in facet.values {
      let selected = try await sources([value.condition], nil)[1].page(PageRequest(limit: 400))
      #expect(selected.total == value.count, "\(value)")
      // More than half only of one number.
      let different = Set(selected.records.map(\.number))
      #expect(value.count <= 200 || different.count == 1, "\(value)")
    }
  }

  @Test func `the values that are offered are in the order in which records are sorted`() {
    let values: [JSON] = [10, 9, "b", "A", 10, 9, "b", "A"]
    #expect(values.texts(from: "", atMost: 9) == ["9", "10", "A", "b"])
    // Of values that do not repeat, those that begin as typed.
    let names: [JSON] = ["n10", "N", "n9", "o"]
    #expect(names.texts(from: "n", atMost: 9) == ["n10", "n9"])
  }
}
