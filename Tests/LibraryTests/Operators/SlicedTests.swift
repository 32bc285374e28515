import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SlicedTests {
  private let clock = ManualClock()

  private func sliced(_ base: some DataSource<Note>, by size: Int = 10) -> some DataSource<Note> {
    base.sliced(upstream: size, as: "notes", clock: clock)
  }

  @Test(arguments: 1...25)
  func `returns the same records for every limit`(limit: Int) async throws {
    for size in 1...24 {
      let ids = try await sliced(notebook(23), by: size).everyID(limit: limit)
      #expect(ids == Array(1...23), "in pages of \(size)")
    }
  }

  @Test(arguments: 1...7)
  func `returns the same matches for every limit`(limit: Int) async throws {
    let query = try SearchQuery("note 1")
    let ids = try await sliced(notebook(30), by: 4).everyID(matching: query, limit: limit)
    #expect(ids == [1] + Array(10...19) + [21])
  }

  @Test(arguments: 1...9)
  func `accepts short and empty upstream pages`(limit: Int) async throws {
    let pages = [[1, 2, 3], [], [4], [5, 6, 7, 8], []]
    let base = ScriptedSource<Note> { request throws(SourceError) in
      let place = request.cursor?.place ?? 0
      return .notes(pages[place], next: place + 1 < pages.count ? .place(place + 1) : nil)
    }
    #expect(try await sliced(base).everyID(limit: limit) == Array(1...8))
  }

  @Test func `requests only upstream pages of its own size, each once`() async throws {
    let base = ScriptedSource(over: notebook(23))
    #expect(try await sliced(base).everyID(limit: 3) == Array(1...23))
    #expect(base.requests.map(\.limit) == [10, 10, 10])
    #expect(base.requests.first?.cursor == nil)
  }

  @Test func `requests a page again when its copy is too old`() async throws {
    let base = ScriptedSource(over: notebook(10))
    let source = sliced(base)
    _ = try await source.page(PageRequest(limit: 3))
    clock.advance(by: .seconds(60) - .nanoseconds(1))
    let page = try await source.page(PageRequest(limit: 3))
    #expect(base.callCount == 1)
    clock.advance(by: .nanoseconds(1))
    let next = try await source.page(PageRequest(after: page.next, limit: 3))
    #expect(next.records.map(\.id) == [4, 5, 6])
    #expect(base.callCount == 2)
  }

  @Test func `returns no cached page to a cancelled caller`() async throws {
    let source = sliced(notebook(10))
    _ = try await source.page(PageRequest(limit: 3))
    let code = await withTaskGroup(of: SourceError.Code?.self) { group in
      group.cancelAll()
      group.addTask { await source.failure(of: PageRequest(limit: 3))?.code }
      return await group.next() ?? nil
    }
    #expect(code == .cancelled)
  }

  @Test func `does not cache failures`() async throws {
    let base = ScriptedSource<Note>(pages: [
      .failure(.because(.serverError)), .success(.notes(1...3)),
    ])
    let source = sliced(base)
    #expect(await source.failure()?.code == .serverError)
    #expect(await source.failure() == nil)
  }

  @Test func `reports each problem of an upstream page once`() async throws {
    let base = ScriptedSource<Note> { _ throws(SourceError) in
      var page = Page.notes(1...5, hidden: 2)
      page.unreadable = UnreadableRows(count: 1, firstReason: "torn")
      page.warnings = [Warning(Warning.Code("torn"), "a row is torn")]
      page.total = 5
      return page
    }
    let source = sliced(base)
    let first = try await source.page(PageRequest(limit: 3))
    let second = try await source.page(PageRequest(after: first.next, limit: 3))
    #expect((first.unreadable.count, first.hidden, first.warnings.count) == (1, 2, 1))
    #expect((second.unreadable.count, second.hidden, second.warnings.count) == (0, 0, 0))
    #expect((first.total, second.total) == (5, 5))
    #expect(second.records.map(\.id) == [4, 5])
    #expect(second.next == nil)
  }

  @Test(arguments: 1...25)
  func `predicts cursors`(count: Int) async throws {
    let source = sliced(notebook(50), by: 7)
    var request = PageRequest(limit: 5)
    for _ in 0..<3 {
      let ahead = try #require(source.cursor(skipping: count, from: request))
      let page = try await source.page(request.after(ahead))
      let before = try await source.page(request)
      #expect(page.records.first?.id == (before.records.first?.id ?? 0) + count)
      request = request.after(before.next)
    }
  }

  @Test func `predicts the cursor that follows`() async throws {
    let source = sliced(notebook(50), by: 10)
    let request = PageRequest(limit: 5)
    let first = try await source.page(request)
    #expect(source.cursor(skipping: 5, from: request) == first.next)
    let second = try await source.page(request.after(first.next))
    #expect(source.cursor(skipping: 10, from: request) == second.next)
    #expect(source.cursor(skipping: .max, from: request.after(first.next)) == nil)
  }

  /// A forged cursor: its seal uses no secret.
  private struct Forged: Codable {
    var c: String?
    var s: Int
    /// The page size; the requested one is below.
    var n = 10
  }

  @Test(
    arguments: [
      (nil, -1), (nil, .min), (nil, .max), (nil, 1 << 32), ("", 0), ("no token!", 0), ("x", 0),
    ] as [(String?, Int)])
  func `rejects a forged cursor`(cursor: String?, skip: Int) async throws {
    let seal = CursorSeal("notes.slice", for: nil)
    let forged = try seal.close(Forged(c: cursor, s: skip))
    let request = PageRequest(after: forged)
    #expect(await sliced(notebook(50)).failure(of: request)?.code == .invalidCursor)
    #expect(sliced(notebook(50)).cursor(skipping: 10, from: request) == nil)
  }

  @Test func `ends at a cursor past the end of its page`() async throws {
    let forged = try CursorSeal("notes.slice", for: nil).close(Forged(c: nil, s: 4_000_000_000))
    let page = try await sliced(notebook(5)).page(PageRequest(after: forged))
    #expect(page.records.isEmpty)
    #expect(page.next == nil)
  }

  @Test func `rejects a cursor for another page size`() async throws {
    let next = try #require(await sliced(notebook(50), by: 9).page(PageRequest(limit: 4)).next)
    let request = PageRequest(after: next)
    #expect(await sliced(notebook(50)).failure(of: request)?.code == .invalidCursor)
    #expect(sliced(notebook(50)).cursor(skipping: 10, from: request) == nil)
  }

  @Test func `rejects the cursor of another query`() async throws {
    let source = sliced(notebook(50))
    let page = try await source.page(PageRequest(matching: try SearchQuery("note"), limit: 3))
    #expect(await source.failure(of: PageRequest(after: page.next))?.code == .invalidCursor)
  }

  @Test func `passes records through`() async throws {
    #expect(try await sliced(notebook(5)).item(4).item.id == 4)
  }
}
