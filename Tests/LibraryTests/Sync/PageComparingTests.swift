import AggregatorKit
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// A part of a catalogue.
private struct Part: SourceRecord {
  struct List: Decodable, Sendable {
    struct Row: Decodable, Sendable {
      let number: Int
      let name: String
    }

    let total: Int?
    let rows: LossyArray<Row>
  }

  let id: Int
  let name: String
}

/// Parts in pages of ten, by a parameter that counts rows.
private struct PartsPlugin: Plugin {
  let base: URL
  let service: PartsService
  var decoderVersion: String? = "1"

  let name = "parts"
  let summary = "parts"
  let example = PluginExample(query: "bolt", id: "1")
  let fields: [Field<Part>] = [Field(\.id), Field(\.name)]
  let settings = [Setting("PARTS_KEY", .secret, about: "A key.")]
  let policy = Policy(largestPage: 10, upstreamPageSize: .fixed(10))

  func remote(in environment: PluginEnvironment) -> any DataSource<Part> {
    RESTSource(
      name, in: environment, list: HTTPRequest(.get, base),
      paging: RESTPaging(
        .offset(.query("skip"), start: 0), size: (.query("take"), 10), honorsSize: true,
        predictsCursors: !service.sendsTotal),
      decoding: Part.List.self
    ) { [service] list in
      let response = RESTResponse(list.rows, total: list.total) {
        Part(id: $0.number, name: $0.name)
      }
      // Pages after the end are requested ahead.
      if !response.records.isEmpty { service.noteRead() }
      return response
    }
  }
}

/// The names of the parts, empty for none, and the number of pages of them that were read.
private final class PartsService: Sendable {
  /// The validators of its pages, and how it takes conditions.
  enum Validators: String, CaseIterable {
    case none, tags, weakTags, dates
    /// Tags in responses to which the conditions make no difference.
    case ignored
    /// Tags, and 304 for every condition, with the present tag.
    case contradicted
    /// Tags and dates, and 304 for every condition, with the present date alone.
    case redated
    /// Tags, the number of parts in a field that is not part of what they stand for, and 304 with it or without it.
    case countedApart, countedInFull
    /// Dates that say nothing, because parts may still change in the second that they name.
    case recentDates
    /// Tags, and 304 for every request.
    case broken
  }

  fileprivate struct State {
    var names = PartsService.all
    var changes = 0
    var reads = 0
    var conditional: [Int] = []
    var unchanged: [Int] = []
    var validators: Validators
  }

  static let all = (1...35).map { "part \($0)" }

  let sendsTotal: Bool
  private let state: Mutex<State>

  init(sendsTotal: Bool = false, validators: Validators = .none) {
    self.sendsTotal = sendsTotal
    state = Mutex(State(validators: validators))
  }

  var names: [String] {
    get { state.withLock(\.names) }
    set {
      state.withLock {
        $0.names = newValue
        $0.changes += 1
      }
    }
  }

  var validators: Validators {
    get { state.withLock(\.validators) }
    set { state.withLock { $0.validators = newValue } }
  }

  var reads: Int { state.withLock(\.reads) }

  func noteRead() { state.withLock { $0.reads += 1 } }

  /// The first rows of the pages that were requested on a condition since the last call, and of those answered by 304.
  func takeConditions() -> (requested: [Int], unchanged: [Int]) {
    state.withLock { state in
      defer { (state.conditional, state.unchanged) = ([], []) }
      return (state.conditional.sorted(), state.unchanged.sorted())
    }
  }

  func reply(to request: LoopbackRequest) -> LoopbackReply {
    let skip = request.query["skip"].flatMap { Int($0) } ?? 0
    let all = names.enumerated().filter { !$1.isEmpty }
    let rows = all.dropFirst(skip).prefix(10).map {
      #"{"number": \#($0 + 1), "name": "\#($1)"}"#
    }
    let total = sendsTotal ? #""total": \#(all.count), "# : ""
    let text = #"{\#(total)"rows": [\#(rows.joined(separator: ","))]}"#
    return state.withLock { $0.reply(text, at: skip, of: all.count, to: request) }
  }
}

