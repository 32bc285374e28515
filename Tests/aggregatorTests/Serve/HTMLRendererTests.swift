import AggregatorKit
import AggregatorTerminal
import Foundation
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorSelection
@testable import AggregatorStore
@testable import AggregatorWeb

@Suite struct HTMLRendererTests {
  private let pages = HTMLRenderer(
    program: "aggregator",
    sources: [
      MadeUpSource.heroes, MadeUpSource.countries, MadeUpSource.products, MadeUpSource.hostile,
    ],
    isReadOnly: false, now: MadeUpSource.now, hasSQL: true)

  private func list(_ source: MadeUpSource, _ query: ServedQuery = ServedQuery()) -> String {
    pages.page(SourceContent(source: source, query: query, list: .success(source.page(query))))
  }

  private func detail(
    _ source: MadeUpSource, _ id: String, _ query: ServedQuery = ServedQuery(),
    in pages: HTMLRenderer? = nil, part: HTMLFragment? = nil
  ) -> String {
    (pages ?? self.pages).page(
      SourceContent(
        source: source, query: query, list: .success(source.page(query)),
        detail: DetailContent(id: id, answer: .success(source.record(id, query)), history: nil)),
      part: part)
  }

  private func search(_ query: String?) -> String {
    let answers = pages.sources.compactMap { $0 as? MadeUpSource }.map { source in
      SourceListing(
        source: source,
        page: source.name == "products"
          ? .failure(Self.rateLimited) : .success(source.page(ServedQuery(query: query))))
    }
    return pages.search(
      SearchContent(query: ServedQuery(query: query), answers: query == nil ? [] : answers))
  }

  private static let attack = "</textarea><script>alert(1)</script>' onclick='alert(2)"

  private static let tables = [
    ServedTable(name: "heroes", columns: ["id", "order", "first name"], count: 12_345),
    ServedTable(
      name: "\"><script>alert(3)</script>", columns: ["<img src=x onerror=alert(4)>", "a\"b"]),
  ]

  private var hostileAnswer: String {
    pages.sql(
      SQLContent(
        text: Self.attack, tables: Self.tables,
        answer: .success(
          SQLAnswer(
            columns: ["<script>alert(5)</script>", "\u{202E}evil", "\" onclick=\"alert(6)", "n"],
            rows: [
              [
                .text("<img src=x onerror=alert(7)>"), .text("javascript:alert(8)"),
                .text("\u{202E}txt.exe\u{1B}[31m"), .integer(1),
              ],
              [.null, .text(String(repeating: "<b>", count: 300)), .bool(true), .number(1.5)],
            ], hasMore: true, time: .milliseconds(12),
            notes: ["<script>alert(9)</script>\u{202E}"]))))
  }

  private var hostileFailure: String {
    pages.sql(
      SQLContent(
        text: Self.attack, tables: Self.tables,
        answer: .failure(
          Problem(
            400, "invalidRequest", "no such table: <script>alert(10)</script>\u{202E}",
            hint: "did you mean \"<b>\"?"))))
  }

  private static let rateLimited = {
    var problem = Problem(
      429, "rateLimited", "rate limited by DummyJSON", hint: "use cached records meanwhile")
    problem.retryAfter = 1680
    return problem
  }()

  private func failed(_ query: ServedQuery = ServedQuery()) -> String {
    pages.page(
      SourceContent(
        source: MadeUpSource.products, query: query, list: .failure(Self.rateLimited)))
  }

  private var all: [(name: String, html: String)] {
    let heroes = MadeUpSource.heroes
    let hostile = MadeUpSource.hostile
    let details = heroes.records.map { ("heroes/\($0.id)", detail(heroes, $0.id)) }
    let nothing = ServedQuery(query: "zzz")
    return details
      + [
        ("heroes", list(heroes)),
        ("heroes?cursor=c20", list(heroes, ServedQuery(cursor: "c20"))),
        ("heroes?cursor=c40", list(heroes, ServedQuery(cursor: "c40"))),
        ("heroes?query=s", list(heroes, ServedQuery(query: "s"))),
        ("heroes?query=s&cursor=c20", list(heroes, ServedQuery(query: "s", cursor: "c20"))),
        ("heroes?query=storm", list(heroes, ServedQuery(query: "storm"))),
        ("heroes?query=zzz", list(heroes, nothing)),
        ("countries", list(MadeUpSource.countries)),
        ("countries/CH", detail(MadeUpSource.countries, "CH")),
        ("products", failed()), ("products-empty", list(MadeUpSource.products)),
        ("hostile", list(hostile)),
        ("hostile/0", detail(hostile, hostile.records[0].id)),
        ("hostile/1", detail(hostile, hostile.records[1].id)),
        ("hostile-query", list(hostile, ServedQuery(query: "\"><script>alert(10)</script>"))),
        ("search", search(nil)), ("search?query=s", search("s")),
        ("sql", pages.sql(SQLContent(text: nil, tables: Self.tables, answer: nil))),
        ("sql?sql=attack", hostileAnswer), ("sql?sql=failure", hostileFailure),
        ("404", pages.failure(Problem(404, "notFound", "no page \"/x\""))),
      ]
  }

