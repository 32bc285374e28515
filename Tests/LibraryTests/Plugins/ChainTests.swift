import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ChainTests {
  private let clock = ManualClock()
  private let journal = Journal()

  private func environment(_ values: [String: String] = [:]) -> PluginEnvironment {
    PluginEnvironment(
      settings: SourceSettings(values), transport: TrappingTransport(), clock: clock, random: { 0 },
      observer: journal.observer)
  }

  @Test func `answers from the service`() async throws {
    let plugin = NotesPlugin(service: ScriptedSource(over: notebook(5)))
    let source = try plugin.source(in: environment())
    #expect(try await source.everyID(limit: 2) == Array(1...5))
    #expect(try await source.item(4).item.id == 4)
    #expect(journal.events.first == "asked list")
  }

  @Test(arguments: [CachePolicy.normal, .reload])
  func `answers with bundled data and the reason when the service fails`(
    cachePolicy: CachePolicy
  ) async throws {
    let service = ScriptedSource<Note>(pages: [.failure(.because(.unreachable))])
    let source = try NotesPlugin(service: service).source(in: environment()).cachePolicy(
      cachePolicy)
    let page = try await source.page(PageRequest())
    #expect(page.records == [Note(900, "bundled")])
    #expect(page.provenance.origin == .bundled)
    #expect(page.provenance.reason?.code == .unreachable)
    #expect(
      journal.events == ["asked list", "fell back unreachable", "answered list bundled 1"])
  }

  @Test func `sends nothing in offline mode`() async throws {
    let service = ScriptedSource(over: notebook(5))
    let source = try NotesPlugin(service: service).source(in: environment()).cachePolicy(.offline)
    let page = try await source.page(PageRequest())
    #expect(page.records == [Note(900, "bundled")])
    #expect(page.provenance.reason?.code == .offline)
    #expect(try await source.item(900).provenance.reason?.code == .offline)
    #expect(service.callCount == 0)
  }

  @Test func `answers with bundled data and the reason if the key is missing`() async throws {
    let plugin = NotesPlugin(
      service: ScriptedSource(over: notebook(5)),
      setUp: { _ throws(SourceError) in throw .because(.missingKey) })
    let page = try await plugin.source(in: environment()).page(PageRequest())
    #expect(page.records == [Note(900, "bundled")])
    #expect(page.provenance.reason?.code == .missingKey)
    let strict = try plugin.source(in: environment()).cachePolicy(.noFallback)
    #expect(await strict.failure()?.code == .missingKey)
  }

  @Test func `fails when the service fails and fallbacks are off`() async throws {
    let service = ScriptedSource<Note>(pages: [.failure(.because(.unreachable))])
    let source = try NotesPlugin(service: service)
      .source(in: environment()).cachePolicy(.noFallback)
    #expect(await source.failure()?.code == .unreachable)
    #expect(journal.events == ["asked list", "failed list unreachable"])
  }

  @Test(arguments: [CachePolicy.normal, .reload, .noFallback])
  func `rejects invalid settings immediately`(cachePolicy: CachePolicy) {
    let service = ScriptedSource(over: notebook(5))
    let wrongAddress = NotesPlugin(
      service: service, setUp: { _ throws(SourceError) in throw .because(.invalidSettings) })
    let address = #expect(throws: SourceError.self) {
      try wrongAddress.source(in: environment()).cachePolicy(cachePolicy)
    }
    #expect(address?.code == .invalidSettings)
    let rate = #expect(throws: SourceError.self) {
      try NotesPlugin(service: service)
        .source(in: environment(["NOTES_RATE": "often"])).cachePolicy(cachePolicy)
    }
    #expect(rate?.code == .invalidSettings)
  }

  @Test func `applies the rate of the settings`() async throws {
    let service = ScriptedSource(over: notebook(5))
    let source = try NotesPlugin(service: service)
      .source(in: environment(["NOTES_RATE": "1/h"])).cachePolicy(.noFallback)
    #expect(await source.failure() == nil)
    #expect(await source.failure()?.code == .rateLimited)
    #expect(service.callCount == 1)
  }

  @Test(arguments: ["off", "OFF"])
  func `applies no rate if it is off`(rate: String) async throws {
    let service = ScriptedSource(over: notebook(5))
    let source = try NotesPlugin(service: service)
      .source(in: environment(["NOTES_RATE": rate])).cachePolicy(.noFallback)
    for _ in 0..<300 { #expect(await source.failure() == nil) }
    #expect(journal.events.allSatisfy { !$0.hasPrefix("waiting") })
  }

  @Test(arguments: [(nil, 15), (Duration.seconds(3), 3)] as [(Duration?, Int)])
  func `uses the deadline of the policy or the caller`(
    deadline: Duration?, seconds: Int
  ) async throws {
    let gate = Gate()
    let source = try NotesPlugin(service: ScriptedSource(over: notebook(5), held: gate))
      .source(in: environment(), deadline: deadline).cachePolicy(.noFallback)
    async let failure = source.failure()
    await gate.holds(1)
    await clock.sleepers(atLeast: 1)
    #expect(clock.untilNextWake == .seconds(seconds))
    clock.advance(by: .seconds(seconds))
    #expect(await failure?.code == .timedOut)
  }

  @Test func `retries transient failures`() async throws {
    let service = ScriptedSource<Note>(pages: [
      .failure(.because(.serverError)), .failure(.because(.timedOut)), .success(.notes(1...3)),
    ])
    let source = try NotesPlugin(service: service)
      .source(in: environment()).cachePolicy(.noFallback)
    #expect(try await source.page(PageRequest()).records.count == 3)
    #expect(service.callCount == 3)
  }

  @Test(arguments: [(CachePolicy.normal, 5), (.reload, 7)])
  func `pauses a failing service except when refreshing`(
    cachePolicy: CachePolicy, calls: Int
  ) async throws {
    let service = ScriptedSource<Note> { _ throws(SourceError) in throw .because(.unreachable) }
    let source = try NotesPlugin(service: service).source(in: environment()).cachePolicy(
      cachePolicy)
    for _ in 0..<7 { _ = try await source.page(PageRequest()) }
    #expect(service.callCount == calls)
  }

  @Test func `searches and slices according to the policy`() async throws {
    let service = ScriptedSource<Note> { request throws(SourceError) in
      #expect(request.query == nil)
      return try await notebook(30).page(request)
    }
    let policy = Policy(largestPage: 50, upstreamPageSize: .fixed(10), localSearchBound: 20)
    let source = try NotesPlugin(service: service, policy: policy)
      .source(in: environment()).cachePolicy(.noFallback)
    let page = try await source.page(PageRequest(matching: try SearchQuery("note 2"), limit: 50))
    #expect(page.records.map(\.id) == [2, 12, 20])
    #expect(page.warnings.map(\.message) == ["searched only the first 20 records"])
    #expect(Set(service.requests.map(\.limit)) == [10])
    #expect(try await source.everyID(limit: 7) == Array(1...30))
  }

  @Test func `searches in the largest pages of the service`() async throws {
    let service = ScriptedSource(over: notebook(30))
    let policy = Policy(largestPage: 6, localSearchBound: 12)
    let source = try NotesPlugin(service: service, policy: policy)
      .source(in: environment()).cachePolicy(.noFallback)
    let page = try await source.page(PageRequest(matching: try SearchQuery("note 2"), limit: 50))
    #expect(page.warnings.map(\.message) == ["searched only the first 12 records"])
    #expect(service.requests.map(\.limit) == [6, 6])
  }

  @Test func `a cursor is valid under another cache policy`() async throws {
    let plugin = NotesPlugin(service: ScriptedSource(over: notebook(5)))
    var cursor: PageCursor?
    var ids: [Int] = []
    for cachePolicy in [CachePolicy.normal, .noFallback, .reload] {
      let source = try plugin.source(in: environment()).cachePolicy(cachePolicy)
      let page = try await source.page(PageRequest(after: cursor, limit: 2))
      ids += page.records.map(\.id)
      cursor = page.next
    }
    #expect(ids == [1, 2, 3, 4, 5])
  }

  @Test func `removes a key of the settings from records, messages and errors`() async throws {
    let key = Setting("NOTES_KEY", .secret, about: "A key.")
    let service = ScriptedSource<Note>(pages: [
      .success(
        Page(
          [Note(1, "K3Y/OF-MINE!"), Note(2, "two")], provenance: Provenance(.live),
          unreadable: UnreadableRows(count: 1, firstReason: "row 1: k3y%2fof-mine!"),
          warnings: [Warning(Warning.Code("x"), "k3y&#47;of-mine!")])),
      .failure(SourceError(.rejected, "no access with k3y/of-<b>mine!</b>")),
    ])
    var plugin = NotesPlugin(service: service)
    plugin.settings.append(key)
    let source = try plugin.source(
      in: environment([key.key: "k3y/of-mine!"])
    ).cachePolicy(.noFallback)
    let page = try await source.page(PageRequest())
    #expect(page.records == [Note(1, "REDACTED"), Note(2, "two")])
    #expect(page.unreadable.firstReason == "row 1: REDACTED")
    #expect(page.warnings.map(\.message).first == "REDACTED")
    #expect(page.warnings.map(\.code) == [Warning.Code("x"), .redacted])
    #expect(await source.failure()?.message == "no access with REDACTED</b>")
  }

  @Test func `a contact selects no collection`() throws {
    let contact = Setting("NOTES_CONTACT", .contact, about: "Who asks.")
    let kind = Setting("NOTES_KIND", .text, about: "Which notes.")
    var plugin = NotesPlugin(
      over: ScriptedSource(over: notebook(5)), .localFirst, upstream: 10)
    plugin.settings += [contact, kind]
    func collection(_ values: [String: String]) throws -> String? {
      var environment = environment(values)
      environment.store = SQLiteStore(at: "/nowhere/store.sqlite")
      return try plugin.upstreamLoader(in: environment)?.collection
    }
    let base = try #require(try collection([:]))
    #expect(try collection([contact.key: "ann@notes.example"]) == base)
    #expect(try collection([kind.key: "long"]) != base)
  }

  @Test func `describes itself in the order of its operators`() throws {
    let policy = Policy(
      rate: NotesPlugin.rate, largestPage: 50, upstreamPageSize: .fixed(10), localSearchBound: 20)
    let plugin = NotesPlugin(service: ScriptedSource(over: notebook(5)), policy: policy)
    #expect(
      "\(try plugin.source(in: environment()))" == """
        scripted
          .noticingEmptyFields()
          .rateLimited(by: 100/m)
          .circuitBreaker(5 failures, 30 s)
          .retry(3)
          .timeout(15 s)
          .coalesced()
          .onlineOnly()
          .sliced(upstream: 10)
          .searchingLocally(upTo: 20)
          .fallback(to: notes.bundled)
          .observed()
        """)
  }

  @Test func `chains of one environment share the rate and the pauses of a service`() async throws {
    let environment = environment(["NOTES_RATE": "1/h"])
    func failure(in environment: PluginEnvironment) async throws -> SourceError? {
      let policy = Policy(
        retry: RetryPolicy(attempts: 1, firstWait: .zero, maxWait: .zero),
        rate: NotesPlugin.rate)
      let plugin = NotesPlugin(service: ScriptedSource(over: notebook(5)), policy: policy)
      return try await plugin.source(in: environment).cachePolicy(.noFallback).failure()
    }
    #expect(try await failure(in: environment) == nil)
    #expect(try await failure(in: environment)?.code == .rateLimited)
    var copy = environment
    copy.observer = .silent
    #expect(try await failure(in: copy)?.code == .rateLimited)
    copy.settings = SourceSettings(["NOTES_RATE": "1/h", "NOTES_URL": "https://other.test"])
    #expect(try await failure(in: copy) == nil)
    #expect(try await failure(in: self.environment(["NOTES_RATE": "1/h"])) == nil)
    clock.advance(by: .seconds(3601))
    #expect(try await failure(in: environment) == nil)
  }

  @Test func `a pause that the service demands holds for the next chain, too`() async throws {
    let environment = environment()
    let busy = SourceError(.rateLimited, "busy", retryAfter: .seconds(60))
    let service = ScriptedSource<Note>(pages: [.failure(busy)])
    let policy = Policy(retry: RetryPolicy(attempts: 1, firstWait: .zero, maxWait: .zero))
    let first = NotesPlugin(service: service, policy: policy)
    #expect(
      await (try first.source(in: environment).cachePolicy(.noFallback)).failure()?.code
        == .rateLimited)
    let notes = ScriptedSource(over: notebook(5))
    let second = try NotesPlugin(service: notes, policy: policy)
      .source(in: environment).cachePolicy(.noFallback)
    #expect(await second.failure()?.retryAfter == .seconds(60))
    #expect(notes.callCount == 0)
    clock.advance(by: .seconds(60))
    #expect(await second.failure() == nil)
  }
}