extension PartsService.State {
  fileprivate mutating func reply(
    _ text: String, at skip: Int, of count: Int, to request: LoopbackRequest
  ) -> LoopbackReply {
    let tag = #""\#(UInt(bitPattern: text.hashValue))""#
    let minute = validators == .recentDates ? 30 : 29
    let date = "Sat, 28 Nov 2026 10:\(minute):\(10 + changes) GMT"
    let asked = request.header("if-none-match") ?? request.header("if-modified-since")
    if asked != nil { conditional.append(skip) }
    var (sent, headers) = (tag, [("Date", "Sat, 28 Nov 2026 10:30:59 GMT")])
    var (isSame, later) = (asked == tag, headers)
    switch validators {
    case .none: return .json(text)
    case .tags: break
    case .weakTags: (sent, isSame) = ("W/\(tag)", asked == "W/\(tag)")
    case .dates, .recentDates: (sent, isSame) = ("", asked == date)
    case .ignored: isSame = false
    case .contradicted: isSame = asked != nil
    case .countedApart, .countedInFull:
      headers.append(("X-Total-Count", "\(count)"))
      if validators == .countedInFull { later = headers }
    case .broken: isSame = true
    case .redated:
      headers.append(("Last-Modified", date))
      (isSame, later) = (asked != nil, headers)
    }
    // The other tag of the weak comparison.
    if validators != .redated {
      later.append(sent.isEmpty ? ("Last-Modified", date) : ("ETag", tag))
    }
    headers.append(sent.isEmpty ? ("Last-Modified", date) : ("ETag", sent))
    guard isSame else { return .json(text, headers: headers) }
    unchanged.append(skip)
    return .status(304, "", headers: later)
  }
}