  @Test func `a list whose service wants a key says where to get it`() {
    var source = MadeUpSource.heroes
    source.provenance = Provenance(
      .bundled,
      reason: SourceError(
        .missingKey, "HERO_KEY is not set", remedy: "get a key at https://heroes.example/keys"))
    let words = #"""
      <details class="note reason" dir="auto"><summary>Showing bundled sample data (HERO_KEY is not set).</summary>\#
      For live data, get a key at <a href="https://heroes.example/keys" rel="noopener noreferrer external" \#
      referrerpolicy="no-referrer">heroes.example/keys</a>, then run <code>aggregator config set HERO_KEY</code>
      """#
    #expect(list(source).contains(words))
    // On a phone, the badge opens into it.
    let told = #"<p class="told" dir="auto">Showing bundled sample data (HERO_KEY is not set).</p>"#
    #expect(list(source).contains(told))
    #expect(!list(.heroes).contains("For live data"))
    // Where the key can be typed, the field has the same name.
    var adding = pages
    adding.mayAdd = true
    let query = ServedQuery()
    let typed = adding.page(
      SourceContent(source: source, query: query, list: .success(source.page(query))))
    #expect(typed.contains(#"</code>, or type the key below.<form class="fields""#))
    // A record beside the list does not say it again: its origin opens into it.
    let beside = detail(source, "1443", part: .detail)
    #expect(!beside.contains("note reason"))
    #expect(
      beside.contains(#"<p dir="auto">Showing bundled sample data (HERO_KEY is not set).</p>"#))
  }

  @Test func `a removed source names the commands that remove the rest as code`() {
    let html = pages.removed(
      MadeUpSource.heroes, leaving: .init(data: "25 cached records", keys: ["HERO_KEY"]), undo: nil)
    let clear = "<code>aggregator store clear heroes --forget-deleted</code>"
    #expect(html.contains("Still in the store: 25 cached records. Run \(clear).</p>"))
    #expect(
      html.contains(
        "Still set: HERO_KEY. Run <code>aggregator config unset HERO_KEY</code>.</p>")
    )
    // The page removes them with the source alone.
    let undone = pages.removed(
      MadeUpSource.heroes, leaving: .init(data: "25 cached records", keys: []), undo: "x")
    #expect(
      undone.contains(
        "Undo this and remove the source with its data, or run \(clear).</p>"))
  }

  @Test func `the search of all sources is called a search`() {
    let html = search(nil)
    #expect(html.contains("<span>Search</span></a></li>"))
    #expect(html.contains("<h1>Search all sources</h1>"))
    #expect(!html.contains("All sources"))
  }

  @Test func `the menu of a list has a database`() {
    let file = #"all=true&#38;format=sqlite" download="heroes.db">SQLite</a>"#
    #expect(list(.heroes).contains(file))
    // What is saved by a click comes first, and what requires another program last.
    let html = list(.heroes)
    let places = [
      "All cached: ", file, "This page: ", "Copy a curl command", "that lists them",
      "Parquet requires",
    ].compactMap { html.range(of: $0)?.lowerBound }
    #expect(places.count == 6 && places == places.sorted())
    // Those of a damaged list are fewer than its service has.
    var page = MadeUpSource.heroes.page(ServedQuery())
    page.summary.warnings.append(SourceWarning("heroes", Warning(.unreadable, "11 rows")))
    let damaged = pages.page(
      SourceContent(source: MadeUpSource.heroes, query: ServedQuery(), list: .success(page)))
    #expect(damaged.contains("All cached that can be read: "))
    var source = MadeUpSource.heroes
    source.hasStore = false
    #expect(!list(source).contains("format=sqlite"))
  }

  @Test func `what the menu of a list copies has all records of the list`() {
    var source = MadeUpSource.heroes
    source.fields = ["name", "real"].map {
      FieldEntry(Field<ServedRecord>($0, $0, \.name, about: "A field.", isSearchable: true))
    }
    let query = ServedQuery(query: "lazy", conditions: [#"name="it's""#], order: "-name")
    func commands(_ html: String) -> [String] {
      html.matches(of: /<code>(aggregator [^<]*)<\/code>/).map {
        String($0.1).replacing("&#39;", with: "'").replacing("&#34;", with: "\"")
      }
    }
    #expect(
      commands(list(source, query)) == [
        #"aggregator heroes search 'lazy' --where 'name="it'\''s"' --sort '-name' --all --offline"#
      ])
    var page = ServedQuery()
    (page.limit, page.offset) = (10, 20)
    #expect(list(.heroes, page).contains(#"data-copy="/api/v1/heroes?all=true" data-as="curl""#))
    source.hasStore = false
    #expect(commands(list(source)) == ["aggregator heroes list"])
    #expect(list(source).contains(#"data-copy="/api/v1/heroes" data-as="url""#))
  }

  @Test func `the menu of a list has Parquet where the server can write it`() {
    let link = #"download="heroes.parquet">Parquet</a>"#
    let reason =
      "<p class=\"aside\">Parquet requires duckdb on the server: \(DuckDB.installation)</p>"
    #expect(!list(.heroes).contains(link) && list(.heroes).contains(reason))
    var source = MadeUpSource.heroes
    source.hasParquet = true
    #expect(!list(source).contains(reason))
    #expect(list(source).contains(link))
    source.hasStore = false
    #expect(!list(source).contains(link))
  }

  @Test func `a source whose name is no plural has records`() {
    let part = MadeUpSource(name: "part")
    let html = list(part)
    #expect(html.contains(">No records of part</p>"))
    #expect(html.contains("<h2>No records of part</h2>"))
    #expect(list(part, ServedQuery(query: "x")).contains("No records of part match “x”."))
    var filtered = ServedQuery()
    filtered.conditions = ["price<20"]
    #expect(list(part, filtered).contains("<p dir=\"auto\">No records of part where "))
  }

  @Test func pagesCanBeLookedAt() throws {
    let pages = all
    #expect(Set(pages.map(\.name)).count == pages.count)
    guard let folder = ProcessInfo.processInfo.environment["AGGREGATOR_PAGES"] else { return }
    let root = URL(filePath: folder)
    let files = pages.map { ("\($0.name.percentEncoded).html", $0.html) }
    for (name, text) in files { try Data(text.utf8).write(to: root.appending(path: name)) }
    for asset in Asset.all { try Data(asset.body).write(to: root.appending(path: asset.name)) }
  }

  @Test func textFromServicesIsNeverMarkup() {
    for (name, html) in all {
      for mark in ["<script>", "<img src=x", "<form action=//", "<b>", "onclick='", "\"onclick"] {
        #expect(!html.contains(mark), "\(name): \(mark)")
      }
    }
    let html = detail(.hostile, MadeUpSource.hostile.records[0].id)
    #expect(html.contains("&#60;img src=x onerror=alert(3)&#62;"))
    #expect(html.contains("&#39; onclick=&#39;alert(5)"))
  }

  @Test func onlyWebAddressesAreLinks() throws {
    for (name, html) in all {
      for match in html.matches(of: /(?:href|src|action)="([^"]*)"/) {
        let address = String(match.1)
        #expect(
          address.hasPrefix("/") || ["#main", "#records"].contains(address)
            || address.hasPrefix("https://comicvine"),
          "\(name): \(address)")
      }
    }
    #expect(
      detail(.heroes, "1443").contains(
        """
        <a class="button" href="https://comicvine.gamespot.com/spider-man/4005-1443/" \
        rel="noopener noreferrer external" referrerpolicy="no-referrer">
        """))
  }

  @Test func nothingNeedsMoreThanThePolicyAllows() {
    for (name, html) in all {
      let names = html.replacing(/"[^"]*"/, with: "")
      #expect(!names.contains(/<[^>]*\s(?:style|on[a-z]+)=/), "\(name)")
      let count = name.hasPrefix("sql") ? 2 : 1
      #expect(html.matches(of: /<script/).count == count, "\(name)")
      #expect(!html.contains("data:"), "\(name)")
    }
  }

  @Test func aQueryAndItsResultAreText() {
    for html in [hostileAnswer, hostileFailure] {
      #expect(html.contains("&#60;/textarea&#62;&#60;script&#62;alert(1)"))
      #expect(html.contains("data-name=\"&#34;&#60;img src=x onerror=alert(4)&#62;&#34;\""))
      #expect(html.contains(#"data-name="&#34;order&#34;""#))
      #expect(html.contains(#"data-name="id""#))
      #expect(html.contains("12,345 rows"))
      #expect(html.contains("stopped after 30 s."))
      #expect(html.contains("A list is JSON: <code>json_each(column)</code> has its elements."))
    }
    #expect(hostileAnswer.contains("The first 2 rows in 12 ms"))
    #expect(hostileAnswer.contains("There are more rows."))
    #expect(hostileAnswer.contains(#"<td class="null" dir="auto">NULL</td>"#))
    #expect(!hostileAnswer.contains(#"href="javascript"#))
    #expect(hostileFailure.contains(#"aria-invalid="true""#))
  }

  @Test func numbersOfAResultAreWrittenAsAmounts() {
    let html = pages.sql(
      SQLContent(
        text: "", tables: [],
        answer: .success(
          SQLAnswer(
            columns: ["avg(price)", "id"],
            rows: [
              [.number(89.76505374565888), .integer(20_000)], [.integer(20_000), .integer(1)],
              [.number(1_234_567.891), .integer(2)], [.number(0.25), .integer(3)],
              [.null, .integer(4)], [.number(-0.5), .integer(5)], [.number(1e-9), .integer(6)],
              [.number(1e300), .integer(7)],
            ], hasMore: false, time: .milliseconds(1), notes: []))))
    for (exact, words) in [
      ("89.76505374565888", "89.7651"), ("20000", "20,000.0000"), ("0.25", "0.2500"),
      ("1234567.891", "1,234,567.8910"), ("-0.5", "-0.5000"),
    ] {
      #expect(
        html.contains(
          #"<td class="number" data-value="\#(exact)" title="\#(exact)" dir="auto">\#(words)</td>"#),
        "\(words)")
    }
    for cell in [
      // What is nothing in four decimals is not shown as zero.
      #"<td class="number" dir="auto">1e-09</td>"#, #"<td class="number" dir="auto">1e+300</td>"#,
      #"<td class="number" dir="auto">20000</td>"#,
      #"<td class="number null" dir="auto">NULL</td>"#,
    ] {
      #expect(html.contains(cell), "\(cell)")
    }
  }

  private func result(
    of text: String, _ columns: [String], _ rows: [[SQLValue]], values: [String: String] = [:],
    hasMore: Bool = false
  ) -> String {
    let tables = [
      ServedTable(name: "heroes", columns: ["id", "latitude"]),
      ServedTable(name: "countries", columns: ["code"]),
    ]
    let answer = SQLAnswer(columns: columns, rows: rows, hasMore: hasMore, time: .zero)
    return pages.sql(
      SQLContent(text: text, tables: tables, answer: .success(answer), values: values))
  }

  @Test func `a table says whether only a part of its records is cached`() {
    var tables = [ServedTable(name: "heroes", columns: [], count: 1)]
    func page() -> String { pages.sql(SQLContent(text: nil, tables: tables)) }
    #expect(page().contains("<p>1 row · "))
    tables[0].isPart = true
    #expect(page().contains(#"<p class="tone cached part">1 row, maybe not all · "#))
    tables[0].total = 1500
    #expect(page().contains(#"<p class="tone cached part">1 of 1,500 rows · "#))
  }

  @Test func `a column has the decimals that its numbers need, and an ID leads to its record`() {
    let html = result(
      of: "SELECT * FROM \"heroes\"", ["id", "latitude", "sum", "rate", "whole", "year", "count"],
      [
        [
          .text("a/b"), .number(-101.494512345678), .number(61476.700000000004),
          .number(0.000123456), .number(3), .number(1999), .integer(1999),
        ],
        [
          .text("c"), .number(7.5), .integer(1200), .number(0.00002), .number(2), .number(2000.5),
          .integer(20_000),
        ],
      ])
    #expect(html.contains(#"<a href="/sources/heroes/a%2Fb">a/b</a></td>"#))
    #expect(html.contains(#" download="heroes-query.csv">"#))
    for shown in [
      ">-101.4945<", ">7.5000<", ">61,476.7<", ">1,200.0<", ">0.0001235<", ">0.0000200<", ">3<",
      ">2<", ">1999.0<", ">2000.5<", ">1,999<", ">20,000<",
    ] {
      #expect(html.contains(shown), "\(shown)")
    }
    // No digit of a stored number is left out.
    let stored = result(of: "SELECT 1", ["n"], [[.number(36.44997)], [.integer(50)]])
    #expect(stored.contains(">36.44997<") && stored.contains(">50.00000<"))
    // Whose ID that is cannot be told of two tables.
    for text in ["SELECT * FROM heroes JOIN countries", "SELECT 1 AS id", "SELECT * FROM hostile"] {
      #expect(!result(of: text, ["id"], [[.text("1")]]).contains(#"<a href="/sources/heroes/1""#))
    }
  }

  @Test func `a result without rows has its columns, and a table says if there are more rows`() {
    let html = result(of: "SELECT 1 AS one", ["one"], [])
    #expect(html.contains("No rows") && html.contains(">one</th>"))
    let more = result(of: "SELECT 1 AS one", ["one"], [[.integer(1)]], hasMore: true)
    // Where a chart takes the place of the table, that is not so: the script draws more of them.
    #expect(more.contains(#"<div id="table"><p class="note">There are more rows."#))
    #expect(more.contains("as CSV or JSON from Export.</p>"))
    #expect(more.contains(#"data-sql="SELECT 1 AS one""#))
    #expect(!html.contains("data-sql"))
  }

  @Test func `a query has a field for each of its parameters`() {
    let text = "SELECT ':no', \":no\", a::text, :age -- :no\n /* :no */ FROM t WHERE n = :n OR :age"
    #expect(SQLContent(text: text, tables: [], answer: nil).parameters == ["age", "n"])
    let html = result(of: text, [], [], values: ["n": "O'Brien \"<b>"])
    #expect(html.contains(#"name=":age" value="" autocomplete"#))
    #expect(html.contains(#"name=":n" value="O&#39;Brien &#34;&#60;b&#62;""#))
    #expect(!html.contains("name=\":no\""))
    // A query that lacks a value leads to its field.
    let new = pages.sql(SQLContent(text: nil, tables: [], answer: nil))
    #expect(new.contains("<textarea id=\"sql\"") && new.contains(" autofocus"))
    // A result is read: on a phone, a keyboard would cover it.
    #expect(!html.contains(" autofocus"))
    let missing = pages.sql(
      SQLContent(
        text: text, tables: [], answer: .failure(Problem(400, "invalidRequest", "no value")),
        values: ["age": "7"]))
    #expect(missing.matches(of: /<input id="value-n"[^>]* autofocus="">/).count == 1)
    #expect(missing.matches(of: /\sautofocus/).count == 1)
    let content = SQLContent(
      text: "SELECT ':n', :n, :age", tables: [], answer: nil, values: ["n": "O'B", "age": "7"])
    #expect(content.boundText == "SELECT ':n', 'O''B', 7")
  }

  @Test func `a mistake is marked in its line, and points lead to the records of one source`() {
    func page(_ text: String, _ message: String) -> String {
      pages.sql(
        SQLContent(
          text: text, tables: [], answer: .failure(Problem(422, "invalidRequest", message))))
    }
    let text = "SELECT name\r\nFROM heroes WHERE <WHERE\nLIMIT 1"
    let message = "syntax error (character "
    #expect(
      page(text, "\(message)31)").contains(
        "Line 2<code dir=\"ltr\">FROM heroes WHERE <mark>&#60;</mark>WHERE</code>"))
    #expect(page(text, "\(message)32)").contains("&#60;<mark>WHERE</mark></code>"))
    #expect(
      page(text, "\(message)1)").contains("Line 1<code dir=\"ltr\"><mark>SELECT</mark> name<"))
    for place in ["0)", "45)", "99999999999999999999)", "31) of it"] {
      #expect(!page(text, message + place).contains("<mark>"), "\(place)")
    }
    let html = result(of: "SELECT id FROM heroes", ["id"], [[.text("1")]])
    #expect(html.contains(#"data-records="/sources/heroes/" data-id="id""#))
    #expect(!result(of: "SELECT 1 AS id", ["id"], []).contains("data-records"))
  }

  @Test func aListLeadsToItsQuery() {
    func query(_ order: String?, of source: MadeUpSource = .heroes) -> String? {
      pages.query(of: SourceContent(source: source, query: ServedQuery(order: order)))
    }
    var source = MadeUpSource.heroes
    source.fields = ["name", "order"].map {
      FieldEntry(
        Field<ServedRecord>($0, $0, \.name, about: "A field."))
    }
    #expect(query(nil) == "SELECT * FROM heroes")
    #expect(
      query("-name,order", of: source)
        == #"SELECT * FROM heroes ORDER BY name DESC, "order""#)
    #expect(query("unknown", of: source) == query(nil))
    // A search is a condition on what is searched.
    source.fields = ["name", "order"].map {
      FieldEntry(Field<ServedRecord>($0, $0, \.name, about: "A field.", isSearchable: true))
    }
    let search = SourceContent(source: source, query: ServedQuery(query: "Maple \"a 100%\" -"))
    #expect(
      pages.query(of: search) == #"""
        SELECT * FROM heroes
        WHERE (matches(name, '~"Maple"') OR matches("order", '~"Maple"'))
          AND (matches(name, '~"a 100%"') OR matches("order", '~"a 100%"'))
        """#)
    // What may be written as people do is seen when the link is followed.
    let link = pages.page(
      SourceContent(source: source, query: search.query, list: .success(source.page(.plain))))
    #expect(link.contains("%29&#38;list=heroes\">Open this list as an SQL query</a>"))
    let inPostgres = HTMLRenderer(
      program: "aggregator", sources: pages.sources, isReadOnly: false, now: MadeUpSource.now,
      hasSQL: true, hasMatches: false)
    let html = inPostgres.page(
      SourceContent(source: source, query: search.query, list: .success(source.page(.plain))))
    #expect(
      html.contains("This list cannot be opened as an SQL query: SQL cannot express its search"))
    #expect(!html.contains("/sql?sql="))
    // The columns that were chosen, as far as the table has them.
    var chosen = ServedQuery()
    chosen.fields = ["order", "name", "story"]
    #expect(
      pages.query(of: SourceContent(source: source, query: chosen))
        == #"SELECT "order", name FROM heroes"#)
    #expect(list(.heroes).contains(#"<a href="/sql?sql=SELECT%20%2A%20FROM%20heroes">"#))
    #expect(list(.heroes).contains(">Open this list as an SQL query</a>"))
    let withoutSQL = HTMLRenderer(
      program: "aggregator", sources: pages.sources, isReadOnly: false, now: MadeUpSource.now)
    let heroes = MadeUpSource.heroes
    let list = withoutSQL.page(
      SourceContent(
        source: heroes, query: ServedQuery(), list: .success(heroes.page(ServedQuery()))))
    #expect(!list.contains("/sql"))
  }

  @Test func textCannotReorderThePage() {
    for (name, html) in all {
      let isHarmless = !html.unicodeScalars.contains {
        "\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}\u{2066}\u{2067}\u{2068}\u{2069}\u{1B}\u{2028}"
          .unicodeScalars.contains($0)
      }
      #expect(isHarmless, "\(name)")
    }
  }

  @Test func anyIDHasAnAddress() {
    let html = list(.hostile)
    #expect(html.contains(#"href="/sources/hostile/a%2Fb%252F%3Fc%23d%26%22e%27""#))
  }

  @Test func linksKeepTheQueryAndEndAReload() {
    let query = ServedQuery(
      query: "a&b", limit: 5, cache: .reload, conditions: ["id>3"], order: "-name")
    var source = MadeUpSource.heroes
    source.records[0] = ServedRecord("1", "a&b")
    let html = list(source, query)
    #expect(
      html.contains(
        #"href="/sources/heroes/1?query=a%26b&#38;where=id%3E3&#38;sort=-name&#38;limit=5""#))
    #expect(html.contains(#"<input type="hidden" name="where" value="id&#62;3">"#))
  }

  @Test func aLaterPageLinksToBothEnds() {
    let html = list(.heroes, ServedQuery(cursor: "c20"))
    #expect(html.contains(#"rel="next" href="/sources/heroes?cursor=c40""#))
    #expect(html.contains(#"<a href="/sources/heroes">Back to the beginning"#))
    #expect(list(.heroes, ServedQuery(cursor: "c40")).contains("End of list"))
  }

  @Test func `a list that begins in the middle leads to earlier records`() {
    let html = list(.heroes, ServedQuery(offset: 40))
    #expect(
      html.contains(
        #"From row 41 of 55 · <a rel="prev" href="/sources/heroes?offset=20">Show earlier</a> · <a href="/sources/heroes">"#
      ))
    #expect(list(.heroes, ServedQuery(offset: 5)).contains(#"href="/sources/heroes">Show earlier"#))
    #expect(html.contains(#"data-offset="40""#))
    #expect(!list(.heroes, ServedQuery(cursor: "c20")).contains("data-offset"))
  }

  @Test func `a list behind its end says how many records there are`() {
    func page(_ total: Int?) -> String {
      let none = ServedListing(records: [], summary: ListingSummary(count: 0, total: total))
      return pages.page(
        SourceContent(
          source: MadeUpSource.heroes, query: ServedQuery(limit: 50, offset: 99_998),
          list: .success(none)))
    }
    #expect(page(3000).contains("There are only 3,000 heroes</h2>"))
    #expect(page(3000).contains(#"href="/sources/heroes?limit=50&#38;offset=2950">Last page"#))
    #expect(page(3000).contains(#"href="/sources/heroes?limit=50">Beginning of the list"#))
    #expect(page(1).contains("There is only 1 "))
    #expect(page(0).contains("No heroes yet") && page(nil).contains("No heroes yet"))
    var answer = ListingSummary(count: 0, total: 0)
    answer.provenance = CombinedProvenance(Provenance(.live, fetchedAt: MadeUpSource.now))
    let live = pages.page(
      SourceContent(
        source: MadeUpSource.heroes, query: .plain,
        list: .success(ServedListing(records: [], summary: answer))))
    #expect(live.contains("No heroes</h2>") && live.contains("The service has none."))
  }

  @Test func `a headline says no more than the text below it, and a title what could not be shown`()
  {
    func page(_ warnings: [Warning], _ query: ServedQuery = ServedQuery(query: "tea")) -> String {
      var summary = ListingSummary(count: 0, total: 0)
      summary.warnings = warnings.map { SourceWarning("heroes", $0) }
      return pages.page(
        SourceContent(
          source: MadeUpSource.heroes, query: query,
          list: .success(ServedListing(records: [], summary: summary))))
    }
    let limited = Warning(.incomplete, "limited to cached records: 7 of 20")
    let sample = Warning(.bundled, "only bundled sample data was available")
    for html in [page([limited]), page([sample])] {
      #expect(html.contains(" data-announce>No heroes so far</p>"))
      #expect(html.contains("<title>No heroes so far for “tea”"))
    }
    #expect(page([limited], ServedQuery(conditions: ["name=x"])).contains("<h2>No matches so far<"))
    #expect(page([]).contains(" data-announce>No heroes</p>"))
    // The number of matches among cached records is not that of all; one that a service sends is.
    func counted(_ query: ServedQuery, of total: Int?, isWhole: Bool = false) -> String {
      var summary = ListingSummary(count: 1, total: total)
      if !isWhole { summary.warnings = [SourceWarning("heroes", limited)] }
      let records = [ServedRecord("1", "Kettle")]
      return pages.page(
        SourceContent(
          source: MadeUpSource.heroes, query: query,
          list: .success(ServedListing(records: records, summary: summary))))
    }
    let filtered = ServedQuery(conditions: ["name~x"])
    for (html, words) in [
      (counted(filtered, of: 463), "At least 463 heroes"),
      (counted(.plain, of: nil), "At least 1 hero"),
      (counted(filtered, of: 463, isWhole: true), "463 heroes"),
      (counted(.plain, of: 20), "20 heroes"),
    ] {
      #expect(html.contains(">\(words)"))
      #expect(html.contains("<title>\(words)"))
    }
    #expect(page([], ServedQuery(conditions: ["name=x"])).contains("<h2>No matches</h2>"))

    var content = SourceContent(
      source: MadeUpSource.heroes, query: .plain,
      list: .success(MadeUpSource.heroes.page(.plain)))
    content.detail = DetailContent(
      id: "15000", answer: .failure(Problem(503, "unreachable", "no network")), history: nil)
    #expect(pages.page(content).contains("<title>15000 – Heroes – aggregator</title>"))
  }

  private func table(_ names: [String?]) -> String {
    let records = names.enumerated().map { index, name in
      var record = ServedRecord("x\(index)", name ?? "x\(index)")
      record.cells = [.init(field: "id", label: "ID", value: record.id)]
      record.cells += name.map { [.init(field: "name", label: "Name", value: $0)] } ?? []
      return record
    }
    var listing = ServedListing(records: records, summary: ListingSummary(count: records.count))
    listing.columns = ["id", "name"].map {
      FieldEntry(Field<ServedRecord>($0, $0, \.name, about: "A field."))
    }
    return pages.page(
      SourceContent(
        source: MadeUpSource.heroes, query: ServedQuery(view: .table), list: .success(listing)))
  }

  @Test(
    arguments: [
      (20_000, "c", "20,000 heroes"), (1, nil, "1 hero"), (0, nil, "No heroes"),
      (nil, nil, "No heroes"),
      (nil, "c", "Heroes"),
    ] as [(Int?, String?, String)])
  func `the title of a list has the number of its records, if it is known`(
    total: Int?, next: String?, words: String
  ) {
    let summary = ListingSummary(count: 0, total: total, next: next.flatMap { PageCursor($0) })
    let content = SourceContent(
      source: MadeUpSource.heroes, query: ServedQuery(query: "tea"),
      list: .success(ServedListing(records: [], summary: summary)))
    #expect(pages.page(content).contains("<title>\(words) for “tea” – aggregator</title>"))
  }

  @Test(
    arguments: [
      (40, "c", ">40 heroes for “<bdi>tea</bdi>”</p>"),
      (nil, nil, ">1 hero for “<bdi>tea</bdi>”</p>"),
      (
        nil, "c",
        "><span data-shown>1</span> heroes shown for “<bdi>tea</bdi>”<span class=\"unknown\">, total unknown</span></p>"
      ),
    ] as [(Int?, String?, String)])
  func `a list without a total says so`(total: Int?, next: String?, words: String) {
    let summary = ListingSummary(count: 1, total: total, next: next.flatMap { PageCursor($0) })
    let listing = ServedListing(records: [ServedRecord("1", "Kettle")], summary: summary)
    let content = SourceContent(
      source: MadeUpSource.heroes, query: ServedQuery(query: "tea"), list: .success(listing))
    #expect(pages.page(content).contains(words))
  }

  @Test func `a record without a name leads to itself by its ID, in the column of names`() {
    let html = table(["Kettle", nil, "Lamp"])
    #expect(html.matches(of: /<th scope="col"/).count == 2)
    // Where there is little room, the IDs make way for the names.
    #expect(html.contains(#"<th scope="col" class="identity">"#))
    #expect(
      html.contains(
        /<td class="identity"[^>]*>x1<\/td><th scope="row"><a class="record"[^>]*>\s*x1<\/a>/))
    #expect(html.contains(#"<th scope="col" class="name"><a href"#))
    // Without any name, the IDs are the names.
    #expect(table([nil, nil]).contains(/<tr><th scope="row"><a [^>]*>\s*x0<\/a><\/th><td/))
  }

  @Test func `no other field names a record whose name is empty`() {
    let fields = [
      Field<ServedRecord>("link", "Link", \.link, about: "A text."),
      Field<ServedRecord>("name", "Name", \.name, about: "A text."),
    ]
    #expect(fields.name(of: ServedRecord("1", "Harbour")) == nil)
    #expect(fields.name(of: ServedRecord("1", "Harbour", link: "")) == nil)
    #expect(fields.name(of: ServedRecord("1", "Harbour", link: "One")) == "One")
    #expect(fields.dropFirst().name(of: ServedRecord("1", "Harbour")) == "Harbour")
  }

  @Test func `no other field names a record whose ID is its name`() {
    let fields = [
      Field<ServedRecord>("name", "Name", \.name, about: "A text.").asName(),
      Field<ServedRecord>("link", "Link", \.link, about: "A text."),
    ]
    #expect(fields.name(of: ServedRecord("Harbour", "Harbour", link: "One")) == nil)
    #expect(fields.name(of: ServedRecord("1", "Harbour", link: "One")) == "Harbour")
  }

  private func gallery(_ values: [JSON], of field: String) -> String {
    var source = MadeUpSource.heroes
    source.records = values.enumerated().map { index, value in
      let line = ServedRecord.Line(field: field, label: field, value: value.cell, json: value)
      return ServedRecord("\(index)", "N", [line])
    }
    return list(source)
  }

  @Test func `the name of a column says whether its numbers are years`() {
    #expect(gallery([1311, 4740], of: "population").contains(">1,311</data>"))
    #expect(gallery([1908], of: "population").contains(">1,908</data>"))
    for rows in [[[SQLValue.integer(1395)]], [[.integer(1395)], [.integer(25_000)]]] {
      #expect(result(of: "SELECT 1", ["n"], rows).contains(">1,395</td>"))
      #expect(result(of: "SELECT 1", ["year"], rows).contains(">1395</td>"))
    }
    #expect(gallery([1908, 2060], of: "opened").contains("<bdi>1908</bdi>"))
    #expect(gallery([1908, 900], of: "founded").contains("<bdi>1908</bdi>"))
  }

  @Test func `the numbers of a column have as many decimals as one of them`() {
    let prices = gallery([.number(12.5), .number(3.25), 1999, 4], of: "price")
    for text in ["12.50</data>", ">3.25<", ">1,999.00</data>", ">4.00</data>"] {
      #expect(prices.contains(text))
    }
    #expect(prices.contains(#"<data value="12.5" title="12.5">"#))
    #expect(gallery([3, 4], of: "stars").contains("<bdi>3</bdi>"))
    #expect(gallery([.number(8.5241234), 9], of: "lon").contains("<bdi>8.5241234</bdi>"))
    // Those of quotients and rounding errors are bounded; what is too large for them is exact.
    let shares = gallery(
      [0.1 + 0.2, 0.5, 0.000_123_456_7, 1e300].map(JSON.number), of: "share")
    for text in [">0.30000000</data>", ">0.50000000</data>", ">0.00012346</data>", ">1e+300<"] {
      #expect(shares.contains(text))
    }
    // Other pages of the same list have more.
    var sample = FieldSample()
    sample.add(.number(3.25), of: "price")
    sample.add(5_000, of: "price")
    let line = ServedRecord.Line(field: "price", label: "Price", value: "4.5", json: .number(4.5))
    #expect(HTML(line, in: sample).text.contains(">4.50<"))
    // A card, a row of a table or of a search, and the record itself say the same.
    var (source, year) = (MadeUpSource.heroes, line)
    year = ServedRecord.Line(field: "price", label: "Price", value: "1999", json: 1999)
    for (line, words) in [(line, ">4.50</data>"), (year, ">1,999.00</data>")] {
      source.records = [ServedRecord("1", "One", [line], card: [line])]
      var content = SourceContent(source: source, query: .plain, sample: sample)
      #expect(pages.gallery(source.records, content).text.contains(words))
      #expect(pages.rows(source.records, content).text.contains(words))
      content.detail = DetailContent(
        id: "1", answer: .success(source.record("1", .plain)), history: nil)
      #expect(pages.page(content, part: .detail).contains(words))
    }
  }

  @Test func `a card has no long ID, and breaks an address between its parts`() {
    let id = "6e789e6a-a1b9-45f4-8b47-3cf5f3372322"
    var source = MadeUpSource.heroes
    source.records = [
      ServedRecord(
        id, "One",
        [
          .init(label: "ID", value: id, isHeading: true),
          .init(label: "Email", value: "a&b.c@example.org"),
        ])
    ]
    let html = list(source)
    #expect(!html.contains("<bdi>\(id)"))
    #expect(html.contains("<bdi>a&#38;b.<wbr>c@<wbr>example.<wbr>org</bdi>"))
    source.records = [ServedRecord("CH", "One", [.init(label: "Code", value: "CH")])]
    #expect(list(source).contains("<bdi>CH</bdi>"))
  }

  @Test func `sources that begin with the same letter have two`() {
    let html = list(.heroes)
    for initial in ["He", "Ho", "C", "P"] {
      #expect(html.contains(#"<span class="initial" aria-hidden="true">\#(initial)</span>"#))
    }
  }

  @Test func `a source is as old as its sync`() {
    func words(
      fetched: Double, synced: Double?, isComplete: Bool = true, removed: Int = 0, deleted: Int = 0
    ) -> String {
      var state = SourceState(
        coverage: Coverage(cached: 3, total: isComplete ? 3 : 9, isComplete: isComplete))
      (state.removedUpstream, state.deleted) = (removed, deleted)
      state.fetchedAt = MadeUpSource.now - fetched
      state.syncedAt = synced.map { MadeUpSource.now - $0 }
      return pages.home([(source: MadeUpSource.heroes, state: .success(state))])
    }
    #expect(words(fetched: 61, synced: 63).contains("All 3 cached, synced 63 s ago<"))
    #expect(words(fetched: 61, synced: 7200).contains(#" data-age="61 7200">"#))
    #expect(
      words(fetched: 61, synced: 7200).contains("All 3 cached, fetched 61 s ago; synced 2 h ago<"))
    // One that was interrupted has read the first records long before its end.
    #expect(
      words(fetched: 240, synced: 3).contains("All 3 cached, fetched 4 min ago; synced just now<"))
    // All records may be cached without a sync.
    #expect(words(fetched: 61, synced: nil).contains("All 3 cached, fetched 61 s ago<"))
    #expect(
      words(fetched: 61, synced: nil, isComplete: false)
        .contains(
          #"<p class="tone cached part" data-age="61">3 of 9 cached, fetched 61 s ago; not synced completely<"#
        ))
    // The mark of all of them is another one.
    #expect(
      words(fetched: 61, synced: 63).contains(
        #"<p class="tone cached" data-age="61 63">All 3 cached, "#))
    // A sync without all records is later than the changes of those that it has seen.
    var short = SourceState(coverage: Coverage(cached: 3, total: nil, isComplete: false))
    short.coverage?.shortfall = .unreadable(1)
    (short.fetchedAt, short.syncedAt) = (MadeUpSource.now - 600, MadeUpSource.now - 63)
    #expect(
      pages.home([(source: MadeUpSource.heroes, state: .success(short))])
        .contains("3 cached, maybe not all; synced 63 s ago<"))
    var none = SourceState(coverage: Coverage(cached: 0, total: nil, isComplete: true))
    none.syncedAt = MadeUpSource.now - 63
    #expect(
      pages.home([(source: MadeUpSource.heroes, state: .success(none))])
        .contains(">No records, synced 63 s ago<"))
    // Lists have fewer records than the store, for these reasons.
    #expect(
      words(fetched: 61, synced: 63, removed: 1)
        .contains("All 3 cached, and 1 removed upstream; synced 63 s ago<"))
    let deleted = words(fetched: 61, synced: 63, removed: 1, deleted: 2)
    #expect(
      deleted.contains(
        "All 1 cached, besides 2 deleted here, and 1 removed upstream; synced 63 s ago<"))
    let sum = "1 record cached from 1 of 1 source: search them here, or query them"
    // A search and SQL have the samples of the others, too.
    var samples = SourceState()
    samples.bundled = 1250
    let both = pages.home([
      (source: MadeUpSource.heroes, state: .success(short)),
      (source: MadeUpSource.countries, state: .success(samples)),
    ])
    #expect(
      both.contains(
        ">3 records cached from 1 of 2 sources, and 1,250 bundled sample records of the others: search"
      ))
    // In the part that a sync renews.
    #expect(deleted.contains(#"<div id="sources"><p class="summary">\#(sum)"#))
  }

  @Test func `the sources are in the order that was asked for`() {
    func state(_ records: Int, synced: Double) -> SourceState {
      var state = SourceState(
        coverage: Coverage(cached: records, total: records, isComplete: true))
      state.syncedAt = MadeUpSource.now - synced
      return state
    }
    let states: [(source: any ServedSource, state: Result<SourceState, Problem>)] = [
      (MadeUpSource(name: "a"), .success(state(20, synced: 60))),
      (MadeUpSource(name: "b"), .failure(Problem(500, "storage", "no store"))),
      (MadeUpSource(name: "c"), .success(state(3, synced: 7))),
    ]
    for (order, names) in [
      (HomeOrder.name, ["a", "b", "c"]), (.freshness, ["c", "a", "b"]), (.count, ["a", "c", "b"]),
    ] {
      let html = pages.home(states, by: order)
      let found = html.matches(of: /<h2><a href="\/sources\/([a-z])"/).map { String($0.output.1) }
      #expect(found == names, "\(order.rawValue)")
      #expect(html.contains(#"aria-current="true">\#(order.words)</a>"#))
    }
  }

  @Test func `many sources have a row each in the place of a card`() {
    func home(of count: Int) -> String {
      var states: [(source: any ServedSource, state: Result<SourceState, Problem>)] = []
      for number in 1...count {
        states.append((MadeUpSource(name: "s\(number)"), .success(SourceState())))
      }
      return pages.home(states)
    }
    #expect(home(of: 8).contains(#"<ul class="sources">"#))
    #expect(home(of: 9).contains(#"<ul class="sources dense">"#))
  }

  @Test func `a card tells of no changes during a sync, but keeps their room`() {
    var state = SourceState(coverage: Coverage(cached: 9, total: 9, isComplete: true))
    var changes = ChangeSummary(date: nil, knownSince: nil)
    changes.add(.changed, on: "2026-03-04T05:06:07Z")
    state.changes = changes
    let states: [(source: any ServedSource, state: Result<SourceState, Problem>)] = [
      (MadeUpSource.heroes, .success(state))
    ]
    #expect(pages.home(states).contains(">1 changed since the sync before the last</a>"))
    let sync = ServedSync(
      startedAt: MadeUpSource.now, duration: nil, outcome: .running, counts: [0, 0, 0, 0])
    for outcome in [ServedSync.Outcome.stopped, .failed, .interrupted] {
      let cut = ServedSync(
        startedAt: MadeUpSource.now, duration: nil, outcome: outcome, counts: [5, 0, 0, 0])
      let words = ">1 changed since the sync before the last that ended</a>"
      #expect(pages.home(states, syncs: ["heroes": cut]).contains(words))
    }
    let link = #"<a href="/changes/heroes">1 changed since the sync before the last</a>"#
    let room = #"<p class="unseen">\#(link)"#
    #expect(pages.home(states, syncs: ["heroes": sync]).contains(room))
    #expect(!pages.home(states).contains("unseen"))
  }

  @Test func `an incomplete sync is said on the card and on the list`() {
    let shortfall = Shortfall(.repeated, "1 row had the ID of an earlier one")
    let note = "<p class=\"note\" dir=\"auto\">The last sync is incomplete: \(shortfall).</p>"
    var state = SourceState(coverage: Coverage(cached: 9, total: 9, isComplete: true))
    var home: String { pages.home([(source: MadeUpSource.heroes, state: .success(state))]) }
    #expect(home.contains(">All 9 cached</p>"))
    #expect(!home.contains("The last sync is"))
    state.coverage?.isComplete = false
    state.coverage?.shortfall = shortfall
    #expect(home.contains(">9 cached, maybe not all</p>"))
    #expect(home.contains(note))
    state.fetchedAt = MadeUpSource.now - 61
    #expect(home.contains(">9 cached, maybe not all; fetched 61 s ago</p>"))
    // Others were fetched just now.
    state.lastFetchedAt = MadeUpSource.now
    #expect(home.contains(">9 cached, maybe not all; oldest fetched 61 s ago</p>"))
    state.lastFetchedAt = MadeUpSource.now - 2
    #expect(home.contains(">9 cached, maybe not all; fetched 61 s ago</p>"))
    (state.fetchedAt, state.lastFetchedAt) = (nil, nil)
    state.coverage?.shortfall = Shortfall([.unproved])
    #expect(home.contains(">There may be further pages that are not read.</p>"))
    #expect(!home.contains("The last sync is"))
    state.coverage?.shortfall = shortfall
    state.coverage?.total = 10
    #expect(home.contains(">9 of 10 cached</p>"))
    state.deleted = 2
    #expect(home.contains(">7 of 8 cached, besides 2 deleted here</p>"))
    var content = SourceContent(source: MadeUpSource.heroes, query: .plain)
    #expect(!pages.page(content).contains(note))
    content.shortfall = shortfall
    #expect(pages.page(content).contains(note))
    content.query = ServedQuery(cursor: "c20")
    #expect(!pages.page(content).contains(note))
  }

  @Test func `a list names the failure of the last sync, unless the script does`() {
    var content = SourceContent(source: MadeUpSource.heroes, query: .plain)
    content.shortfall = Shortfall(.syncFailed, "cannot connect")
    let note = "<p class=\"note\" dir=\"auto\">The last sync failed: cannot connect.</p>"
    #expect(pages.page(content).contains(note))
    content.lastSync = ServedSync(
      startedAt: MadeUpSource.now, duration: nil, outcome: .failed, counts: [0, 0, 0, 0])
    #expect(!pages.page(content).contains("The last sync"))
    let readOnly = HTMLRenderer(
      program: "aggregator", sources: pages.sources, isReadOnly: true, now: MadeUpSource.now)
    #expect(readOnly.page(content).contains(note))
  }

  @Test func `a list whose service sent fewer records than it reports does not claim them`() {
    let summary = ListingSummary(count: 1, total: 100, next: PageCursor("c"))
    let listing = ServedListing(records: [ServedRecord("1", "Kettle")], summary: summary)
    var content = SourceContent(
      source: MadeUpSource.heroes, query: .plain, list: .success(listing))
    content.cachedCount = 60
    #expect(pages.page(content).contains(">100 heroes</p>"))
    content.shortfall = Shortfall([.fewer(60, than: 100, last: nil, in: nil)])
    let html = pages.page(content)
    #expect(html.contains(">60 of 100 heroes</p>"))
    #expect(html.contains("<title>60 of 100 heroes – aggregator</title>"))
    #expect(html.contains(#"placeholder="1–60""#))
  }

  @Test func `a list with unreadable rows counts the others, and says once how many are lost`() {
    let example = "8 rows could not be read (row 3: id is missing)"
    let summary = ListingSummary(
      count: 1, total: 150, next: PageCursor("c"),
      provenance: CombinedProvenance([Provenance(.live, fetchedAt: MadeUpSource.now)]),
      warnings: [SourceWarning("heroes", Warning(.unreadable, example))])
    let listing = ServedListing(records: [ServedRecord("1", "Kettle")], summary: summary)
    var content = SourceContent(
      source: MadeUpSource.heroes, query: .plain, list: .success(listing))
    content.cachedCount = 139
    let note = #"<p class="note" dir="auto">\#(example).</p>"#
    #expect(pages.page(content).contains(note))
    content.shortfall = .unreadable(11)
    let html = pages.page(content)
    #expect(html.contains(">139 of 150 heroes</p>"))
    #expect(html.contains("The last sync is incomplete: 11 rows could not be read.</p>"))
    // The example of this page is a part of the origin.
    #expect(!html.contains(note) && html.contains(#"<p dir="auto">\#(example).</p>"#))
  }

  @Test func `a card names the failure of the last sync, which a server need not have run`() {
    var state = SourceState(coverage: Coverage(cached: 9, total: nil, isComplete: false))
    state.syncFailure = "a.example failed (500): \"<b>\""
    let words =
      "<p class=\"note failed\" dir=\"auto\">The last sync failed: a.example failed (500): &#34;&#60;b&#62;&#34;.</p>"
    func home(after outcome: ServedSync.Outcome?) -> String {
      let sync = outcome.map {
        ServedSync(startedAt: MadeUpSource.now, duration: nil, outcome: $0, counts: [0, 0, 0, 0])
      }
      return pages.home(
        [(source: MadeUpSource.heroes, state: .success(state))],
        syncs: sync.map { ["heroes": $0] } ?? [:])
    }
    #expect(home(after: nil).contains(words))
    #expect(home(after: .complete).contains(words))
    // The script says that of a server.
    #expect(!home(after: .failed).contains("note failed"))
    #expect(!home(after: .running).contains("note failed"))
    state.syncFailure = nil
    #expect(!home(after: nil).contains("note failed"))
  }

  @Test func `a sync of all says which sources it passes over, and why`() {
    var endless = MadeUpSource(name: "users")
    endless.isEndless = true
    var keyless = SourceState(coverage: Coverage(cached: 0, total: nil, isComplete: false))
    keyless.problem = Problem(503, "missingKey", "HERO_KEY is not set")
    let states: [(source: any ServedSource, state: Result<SourceState, Problem>)] = [
      (MadeUpSource.countries, .success(SourceState())),
      (MadeUpSource.heroes, .success(keyless)), (endless, .success(SourceState())),
    ]
    let words = "Not synced: Heroes (HERO_KEY is not set), Users (its list has no end).</p>"
    #expect(pages.home(states, hasSynced: true).contains(words))
    #expect(!pages.home(states).contains("Not synced"))
    #expect(!pages.home([states[0]], hasSynced: true).contains("Not synced"))
  }

  @Test func `the first page says what to do first`() {
    func page(_ state: SourceState, in pages: HTMLRenderer) -> String {
      pages.home([(source: MadeUpSource.heroes, state: .success(state))])
    }
    var state = SourceState(coverage: Coverage(cached: 0, total: nil, isComplete: false))
    state.bundled = 5
    let first = "Nothing is cached yet: open a source to list its records"
    #expect(page(state, in: pages).contains("\(first), or sync it to have all of them here"))
    #expect(page(state, in: pages).contains(#"<p class="tone bundled">5 bundled sample records"#))
    state.problem = Problem(503, "missingKey", "HERO_KEY is not set", hint: "get a key")
    #expect(
      page(state, in: pages).contains(
        #"<details class="note" dir="auto"><summary>HERO_KEY is not set</summary>Get a key, then run <code>"#
      ))
    state.problem = Problem(503, "unreachable", "nobody answers")
    #expect(page(state, in: pages).contains(#"<p class="note" dir="auto">Nobody answers.</p>"#))
    let readOnly = HTMLRenderer(
      program: "aggregator", sources: pages.sources, isReadOnly: true, now: MadeUpSource.now)
    #expect(page(state, in: readOnly).contains("\(first).</p>"))
    // Without a store nothing can be cached.
    #expect(!page(SourceState(), in: pages).contains(first))
  }

  @Test func aLongTextIsFoldedAndAListHasTags() {
    var record = ServedRecord("1", "One")
    let story = String(repeating: "word & ", count: 200)
    var powers = ServedRecord.Line(field: "powers", label: "Powers", value: "a, \"b\"")
    powers.elements = ["a", "\"b\""]
    record = ServedRecord("1", "One", card: [.init(label: "Story", value: story), powers])
    var source = MadeUpSource.heroes
    source.records = [record]
    let html = detail(source, "1")
    let fold = "<details><summary><span>Show all of it</span> <span>Show less</span></summary>"
    #expect(html.contains("&#38; word…</p>\(fold)word &#38;"))
    // They narrow the list beside the record, which stays open.
    #expect(html.contains(#"href="/sources/heroes/1?where=powers%3D%22%5C%22b%5C%22%22""#))
    let chosen = detail(source, "1", ServedQuery(conditions: ["powers=a", "size=2"]))
    let (others, both) = ("where=size%3D%222%22", "where=powers%3D%22a%22&#38;where=size%3D%222%22")
    #expect(
      chosen.contains(
        "href=\"/sources/heroes/1?\(others)\" data-where=\"powers=&#34;a&#34;\" title=\"a\" aria-current=\"true\">"
      ))
    #expect(chosen.contains("href=\"/sources/heroes/1?\(both)&#38;where=powers"))
    source.hasStore = false
    #expect(
      detail(source, "1").contains(
        #"<li class="chip" title="&#34;b&#34;"><bdi>&#34;b&#34;</bdi></li></ul>"#))
  }

  @Test func `web addresses in a text are links`() {
    func link(_ address: String) -> String {
      #"<a href="\#(address)" rel="noopener noreferrer external" referrerpolicy="no-referrer">\#(address)</a>"#
    }
    let texts = [
      "See https://a.example/x?y=1.": "See \(link("https://a.example/x?y=1")).",
      "(http://b.example) & https://c.example/<b>":
        "(\(link("http://b.example"))) &#38; \(link("https://c.example/"))&#60;b&#62;",
      "javascript://x https:// ftp://c.example https://me:pw@d.example":
        "javascript://x https:// ftp://c.example https://me:pw@d.example",
    ]
    for (text, html) in texts { #expect(HTML.paragraphs(text).text == html) }
    // One that is cut would be another one.
    var source = MadeUpSource.heroes
    let long = "https://a.example/" + String(repeating: "x", count: 900)
    source.records = [
      ServedRecord("1", "One", card: [.init(label: "Story", value: "\(long) end")])
    ]
    let html = detail(source, "1")
    #expect(html.contains(link(long)) && html.ranges(of: "<a href=\"https://a.example").count == 1)
  }

  @Test(arguments: [
    ("latitude", "50.5", "longitude", "-95.25", #"<circle cx="200" cy="100" r="6"/>"#),
    // The world ends at its edges.
    ("at.lat", "-33", "at.lng", "151", #"<circle cx="255" cy="100" r="6"/>"#),
    ("lat", "90", "lon", "-180", #"<circle cx="0" cy="0" r="6"/>"#),
    ("lat", "91", "lon", "0", ""), ("lat", "\"><script>", "lon", "0", ""),
    ("lat", "nan", "lon", "0", ""), ("latitude", "50.5", "height", "1", ""),
  ])
  func `the place of a record is on a map`(
    first: String, latitude: String, second: String, longitude: String, circle: String
  ) {
    let lines = [(first, latitude), (second, longitude)].map { name, value in
      ServedRecord.Line(field: name, label: name, value: value)
    }
    var source = MadeUpSource.heroes
    source.records = [ServedRecord("1", "One", card: lines)]
    let html = detail(source, "1", part: .detail)
    #expect(html.contains("<svg class=\"drawing map place\"") != circle.isEmpty)
    if !circle.isEmpty {
      #expect(html.contains(circle))
      #expect(html.contains(Asset.land.address))
    }
    if latitude == "50.5", !circle.isEmpty {
      #expect(html.contains(#"aria-label="Map of the region around 50.5° north, 95.25° west""#))
      #expect(html.contains(#"x="-224" y="-98" width="1800" height="900"/>"#))
      #expect(html.contains(">100°W</text>") && html.contains(">60°N</text>"))
      #expect(html.contains(#"<path class="scale" d="M321 16v6H392v-6"/>"#))
      #expect(html.contains(">1,000 km</text>"))
      #expect(
        html.contains("org/?mlat=50.5&#38;mlon=-95.25#map=9/50.5/-95.25\">OpenStreetMap</a>"))
      #expect(html.contains(#"href="geo:50.5,-95.25""#))
    }
  }

  @Test func `a table has the first picture in the place of its address`() {
    func cell(_ images: [Int]) -> String {
      var record = ServedRecord("1", "One")
      var line = ServedRecord.Line(field: "image", label: "Image", value: "https://a.example/1.png")
      line.images = images
      record.cells = [line]
      var listing = ServedListing(records: [record], summary: ListingSummary(count: 1))
      listing.columns = [
        FieldEntry(Field<ServedRecord>("image", "Image", \.name, about: "A field."))
      ]
      let content = SourceContent(source: MadeUpSource.heroes, query: ServedQuery(view: .table))
      return pages.table(listing, content).text
    }
    let picture = #"data-image="/api/v1/heroes/1/image?size=small&#38;number=2""#
    #expect(cell([2]).contains(picture) && !cell([2]).contains("+"))
    #expect(cell([2, 1]).contains(picture) && cell([2, 1]).contains("</span></span> +1"))
    // The address is there for those who cannot have it.
    #expect(cell([2]).contains(#"<span class="address"><a href="https://a.example/1.png""#))
    #expect(!cell([]).contains("data-image"))
  }

  @Test func aListOfImagesIsShownAsPictures() {
    var line = ServedRecord.Line(field: "images", label: "Images", value: "https://a.example/1.png")
    line.isLink = true
    line.elements = ["https://a.example/1.png", "https://a.example/2.png"]
    func html(_ images: [Int]) -> String {
      line.images = images
      var source = MadeUpSource.heroes
      source.records = [ServedRecord("1", "One", card: [line])]
      return detail(source, "1", ServedQuery(cache: .offline), part: .detail)
    }
    let pictures = html([2, 1])
    let address = "/api/v1/heroes/1/image?size=large&#38;number=2&#38;cache=offline"
    #expect(pictures.contains("href=\"\(address)\""))
    #expect(pictures.contains(#"number=1&#38;cache=offline" aria-label="Picture 2 of 2">"#))
    #expect(!pictures.contains("a.example"))
    #expect(html([]).contains(#"<dd dir="auto"><ul class="chips">"#))
  }

  @Test func `a negative number has a minus sign, and its exact value beside it`() {
    var line = ServedRecord.Line(field: "balance", label: "Balance", value: "-5")
    line.json = .integer(-5)
    var source = MadeUpSource.heroes
    source.records = [ServedRecord("1", "One", [line], card: [line])]
    for html in [list(source), detail(source, "1", part: .detail)] {
      #expect(html.contains(#"<data value="-5" title="-5">−5</data>"#))
    }
  }

  @Test func `a record that is named by its ID has no second line that repeats it`() {
    var source = MadeUpSource.heroes
    let kind = source.noun.singular.capitalizedFirst
    source.records = [ServedRecord("1", "One", []), ServedRecord("2", "\(kind) 2", [])]
    let line = #"<p class="id">\#(kind) <bdi>"#
    #expect(detail(source, "1", part: .detail).contains(line))
    #expect(!detail(source, "2", part: .detail).contains(line))
  }

  @Test func `records without a value have a bar, as those with one`() {
    let value = Facet.Value(text: "a", count: 4, condition: "k=a")
    let html = facets(
      [Facet(field: "k", label: "K", isRange: false, values: [value], missing: 8)], [])
    let lengths = html.matches(of: /<rect width="([0-9]+)" height="100"\/>/).map { String($0.1) }
    #expect(lengths == ["50", "100"])
  }

  @Test(arguments: [
    (JSON.string("2024-03-04"), "published", "4 Mar 2024"),
    (.string("2024-03-04T09:12:44Z"), "createdAt", "4 Mar 2024, 09:12 UTC"),
    (.string("2024-03-04 09:12:44.250+0200"), "created_at", "4 Mar 2024, 09:12 +0200"),
    (.string("2024-03-04T23:59"), "at", "4 Mar 2024, 23:59"),
    (.integer(20_000), "population", "20,000"), (.integer(-1234567), "balance", "-1,234,567"),
    (.number(12345.678), "price", "12,345.678"), (.number(1500.5), "price", "1,500.5"),
    (.bool(true), "isOpen", "yes"), (.bool(false), "id", "no"),
  ])
  func `values are written as people do`(value: JSON, field: String, words: String) {
    #expect(value.written(in: field) == words)
    var line = ServedRecord.Line(field: field, label: "Value", value: value.text)
    line.json = value
    var source = MadeUpSource.heroes
    source.records = [ServedRecord("1", "One", [line], card: [line])]
    for html in [list(source), detail(source, "1", part: .detail)] {
      #expect(html.contains(">\(words.replacing("-", with: "−"))</"))
      // The exact value is beside it.
      #expect(html.contains("=\"\(value.cell)\" title=\"\(value.cell)\""))
    }
  }

  @Test(arguments: [
    (JSON.string("20000"), "price"), (.integer(1999), "founded"), (.integer(999), "price"),
    (.integer(20_000), "id"), (.integer(20_000), "userId"), (.integer(20_000), "row.zip_code"),
    (.integer(40_000), "modelYear"), (.integer(20_000), "EAN"), (.number(1e300), "mass"),
    (.string("2024"), "since"), (.string("2024-13-04"), "since"), (.string("2024-03-04"), "id"),
    (.integer(900), "founded"), (.integer(3000), "born"), (.array([20_000]), "sizes"),
    (.null, "price"),
  ])
  func `texts, years and codes are shown as they are`(value: JSON, field: String) {
    #expect(value.written(in: field) == nil)
  }

  @Test(arguments: [
    (JSON.integer(20), JSON.integer(22), "price", "+10%"), (20, .number(19.5), "price", "−2.5%"),
    (.number(4.99), .integer(5), "price", "+0.2%"), (.integer(50), .integer(51), "price", "+2%"),
    (10_000, .number(10_996), "price", "+10%"), (3, 4, "price", "+33%"), (1, 0, "price", "−100%"),
    (1, 10, "price", "+900%"), (1, 11, "price", nil),
    (.number(1e-300), .number(1e300), "price", nil),
    (10_000, 10_001, "price", nil), (0, 5, "price", nil), (-5, 5, "price", nil),
    (5, -5, "price", nil), (5, .null, "price", nil), (.string("5"), .string("6"), "price", nil),
    (2, 3, "maker_id", nil), (1999, 2004, "founded", nil), (2, 9, "rank", nil),
    (2, 9, "priceRank", nil), (2, 9, "level", nil), (4, 5, "unitPriceEUR", "+25%"),
    (4, 5, "item.stock_count", "+25%"),
  ])
  func `the size of a change is that of amounts`(
    old: JSON, new: JSON, field: String, words: String?
  ) {
    #expect(old.growth(to: new, in: field) == words)
  }

  @Test func anOrderIsCalledByTheKindOfItsField() {
    var source = MadeUpSource.heroes
    source.fields = ["name", "born", "height", "isAlive"].map {
      FieldEntry(Field<ServedRecord>($0, $0, \.name, about: "A field."))
    }
    source.fields.append(
      FieldEntry(Field<ServedRecord>("key", "Key", \.name, about: "A number.", isShown: false)))
    let query = ServedQuery(
      conditions: ["born>=2024-03-04 and born<2025", "height>=10000", "isAlive=true"],
      order: "-born,height,isAlive,name,other")
    var content = SourceContent(source: source, query: query, list: .success(source.page(query)))
    content.sample.kinds = ["name": .text, "born": .date, "height": .number, "isAlive": .bool]
    content.sample.numerals = ["key"]
    let html = pages.page(content)
    #expect(
      html.contains(
        """
         <bdi>where born is 4 Mar 2024 to before 2025 and height is at least 10,000 and is alive is yes, \
        sorted by born, newest first, then by height, smallest first, then by is alive, no first, \
        then by name, A to Z, then by other, ascending</bdi>
        """))
    #expect(html.contains("<bdi>Born 4 Mar 2024 to before 2025</bdi>"))
    for words in ["Z to A", "largest first", "oldest first", "yes first"] {
      #expect(html.contains("title=\"\(words)\" aria-label="))
    }
    // Also by what a card does not show.
    #expect(
      html.contains(
        #"sort=-key" title="largest first" aria-label="Key: largest first">↓</a></li>"#))
    // A range is one filter, and removed as one.
    #expect(html.matches(of: /Remove:/).count == 3)
    #expect(
      html.contains(#"href="/sources/heroes?where=height%3E%3D%2210000%22&#38;where=isAlive%3D"#))
  }

  @Test func `names of capitals stay in the words of a filter and an order`() {
    var source = MadeUpSource.heroes
    source.fields = ["ID", "Stock", "URL"].map {
      FieldEntry(Field<ServedRecord>($0.lowercased(), $0, \.name, about: "A field."))
    }
    let query = ServedQuery(conditions: ["id>1", "stock>19990"], order: "id,-url")
    var content = SourceContent(source: source, query: query, list: .success(source.page(query)))
    content.sample.kinds = ["id": .number, "stock": .number, "url": .text]
    let words =
      "where ID is above 1 and stock is above 19,990, "
      + "sorted by ID, smallest first, then by URL, Z to A"
    #expect(pages.page(content).contains("<bdi>\(words)</bdi>"))
  }

  @Test func `fields of few values come first, and addresses have no values`() {
    func facet(_ field: String, _ texts: [String], isRange: Bool = false, of different: Int)
      -> Facet
    {
      let values = texts.map { Facet.Value(text: $0, count: 2, condition: "\(field)>1") }
      var facet = Facet(field: field, label: field, isRange: isRange, values: values, missing: 0)
      facet.different = different
      return facet
    }
    var unique = facet("Unique", ["a", "b"], of: 20)
    unique.isNearlyUnique = true
    let html = facets(
      [
        unique, facet("Many", ["a", "b"], of: 40),
        facet("Height", ["1", "2"], isRange: true, of: 9), facet("Zip", ["1", "2"], of: 2),
        facet("Range", ["1", "2"], isRange: true, of: 9),
        facet("Page", ["https://a.example/1", "https://a.example/2"], of: 2),
        facet("Some", ["a", "b"], of: 14), facet("Few", ["a", "https://a.example"], of: 2),
      ], [], showsAll: true)
    let fields = html.matches(of: /<h2>([A-Z][a-z]+)<\/h2>/).map { String($0.1) }
    #expect(fields == ["Few", "Range", "Some", "Many", "Height", "Zip", "Unique"])
    #expect(html.contains(/<h2>Unique.*Fewer fields<\/a>/.dotMatchesNewlines()))
  }

  @Test(arguments: [
    (9, 5, "ABCUVW"), (9, 2, "ABCDUV"), (1, 9, "AUVWXY"), (4, 0, "ABCD"), (5, 2, "ABCDEUV"),
    (0, 9, "UVWXYZ"),
  ])
  func `half of the first fields are numbers and dates`(few: Int, ranges: Int, first: String) {
    func all(_ names: String, isRange: Bool, _ count: Int) -> [Facet] {
      (0..<count).map { index in
        let name = Array(names).indices.contains(index) ? String(Array(names)[index]) : "more"
        let values = ["1", "2"].map { Facet.Value(text: $0, count: 2, condition: "f>1") }
        let field = "f\(name)\(index)"
        return Facet(field: field, label: name, isRange: isRange, values: values, missing: 0)
      }
    }
    let html = facets(
      all("ABCDEF", isRange: false, few) + all("UVWXYZ", isRange: true, ranges), [])
    #expect(html.matches(of: /<h2>([A-Z])<\/h2>/).map { String($0.1) }.joined() == first)
  }

  @Test(arguments: [0, 1, 6, 7, 8, 17])
  func `the values of more than seven fields are shown on demand, and of a filter`(count: Int) {
    let all = (0..<count).map { index in
      Facet(
        field: "f\(index)", label: "Field \(index)", isRange: false,
        values: [Facet.Value(text: "x", count: 2, condition: "f\(index)=x")], missing: 0)
    }
    func fields(_ html: String) -> Int { html.matches(of: /<h2>Field/).count }
    func link(_ mode: String, _ isOpen: Bool) -> String {
      #"<a class="filter" href="/sources/heroes?filters=\#(mode)" aria-expanded="\#(isOpen)">"#
        + (isOpen ? "Fewer fields</a>" : "\(count - 6) more fields</a>")
    }
    let first = count == 7 ? 7 : min(count, 6)
    let (some, whole) = (facets(all, []), facets(all, [], showsAll: true))
    #expect(fields(some) == first && fields(whole) == count)
    #expect(some.contains(link("all", false)) == (count > 7))
    #expect(whole.contains(link("shown", true)) == (count > 7))
    // The form and the links to other values keep what is shown.
    #expect(whole.contains(#"<input type="hidden" name="filters" value="all">"#))
    #expect(fields(facets(all, ["f16=x"])) == (count == 17 ? 17 : first))
  }

  @Test(arguments: [
    (["Lamp"], "price", "price > 20 or kind = Lamp"), (["A B", "C"], "id", "kind = C"),
    (["Lamps and lanterns"], "price", "price > 20"), (["A longer word than that"], "id", "id = …"),
  ])
  func `an example of a filter has a field of the source`(
    values: [String], number: String, example: String
  ) {
    var source = MadeUpSource.heroes
    source.fields = [number, "kind"].map {
      FieldEntry(Field<ServedRecord>($0, $0, \.name, about: "A field."))
    }
    var content = SourceContent(
      source: source, query: ServedQuery(showsFilters: true), list: .success(source.page(.plain)))
    content.sample.kinds = [number: .number, "kind": .text]
    content.facets = [
      Facet(
        field: "kind", label: "Kind", isRange: false,
        values: values.map { Facet.Value(text: $0, count: 2, condition: "kind=x") }, missing: 0)
    ]
    let html = pages.page(content).replacing("&#62;", with: ">")
    #expect(html.contains("placeholder=\"\(example)\""))
  }

  @Test(
    arguments: [
      ([], [#"tags="a""#], [#"tags="b""#]), (["tags=a"], [], [#"tags="a" and tags="b""#]),
      (["tags=a", "tags=b"], [#"tags="b""#], [#"tags="a""#]),
      // What was typed stays.
      (
        ["tags in (a, c)"], [#"tags in ("a", "c")"#, #"tags="a""#],
        [#"tags in ("a", "c")"#, #"tags="b""#]
      ),
    ] as [([String], [String], [String])])
  func `a second value of lists is one that a record has as well`(
    conditions: [String], first: [String], second: [String]
  ) throws {
    var source = MadeUpSource.heroes
    source.fields = [FieldEntry(Field<ServedRecord>("tags", "Tags", \.name, about: "A field."))]
    let query = ServedQuery(conditions: conditions, showsFilters: true)
    var content = SourceContent(source: source, query: query, list: .success(source.page(query)))
    var facet = Facet(
      field: "tags", label: "Tags", isRange: false,
      values: ["a", "b"].map { Facet.Value(text: $0, count: 2, condition: "tags=\($0)") },
      missing: 0)
    facet.isOfLists = true
    content.facets = [facet]
    let links = pages.page(content).matches(of: /<li><a href="([^"]*)" title="[ab]"/).map { match in
      let address = match.1.replacing("&#38;", with: "&").replacing("+", with: "%20")
      let items = URLComponents(string: String(address))?.queryItems ?? []
      return items.filter { $0.name == "where" }.compactMap(\.value)
    }
    #expect(links == [first, second])
  }

  @Test func `a filter leads to the form that is filled in for it`() {
    var source = MadeUpSource.heroes
    source.fields = ["price", "name"].map {
      FieldEntry(Field<ServedRecord>($0, $0, \.name, about: "A field."))
    }
    let query = ServedQuery(
      conditions: ["price in 2..30", "name~/x/", "name in (a, b)"], showsFilters: true)
    func page(_ edited: Int?) -> String {
      var content = SourceContent(source: source, query: query, list: .success(source.page(query)))
      content.sample.kinds = ["price": .number, "name": .text]
      content.edited = edited
      return pages.page(content)
    }
    let html = page(nil)
    #expect(html.contains(#"filters=shown&#38;edit=0"><bdi>Price is 2–30</bdi></a>"#))
    // What the form cannot say is changed as text.
    #expect(page(1).contains(#"<input name="where" value="name~/x/" aria-label="Filter as text""#))
    #expect(html.contains(#"<input name="where" value="" aria-label="Filter as text""#))
    #expect(!html.contains("autofocus") && html.contains(">Add filter<"))
    let price = page(0)
    #expect(price.contains(#"<option value="price" data-kind="number" selected="">"#))
    #expect(price.contains(/<option value="between"[^>]* selected="">/))
    #expect(price.contains(#"name="value" value="2""#) && price.contains(#"name="to" value="30""#))
    #expect(price.contains(">Change filter<") && price.contains("autofocus"))
    // It takes the place of the filter.
    #expect(price.matches(of: /<select[^>]*>/).count == 3)
    let form =
      price.split(separator: #"<section class="filters""#).last?.split(separator: "</form>").first
      ?? ""
    #expect(!form.contains("price in") && form.contains("name~"))
    #expect(page(2).contains(#"name="value" value="a, b""#))
    for none in [1, 3, -1] { #expect(page(none).contains(">Add filter<")) }
  }

  @Test func `the values of a field are offered in the order of their names`() {
    var source = MadeUpSource.heroes
    source.fields = [FieldEntry(Field<ServedRecord>("kind", "Kind", \.name, about: "A field."))]
    let query = ServedQuery(showsFilters: true)
    var content = SourceContent(source: source, query: query, list: .success(source.page(query)))
    func offered(_ texts: [String]) -> [String] {
      let values = texts.map { Facet.Value(text: $0, count: 2, condition: "kind=a") }
      content.facets = [
        Facet(field: "kind", label: "Kind", isRange: false, values: values, missing: 0)
      ]
      let html = pages.page(content).replacing("&#34;", with: "\"")
      return html.matches(of: /\["([^"]*)","/).map { String($0.output.1) }
    }
    #expect(
      offered(["Shop 12", "shop 2", "Éclair", "Zoo"]) == ["Éclair", "shop 2", "Shop 12", "Zoo"])
    #expect(offered(["XL", "S", "M"]) == ["S", "M", "XL"])
  }

  @Test func aReadOnlyPageDeletesNothing() {
    let readOnly = HTMLRenderer(
      program: "aggregator", sources: pages.sources, isReadOnly: true, now: MadeUpSource.now)
    #expect(detail(.heroes, "1443").contains(#"action="/sources/heroes/1443/delete""#))
    let html = detail(.heroes, "1443", in: readOnly)
    #expect(!html.contains("delete"))
    #expect(html.contains("<h1>") && !html.contains("class=\"sync\""))
    #expect(!html.contains("data-sync"))
    #expect(list(.heroes).contains(#"data-sync="/api/v1/sync/heroes""#))
  }

  @Test func aSearchWithoutMatchesNamesTheSearchedFieldsAndLeadsToFilters() throws {
    let source = MadeUpSource.heroes
    let query = ServedQuery(query: "marvel -dc")
    var listing = source.page(query)
    let marvel = Facet.Value(text: "Marvel", count: 2, condition: "publisher=Marvel")
    let facet = Facet(
      field: "publisher", label: "Publisher", isRange: false, values: [marvel], missing: 0)
    let name = FieldEntry(Field<ServedRecord>("name", "Real name", .text, about: "") { _ in .null })
    listing.advice = SearchAdvice(searched: [name], filters: [facet])
    listing.searchHints = [
      SearchHint(message: "\"-dc\" excludes nothing", rest: "marvel", condition: "not name~dc")
    ]
    let html = pages.page(SourceContent(source: source, query: query, list: .success(listing)))
    #expect(html.contains(">Searched: real name.</p>"))
    let address = "?query=marvel&#38;where="
    #expect(html.contains(#"excludes nothing. <a href="/sources/heroes\#(address)"#))
    #expect(html.contains(">Filter: <bdi>not (Name contains dc)</bdi></a>"))
    let all = pages.search(
      SearchContent(
        query: query,
        answers: [
          SourceListing(source: source, page: .success(listing)),
          SourceListing(source: source, page: .success(listing)),
        ]))
    #expect(all.split(separator: #" <a href="/search\#(address)"#).count == 2)
    #expect(
      html.contains(
        #"href="/sources/heroes?where=publisher%3DMarvel"><span><bdi>Publisher is Marvel</bdi>: 2 heroes<"#
      ))
    #expect(!list(source, query).contains("Searched"))
  }

  @Test(
    arguments: [
      ("storm", nil, "Storm"),
      ("lamp", "<mark>lamp</mark>, for a living room", "Mirror"),
      ("mirror lamp", "<mark>lamp</mark>, for a living room", "Mirror"),
      ("LÄMP", "…other piece or <mark>lamp</mark>", "Mirror"),
      ("short", nil, "Mirror"), ("none", nil, "Mirror"),
    ] as [(String, String?, String)])
  func `a match that a card or row would not show is in an excerpt`(
    query: String, excerpt: String?, name: String
  ) {
    let source = MadeUpSource.heroes
    let long =
      "A mirror of glass and steel which goes with any other piece or lamp, for a living room"
    var record = ServedRecord(id: "1", name: name, object: .object([]))
    record.summary = [
      ServedRecord.Line(field: "size", label: "Size", value: "short"),
      ServedRecord.Line(field: "shop.about", label: "shop.about", value: long),
    ]
    let asked = SourceContent(source: source, query: ServedQuery(query: query))
    for html in [pages.gallery([record], asked).text, pages.rows([record], asked).text] {
      #expect(html.contains("<mark>") == (excerpt != nil))
      guard let excerpt else { continue }
      #expect(html.contains(excerpt) && html.contains(#"excerpt"><span class="label">Shop about<"#))
    }
    let plain = SourceContent(source: source, query: .plain)
    #expect(!pages.rows([record], plain).text.contains("excerpt"))
    // A table shows it below the name, unless it is at the beginning of a cell.
    var listing = source.page(.plain)
    listing.records = [record]
    for column in query == "short" ? ["size"] : ["size", "shop.about"] {
      listing.columns = [
        FieldEntry(Field<ServedRecord>(column, column, \.name, about: "A field."))
      ]
      let html = pages.table(listing, asked).text
      #expect(html.contains("<mark>") == (excerpt != nil))
      if let excerpt { #expect(html.contains(excerpt)) }
    }
    record.summary = [ServedRecord.Line(field: "shop.about", label: "About", value: "A lamp.")]
    listing.records = [record]
    #expect(!pages.table(listing, asked).text.contains("<mark>"))
  }

  @Test func `an excerpt cuts no word`() {
    var record = ServedRecord(id: "1", name: "x", object: .object([]))
    let value =
      "A long-and-winding way of words</b> lamp " + String(repeating: "lighting ", count: 12)
    record.summary = [ServedRecord.Line(field: "about", label: "About", value: value)]
    let rest = String(repeating: " lighting", count: 8)
    let asked = SourceContent(source: MadeUpSource.heroes, query: ServedQuery(query: "lamp"))
    #expect(
      pages.rows([record], asked).text
        .contains("<bdi>…of words&#60;/b&#62; <mark>lamp</mark>\(rest)…</bdi>"))
    // Where a word is longer than what is before a match, it is there as a whole, too.
    record.summary = [
      ServedRecord.Line(
        field: "about", label: "About", value: "This is a lamp-of-a-wonderful-kind/lamb " + value)
    ]
    let lamb = SourceContent(source: MadeUpSource.heroes, query: ServedQuery(query: "lamb"))
    #expect(
      pages.rows([record], lamb).text
        .contains("<bdi>…lamp-of-a-wonderful-kind/<mark>lamb</mark> A long"))
  }

  @Test func `an excerpt has a date as people write it`() {
    var record = ServedRecord(id: "1", name: "x", object: .object([]))
    let date: JSON = "2025-12-20T11:15:00Z"
    record.summary =
      ["a", "b", "c"].map { ServedRecord.Line(field: $0, label: $0, value: "y") }
      + [ServedRecord.Line(field: "seen", label: "Seen", value: date.cell, json: date)]
    let asked = SourceContent(source: MadeUpSource.heroes, query: ServedQuery(query: "2025"))
    let time =
      #"<time datetime="2025-12-20T11:15:00Z" title="2025-12-20T11:15:00Z">20 Dec 2025, 11:15 UTC</time>"#
    #expect(
      pages.rows([record], asked).text
        .contains(#"excerpt"><span class="label">Seen</span> <bdi>\#(time)</bdi>"#))
  }

  @Test func `a web address in a table is a link`() {
    let source = MadeUpSource.heroes
    var listing = source.page(.plain)
    listing.columns = [FieldEntry(Field<ServedRecord>("site", "Site", \.name, about: "A field."))]
    for (value, isLink) in [("https://shop.example/a?b=1", true), ("javascript:alert(1)", false)] {
      var record = ServedRecord(id: "1", name: "Mirror", object: .object([]))
      record.cells = [ServedRecord.Line(field: "site", label: "Site", value: value)]
      listing.records = [record]
      let html = pages.table(listing, SourceContent(source: source, query: .plain)).text
      #expect(html.contains(#"<a href="\#(value)" rel="noopener"#) == isLink)
    }
  }

  @Test func `markup within a condition is no text`() {
    let isTrue = pages.hasSQL
    let word = "<b>"
    let html: HTML = "\(isTrue ? "<p>\(word)</p>" : "<i>\(word)</i>")\(isTrue ? word : "<i>")"
    #expect(html.text == "<p>&#60;b&#62;</p>&#60;b&#62;")
    let sql = result(of: "SELECT 1 AS one", ["one"], [[.integer(1)]])
    #expect(sql.contains(#"<a href="/api/v1/sql?sql=SELECT%201%20AS%20one&#38;format=csv""#))
    #expect(sql.contains(#"data-copy="/api/v1/sql?sql=SELECT%201%20AS%20one" data-as="curl""#))
    #expect(!sql.contains("&#60;p&#62;"))
  }

  @Test(
    arguments: [
      ("northlight.example/shop/1", "northlight.<wbr>example/<wbr>shop/<wbr>1"),
      ("https://a.example", "https://<wbr>a.<wbr>example"), ("3.5", "3.5"),
      ("a/b and c", "a/b and c"), ("a@b.example", "a@<wbr>b.<wbr>example"),
    ])
  func `addresses are broken between their parts`(value: String, html: String) {
    var record = ServedRecord(id: "1", name: "x", object: .object([]))
    record.summary = [ServedRecord.Line(field: "site", label: "Site", value: value)]
    #expect(
      pages.rows([record], SourceContent(source: MadeUpSource.heroes, query: .plain)).text
        .contains("<bdi>\(html)</bdi>"))
  }

  @Test func aMisspelledWordIsCorrectedByALink() {
    let source = MadeUpSource.heroes
    let query = ServedQuery(query: "sorm")
    var listing = source.page(query)
    listing.suggestion = "storm"
    let html = pages.page(SourceContent(source: source, query: query, list: .success(listing)))
    #expect(
      html.contains(#"href="/sources/heroes?query=storm"><span>Did you mean “<bdi>storm</bdi>”?"#))
    let all = pages.search(
      SearchContent(
        query: query, answers: [SourceListing(source: source, page: .success(listing))]))
    #expect(all.contains(#"Did you mean <a href="/search?query=storm">“<bdi>storm</bdi>”</a>?"#))
    #expect(!list(source, query).contains("Did you mean"))
  }

  @Test(
    arguments: [
      ("kettel", ["letter", "kettle"], "kettle"), ("lamb", ["lame", "lamp", "lamp"], "lamp"),
      ("sorm cloud", ["storm cloud"], "storm cloud"),
    ] as [(String, [String], String)])
  func `of the words that sources suggest, a search offers the nearest one`(
    text: String, suggestions: [String], near: String
  ) {
    let source = MadeUpSource.countries
    let query = ServedQuery(query: text)
    let answers = suggestions.map { suggestion -> SourceListing in
      var listing = source.page(query)
      listing.suggestion = suggestion
      return SourceListing(source: source, page: .success(listing))
    }
    let html = pages.search(SearchContent(query: query, answers: answers))
    #expect(html.contains("“<bdi>\(near)</bdi>”</a>?"))
  }

  @Test(arguments: [nil, #"kind="Lighting""#])
  func `a condition that no record meets is corrected by a link`(meant: String?) {
    let source = MadeUpSource.heroes
    let query = ServedQuery(conditions: ["kind=lighting"])
    var listing = source.page(query)
    (listing.records, listing.summary.total) = ([], 0)
    listing.suggestion = meant
    let html = pages.page(SourceContent(source: source, query: query, list: .success(listing)))
    let link =
      #"<a class="button primary" href="/sources/heroes?where=kind%3D%22Lighting%22">"#
      + "<span>Did you mean “<bdi>Kind is Lighting</bdi>”?</span></a>"
    #expect(html.contains(link) == (meant != nil))
    #expect(html.contains("button primary") && html.contains(">Remove all filters<"))
  }

  @Test func `the page of a new source offers what may fit`() {
    var proposal = ProposedSource("two", [:], isProved: true) { _ in "two" }
    func page(_ choices: [String: [String]], _ hints: [String: String] = [:]) -> String {
      proposal.choices = choices
      var content = AddContent(url: "https://a.example/two?a=1&b=2", hints: hints)
      content.answer = .success(SourceAdding.Answer(id: "x", proposal: proposal))
      return pages.add(content)
    }
    #expect(!page([:]).contains("<select"))
    let both = page(["rows": ["users", "<b>"], "id": ["name"]])
    #expect(both.contains(#"name="rows"><option value="users">users</option><option value="&#60;"#))
    #expect(both.contains(#"name="id"><option value="">–</option><option value="name">"#))
    // A choice comes before what depends on it.
    #expect(both.firstMatch(of: /Preview again.*Save source/.dotMatchesNewlines()) != nil)
    #expect(both.contains(#"name="url" value="https://a.example/two?a=1&#38;b=2">"#))
    // An empty list has nothing to choose from.
    (proposal.rowCount, proposal.obstacle) = (0, "the list is empty, and shows no ID")
    let empty = page([:], ["id": "code"])
    #expect(empty.contains(#"<input id="choice-id" name="id" value="code""#))
    #expect(empty.contains("and shows no ID. Preview it again when it has records, or name "))
    (proposal.rowCount, proposal.obstacle) = (nil, nil)
    // Lists without records do not warn of missing ones.
    proposal = ProposedSource("two", [:], isProved: false) { _ in "two" }
    #expect(page([:]).contains("lists will warn that records may be missing.</p>"))
    proposal.rowCount = 0
    #expect(page([:]).contains("that records may be missing, once there are some.</p>"))
    proposal.rowCount = nil
    // What was chosen before is kept.
    #expect(page(["id": ["name"]], ["rows": "users"]).contains(#"name="rows" value="users">"#))
  }

  @Test func `what was found is said in words, with the evidence behind`() {
    var proposal = ProposedSource("two", [:], isProved: true) { _ in "two" }
    proposal.evidence = [
      .init("rows", "$", "3 objects"), .init("paging", "single", "6 parameters were tried"),
      .init("id", "<b>", "unique"), .init("link", "–", ""), .init("fields", "name, age", "6 more"),
      .init("left out", "nested.a", "lists or objects inside; SQL has them in _row"),
      .init("paging", "by the parameter offset", "page 2 fetched"),
    ]
    var content = AddContent(url: "https://a.example/two")
    content.answer = .success(SourceAdding.Answer(id: "x", proposal: proposal))
    let html = pages.add(content)
    let items = html.matches(of: /<li>([^<]*)<\/li>/).map { String($0.1) }
    #expect(
      items.suffix(6) == [
        "The whole response is the list",
        "All records come in one response (6 parameters were tried)",
        "The records are identified by “&#60;b&#62;”", "The records have name, age and 6 more",
        "Left out of the fields: nested.a (lists or objects inside; SQL has them in _row)",
        "Further pages are read by the parameter offset (page 2 fetched)",
      ])
    #expect(html.contains("<summary>How this was found</summary>"))
    #expect(!html.contains(#"name="rows""#))
  }

  @Test(arguments: [
    (
      "id", "name", "unique in all 3 rows, while id is 9 in more than one row",
      "The records are identified by “name”, unique in all 3 rows, while id is 9 in more than one row"
    ),
    (
      "id", "#", "the number of the row: name is a in more than one row",
      "The records are identified by the numbers of their rows: name is a in more than one row"
    ),
    ("id", "#", "the number of the row", "The records are identified by the numbers of their rows"),
    (
      "fields", "a, b", "1 more; id is called id_2",
      "The records have a, b and 1 more; id is called id_2"
    ),
    ("fields", "a, b", "id is called id_2", "The records have a, b; id is called id_2"),
    ("fields", "a, b", "", "The records have a, b"),
    ("id", "–", "", "Nothing identifies the records"),
    (
      "paging", "page is 1", "page 2 fetched: 100 new rows, none repeated",
      "Further pages are read (page 2 fetched: 100 new rows, none repeated)"
    ),
    (
      "link", "–", "url is on the host of the list, as URLs of an API are",
      "No web page of a record: url is on the host of the list, as URLs of an API are; "
        + "choose it below if it is for people"
    ),
  ])
  func `why another member is the ID is said at once`(
    subject: String, value: String, reason: String, words: String
  ) {
    var proposal = ProposedSource("two", [:], isProved: true) { _ in "two" }
    proposal.evidence = [.init(subject, value, reason)]
    var content = AddContent(url: "https://a.example/two")
    content.answer = .success(SourceAdding.Answer(id: "x", proposal: proposal))
    #expect(pages.add(content).contains("<li>\(words)</li>"))
  }

  @Test(arguments: [
    ("12345 records", 20, "The service reports 12,345 records"),
    ("changes from page to page", 20, "20 records in the first response"),
    ("changes from page to page", 1000, "1,000 records in the first response"),
    ("not given by this API", 1, "1 record in the first response"),
  ])
  func `a preview says how many records there are, and is saved below them`(
    total: String, rows: Int, words: String
  ) throws {
    var proposal = ProposedSource("two", [:], isProved: true) { _ in "two" }
    proposal.evidence = [.init("total", "n", total)]
    (proposal.rowCount, proposal.rows) = (rows, [["id": "x"]])
    var content = AddContent(url: "https://a.example/two")
    content.answer = .success(SourceAdding.Answer(id: "x", proposal: proposal))
    let html = pages.add(content)
    #expect(html.contains(#"<ul class="found"><li>\#(words)</li>"#), "\(html)")
    #expect(!html.contains("has this URL already"))
    #expect(html.contains(#"class="button primary" data-busy="Saving…">Save source<"#))
    content.known = "two-b"
    let known = pages.add(content)
    // Before all else, and in the place of the usual next step.
    #expect(
      known.contains(
        /<span>The source <a href="\/sources\/two-b">two-b<\/a> has this URL already\.<\/span><\/p>\s*<ul class="found">/
      ))
    #expect(known.contains(#"class="button" data-busy="Saving…">Save source anyway<"#))
    let save = try #require(html.firstRange(of: "Save source</button>"))
    #expect(save.lowerBound > (try #require(html.firstRange(of: "The first records"))).upperBound)
  }

  @Test(arguments: [("name", "name"), (nil, "Not set: the first text, else the ID")])
  func `the form of a source says what is the title of its records`(
    title: String?, words: String
  ) throws {
    var manifest = [JSON.Member("fields", ["code", "name"])]
    manifest += title.map { [.init("title", .string($0))] } ?? []
    let proposal = ProposedSource("two", ["manifest": .object(manifest)], isProved: true) { _ in
      "two"
    }
    let html = pages.edit(SourceAdding.Answer(id: "x", proposal: proposal))
    let form = try #require(html.firstMatch(of: /<select id="title".*?<\/select>/)).output
    let options = form.matches(of: /<option value="[^"]*"( selected="")?>([^<]*)/)
    let shown = options.first { $0.1 != nil } ?? options.first
    #expect(shown?.2 == words[...], "\(form)")
  }

  @Test func `fields are named beside a value of theirs`() {
    let manifest: JSON = [
      "fields": [["name": "town", "path": "place.<b>"], ["name": "age", "path": "age"]]
    ]
    var proposal = ProposedSource("two", ["manifest": manifest], isProved: true) { _ in "two" }
    let cell = #"<td dir="auto" title="place.&#60;b&#62;">place.&#60;b&#62;</td>"#
    let input =
      #"name="field:place.&#60;b&#62;" value="town" aria-label="Name of place.&#60;b&#62;""#
    func check(_ html: String, _ values: [String]) {
      #expect(html.contains(cell) && html.contains(input), "\(html)")
      let samples = html.matches(of: /spellcheck="false"><\/td><td dir="auto">([^<]*)<\/td>/)
      #expect(samples.map { String($0.1) } == values)
    }
    let answer = SourceAdding.Answer(id: "x", proposal: proposal)
    check(pages.edit(answer), [])
    check(pages.edit(answer, record: ["town": "Köln", "age": 7]), ["Köln", "7"])
    proposal.rows = [["age": nil, "place": ["<b>": "Bonn"]], ["age": 8]]
    var content = AddContent(url: "https://a.example/two")
    content.answer = .success(SourceAdding.Answer(id: "x", proposal: proposal))
    check(pages.add(content), ["Bonn", "8"])
  }

  @Test func `what is wrong with a new source is said below its field`() {
    var key = Problem(422, "rejected", "the key is missing")
    key.keyPlace = "X-Key"
    let others: [(name: String, problem: Problem, field: String)] = [
      ("two", Problem(422, "notFound", "nothing is there", hint: "try another URL"), "url"),
      ("heroes", Problem(422, "usage", "there is a source \"heroes\" already"), "name"),
      ("two", Problem(422, "malformed", "it has no list"), "path"), ("two", key, "key"),
    ]
    // A note may be between them.
    let fault = /autofocus>(\s*<small [^>]*>[^<]*<\/small>)?<\/p>\s*<p id="fault" [^>]*role="alert"/
    for (name, problem, field) in others {
      var content = AddContent(url: "https://a.example/two", name: name)
      content.answer = .failure(problem)
      let html = pages.add(content)
      let inputs = html.matches(of: /id="([a-z]*)"[^>]* aria-invalid="true"[^>]* autofocus>/)
      #expect(inputs.map { String($0.1) } == [field])
      #expect(html.firstMatch(of: fault) != nil, "\(field)")
      // What names another source says so.
      let prefix = field == "name" ? "<span>" : "<span>This is not a source yet. "
      #expect(html.contains(prefix + problem.message.prefix(1).uppercased()))
    }
    #expect(!pages.add(AddContent()).contains("fault"))
  }

  @Test func `the first records of a new source are aligned as in tables`() {
    let id = "cd613e30-d8f1-6adf-91b7-584a2265b1f5"
    var proposal = ProposedSource("two", [:], isProved: true) { _ in "two" }
    proposal.rows = [
      ["id": .string(id), "age": 7, "size": nil], ["id": "x", "age": nil, "size": nil],
    ]
    var content = AddContent(url: "https://a.example/two")
    content.answer = .success(SourceAdding.Answer(id: "x", proposal: proposal))
    let html = pages.add(content)
    #expect(html.contains(#"<th scope="col" class="number">age</th><th scope="col">size</th>"#))
    #expect(html.contains(#"<td class="number" dir="auto">7</td>"#))
    #expect(html.contains(#"title="\#(id)"><span>\#(id.dropLast(4))</span>b1f5</span></td>"#))
  }

  @Test(arguments: [
    ("cd613e30-d8f1-6adf-91b7-584a2265b1f5", true), ("507f1f77bcf86cd799439011", true),
    ("01ARZ3NDEKTSV4RRFFQ69G5FAV", true), ("apple-iphone-13-pro-max-128", false),
    ("Donaudampfschifffahrtsgesellschaft", false), ("2024-03-04T09:12:44Z", false),
    ("12345", false), ("cd613e30 d8f1 6adf 91b7", false),
  ])
  func `IDs without words are cut in the middle`(text: String, isOpaque: Bool) {
    #expect(text.isOpaque == isOpaque)
    var source = MadeUpSource.countries
    source.records = [ServedRecord(text, text)]
    let html = list(source, ServedQuery().with(\.view, .table))
    #expect(html.contains(#"<span class="opaque""#) == isOpaque)
    #expect(html.contains("<caption class=\"visually-hidden\">Countries</caption>"))
    // What is selected is whole.
    #expect(html.replacing(/<\/?span[^>]*>/, with: "").contains(">\(text)</a></th>"))
  }

  @Test func `a list that was not found can be named by its path`() {
    #expect(!pages.add(AddContent()).contains(#"name="rows""#))
    var content = AddContent(url: "https://a.example/two", hints: ["rows": "data.\"<b>"])
    content.answer = .failure(Problem(422, "malformed", "it has no list", hint: "name the list"))
    #expect(pages.add(content).contains(#"name="rows" value="data.&#34;&#60;b&#62;""#))
    content.hints = [:]
    #expect(pages.add(content).contains(#"name="rows" value="""#))
    // Not of what has no list at all.
    content.answer = .failure(Problem(422, "rejected", "this URL is a web page"))
    #expect(!pages.add(content).contains(#"name="rows""#))
  }

