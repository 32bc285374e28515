import AggregatorKit
import Testing

@testable import AggregatorBrowse
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal

@Suite struct BrowseViewTests {
  static let sizes = [(20, 6), (40, 12), (80, 24), (120, 40), (300, 80)]

  private func browsing(_ width: Int, _ height: Int) throws -> BrowsingState {
    var browsing = BrowsingState(["countries", "heroes", "products"])
    browsing.open("heroes", width: width, height: height)
    var summary = ListingSummary(count: 1)
    summary.provenance = CombinedProvenance(
      Provenance(.cached, fetchedAt: BrowsingState.now.addingTimeInterval(-7200)))
    let badge = OriginBadge(summary, choosesLocal: false, at: BrowsingState.now)
    let names = ["Wolverine", "Spider-Man", "日本の英雄", "Storm", "Darkhölme, Raven"]
    while let (request, start, count) = browsing.effects.lazy.compactMap(\.window).first {
      let range = start..<min(1432, start + count)
      var window = BrowsedWindow(
        columns: BrowsingState.columns,
        rows: range.map { BrowsingState.row(1440 + $0, names[$0 % names.count]) }, total: 1432)
      window.badge = badge
      browsing.handle(.window(request, start: start, .success(window)))
    }
    browsing.handle(
      .status(
        "heroes",
        SourceStatus(
          count: 1432, total: 150_421, fetchedAt: BrowsingState.now.addingTimeInterval(-7200))))
    browsing.press(.down)
    return browsing
  }

  @Test(arguments: sizes)
  func `the whole screen`(width: Int, height: Int) throws {
    let browsing = try browsing(width, height)
    try expectGolden("browse-\(width)x\(height)", browsing.text)
  }

  @Test(arguments: sizes)
  func `the keys, a sort, a filter and an open record`(width: Int, height: Int) throws {
    var browsing = try browsing(width, height)
    browsing.press(.character("?"))
    var text = browsing.text
    browsing.press(.escape, .character("s"), .down)
    text += browsing.text
    browsing.press(.escape, .character("/"))
    browsing.type("spi")
    browsing.answer(total: 0)
    text += browsing.text
    browsing.press(.escape)
    browsing.answer(total: 1432)
    browsing.press(.enter)
    text += browsing.text
    browsing.press(.escape, .tab, .tab)
    text += browsing.text
    try expectGolden("browse-panes-\(width)x\(height)", text)
  }

  @Test
  func `a long condition is shortened before the origin of the list, whose age the sources show`()
    throws
  {
    var browsing = try browsing(100, 24)
    browsing.handle(
      .status("heroes", SourceStatus(count: 1432, total: 1432, fetchedAt: BrowsingState.now)))
    browsing.press(.character("f"))
    browsing.type("publisher=Marvel and name~man and name!=Batman and publisher!=DC")
    browsing.press(.enter)
    let (request, start, _) = try #require(browsing.effects.lazy.compactMap(\.window).first)
    var summary = ListingSummary(count: 1)
    summary.provenance = CombinedProvenance(
      Provenance(.cached, fetchedAt: BrowsingState.now.addingTimeInterval(-540)))
    var window = BrowsedWindow(
      columns: BrowsingState.columns, rows: BrowsingState.rows(0..<40), total: 40)
    window.badge = OriginBadge(summary, choosesLocal: false, at: BrowsingState.now)
    browsing.handle(.window(request, start: start, .success(window)))
    let title = browsing.text.prefix { $0 != "\n" }
    #expect(title.contains(" where publisher=Marvel") && title.contains("…"), "\(title)")
    #expect(title.contains("● Cached 9 min ago"), "\(title)")
    #expect(browsing.text.contains("1,432  9m") && !browsing.text.contains(" now"))
  }

  @Test func `a list and the sources have the same age, which grows`() throws {
    var browsing = BrowsingState(["heroes"])
    browsing.open("heroes", width: 120, height: 24)
    browsing.answer(total: 3)
    let date = BrowsingState.now.addingTimeInterval(-36)
    browsing.handle(.status("heroes", SourceStatus(count: 3, fetchedAt: date)))
    var summary = ListingSummary(count: 3)
    for (origin, word) in [(Provenance.Origin.live, "Fetched"), (.cached, "Cached")] {
      browsing.state.now = BrowsingState.now
      summary.provenance = CombinedProvenance(Provenance(origin, fetchedAt: date))
      let badge = try #require(OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
      browsing.handle(.refreshed("heroes", .success(Refreshed(badge, count: 3))))
      browsing.answer(total: 3)
      #expect(browsing.text.contains("● \(word) 36 s ago"), "\(browsing.text)")
      #expect(browsing.text.contains(" 3 36s "), "\(browsing.text)")
      browsing.state.now += 30
      #expect(browsing.text.contains("● \(word) 66 s ago"), "\(browsing.text)")
      #expect(browsing.text.contains(" 3 66s "), "\(browsing.text)")
    }
  }

