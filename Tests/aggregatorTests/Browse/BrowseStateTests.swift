import AggregatorKit
import Testing

@testable import AggregatorBrowse
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal

@Suite struct BrowseStateTests {
  private func opened(total: Int = 300, isOffline: Bool = true) -> BrowsingState {
    var browsing = BrowsingState(isOffline: isOffline)
    browsing.open("heroes")
    browsing.answer(total: total)
    return browsing
  }

  @Test func `reads the first rows at once, and the service only if it may`() {
    var browsing = BrowsingState()
    browsing.open("heroes")
    #expect(browsing.effects.contains(.status("heroes")))
    #expect(browsing.effects.compactMap(\.window?.start) == [0])
    #expect(!browsing.effects.contains(.refresh("heroes", query: "", isForced: false)))
    var online = BrowsingState(isOffline: false)
    online.open("heroes")
    #expect(online.effects.contains(.refresh("heroes", query: "", isForced: false)))
  }

  @Test func `scrolling reads what is visible and what is near, one part at a time`() {
    var browsing = opened(total: 100_000)
    browsing.press(.end)
    #expect(browsing.state.list.selection == 99_999)
    #expect(browsing.effects.compactMap(\.window).count == 1)
    #expect(browsing.effects.compactMap(\.window?.start).first == 99_968)
    // Nothing else is asked for before the answer.
    #expect(browsing.press(.home, .down, .end).compactMap(\.window).isEmpty)
    browsing.press(.end)
    browsing.handle(
      .window(
        browsing.state.source.list.request, start: 99_968,
        .success(
          BrowsedWindow(
            columns: BrowsingState.columns, rows: BrowsingState.rows(99_968..<100_000),
            total: 100_000))))
    #expect(browsing.state.list.selected?.name == "Hero 99999")
  }

  @Test func `rows far away are forgotten`() {
    var browsing = opened(total: 100_000)
    for _ in 0..<2000 {
      browsing.press(.pageDown)
      browsing.answer(total: 100_000)
    }
    #expect(browsing.state.list.selection > 20_000)
    #expect(browsing.state.list.selected != nil)
    #expect(browsing.state.list[0] == nil)
  }

  @Test func `a filter asks for each text, and answers to earlier ones are dropped`() {
    var browsing = opened()
    browsing.press(.character("/"))
    browsing.type("s")
    let first = browsing.effects.compactMap(\.window).first?.request
    browsing.type("p")
    let second = browsing.effects.compactMap(\.window).first?.request
    #expect(first?.query == "s")
    #expect(second?.query == "sp")
    guard let first, let second else { return }
    func answer(_ request: ListRequest, _ name: String) -> BrowseEvent {
      .window(
        request, start: 0,
        .success(
          BrowsedWindow(
            columns: BrowsingState.columns, rows: [BrowsingState.row(1, name)], total: 1)))
    }
    browsing.handle(answer(second, "Spider-Man"), answer(first, "Storm"))
    #expect(browsing.state.list.selected?.name == "Spider-Man")
    #expect(browsing.state.list.count == 1)
    browsing.press(.escape)
    #expect(browsing.effects.compactMap(\.window?.request.query) == [""])
    #expect(browsing.state.prompt == nil)
  }

  @Test func `who clears a filter, or sorts as before, is where the list was`() {
    var browsing = opened(total: 1000)
    for _ in 0..<40 {
      browsing.press(.pageDown)
      browsing.answer(total: 1000)
    }
    let (selection, top) = (browsing.state.list.selection, browsing.state.list.top)
    #expect(selection > ListState.chunk)
    browsing.press(.character("f"))
    browsing.type("id>3")
    browsing.press(.enter)
    browsing.answer(total: 50)
    browsing.press(.character("/"))
    browsing.type("her", of: 20)
    browsing.press(.down)
    browsing.press(.enter)
    // Words first, then the condition.
    browsing.press(.escape)
    browsing.answer(total: 50)
    #expect(browsing.state.list.request.condition == "id>3")
    #expect(browsing.state.list.selection == 0)
    browsing.press(.escape)
    browsing.answer(total: 1000)
    #expect(browsing.state.list.selection == selection)
    #expect(browsing.state.list.top == top)
    browsing.press(.character("s"), .down, .enter)
    browsing.answer(total: 1000)
    #expect(browsing.state.list.selection == 0)
    browsing.press(.character("s"), .up, .enter)
    browsing.answer(total: 1000)
    #expect(browsing.state.list.selected?.id == "\(selection)")
  }

  @Test func `Enter after a filter asks the service, too`() {
    var browsing = opened(isOffline: false)
    browsing.press(.character("/"))
    browsing.type("spi")
    browsing.press(.enter)
    #expect(browsing.effects.contains(.refresh("heroes", query: "spi", isForced: false)))
    var offline = opened()
    offline.press(.character("/"))
    offline.type("spi")
    #expect(offline.press(.enter) == [.remember(.filter, "spi")])
  }