  @Test func `numbers among the matches of all sources are aligned, as in tables`() {
    var source = MadeUpSource.countries
    source.records = [("A", 5), ("B", 12)].map { name, count in
      ServedRecord(
        name, name,
        [
          .init(label: "Cities", value: "\(count)", json: .integer(count)),
          .init(label: "Region", value: "Europe", json: "Europe"),
        ])
    }
    let html = pages.search(
      SearchContent(
        query: ServedQuery(query: "a"),
        answers: [SourceListing(source: source, page: .success(source.page(ServedQuery())))]))
    #expect(html.contains(#"<span class="number">Cities</span><span>Region</span>"#))
    #expect(html.matches(of: /<span class="fact number">/).count == 2)
  }

  @Test func `bundled samples without a match are not all records`() {
    let words = "only bundled sample data was available (offline mode)"
    var samples = ListingSummary(count: 0, total: 0)
    samples.warnings = [SourceWarning("countries", Warning(.bundled, words))]
    let answers = [
      SourceListing(
        source: MadeUpSource.countries,
        page: .success(ServedListing(records: [], summary: samples))),
      SourceListing(
        source: MadeUpSource.heroes,
        page: .success(ServedListing(records: [], summary: ListingSummary(count: 0, total: 0)))),
    ]
    let html = pages.search(SearchContent(query: ServedQuery(query: "a"), answers: answers))
    #expect(html.contains(">No matches so far for “<bdi>a</bdi>”"))
    #expect(html.contains(">Countries – \(words)</p>"))
    #expect(html.contains(">No matches in heroes</p>"))
  }