  @Test func `a list without room for the badge keeps the age of its records`() throws {
    var browsing = try browsing(40, 24)
    #expect(browsing.text.contains("heroes 2/1,432 of 150,421  ● cached 2h"), "\(browsing.text)")
    browsing.handle(.resized(width: 36, height: 24))
    #expect(browsing.text.contains("heroes 2/1,432 of 150,421 ● cached"), "\(browsing.text)")
  }

  @Test func `a source that may lack records is marked in its list and in the sources`() throws {
    var browsing = BrowsingState(["heroes"])
    browsing.open("heroes", width: 120, height: 24)
    browsing.answer(total: 150)
    var status = SourceStatus(count: 150, fetchedAt: BrowsingState.now.addingTimeInterval(-7200))
    browsing.handle(.status("heroes", status))
    #expect(browsing.text.contains("heroes 1/150 ") && browsing.text.contains(" 150  2h"))
    status.gap = "150 heroes are cached, possibly not all"
    browsing.handle(.status("heroes", status))
    #expect(browsing.text.contains("heroes 1/150+ "), "\(browsing.text)")
    #expect(browsing.text.contains(" 150+  2h"))
    #expect(browsing.text.contains("150 heroes are cached, possibly not all"))
    // Also where they are filtered.
    browsing.press(.character("/"))
    browsing.type("spi", of: 7)
    #expect(browsing.text.contains("heroes 1/7+ /spi"), "\(browsing.text)")
    browsing.press(.escape)
    browsing.answer(total: 150)
    // Nothing but the end of the sync says how many there are.
    let end = SyncEnd(total: 5000, reason: "the service reports 5000 records but sent 150")
    browsing.handle(.synced("heroes", Notice(.warning, "done"), end))
    browsing.answer(total: 150)
    #expect(browsing.text.contains("heroes 1/150 of 5,000"), "\(browsing.text)")
    browsing.press(.down)
    browsing.press(.escape)
    #expect(browsing.text.contains("possibly not all · the service reports 5000"))
  }

  @Test func `the ages of a list and of its source pass together`() throws {
    var browsing = try browsing(120, 24)
    #expect(browsing.text.contains("1,432  2h") && browsing.text.contains("● Cached 2 h ago"))
    browsing.state.now += 3600
    #expect(browsing.text.contains("1,432  3h") && browsing.text.contains("● Cached 3 h ago"))
  }

  @Test(arguments: [(30.0, "30s"), (75, "75s"), (95, " 2m"), (5400, "90m"), (90_000, "25h")])
  func `the age of a source is rounded as that of its list`(age: Double, text: String) throws {
    var browsing = BrowsingState(["heroes"])
    browsing.open("heroes", width: 120, height: 24)
    let date = BrowsingState.now.addingTimeInterval(-age)
    browsing.handle(.status("heroes", SourceStatus(count: 150, fetchedAt: date)))
    #expect(browsing.text.contains(" 150 \(text) "), "\(browsing.text)")
  }

  @Test func `the age of a source is that of its oldest record, also beside a newer list`() throws {
    var browsing = try browsing(120, 24)
    let old = BrowsingState.now.addingTimeInterval(-86_400 * 3)
    browsing.handle(.status("heroes", SourceStatus(count: 1432, fetchedAt: old)))
    #expect(browsing.text.contains("1,432  3d") && browsing.text.contains("● Cached 2 h ago"))
    // Unknown is not new.
    browsing.handle(.status("heroes", SourceStatus(count: 1432)))
    #expect(browsing.screen().lines[2].contains("▌heroes               1,432 "))
  }

