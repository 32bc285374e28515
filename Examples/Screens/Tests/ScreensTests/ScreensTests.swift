import AggregatorFakeServices
import AggregatorKit
import AggregatorObservation
import AggregatorTestSupport
import CountriesSource
import Foundation
import Screens
import Testing

/// The screens with bundled data: no service answers.
@MainActor @Suite(.timeLimit(.minutes(10)))
struct ScreensTests {
  private struct NoNetwork: Transport {
    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      throw SourceError(.unreachable, "no network")
    }
  }

  private let clock = ManualClock()
  private let sources: AppSources

  init() throws {
    sources = try AppSources(
      in: PluginEnvironment(
        settings: SourceSettings(), transport: NoNetwork(), store: InMemoryStore()))
  }

  private func search<Item>(_ text: String, in session: SearchSession<Item>) async {
    session.text = text
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(300))
    while session.isSearching { await Task.yield() }
  }

  @Test func `lists and searches heroes, and shows one`() async throws {
    let session = SearchSession(sources.heroes, showsCachedFirst: true, clock: clock)
    await session.list.load()
    #expect(session.list.records.count == 20 && session.list.total == 107)
    let badge = try #require(session.list.badge)
    #expect(badge.hasPrefix("Sample data. "))
    #expect(session.list.provenance?.reason?.message == "COMIC_VINE_API_KEY is not set")
    await search("spider", in: session)
    let hero = try #require(session.list.records.first)
    #expect(hero.name == "Spider-Man")
    let detail = RecordDetail(hero, of: sources.heroes)
    await detail.load()
    #expect(detail.record.realName == "Peter Parker" && detail.error == nil)
    #expect(detail.provenance?.origin == .bundled)
  }

  @Test func `a switch works offline, and asks the service again afterwards`() async throws {
    let services = try FakeServices()
    let sources = try AppSources(
      in: PluginEnvironment(
        settings: SourceSettings(services.settings), transport: services.transport,
        store: InMemoryStore()))
    let screen = CountriesScreen(sources.countries)
    let switches = Switches(of: screen)
    await switches.workOffline(true)
    await screen.session.list.load()
    #expect(screen.session.list.provenance?.origin == .bundled)
    await switches.workOffline(false)
    #expect(screen.session.list.provenance?.origin == .live)
  }

  @Test func `lists the heroes of a service, and loads anew with another key`() async throws {
    let service = try FakeComicVine()
    var environment = PluginEnvironment(
      settings: SourceSettings(), transport: service.transport, store: InMemoryStore())
    let sources = try AppSources(in: environment)
    let list = PagedList(sources.heroes)
    await list.load()
    #expect(list.provenance?.origin == .bundled)
    environment.settings = SourceSettings(service.settings)
    try sources.changeKey(in: environment)
    while list.provenance?.origin == .bundled { await Task.yield() }
    #expect(list.provenance?.origin == .live && list.badge == nil)
    #expect(list.records(after: list.records[0]).count == 19)
    await sources.refresh(within: .seconds(60))
    #expect(service.requests.count == 2)
  }

  @Test func `all screens have their services, and heroes their pictures`() async throws {
    let services = try FakeServices(servesPictures: true)
    let sources = try AppSources(
      in: PluginEnvironment(
        settings: SourceSettings(services.settings), transport: services.transport,
        store: InMemoryStore()))
    let heroes = PagedList(sources.heroes)
    let users = UsersScreen(sources).list
    await heroes.load()
    await users.load()
    #expect(heroes.provenance?.origin == .live && users.provenance?.origin == .live)
    let picture = try await sources.heroImages.image(of: heroes.records[0], .small)
    #expect(picture.item.bytes == FakePictures.picture)
  }

  @Test func `an age grows by the clock of the test`() async {
    let start = Date(timeIntervalSince1970: 0)
    let page = Page<Country>([], provenance: Provenance(.cached, fetchedAt: start))
    let list = PagedList(
      ScriptedSource(pages: [.success(page)]), clock: clock,
      now: { [clock] in clock.date(startingAt: start) })
    await list.load()
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(60))
    while list.age != .seconds(60) { await Task.yield() }
  }

  @Test func `searches countries by capital, and deals one`() async throws {
    let screen = CountriesScreen(sources.countries, clock: clock)
    await search("paris", in: screen.session)
    #expect(screen.session.list.records.map(\.code.description) == ["FR"])
    await screen.deal()
    #expect(screen.dealt != nil && screen.error == nil)
  }

  @Test func `reports that it cannot deal`() async {
    let screen = CountriesScreen(
      ScriptedSource<Country>(pages: [.failure(SourceError(.timedOut, "too slow"))]))
    await screen.deal()
    #expect(screen.dealt == nil && screen.error?.code == .timedOut)
  }

  @Test func `searches products`() async {
    let session = SearchSession(sources.products, clock: clock)
    await search("lamp", in: session)
    #expect(!session.list.records.isEmpty)
    #expect(session.list.records.allSatisfy { "\($0)".lowercased().contains("lamp") })
  }

  @Test func `loads more users, deletes one and brings it back`() async throws {
    let screen = UsersScreen(sources)
    await screen.list.load()
    await screen.list.loadMore()
    let before = screen.list.records
    #expect(before.count == 40)
    let user = before[3]
    await screen.delete(user)
    #expect(screen.list.records.count == 39 && screen.list.lastDeleted == user)
    await screen.list.refresh()
    #expect(!screen.list.records.contains(user))
    await screen.undo()
    #expect(screen.list.records[3] == user && screen.list.lastDeleted == nil && screen.error == nil)
  }

  @Test func `an app says in which languages it is`() {
    let error = SourceError(.timedOut, "words")
    let switches = Switches(of: CountriesScreen(sources.countries))
    switches.language = "de"
    defer { switches.language = "en" }
    #expect(switches.language == "de")
    #expect(error.localizedDescription == ErrorTranslation.text(of: .timedOut, in: ["de"]).title)
    #expect(error.localizedDescription != ErrorTranslation.text(of: .timedOut, in: ["en"]).title)
  }
}