  @Test func `cached matches are the least that there are, and each source that fails has a line`()
  {
    let query = ServedQuery(query: "o")
    var some = MadeUpSource.heroes.page(query)
    (some.summary.total, some.summary.next) = (nil, PageCursor("c1"))
    some.cachedMatches = 1234
    func failed(_ source: MadeUpSource) -> SourceListing {
      SourceListing(source: source, page: .failure(Problem(502, "unreachable", "no network")))
    }
    let heroes = SourceListing(source: MadeUpSource.heroes, page: .success(some))
    let answers = [failed(MadeUpSource.countries), heroes, failed(MadeUpSource(name: "lamps"))]
    let html = pages.search(SearchContent(query: query, answers: answers))
    #expect(html.contains(#" <span class="count">at least 1,234</span>"#))
    #expect(html.contains(">At least 1,234 matches for “<bdi>o</bdi>” in 1 source"))
    #expect(html.contains(" · 2 sources failed</p>"))
    #expect(html.contains("<span>Countries – No network.</span></p>"))
    #expect(html.contains("<span>Lamps – No network.</span></p>"))
  }

  @Test func `a text on a small card is there without its label, a number and a code with it`() {
    func line(_ name: String, _ value: JSON) -> ServedRecord.Line {
      ServedRecord.Line(field: name, label: name, value: value.cell, json: value)
    }
    var source = MadeUpSource.heroes
    let kind = #"<span class="fact" title="Kind"><span class="visually-hidden">Kind</span> <bdi>"#
    for (other, value) in [("stock", 7), ("sold", true), ("zip", "01234")] as [(String, JSON)] {
      source.records = [ServedRecord("1", "One", [line("kind", "Lamp"), line(other, value)])]
      let label = #"<span class="fact"><span class="label">\#(other.capitalizedFirst)</span>"#
      let small = list(source, ServedQuery(view: .small))
      #expect(small.contains(kind) && small.contains(label))
      let large = list(source, ServedQuery(view: .gallery))
      #expect(large.contains(#"<span class="label">Kind</span>"#) && large.contains(label))
    }
    // Nor does a larger one call an address by its label.
    for (value, isAddress) in [
      ("ada@shop.example", true), ("https://a.example/b", true), ("a/b", false),
    ] {
      source.records = [ServedRecord("1", "One", [line("kind", .string(value))])]
      #expect(list(source, ServedQuery(view: .gallery)).contains(kind) == isAddress, "\(value)")
    }
  }