  @Test(arguments: [60, 40, 30, 24, 20, 15])
  func `the help shows every word, and that more can be scrolled`(width: Int) throws {
    var browsing = try browsing(width, 10)
    browsing.press(.character("?"))
    var screens = [browsing.text]
    // A small screen has no frame for words.
    #expect(screens[0].contains(width < 20 ? "↓\n" : "↓ more"))
    repeat {
      browsing.press(.pageDown)
      screens.append(browsing.text)
    } while screens.last != screens.dropLast().last
    // It ends with the last key.
    #expect(screens.last?.contains(width < 20 ? "↓\n" : "↓ more") == false)
    #expect(screens.last?.contains("quit") == true)
    let text = screens.joined()
    for word in BrowseKeys.all.flatMap({ $0.text.split(separator: " ") })
    where word.count < width - 6 {
      #expect(text.contains(word), "\(word)")
    }
    #expect(!text.contains("…"))
    // One key back is one line, not those that were pressed at the end.
    browsing.press(.up)
    #expect(browsing.text != screens.last)
  }

  @Test(arguments: [1, 2, 3])
  func `on a low screen nothing is drawn over the keys`(height: Int) throws {
    for width in [40, 80] {
      let lines = try browsing(width, height).screen().lines
      #expect(lines.last?.hasPrefix(" ? keys  q quit  / filter  Enter open") == true, "\(lines)")
      // The selected record comes before the title.
      if height > 1 { #expect(lines[height - 2].contains("▌1441  Spider-Man"), "\(lines)") }
    }
  }

  @Test func `the sign of an order is not cut, and is in the title where its column is not shown`()
    throws
  {
    var browsing = try browsing(80, 24)
    browsing.press(.character("s"), .down, .down, .down, .enter)
    browsing.answer(total: 1432)
    #expect(browsing.text.contains("Publisher▲"))
    #expect(!browsing.text.contains(" by "))
    browsing.handle(.resized(width: 36, height: 12))
    #expect(browsing.screen().lines[0].contains("of 150,421 by Pu"), "\(browsing.text)")
  }

  @Test func `the columns of a list and of an answer in SQL are scrolled beside the first one`() {
    var browsing = BrowsingState()
    browsing.open("heroes", width: 80, height: 24)
    let names = ["id"] + (1...12).map { "column\($0)" }
    let columns = names.map { BrowsedColumn($0, $0) }
    let cells = names.map { "\($0) value" }
    let row = BrowsedRow(id: cells[0], name: "Name", cells: cells, card: [])
    let window = BrowsedWindow(columns: columns, rows: [row], total: 1)
    func labels() -> String { browsing.screen().lines[1] }
    browsing.handle(
      .window(browsing.state.source.list.request, start: 0, .success(window)))
    #expect(labels().contains("│ id        column1") && labels().hasSuffix("›"), "\(labels())")
    browsing.press(.character("L"), .character("L"))
    #expect(labels().contains("│‹id        column3"), "\(labels())")
    #expect(!labels().contains("column1 ") && !labels().contains("column2"))
    // Up to the last one, and not beyond.
    for _ in 0..<20 { browsing.press(.character("L")) }
    #expect(labels().contains("column12") && !labels().contains("›"), "\(labels())")
    let end = browsing.state.list.left
    browsing.press(.character("L"), .character("H"))
    #expect(browsing.state.list.left == end - 1)
    browsing.press(.character(":"))
    browsing.type("SELECT 1")
    browsing.press(.enter)
    browsing.handle(.answered("SELECT 1", .success(window)))
    #expect(labels().contains("│ id        column1"), "\(labels())")
    browsing.press(.character("L"))
    #expect(labels().contains("│‹id        column2"), "\(labels())")
    // Elsewhere nothing has moved.
    browsing.press(.escape)
    #expect(browsing.state.list.left == end - 1)
  }

  @Test func `UUIDs are whole, or as short as in tables`() {
    let ids = ["0f8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5b-e9cb-469f-a165-70867728950e"]
    var browsing = BrowsingState()
    browsing.open("heroes", width: 80, height: 24)
    let rows = ids.map {
      BrowsedRow(id: $0, name: "Hero", cells: [$0, "Hero", "Marvel"], card: [])
    }
    let window = BrowsedWindow(columns: BrowsingState.columns, rows: rows, total: 2)
    browsing.handle(.window(browsing.state.source.list.request, start: 0, .success(window)))
    for (width, shown) in [(200, ids), (44, ids.map { String($0.prefix(10)) })] {
      browsing.handle(.resized(width: width, height: 24))
      for id in shown {
        #expect(
          browsing.screen().lines.contains { $0.contains("\(id)  Hero  Marvel") },
          "\(browsing.text)")
      }
    }
  }

