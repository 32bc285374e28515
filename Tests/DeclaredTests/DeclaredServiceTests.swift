import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import DeclaredSource

/// Single records, secrets, incomplete manifests and tokens that are spent by their use.
@Suite(.timeLimit(.minutes(10))) struct DeclaredServiceTests {
  private static let secrets = SourceSettings([
    "USER": "grace-hopper", "PASSWORD": "hunter2/hunter2",
  ])

  private static func plugin(
    _ server: LoopbackServer, _ rest: String, path: String = "/list"
  ) throws -> DeclaredPlugin {
    let text = "{\"url\": \"\(server.baseURL)\(path)\", \"rows\": \"$\", \"id\": \"id\", \(rest)}"
    return DeclaredPlugin(
      "things", try Manifest(reading: Data(text.replacing("HOST", with: "\(server.baseURL)").utf8)))
  }

  private static func remote(
    _ server: LoopbackServer, _ rest: String, settings: SourceSettings = SourceSettings()
  ) throws -> any DataSource<DeclaredRecord> {
    try plugin(server, rest).remote(
      in: PluginEnvironment(settings: settings, transport: HTTPTransport()))
  }

  // MARK: - Single records

  @Test(arguments: [
    #"{"id": 7, "name": "x"}"#, #"{"data": {"id": 7, "name": "x"}}"#,
    #"{"data": {"issue": {"id": "7", "name": "x", "author": {"id": 9}}}}"#,
    #"[{"id": 7, "name": "x"}]"#, #"{"results": [{"id": 8}, {"id": 7, "name": "x"}]}"#,
  ])
  func `a record is found in whatever wraps it`(body: String) async throws {
    let server = try LoopbackServer { _ in .json(body) }
    let source = try Self.remote(server, #""item": "HOST/things/{id}?full=1""#)
    let found = try await source.item("7")
    #expect(found.item.row["name"] == "x")
    #expect(found.provenance.endpoint == "\(server.baseURL)/things/7")
    #expect(server.requests.map(\.rawQuery) == ["full=1"])
  }

  @Test(arguments: [
    (#"{"id": 8}"#, SourceError.Code.malformed),
    // The record is another one, whatever is inside it.
    (#"{"id": 8, "author": {"id": 7}}"#, .malformed), (#"{"error": "no"}"#, .rejected),
    (#"{"data": {"name": "x"}}"#, .malformed), ("{}", .notFound), (#"{"data": null}"#, .notFound),
    (#"{"data": [], "meta": {}}"#, .notFound), ("<html>", .malformed),
  ])
  func `a response without the record is an error`(body: String, code: SourceError.Code)
    async throws
  {
    let server = try LoopbackServer { _ in .json(body) }
    let source = try Self.remote(server, #""item": "HOST/things/{id}""#)
    let error = await #expect(throws: SourceError.self) { try await source.item("7") }
    #expect(error?.code == code)
  }

  @Test(arguments: [
    ("a/b c?", "a%2Fb%20c%3F"), ("${USER}", "%24%7BUSER%7D"), ("ä", "%C3%A4"),
  ])
  func `an ID is encoded in the URL`(id: String, path: String) async throws {
    let server = try LoopbackServer { _ in .json(JSON.object([.init("id", .string(id))]).text) }
    let source = try Self.remote(
      server, #""item": "HOST/things/{id}", "headers": {"X": "${USER}"}"#, settings: Self.secrets)
    #expect(try await source.item(id).item.id == id)
    #expect(server.requests.map(\.path) == ["/things/\(path)"])
  }

  @Test func `the reason of an unreadable row is that it is no object, where it is none`()
    async throws
  {
    for (row, reason) in [
      ("null", "not an object"), (#""text""#, "not an object"), ("42", "not an object"),
      (#"{"name": "x"}"#, "id is missing, or is neither text nor a whole number"),
    ] {
      let server = try LoopbackServer { _ in .json(#"[{"id": 1}, \#(row), {"id": 2}]"#) }
      let source = try Self.remote(server, #""paging": "single""#)
      let page = try await source.page(PageRequest(limit: 10))
      #expect(page.records.map(\.id) == ["1", "2"])
      #expect(page.unreadable == UnreadableRows(count: 1, firstReason: "row 2: \(reason)"))
    }
  }

  @Test func `the parts of a composite ID are put one by one`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"space": "x/y%", "name": "a b"}"#) }
    let text = """
      {"url": "\(server.baseURL)/", "rows": "$", "id": ["space", "name"], \
      "item": "\(server.baseURL)/spaces/{id}", "body": {}}
      """
    let source = try DeclaredPlugin("things", Manifest(reading: Data(text.utf8))).remote(
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    #expect(try await source.item("x%2Fy%25/a b").item.row["name"] == "a b")
    #expect(server.requests.map(\.path) == ["/spaces/x%2Fy%25/a%20b"])
    // The body of the list is not part of it.
    #expect(server.requests.map(\.method) == ["GET"])
  }

  @Test(arguments: ["..", ".", ""])
  func `an ID never leads to another resource`(id: String) async throws {
    let server = try LoopbackServer { _ in .json(#"{"id": "\#(id)"}"#) }
    let source = try Self.remote(server, #""item": "HOST/things/{id}""#)
    let error = await #expect(throws: SourceError.self) { try await source.item(id) }
    #expect(error?.code == .notFound)
    #expect(server.requests.isEmpty)
  }

  @Test func `without a URL of records, one is found in lists and in the cache`() async throws {
    let home = URL.temporaryDirectory.appending(path: "item-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let service = try FakeAPI(.page)
    let item = "\"item\": \"\(service.url)/{id}\", "
    let plugin = try service.plugin { $0.replacing(item, with: "") }
    let store = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    let environment = service.environment(over: store)
    #expect(try await plugin.source(in: environment).item("1059").item.id == "1059")
    let missing = await #expect(throws: SourceError.self) {
      try await plugin.source(in: environment).item("7")
    }
    #expect(missing?.code == .notFound)
    service.stop()
    let found = try await plugin.source(in: environment).cachePolicy(.offline).item("1059")
    #expect(found.provenance.origin == .cached)

    // With a search of the service lists are not scanned: only the cache is left.
    let searching = try service.plugin {
      $0.replacing(item, with: "\"search\": \"q\", ")
    }
    #expect(try await searching.source(in: environment).item("1059").item.id == "1059")
    let error = await #expect(throws: SourceError.self) {
      try await searching.source(in: environment).item("7")
    }
    #expect(error?.code == .unsupported)
    #expect(error?.remedy == Remedy("lamps sync", .command))
  }

  @Test func `a list warns of a member that the service has renamed`() async throws {
    let rows = Mutex(
      #"[{"id": 1, "name": "a", "note": null}, {"id": 2, "name": "b", "note": null}]"#)
    let server = try LoopbackServer { _ in .json(rows.withLock(\.self)) }
    let text = """
      {"url": "\(server.baseURL)/", "rows": "$", "id": "id", "paging": "single", "rate": "off", \
      "fields": ["name", "note"]}
      """
    let plugin = DeclaredPlugin("things", try Manifest(reading: Data(text.utf8)))
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: HTTPTransport(), store: InMemoryStore())
    func warnings() async throws -> [Warning] {
      let source = try plugin.source(in: environment).cachePolicy(.reload)
      return try await source.page(PageRequest(limit: 10)).warnings
    }
    #expect(try await warnings() == [])
    #expect(try await warnings() == [])
    rows.withLock { $0 = $0.replacing("\"a\"", with: "null") }
    #expect(try await warnings() == [])
    rows.withLock { $0 = $0.replacing("name", with: "title") }
    #expect(
      try await warnings() == [
        Warning(.emptyField, "name is empty in all 2 records: has the service renamed it?")
      ])
  }

  // MARK: - Secrets

  @Test(arguments: [
    #""url": "https://a.example/bot${TOKEN}/x""#, #""url": "https://a.example/x?${TOKEN}=1""#,
    #""url": "https://a.example/x", "item": "https://a.example/${TOKEN}/{id}""#,
    #""url": "https://a.example/x", "search": "url:https://a.example/${TOKEN}?q={query}""#,
  ])
  func `a secret in a path is refused with a remedy`(text: String) {
    let error = #expect(throws: SourceError.self) {
      try Manifest(reading: Data("{\(text)}".utf8))
    }
    #expect(
      error?.message.hasSuffix("a URL without secrets in its path: paths are shown and cached")
        == true)
    #expect(
      error?.remedy?.text
        == "name the secret as the value of a query parameter or in a header field")
  }

  @Test(arguments: [
    #""item": "https://b.example/{id}""#, #""search": "url:https://a.example:8443/?q={query}""#,
  ])
  func `secrets stay on the host of the URL`(text: String) throws {
    let start = #"{"url": "https://a.example/x?key=${TOKEN}", "#
    let error = #expect(throws: SourceError.self) {
      try Manifest(reading: Data("\(start)\(text)}".utf8))
    }
    #expect(error?.message.contains("on the host of \"url\"") == true)
    _ = try Manifest(reading: Data("{\"url\": \"https://a.example/x\", \(text)}".utf8))
    let host = #"{"url": "https://a.example/x", "item": "https://{id}.example/""#
    #expect(throws: SourceError.self) { try Manifest(reading: Data("\(host)}".utf8)) }
  }

  @Test(arguments: [
    (#""headers": {"Authorization": "Basic ${USER}:${PASSWORD}"}"#, "/list"),
    (#""headers": {"X-Key": "v1;${PASSWORD};end", "X-User": "${USER}"}"#, "/list"),
    (#""summary": "s""#, "/list?auth=a%20${USER}:${PASSWORD}"),
  ])
  func `secrets are sent whole, and removed one by one from what quotes them`(
    rest: String, path: String
  ) async throws {
    let server = try LoopbackServer { request in
      let next = "?auth=grace-hopper&page=2&who=grace-hopper"
      let body: JSON = [
        ["id": 1, "name": "for grace-hopper", "password": "hunter2/hunter2", "next": .string(next)]
      ]
      return request.query["page"] == nil
        ? .json(body.text) : .json(#"{"error": "hunter2%2Fhunter2"}"#, status: 400)
    }
    let plugin = try Self.plugin(server, rest + #", "next": "last.next""#, path: path)
    let log = EventLog()
    let home = URL.temporaryDirectory.appending(path: "secrets-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let environment = PluginEnvironment(
      settings: Self.secrets, transport: HTTPTransport(),
      store: SQLiteStore(at: home.appending(path: "store.sqlite").path), observer: log.observer)
    var shown = ""
    let source = try plugin.source(in: environment)
    let page = try await source.page(PageRequest())
    dump(page, to: &shown)
    let token = try #require(page.next).description
    for part in token.split(separator: ".") {
      shown +=
        Data(base64Encoded: "\(part.dropFirst())==").map { String(decoding: $0, as: UTF8.self) }
        ?? ""
    }
    let error = await #expect(throws: SourceError.self) {
      try await source.page(PageRequest(after: page.next))
    }
    dump(error, to: &shown)
    dump(log.events, to: &shown)
    shown += "\(source) \(plugin.summary)"
    let files = try FileManager.default.contentsOfDirectory(atPath: home.path)
    #expect(!files.isEmpty)
    for file in files {
      shown += String(decoding: try Data(contentsOf: home.appending(path: file)), as: UTF8.self)
    }
    for secret in ["grace-hopper", "hunter2"] { #expect(!shown.contains(secret)) }
    let first = try #require(server.requests.first)
    let sent = (first.headers.map(\.value) + [first.query["auth"] ?? ""]).joined(separator: "\n")
    #expect(sent.contains("grace-hopper"))
    #expect(sent.contains("hunter2/hunter2"))
  }

  // MARK: - Incomplete manifests

  @Test func `an incomplete manifest names the command that completes it`() throws {
    let text = #"""
      {"url": "https://a.example/it's?k=${TOKEN}&api_key=hunter2", "headers": {"X": "Bearer ${TOKEN}",
        "Authorization": "Bearer hunter2"}}
      """#
    let plugin = DeclaredPlugin("things", try Manifest(reading: Data(text.utf8)))
    let error = #expect(throws: SourceError.self) {
      try plugin.remote(
        in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
    }
    #expect(error?.message == "the manifest is incomplete: it has no \"rows\"")
    #expect(error?.remedy?.action == .command)
    #expect(
      error?.remedy?.text
        == #"sources add things 'https://a.example/it'\''s?k=${TOKEN}&api_key=${NAME}' "#
        + #"--header 'X: Bearer ${TOKEN}' --header 'Authorization: ${NAME}' --replace"#
    )
  }

  // MARK: - Tokens that are spent

  private static func ids(_ source: any DataSource<DeclaredRecord>) async throws -> (
    ids: [String], warnings: [String]
  ) {
    var (ids, warnings) = ([String](), [String]())
    for try await step in source.pages(size: 10, ahead: 4) {
      ids += step.items.map(\.id)
      warnings += step.page.warnings.map(\.code.description)
    }
    return (ids, warnings)
  }

  private static let all = (1000..<1000 + FakeAPI.count).map(String.init)

  @Test func `a page that was lost is not requested again: the list starts over`() async throws {
    let service = try FakeAPI(.tokenOnce)
    let source = try service.plugin().source(in: service.environment())
    service.fail(with: .closed, times: 1, after: 2)
    let walk = try await Self.ids(source)
    #expect(walk.ids == Self.all)
    #expect(walk.warnings == ["restarted"])
    let tokens = service.requests.compactMap { $0.query["after"] }
    #expect(Set(tokens).count == tokens.count)
  }

  @Test func `a token that another process spent starts the list over`() async throws {
    let service = try FakeAPI(.tokenOnce)
    let plugin = try service.plugin()
    let first = try await plugin.remote(in: service.environment()).page(PageRequest(limit: 10))
    let next = try #require(first.next)
    _ = try await plugin.remote(in: service.environment()).page(PageRequest(after: next, limit: 10))
    let source = try plugin.live(in: service.environment())
    let start = try #require(
      try await source.page(PageRequest(limit: 10)).next)
    // Spend the token of that cursor, too.
    _ = try await plugin.live(in: service.environment()).page(PageRequest(after: start, limit: 10))
    var ids: [String] = []
    for try await step in source.pages(after: start, size: 10) { ids += step.items.map(\.id) }
    #expect(ids == Array(Self.all.dropFirst(10)))
  }

  @Test func `a service that refuses every token fails instead of starting over for ever`()
    async throws
  {
    let server = try LoopbackServer { request in
      request.query["after"] == nil
        ? .json(#"{"lamps": [{"id": 1}, {"id": 2}], "next": "t"}"#)
        : .json(#"{"error": "unknown token"}"#, status: 410)
    }
    let text = """
      {"url": "\(server.baseURL)/", "rows": "lamps", "id": "id", "next": "next", "token": "after", \
      "tokenOnce": true}
      """
    let source = try DeclaredPlugin("things", Manifest(reading: Data(text.utf8))).live(
      in: PluginEnvironment(
        settings: SourceSettings(), transport: HTTPTransport(), clock: ReplayClock(), random: { 0 })
    )
    let error = await #expect(throws: SourceError.self) { _ = try await Self.ids(source) }
    #expect(error?.code == .malformed)
    #expect(error?.message == "127.0.0.1:\(server.port) refuses the token that it sent (410)")
    #expect(server.requests.count < 8)
  }

  @Test func `nothing is requested before it is needed`() async throws {
    let service = try FakeAPI(.tokenOnce)
    let source = try service.plugin().source(in: service.environment())
    let pages = source.pages(size: 10, ahead: 4).makeAsyncIterator()
    _ = try await pages.next()
    _ = try await pages.next()
    #expect(service.requests.count == 2)
    #expect(
      try service.plugin { $0.replacing(#""tokenOnce": true, "#, with: "") }
        .source(in: service.environment()).readsAhead)
  }

  @Test func `a sync that lost a page goes on from the start`() async throws {
    let home = URL.temporaryDirectory.appending(path: "once-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let service = try FakeAPI(.tokenOnce)
    let store = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    let sync = try service.plugin().sync(into: store, in: service.environment(over: store))
    service.fail(with: .closed, times: 1, after: 3)
    let result = await sync.run(upTo: nil, jobs: 4, waits: false) { _ in }
    #expect(result.failure == nil)
    // Records that moved meanwhile may be missing.
    #expect(!result.isComplete)
    #expect(result.inconclusiveReason?.contains("may be missing") == true)
    #expect(try await store.status(of: "lamps").records == FakeAPI.count)
    let tokens = service.requests.compactMap { $0.query["after"] }
    #expect(Set(tokens).count == tokens.count)
  }

  // MARK: - Another scope

  @Test(arguments: [
    ("\"id\": \"id\"", "\"id\": [\"id\", \"name\"]"),
    ("\"rows\": \"lamps\"", "\"rows\": \"lamps.*\""),
    ("/lamps\", \"headers\"", "/lamps?lang=de\", \"headers\""),
  ])
  func `what was stored of another scope is not shown, and not lost`(old: String, new: String)
    async throws
  {
    let home = URL.temporaryDirectory.appending(path: "scope-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let service = try FakeAPI(.page)
    let file = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    func store(of plugin: DeclaredPlugin) -> some SourceStore {
      ScopedStore(file) { $0 == plugin.name ? plugin.recordScope(in: SourceSettings()) : nil }
    }
    func offline(_ plugin: DeclaredPlugin) throws -> any DataSource<DeclaredRecord> {
      try plugin.source(
        in: service.environment(over: store(of: plugin))
      ).cachePolicy(.offline)
    }
    let before = try service.plugin()
    #expect(try await store(of: before).status(of: "lamps") == StoreStatus())
    #expect(!FileManager.default.fileExists(atPath: file.path))
    let sync = try before.sync(
      into: store(of: before), in: service.environment(over: store(of: before)))
    _ = await sync.run(upTo: nil, jobs: 1, waits: false) { _ in }
    _ = try await store(of: before).delete(["1003"], of: "lamps", at: Fixture.date)
    #expect(try await offline(before).page(PageRequest(limit: 100)).records.count == 59)
    // The tombstones of a cleared store still belong to the same scope.
    #expect(try await store(of: before).status(of: "lamps").deleted == 1)

    let after = try service.plugin { text in
      #expect(text.contains(old))
      return text.replacing(old, with: new)
    }
    let status = try await store(of: after).status(of: "lamps")
    #expect(status.records + status.hidden + status.deleted + status.pages == 0)
    for request in [PageRequest(limit: 100), PageRequest(matching: try SearchQuery("brass"))] {
      let error = await #expect(throws: SourceError.self) {
        try await offline(after).page(request)
      }
      #expect(error?.code == .offline)
    }
    await #expect(throws: SourceError.self) { try await offline(after).item("1005") }
    #expect(try await file.record("1005", of: "lamps") == nil)

    // Nothing was erased.
    #expect(try await offline(before).page(PageRequest(limit: 100)).records.count == 59)
    #expect(try await store(of: before).status(of: "lamps").deleted == 1)
  }

  @Test func `a late writer of a removed source writes nothing into that of its name`()
    async throws
  {
    let home = URL.temporaryDirectory.appending(path: "scope-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let file = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    let old = ScopedStore(file) { _ in StoreScope(records: "a") }
    _ = try await old.delete(["7"], of: "lamps", at: Fixture.date)
    let new = old.replacing("lamps", with: StoreScope(records: "b"))
    #expect(try await new.status(of: "lamps").deleted == 0)
    _ = try await old.delete(["8"], of: "lamps", at: Fixture.date)
    #expect(try await new.status(of: "lamps").deleted == 0)
    #expect(try await old.status(of: "lamps").deleted == 2)
  }

  @Test func `deletions survive clearing the store, but not another scope`() async throws {
    let home = URL.temporaryDirectory.appending(path: "scope-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let file = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    let first = ScopedStore(file) { _ in StoreScope(records: "a") }
    _ = try await first.delete(["7"], of: "lamps", at: Fixture.date)
    try await first.clear("lamps", forgetsDeleted: false)
    #expect(
      try await ScopedStore(file) { _ in StoreScope(records: "a") }.status(of: "lamps")
        .deleted == 1)
    #expect(try await ScopedStore(file) { _ in nil }.status(of: "lamps").deleted == 1)
    #expect(
      try await ScopedStore(file) { _ in StoreScope(records: "b") }.status(of: "lamps")
        .deleted == 0)
  }

  /// A store as a process with this secret has it.
  private static func store(_ file: SQLiteStore, _ secret: String?) -> ScopedStore {
    ScopedStore(file) { _ in StoreScope(records: "a", secret: secret.map { Secret($0) }) }
  }

  private static func save(_ rows: [String], _ store: some SourceStore) async throws {
    let entries = rows.map { id in
      StoreEntry(id: id, json: Data("{\"id\":\"\(id)\"}".utf8)) { FoldedText(id) }
    }
    _ = try await store.save(StoreBatch(entries), of: "lamps", at: Fixture.date)
  }

  private static func ids(_ store: some SourceStore) async throws -> [String] {
    try await store.ids(of: "lamps", startingWith: "", limit: 100)
  }

  @Test func `a new secret shows what the last one read, and is adopted with its first page`()
    async throws
  {
    let home = URL.temporaryDirectory.appending(path: "scope-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let file = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    try await Self.save(["1", "2", "3"], Self.store(file, "old"))
    _ = try await Self.store(file, "old").delete(["3"], of: "lamps", at: Fixture.date)
    let rotated = Self.store(file, "new")
    #expect(try await Self.ids(rotated) == ["1", "2"])
    #expect(await rotated.isOfUnknownSecret("lamps"))
    // The service has changed all but one.
    try await Self.save(["0", "2"], rotated)
    for secret in ["old", "new", nil] {
      let store = Self.store(file, secret)
      #expect(try await Self.ids(store) == ["0", "1", "2"])
      #expect(await !store.isOfUnknownSecret("lamps"))
      #expect(try await store.status(of: "lamps").deleted == 1)
    }
  }

  @Test func `another account has records, checkpoints and deletions of its own`() async throws {
    let home = URL.temporaryDirectory.appending(path: "scope-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let file = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    let (ann, bob) = (Self.store(file, "ann"), Self.store(file, "bob"))
    try await Self.save(["1", "2"], ann)
    let update = CheckpointUpdate("sync", from: nil, to: "page 2")
    _ = try await ann.save(
      StoreBatch([], page: nil, update: update), of: "lamps", at: Fixture.date)
    _ = try await ann.delete(["2"], of: "lamps", at: Fixture.date)
    try await Self.save(["7", "8"], bob)
    #expect(try await Self.ids(Self.store(file, "bob")) == ["7", "8"])
    #expect(try await Self.store(file, "bob").checkpoint("sync", of: "lamps") == nil)
    // Both processes go on beside each other.
    for _ in 0..<3 {
      try await Self.save(["3"], ann)
      try await Self.save(["9"], bob)
    }
    #expect(try await Self.ids(Self.store(file, "ann")) == ["1", "3"])
    #expect(try await Self.store(file, "ann").checkpoint("sync", of: "lamps") == "page 2")
    #expect(try await Self.ids(Self.store(file, "bob")) == ["7", "8", "9"])
  }

  @Test func `a rotated secret finds the records of its account behind those of another`()
    async throws
  {
    let home = URL.temporaryDirectory.appending(path: "scope-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let file = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    try await Self.save(["1", "2"], Self.store(file, "ann"))
    try await Self.save(["7"], Self.store(file, "bob"))
    try await Self.save(["2"], Self.store(file, "rotated"))
    #expect(try await Self.ids(Self.store(file, "rotated")) == ["1", "2"])
    #expect(try await Self.ids(Self.store(file, "bob")) == ["7"])
    #expect(try await Self.store(file, "ann").scopes(of: "lamps").count == 2)
  }

  @Test func `a scope that was begun for a known account can be mended`() async throws {
    let home = URL.temporaryDirectory.appending(path: "scope-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let file = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    try await Self.save(["1", "2"], Self.store(file, "old"))
    let rotated = Self.store(file, "new")
    // All of its records have changed.
    try await Self.save(["3"], rotated)
    let scopes = try await rotated.scopes(of: "lamps")
    #expect(scopes.map(\.isShown) == [true, false])
    #expect(scopes.map(\.status.records) == [1, 2])
    #expect(scopes.map(\.secrets) == [1, 1])
    let old = try #require(scopes.last?.name)
    #expect(try await !rotated.adopt("x", of: "lamps"))
    for _ in 1...2 { #expect(try await rotated.adopt(old, of: "lamps")) }
    for secret in ["old", "new"] {
      #expect(try await Self.ids(Self.store(file, secret)) == ["1", "2"])
    }
    let mended = try await Self.store(file, "old").scopes(of: "lamps")
    #expect(mended.map(\.secrets) == [2, 0])
    #expect(try await !rotated.clearScope(old, of: "lamps"))
    #expect(try await rotated.clearScope(try #require(mended.last?.name), of: "lamps"))
    #expect(try await rotated.scopes(of: "lamps").map(\.name) == [old])
    #expect(try await Self.ids(rotated) == ["1", "2"])
    // And back again: what was adopted can be given away.
    try await Self.save(["9"], Self.store(file, "third"))
    let third = try #require(try await rotated.scopes(of: "lamps").last { !$0.isShown }?.name)
    #expect(try await rotated.adopt(third, of: "lamps"))
    #expect(try await Self.ids(rotated) == ["9"])
    #expect(try await Self.ids(Self.store(file, "old")) == ["1", "2"])
    #expect(try await Self.ids(Self.store(file, "new")) == ["9"])
    // A secret whose scope is gone begins another one, beside that which it gave away and which has its name.
    let secret = Self.store(file, "x")
    try await Self.save(["30"], secret)
    #expect(try await secret.adopt(old, of: "lamps"))
    try await secret.clear("lamps", forgetsDeleted: true)
    try await Self.save(["31"], secret)
    #expect(try await Self.ids(Self.store(file, "x")) == ["31"])
    let all = try await secret.scopes(of: "lamps")
    #expect(Set(all.map(\.name)).count == all.count && all.count == 3)
  }

  // MARK: - Values

  @Test func `a row is the same however it is written`() async throws {
    let server = try LoopbackServer { _ in
      .json(
        #"[{"id": 1, "z": 4.0, "b": {"y": 1e2, "a": [2.50, -0.0], "y": 3}, "n": 1e400, "i": 12345678901234567890}]"#
      )
    }
    let record = try #require(
      try await Self.remote(server, #""paging": "single""#).page(PageRequest()).records.first)
    #expect(
      record.row
        == [
          "b": ["a": [.number(2.5), 0], "y": 100], "i": .number(1.2345678901234567e19), "id": 1,
          "n": nil, "z": 4,
        ])
    let stored = try CanonicalJSON.bytes(of: record)
    let copy = try #require(try JSONText(stored)?.read(DeclaredRecord.self))
    #expect(copy == record)
    #expect(try CanonicalJSON.bytes(of: copy) == stored)
    // The path without containers decodes as Foundation's coders do.
    #expect(try JSONDecoder().decode(DeclaredRecord.self, from: stored) == record)
  }

  // MARK: - Policy and layout

  @Test(arguments: [
    ("", "5/s"), (#""rate": "2/s 90/m", "#, "2/s 90/m"), (#""rate": "off", "#, "off"),
  ])
  func `lists keep the rate of the manifest`(rate: String, expected: String) throws {
    let server = try LoopbackServer { _ in .json("[]") }
    let policy = try Self.plugin(server, "\(rate)\"paging\": \"single\"").policy
    #expect(try policy.rate.flatMap { try SourceSettings().rate($0) } == Rate(expected))
  }

  @Test func `images are accepted in the network of the service`() throws {
    let server = try LoopbackServer { _ in .json("[]") }
    let plugin = try Self.plugin(server, #""image": "photo", "paging": "single""#)
    let own = try DeclaredRecord(
      ["id": 1, "photo": .string("\(server.baseURL)/1.png")], id: [.root.appending("id")])
    #expect(try plugin.imageAddress(of: own, .small, in: SourceSettings()) != nil)
    let remote = DeclaredPlugin(
      "things", try Manifest(reading: Data(#"{"url": "https://a.example", "image": "photo"}"#.utf8))
    )
    #expect(throws: SourceError.self) {
      try remote.imageAddress(of: own, .small, in: SourceSettings())
    }
  }

  @Test func `names that differ in case only are one column`() throws {
    let text =
      #"{"url": "https://a.example", "rows": "$", "id": "id", "fields": ["ID", "name", "Name", "size"]}"#
    let plugin = DeclaredPlugin("things", try Manifest(reading: Data(text.utf8)))
    // The field of the ID has the name id.
    #expect(plugin.fields.map(\.name) == ["id", "id_2", "name", "size"])
  }

  @Test func `without fields one field has all members`() throws {
    let text = #"{"url": "https://a.example", "rows": "$", "id": "id"}"#
    let plugin = DeclaredPlugin("things", try Manifest(reading: Data(text.utf8)))
    #expect(plugin.fields.map(\.name) == ["id", "record"])
    #expect(plugin.fields.filter(\.isShown).map(\.name) == ["id"])
    let row: JSON = ["id": 1, "name": "a", "tags": ["b"]]
    let record = try DeclaredRecord(row, id: [.root.appending("id")])
    #expect(plugin.fields.last?[record] == row)
  }

  @Test func `a record writes the JSON that coders make of it`() throws {
    let row: JSON = [
      "b": [1, .number(2.5), nil, true, ["z": "\"\n/é", "a": []]], "a": .number(1e300), "id": 7,
      "c": .number(3),
      "d": .number(.infinity), "": "",
    ]
    let record = try DeclaredRecord(row, id: [.root.appending("id")])
    for record in [record, record.detailed] {
      // In an array it is encoded by coders.
      let coded = try CanonicalJSON.bytes(of: [record])
      #expect(Data("[".utf8) + (try CanonicalJSON.bytes(of: record)) + Data("]".utf8) == coded)
      #expect(try JSONText(coded)?.read([DeclaredRecord].self) == [record])
    }
  }

  @Test func `a table does not show the ID twice`() throws {
    let server = try LoopbackServer { _ in .json("[]") }
    let text =
      #"{"url": "\#(server.baseURL)", "rows": "$", "id": "key", "fields": ["key", "name", "size"]}"#
    let plugin = DeclaredPlugin("things", try Manifest(reading: Data(text.utf8)))
    #expect(plugin.fields.filter(\.isShown).map(\.name) == ["id", "name", "size"])
    #expect(plugin.fields.map(\.name) == ["id", "key", "name", "size"])
  }

  @Test func `a list shows five fields, of which those with long texts are the last ones`() throws {
    func shown(_ fields: String) throws -> [String] {
      let text =
        #"{"url": "https://a.example", "rows": "$", "id": "id", "title": "name", "fields": [\#(fields)]}"#
      let plugin = DeclaredPlugin("things", try Manifest(reading: Data(text.utf8)))
      return plugin.fields.filter(\.isShown).map(\.name)
    }
    let body = #"{"name": "body", "path": "body", "shown": false}"#
    let many = try shown(#"\#(body), "a", "b", "name", "c", "d", "e""#)
    #expect(many == ["id", "name", "a", "b", "c", "d"])
    // There is room for it, and a list has its fields in their order.
    let few = try shown(#"\#(body), "a", "name""#)
    #expect(few == ["id", "name", "body", "a"])
  }
}