  @Test func `a card shows the value that its list is sorted by`() {
    let lines = ["a", "b", "c", "d"].map {
      ServedRecord.Line(field: $0, label: $0, value: "\($0) of it")
    }
    let rest = [
      ServedRecord.Line(field: "e", label: "e", value: "e of it"),
      ServedRecord.Line(field: "f", label: "f", value: ""),
      ServedRecord.Line(field: "g", label: "g", value: "One"),
    ]
    var source = MadeUpSource.heroes
    source.records = [ServedRecord("1", "One", lines, card: rest)]
    func facts(_ order: String?) -> [String] {
      list(source, ServedQuery.plain.with(\.order, order))
        .matches(of: /<span class="fact">.*?<bdi>(.*?)<\/bdi>/).map { String($0.output.1) }
    }
    #expect(facts(nil) == ["a of it", "b of it", "c of it"])
    #expect(facts("b") == facts(nil))
    #expect(facts("-d,a") == ["a of it", "b of it", "d of it"])
    #expect(facts("e") == ["a of it", "b of it", "e of it"])
    for order in ["f", "g", "unknown"] { #expect(facts(order) == facts(nil)) }
  }

  @Test(
    arguments: [
      (nil, "price", "price", nil), ("name", "price", "name,price", nil),
      ("price", "-price", "-price", "ascending"), ("-price", nil, nil, "descending"),
      ("name,price", "price", "name,-price", "ascending"),
      ("name,-price", "price", "name", "descending"),
      ("+price,name", "price", "-price,name", "ascending"),
    ] as [(String?, String?, String?, String?)])
  func `a head sorts by its column alone, or beside the others`(
    order: String?, alone: String?, beside: String?, direction: String?
  ) {
    let source = MadeUpSource.countries
    let query = ServedQuery(order: order, view: .table)
    var listing = source.page(query)
    listing.columns = ["name", "price"].map {
      FieldEntry(Field<ServedRecord>($0, $0, \.name, about: "A field."))
    }
    let html = pages.page(SourceContent(source: source, query: query, list: .success(listing)))
    func address(_ order: String?) -> String {
      "/sources/countries" + (order.map { "?sort=\($0.replacing(",", with: "%2C"))" } ?? "")
    }
    let link = #"<a href="\#(address(alone))" data-then="\#(address(beside))""#
    let head = direction.map { #" aria-sort="\#($0)""# } ?? ""
    #expect(html.contains("<th scope=\"col\"\(head)>\(link)"))
    let keys = html.matches(of: /data-key="([0-9])"/).map { String($0.output.1) }
    #expect(keys.sorted() == (order?.contains(",") == true ? ["1", "2"] : []))
  }

  @Test func `the order of a gallery is marked in its menu`() {
    var source = MadeUpSource.heroes
    source.fields = ["price", "name"].map {
      FieldEntry(Field<ServedRecord>($0, $0, \.name, about: "A field."))
    }
    let html = list(source, ServedQuery(order: "-price"))
    let marked = html.matches(of: /aria-label="([^"]*)" aria-current="true">(.)</)
    #expect(marked.map { "\($0.output.1) \($0.output.2)" } == ["Price: descending ↓"])
    #expect(html.contains("As the service has them"))
    #expect(!list(source).contains("As the service has them"))
  }

  @Test func `every source has cards, with pictures only where it has some`() {
    var source = MadeUpSource.countries
    let lines = ["a", "b", "c", "d"].map {
      ServedRecord.Line(field: $0, label: $0, value: "\($0)1")
    }
    // Nor has a source room for pictures that none of the shown records has.
    for (hasImages, hasImage) in [(false, false), (true, false), (true, true)] {
      source.hasImages = hasImages
      source.records = [ServedRecord("1", "One", lines, hasImage: hasImage)]
      let kind = hasImage ? "" : " plain"
      for (view, name, count) in [
        (ServedQuery.View.gallery, "gallery", 3), (.small, "gallery small", 2),
      ] {
        let html = list(source, ServedQuery(order: "d", view: view))
        #expect(html.contains(#"<ol class="records \#(name)\#(kind)" id="#))
        #expect(html.contains(#"class="picture "#) == hasImage)
        #expect(html.matches(of: /<span class="fact">/).count == count)
        #expect(html.contains("<bdi>d1</bdi>"))
        #expect(
          html.contains(#"sort=d&#38;view=\#(view.rawValue)&#38;keep=true" aria-current="true">"#))
      }
    }
    #expect(search("storm").contains(#"<ol class="records gallery small">"#))
  }

  @Test func `the keyboard skips to the records, if there are some`() {
    for (html, target) in [
      (list(.heroes), "records"), (table(["Kettle"]), "records"), (failed(), "main"),
      (list(.products), "main"), (search("s"), "main"),
    ] {
      #expect(html.contains(##"<a class="skip" href="#\##(target)">"##))
      #expect(html.matches(of: /id="records"/).count == (target == "records" ? 1 : 0))
    }
  }

  @Test func aPartIsAPartOfThePage() {
    let whole = detail(.heroes, "1443")
    for (part, id) in [(HTMLFragment.list, "list"), (.detail, "detail")] {
      let html = detail(.heroes, "1443", part: part)
      #expect(html.hasPrefix("<section id=\"\(id)\""))
      #expect(whole.contains(html))
    }
  }

  private func facets(
    _ facets: [Facet], _ conditions: [String], showsAll: Bool = false
  ) -> String {
    let source = MadeUpSource.heroes
    let query = ServedQuery(
      conditions: conditions, showsFilters: true, showsAllFilters: showsAll)
    var content = SourceContent(source: source, query: query, list: .success(source.page(query)))
    content.facets = facets
    return pages.page(content)
  }

  private func links(_ html: String) -> [String] {
    html.matches(of: /<li><a href="([^"]*)"[^>]*title=/).map {
      String($0.output.1).replacing("&#38;", with: "&").percentDecoded ?? ""
    }.filter { $0.contains("filters=shown") }
  }