  @Test func `a time is shortened before a text is cut, in narrow lists to its date`() {
    var browsing = BrowsingState()
    browsing.open("heroes", width: 80, height: 24)
    let row = BrowsedRow(
      id: "7", name: "Fix", cells: ["7", "Fix the quickest of all paths", "2024-06-11T10:20:30Z"],
      card: [])
    let window = BrowsedWindow(columns: BrowsingState.columns, rows: [row], total: 1)
    browsing.handle(.window(browsing.state.source.list.request, start: 0, .success(window)))
    let times = [(70, "2024-06-11…"), (76, "2024-06-11 10:20"), (100, "2024-06-11T10:20:30Z")]
    for (width, time) in times {
      browsing.handle(.resized(width: width, height: 24))
      let line = browsing.screen().lines.first { $0.contains("Fix the") } ?? ""
      #expect(line.trimmed.hasSuffix("Fix the quickest of all paths  \(time)"), "\(browsing.text)")
    }
    // Beside a longer text, too, the date is whole.
    browsing.handle(.resized(width: 44, height: 24))
    #expect(browsing.text.contains(/of all[^0-9]+2024-06-11…/), "\(browsing.text)")
  }

  @Test(arguments: [80, 100, 120, 200])
  func `names are whole before other columns are shown`(width: Int) {
    var browsing = BrowsingState()
    browsing.open("heroes", width: width, height: 24)
    let names = ["id", "title", "state", "score", "created_at", "body", "author"]
    let columns = names.map { BrowsedColumn($0, $0, isNumeric: $0 == "score") }
    let rows = (1000..<1050).map { number in
      let title = "Issue \(number) feature"
      let cells = [
        "\(number)", title, "closed", "99.5", "2025-02-02T10:00:00Z",
        "Line one of \(number), and two more lines", "user\(number)",
      ]
      return BrowsedRow(id: "\(number)", name: title, cells: cells, card: [])
    }
    let window = BrowsedWindow(columns: columns, rows: rows, total: 50)
    browsing.handle(.window(browsing.state.source.list.request, start: 0, .success(window)))
    #expect(browsing.screen().lines[2].contains("1000  Issue 1000 feature  "), "\(browsing.text)")
    // Others are a scroll away.
    if width == 80 { #expect(browsing.screen().lines[1].contains("›"), "\(browsing.text)") }
  }

  @Test(arguments: [("00Z", "2025-02-02 10:00Z  "), ("07Z", "2025-02-02T10:00:00Z")])
  func `times have no seconds where all are 0`(last: String, shown: String) {
    var browsing = BrowsingState()
    browsing.open("heroes", width: 120, height: 24)
    let columns = ["id", "created_at", "state"].map { BrowsedColumn($0, $0) }
    let rows = (0..<10).map { number in
      let time = "2025-02-02T10:00:\(number == 9 ? last : "00Z")"
      return BrowsedRow(
        id: "\(number)", name: "\(number)", cells: ["\(number)", time, "open"],
        card: [.init("Created", time)])
    }
    let window = BrowsedWindow(columns: columns, rows: rows, total: 10)
    browsing.handle(.window(browsing.state.source.list.request, start: 0, .success(window)))
    #expect(browsing.screen().lines[2].contains(shown), "\(browsing.text)")
    #expect(browsing.text.contains("Created  2025-02-02 10:00"), "\(browsing.text)")
  }

  @Test func `names are whole also if some records have none, or one that is far too long`() {
    var browsing = BrowsingState()
    browsing.open("heroes", width: 120, height: 24)
    let columns = ["id", "title", "owner", "created_at", "state"].map { BrowsedColumn($0, $0) }
    let long = String(repeating: "long ", count: 200)
    let titles = ["Item number 000001 of 2", "", long, "Item number 000002 of 2"]
    let rows = (0..<40).map { number in
      let (id, title) = ("order-\(1000 + number)", titles[number % 20 < 4 ? number % 20 : 3])
      return BrowsedRow(
        id: id, name: title.isEmpty ? id : title,
        cells: [
          id, BrowsedRow.cell(title), "person\(number)@example.com", "2025-02-02T10:00:00Z", "open",
        ], card: [])
    }
    let window = BrowsedWindow(columns: columns, rows: rows, total: 40)
    browsing.handle(.window(browsing.state.source.list.request, start: 0, .success(window)))
    #expect(
      browsing.screen().lines[2].contains("order-1000  Item number 000001 of 2  "),
      "\(browsing.text)")
  }

