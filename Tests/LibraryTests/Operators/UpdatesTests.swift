import AggregatorKit
import AggregatorSourceTesting
import Testing

struct UpdatesTests {
  private let directory: StoreDirectory
  private let today = Today()
  private let service = Service(30)

  init() throws { directory = try StoreDirectory() }

  private func source() throws(SourceError) -> any DataSource<Note> {
    try NotesPlugin(over: service, .liveFirst(freshFor: .seconds(60))).source(
      in: PluginEnvironment(
        settings: SourceSettings([:]), transport: TrappingTransport(), store: directory.store(),
        clock: ManualClock(), now: today.now))
  }

  private func pages(
    of source: any DataSource<Note>, _ request: PageRequest = PageRequest(limit: 3)
  ) async throws -> [Page<Note>] {
    var pages: [Page<Note>] = []
    for try await page in source.updates(for: request) { pages.append(page) }
    return pages
  }

  @Test func `gives bundled data first if nothing is cached`() async throws {
    let pages = try await pages(of: source())
    #expect(pages.map(\.provenance.origin) == [.bundled, .live])
    #expect(pages.last?.records == [Note(1), Note(2), Note(3)])
  }

  @Test func `gives the cached page once while it is fresh, and then also the service's`()
    async throws
  {
    let source = try source()
    _ = try await source.page(PageRequest(limit: 3))
    #expect(try await pages(of: source).map(\.provenance.origin) == [.cached])
    #expect(service.requests.count == 1)
    today.turn(by: 61)
    #expect(try await pages(of: source).map(\.provenance.origin) == [.cached, .live])
    #expect(service.requests.count == 2)
  }

  @Test func `says that a chain is offline that was asked for the service's data`() async throws {
    let pages = try await pages(of: source().cachePolicy(.offline))
    #expect(pages.map(\.provenance.origin) == [.bundled, .bundled])
    #expect(pages.map(\.provenance.reason?.code) == [nil, .offline])
  }

  @Test func `gives the cached page while the service has not answered`() async throws {
    let base = try source()
    _ = try await base.page(PageRequest(limit: 3))
    today.turn(by: 61)
    let gate = Gate()
    let slow = ScriptedSource<Note>(page: { request throws(SourceError) in
      if request.cachePolicy.mayAskService { try await gate.pass() }
      return try await base.page(request)
    })
    var updates = slow.updates(for: PageRequest(limit: 3)).makeAsyncIterator()
    #expect(try await updates.next()?.provenance.origin == .cached)
    gate.open()
    #expect(try await updates.next()?.provenance.origin == .live)
    #expect(try await updates.next() == nil)
  }

  @Test func `says after the cached page that the service failed`() async throws {
    let source = try source()
    _ = try await source.page(PageRequest(limit: 3))
    today.turn(by: 61)
    service.fail(with: .unreachable)
    let pages = try await pages(of: source)
    #expect(pages.map(\.provenance.reason?.code) == [nil, .unreachable])
    #expect(pages.map(\.records.count) == [3, 3])
    var (counts, code): ([Int], SourceError.Code?) = ([], nil)
    do throws(SourceError) {
      for try await page in source.updates(for: PageRequest(limit: 3, cachePolicy: .liveOnly)) {
        counts.append(page.records.count)
      }
    } catch {
      code = error.code
    }
    #expect((counts, code) == ([3], .unreachable))
  }

  @Test func `gives a record that is cached, and then the service's`() async throws {
    let source = try source()
    _ = try await source.item(4)
    today.turn(by: 61)
    var origins: [Provenance.Origin] = []
    for try await found in source.updates(for: 4) {
      #expect(found.item == Note(4))
      origins.append(found.provenance.origin)
    }
    #expect(origins == [.cached, .live])
    var code: SourceError.Code?
    do throws(SourceError) {
      for try await _ in source.updates(for: 4711) {}
    } catch {
      code = error.code
    }
    #expect(code == .notFound)
  }
}
