import AggregatorKit
import Testing

@testable import AggregatorBrowse
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal

@Suite struct PickerStateTests {
  private func picking(
    takesSeveral: Bool = true, isOffline: Bool = true, total: Int = 300
  ) -> BrowsingState {
    var browsing = BrowsingState(isOffline: isOffline)
    browsing.pick(takesSeveral: takesSeveral)
    browsing.answer(total: total)
    return browsing
  }

  @Test func `begins with the cached records, and reads all for queries`() {
    var browsing = BrowsingState()
    browsing.pick()
    #expect(browsing.effects.contains(.index("heroes")))
    // Also one that asks no service says which part of the records it searches.
    #expect(browsing.effects.contains(.status("heroes")))
    let request = browsing.effects.compactMap(\.window).first?.request
    #expect(request?.isFuzzy == true)
    #expect(request?.query == "")
    browsing.pick(matching: "spi")
    #expect(browsing.effects.compactMap(\.window).first?.request.query == "spi")
    #expect(browsing.text.contains("> spi"))
  }

  @Test func `all keys of text are typed, and each text is asked for`() {
    var browsing = picking()
    browsing.type("q?d")
    #expect(browsing.effects.compactMap(\.window?.request.query).last == "q?d")
    #expect(!browsing.effects.contains(.quit))
    browsing.press(.backspace)
    #expect(browsing.effects.compactMap(\.window?.request.query) == ["q?"])
    browsing.handle(.input(.paste("x\ny")))
    #expect(browsing.effects.compactMap(\.window?.request.query) == ["q?x y"])
    // A key that changes nothing asks for nothing.
    browsing.press(.left, .home, .control("a"), .delete)
    browsing.answer(total: 3)
    #expect(browsing.press(.left, .left).isEmpty)
  }

  @Test func `Enter picks the selected record`() {
    var browsing = picking()
    browsing.press(.down, .control("n"), .control("j"), .up, .control("p"))
    #expect(browsing.press(.enter) == [.pick(["1"])])
    #expect(browsing.press(.alt("b"), .alt("x")).isEmpty)
    for key in [Key.escape, .control("c"), .control("g")] {
      #expect(browsing.press(key) == [.quit])
    }
    var empty = picking(total: 0)
    #expect(empty.press(.enter).isEmpty)
  }

  @Test func `Home and End go to the first and the last record from the ends of the line`() {
    var browsing = picking()
    browsing.press(.end)
    browsing.answer(total: 300)
    #expect(browsing.press(.enter) == [.pick(["299"])])
    browsing.press(.home)
    #expect(browsing.press(.enter) == [.pick(["0"])])
    browsing.type("ab", of: 3)
    browsing.press(.end, .left, .home)
    #expect(browsing.state.prompt?.line.cursor == 0 && browsing.state.list.selection == 2)
    browsing.press(.home)
    #expect(browsing.state.list.selection == 0)
  }

  @Test func `keys that are typed ahead are about the rows of their query`() {
    var browsing = picking()
    #expect(browsing.type("zi").compactMap(\.window).map(\.request.query) == ["z", "zi"])
    #expect(browsing.press(.tab, .control("u"), .character("f"), .enter).isEmpty)
    // Those of "zi" answer the first key; the next query follows.
    browsing.effects = []
    let request = browsing.state.source.list.request
    func answer(_ request: ListRequest, _ id: Int) -> BrowseEvent {
      .window(
        request, start: 0,
        .success(
          BrowsedWindow(
            columns: BrowsingState.columns, rows: [BrowsingState.row(id, "Hero")], total: 1)))
    }
    let next = browsing.handle(answer(request, 7)).compactMap(\.window).first?.request
    #expect(next?.query == "f")
    guard let next else { return }
    #expect(browsing.state.picking?.marked == ["7"])
    #expect(browsing.handle(answer(next, 8)).contains(.pick(["7"])))
    // Leaving waits for nothing.
    var other = picking()
    other.type("z")
    other.press(.enter)
    #expect(other.press(.escape) == [.quit])
  }