/// A sync does not read pages again whose responses have not changed.
@Suite(.timeLimit(.minutes(10))) struct PageComparingTests {
  private let service = PartsService()
  private let today = Today()

  /// Runs `body` with a function that syncs and returns what came of it, and the number of pages that were read.
  private func withSync(
    of other: PartsService? = nil,
    _ body: (
      _ sync: (_ store: any SourceStore, _ version: String?) async throws -> (SyncResult, Int)
    ) async throws -> Void
  ) async throws {
    let service = other ?? service
    try await withServer({ service.reply(to: $0) }) { server in
      try await body { store, version in
        let plugin = PartsPlugin(base: server.baseURL, service: service, decoderVersion: version)
        let environment = PluginEnvironment(
          settings: SourceSettings(), transport: HTTPTransport(), store: store, now: today.now)
        let before = service.reads
        let result = try await plugin.sync(into: store, in: environment).run(jobs: 2)
        #expect(result.failure == nil && result.isComplete)
        return (result, service.reads - before)
      }
    }
  }

  private func expectUnchangedPagesAreNotRead(_ store: any SourceStore) async throws {
    try await withSync { sync in
      var (result, read) = try await sync(store, "1")
      #expect((result.added, read) == (35, 4))
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.added, result.changed, read) == (35, 0, 0, 0))
      // Only the page with the change.
      service.names[12] = "another name"
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.changed, read) == (34, 1, 1))
      // Rows that move up change their pages; the one that is gone is found.
      service.names[25] = ""
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.removedUpstream, read) == (34, 1, 2))
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.removedUpstream, read) == (34, 0, 0))
      service.names[25] = "part 26"
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.changed, read) == (34, 1, 2))
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, read) == (35, 0))
    }
    #expect(try await store.found(of: "parts").count == 35)
  }

  @Test func `unchanged pages are not read again`() async throws {
    try await expectUnchangedPagesAreNotRead(InMemoryStore())
    service.names = PartsService.all
    try await expectUnchangedPagesAreNotRead(try StoreDirectory().store())
  }

  @Test(.requiresPostgres)
  func `unchanged pages are not read again into PostgreSQL`() async throws {
    try await withDatabase { database in
      try await expectUnchangedPagesAreNotRead(
        PostgresStore(at: try PostgresAddress(database.uri)))
    }
  }

  @Test func `another version, or none, reads every page`() async throws {
    let store = try StoreDirectory().store()
    try await withSync { sync in
      _ = try await sync(store, "1")
      #expect(try await sync(store, "2").1 == 4)
      #expect(try await sync(store, "2").1 == 0)
      #expect(try await sync(store, nil).1 == 4)
    }
  }

  @Test func `after a week every page is read`() async throws {
    let store = try StoreDirectory().store()
    try await withSync { sync in
      _ = try await sync(store, "1")
      today.turn(by: 6 * 86_400)
      #expect(try await sync(store, "1").1 == 0)
      today.turn(by: 2 * 86_400)
      #expect(try await sync(store, "1").1 == 4)
      // A clock that was set back proves nothing.
      today.turn(by: -30 * 86_400)
      #expect(try await sync(store, "1").1 == 4)
    }
  }

  @Test func `a page with a deleted or a missing record is read`() async throws {
    let store = try StoreDirectory().store()
    try await withSync { sync in
      _ = try await sync(store, "1")
      _ = try await store.delete(["14"], of: "parts", at: today.now())
      var (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.added, read) == (35, 0, 1))
      try await store.clear("parts", forgetsDeleted: false)
      (result, read) = try await sync(store, "1")
      #expect((result.unchanged, result.added, read) == (0, 35, 4))
    }
  }

  @Test func `a total that changes leaves no checkpoints behind`() async throws {
    let store = try StoreDirectory().store()
    let service = PartsService(sendsTotal: true)
    try await withSync(of: service) { sync in
      _ = try await sync(store, "1")
      #expect(try await sync(store, "1").1 == 0)
      for number in 36...38 {
        service.names.append("part \(number)")
        // Each page says the total.
        #expect(try await sync(store, "1").1 == 4)
        #expect(try await store.checkpoints(of: "parts", startingWith: "page ").count == 4)
      }
    }
  }

  @Test func `a total that became smaller during a pass is not that of the next one`() async throws
  {
    let store = try StoreDirectory().store()
    let service = PartsService(sendsTotal: true)
    try await withServer({ service.reply(to: $0) }) { server in
      let plugin = PartsPlugin(base: server.baseURL, service: service)
      let environment = PluginEnvironment(
        settings: SourceSettings(), transport: HTTPTransport(), store: store, now: today.now)
      func sync(upTo pages: Int? = nil) async throws -> SyncResult {
        try await plugin.sync(into: store, in: environment).run(upTo: pages)
      }
      #expect(try await sync(upTo: 2).failure == nil)
      service.names[0] = ""
      let words = "the total changed from 35 to 34 while the pages were read"
      let moved = try await sync()
      #expect(moved.inconclusiveReason?.contains(words) == true, "\(moved)")
      // The last pages are the same, but the cursors after them were those of a list of 35.
      let whole = try await sync()
      #expect(whole.isComplete && whole.added == 1, "\(whole)")
    }
  }

  @Test func `a batch with a position that is not there saves nothing`() async throws {
    for store in [InMemoryStore() as any SourceStore, try StoreDirectory().store()] {
      try await withSync { sync in _ = try await sync(store, "1") }
      let before = try await store.status(of: "parts")
      var batch = StoreBatch([], update: CheckpointUpdate("at", from: nil, to: "1"))
      batch.unchanged = [before.lastPosition, before.lastPosition + 1]
      let changes = try await store.save(batch, of: "parts", at: today.now())
      #expect(changes.missesUnchanged && !changes.didMoveCheckpoint)
      #expect(try await store.checkpoint("at", of: "parts") == nil)
    }
  }
}