  @Test func `a search of the service shows its progress, and Esc stops it before the filter`() {
    var browsing = BrowsingState(isOffline: false)
    browsing.state = BrowseState(
      [.init("heroes", fields: BrowsingState.columns, scannedPages: 50)], isOffline: false,
      now: BrowsingState.now)
    browsing.open("heroes", width: 120)
    browsing.answer(total: 300)
    var status = SourceStatus(count: 300, total: 4990)
    browsing.handle(.status("heroes", status))
    // Requests for something else are none of a search.
    browsing.handle(.received("heroes"))
    browsing.press(.character("/"))
    browsing.type("zzzz", of: 0)
    browsing.press(.enter)
    #expect(browsing.effects.contains(.refresh("heroes", query: "zzzz", isForced: false)))
    for _ in 0..<11 { browsing.handle(.received("heroes")) }
    #expect(
      browsing.text.contains("heroes: request 12 · Esc stops"), "\(browsing.text)")
    // Pages are as long as the service makes them, and a search ends at its bound.
    for (rows, words) in [
      (100, "request 12 of about 50"), (499, "request 12 · "), (400, "request 12 of about 13"),
      (20, "request 12 of about 50"),
    ] {
      status.pageRows = rows
      browsing.handle(.status("heroes", status))
      #expect(browsing.text.contains("heroes: \(words)"), "\(browsing.text)")
    }
    let end = BrowsingState.now.addingTimeInterval(5)
    browsing.handle(
      .paused("heroes", Pause(until: end, "heroes: rate limit 5/s, waiting", isWait: true)))
    #expect(browsing.text.contains("Esc stops · rate limit 5/s, waiting 5 s"))
    #expect(browsing.press(.escape) == [.stopRefresh("heroes")])
    #expect(browsing.state.list.request.query == "zzzz")
    #expect(browsing.text.contains("search stopped") && !browsing.text.contains("Fetching"))
    #expect(browsing.text.contains("No heroes match. Esc clears the filter."))
    browsing.press(.escape)
    #expect(browsing.effects.compactMap(\.window?.request.query) == [""])
  }

  @Test func `a search of the service that finds nothing says what it has not searched`() throws {
    var browsing = opened(isOffline: false)
    browsing.handle(.resized(width: 120, height: 24))
    browsing.press(.character("/"))
    browsing.type("zzzz", of: 0)
    browsing.press(.enter)
    let scanned = Warning(.scanned, "searched only the first 1,000 records")
    var summary = ListingSummary(count: 0, warnings: [SourceWarning("heroes", scanned)])
    summary.provenance = CombinedProvenance(Provenance(.live, fetchedAt: BrowsingState.now))
    let badge = try #require(OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
    let refreshed = Refreshed(badge, count: 0, of: "zzzz", hasMore: true)
    browsing.handle(.refreshed("heroes", .success(refreshed)))
    browsing.answer(total: 0)
    let text = browsing.text
    let words = "heroes: 0 matching records, live: searched only the first 1,000"
    #expect(text.contains(words), "\(text)")
    #expect(text.contains("No heroes match: searched only"), "\(text)")
  }

  @Test func `a search says beside the list that cached records were searched`() throws {
    var browsing = opened(isOffline: false)
    browsing.handle(.resized(width: 140, height: 24))
    browsing.press(.character("/"))
    browsing.type("man", of: 40)
    browsing.press(.enter)
    var summary = ListingSummary(count: 40, warnings: [SourceWarning("heroes", .storedSearch)])
    summary.provenance = CombinedProvenance(Provenance(.live, fetchedAt: BrowsingState.now))
    let badge = try #require(OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
    #expect(badge.cause == nil && badge.notes == [Warning.storedSearch.message.capitalizedFirst])
    var refreshed = Refreshed(badge, count: 40, of: "man")
    browsing.handle(.refreshed("heroes", .success(refreshed)))
    browsing.answer(total: 40)
    browsing.press(.down)
    #expect(browsing.state.notice == nil)
    #expect(browsing.state.remark()?.text.hasPrefix("Cached records were searched, ") == true)
    // That not all are cached says more.
    refreshed.hasMore = true
    browsing.handle(.refreshed("heroes", .success(refreshed)))
    browsing.answer(total: 40)
    browsing.handle(.status("heroes", SourceStatus(count: 40, gap: "40 of 100 heroes are cached")))
    #expect(browsing.state.remark()?.text == "40 of 100 heroes are cached")
  }

  @Test func `a filter that finds nothing in a part says so, also after a failed search`() throws {
    var browsing = opened(isOffline: false)
    browsing.handle(.resized(width: 120, height: 24))
    var status = SourceStatus(count: 40, gap: "40 of 100 heroes are cached")
    browsing.handle(.status("heroes", status))
    var summary = ListingSummary(count: 40)
    summary.provenance = CombinedProvenance(Provenance(.cached, fetchedAt: BrowsingState.now))
    summary.provenance?.reason = SourceError(.rateLimited, "rate limited by Comic Vine")
    let badge = try #require(OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
    browsing.handle(.refreshed("heroes", .success(Refreshed(badge, count: 40, of: ""))))
    browsing.answer(total: 40)
    browsing.press(.character("/"))
    browsing.type("zzzz", of: 0)
    let words = "No heroes match: only a part was searched (40 of 100"
    #expect(browsing.text.contains(words), "\(browsing.text)")
    browsing.press(.enter)
    browsing.handle(.refreshed("heroes", .success(Refreshed(badge, count: 0, of: "zzzz"))))
    browsing.answer(total: 0)
    #expect(browsing.text.contains(words), "\(browsing.text)")
    (status.gap, status.isComplete) = (nil, true)
    browsing.handle(.status("heroes", status))
    #expect(browsing.text.contains("No heroes match. Esc clears the filter."), "\(browsing.text)")
  }

  @Test func `a refresh says how long it works, and then what has come of it`() throws {
    var browsing = opened(isOffline: false)
    browsing.handle(.refreshed("heroes", .failure(BrowseFailure("no route"))))
    browsing.answer(total: 300)
    #expect(!browsing.state.hasCountdown)
    browsing.press(.character("r"))
    #expect(browsing.effects.contains(.refresh("heroes", query: "", isForced: true)))
    #expect(browsing.state.hasCountdown)
    browsing.state.now += 3.5
    #expect(browsing.text.contains("heroes: refreshing… 3 s · Esc stops"), "\(browsing.text)")
    var summary = ListingSummary(count: 1)
    summary.provenance = CombinedProvenance(Provenance(.live, fetchedAt: BrowsingState.now))
    let live = try #require(OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
    var refreshed = Refreshed(live, count: 300)
    (refreshed.added, refreshed.changed) = (2, 1)
    browsing.handle(.refreshed("heroes", .success(refreshed)))
    browsing.answer(total: 302)
    #expect(browsing.text.contains("heroes: 300 records, 2 new, 1 changed, live"))
    #expect(!browsing.state.hasCountdown)
    refreshed.hasMore = true
    #expect(refreshed.notice(of: "heroes").text.hasPrefix("heroes: the first 300 records, "))
    // Nobody asked for it.
    browsing.press(.down, .escape)
    browsing.handle(.refreshed("heroes", .success(refreshed)))
    #expect(browsing.state.notice == nil)
    summary.provenance = CombinedProvenance(Provenance(.cached, fetchedAt: BrowsingState.now))
    let cached = try #require(OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
    browsing.press(.character("r"))
    browsing.handle(.refreshed("heroes", .success(Refreshed(cached, count: 300))))
    #expect(browsing.text.contains("heroes: not refreshed: cached"), "\(browsing.text)")
    summary.provenance?.reason = SourceError(.rateLimited, "rate limited by Comic Vine")
    let limited = try #require(OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
    #expect(limited.notes.first == "Rate limited by Comic Vine")
    #expect(
      Refreshed(limited, count: 300).notice(of: "heroes").text
        == "heroes: not refreshed: rate limited by Comic Vine")
    browsing.press(.character("r"))
    #expect(browsing.press(.escape) == [.stopRefresh("heroes")])
    #expect(browsing.text.contains("heroes: refresh stopped"))
  }

  @Test func `records that the store does not take are not called live, and the reason is said`()
    throws
  {
    var browsing = opened(total: 0, isOffline: false)
    var summary = ListingSummary(count: 1)
    summary.provenance = CombinedProvenance(Provenance(.live, fetchedAt: BrowsingState.now))
    let live = try #require(OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
    var refreshed = Refreshed(live, count: 300)
    browsing.handle(.refreshed("heroes", .success(refreshed)))
    #expect(browsing.text.contains("Live"), "\(browsing.text)")
    refreshed.failure = "the disk is full"
    for key in [Key.down, .character("r")] {
      browsing.press(key)
      browsing.handle(.refreshed("heroes", .success(refreshed)))
      browsing.answer(total: 0)
      #expect(browsing.state.notice == Notice(.warning, "heroes: the disk is full"))
      #expect(!browsing.text.contains("Live"), "\(browsing.text)")
    }
  }

  @Test func `a condition that the records refuse stays in its line, and the list as it was`() {
    var browsing = opened()
    browsing.press(.end)
    browsing.answer(total: 300)
    browsing.press(.character("f"))
    browsing.type("price>abc")
    browsing.press(.enter)
    let failed = browsing.effects.compactMap(\.window).first?.request
    #expect(failed?.condition == "price>abc")
    guard let failed else { return }
    let words = "invalid value \"abc\" for price: must be a number"
    browsing.handle(.window(failed, start: 256, .failure(BrowseFailure(words))))
    #expect(browsing.state.prompt?.line.text == "price>abc")
    #expect(browsing.text.contains(words) && browsing.text.contains("Hero 2"), "\(browsing.text)")
    browsing.answer(total: 300)
    #expect(browsing.state.list.request.condition.isEmpty)
    #expect(browsing.state.list.selected?.id == "299")
    // A later failure is that of the list.
    browsing.press(.escape, .character("f"))
    browsing.type("id>3")
    browsing.press(.enter)
    browsing.answer(total: 200)
    browsing.handle(.refreshed("heroes", .failure(BrowseFailure("none"))))
    let request = browsing.state.list.request
    browsing.handle(.window(request, start: 0, .failure(BrowseFailure("disk I/O error"))))
    #expect(browsing.state.prompt == nil && browsing.state.list.failure == "disk I/O error")
  }

  @Test func `a deletion can be undone, and selects the record again`() {
    var browsing = opened()
    browsing.press(.down, .down)
    let deletion = Deletion(source: "heroes", ids: ["2"], name: "Hero 2")
    #expect(browsing.press(.character("d")) == [.delete(deletion)])
    browsing.handle(.deleted(deletion))
    browsing.answer(total: 299) { BrowsingState.row($0 < 2 ? $0 : $0 + 1, "Hero") }
    #expect(browsing.state.list.selected?.id == "3")
    #expect(browsing.state.notice?.text.contains("u restores") == true)
    #expect(browsing.press(.character("u")) == [.restore(deletion)])
    browsing.handle(.restored(deletion))
    browsing.answer(total: 300)
    #expect(browsing.state.list.selected?.id == "2")
    #expect(browsing.press(.character("u")).isEmpty)
  }

  @Test func `Space marks records, which are copied, opened, deleted and restored together`() {
    var browsing = opened()
    browsing.press(.character(" "), .down, .character(" "))
    #expect(browsing.state.marked.map(\.id) == ["0", "2"])
    #expect(browsing.state.list.selection == 3 && browsing.text.contains("heroes 4/300 (2 marked)"))
    #expect(browsing.press(.character("y")) == [.copy("0\n2")])
    #expect(
      browsing.press(.character("o"))
        == [.open("https://example.com/0"), .open("https://example.com/2")])
    let deletion = Deletion(source: "heroes", ids: ["0", "2"], name: "Hero 0")
    #expect(browsing.press(.character("d")) == [.delete(deletion)])
    browsing.handle(.deleted(deletion))
    #expect(browsing.state.notice?.text.hasPrefix("Deleted 2 records · u restores them") == true)
    browsing.answer(total: 298) { BrowsingState.row($0 < 1 ? 1 : $0 + 2, "Hero") }
    #expect(browsing.state.marked.isEmpty)
    #expect(browsing.press(.character("u")) == [.restore(deletion)])
    browsing.handle(.restored(deletion))
    browsing.answer(total: 300)
    // A mark is taken away by the same key, and all of them by Escape, before the filter.
    browsing.press(.home, .character(" "), .character(" "), .up, .character(" "))
    #expect(browsing.state.marked.map(\.id) == ["0"])
    browsing.press(.character("/"))
    browsing.type("her", of: 20)
    browsing.press(.enter, .escape)
    #expect(browsing.state.marked.isEmpty && browsing.state.list.request.query == "her")
    // The record that is open is what keys are about.
    browsing.press(.character(" "), .enter)
    #expect(browsing.press(.character("y")) == [.copy("1")])
  }

  @Test func `more than a terminal copies is not copied in part`() {
    var browsing = opened()
    browsing.press(.character(":"))
    browsing.type("SELECT 1")
    browsing.press(.enter)
    var row = BrowsedRow(id: "0", name: "a", cells: ["a"], card: [])
    row.object = .object([.init("a", .string(String(repeating: "x", count: 50_000)))])
    let window = BrowsedWindow(columns: [BrowsedColumn("a", "a")], rows: [row], total: 1)
    browsing.handle(.answered("SELECT 1", .success(window)))
    #expect(browsing.press(.character("Y")).isEmpty)
    #expect(browsing.state.notice?.text == "Too much to copy: more than 48 KB")
  }

  @Test func `keys typed during a deletion have their effect after it, in order`() {
    var browsing = opened()
    let deletions = (0..<3).map {
      Deletion(source: "heroes", ids: ["\($0)"], name: "Hero \($0)")
    }
    #expect(browsing.type("ddjdq") == [.delete(deletions[0])])
    browsing.handle(.deleted(deletions[0]))
    browsing.answer(total: 299) { BrowsingState.row($0 + 1, "Hero \($0 + 1)") }
    #expect(browsing.effects.contains(.delete(deletions[1])))
    // A deletion that failed is said, and the next key is taken all the same.
    browsing.handle(.notChanged(Notice(.error, "busy")))
    #expect(browsing.state.list.selected?.id == "2")
    #expect(browsing.effects.contains(.delete(deletions[2])))
    browsing.handle(.deleted(deletions[2]))
    #expect(!browsing.effects.contains(.quit))
    browsing.answer(total: 298) { BrowsingState.row($0 < 1 ? 1 : $0 + 2, "Hero") }
    #expect(browsing.effects.contains(.quit))
  }

  @Test func `keys about a record say that there is none`() {
    var browsing = BrowsingState()
    browsing.open("heroes")
    browsing.answer(total: 0)
    #expect(browsing.press(.character("d")).isEmpty)
    #expect(browsing.state.notice?.text == "Nothing deleted: no record is selected")
    #expect(browsing.press(.character("y")).isEmpty)
    #expect(browsing.state.notice?.text == "Nothing copied: no record is selected")
    #expect(browsing.press(.character("w")).isEmpty && browsing.state.prompt == nil)
    #expect(browsing.state.notice?.text == "Nothing written: no record is listed")
  }

  @Test func `a reload keeps the rows until others are there, and the record that is selected`() {
    var browsing = opened()
    browsing.press(.down)
    let request = browsing.state.source.list.request
    browsing.handle(.synced("heroes", Notice(.note, "done")))
    #expect(browsing.state.list.selected?.id == "1")
    #expect(browsing.state.list.request != request)
    // Two records are new.
    browsing.answer(total: 302) { BrowsingState.row($0 - 2, "Hero") }
    #expect(browsing.state.list.selected?.id == "1")
    #expect(browsing.state.list.selection == 3)
  }

  @Test func `a list that is read anew in its middle is counted again`() {
    var browsing = opened(total: 1000)
    for _ in 0..<40 {
      browsing.press(.pageDown)
      browsing.answer(total: 1000)
    }
    browsing.handle(.status("heroes", SourceStatus(count: 1000)))
    browsing.handle(.synced("heroes", Notice(.note, "done")))
    guard let (request, start, count) = browsing.effects.compactMap(\.window).first else {
      Issue.record("nothing was asked for")
      return
    }
    #expect(start > 0)
    let rows = BrowsedWindow(
      columns: BrowsingState.columns, rows: BrowsingState.rows(start..<start + count), total: nil)
    #expect(
      browsing.handle(.window(request, start: start, .success(rows))).contains(.count(request)))
    browsing.handle(.counted(request, 1000))
    #expect(browsing.state.list.count == 1000)
  }

  @Test func `the order turns round when it is chosen again`() {
    var browsing = opened()
    browsing.press(.character("s"), .down, .down, .enter)
    #expect(browsing.effects.compactMap(\.window?.request.order) == ["name"])
    browsing.press(.character("s"), .enter)
    #expect(browsing.state.source.list.request.order == "-name")
    browsing.press(.character("s"), .up, .up, .enter)
    #expect(browsing.state.source.list.request.order == nil)
  }

  @Test func `all keys that move do so in the box of orders, too`() {
    var browsing = opened()
    browsing.press(.character("s"), .end)
    #expect(browsing.state.overlay == .order(selection: 3))
    browsing.press(.home, .pageDown, .up)
    #expect(browsing.state.overlay == .order(selection: 2))
    browsing.press(.home)
    #expect(browsing.state.overlay == .order(selection: 0))
    // The records have no order of the source: they are cached as they came.
    #expect(browsing.text.contains("│ not sorted"))
  }

  @Test func `the columns of the list are those that are chosen`() {
    var browsing = BrowsingState()
    browsing.open("heroes")
    func row(_ index: Int) -> BrowsedRow {
      var row = BrowsingState.row(index, "Hero \(index)")
      row.object = [
        "id": .integer(index), "name": .string("Hero \(index)"), "publisher": "DC\nComics",
      ]
      return row
    }
    browsing.answer(total: 300, row)
    browsing.press(.down, .character("c"))
    #expect(browsing.text.contains("Space show or hide"))
    // Name is hidden, and what is read later has the same columns.
    #expect(
      browsing.press(.down, .character(" "), .enter)
        == [.keepColumns("heroes", ["id", "publisher"])])
    #expect(browsing.state.list.columns.map(\.name) == ["id", "publisher"])
    #expect(browsing.state.list.columns.map(\.isNumeric) == [true, false])
    #expect(browsing.text.contains("▌  1  DC Comics"), "\(browsing.text)")
    browsing.press(.end)
    browsing.answer(total: 300, row)
    #expect(browsing.text.contains("▌299  DC Comics"), "\(browsing.text)")
    browsing.handle(.record(source: "heroes", row(299)))
    #expect(browsing.state.list.selected?.cells == ["299", "DC Comics"])
    // One column stays.
    browsing.press(.character("c"), .character(" "), .end, .character(" "))
    #expect(browsing.state.list.columns.map(\.name) == ["publisher"])
    browsing.press(.home, .character(" "), .down, .tab, .enter)
    #expect(browsing.state.list.columns.map(\.name) == ["id", "name", "publisher"])
    #expect(browsing.text.contains("▌299  Hero 299  DC Comics"), "\(browsing.text)")
    #expect(browsing.state.overlay == nil)
  }

  private static func described(_ id: Int) -> BrowsedRow {
    var row = BrowsingState.row(id, "Hero \(id)")
    row.object = .object([
      .init("id", .integer(id)), .init("name", .string("Hero \(id)")),
      .init("publisher", .string("Marvel")), .init("city", .string("Oslo")),
      .init("age", .integer(40)), .init("motto", .null),
      .init("story", .string(String(repeating: "long ", count: 30))),
    ])
    return row
  }

  private func describing(width: Int) -> BrowsingState {
    var browsing = BrowsingState()
    let fields =
      BrowsingState.columns
      + ["city", "motto", "story", "age"].map {
        BrowsedColumn($0, $0)
      }
    browsing.state = BrowseState(
      ["heroes", "other"].map { .init($0, fields: fields) }, isOffline: true,
      now: BrowsingState.now)
    browsing.open("heroes", width: width, height: 30)
    return browsing
  }

  @Test func `one long value takes no room from other fields`() {
    var browsing = describing(width: 200)
    browsing.answer(total: 40) { index in
      guard index == 7 else { return Self.described(index) }
      let name = String(repeating: "Name ", count: 40)
      var row = BrowsingState.row(index, name)
      row.object = .object(
        Self.described(index).object.members.map {
          $0.name == "name" ? .init("name", .string(name)) : $0
        })
      return row
    }
    let names = browsing.state.list.columns.map(\.name)
    #expect(names == ["id", "name", "publisher", "city", "age"])
    let lines = browsing.screen().lines
    #expect(lines[1].contains("Publisher") && lines[1].contains("age"), "\(browsing.text)")
    #expect(lines.contains { $0.contains(/Name Name[^│]*… +Marvel/) }, "\(browsing.text)")
  }

  @Test func `a wide list has further fields as columns, whole, until others are chosen`() {
    var browsing = describing(width: 200)
    browsing.answer(total: 5, Self.described)
    let wide = ["id", "name", "publisher", "city", "age"]
    #expect(browsing.state.list.columns.map(\.name) == wide)
    #expect(browsing.state.list.columns.last?.isNumeric == true)
    browsing.handle(.resized(width: 60, height: 30))
    #expect(browsing.state.list.columns.map(\.name) == ["id", "name", "publisher", "city"])
    browsing.handle(.resized(width: 200, height: 30))
    browsing.press(.character("c"), .down, .character(" "))
    #expect(
      browsing.press(.enter) == [.keepColumns("heroes", ["id", "publisher", "city", "age"])])
    browsing.handle(.resized(width: 60, height: 30))
    #expect(browsing.state.list.columns.count == 4)
    #expect(
      browsing.press(.character("c"), .control("r"), .escape) == [.keepColumns("heroes", [])])
    browsing.handle(.resized(width: 200, height: 30))
    #expect(browsing.state.list.columns.map(\.name) == wide)
    // Nothing has changed.
    #expect(browsing.press(.character("c"), .escape).isEmpty)
  }

  @Test func `columns are scrolled through all fields, and those that suit the room come back`() {
    var browsing = describing(width: 60)
    browsing.answer(total: 5, Self.described)
    var names: [String] { browsing.state.list.columns.map(\.name) }
    let first = ["id", "name", "publisher", "city"]
    #expect(names == first)
    #expect(browsing.text.contains("›"))
    for _ in 0..<9 { browsing.press(.character("L")) }
    #expect(names == first + ["motto", "story", "age"])
    #expect(browsing.text.contains("age") && !browsing.text.contains("›"), "\(browsing.text)")
    // The box of columns is about the others.
    browsing.press(.character("c"))
    #expect(names == first)
    #expect(browsing.press(.escape).isEmpty)
    browsing.press(.character("L"))
    #expect(names.count == 7)
    browsing.press(.character("H"))
    #expect(names == first)
  }

  @Test func `columns of an earlier session are shown, without fields that are gone`() {
    var browsing = describing(width: 200)
    browsing.state.show(["age", "gone", "name"], of: "heroes")
    browsing.answer(total: 5, Self.described)
    #expect(browsing.state.list.columns.map(\.name) == ["age", "name"])
    #expect(browsing.state.list.columns.map(\.isNumeric) == [true, false])
    browsing.state.show([], of: "heroes")
    #expect(browsing.state.list.columns.map(\.name).prefix(3) == ["id", "name", "publisher"])
  }

  @Test func `the record is moved, resized and hidden, and the sources, too`() throws {
    var browsing = opened()
    browsing.handle(.resized(width: 160, height: 40))
    let usual = browsing.state.layout
    #expect(usual.preview == .beside)
    browsing.press(.character(">"))
    let list = try #require(browsing.state.layout.list)
    #expect(list.width == (usual.list?.width ?? 0) + 4)
    for _ in 0..<99 { browsing.press(.character(">")) }
    #expect(browsing.state.layout.card?.width == 20 && browsing.text.contains("No room"))
    // It is not farther away than the screen shows.
    browsing.press(.character("<"))
    #expect(browsing.state.layout.card?.width ?? 0 > 20)
    browsing.press(.character("v"))
    #expect(browsing.state.layout.preview == .below)
    let below = browsing.state.layout
    browsing.press(.character("<"))
    #expect(browsing.state.layout.card?.height == (below.card?.height ?? 0) + 2)
    browsing.press(.tab, .character("v"))
    #expect(browsing.state.layout.card == nil && browsing.state.pane == .list)
    browsing.press(.character("b"))
    #expect(browsing.state.layout.sources == nil && browsing.state.layout.list?.width == 160)
    browsing.press(.left)
    #expect(browsing.text.contains(" Sources"))
    browsing.press(.enter, .character("b"), .character("v"))
    #expect(browsing.state.layout == usual)
    // Where there is no room for it, it is not shown.
    browsing.handle(.resized(width: 30, height: 8))
    browsing.press(.character("v"))
    #expect(browsing.text.contains("No room"))
  }

  @Test func `columns stay as wide as they are while a filter is typed`() {
    var browsing = BrowsingState()
    browsing.open("heroes")
    let name = "Hero with a name that is longer than others"
    browsing.answer(total: 300) { BrowsingState.row($0 + 1000, name) }
    #expect(browsing.text.contains("▌1000  Hero with a name"), "\(browsing.text)")
    let labels = browsing.screen().lines[1]
    browsing.press(.character("/"))
    browsing.type("spi", of: 3) { BrowsingState.row($0, "Spider") }
    #expect(browsing.text.contains("▌   0  Spider "), "\(browsing.text)")
    #expect(browsing.screen().lines[1] == labels, "\(browsing.text)")
    // Where no value is a number, the columns that were scrolled past stay there.
    browsing.press(.escape)
    browsing.answer(total: 300) { BrowsingState.row($0 + 1000, name) }
    browsing.press(.character("L"))
    let left = browsing.state.list.left
    browsing.press(.character("f"))
    browsing.type("name=x")
    browsing.press(.enter)
    guard let request = browsing.effects.lazy.compactMap(\.window).first?.request else {
      Issue.record("nothing was asked for")
      return
    }
    var columns = BrowsingState.columns
    columns[0].isNumeric = false
    let rows = [BrowsingState.row(7, "x")]
    browsing.handle(
      .window(request, start: 0, .success(BrowsedWindow(columns: columns, rows: rows, total: 1))))
    #expect(left == 1 && browsing.state.list.left == 1)
  }

  @Test func `half a page is half of the rows`() {
    var browsing = opened()
    let rows = browsing.state.layout.rows
    browsing.press(.control("d"))
    #expect(browsing.state.list.selection == rows / 2)
    browsing.press(.control("d"), .control("u"))
    #expect(browsing.state.list.selection == rows / 2)
  }

  @Test func `a mistake has the hint of the command line, unless it names what was meant`() {
    func words(_ error: any Error) -> String { EffectRunner.words(of: error) }
    let remedy: Remedy = "use single quotes for a text: 'open'"
    #expect(
      words(SourceError(.invalidRequest, "no such column: open", remedy: remedy))
        == "no such column: open. Use single quotes for a text: 'open'")
    // That of another failure names an option.
    #expect(
      words(SourceError(.offline, "offline", remedy: "retry without --offline")) == "offline")
    #expect(
      words(CommandError(.usage, "no operator", hint: "write ~OSLO")) == "no operator. Write ~OSLO")
    #expect(words(CommandError(.usage, "blank", hint: .command("help"))) == "blank")
    let unknown = CommandError(
      .usage, #"unknown field "nmae""#, suggestion: "name", hint: "available fields: id, name")
    #expect(words(unknown) == #"unknown field "nmae". Did you mean "name"?"#)
  }

  @Test func `a condition that is refused stays to be mended, beside the reason`() {
    let refusal = #"unknown field "prize". Did you mean "price"?"#
    var browsing = BrowsingState { $0.condition.hasPrefix("prize") ? refusal : nil }
    browsing.open("heroes")
    browsing.answer(total: 300)
    browsing.press(.character("f"))
    browsing.type("prize>3")
    #expect(browsing.press(.enter).isEmpty)
    #expect(browsing.state.prompt?.line.text == "prize>3")
    #expect(browsing.text.contains(refusal))
    #expect(browsing.text.contains("Hero 1"))
    // Also where a line is too narrow for it, or has no place of its own.
    for (width, height) in [(40, 12), (40, 6), (20, 6)] {
      browsing.handle(.resized(width: width, height: height))
      let lines = browsing.screen().lines
      #expect(lines.last?.hasPrefix("where prize>3") == true)
      #expect(lines.joined().contains(#""price"?"#), "\(lines)")
    }
    // Keys are text.
    browsing.press(.control("u"))
    #expect(browsing.state.notice == nil)
    browsing.type("price>3")
    browsing.press(.enter)
    #expect(browsing.effects.compactMap(\.window?.request.condition) == ["price>3"])
    #expect(browsing.state.prompt == nil)
  }

  @Test func `a sync runs once, and the same key stops it`() {
    var browsing = opened(isOffline: false)
    #expect(browsing.press(.character("S")) == [.sync("heroes", pages: nil)])
    browsing.handle(.syncing("heroes", progress: "heroes: page 3"))
    #expect(browsing.text.contains("heroes: page 3"))
    #expect(browsing.press(.character("S")) == [.stopSync("heroes")])
    browsing.handle(.synced("heroes", Notice(.note, "heroes: stopped")))
    #expect(browsing.press(.character("n")).contains(.sync("heroes", pages: 1)))
  }

  @Test func `a sync that has fetched nothing shows its seconds, and Esc stops it`() {
    var browsing = opened(isOffline: false)
    browsing.press(.character("n"))
    browsing.state.now += 3
    #expect(browsing.text.contains("heroes: starting… 3 s · Esc stops"), "\(browsing.text)")
    #expect(browsing.press(.escape) == [.stopSync("heroes")])
  }

  @Test func `Esc stops a running sync where it has nothing else to go back from`() {
    var browsing = opened(isOffline: false)
    browsing.press(.character("S"))
    browsing.handle(.syncing("heroes", progress: "heroes: page 3"))
    browsing.press(.enter)
    #expect(browsing.text.contains("heroes: page 3 · S stops"), "\(browsing.text)")
    #expect(!browsing.press(.escape).contains(.stopSync("heroes")))
    #expect(browsing.text.contains("heroes: page 3 · Esc stops"), "\(browsing.text)")
    browsing.press(.character(" "))
    #expect(!browsing.press(.escape).contains(.stopSync("heroes")))
    browsing.press(.character("/"))
    #expect(!browsing.text.contains(" stops"), "\(browsing.text)")
    browsing.press(.escape)
    #expect(browsing.press(.escape) == [.stopSync("heroes")])
  }

  @Test func `the next page is not asked for where there is none`() {
    var browsing = opened(isOffline: false)
    var status = SourceStatus(count: 300, gap: "300 heroes are cached, possibly not all")
    browsing.handle(.status("heroes", status))
    #expect(browsing.press(.character("n")) == [.sync("heroes", pages: 1)])
    browsing.handle(.synced("heroes", Notice(.note, "done")))
    browsing.answer(total: 300)
    #expect(browsing.press(.character("n")) == [.sync("heroes", pages: 1)])
    // A list that was read to its end, though it is short.
    browsing.handle(.synced("heroes", Notice(.note, "done"), SyncEnd(isAtEnd: true)))
    browsing.answer(total: 300)
    #expect(browsing.press(.character("n")).isEmpty)
    #expect(browsing.state.notice?.text.hasPrefix("No more: the sync has read heroes") == true)
    #expect(browsing.press(.character("S")) == [.sync("heroes", pages: nil)])
    browsing.handle(.synced("heroes", Notice(.note, "done")))
    browsing.answer(total: 300)
    (status.gap, status.isComplete) = (nil, true)
    browsing.handle(.status("heroes", status))
    #expect(browsing.press(.character("n")).isEmpty)
    #expect(browsing.state.notice?.text.hasPrefix("No more: all 300 heroes are cached") == true)
  }

  @Test func `offline asks no service`() {
    var browsing = opened()
    for key in "rnS" { #expect(browsing.press(.character(key)).isEmpty) }
    #expect(browsing.state.notice?.kind == .warning)
  }

  @Test func `a failed refresh says why beside the rows`() throws {
    var browsing = opened(isOffline: false)
    var summary = ListingSummary(count: 1)
    summary.provenance = CombinedProvenance(
      Provenance(
        .cached, fetchedAt: BrowsingState.now.addingTimeInterval(-200),
        reason: SourceError(.unreachable, "no route to host")))
    let badge = try #require(
      OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
    browsing.handle(.refreshed("heroes", .success(Refreshed(badge, count: 1))))
    browsing.answer(total: 300)
    browsing.handle(.resized(width: 100, height: 24))
    #expect(browsing.text.contains("Offline · cached 3 min ago"))
    #expect(browsing.text.contains("No route to host"))
    #expect(browsing.text.contains("Hero 1"))
  }

  @Test(arguments: [(Provenance.Origin.bundled, "bundled"), (.cached, "cached")])
  func `without room for the badge it names the data, not the lack of a network`(
    origin: Provenance.Origin, word: String
  ) throws {
    var browsing = opened()
    browsing.handle(.resized(width: 40, height: 24))
    var summary = ListingSummary(count: 3)
    summary.provenance = CombinedProvenance(
      Provenance(origin, reason: SourceError(.offline, "offline mode")))
    var window = BrowsedWindow(
      columns: BrowsingState.columns, rows: BrowsingState.rows(0..<3), total: 3)
    window.badge = OriginBadge(summary, choosesLocal: true, at: BrowsingState.now)
    browsing.handle(.window(browsing.state.source.list.request, start: 0, .success(window)))
    #expect(browsing.text.contains(" \(word)\n"), "\(browsing.text)")
    #expect(browsing.text.prefix { $0 != "\n" }.contains("offline") == false)
  }

  @Test(arguments: [(100.0, 3), (420.0, 7)])
  func `after a failed refresh the rows are as old as the oldest of them`(
    age: Double, minutes: Int
  ) throws {
    var browsing = opened(isOffline: false)
    browsing.handle(.resized(width: 100, height: 24))
    func badge(_ age: Double, _ reason: SourceError? = nil) throws -> OriginBadge {
      var summary = ListingSummary(count: 1)
      summary.provenance = CombinedProvenance(
        Provenance(
          .cached, fetchedAt: BrowsingState.now.addingTimeInterval(-age), reason: reason))
      return try #require(OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
    }
    let failed = try badge(200, SourceError(.unreachable, "no route to host"))
    browsing.handle(.refreshed("heroes", .success(Refreshed(failed, count: 1))))
    var window = BrowsedWindow(
      columns: BrowsingState.columns, rows: BrowsingState.rows(0..<3), total: 3)
    window.badge = try badge(age)
    browsing.handle(.window(browsing.state.source.list.request, start: 0, .success(window)))
    #expect(browsing.text.contains("Offline · cached \(minutes) min ago"), "\(browsing.text)")
    #expect(browsing.text.contains("No route to host"))
  }

  @Test func `a list is live only if the service has just sent all of it`() throws {
    var browsing = opened(isOffline: false)
    browsing.handle(.resized(width: 100, height: 24))
    var summary = ListingSummary(count: 100)
    summary.provenance = CombinedProvenance(Provenance(.live, fetchedAt: BrowsingState.now))
    let badge = try #require(OriginBadge(summary, choosesLocal: false, at: BrowsingState.now))
    func refresh(_ refreshed: Refreshed, of total: Int) -> Bool {
      browsing.handle(.refreshed("heroes", .success(refreshed)))
      browsing.answer(total: total)
      return browsing.text.contains("● Live")
    }
    let first = Refreshed(badge, count: 100, hasMore: true)
    #expect(!refresh(first, of: 300))
    // The others are as old as they were.
    var older = ListingSummary(count: 3)
    older.provenance = CombinedProvenance(
      Provenance(.cached, fetchedAt: BrowsingState.now.addingTimeInterval(-420)))
    var window = BrowsedWindow(
      columns: BrowsingState.columns, rows: BrowsingState.rows(0..<100), total: 300)
    window.badge = OriginBadge(older, choosesLocal: false, at: BrowsingState.now)
    browsing.handle(.window(browsing.state.source.list.request, start: 0, .success(window)))
    #expect(browsing.text.contains("● Cached, oldest page 7 min ago"), "\(browsing.text)")
    browsing.press(.character("/"))
    browsing.type("her", of: 50)
    #expect(!refresh(first, of: 50))
    #expect(refresh(Refreshed(badge, count: 50, of: "her"), of: 50))
    #expect(refresh(Refreshed(badge, count: 300), of: 50))
    browsing.press(.escape)
    browsing.answer(total: 300)
    #expect(browsing.text.contains("● Live"))
  }

  @Test func `an added source without web pages names the command that gives them`() {
    for (command, notice) in [
      (nil, "No web page"),
      ("sources edit things", "No web page: name the field with its URL by sources edit things"),
    ] {
      var things = BrowseState.Source("things", fields: BrowsingState.columns)
      things.linkCommand = command
      var browsing = BrowsingState()
      browsing.state = BrowseState([things], isOffline: true, now: BrowsingState.now)
      browsing.open("things")
      browsing.answer(total: 3) {
        BrowsedRow(id: "\($0)", name: "", cells: ["", "", ""], card: [])
      }
      #expect(browsing.press(.character("o")) == [])
      #expect(browsing.state.notice?.text == notice)
    }
  }

  @Test func `the web page, the ID and the record leave by effects`() {
    var browsing = opened()
    #expect(browsing.press(.character("o")) == [.open("https://example.com/0")])
    #expect(browsing.press(.character("y")) == [.copy("0")])
    #expect(browsing.press(.enter) == [.record(source: "heroes", id: "0")])
    #expect(browsing.state.isCardOpen)
    browsing.press(.escape)
    #expect(!browsing.state.isCardOpen)
    #expect(browsing.press(.character("q")) == [.quit])
  }

  @Test func `a record is scrolled up to its end, and the next one is a key away`() {
    var browsing = opened()
    browsing.handle(.resized(width: 60, height: 10))
    for _ in 0..<50 { browsing.press(.character("J")) }
    // Without a place for the record there is nothing to scroll.
    #expect(browsing.state.cardTop == 0)
    #expect(browsing.press(.enter) == [.record(source: "heroes", id: "0")])
    let count = browsing.state.layout.cardLines(browsing.state).count
    let room = (browsing.state.layout.card?.height ?? 0) - 1
    browsing.press(.character("G"))
    #expect(browsing.state.cardTop == max(0, count - room))
    #expect(browsing.text.contains("He left."))
    #expect(browsing.press(.character("J")) == [.record(source: "heroes", id: "1")])
    #expect(browsing.state.isCardOpen && browsing.state.cardTop == 0)
    #expect(browsing.text.contains("Hero 1"))
    #expect(browsing.press(.character("K")) == [.record(source: "heroes", id: "0")])
    browsing.press(.escape)
    // Beside the list the same keys scroll the record.
    browsing.handle(.resized(width: 120, height: 8))
    for _ in 0..<50 { browsing.press(.character("J")) }
    let top = browsing.state.cardTop
    #expect(top > 0 && browsing.text.contains("He left."))
    browsing.press(.character("K"))
    #expect(browsing.state.cardTop == top - 1)
    browsing.press(.tab, .character("J"))
    #expect(browsing.state.list.selection == 1)
    #expect(browsing.state.pane == .card)
  }

  @Test func `a query in SQL takes the place of the list until Escape`() {
    var browsing = opened()
    browsing.press(.character(":"))
    browsing.type("SELECT 1")
    #expect(browsing.press(.enter) == [.query("SELECT 1"), .remember(.query, "SELECT 1")])
    let columns = [BrowsedColumn("1", "1", isNumeric: true)]
    let row = BrowsedRow(id: "0", name: "1", cells: ["1"], card: [.init("1", "1")])
    browsing.handle(
      .answered(
        "SELECT 1", .success(BrowsedWindow(columns: columns, rows: [row], total: 1))))
    #expect(browsing.state.list.count == 1)
    #expect(browsing.state.notice == nil)
    browsing.press(.escape)
    #expect(browsing.state.list.count == 300)
    // A mistake can be mended.
    browsing.press(.character(":"), .up, .enter)
    browsing.handle(.answered("SELECT 1", .failure(BrowseFailure("no such column: 1"))))
    #expect(browsing.state.prompt?.line.text == "SELECT 1")
    #expect(browsing.state.notice?.text == "no such column: 1")
  }

  @Test func `what runs is shown with its time, and Esc stops it before all else`() {
    var browsing = opened()
    browsing.press(.enter, .character(":"))
    browsing.type("SELECT 1")
    browsing.press(.enter)
    #expect(browsing.text.contains("Running the query… · Esc stops"), "\(browsing.text)")
    #expect(browsing.state.hasCountdown)
    browsing.state.now += 2.5
    // A key that does something else hides nothing, and Esc leaves a line before.
    browsing.press(.character("y"), .character("/"))
    #expect(browsing.text.contains("Running the query… 2 s"), "\(browsing.text)")
    #expect(!browsing.text.contains("Esc stops"))
    browsing.press(.escape)
    #expect(browsing.press(.escape) == [.stop(.query)])
    #expect(browsing.state.isCardOpen && browsing.text.contains(" Stopped"))
    #expect(!browsing.state.hasCountdown)
    let row = BrowsedRow(id: "0", name: "1", cells: ["1"], card: [])
    let window = BrowsedWindow(columns: [BrowsedColumn("1", "1")], rows: [row], total: 1)
    browsing.handle(.answered("SELECT 1", .success(window)))
    #expect(browsing.state.answer == nil)
    browsing.press(.escape, .character("F"), .end, .enter)
    #expect(browsing.text.contains("Counting… · Esc stops"), "\(browsing.text)")
    let request = browsing.state.source.list.request
    browsing.handle(.values(request, .failure(BrowseFailure("no such field"))))
    #expect(browsing.text.contains("no such field") && !browsing.state.hasCountdown)
    browsing.press(.character("F"), .end, .enter)
    #expect(browsing.press(.escape) == [.stop(.values)])
    browsing.handle(.values(request, .success(window)))
    #expect(browsing.state.answer == nil)
    browsing.press(.character("w"), .enter)
    #expect(browsing.text.contains("Writing… · Esc stops"), "\(browsing.text)")
    // One file after the other; the last that was begun is stopped first.
    browsing.press(.character("w"))
    #expect(browsing.state.prompt == nil)
    browsing.press(.character(":"), .up, .enter)
    #expect(browsing.press(.escape) == [.stop(.query)])
    #expect(browsing.press(.escape) == [.stop(.write)])
    #expect(browsing.text.contains("Stopped: no file was written"))
  }

  @Test func `Up in an empty filter or condition recalls earlier ones, also of other sessions`() {
    var browsing = opened()
    var line: String? { browsing.state.prompt?.line.text }
    browsing.state.history = [.condition: ["id>3", "id>5"]]
    // Without a line to recall, the list moves.
    browsing.press(.character("/"), .up)
    #expect(line == "" && browsing.state.list.selection == 0)
    browsing.press(.escape, .character("f"), .down)
    #expect(line == "" && browsing.state.list.selection == 1)
    browsing.press(.up)
    #expect(line == "id>5")
    browsing.press(.up, .up)
    #expect(line == "id>3")
    browsing.press(.down, .down)
    #expect(line == "")
    browsing.type("id>3")
    #expect(browsing.press(.enter).contains(.remember(.condition, "id>3")))
    #expect(browsing.state.history[.condition] == ["id>5", "id>3"])
    browsing.answer(total: 50)
    browsing.press(.character("/"))
    browsing.type("spi", of: 20)
    browsing.press(.enter)
    browsing.press(.escape)
    browsing.answer(total: 50)
    browsing.press(.character("/"), .up)
    #expect(line == "spi" && browsing.state.list.request.query == "spi")
  }

  @Test func `Tab completes a line as far as all candidates agree`() {
    var browsing = opened()
    var line: String? { browsing.state.prompt?.line.text }
    browsing.press(.character("f"))
    browsing.type("p")
    let start = TypedStart(kind: .condition, source: "heroes", text: "p")
    #expect(browsing.press(.tab) == [.complete(start)])
    browsing.handle(.completed(start, ["power", "powers"]))
    #expect(line == "power")
    #expect(browsing.text.contains("power · powers"), "\(browsing.text)")
    // An answer to what was typed before changes nothing.
    browsing.handle(.completed(start, ["publisher"]))
    #expect(line == "power")
    browsing.press(.control("u"))
    #expect(browsing.state.notice == nil)
    browsing.type("name=x and status=o")
    let value = TypedStart(kind: .condition, source: "heroes", text: "name=x and status=o")
    #expect(browsing.press(.tab) == [.complete(value)])
    browsing.handle(
      .completed(value, ["open", "on hold"].map { "name=x and status=\($0)" }))
    #expect(line == value.text)
    #expect(browsing.state.notice?.text == "open · on hold")
    browsing.handle(.completed(value, ["name=x and status=open"]))
    #expect(line == "name=x and status=open")
    // More than there is room for are counted.
    let many = TypedStart(kind: .condition, source: "heroes", text: "name=x and status=open")
    browsing.handle(.completed(many, (0..<90).map { "\(many.text)\($0)" }))
    #expect(browsing.state.notice?.text.hasSuffix(" more") == true)
    browsing.press(.escape, .character(":"))
    browsing.type("SELECT NA")
    let name = TypedStart(kind: .query, source: "heroes", text: "SELECT NA")
    #expect(browsing.press(.tab) == [.complete(name)])
    browsing.handle(.completed(name, ["SELECT name"]))
    #expect(line == "SELECT name")
  }

  @Test func `a further Tab shows one candidate after the other, and Shift-Tab the one before`() {
    var browsing = opened()
    var line: String? { browsing.state.prompt?.line.text }
    browsing.press(.character("f"))
    browsing.type("p")
    let start = TypedStart(kind: .condition, source: "heroes", text: "p")
    // Nothing to go back to.
    #expect(browsing.press(.backTab).isEmpty && line == "p")
    #expect(browsing.press(.tab).contains(.complete(start)))
    browsing.handle(.completed(start, ["power", "powers", "pow"]))
    #expect(line == "pow")
    var shown: [String?] = []
    for key in [Key.tab, .tab, .tab, .tab, .backTab, .backTab] {
      #expect(!browsing.press(key).contains { if case .complete = $0 { true } else { false } })
      shown.append(line)
    }
    #expect(shown == ["power", "powers", "pow", "power", "pow", "powers"])
    #expect(browsing.state.notice?.text == "power · powers · pow")
    // What is typed after it, or a key that moves in the line, takes it.
    browsing.type("=")
    #expect(browsing.state.notice == nil)
    let taken = TypedStart(kind: .condition, source: "heroes", text: "powers=")
    #expect(browsing.press(.tab).contains(.complete(taken)))
    browsing.handle(.completed(taken, ["powers=a", "powers=b"]))
    browsing.press(.backTab)
    #expect(line == "powers=b")
    browsing.press(.right)
    #expect(
      browsing.press(.tab).contains(
        .complete(TypedStart(kind: .condition, source: "heroes", text: "powers=b"))))
    // The candidates of one line are not those of another.
    browsing.handle(.completed(taken, ["powers=a", "powers=b"]))
    browsing.press(.escape, .character(":"))
    #expect(
      browsing.press(.tab) == [
        .complete(TypedStart(kind: .query, source: "heroes", text: ""))
      ])
  }

  @Test func `a condition says what it selects while it is typed`() throws {
    var browsing = opened()
    browsing.press(.character("f"))
    var request = browsing.state.source.list.request
    request.condition = "id>"
    #expect(browsing.type("id>").last == .preview(request))
    browsing.handle(.previewed(request, Notice(.warning, "missing value after \"id>\"")))
    #expect(browsing.text.contains("missing value"))
    let earlier = request
    request.condition = "id>3"
    #expect(browsing.type("3") == [.preview(request)])
    #expect(!browsing.text.contains("missing value"))
    // An answer to what was typed before says nothing of this.
    browsing.handle(.previewed(earlier, Notice(.warning, "missing value after \"id>\"")))
    #expect(!browsing.text.contains("missing value"))
    browsing.handle(.previewed(request, Notice(.note, "12 records")))
    #expect(browsing.text.contains(" 12 records\n"), "\(browsing.text)")
    // The candidates have its place, and it stays beside the line.
    let start = TypedStart(kind: .condition, source: "heroes", text: "id>3")
    browsing.press(.tab)
    browsing.handle(.completed(start, ["id>30", "id>31"]))
    let lines = browsing.screen().lines.suffix(2)
    #expect(lines.first == " id>30 · id>31" || lines.first?.contains("30 · 31") == true)
    #expect(lines.last?.hasSuffix("12 records") == true, "\(lines)")
    // The list is that of before until Enter.
    #expect(browsing.state.source.list.request.condition.isEmpty)
    browsing.press(.escape)
    #expect(!browsing.text.contains("12 records"))
    browsing.press(.character("f"))
    #expect(!browsing.text.contains("12 records"))
  }

  @Test func `a long message about a condition is wrapped while it is typed`() {
    var browsing = opened()
    browsing.press(.character("f"))
    browsing.type("id>")
    var request = browsing.state.source.list.request
    request.condition = "id>"
    let words = (1...30).map { "word\($0)" }.joined(separator: " ")
    browsing.handle(.previewed(request, Notice(.warning, words)))
    #expect(browsing.text.contains(" word1 ") && browsing.text.contains("word30"))
  }

  @Test(arguments: [true, false])
  func `near values stay beside a list that a condition has left empty`(isEarly: Bool) {
    var browsing = opened()
    browsing.press(.character("f"))
    browsing.type("publisher=Marvle")
    var request = browsing.state.source.list.request
    request.condition = "publisher=Marvle"
    let near = BrowseEvent.previewed(request, Notice(.warning, "no records, near: Marvel"))
    if isEarly { browsing.handle(near) }
    browsing.press(.enter)
    if !isEarly { browsing.handle(near) }
    #expect(browsing.state.notice?.text == "no records, near: Marvel")
    browsing.press(.escape)
    #expect(browsing.state.notice == nil)
    // What was told of a shorter line says nothing of the completed one.
    browsing.press(.character("f"))
    browsing.type("publisher=Marvle")
    browsing.handle(near)
    let start = TypedStart(kind: .condition, source: "heroes", text: "publisher=Marvle")
    browsing.press(.tab)
    browsing.handle(.completed(start, ["publisher=Marvle Comics"]))
    browsing.press(.enter)
    #expect(browsing.state.notice == nil)
  }

  @Test func `a completed condition is told of anew`() {
    var browsing = opened()
    browsing.press(.character("f"))
    browsing.type("pub")
    var request = browsing.state.source.list.request
    request.condition = "pub"
    browsing.handle(.previewed(request, Notice(.error, "no operator")))
    browsing.press(.tab)
    let start = TypedStart(kind: .condition, source: "heroes", text: "pub")
    request.condition = "publisher"
    #expect(browsing.handle(.completed(start, ["publisher"])) == [.preview(request)])
    #expect(!browsing.text.contains("no operator"))
  }

  @Test(arguments: ["f", "/", ":", "w"])
  func `Ctrl-C leaves a line without its effect`(key: String) {
    var browsing = opened()
    browsing.press(.character(Character(key)))
    #expect(browsing.state.prompt != nil)
    browsing.type("a")
    #expect(!browsing.press(.control("c")).contains(.quit))
    #expect(browsing.state.prompt == nil)
    #expect(browsing.state.source.list.request.condition.isEmpty)
    #expect(browsing.state.source.list.request.query.isEmpty)
  }

  @Test func `the values of a field are counted, and one of them is a filter`() {
    var browsing = opened()
    browsing.press(.character("F"), .end)
    // There are only fields, and nothing that stands for none.
    #expect(browsing.state.overlay == .order(selection: 2))
    #expect(browsing.text.contains("Count values of") && !browsing.text.contains("│ –"))
    let request = browsing.state.source.list.request
    let field = BrowsedColumn("publisher", "Publisher")
    #expect(browsing.press(.enter) == [.values(request, field)])
    let rows = [("Marvel", 200), ("DC", 99), ("(none)", 1)].map { name, count in
      BrowsedRow(id: "publisher=\"\(name)\"", name: name, cells: [name, "\(count)"], card: [])
    }
    var window = BrowsedWindow(
      columns: [field, BrowsedColumn("count", "Records", isNumeric: true)], rows: rows, total: 3,
      warnings: ["4 rarer values are not shown"])
    browsing.handle(.values(request, .success(window)))
    let text = browsing.text
    #expect(text.contains(" values of Publisher 1/3"), "\(text)")
    #expect(text.contains("▌Marvel         200"), "\(text)")
    #expect(text.contains(" (none)           1"), "\(text)")
    #expect(text.contains("4 rarer values are not shown") && text.contains("Enter filter"))
    // They are filtered and sorted as the rows of a query, and are not run again.
    #expect(browsing.press(.character("r")).isEmpty)
    browsing.press(.character("/"))
    browsing.type("dc")
    browsing.press(.enter)
    let effects = browsing.press(.enter)
    #expect(browsing.state.answer == nil)
    #expect(effects.contains(.remember(.condition, "publisher=\"DC\"")))
    #expect(browsing.state.source.list.request.condition == "publisher=\"DC\"")
    // Values of another list, and of a field whose values do not repeat, are not shown.
    browsing.press(.character("F"), .end, .enter)
    browsing.handle(.values(request, .success(window)))
    #expect(browsing.state.answer == nil)
    (window.rows, window.warnings) = ([], ["Name: nearly every record has a value of its own"])
    browsing.press(.character("F"), .end, .enter)
    browsing.handle(.values(browsing.state.source.list.request, .success(window)))
    #expect(browsing.state.answer == nil)
    #expect(browsing.state.notice?.text.hasPrefix("Name: nearly every record") == true)
    // The first field is chosen at once.
    let first = browsing.state.source.list.request
    #expect(
      browsing.press(.character("F"), .enter) == [.values(first, BrowsingState.columns[0])])
    browsing.press(.escape)
    browsing.press(.character("s"))
    #expect(browsing.text.contains("│ not sorted"))
  }

  @Test func `the values of a field say that records are missing or samples, as their list does`() {
    var browsing = opened()
    let gap = "300 heroes are cached, possibly not all"
    browsing.handle(.status("heroes", SourceStatus(count: 300, gap: gap)))
    let request = browsing.state.source.list.request
    let columns = [BrowsingState.columns[2], BrowsedColumn("count", "Records", isNumeric: true)]
    let row = BrowsedRow(id: "publisher=\"DC\"", name: "DC", cells: ["DC", "99"], card: [])
    var window = BrowsedWindow(
      columns: columns, rows: [row], total: 1, warnings: ["4 rarer values are not shown"])
    browsing.press(.character("F"), .end, .enter)
    browsing.handle(.values(request, .success(window)))
    #expect(browsing.text.contains(" values of Publisher 1/1+ "), "\(browsing.text)")
    browsing.press(.down)
    #expect(browsing.text.contains(" \(gap) · 4 rarer values are not shown"), "\(browsing.text)")
    let list = WrittenList(
      request: request, fields: columns, rows: [row], path: "values.csv", replaces: false)
    browsing.press(.character("w"), .enter)
    browsing.handle(.written(list, 1))
    #expect(
      browsing.state.notice == Notice(.warning, "Wrote 1 record to values.csv · \(gap)"))
    (window.rows, window.warnings) = ([], ["Publisher: every record has the same value, DC"])
    browsing.press(.escape, .character("F"), .end, .enter)
    browsing.handle(.values(request, .success(window)))
    #expect(
      browsing.state.notice
        == Notice(.warning, "Publisher: every record has the same value, DC · \(gap)"))
    // Samples.
    var samples = BrowsingState()
    samples.open("heroes")
    var summary = ListingSummary(count: 1)
    summary.provenance = CombinedProvenance(Provenance(.bundled))
    summary.provenance?.reason = SourceError(.missingKey, "no key")
    window = BrowsedWindow(
      columns: BrowsingState.columns, rows: BrowsingState.rows(0..<1), total: 1)
    window.badge = OriginBadge(summary, choosesLocal: false, at: BrowsingState.now)
    samples.handle(.window(samples.state.source.list.request, start: 0, .success(window)))
    samples.press(.character("F"), .end, .enter)
    window = BrowsedWindow(columns: columns, rows: [row], total: 1)
    samples.handle(.values(samples.state.source.list.request, .success(window)))
    let text = samples.text
    #expect(text.contains(" values of Publisher 1/1 ") && text.contains("● "), "\(text)")
    #expect(text.contains(" Showing bundled sample data (no key)"), "\(text)")
  }

  @Test func `the sources are filtered by their names, the list by its records`() {
    var browsing = BrowsingState(["countries", "heroes", "comics"])
    browsing.open(nil)
    browsing.press(.character("/"))
    browsing.type("CO")
    var sources: [String] {
      browsing.screen().lines.dropFirst().prefix(3).map {
        String($0.prefix { $0 != "│" }.dropFirst().prefix { $0 != " " })
      }
    }
    #expect(sources == ["countries", "comics", ""], "\(browsing.text)")
    #expect(browsing.text.contains("Enter opens · Esc shows all"))
    browsing.press(.down)
    #expect(browsing.state.source.name == "comics")
    browsing.press(.down)
    #expect(browsing.state.source.name == "comics")
    browsing.press(.up)
    #expect(browsing.state.source.name == "countries")
    // Another source is opened by Enter or an arrow alone.
    browsing.type("m")
    #expect(browsing.state.source.name == "countries" && sources == ["comics", "", ""])
    browsing.press(.down)
    #expect(browsing.state.source.name == "comics")
    browsing.press(.control("u"))
    browsing.type("her")
    browsing.press(.escape)
    #expect(browsing.state.source.name == "comics" && browsing.state.pane == .sources)
    browsing.press(.character("/"))
    browsing.type("herx")
    #expect(sources.first == "No", "\(browsing.text)")
    browsing.press(.enter)
    #expect(browsing.state.notice?.text == "No source matches")
    #expect(sources == ["countries", "heroes", "comics"] && browsing.state.pane == .sources)
    #expect(browsing.state.source.name == "comics")
    browsing.press(.character("/"))
    browsing.type("her")
    browsing.press(.enter)
    #expect(browsing.state.source.name == "heroes" && browsing.state.pane == .list)
    #expect(browsing.state.source.list.request.query.isEmpty)
    browsing.press(.character("/"))
    browsing.type("co")
    #expect(browsing.state.source.list.request.query == "co")
  }

  @Test func `Escape takes back the narrower condition alone`() {
    var browsing = BrowsingState()
    browsing.effects = browsing.state.start("heroes") { $0.condition = "id>3" }
    browsing.answer(total: 300)
    var condition: String { browsing.state.source.list.request.condition }
    // A value that is filtered by.
    let added = "id>3 and publisher=\"DC\""
    browsing.press(.character("F"), .end, .enter)
    let row = BrowsedRow(id: added, name: "DC", cells: ["DC", "99"], card: [])
    let window = BrowsedWindow(
      columns: [BrowsingState.columns[2], BrowsedColumn("count", "Records", isNumeric: true)],
      rows: [row], total: 1)
    browsing.handle(.values(browsing.state.source.list.request, .success(window)))
    browsing.press(.enter)
    browsing.answer(total: 99)
    #expect(condition == added)
    // A condition that is added to by hand, and then put back: Esc does not return to it twice.
    browsing.press(.character("f"))
    browsing.type(" and id<9")
    browsing.press(.enter)
    browsing.answer(total: 2)
    browsing.press(.character("f"), .control("u"))
    browsing.type(added)
    browsing.press(.enter)
    browsing.answer(total: 99)
    #expect(condition == added)
    browsing.press(.escape)
    browsing.answer(total: 300)
    #expect(condition == "id>3")
    // One that the records refuse is none to return to.
    browsing.press(.character("f"))
    browsing.type(" and x")
    browsing.press(.enter)
    let refused = browsing.state.source.list.request
    browsing.handle(.window(refused, start: 0, .failure(BrowseFailure("x is missing"))))
    browsing.press(.escape)
    browsing.answer(total: 300)
    #expect(condition == "id>3")
    browsing.press(.escape)
    #expect(condition == "")
  }

  @Test func `what is typed narrows the fields that are offered, as in the picker`() {
    var browsing = opened()
    let request = browsing.state.source.list.request
    browsing.press(.character("F"))
    browsing.type("pbl")
    #expect(browsing.text.contains(" Count values of: pbl ─"), "\(browsing.text)")
    #expect(browsing.state.choices == [3])
    #expect(browsing.screen().lines.last?.hasPrefix(" Enter count  Esc clear") == true)
    #expect(browsing.press(.enter) == [.values(request, BrowsingState.columns[2])])
    browsing.press(.escape, .character("s"))
    browsing.type("q")
    #expect(browsing.text.contains("│ No match"), "\(browsing.text)")
    #expect(browsing.press(.enter).isEmpty && browsing.state.overlay != nil)
    browsing.press(.backspace)
    // "not sorted" and "Name" have an N, too.
    browsing.type("n")
    #expect(browsing.state.choices == [2, 0])
    browsing.press(.down, .up, .enter)
    #expect(browsing.effects.compactMap(\.window?.request.order) == ["name"])
    // Esc clears the text, which selects the present order again, and then closes.
    browsing.press(.character("s"))
    browsing.type("p")
    browsing.press(.escape)
    #expect(browsing.state.overlay == .order(selection: 2))
    browsing.press(.escape)
    #expect(browsing.state.overlay == nil)
    // A space is text behind a letter, and Tab shows or hides.
    browsing.press(.character("c"))
    browsing.type("p ")
    #expect(browsing.text.contains("Tab show or hide"))
    browsing.press(.tab, .escape, .escape)
    #expect(browsing.state.list.columns.map(\.name) == ["id", "name"])
  }

  @Test func `a service is asked for a filter only if not all records are cached`() {
    var browsing = opened(isOffline: false)
    browsing.press(.character("/"))
    #expect(browsing.text.contains("Enter also asks the service"))
    var status = SourceStatus(count: 300)
    status.answersSearches = true
    browsing.handle(.status("heroes", status))
    #expect(browsing.text.contains("All records are cached · Esc clears"), "\(browsing.text)")
    browsing.type("x", of: 0)
    #expect(browsing.text.contains("All records are cached: nothing matches"), "\(browsing.text)")
    #expect(browsing.press(.enter) == [.remember(.filter, "x")])
    #expect(browsing.state.source.askedAt == nil)
  }

  @Test func `a mistake in a condition is shown once`() {
    let refusal = "unknown field \"prize\""
    var browsing = BrowsingState { _ in refusal }
    browsing.open("heroes")
    browsing.answer(total: 300)
    browsing.press(.character("f"))
    browsing.type("prize=1")
    var request = browsing.state.source.list.request
    request.condition = "prize=1"
    browsing.handle(.previewed(request, Notice(.warning, refusal)))
    #expect(browsing.text.components(separatedBy: refusal).count == 2, "\(browsing.text)")
    browsing.press(.enter)
    #expect(browsing.text.components(separatedBy: refusal).count == 2, "\(browsing.text)")
  }

  @Test func `the message of an action goes with the next key or click`() {
    for input in [Input.key(.down), .click(column: 30, row: 1), .click(column: 30, row: 4)] {
      var browsing = opened()
      browsing.press(.character("y"))
      #expect(browsing.state.notice != nil)
      browsing.handle(.input(input))
      #expect(browsing.state.notice == nil, "\(input)")
      // What went wrong stays.
      browsing.handle(.notice(Notice(.error, "failed")), .input(input))
      #expect(browsing.state.notice?.text == "failed")
    }
  }

  @Test func `decimals line up, with those of rows that are read later`() {
    var browsing = BrowsingState()
    browsing.open("heroes")
    let columns = [BrowsedColumn("id", "ID"), BrowsedColumn("price", "Price", isNumeric: true)]
    func row(_ index: Int, _ price: JSON) -> BrowsedRow {
      var row = BrowsedRow(id: "a\(index)", name: "a\(index)", cells: [], card: [])
      row.object = ["id": .string("a\(index)"), "price": price]
      return row.showing(columns)
    }
    let request = browsing.state.source.list.request
    var rows = [row(0, .number(433.5)), row(1, .number(323.85)), row(2, 7), row(3, .null)]
    rows += (4..<128).map { row($0, 1) }
    browsing.handle(
      .window(
        request, start: 0, .success(BrowsedWindow(columns: columns, rows: rows, total: 129))))
    let text = browsing.text
    for cell in ["a0    433.50", "a1    323.85", "a2      7.00"] {
      #expect(text.contains(cell), "\(text)")
    }
    let seventh = JSON.number(0.14285714285714285)
    browsing.handle(
      .window(
        request, start: 128,
        .success(
          BrowsedWindow(columns: columns, rows: [row(128, seventh)], total: 129))))
    #expect(browsing.text.contains("433.500000"), "\(browsing.text)")
    #expect(row(0, seventh).cells == ["a0", "0.142857142857143"])
  }

  @Test func `the list or its marked records are written to a file, which is replaced on demand`() {
    var browsing = opened()
    browsing.press(.character("w"))
    #expect(browsing.state.prompt?.line.text == "heroes.csv")
    #expect(browsing.text.contains("Enter writes the list"))
    var list = WrittenList(
      request: browsing.state.source.list.request, fields: BrowsingState.columns,
      rows: [], path: "heroes.csv", replaces: false)
    #expect(browsing.press(.enter) == [.write(list)])
    let exists = Notice(.warning, "heroes.csv exists: Enter replaces it, Esc leaves it")
    browsing.handle(.notWritten(list, exists, isThere: true))
    #expect(browsing.state.prompt?.line.text == "heroes.csv")
    #expect(browsing.text.contains("Enter replaces it"))
    list.replaces = true
    #expect(browsing.press(.enter) == [.write(list)])
    browsing.handle(.written(list, 300))
    #expect(browsing.state.prompt == nil)
    #expect(
      browsing.state.notice?.text == "Wrote 300 records to heroes.csv · only bundled sample data")
    var status = SourceStatus(count: 300, gap: "300 heroes are cached, possibly not all")
    browsing.handle(.status("heroes", status), .written(list, 300))
    #expect(
      browsing.state.notice?.text.hasSuffix("· 300 heroes are cached, possibly not all") == true)
    // Behind a longer path it has a second line.
    list.path = "/tmp/records/heroes.csv"
    browsing.handle(.written(list, 300))
    #expect(browsing.text.contains("not all"), "\(browsing.text)")
    list.path = "heroes.csv"
    (status.gap, status.isComplete) = (nil, true)
    browsing.handle(.status("heroes", status), .written(list, 300))
    #expect(browsing.state.notice?.text == "Wrote 300 records to heroes.csv · complete")
    status.fetchedAt = BrowsingState.now.addingTimeInterval(-780)
    browsing.handle(.status("heroes", status), .written(list, 300))
    #expect(
      browsing.state.notice?.text
        == "Wrote 300 records to heroes.csv · complete · fetched 13 min ago")
    status.fetchedAt = nil
    browsing.handle(.status("heroes", status))
    browsing.handle(.written(list, 299, missing: 1))
    #expect(
      browsing.state.notice?.text
        == "Wrote 299 records to heroes.csv · 1 record could not be read, or the list has changed")
    // What was confirmed is one file, once.
    browsing.press(.character("w"))
    list.replaces = false
    #expect(browsing.press(.enter) == [.write(list)])
    browsing.handle(.notWritten(list, exists, isThere: true))
    browsing.press(.home)
    browsing.type("x")
    list.path = "xheroes.csv"
    #expect(browsing.press(.enter) == [.write(list)])
    // A path that is refused is there to be mended.
    browsing.handle(.notWritten(list, Notice(.error, "no"), isThere: false))
    #expect(browsing.state.prompt?.line.text == "xheroes.csv")
    browsing.press(.escape, .character(" "), .character(" "), .character("w"))
    #expect(browsing.text.contains("Enter writes those marked"))
    browsing.press(.control("u"))
    browsing.type("a.md")
    (list.path, list.rows, list.origin) = ("a.md", BrowsingState.rows(0..<2), .marked)
    #expect(browsing.press(.enter) == [.write(list)])
    browsing.handle(.written(list, 2))
    #expect(browsing.state.notice?.text == "Wrote 2 records to a.md · all of them")
    var empty = BrowsingState()
    empty.open("heroes")
    empty.answer(total: 0)
    empty.press(.character("w"))
    #expect(empty.state.prompt == nil)
  }

  @Test func `the first text that is typed replaces the proposed name of a file`() {
    var browsing = opened()
    var line: String? { browsing.state.prompt?.line.text }
    browsing.press(.character("w"))
    browsing.type("a.md")
    #expect(line == "a.md")
    browsing.press(.escape, .character("w"))
    browsing.handle(.input(.paste("b.md")))
    #expect(line == "b.md")
    for (key, text) in [
      (Key.end, "heroes.csvx"), (.left, "heroes.csxv"), (.backspace, "heroes.csx"),
    ] {
      browsing.press(.escape, .character("w"), key, .character("x"))
      #expect(line == text)
    }
    browsing.press(.escape, .character(":"))
    browsing.type("SELECT 1")
    browsing.press(.enter)
    let window = BrowsedWindow(
      columns: BrowsingState.columns, rows: BrowsingState.rows(0..<2), total: 2)
    browsing.handle(.answered("SELECT 1", .success(window)))
    browsing.press(.character("w"))
    #expect(line == "query.csv")
  }

  @Test func `Up recalls no condition that this source refuses`() {
    var browsing = BrowsingState(refusal: { $0.condition.contains("colour") ? "unknown" : nil })
    browsing.open("heroes")
    browsing.answer(total: 5)
    var line: String? { browsing.state.prompt?.line.text }
    browsing.state.history = [.condition: ["id>3", "colour=red", "id>5", "colour=blue"]]
    browsing.press(.character("f"), .up)
    #expect(line == "id>5")
    browsing.press(.up)
    #expect(line == "id>3")
    browsing.press(.down, .down)
    #expect(line == "")
    browsing.state.history = [.condition: ["colour=red"]]
    browsing.press(.up)
    #expect(line == "")
  }

  @Test func `commands of the console are no statements`() {
    for line in ["SELECT 1;", "WITH a AS (SELECT 1) SELECT * FROM a;"] {
      #expect(LineInput.isStatement(line), "\(line)")
    }
    let long = "SELECT '\(String(repeating: "x", count: 2000))';"
    for line in [".tables", ".schema heroes", "\\d heroes", "quit", long] {
      #expect(!LineInput.isStatement(line), "\(line)")
    }
  }

  @Test func `a query begins empty, and Up recalls those before`() {
    var browsing = opened()
    var line: String? { browsing.state.prompt?.line.text }
    for statement in ["SELECT 1", "SELECT 2", "SELECT 1", "SELECT 3"] {
      browsing.press(.character(":"))
      #expect(line == "")
      browsing.type(statement)
      #expect(browsing.press(.enter) == [.query(statement), .remember(.query, statement)])
      let window = BrowsedWindow(columns: [], rows: [], total: 0)
      browsing.handle(.answered(statement, .success(window)))
    }
    browsing.press(.character(":"))
    var recalled: [String?] = []
    for key in [Key.up, .up, .up, .up, .down, .down, .down, .down] {
      browsing.press(key)
      recalled.append(line)
    }
    #expect(
      recalled == [
        "SELECT 3", "SELECT 1", "SELECT 2", "SELECT 2", "SELECT 1", "SELECT 3", "", "",
      ])
    // One that fails stays; before it is another one.
    browsing.type("SELECT")
    browsing.press(.enter)
    browsing.handle(.answered("SELECT", .failure(BrowseFailure("incomplete input"))))
    #expect(line == "SELECT")
    browsing.press(.up)
    #expect(line == "SELECT 3")
  }

  @Test func `keys are about the rows of a query, or say that they are not`() {
    var browsing = opened(isOffline: false)
    browsing.press(.character(":"))
    browsing.type("SELECT name, price")
    browsing.press(.enter)
    func answer(_ count: Int) -> BrowseEvent {
      let rows = (0..<count).map { index in
        var row = BrowsedRow(
          id: "\(index)", name: "a\tb", cells: ["a b", "\(index)"], card: [.init("name", "a\tb")])
        row.object = ["name": "a\tb", "price": .integer(index)]
        return row
      }
      let columns = [
        BrowsedColumn("name", "name"), BrowsedColumn("price", "price", isNumeric: true),
      ]
      return .answered(
        "SELECT name, price",
        .success(BrowsedWindow(columns: columns, rows: rows, total: rows.count)))
    }
    browsing.handle(answer(3))
    for key in "fcdunS" {
      #expect(browsing.press(.character(key)).isEmpty, "\(key)")
      #expect(browsing.state.notice?.text.hasPrefix("Not available for query results") == true)
      #expect(browsing.state.prompt == nil)
      #expect(browsing.state.overlay == nil)
    }
    let keys = browsing.screen().lines.last ?? ""
    #expect(!keys.contains("where") && !keys.contains("sync") && keys.contains("r run again"))
    browsing.press(.down)
    #expect(browsing.press(.character("y")) == [.copy(#"a\tb"# + "\t1")])
    #expect(browsing.state.notice?.text == "Sent row 2 as TSV to the terminal's clipboard")
    #expect(browsing.press(.character("Y")) == [.copy(#"{"name":"a\tb","price":1}"#)])
    #expect(browsing.state.notice?.text == "Sent row 2 as JSON to the terminal's clipboard")
    #expect(browsing.press(.character("r")) == [.query("SELECT name, price")])
    browsing.handle(answer(4))
    #expect(browsing.state.list.count == 4)
    #expect(browsing.state.list.selection == 1)
    browsing.press(.escape)
    #expect(browsing.press(.character("y")) == [.copy("0")])
    // What came of an earlier text, or comes later, says nothing of it.
    browsing.handle(.copied("1"))
    #expect(
      browsing.state.notice?.text == "Sent the ID of \"Hero 0\" to the terminal's clipboard")
    browsing.handle(.copied("0"))
    #expect(browsing.state.notice?.text == "Copied the ID of \"Hero 0\"")
    browsing.press(.down)
    browsing.handle(.copied("0"))
    #expect(browsing.state.notice == nil)
  }

  @Test func `the rows of a query are filtered and sorted on the screen`() {
    var browsing = opened(isOffline: false)
    let columns = [BrowsedColumn("name", "name"), BrowsedColumn("n", "n", isNumeric: true)]
    let names = ["Zoë", "Anna", "zoe 10", "Ben"]
    let rows = names.enumerated().map { index, name in
      BrowsedRow(
        id: "\(index)", name: name, cells: [name, "\([9, 100, 20, 9][index])"],
        card: [.init("name", name)])
    }
    var window = BrowsedWindow(columns: columns, rows: rows, total: rows.count)
    var shown: [String?] { (0..<browsing.state.list.count).map { browsing.state.list[$0]?.name } }
    func ask() {
      browsing.press(.character(":"))
      browsing.type("SELECT")
      browsing.press(.enter)
      browsing.handle(.answered("SELECT", .success(window)))
    }
    ask()
    browsing.press(.character("s"), .down, .down, .enter)
    #expect(shown == ["Zoë", "Ben", "zoe 10", "Anna"])
    #expect(browsing.text.contains("n▲"))
    browsing.press(.character("s"), .enter)
    #expect(shown == ["Anna", "zoe 10", "Zoë", "Ben"])
    browsing.press(.character("/"))
    browsing.type("ZOE")
    #expect(shown == ["zoe 10", "Zoë"])
    // No service is asked, and the same rows are shown when the query has run again.
    #expect(browsing.press(.enter).isEmpty)
    #expect(browsing.screen().lines[0].contains("SQL 1/2 /ZOE · Esc goes back"))
    #expect(browsing.press(.character("r")) == [.query("SELECT")])
    browsing.handle(.answered("SELECT", .success(window)))
    #expect(shown == ["zoe 10", "Zoë"])
    browsing.press(.escape)
    #expect(shown == ["Anna", "zoe 10", "Zoë", "Ben"])
    #expect(browsing.state.source.list.request.query == "")
    browsing.press(.escape)
    #expect(browsing.state.list.count == 300)
    // Those of an answer that was cut are not all.
    window.isCut = true
    ask()
    #expect(shown.first == "Zoë")
    #expect(browsing.screen().lines[0].contains("SQL 1/4+ "))
    browsing.press(.character("s"), .down, .enter)
    #expect(browsing.state.notice?.text.hasPrefix("only the first 4 rows were read") == true)
  }

  @Test func `the mouse selects, opens and scrolls`() {
    var browsing = opened()
    browsing.handle(.input(.click(column: 30, row: 4)))
    #expect(browsing.state.list.selection == 2)
    #expect(
      browsing.handle(.input(.click(column: 30, row: 4)))
        == [.record(source: "heroes", id: "2")])
    browsing.press(.escape)
    browsing.handle(.input(.wheel(column: 30, row: 4, isUp: false)))
    #expect(browsing.state.list.selection == 5)
    browsing.handle(.input(.click(column: 2, row: 1)))
    #expect(browsing.state.source.name == "countries")
    #expect(browsing.effects.compactMap(\.window?.request.source) == ["countries"])
  }

  @Test func `keys with Alt and Control edit a line by words, and do nothing to records`() {
    var browsing = opened()
    browsing.press(.character("/"))
    browsing.type("red  green blue")
    var line: String { browsing.state.prompt?.line.text ?? "" }
    browsing.press(.alt("b"), .alt("b"), .alt("d"))
    #expect(line == "red   blue")
    browsing.press(.home, .alt("f"), .control("k"))
    #expect(line == "red")
    browsing.press(.control("b"), .control("d"))
    #expect(line == "re")
    browsing.press(.control("j"))
    #expect(browsing.state.prompt == nil)
    #expect(browsing.press(.alt("d"), .alt("q")).isEmpty)
  }

  @Test func `a number goes to its row, also in an answer and from a record`() {
    var browsing = opened(total: 1000)
    browsing.press(.character(":"))
    browsing.type("700")
    browsing.press(.enter)
    browsing.answer(total: 1000)
    #expect(browsing.state.list.selected?.id == "699")
    #expect(browsing.text.contains("heroes 700/1,000"))
    browsing.press(.enter, .character(":"))
    browsing.type("1")
    #expect(browsing.press(.enter) == [.record(source: "heroes", id: "0")])
    #expect(browsing.state.isCardOpen && browsing.state.list.selection == 0)
    browsing.press(.escape, .character(":"))
    browsing.type("99999999")
    browsing.press(.enter)
    #expect(browsing.state.list.selection == 999)
    #expect(!browsing.state.canRecall)
  }

  @Test func `a click on a label sorts, and another one turns the order round`() {
    var browsing = opened()
    let label = Input.click(column: 28, row: 1)
    browsing.handle(.input(label))
    #expect(browsing.state.list.request.order == "name", "\(browsing.text)")
    browsing.handle(.input(label))
    #expect(browsing.state.list.request.order == "-name")
    browsing.handle(.input(.click(column: 22, row: 1)))
    #expect(browsing.state.list.request.order == "id")
    #expect(!browsing.state.isCardOpen && browsing.state.list.selection == 0)
  }

  @Test func `keys are text while a line is typed, and pasted text is one line`() {
    var browsing = opened()
    browsing.press(.character("/"))
    browsing.type("qd?")
    browsing.handle(.input(.paste("a\u{1B}[31mb\nc")))
    #expect(browsing.state.prompt?.line.text == "qd?a␛[31mb c")
    browsing.press(.control("w"), .control("u"))
    #expect(browsing.state.prompt?.line.text == "")
    browsing.press(.backspace)
    #expect(browsing.state.prompt == nil)
    // Pasted elsewhere it does nothing.
    #expect(browsing.handle(.input(.paste("q"))).isEmpty)
  }
}