  @Test(arguments: [
    (["0 to under 50", "50 to under 100"], ["0", "100"]), (["0 to 49", "50 to 99"], ["0", "99"]),
    (["under 50", "50 to 99", "100 or more"], ["under 50", "100 or more"]),
    (["2019", "2020"], ["2019", "2020"]),
  ])
  func `an axis says where it begins and ends`(ranges: [String], ends: [String]) {
    let values = ranges.map { Facet.Value(text: $0, count: 2, condition: "age>1") }
    let ages = [Facet(field: "age", label: "Age", isRange: true, values: values, missing: 0)]
    #expect(facets(ages, []).contains("<bdi>\(ends[0])</bdi><bdi>\(ends[1])</bdi></p>"))
    // Those of numbers are known, but a range without a bound, which says its end, is drawn as wide as the others.
    let known = Facet(
      field: "age", label: "Age", isRange: true, values: values, missing: 0, ends: ["3", "97"])
    let (first, last) =
      ends[0].hasPrefix("under") ? ("\(ends[0]) (from 3)", "\(ends[1]) (up to 97)") : ("3", "97")
    let html = facets([known], [])
    #expect(html.contains("<bdi>\(first)</bdi><bdi>\(last)</bdi></p>"))
    #expect(html.contains("<span>3 – 97</span>"))
  }