/// A sync asks a service whether a page has changed, if it has sent validators.
@Suite(.timeLimit(.minutes(10))) struct PageConditionTests {
  private static let pages = [0, 10, 20, 30]

  /// A service, a store, and what a sync into it comes to.
  private struct Trial {
    let service: PartsService
    let store: any SourceStore
    let server: LoopbackServer
    let today = Today()
    var transport: any Transport = HTTPTransport()
    var key = "key of somebody"

    /// The result, the number of pages that were read, and the first rows of some.
    ///
    /// Those were requested on a condition, and answered by 304.
    func sync(everything: Bool = false, complete: Bool = true) async throws -> (
      SyncResult, read: Int, asked: [Int], unchanged: [Int]
    ) {
      let plugin = PartsPlugin(base: server.baseURL, service: service)
      let environment = PluginEnvironment(
        settings: SourceSettings(["PARTS_KEY": key]), transport: transport, store: store,
        now: today.now)
      let before = service.reads
      var sync = try plugin.sync(into: store, in: environment)
      sync.readsEverything = everything
      let result = await sync.run()
      #expect(result.isComplete == complete)
      let (asked, unchanged) = service.takeConditions()
      return (result, service.reads - before, asked, unchanged)
    }
  }

  private func withTrial(
    _ validators: PartsService.Validators, in store: (any SourceStore)? = nil,
    _ body: (inout Trial) async throws -> Void
  ) async throws {
    let service = PartsService(validators: validators)
    let store = try store ?? StoreDirectory().store()
    try await withServer({ service.reply(to: $0) }) { server in
      var trial = Trial(service: service, store: store, server: server)
      try await body(&trial)
    }
  }

  private func expectUnchangedPagesAreNotSent(
    _ validators: PartsService.Validators, _ store: any SourceStore
  ) async throws {
    try await withTrial(validators, in: store) { trial in
      var (result, read, asked, unchanged) = try await trial.sync()
      #expect((result.added, read, asked) == (35, 4, []))
      (result, read, asked, unchanged) = try await trial.sync()
      #expect((result.unchanged, result.pages, read, asked) == (35, 4, 0, Self.pages))
      #expect(unchanged == Self.pages)
      // Only the page with the change.
      trial.service.names[12] = "another name"
      (result, read, asked, unchanged) = try await trial.sync()
      #expect((result.unchanged, result.changed, read, asked) == (34, 1, 1, Self.pages))
      if validators != .dates { #expect(unchanged == [0, 20, 30]) }
      // The records of pages that were not sent are seen.
      trial.service.names[25] = ""
      (result, read, asked, unchanged) = try await trial.sync()
      #expect((result.unchanged, result.removedUpstream) == (34, 1))
      // The number of parts, where it is sent, is another one on each page.
      #expect(read == (validators == .countedInFull ? 4 : 2))
      if validators == .tags { #expect(unchanged == [0, 10]) }
      // Also if the validators of a page have changed without it.
      (result, read, asked, unchanged) = try await trial.sync()
      #expect((result.unchanged, result.removedUpstream) == (34, 0))
      #expect((read, unchanged) == (0, Self.pages))
    }
    #expect(try await store.found(of: "parts").count == 34)
  }

  @Test(arguments: ["tags", "weakTags", "dates", "countedInFull"])
  func `unchanged pages are not sent again`(_ name: String) async throws {
    let validators = try #require(PartsService.Validators(rawValue: name))
    try await expectUnchangedPagesAreNotSent(validators, InMemoryStore())
    try await expectUnchangedPagesAreNotSent(validators, try StoreDirectory().store())
  }

  @Test(.requiresPostgres)
  func `unchanged pages are not sent again into PostgreSQL`() async throws {
    try await withDatabase { database in
      try await expectUnchangedPagesAreNotSent(
        .tags, PostgresStore(at: try PostgresAddress(database.uri)))
    }
  }

  @Test func `a service that ignores conditions costs nothing else`() async throws {
    try await withTrial(.ignored) { trial in
      _ = try await trial.sync()
      let (result, read, asked, _) = try await trial.sync()
      #expect((result.unchanged, read, asked) == (35, 0, Self.pages))
    }
  }

  @Test(arguments: ["contradicted", "redated", "countedApart"])
  func `a 304 that may be wrong is not believed`(_ name: String) async throws {
    try await withTrial(try #require(PartsService.Validators(rawValue: name))) { trial in
      _ = try await trial.sync()
      trial.service.names[2] = "another name"
      trial.service.names.append("part 36")
      let (result, _, asked, _) = try await trial.sync()
      #expect((result.unchanged, result.changed, result.added) == (34, 1, 1))
      // The service is asked no more after the first one, which costs a request.
      #expect(asked == (trial.service.validators == .countedApart ? [0, 10] : [0]))
    }
  }

  @Test func `a date counts only if it is long past`() async throws {
    try await withTrial(.recentDates) { trial in
      _ = try await trial.sync()
      #expect(try await trial.sync().asked == [])
    }
  }

  @Test func `a 304 to no condition is an error`() async throws {
    try await withTrial(.tags) { trial in
      _ = try await trial.sync()
      try await trial.store.clear("parts", forgetsDeleted: false)
      trial.service.validators = .broken
      var (result, read, asked, _) = try await trial.sync(complete: false)
      #expect((result.failure?.code, read, asked) == (.rejected, 0, []))
      trial.service.validators = .tags
      (result, read, asked, _) = try await trial.sync()
      #expect((result.added, read, asked) == (35, 4, []))
    }
  }

  @Test func `pages with deleted or missing records are requested whole`() async throws {
    for store in [InMemoryStore() as any SourceStore, try StoreDirectory().store()] {
      try await withTrial(.tags, in: store) { trial in
        _ = try await trial.sync()
        _ = try await store.delete(["14"], of: "parts", at: trial.today.now())
        for _ in 0..<2 {
          let (result, read, asked, _) = try await trial.sync()
          #expect((result.unchanged, result.added, read, asked) == (35, 0, 1, [0, 20, 30]))
        }
        #expect(try await store.deleted(among: ["14"], of: "parts").count == 1)
        #expect(try await store.found(of: "parts").count == 34)
        _ = try await store.restore(["14"], of: "parts")
        #expect(try await trial.sync().unchanged == Self.pages)
        try await store.clear("parts", forgetsDeleted: false)
        let (result, read, asked, _) = try await trial.sync()
        #expect((result.added, read, asked) == (35, 4, []))
      }
    }
  }

  @Test(arguments: [true, false])
  func `a page with a record that was saved otherwise is read`(_ hasTags: Bool) async throws {
    for store in [InMemoryStore() as any SourceStore, try StoreDirectory().store()] {
      try await withTrial(hasTags ? .tags : .none, in: store) { trial in
        _ = try await trial.sync()
        let other = Part(id: 14, name: "the name at another time")
        let parts = RecordStore<Part>("parts", in: store) { FoldedText($0.name) }
        #expect(try await parts.save([other], at: trial.today.now()).changed == 1)
        var (result, read, asked, unchanged) = try await trial.sync()
        #expect((result.unchanged, result.changed, read) == (34, 1, 1))
        if hasTags { #expect((asked, unchanged) == ([0, 20, 30], [0, 20, 30])) }
        #expect(try await parts.item(14)?.found.item.name == "part 14")
        (result, read, asked, unchanged) = try await trial.sync()
        #expect((result.unchanged, read) == (35, 0))
      }
    }
  }

  @Test func `another key, a week and a full sync request every page whole`() async throws {
    try await withTrial(.tags) { trial in
      _ = try await trial.sync()
      #expect(try await trial.sync().asked == Self.pages)
      var (_, read, asked, _) = try await trial.sync(everything: true)
      #expect((read, asked) == (4, []))
      trial.key = "key of another"
      (_, read, asked, _) = try await trial.sync()
      #expect((read, asked) == (4, []))
      #expect(try await trial.sync().asked == Self.pages)
      trial.today.turn(by: 8 * 86_400)
      (_, read, asked, _) = try await trial.sync()
      #expect((read, asked) == (4, []))
    }
  }

  @Test func `a recording has whole pages`() async throws {
    let directory = try StoreDirectory()
    try await withTrial(.tags) { trial in
      _ = try await trial.sync()
      trial.transport = try RecordingTransport(
        HTTPTransport(), into: URL(filePath: "\(directory.root)/recording"), hiding: [])
      let (result, read, asked, _) = try await trial.sync()
      #expect((result.unchanged, read, asked) == (35, 0, []))
    }
  }
}
