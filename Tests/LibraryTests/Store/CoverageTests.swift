import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

/// Whether the cache counts as complete after a list that has other records.
@Suite(.timeLimit(.minutes(10)))
struct CoverageTests {
  private let store = InMemoryStore()
  private let today = Today()

  /// A service with some of these notes, which may report another number of them, or none.
  private func service(_ ids: some Sequence<Int>, total: Int?) -> ScriptedSource<Note> {
    let notes = BundledSource("notes", items: ids.map { Note($0) }, fields: Note.fields)
    return ScriptedSource(page: { request throws(SourceError) in
      var page = try await notes.page(request)
      page.total = total
      return page
    })
  }

  private func sync(_ service: ScriptedSource<Note>) async throws -> SyncResult {
    var policy = NotesPlugin(over: service, .liveFirst(freshFor: .seconds(60))).policy
    policy.syncPageSize = .fixed(30)
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: TrappingTransport(), store: store,
      clock: ManualClock(), now: today.now)
    return try await NotesPlugin(service: service, policy: policy)
      .sync(into: store, in: environment).run(upTo: nil, jobs: 1, waits: false) { _ in }
  }

  /// Fetches pages of a list, and returns what is known then.
  private func list(
    _ service: ScriptedSource<Note>, by limit: Int, pages: Int = .max
  ) async throws -> Coverage {
    today.turn(by: 60)
    let source = service.cached(
      in: RecordStore("notes", in: store, text: Note.text), freshFor: .seconds(60), now: today.now
    ).cachePolicy(.reload)
    var (request, count): (PageRequest?, Int) = (PageRequest(limit: limit), 0)
    while let asked = request, count < pages {
      request = try await source.page(asked).next.map { asked.after($0) }
      count += 1
    }
    return try await store.coverage(of: "notes")
  }

  @Test(arguments: [0, 3])
  func `a list without most records does not end the doubt of the last sync`(count: Int)
    async throws
  {
    #expect(try await sync(service(1...100, total: nil)).isComplete)
    let shrunken = service(Array(1...100).prefix(count), total: nil)
    #expect(try await sync(shrunken).isComplete == false)
    let reason = try #require(try await store.shortfall(of: "notes"))
    let doubtful = try await list(shrunken, by: 100)
    #expect(doubtful.shortfall == reason && !doubtful.isComplete)
    #expect(
      doubtful.gap?.description
        == "\(reason); the service sent \(count) of 100 cached records")
    // One with all of them does.
    let whole = try await list(service(1...100, total: nil), by: 100)
    #expect(whole.gap == nil && whole.isComplete)
  }

  @Test func `cached records that a whole list has not are a gap until a complete sync`()
    async throws
  {
    #expect(try await sync(service(1...100, total: nil)).isComplete)
    let fewer = service(3...100, total: nil)
    let coverage = try await list(fewer, by: 40)
    #expect(coverage.gap?.description == "the service sent 98 of 100 cached records")
    #expect(coverage.gap?.isExcess == true && coverage.gap?.isFinal == false)
    #expect(coverage.shortfall == nil && !coverage.isComplete)
    #expect(try await sync(fewer).isComplete)
    let synced = try await store.coverage(of: "notes")
    #expect((synced.cached, synced.gap, synced.isComplete) == (98, nil, true))
    // Records that are marked as removed upstream are not among those that a list must have.
    #expect(try await list(fewer, by: 40).isComplete)
  }

  @Test func `a total below the number of cached records is a gap, however few pages are read`()
    async throws
  {
    #expect(try await sync(service(1...101, total: 101)).isComplete)
    let coverage = try await list(service(1...100, total: 100), by: 10, pages: 1)
    #expect(coverage.gap?.description == "the service reports 100")
    #expect(coverage.gap?.isExcess == true && !coverage.isComplete)
    #expect(coverage.totalOfCached == nil)
    #expect(try await sync(service(1...100, total: 100)).isComplete)
    #expect(try await list(service(1...100, total: 100), by: 10, pages: 1).isComplete)
  }

  @Test func `a total that is known to be too low contradicts nothing`() async throws {
    #expect(try await sync(service(1...101, total: 50)).passed == 101)
    let coverage = try await list(service(1...101, total: 50), by: 10, pages: 1)
    #expect(coverage.sent == 101)
    #expect(coverage.gap == nil && coverage.isComplete)
  }

  @Test func `deleted records are among those that a list has`() async throws {
    #expect(try await sync(service(1...30, total: nil)).isComplete)
    _ = try await RecordStore("notes", in: store, text: Note.text).delete([1, 2])
    let coverage = try await list(service(1...30, total: nil), by: 30)
    #expect(coverage.gap == nil && coverage.isComplete)
  }
}
