import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SearchingLocallyTests {
  /// Every third of 31 notes matches `red`.
  private let notes = (1...31).map { Note($0, $0 % 3 == 0 ? "a Réd one" : "a green one") }
  private let matches = (1...31).filter { $0 % 3 == 0 }

  /// A service that pages and does not search.
  private var base: ScriptedSource<Note> {
    ScriptedSource { [notes] request throws(SourceError) in
      #expect(request.query == nil)
      let start = request.cursor?.place ?? 0
      let records = Array(notes.dropFirst(start).prefix(request.limit))
      let end = start + records.count
      return Page(
        records, next: end < notes.count ? .place(end) : nil, total: notes.count,
        provenance: Provenance(.live))
    }
  }

  private func searching(
    _ base: some DataSource<Note>, upTo bound: Int = 1000, by size: Int = 10
  ) -> some DataSource<Note> {
    base.searchingLocally(upTo: bound, by: size, as: "notes", text: Note.text)
  }

  @Test(arguments: 1...12)
  func `neither loses nor repeats a match, for any limit, size and bound`(limit: Int) async throws {
    let query = try SearchQuery("RED one")
    for size in 1...11 {
      for bound in [1, size, 2 * size, 3 * size + 1, 1000] {
        let source = searching(base, upTo: bound, by: size)
        let ids = try await source.everyID(matching: query, limit: limit)
        #expect(ids == matches, "in pages of \(size), \(bound) at a time")
      }
    }
  }

  @Test func `scans no more than its bound and reports the count`() async throws {
    let base = base
    let source = searching(base, upTo: 25, by: 10)
    let first = try await source.page(PageRequest(matching: try SearchQuery("red")))
    #expect(first.records.map(\.id) == [3, 6, 9, 12, 15, 18])
    #expect(first.warnings == [Warning(.scanned, "searched only the first 20 records")])
    #expect(first.hidden == 14)
    #expect(first.total == nil)
    #expect(base.callCount == 2)
    let next = try #require(first.next)
    let second = try await source.page(
      PageRequest(matching: try SearchQuery("red"), after: next))
    #expect(second.records.map(\.id) == [21, 24, 27, 30])
    #expect(second.next == nil)
    #expect(second.warnings.isEmpty)
    #expect(second.total == nil)
    #expect(base.callCount == 4)
  }

  @Test func `reports the total count when it continues`() async throws {
    let source = searching(base, upTo: 10, by: 5)
    let query = try SearchQuery("nowhere")
    var cursor: PageCursor?
    for looked in [10, 20, 30] {
      let page = try await source.page(PageRequest(matching: query, after: cursor))
      #expect(page.warnings.map(\.message) == ["searched only the first \(looked) records"])
      #expect((page.records.count, page.hidden) == (0, 10))
      cursor = page.next
    }
    let last = try await source.page(PageRequest(matching: query, after: cursor))
    #expect((last.next, last.warnings.count, last.hidden) == (nil, 0, 1))
  }

  @Test func `requests only the pages that it needs`() async throws {
    let base = base
    _ = try await searching(base).page(PageRequest(matching: try SearchQuery("red"), limit: 2))
    #expect(base.callCount == 1)
  }

  @Test(
    arguments: [
      (11, 10, 10), (10, 10, nil), (10, 31, 10), (3, 31, 10), (3, 10, nil), (9, 10, nil),
    ] as [(Int, Int, Int?)])
  func `knows the total only after a complete scan`(
    limit: Int, size: Int, total: Int?
  ) async throws {
    let page = try await searching(base, by: size).page(
      PageRequest(matching: try SearchQuery("red"), limit: limit))
    #expect(page.total == total)
  }

  @Test func `passes a list on unchanged`() async throws {
    let source = searching(base)
    let page = try await source.page(PageRequest(limit: 7))
    #expect((page.records.count, page.total, page.next) == (7, 31, .place(7)))
    #expect(source.cursor(skipping: 1, from: PageRequest(matching: try SearchQuery("red"))) == nil)
    #expect(try await searching(notebook(5)).item(4).item.id == 4)
  }

  @Test(arguments: 1...7)
  func `ends if cursors form a cycle`(length: Int) async throws {
    let circle = ScriptedSource<Note> { request throws(SourceError) in
      let place = request.cursor?.place ?? 0
      return .notes([place], next: .place((place + 1) % length))
    }
    for bound in 1...8 {
      let ids = try await searching(circle, upTo: bound, by: 1)
        .everyID(matching: try SearchQuery("note"), limit: 5, atMost: 100)
      #expect(Set(ids) == Set(0..<length))
    }
  }

  @Test(arguments: [1, 8])
  func `does not report a stalled search as complete`(bound: Int) async throws {
    let circle = ScriptedSource<Note> { request throws(SourceError) in
      let place = request.cursor?.place ?? 0
      return .notes([place], next: .place((place + 1) % 3))
    }
    var request = PageRequest(matching: try SearchQuery("nowhere"), limit: 5)
    let source = searching(circle, upTo: bound, by: 1)
    var page = try await source.page(request)
    for _ in 0..<20 where page.next != nil {
      request = request.after(page.next)
      page = try await source.page(request)
    }
    #expect(page.next == nil)
    #expect(page.total == nil)
    #expect(page.warnings.map(\.code.description) == ["stopped"])
  }

  @Test func `does not report a record as missing if rows are unreadable`() async throws {
    let base = ScriptedSource<Note>(
      page: { _ throws(SourceError) in
        var page = Page<Note>.notes(1...3)
        page.unreadable = UnreadableRows(count: 1, firstReason: "row 4: id is missing")
        return page
      }, item: { _ throws(SourceError) in throw .because(.unsupported) })
    let error = await #expect(throws: SourceError.self) {
      try await searching(base, upTo: 20, by: 10).item(4)
    }
    #expect(error?.code == .malformed)
  }

  @Test(arguments: [
    Warning.fewer(3, than: 500, last: nil, in: nil), Warning(.cutOff, "the file is cut off"),
    .unproved,
  ])
  func `does not report a record as missing if the list lacks records`(warning: Warning)
    async throws
  {
    let base = ScriptedSource<Note>(
      page: { _ throws(SourceError) in
        var page = Page<Note>.notes(1...3)
        if warning.code == .sentFewer { page.total = 500 } else { page.warnings = [warning] }
        return page
      }, item: { _ throws(SourceError) in throw .because(.unsupported) })
    let source = searching(base, upTo: 20, by: 10)
    #expect(try await source.item(3).item.id == 3)
    let error = await #expect(throws: SourceError.self) { try await source.item(4) }
    #expect(error?.code == .unsupported)
    #expect(error?.message == "record \"4\" not found among the first 3: \(warning.message)")
    #expect((error?.cause as? SourceError)?.code == .noProgress)
  }

  @Test func `a record that is looked up has the warning of rounded values`() async throws {
    let rounded = Warning(.rounded, "whole numbers are rounded")
    let base = ScriptedSource<Note>(
      page: { _ throws(SourceError) in
        var page = Page<Note>.notes(1...3)
        page.warnings = [rounded, Warning(.incomplete, "a record is missing")]
        return page
      }, item: { _ throws(SourceError) in throw .because(.unsupported) })
    let found = try await searching(base, upTo: 20, by: 10).item(2)
    #expect(found.item.id == 2)
    #expect(found.warnings == [rounded])
  }

  @Test func `does not report a record as missing before the scan is complete`() async throws {
    let endless = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        let place = request.cursor?.place ?? 0
        return .notes([place], next: place < 9 ? .place(place + 1) : nil)
      }, item: { _ throws(SourceError) in throw .because(.unsupported) })
    #expect(try await searching(endless, upTo: 5, by: 1).item(4).item.id == 4)
    for (bound, code) in [(5, SourceError.Code.unsupported), (20, .notFound)] {
      let source = searching(endless, upTo: bound, by: 1)
      let error = await #expect(throws: SourceError.self) { try await source.item(99) }
      #expect(error?.code == code)
    }
  }

  @Test func `reports each problem of scanned pages once`() async throws {
    let torn = ScriptedSource<Note> { request throws(SourceError) in
      let place = request.cursor?.place ?? 0
      var page = Page.notes([2 * place, 2 * place + 1], next: place < 2 ? .place(place + 1) : nil)
      page.unreadable = UnreadableRows(count: 1, firstReason: "torn \(place)")
      page.warnings = [Warning(Warning.Code("torn"), "page \(place)")]
      page.hidden = 1
      return page
    }
    let source = searching(torn, by: 2)
    let query = try SearchQuery("note")
    let first = try await source.page(PageRequest(matching: query, limit: 3))
    #expect(first.unreadable == UnreadableRows(count: 2, firstReason: "torn 0"))
    #expect(first.warnings.map(\.message) == ["page 0", "page 1"])
    #expect(first.hidden == 2)
    let second = try await source.page(
      PageRequest(matching: query, after: first.next, limit: 3))
    #expect(second.unreadable == UnreadableRows(count: 1, firstReason: "torn 2"))
    #expect(second.warnings.map(\.message) == ["page 2"])
  }

  @Test func `fails when the source fails`() async throws {
    let failing = ScriptedSource<Note>(pages: [
      .success(.notes(1...2, next: .place(1))), .failure(.because(.serverError)),
    ])
    let failure = await searching(failing).failure(
      of: PageRequest(matching: try SearchQuery("note")))
    #expect(failure?.code == .serverError)
  }

  @Test func `ends when it is cancelled`() async throws {
    let gate = Gate()
    let held = ScriptedSource(over: base, held: gate)
    let request = PageRequest(matching: try SearchQuery("red"))
    let source = searching(held)
    let call = Task { await source.failure(of: request) }
    await gate.holds(1)
    call.cancel()
    #expect(await call.value?.code == .cancelled)
    #expect(held.callCount == 1)
  }

  /// A forged cursor: its seal uses no secret.
  private struct Forged: Codable {
    var c: String?
    var s = 0
    var n = 0
    var p = 0
  }

  @Test(
    arguments: [
      (nil, -1, 0, 0), (nil, 0, -1, 0), (nil, 0, 0, -1), (nil, .max, 0, 0), (nil, 0, .max, 0),
      ("", 0, 0, 0), ("no token!", 0, 0, 0),
    ] as [(String?, Int, Int, Int)])
  func `rejects a forged cursor`(cursor: String?, skip: Int, passed: Int, pages: Int) async throws {
    let query = try SearchQuery("red")
    let forged = try CursorSeal("notes.scan", for: query)
      .close(Forged(c: cursor, s: skip, n: passed, p: pages))
    let failure = await searching(base).failure(of: PageRequest(matching: query, after: forged))
    #expect(failure?.code == .invalidCursor)
  }

  @Test func `accepts the largest numbers in a cursor`() async throws {
    let query = try SearchQuery("red")
    let most = Int(UInt32.max)
    for skip in [0, most] {
      let forged = try CursorSeal("notes.scan", for: query)
        .close(Forged(c: "place-0", s: skip, n: most, p: most))
      let page = try await searching(base, upTo: 10, by: 10)
        .page(PageRequest(matching: query, after: forged))
      #expect(page.records.count == (skip == 0 ? 3 : 0))
    }
  }

  @Test func `rejects the cursor of another query`() async throws {
    let source = searching(base)
    let page = try await source.page(PageRequest(matching: try SearchQuery("red"), limit: 2))
    let other = PageRequest(matching: try SearchQuery("green"), after: page.next)
    #expect(await source.failure(of: other)?.code == .invalidCursor)
  }
}
