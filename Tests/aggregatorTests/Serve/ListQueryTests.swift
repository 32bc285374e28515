import AggregatorKit
import AggregatorPostgresServer
import AggregatorTerminal
import AggregatorTestSupport
import CountriesSource
import Foundation
import HeroesSource
import ProductsSource
import Testing

@testable import AggregatorAPI
@testable import AggregatorPostgres
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorWeb
@testable import DeclaredSource

/// The query to which a list leads has its records.
@Suite(.timeLimit(.minutes(10))) struct ListQueryTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private func environment() -> PluginEnvironment {
    PluginEnvironment(
      settings: SourceSettings([:]), transport: HTTPTransport(),
      store: SQLiteStore(at: sandbox.root.appending(path: "store.sqlite").path))
  }

  private static let rows = """
    [
      {"id": "1", "name": "Åland", "tags": ["red", "sale"], "sizes": [1, 2.5], "price": 10, "code": "07",
       "isNew": true, "created": "2020-03-01", "maker": {"name": "Café Noir"}, "mixed": 4},
      {"id": "2", "name": "aland", "tags": ["RED"], "sizes": [10], "price": 9.5, "code": "7",
       "isNew": false, "created": "2020-03-31T23:59:59Z", "maker": {"name": "cafe"}, "mixed": "4"},
      {"id": "3", "name": "", "tags": [], "sizes": [], "price": null, "code": "70",
       "isNew": null, "created": "2024-12-31T23:30:00-05:00", "maker": null, "mixed": "n/a"},
      {"id": "4", "name": null, "tags": null, "code": "", "price": 4, "created": "2025", "mixed": null},
      {"id": "5", "name": "it's 100%_\\\\ \\"x\\"", "tags": ["red"], "price": -3, "code": "1e3",
       "isNew": true, "created": "Wed, 25 Mar 2020 08:00:00 GMT", "mixed": [4, "red"]},
      {"id": "6", "name": "2020-03", "tags": [null, ""], "sizes": [null, 2], "price": 1e3, "code": "600",
       "isNew": false, "created": "2021-06-30 12:00", "mixed": {"red": 1}},
      {"id": "7", "name": "red", "tags": "red", "price": 9007199254740993, "code": "x", "created": "", "mixed": true}
    ]
    """

  private func things() async throws -> DeclaredPlugin {
    let server = try LoopbackServer { _ in .json(Self.rows) }
    let manifest = """
      {"url": "\(server.baseURL)/things", "rows": "$", "id": "id", "paging": "single",
       "fields": ["name", "tags", "sizes", "price", "code", "isNew", "created", "maker.name", "mixed"]}
      """
    let plugin = DeclaredPlugin("things", try Manifest(reading: Data(manifest.utf8)))
    _ = try await ServedPlugin(plugin, in: environment()).sync(pages: nil) { _ in }
    return plugin
  }

  /// The query of a list; `nil` if there is none.
  private func query(
    _ source: any ServedSource, _ query: ServedQuery, in sql: ServedSQL? = nil,
    hasMatches: Bool = true
  ) async -> String? {
    var content = SourceContent(source: source, query: query)
    content.sample = await source.sample()
    content.observedKinds = await source.observedKinds()
    let pages = HTMLRenderer(
      program: "aggregator", sources: [source], isReadOnly: false, now: MadeUpSource.now,
      hasSQL: true, hasMatches: hasMatches)
    let text = pages.query(of: content)
    guard let sql, let text else { return text }
    return await sql.simplified(text, of: source)
  }

  private func ids(
    _ text: String, of plugin: any Plugin, in environment: PluginEnvironment? = nil
  ) async throws -> [String] {
    let sql = ServedSQL(of: [plugin], in: environment ?? self.environment())
    let rows = try await sql.answer(to: text).get().rows
    return rows.map { $0[0].json.cell }.sorted()
  }

  /// Compares a list with its queries, with and without `matches`, and returns the IDs and whether there are queries.
  private func compare<P: Plugin>(
    _ plugin: P, _ filter: String, in other: PluginEnvironment? = nil
  ) async throws -> (ids: [String], hasQuery: Bool, isPortable: Bool) {
    let environment = other ?? self.environment()
    let source = ServedPlugin(plugin, in: environment)
    var asked = ServedQuery(conditions: [filter])
    (asked.cache, asked.limit) = (.offline, 100)
    var listed: [String] = []
    repeat {
      let page = try await source.page(asked)
      listed += page.records.map(\.id)
      asked.cursor = page.summary.next?.description
    } while asked.cursor != nil
    listed.sort()
    var found: [Bool] = []
    let sql = ServedSQL(of: [plugin], in: environment)
    for hasMatches in Set([sql.hasMatches, false]).sorted(by: { one, _ in one }) {
      let text = await query(source, asked, in: sql, hasMatches: hasMatches)
      found.append(text != nil)
      guard let text else { continue }
      #expect(hasMatches || !text.contains("matches("))
      #expect(try await ids(text, of: plugin, in: environment) == listed, "\(filter): \(text)")
    }
    return (listed, found.first == true, found.last == true)
  }

  @Test(
    arguments: [
      (#"tags="red""#, "1 5 7"), (#"tags!="red""#, "2 3 4 6"), (#"tags in ("RED", "sale")"#, "1 2"),
      (#"tags not in ("RED", "sale")"#, "3 4 5 6 7"), (#"tags="""#, "3 4 6"),
      (#"tags!="""#, "1 2 5 7"),
      (#"tags~"red""#, "1 2 5 7"), (#"tags~/^r/"#, "1 5 7"), (#"tags in ("", "sale")"#, "1 3 4 6"),
      (#"sizes="10""#, "2"), (#"sizes>"2""#, "1 2"), (#"sizes in 1..2"#, "1 6"),
      (#"created>"2024""#, "3 4"), (#"created>="2024-12""#, "3"), (#"created="2020-03""#, "1 2 5"),
      (#"created!="2020-03""#, "3 4 6 7"), (#"created in "2020".."2021-06""#, "1 2 5 6"),
      (#"created<"2020-03-26""#, "1 5"), (#"created="""#, "7"),
      (#"created in ("2025", "2020-03-01")"#, "1 3 4"),
      (#"price!="4""#, "1 2 3 5 6 7"), (#"price="1000""#, "6"), (#"price>"9.5""#, "1 6 7"),
      (#"price="""#, "3"), (#"price>"1e2""#, "6 7"), (#"price="9007199254740993""#, "7"),
      (#"price in -3..4"#, "4 5"), (#"not price>"4""#, "3 4 5"), (#"price~"00""#, "6 7"),
      (#"code="07""#, "1"), (#"code!="07""#, "2 3 4 5 6 7"),
      (#"code="7""#, "2"), (#"code>"7""#, "3 6"), (#"code="""#, "4"), (#"code="1e3""#, "5"),
      (#"isNew="true""#, "1 5"), (#"isNew!="yes""#, "2 3 4 6 7"), (#"isNew="""#, "3 4 7"),
      (#"isNew in ("no", "")"#, "2 3 4 6 7"), (#"isNew~"tr""#, "1 5"),
      (#"maker.name~"cafe""#, "1 2"), (#"maker.name="""#, "3 4 5 6 7"),
      (#"maker.name="Café Noir""#, "1"),
      (#"name~"Åland""#, "1 2"), (#"name="red""#, "7"), (#"name~"100%_""#, "5"),
      (#"name~"'s""#, "5"),
      (#"name="it's 100%_\\ \"x\"""#, "5"), (#"name="2020-03""#, "6"), (#"name>"b""#, "5 7"),
      (#"name="" or name~/^A/i and tags!="""#, "2 3 4"), (#"id!="3""#, "1 2 4 5 6 7"),
      (#"id in ("3", "x")"#, "3"), (#"mixed="4""#, "1 2 5"), (#"mixed="true""#, "7"),
      (#"mixed~"red""#, "5 6"),
      (#"mixed!="""#, "1 2 3 5 6 7"),
    ])
  func `the query of a filter has the records of the list`(filter: String, ids: String) async throws
  {
    let outcome = try await compare(try await things(), filter)
    #expect(outcome.ids == ids.split(separator: " ").map(String.init))
    // The text of a Boolean is not in the database.
    #expect(outcome.hasQuery == !filter.hasPrefix("isNew~"))
  }

  @Test(
    arguments: [
      (#"code="x""#, "code = 'x'"), (#"code="7""#, "code = '7'"),
      (#"code!="7""#, "(code <> '7' OR code IS NULL)"),
      (#"code in ("7", "")"#, "(code IN ('7') OR coalesce(code, '') = '')"),
      (#"name="Åland""#, "name = 'Åland'"), (#"name~"'S""#, "name LIKE '%''S%'"),
      (#"name="Åland" or name="""#, "(name = 'Åland' OR coalesce(name, '') = '')"),
      (#"name!="""#, "coalesce(name, '') <> ''"),
      (#"code in ("y", "x")"#, "code IN ('y', 'x')"), (#"price>"9.5""#, "price > 9.5"),
      (#"price in -3..4"#, "price BETWEEN -3 AND 4"),
      (#"not isNew="yes""#, "(isNew = true) IS NOT TRUE"),
      (#"code="x" or price="10""#, "(code = 'x' OR price = 10)"),
      // What SQL alone has not the same records for is compared as filters compare it: lists, several kinds of values, dates
      // of several formats, numbers in texts, letters with accents or without, and what is special in LIKE.
      (#"tags="red""#, #"matches(tags, '="red"')"#), (#"mixed="4""#, #"matches(mixed, '="4"')"#),
      (#"sizes>"2""#, #"matches(sizes, '>"2"')"#), (#"code>"7""#, #"matches(code, '>"7"')"#),
      (#"created="2020-03""#, #"matches(created, '="2020-03"')"#),
      (#"name~"åland""#, #"matches(name, '~"åland"')"#),
      (#"name~"100%_""#, #"matches(name, '~"100%_"')"#),
    ])
  func `the values that syncs have found decide how SQL says a filter`(
    filter: String, condition: String
  ) async throws {
    let plugin = try await things()
    _ = try await compare(plugin, filter)
    let text = await query(
      ServedPlugin(plugin, in: environment()), ServedQuery(conditions: [filter]),
      in: ServedSQL(of: [plugin], in: environment()))
    #expect(text == "SELECT * FROM things WHERE \(condition)")
  }

  @Test(
    arguments: [
      (#"since="2024""#, "(since >= '2024-01-01' AND since < '2025-01-01')"),
      (#"since!="2024""#, "(since >= '2024-01-01' AND since < '2025-01-01') IS NOT TRUE"),
      (#"since="2024-05-05""#, "since = '2024-05-05'"), (#"since>"2024""#, "since >= '2025-01-01'"),
      (#"since>="2024""#, "since >= '2024'"), (#"since<"2024-05""#, "since < '2024-05'"),
      (#"since<="2024-05""#, "since < '2024-06-01'"),
      (#"since in "2023".."2024""#, "(since >= '2023-01-01' AND since < '2025-01-01')"),
      (#"since in "2023-01-02".."2024-05-05""#, "since BETWEEN '2023-01-02' AND '2024-05-05'"),
    ])
  func `dates of one format are compared as people do in SQL`(
    filter: String, condition: String
  ) async throws {
    let days = ["2022-12-31", "2023-01-02", "2024-05-05", "2024-12-31", "2025-01-01"]
    let rows =
      days.enumerated().map { #"{"id": "\#($0)", "since": "\#($1)"}"# }
      + [#"{"id": "none", "since": null}"#]
    let server = try LoopbackServer { _ in .json("[\(rows.joined(separator: ","))]") }
    let manifest = """
      {"url": "\(server.baseURL)/days", "rows": "$", "id": "id", "paging": "single", "fields": ["since"]}
      """
    let plugin = DeclaredPlugin("days", try Manifest(reading: Data(manifest.utf8)))
    let source = ServedPlugin(plugin, in: environment())
    _ = try await source.sync(pages: nil) { _ in }
    _ = try await compare(plugin, filter)
    let sql = ServedSQL(of: [plugin], in: environment())
    let text = await query(source, ServedQuery(conditions: [filter]), in: sql)
    #expect(text == "SELECT * FROM days WHERE \(condition)")
  }

  @Test func `PostgreSQL has numbers and Booleans of any kind as texts`() async throws {
    let source = ServedPlugin(try await things(), in: environment())
    for (filter, isPortable) in [(#"code="x""#, true), ("price>4", false), ("isNew=yes", false)] {
      let text = await query(source, ServedQuery(conditions: [filter]), hasMatches: false)
      #expect((text != nil) == isPortable, "\(filter)")
    }
  }

  @Test(
    arguments: [
      (#"capital!="Paris""#, true), (#"capital="""#, true), (#"capital!="""#, true),
      (#"name~"Åland""#, false),
      (#"name="Réunion""#, false), (#"name in ("France", "Italy")"#, true),
      (#"name not in ("France", "Italy")"#, true),
      (#"name>"Y""#, false), (#"name="France" or not region="EU""#, true),
      (#"name in ("", "France")"#, false),
    ])
  func `texts in SQL alone`(filter: String, isPortable: Bool) async throws {
    let outcome = try await compare(CountriesPlugin(), filter)
    #expect(outcome.hasQuery && outcome.isPortable == isPortable)
    #expect(!outcome.ids.isEmpty)
  }

  @Test(.requiresPostgres) func `PostgreSQL finds the same records, or has no query`() async throws
  {
    try await withDatabase { database in
      let (countries, heroes) = (CountriesPlugin(), HeroesPlugin())
      let views = [
        SourceView(countries.name, countries.fields), SourceView(heroes.name, heroes.fields),
      ]
      let store = PostgresStore(
        at: try PostgresAddress(database.uri), showing: SourceViews { views })
      let everything = PageRequest(limit: 500)
      _ = try await countries.recordStore(in: store).save(
        try await countries.bundled.page(everything).records, at: Date())
      _ = try await heroes.recordStore(in: store).save(
        try await heroes.bundled.page(everything).records, at: Date())
      var environment = environment()
      environment.store = store
      for filter in [
        #"capital!="Paris""#, #"capital="""#, #"capital!="""#, #"name in ("France", "Italy")"#,
        #"name not in ("France", "Italy")"#, #"name="France" or not region="EU""#,
      ] {
        let outcome = try await compare(countries, filter, in: environment)
        #expect(outcome.hasQuery && !outcome.ids.isEmpty, "\(filter)")
      }
      for filter in [#"id!="1443""#, #"id>"1500""#, #"id in 1..1500"#, #"not id<"1500""#] {
        let outcome = try await compare(heroes, filter, in: environment)
        #expect(outcome.hasQuery && !outcome.ids.isEmpty, "\(filter)")
      }
      for filter in [#"teams="Avengers""#, #"name~"a""#, #"name>"M""#] {
        #expect(try await !compare(heroes, filter, in: environment).hasQuery)
      }
    }
  }

  @Test func `lists and dates of the program's sources`() async throws {
    let teams = try await compare(HeroesPlugin(), #"teams="Avengers""#)
    #expect(teams.hasQuery && !teams.isPortable && !teams.ids.isEmpty)
    for filter in [#"createdAt>"2024-03""#, #"updatedAt>"2024""#] {
      let outcome = try await compare(ProductsPlugin(), filter)
      #expect(outcome.hasQuery && !outcome.isPortable)
    }
  }

  @Test func `numbers and Booleans in SQL alone`() async throws {
    let plugin = try await things()
    var source = MadeUpSource(name: "things")
    source.fields = [("price", FieldKind.number), ("isNew", .bool)].map { name, kind in
      FieldEntry(Field<ServedRecord>(name, name, kind, about: "A field.") { $0.name.json })
    }
    let queries = [
      (#"price!="4""#, #"(price <> 4 OR price IS NULL)"#, "1 2 3 5 6 7"),
      (#"price in -3..4"#, "price BETWEEN -3 AND 4", "4 5"), (#"price="""#, "price IS NULL", "3"),
      (#"price in ("4", "10")"#, "price IN (4, 10)", "1 4"),
      (#"not price>"4""#, "(price > 4) IS NOT TRUE", "3 4 5"),
      (#"isNew="yes""#, "isNew = true", "1 5"),
      (#"isNew!="true""#, "(isNew <> true OR isNew IS NULL)", "2 3 4 6 7"),
    ]
    for (filter, condition, expected) in queries {
      let asked = ServedQuery(conditions: [filter])
      #expect(
        await query(source, asked, hasMatches: false)
          == "SELECT * FROM things WHERE \(condition)")
      let text = "SELECT id FROM things WHERE \(condition)"
      #expect(try await ids(text, of: plugin).joined(separator: " ") == expected)
    }
    for filter in [#"price~"4""#, #"price>"1e3""#, #"isNew~"tr""#] {
      #expect(await query(source, ServedQuery(conditions: [filter]), hasMatches: false) == nil)
    }
  }

  @Test func `matches takes one condition, and a long search is stopped`() async throws {
    let sql = ServedSQL(of: [CountriesPlugin()], in: environment())
    let texts = [
      ("'Åland', '~aland'", 1), ("NULL, '='", 1), ("'[]', '='", 1), ("'[1, 2]', '>1'", 1),
      ("3, 'in 4..5'", 0),
      ("3, 'not in (4, 5)'", 1), ("1, '=true'", 1), ("'[x', '~x'", 1), ("'value', '= value'", 1),
    ]
    for (arguments, expected) in texts {
      #expect(
        try await sql.answer(to: "SELECT matches(\(arguments))").get().rows == [
          [.integer(expected)]
        ],
        "\(arguments)")
    }
    #expect(try await sql.answer(to: "SELECT matches('a', NULL)").get().rows == [[.null]])
    for condition in ["'=a and value=b'", "'a'", "'and'", "'~/a{1000}/'", "printf('=%1001d', 1)"] {
      #expect(await sql.answer(to: "SELECT matches('a', \(condition))").failure?.status == 422)
    }
    var limits = ServedSQL.Limits()
    limits.time = .milliseconds(1)
    let long = "SELECT matches(replace(hex(zeroblob(400000)), '0', 'a'), '~/((a*){9}){9}b/')"
    let late = await ServedSQL(of: [CountriesPlugin()], in: environment(), limits).answer(to: long)
    #expect(late.failure?.status == 504)
  }
}