  @Test func oneValueIsChosenBesideAnother() {
    let values = ["a", "b"].map { Facet.Value(text: $0, count: 2, condition: "kind=\($0)") }
    let kinds = [Facet(field: "kind", label: "Kind", isRange: false, values: values, missing: 0)]
    let start = "/sources/heroes?"
    #expect(
      links(facets(kinds, ["name~x"]))
        == ["a", "b"].map { start + #"where=name~"x"&where=kind="\#($0)"&filters=shown"# })
    let html = facets(kinds, ["kind=a"])
    #expect(
      links(html) == [start + "filters=shown", start + #"where=kind in ("a", "b")&filters=shown"#])
    #expect(html.matches(of: /aria-current="true"><bdi>a</).count == 1)
    #expect(
      links(facets(kinds, ["kind in (a, b)"]))
        == ["b", "a"].map { start + #"where=kind="\#($0)"&filters=shown"# })
  }

  @Test(arguments: [
    ("kind!=a", ["a"]), ("not kind=a", ["a"]), ("kind not in (a, b)", ["a", "b"]),
    ("not kind~a", []), ("kind=a", []), ("kind!=", ["empty"]), ("kind!=a or kind!=b", []),
  ])
  func `a value that a filter excludes is struck out`(filter: String, excluded: [String]) {
    let values = ["a", "b"].map { Facet.Value(text: $0, count: 2, condition: "kind=\($0)") }
    let kinds = [Facet(field: "kind", label: "Kind", isRange: false, values: values, missing: 1)]
    let html = facets(kinds, [filter])
    let struck = html.matches(of: /<bdi><s>(?:<i>)?([a-z]+)(?:<\/i>)?<\/s><\/bdi>/)
    #expect(struck.map { String($0.1) } == excluded)
    #expect(html.matches(of: /title="[a-z]+: excluded"/).count == excluded.count)
  }

  @Test(arguments: [
    // A range is extended to another one, and taken away if it is the only one.
    (["x<0"], ["", "x<20", "x<=20", ""]),
    (["x>=0 and x<20"], ["x<20", "", "x>=0 and x<=20", "x>=0"]),
    (["x=20", "y=1"], ["x<=20", "x>=0 and x<=20", "", "x>=20"]),
    // One of several is chosen alone.
    (["x>=0 and x<=20"], ["x<=20", "x>=0 and x<20", "x=20", "x>=0"]),
    (["x in 0..20"], ["x<=20", "x>=0 and x<20", "x=20", "x>=0"]),
    // What is no range of these is replaced.
    (["x>=5 and x<20"], ["x<0", "x>=0 and x<20", "x=20", "x>20"]),
    (["x>=0 and x<20", "x!=3"], ["x<0", "x>=0 and x<20", "x=20", "x>20"]),
    (["x="], ["x<0", "x>=0 and x<20", "x=20", "x>20"]),
  ])
  func `a range is extended to another`(conditions: [String], results: [String]) {
    let values = ["x<0", "x>=0 and x<20", "x=20", "x>20"].map {
      Facet.Value(text: $0, count: 2, condition: $0)
    }
    let ranges = [Facet(field: "x", label: "X", isRange: true, values: values, missing: 0)]
    let rest = conditions.contains("y=1") ? #"where=y="1"&"# : ""
    let expected = results.map { result in
      // The two ends of all values are no filter.
      "/sources/heroes?\(rest)\(result.isEmpty ? "" : "where=\(result)&")filters=shown"
    }
    #expect(links(facets(ranges, conditions)) == expected)
  }

  @Test(arguments: [
    (["x>=10 and x<20", "y=1"], ["x>=10 and x<15", "x=15", "x>=16 and x<20"]),
    // No part of a range that was typed is beyond its ends.
    (["x>11"], ["x>11 and x<15", "x=15", "x>=16 and x<20"]),
    (["x in 12..16"], ["x>=12 and x<15", "x=15", "x=16"]),
    (["x!=3"], ["x>=10 and x<15", "x=15", "x>=16 and x<20"]),
  ])
  func `the parts of a range narrow it`(conditions: [String], results: [String]) {
    let values = ["x>=10 and x<15", "x=15", "x>=16 and x<20"].map {
      Facet.Value(text: $0, count: 2, condition: $0)
    }
    var parts = Facet(field: "x", label: "X", isRange: true, values: values, missing: 0)
    parts.isDivided = true
    let rest = conditions.contains("y=1") ? #"where=y="1"&"# : ""
    let html = facets([parts], conditions)
    #expect(
      links(html) == results.map { "/sources/heroes?\(rest)where=\($0)&filters=shown" })
    #expect(html.contains("<bdi>Whole range</bdi>") && !html.contains("fill-opacity=\".4\""))
    #expect(html.contains(#"data-to="x&#60;15" draggable="false">"#))
    #expect(html.contains(#"data-from="x&#62;=16""#))
  }

  @Test(arguments: [
    ("x>=160", ["160 to below 200", "200 to under 300"]),
    ("x>160", ["above 160 to below 200", "200 to under 300"]),
    ("x in 160..250", ["160 to below 200", "200–250"]),
    ("x>=100", ["100 to under 200", "200 to under 300"]),
  ])
  func `a bar that a filter cuts is called by what it holds`(condition: String, words: [String]) {
    let values = [100, 200].map { least in
      Facet.Value(
        text: "\(least) to under \(least + 100)", count: 2,
        condition: "x>=\(least) and x<\(least + 100)")
    }
    var parts = Facet(field: "x", label: "X", isRange: true, values: values, missing: 0)
    parts.isDivided = true
    let html = facets([parts], [condition])
    let bars = html.matches(of: /title="([^"]*): 2"/).map { String($0.1) }
    #expect(bars == words)
  }

  @Test func `a folded field says what is chosen, or how much there is to choose from`() {
    let values = ["a", "b"].map { Facet.Value(text: $0, count: 2, condition: "kind=\($0)") }
    var kinds = Facet(field: "kind", label: "Kind", isRange: false, values: values, missing: 0)
    func state(_ facet: Facet, _ conditions: [String] = []) -> String? {
      facets([facet], conditions).firstMatch(of: /<\/h2> <span>([^<]*)<\/span><\/summary>/)
        .map { String($0.1) }
    }
    #expect(state(kinds) == "2 values")
    kinds.omitted = 3
    #expect(state(kinds) == "5 values")
    #expect(state(kinds, ["kind=a"]) == "is a")
    #expect(state(kinds, ["kind in (a, b)", "y=1"]) == "is a or b")
    let bars = ["1 to 4", "5 to 9"].map { Facet.Value(text: $0, count: 2, condition: "age>1") }
    let ages = Facet(field: "age", label: "Age", isRange: true, values: bars, missing: 0)
    #expect(state(ages) == "1 – 9")
    #expect(state(ages, ["age>5"]) == "is above 5")
  }

  @Test func `without matches, the fields stay where they are`() {
    var source = MadeUpSource.heroes
    source.fields = ["id", "added", "brand", "same"].map {
      FieldEntry(Field<ServedRecord>($0, $0, \.name, about: "A field."))
    }
    func facet(_ field: String, _ texts: [String], of different: Int) -> Facet {
      let values = texts.map { Facet.Value(text: $0, count: 2, condition: "\(field)=\($0)") }
      var facet = Facet(field: field, label: field, isRange: false, values: values, missing: 0)
      facet.different = different
      return facet
    }
    func page(_ brands: [String], isEmpty: Bool) -> (fields: [String], options: [String]) {
      source.records = isEmpty ? [] : MadeUpSource.heroes.records
      let query = ServedQuery(conditions: ["id<0", "added>2030"], showsFilters: true)
      var content = SourceContent(source: source, query: query, list: .success(source.page(query)))
      content.sample.kinds = ["added": .date]
      content.facets = [
        facet("brand", brands, of: 2), facet("same", isEmpty ? [] : ["x"], of: 1),
        facet("none", [], of: 0),
      ]
      let html = pages.page(content)
      #expect(html.contains("No matches</p>") == isEmpty)
      return (
        html.matches(of: /<summary><h2>([A-Z][a-z]+)<\/h2>/).map { String($0.1) },
        html.matches(of: /<option value="([a-z]+)" data-kind/).map { String($0.1) }
      )
    }
    let some = page(["x", "y"], isEmpty: false)
    let none = page([], isEmpty: true)
    #expect(some.fields == ["Brand"] && none.fields == some.fields)
    #expect(some.options.first == "brand" && none.options == some.options)
    // A value that all shown records have is not offered, but its field stays in front.
    let one = page(["x"], isEmpty: false)
    #expect(one.fields == [] && one.options == some.options)
  }

  @Test func `rare values are folded unless one is chosen, and none moves`() {
    let values = (0..<13).map { Facet.Value(text: "v\($0)", count: 13 - $0, condition: "k=v\($0)") }
    let kinds = [Facet(field: "k", label: "K", isRange: false, values: values, missing: 0)]
    func order(_ html: String) -> [String] {
      html.matches(of: /<bdi>(v[0-9]+)<\/bdi> </).map { String($0.1) }
    }
    let html = facets(kinds, [])
    #expect(html.contains("<details><summary>8 more values</summary><ul><li>"))
    let chosen = facets(kinds, ["k=v12"])
    #expect(chosen.contains(#"<details open=""><summary>8 more values</summary>"#))
    #expect(order(chosen) == order(html) && order(html).count == 13)
  }

  @Test(arguments: [
    (["10", "9.5", "-1", "2"], ["-1", "2", "9.5", "10"]),
    (["2024-03", "2023", "2024-01"], ["2023", "2024-01", "2024-03"]),
    (["XL", "S", "M"], ["S", "M", "XL"]), (["no", "yes"], ["yes", "no"]),
    (["10 cm", "8 cm"], ["8 cm", "10 cm"]), (["b", "2", "a"], ["b", "2", "a"]),
  ])
  func `values that have an order are in it, however frequent they are`(
    frequent: [String], shown: [String]
  ) {
    let texts = ["yes": "true", "no": "false"]
    let values = frequent.enumerated().map {
      Facet.Value(text: texts[$1] ?? $1, count: 9 - $0, condition: "k=1")
    }
    let html = facets(
      [Facet(field: "k", label: "K", isRange: false, values: values, missing: 0)], [])
    let found = html.matches(of: /<a [^>]*title="([^"]*)"[^>]*><bdi>/).map { String($0.1) }
    #expect(found.suffix(shown.count) == shown.map { texts[$0] ?? $0 })
  }

  @Test func `fields that people filter by come first in the form, IDs last`() throws {
    var source = MadeUpSource.heroes
    source.fields = ["id", "name", "price", "added", "brand"].map {
      FieldEntry(Field<ServedRecord>($0, $0, \.name, about: "A field."))
    }
    let query = ServedQuery(showsFilters: true)
    var content = SourceContent(source: source, query: query, list: .success(source.page(query)))
    content.sample.kinds = ["price": .number, "added": .date, "name": .text]
    let brand = Facet.Value(text: "x", count: 2, condition: "brand=x")
    content.facets = [
      Facet(field: "brand", label: "Brand", isRange: false, values: [brand], missing: 0)
    ]
    let options = pages.page(content).matches(of: /<option value="([a-z]+)" data-kind/)
    #expect(options.prefix(5).map { String($0.1) } == ["brand", "added", "price", "name", "id"])
  }

