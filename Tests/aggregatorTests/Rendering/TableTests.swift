import AggregatorKit
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

@Suite struct TableTests {
  @Test(arguments: [200, 120, 100, 80, 56, 40, 30])
  func `a table looks right at every width`(width: Int) throws {
    let text = rendered([Hero.motley], as: .table, .heroes, on: .plain(width))
    try expectGolden("heroes-\(width)", text)
    let grid = TerminalGrid(text)
    #expect(grid.width <= width)
    #expect(grid.refused.isEmpty)
    let terminal = rendered([Hero.motley], as: .table, .heroes, on: .terminal(width))
    #expect(TerminalGrid(terminal).lines == grid.lines)
  }

  @Test func `a wide terminal shows more fields, in their order, but cuts none`() {
    let heroes = [
      Hero(id: 1, name: "Storm", publisher: "Marvel", powers: ["Flight"]),
      Hero(
        id: 2, name: "Rogue", powers: ["Flight", "Claws"],
        biography: String(repeating: "long ", count: 40)),
    ]
    func labels(_ layout: TerminalLayout) -> [Substring] {
      let text = rendered([heroes], as: .table, .heroes, on: layout)
      return TerminalGrid(text).lines[0].split(separator: " ")
    }
    #expect(labels(.terminal(200)).last == "Powers")
    #expect(labels(.terminal(98)).last == "Issues")
    #expect(labels(.plain(200)).last == "Issues")
    // There is no room beside a long name.
    let text = rendered([heroes + Hero.motley], as: .table, .heroes, on: .terminal(200))
    #expect(TerminalGrid(text).lines[0].hasSuffix("Issues"))
  }

  @Test func `a long text is cut to the room that is left, and cuts no other`() {
    let heroes = (1...3).map { id in
      Hero(
        id: id, name: "Friendly Neighborhood Spider \(id)", realName: "Peter Parker",
        publisher: "Marvel", issues: id, biography: String(repeating: "word ", count: 60))
    }
    func lines(_ width: Int) -> [String] {
      TerminalGrid(rendered([heroes], as: .table, .heroes, on: .terminal(width))).lines
    }
    let wide = lines(120)
    #expect(wide[0].hasSuffix("Biography"))
    for line in wide.dropFirst() {
      #expect(line.contains("Friendly Neighborhood Spider ") && line.hasSuffix(" word…"))
      #expect(line.count <= 120)
    }
    #expect(lines(80)[0].hasSuffix("Issues"))
  }

  @Test func `a wide terminal shows the ID once, and names no field that has it, too`() {
    var listing = Listing.heroes
    listing.fields.append(
      Field("number", "Number", .any, about: "", isShown: false) { .integer($0.id) })
    for width in [200, 80] {
      var writer = Format.table.writer(for: listing, on: .terminal(width))
      #expect(!writer.append([Hero.spider]).contains("Number"))
      #expect(!writer.hiddenFields.contains("number"))
    }
  }

  @Test func `one long text takes no room from other columns`() {
    let heroes = (1...12).map { id in
      Hero(
        id: id, name: id == 5 ? String(repeating: "long ", count: 15) : "Hero \(id)",
        realName: "Peter Parker", publisher: "Marvel", powers: ["Flight"], issues: id,
        biography: "Brave")
    }
    let text = rendered([heroes], as: .table, .heroes, on: .terminal(100))
    let lines = TerminalGrid(text).lines
    #expect(lines[0].hasSuffix("Biography") && lines.count == 13)
    #expect(lines.dropFirst().allSatisfy { $0.hasSuffix("Brave") })
    // It has the room that is left, up to the last cell.
    #expect(lines[5].contains("long…") && lines[5].contains("Peter Parker  Marvel"))
    #expect(lines[0].count == 100)
  }