  @Test func `an emoji of several stays one in lists`() {
    let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}"
    #expect(BrowsedRow.cell("a \(family) b") == "a \(family) b")
    #expect(BrowsedRow.cell(" \u{200B}a\u{200D}b\n") == "ab")
    #expect(BrowsedRow.cell(String(repeating: family, count: 500)).displayWidth <= 400)
  }

  @Test func `a source that was fetched and has no records has 0, another one a dash`() {
    var browsing = BrowsingState(["countries", "heroes"])
    browsing.open("heroes", width: 120, height: 24)
    browsing.handle(
      .status("countries", SourceStatus(count: 0)),
      .status("heroes", SourceStatus(count: 0, fetchedAt: BrowsingState.now)))
    let lines = browsing.screen().lines
    #expect(lines[1].hasPrefix(" countries                – "), "\(browsing.text)")
    #expect(lines[2].hasPrefix("▌heroes               0 now "), "\(browsing.text)")
  }

  @Test(arguments: [100, 110, 111, 115, 120, 130, 200], [14, 24])
  func `the record is beside a list only if that keeps the width of 80 columns`(
    width: Int, height: Int
  ) throws {
    let narrow = try #require(try browsing(80, height).state.layout.list)
    let layout = try browsing(width, height).state.layout
    let list = try #require(layout.list)
    #expect(list.width >= narrow.width)
    guard let card = layout.card else {
      #expect(width < 111 && height < 20)
      return
    }
    #expect((card.row > list.row) == (width < 111))
    #expect(card.width >= 30)
  }

  @Test func `rows of an earlier filter are marked until others are there`() throws {
    var browsing = try browsing(120, 24)
    browsing.press(.character("f"))
    browsing.type("name=x")
    #expect(browsing.text.contains("heroes 2/1,432 of"), "\(browsing.text)")
    browsing.press(.enter)
    #expect(browsing.text.contains("heroes 1/1,432… where name=x"), "\(browsing.text)")
    browsing.answer(total: 3)
    #expect(browsing.text.contains("heroes 1/3 where name=x"), "\(browsing.text)")
  }

  @Test func `width that no column needs is for the record, and stays so while words are typed`()
    throws
  {
    var browsing = try browsing(200, 24)
    let layout = browsing.state.layout
    let list = try #require(layout.list)
    // Up to half of the room: what neither needs is not all in one place.
    #expect(list.width == 85 && layout.card?.width == 85)
    #expect(browsing.text.contains("1440  Wolverine         Marvel"), "\(browsing.text)")
    browsing.press(.character("/"))
    browsing.type("w", of: 3) { BrowsingState.row($0, String(repeating: "W", count: 80)) }
    // Nothing is cut for it.
    #expect(browsing.state.layout.list?.width == 100)
    // Nor does it move back with the next letter, but with the whole list.
    browsing.type("o", of: 3)
    #expect(browsing.state.layout.list?.width == 100)
    browsing.press(.escape)
    browsing.answer(total: 300)
    #expect(browsing.state.layout.list?.width == 85)
    // The border is moved from where it is.
    browsing.press(.character(">"))
    #expect(browsing.state.layout.list?.width == 89)
    browsing.press(.character("<"), .character("<"))
    #expect(browsing.state.layout.list?.width == 81)
    // A list that is cut has the width that it had.
    var wide = BrowsingState()
    wide.open("heroes", width: 200, height: 24)
    wide.answer(total: 3) { BrowsingState.row($0, String(repeating: "W", count: 150)) }
    #expect(wide.state.layout.list?.width == 102)
    wide.press(.character("c"), .down, .character(" "), .enter)
    #expect(wide.state.layout.list?.width == 85)
  }

  @Test func `while one scrolls, columns take room that is left, and none becomes narrower`() {
    for name in ["A much longer name", String(repeating: "n", count: 100)] {
      var browsing = BrowsingState()
      browsing.open("heroes")
      func row(_ index: Int) -> BrowsedRow {
        BrowsingState.row(index, index < 128 ? "Hero \(index)" : name)
      }
      browsing.answer(total: 300, row)
      let labels = browsing.screen().lines[1]
      #expect(labels.contains("Name      Publisher"), "\(labels)")
      browsing.press(.end)
      browsing.answer(total: 300, row)
      // No other column is cut or left out for a long value.
      let shown = name.fitted(to: 41)
      #expect(browsing.text.contains("299  \(shown)  Marvel"), "\(browsing.text)")
      let wide = browsing.screen().lines[1]
      #expect(wide.hasSuffix("Publisher") && wide != labels, "\(wide)")
      browsing.press(.home)
      #expect(browsing.text.contains("▌  0  Hero 0"), "\(browsing.text)")
      #expect(browsing.screen().lines[1] == wide)
    }
  }

  @Test func `without columns there is no row for their labels`() throws {
    let lines = try browsing(30, 12).screen().lines
    #expect(lines[0].contains("2/1,432"))
    #expect(lines[1].contains("Wolverine"))
    #expect(lines[2] == "▌Spider-Man")
  }

  @Test func `a line that is longer than the screen begins with a sign`() throws {
    var browsing = try browsing(40, 12)
    browsing.press(.character("f"))
    browsing.type("publisher=Marvel and name~man")
    #expect(browsing.screen().lines[11] == "where publisher=Marvel and name~man")
    browsing.type(" and name!=Batman")
    let line = browsing.screen().lines[11]
    #expect(line.hasPrefix("where …") && line.hasSuffix(" and name!=Batman"), "\(line)")
    #expect(line.displayWidth < 40)
    var view = BrowseView(browsing.state, Theme(hasColor: false, hasUTF8: true))
    _ = view.draw()
    #expect(view.cursor?.column == line.displayWidth)
  }

  @Test(arguments: sizes)
  func `without UTF-8 signs are ASCII`(width: Int, height: Int) throws {
    let browsing = try browsing(width, height)
    let screen = browsing.screen(Theme(hasColor: false, hasUTF8: false))
    // The records are what they are.
    let signs = screen.lines.joined().filter { "│─▌●▲▼▐┌┐└┘↓‹›".contains($0) }
    #expect(signs.isEmpty)
  }

  @Test func `without color nothing has one`() throws {
    var browsing = try browsing(120, 40)
    browsing.handle(.notice(Notice(.error, "failed")))
    func codes(_ hasColor: Bool) -> Set<Substring> {
      let screen = browsing.screen(Theme(hasColor: hasColor, hasUTF8: true))
      return Set(
        (0..<screen.height).flatMap { row in
          screen.row(row).flatMap { $0.style.codes.split(separator: ";").map { Substring($0) } }
        })
    }
    #expect(codes(false).isSubset(of: ["1", "2", "7"]))
    #expect(codes(true).contains("31"))
    // Foregrounds of the palette only, which suit dark and light backgrounds.
    #expect(codes(true).isSubset(of: ["1", "2", "7", "31", "32", "33", "36"]))
  }

  @Test(arguments: ScreenTests.hostile)
  func `a hostile record changes nothing but its own cells`(text: String) throws {
    for (width, height) in Self.sizes {
      var browsing = BrowsingState(["heroes"])
      browsing.open("heroes", width: width, height: height)
      func row(_ index: Int) -> BrowsedRow {
        let name = index == 1 ? text : "Plain"
        return BrowsedRow(
          id: "\(index)", name: name, cells: ["\(index)", name, name],
          card: [.init("Plain", "Plain"), .init(name, name)])
      }
      browsing.answer(total: 3, row)
      let screen = browsing.screen()
      #expect(screen.lines.allSatisfy { $0.displayWidth <= width })
      // The rows before and after are as they are without it.
      let names = screen.lines.filter { $0.contains("Plain") }
      #expect(names.count >= 2)
      // Also where it is the record that is shown.
      browsing.press(.down, .enter)
      #expect(browsing.screen().lines.allSatisfy { $0.displayWidth <= width })
    }
  }

  @Test(arguments: [1, 2, 5, 19, 33, 59, 60, 61, 99, 100, 119, 301], [1, 2, 3, 7, 8, 15, 24, 81])
  func `any size is drawn`(width: Int, height: Int) throws {
    var browsing = try browsing(width, height)
    #expect(browsing.screen().lines.count == height)
    for key in [Key.character("?"), .escape, .character("s"), .escape, .character("f"), .tab, .end]
    {
      browsing.press(key)
      #expect(browsing.screen().lines.count == height)
    }
  }
}