  @Test func aRecordNamesItsFieldsAsItsListDoes() {
    var source = MadeUpSource.heroes
    source.records = [ServedRecord("1", "One", card: [.init(label: "maker.full_name", value: "A")])]
    #expect(detail(source, "1").contains("<dt>Maker full name</dt>"))
    // The script copies the value beside it, which no attribute repeats.
    let copy =
      #"A<button type="button" class="button copy-value" data-copy="" aria-label="Copy Maker full name">"#
    #expect(detail(source, "1").contains(copy))
    source.records = [
      ServedRecord(
        "1", "One",
        card: [
          .init(label: "about", value: ""),
          .init(label: "text", value: String(repeating: "word ", count: 200)),
        ])
    ]
    #expect(!detail(source, "1").contains("copy-value"))
    source.records = [ServedRecord(id: "1", object: ["a\"b": "<x>"])]
    let whole = #"data-copy="{&#34;a\&#34;b&#34;:&#34;&#60;x&#62;&#34;}" hidden>Copy JSON</button>"#
    #expect(detail(source, "1").contains(whole))
  }

  @Test func aDeletedRecordCanBeRestored() {
    let source = MadeUpSource.heroes
    let query = ServedQuery(query: "thor")
    let html = pages.page(
      SourceContent(
        source: source, query: query, list: .success(source.page(query)), deleted: "1445"))
    #expect(
      html.contains(#"<form method="post" action="/sources/heroes/1445/restore?query=thor">"#))
  }

  @Test func aListLeadsBackToHiddenRecords() {
    let source = MadeUpSource.heroes
    var content = SourceContent(source: source, query: .plain, list: .success(source.page(.plain)))
    content.hidden = ServedListing(
      records: [ServedRecord("7", "Groot")], summary: ListingSummary(count: 1, total: 2))
    let html = pages.page(content)
    #expect(html.contains("<summary>2 deleted "))
    #expect(html.contains(#"action="/sources/heroes/7/restore"><bdi>Groot</bdi>"#))
    #expect(html.contains("<code>aggregator heroes list --deleted</code>"))
    content.hidden = ServedListing(records: [], summary: ListingSummary(count: 0, total: 0))
    #expect(!pages.page(content).contains("deleted heroes"))
  }

  @Test func aFailureNamesItsRemedy() {
    let html = failed()
    for words in [
      "Not available now", "Rate limited by DummyJSON.", "Use cached records meanwhile.",
      "Try again in 28 min.", #"href="/sources/products?cache=offline""#,
    ] {
      #expect(html.contains(words))
    }
    #expect(!failed(ServedQuery(cache: .offline)).contains("Use local data"))
  }

  @Test func `a list that cannot be continued goes on in the cache`() {
    let problem = Problem(503, "unavailable", "the service is down")
    var content = SourceContent(
      source: MadeUpSource.heroes, query: ServedQuery(cursor: "c40"), list: .failure(problem))
    #expect(pages.page(content).contains("<span>Use local data</span>"))
    content.cachedCount = 1500
    #expect(
      pages.page(content).contains(
        #"<a class="button" rel="next" href="/sources/heroes?cache=offline&#38;cursor=c40">"#))
    #expect(pages.page(content).contains("<span>Continue from the cache, which has 1,500 heroes"))
  }

  @Test func aDeletedRecordOffersToRestoreIt() {
    var deleted = Problem(404, "notFound", "record \"7\" is deleted", hint: "restore it first")
    deleted.isOfDeleted = true
    func page(of problem: Problem) -> String {
      let heroes = MadeUpSource.heroes
      return pages.page(
        SourceContent(
          source: heroes, query: .plain,
          detail: DetailContent(id: "7", answer: .failure(problem), history: nil)), part: .detail)
    }
    let html = page(of: deleted)
    #expect(html.contains(#"action="/sources/heroes/7/restore"><button type="submit""#))
    #expect(!html.contains("Try again"))
    // What is not found is not found again.
    #expect(!page(of: Problem(404, "notFound", "not found")).contains("Try again"))
    #expect(page(of: Problem(503, "unreachable", "no answer")).contains("Try again"))
  }

  @Test func anErrorPageLeadsToItsList() {
    let problem = Problem(400, "invalidRequest", "invalid value, since 2026-11-27T22:21:02Z")
    let html = pages.failure(problem, of: "heroes")
    #expect(html.contains(#"<a class="button primary" href="/sources/heroes">All heroes</a>"#))
    #expect(html.contains("since 27 Nov 2026, 22:21 UTC."))
    for name in [nil, "unknown"] {
      #expect(!pages.failure(problem, of: name).contains(#"primary" href="/sources/"#))
    }
    #expect(!pages.failure(problem, of: "heroes", nonce: "n").contains("/sources/"))
  }

  @Test func aWrongFilterIsCorrectedAboveTheListOfTheOthers() {
    func page(_ filters: [String]) -> String {
      let query = ServedQuery(conditions: ["name=b"])
      var content = SourceContent(
        source: MadeUpSource.heroes, query: query, list: .success(MadeUpSource.heroes.page(query)))
      content.wrong = WrongFilters(
        filters: filters, problem: Problem(400, "invalidRequest", "unknown field \"nam\""))
      return pages.page(content)
    }
    let html = page(["nam=\"x\""])
    #expect(html.contains("<p>This filter does not work, so the list is shown without it.</p>"))
    #expect(html.contains("Unknown field &#34;nam&#34;."))
    #expect(html.contains(#"<input name="where" value="nam=&#34;x&#34;""#))
    #expect(html.contains(#"<input type="hidden" name="where" value="name=b">"#))
    #expect(html.contains(#"href="/sources/heroes?where=name%3Db">Remove it</a>"#))
    #expect(page(["a=1", "b=2 or c=3"]).contains(#"value="(a=1) and (b=2 or c=3)""#))
    #expect(page(["a=1", "b=2 or c=3"]).contains("These filters do not work"))
    // No field is known that could be meant.
    #expect(!html.contains("Did you mean"))
  }

  @Test func `a filter of an unknown field leads to that of the nearest one`() {
    var source = MadeUpSource.heroes
    source.fields = ["name", "real"].map {
      FieldEntry(Field<ServedRecord>($0, $0, \.name, about: "A field."))
    }
    let query = ServedQuery(conditions: ["real>b"])
    var content = SourceContent(source: source, query: query, list: .success(source.page(query)))
    content.wrong = WrongFilters(
      filters: ["nam=nam"],
      problem: Problem(
        400, "invalidRequest", "unknown field \"nam\"", hint: "did you mean \"name\"?"))
    let html = pages.page(content)
    let address = "/sources/heroes?where=real%3Eb&#38;where=name%3D%22nam%22"
    #expect(html.contains(#"<a class="button primary" href="\#(address)">"#))
    #expect(html.contains("<span>Did you mean “<bdi>Name is nam</bdi>”?</span>"))
    #expect(html.matches(of: /(?i)did you mean/).count == 1)
  }

  @Test func `a search of all sources begins with those that have matches in names`() {
    func groups(_ names: [String]) -> [String] {
      let answers = names.enumerated().map { index, name in
        let summary = ListingSummary(count: 1, total: 1)
        let record = ServedRecord("1", name, [.init(label: "Note", value: "tea")])
        return SourceListing(
          source: MadeUpSource(name: "s\(index)"),
          page: .success(ServedListing(records: [record], summary: summary)))
      }
      let html = pages.search(SearchContent(query: ServedQuery(query: "tea"), answers: answers))
      return html.matches(of: /<h2><a href="\/sources\/(s[0-9])/).map { String($0.1) }
    }
    #expect(groups(["Cup", "Green tea", "Pot", "Téa"]) == ["s1", "s3", "s0", "s2"])
    #expect(groups(["Cup", "Pot"]) == ["s0", "s1"])
  }

  @Test func `the way to all matches does not lead to all records`() {
    func html(total: Int?) -> String {
      let summary = ListingSummary(count: 1, total: total, next: PageCursor("x"))
      let record = ServedRecord("1", "Tea", [])
      let answer = SourceListing(
        source: MadeUpSource(name: "cups"),
        page: .success(ServedListing(records: [record], summary: summary)))
      return pages.search(SearchContent(query: ServedQuery(query: "tea"), answers: [answer]))
    }
    let noun = RecordNoun("cups").word(for: 2)
    #expect(html(total: 18_861).contains(">All 18,861 matching \(noun)<"))
    #expect(html(total: nil).contains(">All matching \(noun)<"))
  }

  @Test func `a phrase has its quotation marks once`() {
    let query = ServedQuery(query: #""lazy dog""#)
    let html = list(.heroes, query)
    #expect(html.contains(">No heroes match “lazy dog”.</p>"))
    #expect(html.contains("<title>No heroes for “lazy dog” – aggregator</title>"))
    let several = ServedQuery(query: #""lazy dog" fox"#)
    #expect(list(.heroes, several).contains("match “&#34;lazy dog&#34; fox”."))
  }

  @Test func `a record of which the service was not asked leads to it`() {
    let error = SourceError(.notFound, "hero 7 not found", remedy: .refresh)
    let heroes = MadeUpSource.heroes
    let html = pages.page(
      SourceContent(
        source: heroes, query: .plain,
        detail: DetailContent(id: "7", answer: .failure(Problem(error)), history: nil)),
      part: .detail)
    #expect(html.contains(#"href="/sources/heroes/7?cache=reload">"#), "\(html)")
    #expect(html.contains("<span>Ask the service</span>"))
    #expect(!html.contains("ache=reload asks"))
  }

  @Test func `a search that scans a part goes on where it says so`() {
    let query = ServedQuery(query: "zz")
    var summary = ListingSummary(count: 0, next: PageCursor("c1"))
    summary.warnings = [
      SourceWarning("heroes", Warning(.scanned, "searched only the first 1,000 records"))
    ]
    let listing = ServedListing(records: [], summary: summary)
    let page = pages.page(
      SourceContent(source: MadeUpSource.heroes, query: query, list: .success(listing)))
    #expect(page.contains(">Search further</a>"), "\(page)")
  }

  @Test func `a search without matches says once that it is limited`() throws {
    let source = MadeUpSource.heroes
    let words = "limited to cached records: 7 of 20"
    var listing = ServedListing(records: [], summary: ListingSummary(count: 0))
    listing.summary.provenance = CombinedProvenance(
      Provenance(.cached, fetchedAt: MadeUpSource.now - 185))
    listing.summary.warnings = [SourceWarning("heroes", Warning(.partlyCached, words))]
    for query in [ServedQuery(query: "tea"), ServedQuery(conditions: ["name=x"])] {
      let html = pages.page(SourceContent(source: source, query: query, list: .success(listing)))
      #expect(html.components(separatedBy: ">L\(words.dropFirst()).<").count == 2, "\(html)")
    }
  }

  @Test func `facets of a part of a list say so`() {
    let source = MadeUpSource.heroes
    let query = ServedQuery(showsFilters: true)
    let gap = Warning(.incomplete, "limited to cached records: 3 of 5 heroes are cached")
    func page(saying warnings: [SourceWarning]) -> String {
      var list = source.page(query)
      list.summary.warnings = warnings
      var content = SourceContent(source: source, query: query, list: .success(list))
      content.facets = [
        Facet(
          field: "tags", label: "Tags", isRange: false,
          values: ["a", "b"].map { Facet.Value(text: $0, count: 2, condition: "tags=\($0)") },
          missing: 0)
      ]
      content.local = ListingSummary(count: 0, warnings: [SourceWarning("heroes", gap)])
      return pages.page(content)
    }
    let note = #"<p class="note">Limited to cached records: 3 of 5 heroes are cached.</p>"#
    #expect(page(saying: []).contains(note))
    // Where the list says it, it is said once.
    #expect(!page(saying: [SourceWarning("heroes", gap)]).contains(note))
  }

  @Test func `facets beside a live list say how old they are`() {
    let query = ServedQuery(showsFilters: true)
    func page(_ origin: Provenance.Origin) -> String {
      var list = MadeUpSource.heroes.page(query)
      list.summary.provenance = CombinedProvenance(Provenance(origin))
      var content = SourceContent(
        source: MadeUpSource.heroes, query: query, list: .success(list))
      content.facets = [
        Facet(
          field: "tags", label: "Tags", isRange: false,
          values: ["a", "b"].map { Facet.Value(text: $0, count: 2, condition: "tags=\($0)") },
          missing: 0)
      ]
      let fetched = Provenance(.cached, fetchedAt: MadeUpSource.now - 61)
      content.local = ListingSummary(count: 0, provenance: CombinedProvenance(fetched))
      return pages.page(content)
    }
    let words = #"<p data-age="61" class="note">Counts of the records cached, fetched 61 s ago</p>"#
    #expect(page(.live).contains(words))
    // A cached list says so itself.
    #expect(!page(.cached).contains("Counts of the records"))
  }

  @Test func `a copy that a sync did not complete does not claim the records of its service`() {
    var list = MadeUpSource.heroes.page(.plain)
    list.summary.total = 1000
    list.summary.provenance = CombinedProvenance(Provenance(.cached))
    var content = SourceContent(source: MadeUpSource.heroes, query: .plain, list: .success(list))
    content.cachedCount = 200
    #expect(pages.page(content).contains(">1,000 heroes</p>"))
    content.shortfall = Shortfall(.syncFailed, "HTTP 503")
    #expect(pages.page(content).contains(">200 of 1,000 heroes</p>"))
    list.summary.provenance = CombinedProvenance(Provenance(.live))
    content.list = .success(list)
    #expect(pages.page(content).contains(">1,000 heroes</p>"))
  }

  @Test func `a search of the store counts cached records, and samples are exported as such`() {
    let query = ServedQuery(query: "o")
    var list = MadeUpSource.heroes.page(query)
    func page() -> String {
      pages.page(SourceContent(source: MadeUpSource.heroes, query: query, list: .success(list)))
    }
    #expect(!page().contains(" cached heroes for “") && page().contains("<p>All matching: "))
    list.summary.warnings = [SourceWarning("heroes", .storedSearch)]
    #expect(page().contains(" cached heroes for “"))
    list.summary.provenance = CombinedProvenance(Provenance(.bundled))
    #expect(page().contains("<p>All matching sample records: "))
  }

  @Test func `a time to try again is named once`() {
    let error = SourceError(
      .rateLimited, "rate limited", remedy: "retry in 20 s", retryAfter: .seconds(20))
    let html = pages.page(
      SourceContent(
        source: MadeUpSource.heroes, query: .plain, list: .failure(Problem(error))))
    #expect(html.matches(of: /Try again in 20 s\./).count == 1)
    #expect(!html.contains("etry in"))
  }

  @Test func `messages are sentences, also behind the words of a service`() {
    #expect(search("s").contains("Rate limited by DummyJSON. Use cached records meanwhile.</span>"))
    let quote = Problem(502, "serverError", #"Shop failed (500): "Oh no""#, hint: "try later")
    let html = pages.failure(quote)
    #expect(html.contains("Shop failed (500): &#34;Oh no&#34;.</p>"))
    #expect(html.contains("Try later.</p>"))
  }

  @Test func aSearchSaysHowManyMatchesThereAre() {
    #expect(search("a").contains(">All 30 matching heroes<"))
    #expect(search("a").contains(#"Heroes</a> <span class="count">30</span></h2>"#))
  }

  @Test func aClientWithoutAccessSeesNoSources() {
    let failure = Problem(401, "unauthorized", "no token")
    #expect(pages.failure(failure).contains("Countries"))
    let html = pages.failure(failure, nonce: "n0nce")
    #expect(!html.contains("Countries"))
    #expect(!html.contains("/assets/"))
    #expect(html.contains(#"<style nonce="n0nce">"#))
    #expect(HTMLRenderer.contentSecurityPolicy(nonce: "n0nce").contains("style-src 'nonce-n0nce';"))
  }

  @Test func addressesOfAssetsChangeWithThem() {
    #expect(Set(Asset.all.map(\.address)).count == Asset.all.count)
    for asset in Asset.all {
      #expect(asset.address.hasPrefix("/assets/\(asset.name)?v="))
    }
  }

  @Test func `assets are the files as they are written, but for lines of comments`() throws {
    let resources = Repository.root.appending(path: "Sources/Web/Resources")
    func file(_ name: String) throws -> Data {
      try Data(contentsOf: resources.appending(path: name))
    }
    for (asset, names) in [
      (Asset.stylesheet, ["style.css"]), (.script, ["base.js", "script.js", "palette.js"]),
      (.sqlScript, ["base.js", "sql.js"]),
    ] {
      var served = String(decoding: try asset.body, as: UTF8.self).split(separator: "\n")[...]
      var missing: [Substring] = []
      for line in try names.flatMap({
        String(decoding: try file($0), as: UTF8.self).split(separator: "\n")
      }) {
        if served.first == line { served.removeFirst() } else { missing.append(line) }
      }
      #expect(served.isEmpty && !missing.isEmpty, "\(asset.name)")
      let rest = missing.joined(separator: "\n").replacing(/(?s)\/\*.*?\*\//, with: "")
        .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
          !$0.isEmpty && !$0.hasPrefix("//")
        }
      #expect(rest == [], "\(asset.name)")
    }
    for asset in [Asset.icon, Asset.land] {
      #expect(try Data(asset.body) == file(asset.name))
    }
  }
}