  @Test func `a terminal shows numbers of a column with the same decimals`() {
    var listing = Listing.heroes
    let prices: [Int: JSON] = [1: .integer(12), 2: .number(0.5), 3: .number(1.0 / 3), 4: .null]
    listing.fields = [
      Hero.fields[0],
      Field("price", "Price", .number, about: "") { prices[$0.id] ?? .number(0.000_000_1) },
    ]
    let heroes = (1...5).map { Hero(id: $0) }
    let lines = TerminalGrid(rendered([heroes], as: .table, listing, on: .terminal(80))).lines
    #expect(
      lines == [
        "ID      Price", " 1  12.000000", " 2   0.500000", " 3   0.333333", " 4", " 5      1e-07",
      ])
    // Programs get what was sent, with the points in one cell.
    let room = String(repeating: " ", count: 13)
    #expect(
      rendered([heroes], as: .table, listing, on: .plain(80)) == """
        ID  \(room)Price
         1  12
         2   0.5
         3   0.333333333333333
         4
         5  \(room)1e-07

        """)
  }

  @Test func `a person reads few digits of computed numbers, also of small ones and in cards`() {
    var listing = Listing.heroes
    let rates: [Int: JSON] = [
      1: .number(22 / 7e5), 2: .number(1e-7), 4: .number(1e19 / 7),
    ]
    listing.fields = [
      Hero.fields[0], Field("rate", "Rate", .any, about: "") { rates[$0.id] ?? .number(1e3 / 7) },
    ]
    let heroes = [Hero(id: 1), Hero(id: 2)]
    let lines = TerminalGrid(rendered([heroes], as: .table, listing, on: .terminal(80))).lines
    #expect(lines == ["ID          Rate", " 1  3.142857e-05", " 2         1e-07"])
    let large = TerminalGrid(
      rendered([[Hero(id: 4)]], as: .table, listing, on: .terminal(80))
    ).lines
    #expect(large.last?.hasSuffix("1.428571e+18") == true, "\(large)")
    (listing.prefersCards, listing.cutsOnlyProse) = (true, true)
    func card(_ layout: TerminalLayout) -> String {
      rendered([[Hero(id: 3)]], as: .cards, listing, on: layout)
    }
    #expect(card(.terminal(80)).contains("142.857143"))
    #expect(card(.plain(80)).contains("142.857142857143"))
  }

  @Test func `a large number of a column keeps its decimals`() {
    var listing = Listing.heroes
    let prices: [Int: JSON] = [1: .number(1_234_567_890.55), 2: .number(3.5)]
    listing.fields = [
      Hero.fields[0], Field("price", "Price", .number, about: "") { prices[$0.id] ?? .null },
    ]
    let heroes = [Hero(id: 1), Hero(id: 2)]
    let lines = TerminalGrid(rendered([heroes], as: .table, listing, on: .terminal(80))).lines
    #expect(lines == ["ID          Price", " 1  1234567890.55", " 2           3.50"])
  }

  @Test func `names the fields for which there is no column, unless fields were chosen`() {
    func hidden(_ width: Int, chosen: [Field<Hero>]? = nil) -> [String] {
      var listing = Listing.heroes
      listing.chosen = chosen
      var writer = Format.table.writer(for: listing, on: .terminal(width))
      _ = writer.append([Hero.spider])
      return writer.hiddenFields
    }
    #expect(hidden(80) == ["powers", "biography"])
    #expect(hidden(30) == ["powers", "biography"])
    #expect(hidden(80, chosen: Array(Hero.fields.prefix(2))) == [])
  }

  @Test(arguments: [200, 100, 56])
  func `columns begin in the same cell in every row`(width: Int) throws {
    let grid = TerminalGrid(rendered([Hero.motley], as: .table, .heroes, on: .terminal(width)))
    try #require(grid.rows.count == 1 + Hero.motley.count)
    let names = Hero.motley.map { String($0.name.safeLine.prefix(3)) }
    let start = try #require(grid.column(of: "Name", in: 0))
    for (row, name) in names.enumerated() {
      #expect(grid.column(of: name, in: row + 1) == start, "row \(row)")
    }
    let edge = try #require(grid.column(of: "Issues", in: 0)) + 6
    for (row, hero) in Hero.motley.enumerated() {
      guard let issues = hero.issues else { continue }
      let digits = String(issues)
      let cells = grid.rows[row + 1][(edge - digits.count)..<edge]
      #expect(String(cells.compactMap { $0 }) == digits, "row \(row)")
      #expect(grid.rows[row + 1].count == edge)
    }
  }

  @Test func `IDs are never cut`() {
    let heroes = [Hero(id: 1, name: "A"), Hero(id: .max, name: String(repeating: "B", count: 99))]
    for width in [30, 40, 56, 100] {
      let text = rendered([heroes], as: .table, .heroes, on: .plain(width))
      let grid = TerminalGrid(text)
      #expect(grid.lines.contains { $0.contains(String(Int.max)) }, "at \(width)")
      #expect(grid.width <= width)
    }
    let grid = TerminalGrid(rendered([heroes], as: .table, .heroes, on: .plain(56)))
    #expect(grid.column(of: "A", in: 1) == grid.column(of: "BBB", in: 2))
  }

  @Test func `the ID column stays if others do not fit, and each that was asked for`() throws {
    var listing = Listing.heroes
    listing.fields = try ["name", "realName", "publisher", "id"].map { name in
      try #require(Hero.fields.first { $0.name == name })
    }
    let long = "at least eight cells"
    let hero = Hero(id: 1_234_567_890_123_456, name: long, realName: long, publisher: long)
    let lines = TerminalGrid(rendered([[hero]], as: .table, listing, on: .plain(48))).lines
    #expect(
      lines == [
        "Name                  Real na…                ID",
        "at least eight cells  at…       1234567890123456",
      ])
    listing.chosen = listing.fields
    let piped = rendered([[hero]], as: .table, listing, on: .plain(40))
    #expect(piped.split(separator: "\n").last == "\(long)  \(long)  \(long)  1234567890123456")
    var terminal = TerminalLayout.plain(40)
    terminal.isRead = true
    let shown = rendered([[hero]], as: .table, listing, on: terminal)
    #expect(TerminalGrid(shown).width <= 40 && shown.contains("Publisher"))
  }

  @Test func `later pages keep the columns unless they need more room`() {
    let pages = [
      [], [Hero(id: 10, name: "Short", publisher: "DC", issues: 5)],
      [Hero(id: 11, name: "Tiny", publisher: "DC", issues: 6)],
      [Hero(id: 123_456, name: "Much longer", publisher: "Marvel", issues: 12)],
      [Hero(id: 12, name: "Short", publisher: "DC", issues: 7)],
    ]
    let lines = TerminalGrid(rendered(pages, as: .table, .heroes, on: .plain(80))).lines
    #expect(
      lines == [
        "ID  Name   Real name  Publisher  Issues",
        "10  Short             DC              5",
        "11  Tiny              DC              6",
        "    ID  Name         Real name  Publisher  Issues",
        "123456  Much longer             Marvel         12",
        "    12  Short                   DC              7",
      ])
  }

  @Test func `later pages of a list keep the columns on a terminal`() {
    let names = [10: "Short one", 123: "Eight in", 11: "A much longer name"]
    let pages = [[10], [123, 11]].map { ids in
      ids.map { id in
        Hero(
          id: id, name: names[id] ?? "", realName: "Someone Else", publisher: "DC", issues: id * 10)
      }
    }
    let grid = TerminalGrid(rendered(pages, as: .table, .heroes, on: .terminal(80)))
    #expect(grid.lines.count == 4 && grid.lines.count { $0.contains("Name") } == 1)
    // An ID that is too wide takes the space beside it.
    #expect(grid.lines[2].hasPrefix("123 Eight in   Someone Else"), "\(grid.lines)")
    #expect(grid.lines[3].contains("…  "), "\(grid.lines)")
    #expect((1...3).allSatisfy { grid.column(of: "Someone", in: $0) == 15 }, "\(grid.lines)")
  }

  @Test func `later pages of a list keep the form of times, and texts one letter longer`() {
    struct Visit: SourceRecord {
      let id: Int
      var name: String
      var cost: Double
      var time = "2026-01-05T09:12:44Z"
    }
    let fields: [Field<Visit>] = [
      Field("id", "ID", \.id, about: ""), Field("name", "Name", \.name, about: ""),
      Field("cost", "Cost", \.cost, about: ""), Field("time", "Time", \.time, about: ""),
    ]
    let listing = Listing("list", of: "visits", fields: fields, layout: RecordLayout())
    let pages = [Array(90...99), Array(100...102), [1000]].map { ids in
      ids.map { Visit(id: $0, name: "Item \($0)", cost: Double($0) + 0.5) }
    }
    let grid = TerminalGrid(rendered(pages, as: .table, listing, on: .terminal(80)))
    #expect(grid.lines.count == 15, "\(grid.lines)")
    #expect(grid.lines[1] == "90  Item 90  90.5  2026-01-05T09:12:44Z", "\(grid.lines)")
    #expect(grid.lines[11] == "100 Item 100 100.5 2026-01-05T09:12:44Z", "\(grid.lines)")
    #expect(grid.lines.dropFirst().allSatisfy { $0.hasSuffix(" 2026-01-05T09:12:44Z") })
  }

  @Test func `a longer cell in a column that is cut writes no new header`() {
    let pages = (1...20).map { [Hero(id: $0, name: String(repeating: "word ", count: 20 + $0))] }
    let lines = TerminalGrid(rendered(pages, as: .table, .heroes, on: .plain(60))).lines
    #expect(lines.count { $0.contains("Name") } == 1 && lines.count == 21, "\(lines)")
  }

  @Test func `the label of a number is cut before a text`() throws {
    struct Count: SourceRecord {
      let id: String
      var removed = 4711
      var time = "2026-01-05T09:12:44Z"
    }
    let fields: [Field<Count>] = [
      Field("id", "Source", \.id, about: ""),
      Field("removed", "Removed upstream", \.removed, about: ""),
      Field("time", "Last fetched", \.time, about: ""),
    ]
    let listing = Listing("list", of: "counts", query: nil, fields: fields, layout: RecordLayout())
    func lines(_ width: Int) -> [String] {
      TerminalGrid(rendered([[Count(id: "heroes")]], as: .table, listing, on: .plain(width))).lines
    }
    #expect(
      lines(46) == [
        "Source  Removed upstream  Last fetched", "heroes              4711  2026-01-05T09:12:44Z",
      ])
    #expect(
      lines(40) == ["Source  Removed…  Last fetched", "heroes      4711  2026-01-05T09:12:44Z"])
  }

  @Test(arguments: [
    (87, "2026-01-05T09:12:44Z"), (83, "2026-01-05 09:12"), (60, "2026-01-05 09:12"),
    (56, "2026-01-05…"),
  ])
  func `a time beside what would be cut has no seconds, and at last no time of day`(
    width: Int, shown: String
  ) {
    struct Visit: SourceRecord {
      let id: Int
      var place = "abcdefghijkl abcdefghijkl"
      var time = "2026-01-05T09:12:44Z"
      var guest = "Someone"
    }
    let fields: [Field<Visit>] = [
      Field("id", "ID", \.id, about: ""), Field("place", "Place", \.place, about: ""),
      Field("time", "Time", \.time, about: ""), Field("town", "Town", \.place, about: ""),
      Field("guest", "Guest", \.guest, about: ""),
    ]
    let listing = Listing("list", of: "visits", fields: fields, layout: RecordLayout())
    let text = rendered([[Visit(id: 1)]], as: .table, listing, on: .plain(width))
    let line = text.split(separator: "\n").last ?? ""
    #expect(line.contains(shown), "\(text)")
    // Nothing else of it is left.
    let rest = line.split(separator: shown).last ?? ""
    #expect(!rest.contains(":") && !rest.contains("T"), "\(text)")
  }

  @Test(arguments: [
    (60, "2026-01-05 09:12", "A visit that…"), (56, "2026-01-05…", "A visit that has a…"),
  ])
  func `a time of day gives way to a text of which a word would be left`(
    width: Int, shown: String, title: String
  ) {
    struct Visit: SourceRecord {
      let id: Int
      var title = "A visit that has a longer title"
      var state = "closed"
      var time = "2026-01-05T09:12:44Z"
      var score = 12.5
      var guest = "someone"
    }
    let fields: [Field<Visit>] = [
      Field("id", "ID", \.id, about: ""), Field("title", "Title", \.title, about: "").asName(),
      Field("state", "State", \.state, about: ""), Field("time", "Time", \.time, about: ""),
      Field("score", "Score", \.score, about: ""), Field("guest", "Guest", \.guest, about: ""),
    ]
    let listing = Listing("list", of: "visits", fields: fields, layout: RecordLayout())
    let text = rendered([[Visit(id: 1)]], as: .table, listing, on: .plain(width))
    #expect(text.contains(shown) && text.contains(title), "\(text)")
  }

  @Test(arguments: [(107, 6, false), (107, 6, true), (92, 5, false)])
  func `a wide table leaves out a column before a time of day`(
    width: Int, count: Int, isChosen: Bool
  ) {
    struct Visit: SourceRecord {
      let id: Int
      var text = "abcdefghijkl abcdefghijkl"
      var time = "2026-01-05T09:12:44Z"
    }
    let texts = (1...count).map { Field<Visit>("text\($0)", "Text \($0)", \.text, about: "") }
    let fields =
      [Field("id", "ID", \.id, about: ""), Field("time", "Time", \.time, about: "")] + texts
    var listing = Listing("list", of: "visits", fields: fields, layout: RecordLayout())
    if isChosen { listing.chosen = fields }
    let text = rendered([[Visit(id: 1)]], as: .table, listing, on: .terminal(width))
    let keepsTime = width == 107 && !isChosen
    #expect(text.contains("Text \(count)") == !keepsTime, "\(text)")
    #expect(text.contains(keepsTime ? "2026-01-05 09:12" : "2026-01-05…"), "\(text)")
  }

  @Test func `a person sees no seconds of a column of times in which all are 0`() {
    struct Visit: SourceRecord {
      let id: Int
      var time: String
    }
    let fields: [Field<Visit>] = [
      Field("id", "ID", \.id, about: ""), Field("time", "Time", \.time, about: ""),
    ]
    func text(_ times: [String], shape: Listing<Visit>.Shape = .rows, isRead: Bool = true) -> String
    {
      var listing = Listing("list", of: "visits", fields: fields, layout: RecordLayout())
      listing.shape = shape
      var layout = TerminalLayout.plain(80)
      layout.isRead = isRead
      let visits = times.enumerated().map { Visit(id: $0.offset, time: $0.element) }
      return rendered([visits], as: .table, listing, on: layout)
    }
    let whole = "2026-02-02T01:15:00Z"
    #expect(text([whole, "", "2026-02-02T02:00:00.000Z"]).contains(" 2026-02-02 01:15Z\n"))
    #expect(text([whole, "2026-02-02T01:15:07Z"]).contains(" \(whole)\n"))
    #expect(text(["2026-02-02T01:15:00+02:00"]).contains(" 2026-02-02T01:15:00+02:00\n"))
    #expect(text([whole], shape: .cards).hasSuffix("Time  2026-02-02 01:15Z\n"))
    for shape in [Listing<Visit>.Shape.rows, .cards] {
      #expect(text([whole], shape: shape, isRead: false).contains(whole))
    }
  }

  @Test func `times of the program are ages for a person, and times for programs`() {
    struct Status: SourceRecord {
      let id: String
      var fetchedAt: String? = "2026-01-05T09:12:44Z"
    }
    let fields: [Field<Status>] = [
      Field("source", "Source", \.id, about: ""),
      Field("fetchedAt", "Last fetched", \.fetchedAt, about: ""),
    ]
    var listing = Listing("store", of: nil, fields: fields, layout: RecordLayout())
    func text(_ format: Format = .table, isRead: Bool = true) -> String {
      var layout = TerminalLayout.plain(80)
      layout.isRead = isRead
      let now = Now { Date(timeIntervalSince1970: 1_767_604_364 + 7201) }
      return Now.$current.withValue(now) {
        rendered([[Status(id: "heroes")]], as: format, listing, on: layout)
      }
    }
    // Those of records are as the service writes them.
    #expect(text().contains("2026-01-05T09:12:44Z"))
    listing.isNamedByID = true
    #expect(text().hasSuffix("\nheroes  2 h ago\n"))
    #expect(text(.cards) == "heroes\n  Last fetched: 2 h ago\n")
    for text in [text(isRead: false), text(.csv), text(.json)] {
      #expect(text.contains("2026-01-05T09:12:44Z"))
    }
    listing.chosen = [fields[1]]
    #expect(text().hasSuffix("\n2 h ago\n"))
  }

  @Test func `a narrow table that would cut texts is blocks, unless its columns were asked for`() {
    let hero = Hero(
      id: 1, name: "Paravane the Magnificent", realName: "Alexandra", publisher: "Marvel",
      issues: 3)
    var listing = Listing.heroes
    func lines(_ width: Int) -> [String] {
      var layout = TerminalLayout.plain(width)
      layout.isRead = true
      return TerminalGrid(rendered([[hero]], as: .table, listing, on: layout)).lines
    }
    #expect(lines(48)[0].hasPrefix("ID  Name"))
    let block = lines(47)
    #expect(block[0].hasPrefix("\(hero.name)  ") && block[0].hasSuffix(" 1"), "\(block)")
    // Each value has its label beside it.
    #expect(block.dropFirst() == ["  Real name: Alexandra · Publisher: Marvel", "  Issues: 3"])
    listing.chosen = Array(Hero.fields.prefix(5))
    #expect(lines(47)[0].hasPrefix("ID  Name"))
    listing.chosen = nil
    // What is named by its ID would lose the name of its first column.
    listing.isNamedByID = true
    #expect(lines(47)[0].hasPrefix("ID  Name"))
    listing.prefersCards = true
    #expect(lines(47).contains("Name       \(hero.name)"))
    #expect(lines(48)[0].hasPrefix("ID  Name"))
  }

  @Test(arguments: [(60, true), (56, false)])
  func `other columns are cut before names, and the last one is left out for them`(
    width: Int, hasIssues: Bool
  ) {
    let words = String(repeating: "ab ", count: 15)
    let hero = Hero(
      id: 1, name: "Paravane the Magnificent", realName: words, publisher: words, issues: 3)
    var listing = Listing.heroes
    listing.fields = listing.fields.map { $0.name == "name" ? $0.asName() : $0 }
    for layout in [TerminalLayout.plain(width), .terminal(width)] {
      let grid = TerminalGrid(rendered([[hero]], as: .table, listing, on: layout))
      #expect(grid.lines.count == 2 && grid.width <= width, "\(grid.lines)")
      #expect(grid.lines.last?.contains("1  Paravane the Magnificent  ab ab") == true)
      #expect(grid.lines[0].hasSuffix("Issues") == hasIssues, "\(grid.lines)")
    }
  }

  @Test func `a table that was asked for is one in every width`() {
    let hero = Hero(
      id: 1, name: "Paravane the Magnificent", realName: "Alexandra", publisher: "Marvel",
      issues: 3)
    var listing = Listing.heroes
    listing.keepsTable = true
    for width in [40, 30] {
      let lines = TerminalGrid(
        rendered([[hero]], as: .table, listing, on: .terminal(width))
      ).lines
      #expect(lines.count == 2 && lines[0].contains("ID  Name"), "\(lines)")
      #expect(lines.allSatisfy { $0.hasSuffix("…") && $0.displayWidth <= width }, "\(lines)")
    }
    // Programs get all of it.
    let text = rendered([[hero]], as: .table, listing, on: .plain(30))
    #expect(text.hasSuffix("Paravane the Magnificent  Alexandra  Marvel          3\n"), "\(text)")
  }

  @Test(arguments: [(80, false), (130, true)])
  func `config shows descriptions only where values have room`(
    width: Int, hasDescriptions: Bool
  ) async throws {
    let url = "http://127.0.0.1:1/a/rather/long/path"
    let outcome = try await Binary.run(
      "config",
      environment: [
        "AGGREGATOR_FORCE_TTY": "\(width)", "NO_COLOR": "1", "COMIC_VINE_URL": url,
      ])
    #expect(outcome.lines[0].hasSuffix("Description") == hasDescriptions, "\(outcome)")
    #expect(hasDescriptions || outcome.output.contains(" \(url) "), "\(outcome)")
  }

  @Test(arguments: [48, 56, 80])
  func `no word is cut inside if it fits its column`(width: Int) {
    let heroes = [
      Hero(id: 1, name: "Paravane the Magnificent", realName: "Alexandra Papadopoulou Smith"),
      Hero(id: 2, name: "Spider-Man", realName: "Peter Benjamin Parker", publisher: "Marvel"),
    ]
    let text = rendered([heroes], as: .table, .heroes, on: .plain(width))
    let words = Set(
      heroes.flatMap { [$0.name, $0.realName ?? ""] }.joined(separator: " ")
        .split(separator: " "))
    let cut = text.matches(of: /([^ \n…]+)…/).map { $0.1 }
    #expect(cut.allSatisfy(words.contains), "\(text)")
    #expect(width > 56 || !cut.isEmpty)
  }

  /// A record with a UUID and a page.
  private struct Paper: SourceRecord {
    let id: String
    var title = "A title"

    static func listing(_ chosen: [Field<Paper>]? = nil, query: String? = nil) -> Listing<Paper> {
      Listing(
        "list", of: "papers", query: query, fields: fields,
        layout: RecordLayout(card: ["title"], link: { "https://papers.example/\($0.id)" }),
        chosen: chosen)
    }
    static let fields: [Field<Paper>] = [
      Field("id", "ID", \.id, about: ""), Field("title", "Title", \.title, about: ""),
    ]
  }

  @Test func `a terminal shows the shortest beginnings of UUIDs that differ`() {
    let papers = [
      Paper(id: "01234567-89ab-4def-8123-456789abcdef"),
      Paper(id: "01234567-89ac-4def-8123-456789abcdef"),
      Paper(id: "f1234567-89ac-4def-8123-456789abcdef"),
    ]
    func lines(_ papers: [Paper], _ layout: TerminalLayout, _ chosen: [Field<Paper>]? = nil)
      -> [String]
    { TerminalGrid(rendered([papers], as: .table, Paper.listing(chosen), on: layout)).lines }
    #expect(
      lines(papers, .terminal(80)) == [
        "ID             Title", "01234567-89ab  A title", "01234567-89ac  A title",
        "f1234567-89ac  A title",
      ])
    #expect(lines([papers[0], papers[2]], .terminal(80))[1] == "01234567  A title")
    #expect(lines(papers, .plain(80))[1] == "\(papers[0].id)  A title")
    #expect(lines(papers, .terminal(80), Paper.fields)[1] == "\(papers[0].id)  A title")
    #expect(lines(papers + [Paper(id: "short")], .terminal(80))[1] == "\(papers[0].id)  A title")
  }

  @Test func `names are links to the page, IDs are green, and matches bold`() {
    var layout = TerminalLayout.terminal(80)
    layout.hasLinks = true
    let paper = Paper(id: "7", title: "Über überall")
    let text = rendered([[paper]], as: .table, Paper.listing(query: "uber"), on: layout)
    let row = text.split(separator: "\n")[1]
    #expect(row.hasPrefix("\u{1B}[32m7\u{1B}[0m"))
    #expect(
      row.contains(
        ";https://papers.example/7\u{1B}\\\u{1B}[1mÜber\u{1B}[0m \u{1B}[1müber\u{1B}[0mall\u{1B}]8;;"
      ))
    #expect(
      !rendered([[paper]], as: .table, Paper.listing(query: "uber"), on: .plain(80)).contains(
        "\u{1B}"))
  }

  @Test func `cards replace a table that would leave out columns, if that is preferred`() {
    var listing = Listing.heroes
    listing.prefersCards = true
    let wide = TerminalGrid(rendered([[Hero.spider]], as: .table, listing, on: .plain(100))).lines
    #expect(wide.count == 2 && wide[0].contains("Publisher"))
    let hero = Hero(
      id: 1_234_567_890_123, name: "Extraordinary", realName: "Unpronounceable",
      publisher: "Incomprehensible", issues: 3)
    let lines = TerminalGrid(rendered([[hero, .spider]], as: .table, listing, on: .plain(40))).lines
    #expect(lines.count == 11, "\(lines)")
    #expect(lines.contains("Publisher  Incomprehensible") && lines.contains("Publisher  Marvel"))
  }

  @Test func `cards replace a table that would cut more than prose, if that is preferred`() {
    var listing = Listing.heroes
    (listing.prefersCards, listing.cutsOnlyProse) = (true, true)
    func isTable(_ realName: String) -> Bool {
      let hero = Hero(id: 1, name: "Storm", realName: realName, publisher: "Marvel", issues: 3)
      let text = rendered([[hero]], as: .table, listing, on: .plain(80))
      return TerminalGrid(text).lines.count == 2
    }
    #expect(isTable("Ororo Munroe"))
    #expect(isTable(String(repeating: "long ", count: 20)))
    #expect(!isTable("https://heroes.example/" + String(repeating: "a", count: 80)))
    listing.cutsOnlyProse = false
    #expect(isTable("https://heroes.example/" + String(repeating: "a", count: 80)))
  }

  @Test func `the header is bold in colour`() {
    let text = rendered([[Hero.spider]], as: .table, .heroes, on: .terminal(80))
    #expect(text.hasPrefix("  \u{1B}[1mID\u{1B}[0m\u{1B}[7G\u{1B}[1mName\u{1B}[0m"))
    #expect(!rendered([[Hero.spider]], as: .table, .heroes, on: .plain(80)).contains("\u{1B}"))
  }

  @Test func `no records print nothing`() {
    #expect(rendered([[], []], as: .table, .heroes, on: .plain(80)) == "")
  }

  @Test func `shows the chosen fields in their order`() {
    var listing = Listing.countries
    listing.chosen = [Country.fields[3], Country.fields[0]]
    let text = rendered([[Country.afghanistan]], as: .table, listing, on: .plain(80))
    #expect(text == "Capital  Code\nKabul    AF\n")
  }
}
