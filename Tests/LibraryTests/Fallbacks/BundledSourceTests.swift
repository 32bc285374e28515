import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite
struct BundledSourceTests {
  @Test(arguments: 1...25)
  func `returns every record once for every limit`(limit: Int) async throws {
    #expect(try await notebook(23).everyID(limit: limit) == Array(1...23))
  }

  @Test(arguments: [1, 2, 5, 100])
  func `returns every match once for every limit`(limit: Int) async throws {
    let ids = try await notebook(30).everyID(matching: try SearchQuery("NÖTE 3"), limit: limit)
    #expect(ids == [3, 30, 13, 23])
  }

  @Test func `has exact totals and is marked as bundled`() async throws {
    let page = try await notebook(30).page(PageRequest(limit: 4))
    #expect((page.total, page.records.count) == (30, 4))
    #expect(page.provenance == Provenance(.bundled))
    let matches = try await notebook(30).page(PageRequest(matching: try SearchQuery("3"), limit: 2))
    #expect((matches.total, matches.records.count) == (4, 2))
    let none = try await notebook(30).page(PageRequest(matching: try SearchQuery("nothing")))
    #expect(none == Page([], total: 0, provenance: Provenance(.bundled)))
  }

  @Test func `searches only searchable fields`() async throws {
    let source = BundledSource(
      "notes", items: [Note(7, "seven"), Note(8, "of 7")], fields: Note.fields)
    #expect(try await source.everyID(matching: try SearchQuery("7"), limit: 9) == [8])
  }

  @Test func `finds a record by its ID`() async throws {
    let found = try await notebook(5).item(4)
    #expect(found == LookupResult(Note(4), provenance: Provenance(.bundled)))
  }

  @Test(arguments: [0, -1, 6, Int.max])
  func `reports other IDs as not found`(id: Int) async {
    let error = await #expect(throws: SourceError.self) { try await notebook(5).item(id) }
    #expect(error?.code == .notFound)
    #expect(error?.message == "notes record \"\(id)\" not found")
  }

  @Test(arguments: [-1, Int.min, 1_000_000_001, Int.max])
  func `rejects a forged cursor`(offset: Int) async throws {
    let cursor = try CursorSeal("notes.bundled", for: nil).close(offset)
    #expect(await notebook(5).failure(of: PageRequest(after: cursor))?.code == .invalidCursor)
  }

  @Test(arguments: [5, 6, 1_000_000_000])
  func `ends after the last record`(offset: Int) async throws {
    let cursor = try CursorSeal("notes.bundled", for: nil).close(offset)
    let page = try await notebook(5).page(PageRequest(after: cursor))
    #expect((page.records.count, page.next) == (0, nil))
  }

  @Test func `rejects the cursors of other sources`() async throws {
    let matches = try await notebook(30).page(PageRequest(matching: try SearchQuery("3"), limit: 2))
    #expect(
      await notebook(30).failure(of: PageRequest(after: matches.next))?.code == .invalidCursor)
    let live = try CursorSeal("notes", for: nil).close(3)
    #expect(await notebook(30).failure(of: PageRequest(after: live))?.code == .invalidCursor)
  }

  @Test(arguments: 1...12)
  func `predicts cursors`(count: Int) async throws {
    let source = notebook(30)
    let second = PageRequest(after: try await source.page(PageRequest(limit: 4)).next, limit: 4)
    for (request, first) in [(PageRequest(limit: 4), 1), (second, 5)] {
      let ahead = try #require(source.cursor(skipping: count, from: request))
      let page = try await source.page(request.after(ahead))
      #expect(page.records.first?.id == first + count)
    }
  }

  @Test func `predicts nothing after an invalid cursor`() throws {
    let live = PageRequest(after: try CursorSeal("notes", for: nil).close(3))
    #expect(notebook(30).cursor(skipping: 1, from: live) == nil)
    let last = PageRequest(after: try CursorSeal("notes.bundled", for: nil).close(Int.max))
    #expect(notebook(30).cursor(skipping: 1, from: last) == nil)
  }

  @Test func `reads JSON`() async throws {
    let source = BundledSource(
      "notes", json: #"[{"id": 1, "title": "Ünö"}, {"id": 2, "title": "dos"}]"#,
      fields: Note.fields)
    #expect(try await source.everyID(matching: try SearchQuery("uno"), limit: 1) == [1])
    #expect(try await source.item(2).item.title == "dos")
  }

  @Test func `decodes a record alone that is looked up, however its ID is written`() async throws {
    let source = BundledSource<Note>(
      "notes",
      json: #"[{"id": 2, "title": "1"}, {"id": 1.0, "title": "uno"}, {"id": 3, "title": "tres"}]"#,
      fields: Note.fields)
    #expect(try await source.item(1).item.title == "uno")
    #expect(try await source.item(3).item.title == "tres")
    let broken = BundledSource<Note>(
      "notes", json: #"[{"id": 1}, {"id": 2, "title": "dos"}]"#, fields: Note.fields)
    #expect(try await broken.item(2).item.title == "dos")
    #expect(await broken.failure()?.code == .malformed)
  }

  @Test(
    arguments: zip(
      0...4,
      [
        "invalid JSON", "invalid JSON", "row 1: title is missing",
        "row 2: id is text instead of a whole number",
        "the value is an object instead of a list",
      ]))
  func `fails with the row and field if its JSON is invalid`(number: Int, reason: String)
    async throws
  {
    let source =
      switch number {
      case 0: BundledSource<Note>("notes", json: "", fields: Note.fields)
      case 1: BundledSource<Note>("notes", json: "[{", fields: Note.fields)
      case 2: BundledSource<Note>("notes", json: #"[{"id": 1}]"#, fields: Note.fields)
      case 3:
        BundledSource<Note>(
          "notes", json: #"[{"id": 1, "title": ""}, {"id": "x", "title": ""}]"#,
          fields: Note.fields)
      default: BundledSource<Note>("notes", json: "{}", fields: Note.fields)
      }
    for _ in 0..<2 {
      let failure = await source.failure()
      #expect(failure?.code == .malformed)
      #expect(failure?.message == "cannot read the bundled notes: \(reason)")
    }
    let error = await #expect(throws: SourceError.self) { try await source.item(2) }
    #expect(error?.code == .malformed)
  }

  @Test func `an unavailable source fails for every request`() async {
    let source = UnavailableSource<Note>(.because(.missingKey))
    #expect(await source.failure()?.code == .missingKey)
    let error = await #expect(throws: SourceError.self) { try await source.item(1) }
    #expect(error?.code == .missingKey)
    #expect(source.cursor(skipping: 1, from: PageRequest()) == nil)
  }

  @Test func `returns nothing to a cancelled caller`() async {
    let codes = await withTaskGroup(of: SourceError.Code?.self) { group in
      group.cancelAll()
      group.addTask { await notebook(5).failure()?.code }
      group.addTask {
        do throws(SourceError) {
          _ = try await notebook(5).item(4)
          return nil
        } catch { return error.code }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes == [.cancelled, .cancelled])
  }
}