  @Test func `Tab marks, and marks stay while others are typed`() {
    var browsing = picking()
    browsing.press(.tab, .down, .tab)
    #expect(browsing.text.contains("(2 marked)"))
    #expect(browsing.screen().lines.filter { $0.hasPrefix("●") }.count == 2)
    browsing.type("x")
    browsing.answer(total: 1) { _ in BrowsingState.row(77, "Other") }
    #expect(browsing.press(.enter) == [.pick(["0", "2"])])
    browsing.press(.tab, .up, .tab)
    // The only one: marked, and not any more.
    #expect(browsing.press(.enter) == [.pick(["0", "2"])])
    var single = picking(takesSeveral: false)
    single.press(.tab)
    #expect(!single.text.contains("marked"))
    #expect(!single.text.contains("Tab marks"))
    #expect(single.text.contains("Only one record can be picked (several: pick --multi)"))
    #expect(single.press(.enter) == [.pick(["0"])])
  }

  @Test func `the best match stays selected while more records are read`() {
    var browsing = picking()
    browsing.type("h")
    browsing.answer(total: 10)
    browsing.handle(.indexed("heroes", isComplete: false))
    browsing.answer(total: 20) { BrowsingState.row($0 - 5, "Hero") }
    #expect(browsing.state.list.selected?.id == "-5")
    browsing.press(.down, .down)
    browsing.handle(.indexed("heroes", isComplete: true))
    browsing.answer(total: 21) { BrowsingState.row($0 - 6, "Hero") }
    // A record that was chosen stays.
    #expect(browsing.state.list.selected?.id == "-3")
  }

  @Test func `columns stay as wide as they are while one types`() {
    var browsing = picking()
    let name = "Hero with a longer name"
    browsing.type("x", of: 20) { BrowsingState.row($0, name) }
    let labels = browsing.screen().lines[1]
    #expect(labels.contains("Name                     Publisher"), "\(labels)")
    browsing.type("y", of: 1) { BrowsingState.row($0, "Hero") }
    #expect(browsing.screen().lines[1] == labels)
    // All records have widths of their own.
    browsing.press(.control("u"))
    browsing.answer(total: 9) { BrowsingState.row($0, "Hero") }
    #expect(browsing.text.contains("Name  Publisher"), "\(browsing.text)")
  }

  @Test func `arrows with Shift scroll the record and the columns`() {
    var browsing = picking()
    browsing.handle(.resized(width: 40, height: 18))
    browsing.press(.shiftDown, .shiftDown)
    #expect(browsing.state.cardTop == 2)
    browsing.press(.shiftUp)
    #expect(browsing.state.cardTop == 1)
    #expect(browsing.state.list.selection == 0)
    // All columns are there, until one is wider.
    browsing.press(.shiftRight)
    #expect(browsing.state.list.left == 0)
    browsing.type("l", of: 9) { BrowsingState.row($0, String(repeating: "long ", count: 20)) }
    browsing.press(.shiftRight)
    #expect(browsing.state.list.left == 1)
    browsing.press(.shiftLeft)
    #expect(browsing.state.list.left == 0)
  }

  @Test func `while nothing is read yet, it does not say that nothing matches`() {
    var browsing = picking(total: 0)
    browsing.type("x", of: 0)
    #expect(browsing.text.contains("Reading…"))
    browsing.handle(.indexed("heroes", isComplete: true))
    browsing.answer(total: 0)
    #expect(browsing.text.contains("No heroes match."))
    #expect(!browsing.text.contains("Ctrl-R"))
  }

