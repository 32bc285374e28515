import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)))
struct IntakeTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private func upstreamLoader(
    _ base: any DataSource<Note>, by size: Int = 10, _ cachePolicy: CachePolicy = .normal
  ) throws -> UpstreamLoader<Note> {
    let plugin = NotesPlugin(over: base, .localFirst, upstream: size)
    let environment = PluginEnvironment(
      settings: Settings(), transport: TrappingTransport(), store: store, clock: ManualClock(),
      now: { .day() })
    return try #require(try plugin.upstreamLoader(in: environment, cachePolicy: cachePolicy))
  }

  @Test func `fetches whole pages until it has enough new records`() async throws {
    let service = Service(100)
    var progress: [Int] = []
    let result = try await upstreamLoader(service).take(25) { progress.append($0) }
    #expect((result.added, result.pages) == (30, 3))
    #expect(progress == [10, 20, 30])
    #expect(result.end == nil && result.failure == nil)
    #expect(result.provenance?.endpoint == "https://notes.test/api")
    #expect(try await store.status(of: "notes").records == 30)
    _ = try await upstreamLoader(service).take(1) { _ in }
    #expect(Set(service.requests).count == 4)
  }

  @Test func `ends with the service and sends no more requests`() async throws {
    let service = Service(25)
    let result = try await upstreamLoader(service).take(100) { _ in }
    #expect((result.added, result.end) == (25, .exhausted))
    let again = try await upstreamLoader(service).take(100) { _ in }
    #expect((again.added, again.pages, again.end) == (0, 0, .exhausted))
    #expect(service.callCount == 3)
  }

  @Test(arguments: [SourceError.Code.timedOut, .cancelled, .rateLimited])
  func `keeps fetched records when the service fails`(code: SourceError.Code) async throws {
    let base = ScriptedSource<Note>(pages: [
      .success(.notes(1...10, next: .place(1))), .failure(.because(code)),
    ])
    let result = try await upstreamLoader(base).take(100) { _ in }
    #expect((result.added, result.failure?.code, result.end) == (10, code, nil))
    #expect(try await store.found(of: "notes").count == 10)
  }

  @Test func `does not advance if no row can be read`() async throws {
    var unread = Page<Note>.notes([], next: .place(2))
    unread.unreadable = UnreadableRows(count: 10, firstReason: "row 1: id is missing")
    let base = ScriptedSource<Note>(pages: [
      .success(.notes(1...10, next: .place(1))), .success(unread),
      .success(.notes(11...20, next: .place(2))),
    ])
    let result = try await upstreamLoader(base).take(100) { _ in }
    #expect((result.added, result.failure?.code) == (10, .malformed))
    #expect(result.failure?.message == "none of 10 rows could be read (row 1: id is missing)")
    _ = try await upstreamLoader(base).take(10) { _ in }
    #expect(base.requests[1] == base.requests[2])
    #expect(try await store.found(of: "notes").count == 20)
  }

  @Test func `skips a page whose only row cannot be read`() async throws {
    var unread = Page<Note>.notes([], next: .place(1))
    unread.unreadable = UnreadableRows(count: 1, firstReason: "row 1: id is missing")
    let base = ScriptedSource<Note>(pages: [.success(unread), .success(.notes([2]))])
    let result = try await upstreamLoader(base, by: 1).take(1) { _ in }
    #expect((result.added, result.unreadable.count, result.failure == nil) == (1, 1, true))
  }

  @Test func `gives up after ten pages in a row without new records`() async throws {
    let base = ScriptedSource<Note> { _ throws(SourceError) in .notes(1...10, next: .place(1)) }
    let result = try await upstreamLoader(base).take(100) { _ in }
    #expect((result.added, result.pages, result.end) == (10, 11, .nothingNew(pages: 10)))
  }

  @Test func `fails if the page cannot be cached, and fetches it again`() async throws {
    let service = Service(100)
    _ = try await upstreamLoader(service).take(10) { _ in }
    let database = try directory.database()
    try database.execute(
      """
      CREATE TRIGGER refuse BEFORE INSERT ON records
      BEGIN SELECT raise(ABORT, 'refused by a test'); END
      """)
    let result = try await upstreamLoader(service).take(10) { _ in }
    #expect((result.added, result.failure?.code) == (0, .storage))
    try database.execute("DROP TRIGGER refuse")
    #expect(try await upstreamLoader(service).take(10) { _ in }.added == 10)
    #expect(service.requests[1] == service.requests[2])
    #expect(try await store.found(of: "notes").count == 20)
  }

  @Test func `sends nothing in offline mode, and is nil without a store`() async throws {
    let service = Service(100)
    let result = try await upstreamLoader(service, .offline).take(10) { _ in }
    #expect((result.failure?.code, service.callCount) == (.offline, 0))
    let plugin = NotesPlugin(over: service, .localFirst)
    let environment = PluginEnvironment(settings: Settings(), transport: TrappingTransport())
    #expect(try plugin.upstreamLoader(in: environment) == nil)
  }
}