  @Test func `Ctrl-R asks the service for what is typed, and the records are read again`() {
    var browsing = picking(isOffline: false)
    browsing.type("spi")
    #expect(
      browsing.press(.control("r")).contains(.refresh("heroes", query: "spi", isForced: true)))
    browsing.handle(.refreshed("heroes", .failure(BrowseFailure("no route"))))
    #expect(browsing.effects.contains(.index("heroes")))
    #expect(browsing.text.contains("no route"))
    var offline = picking()
    offline.type("spi")
    #expect(offline.press(.control("r")).isEmpty)
    #expect(offline.text.contains("no service is asked"))
  }

  @Test func `after Ctrl-R it says what was searched, and which command fetches the rest`() throws {
    var browsing = picking(isOffline: false)
    browsing.handle(.indexed("heroes", isComplete: true))
    var status = SourceStatus(count: 300, gap: "300 of 20,000 heroes are cached")
    status.syncCommand = "aggregator heroes sync"
    browsing.handle(.status("heroes", status))
    func answered(_ words: [String]) throws -> String {
      browsing.press(.control("r"))
      browsing.answer(total: 0)
      let warnings = words.map { SourceWarning("heroes", Warning(.scanned, $0)) }
      var summary = ListingSummary(count: 0, warnings: warnings)
      summary.provenance = CombinedProvenance(Provenance(.live, fetchedAt: BrowsingState.now))
      let badge = try #require(OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
      let refreshed = Refreshed(badge, count: 0, of: "zzz", hasMore: !words.isEmpty)
      browsing.handle(.refreshed("heroes", .success(refreshed)))
      browsing.answer(total: 0)
      browsing.handle(.indexed("heroes", isComplete: true))
      browsing.answer(total: 0)
      return browsing.text
    }
    browsing.type("zzz", of: 0)
    let whole = try answered([])
    #expect(whole.contains("No heroes match. The service sent none either."), "\(whole)")
    browsing.handle(.resized(width: 300, height: 24))
    let text = try answered(["searched only the first 1,000 records"])
    #expect(
      text.contains(
        "No heroes match: searched only the first 1,000 records. To fetch all: aggregator heroes sync"
      ), "\(text)")
    // Something else has not been searched for.
    browsing.type("x", of: 0)
    #expect(
      browsing.text.contains("(300 of 20,000 heroes are cached). Ctrl-R asks the service."))
  }

  @Test func `Enter without a match says that nothing is picked`() {
    var browsing = picking()
    browsing.handle(.indexed("heroes", isComplete: true))
    browsing.type("zzz", of: 0)
    #expect(browsing.press(.enter).isEmpty)
    #expect(browsing.text.contains("Nothing picked: no record matches"), "\(browsing.text)")
    browsing.press(.backspace)
    #expect(browsing.state.notice == nil)
  }

  @Test func `a picker without a match says that only a part was searched`() {
    var browsing = picking()
    let gap = "300 of 900 heroes are cached"
    browsing.handle(.resized(width: 300, height: 24))
    browsing.handle(.status("heroes", SourceStatus(count: 300, gap: gap)))
    browsing.handle(.indexed("heroes", isComplete: true))
    browsing.type("zzz", of: 0)
    let words = "No heroes match: only a part was searched (\(gap))."
    #expect(browsing.text.contains(words), "\(browsing.text)")
    browsing.press(.enter)
    #expect(
      browsing.state.notice == Notice(.note, "Nothing picked: no record matches · \(gap)"))
  }

  @Test func `on a narrow screen the number of cached records is whole`() {
    var browsing = picking()
    browsing.handle(.resized(width: 40, height: 12))
    let gap = "5,000 of 20,000 records of big are cached, possibly not all"
    browsing.handle(.status("heroes", SourceStatus(count: 5000, gap: gap)))
    let lines = browsing.screen().lines
    #expect(lines.contains(" 5,000 of 20,000 records of big are"), "\(browsing.text)")
    #expect(lines.contains(" cached, possibly not all"))
  }

  @Test func `a click selects, a second one picks`() {
    var browsing = picking()
    browsing.handle(.input(.click(column: 10, row: 4)))
    #expect(browsing.state.list.selection == 2)
    #expect(browsing.handle(.input(.click(column: 10, row: 4))) == [.pick(["2"])])
    browsing.handle(.input(.wheel(column: 10, row: 4, isUp: false)))
    #expect(browsing.state.list.selection == 5)
    #expect(browsing.state.prompt?.kind == .pick)
  }

  @Test func `a record is searched by its ID and its name before its other fields`() {
    let row = BrowsedRow(id: "7", name: "Item 7", cells: ["Oslo", "7", "Item 7", "12"], card: [])
    #expect(row.fuzzyFields == ["7", "Item 7", "Oslo", "12"])
    // Neither the ID nor the name is a column.
    let other = BrowsedRow(id: "x", name: "Lamp", cells: ["Oslo"], card: [])
    #expect(other.fuzzyFields == ["x", "Lamp", "Oslo"])
  }

  @Test func `a narrow screen shows the hints that fit`() {
    var browsing = picking(isOffline: false)
    for (width, hints) in [
      (80, "Enter picks · Tab marks · Esc leaves · Ctrl-R asks the service"),
      (60, "Enter picks · Tab marks · Esc leaves · Ctrl-R asks"),
      (40, "Enter · Tab · Esc · Ctrl-R"),
      (20, "Enter picks"), (15, ""),
    ] {
      browsing.handle(.resized(width: width, height: 16))
      let line = browsing.screen().lines.last ?? ""
      #expect(line.dropFirst().drop { $0 == " " } == hints, "\(width)")
    }
  }

  @Test func `the reason of an origin is whole on a narrow screen`() {
    var browsing = picking(isOffline: false)
    browsing.handle(.resized(width: 40, height: 16))
    var summary = ListingSummary(count: 3)
    summary.provenance = CombinedProvenance(Provenance(.bundled))
    summary.provenance?.reason = SourceError(.missingKey, "COMIC_VINE_API_KEY is not set")
    var window = BrowsedWindow(
      columns: BrowsingState.columns, rows: BrowsingState.rows(0..<3), total: 3)
    window.badge = OriginBadge(summary, choosesLocal: false, at: BrowsingState.now)
    browsing.handle(.window(browsing.state.source.list.request, start: 0, .success(window)))
    let words = browsing.text.split { $0.isWhitespace }.joined(separator: " ")
    #expect(
      words.contains("Showing bundled sample data (COMIC_VINE_API_KEY is not set)"),
      "\(browsing.text)")
  }

  @Test func `an ID is narrowed last, unless nobody reads it`() {
    let columns = [
      BrowsedColumn("email", "Email"), BrowsedColumn("name", "Name"),
      BrowsedColumn("age", "Age", isNumeric: true),
    ]
    for id in ["aino.tormanen@example.com", "0b0ae3f2-6d0e-4a8e-9d3e-0123456789ab"] {
      var browsing = BrowsingState()
      browsing.pick()
      browsing.handle(.resized(width: 40, height: 16))
      let name = "Miss Aino Törmänen"
      let row = BrowsedRow(id: id, name: name, cells: [id, name, "23"], card: [])
      browsing.handle(
        .window(
          browsing.state.source.list.request, start: 0,
          .success(BrowsedWindow(columns: columns, rows: [row], total: 1))))
      #expect(browsing.text.contains("Miss Aino"), "\(browsing.text)")
      #expect(browsing.text.contains(id) == id.contains("@"), "\(browsing.text)")
    }
  }

  @Test func `the title has the number of the service's records`() {
    var browsing = picking(isOffline: false, total: 20)
    var status = SourceStatus(count: 20, total: 60)
    status.gap = "20 of 60 heroes are cached"
    browsing.handle(.status("heroes", status))
    #expect(browsing.text.contains(" heroes 1/20 of 60 "), "\(browsing.text)")
    // Of the matches, it is not known.
    browsing.type("ero", of: 7)
    #expect(browsing.text.contains(" heroes 1/7"), "\(browsing.text)")
    #expect(!browsing.text.contains("7 of 60"), "\(browsing.text)")
  }

  @Test(arguments: BrowseViewTests.sizes)
  func `the screen of the picker`(width: Int, height: Int) throws {
    var browsing = BrowsingState()
    browsing.pick()
    browsing.answer(total: 300)
    browsing.handle(.resized(width: width, height: height))
    browsing.press(.tab)
    browsing.type("ero", of: 57)
    try expectGolden("picker-\(width)x\(height)", browsing.text)
  }

  @Test(arguments: ScreenTests.hostile)
  func `a hostile record and a hostile query stay in their cells`(text: String) {
    for (width, height) in BrowseViewTests.sizes {
      var browsing = BrowsingState()
      browsing.pick(matching: String(text.prefix(3)))
      browsing.handle(.resized(width: width, height: height))
      browsing.answer(total: 3) { index in
        BrowsedRow(
          id: "\(index)", name: text, cells: ["\(index)", text, text],
          card: [.init("Name", text), .init(text, text)])
      }
      #expect(browsing.screen().lines.allSatisfy { $0.displayWidth <= width })
      #expect(browsing.screen().lines.count == height)
    }
  }
}
