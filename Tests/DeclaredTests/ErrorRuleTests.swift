import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import DeclaredSource

/// Failures and ends of lists that the status does not tell: by `errors` of a manifest, and without it.
@Suite(.timeLimit(.minutes(10))) struct ErrorRuleTests {
  private let clock = ManualClock()
  private let waits = Counter()
  private let store = InMemoryStore()
  private let environment: PluginEnvironment

  init() {
    environment = PluginEnvironment(
      settings: SourceSettings(), transport: HTTPTransport(), store: store, clock: clock,
      now: { [clock] in Self.start.addingTimeInterval(clock.now.offset / .seconds(1)) },
      random: { 0 },
      observer: Observer { [waits] event in
        if case .waiting(let time, _) = event, time > .zero { waits.add() }
      })
  }

  private static let start = Date(timeIntervalSince1970: 1_753_000_000)

  /// Lamps 1 to `count`, ten on a page; a page may be answered otherwise.
  private static func server(
    _ count: Int, total: Int? = nil,
    _ answer: @escaping @Sendable (Int) -> LoopbackReply? = { _ in nil }
  ) throws -> LoopbackServer {
    try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      return answer(page) ?? .json(body(page, of: count, total))
    }
  }

  private static func body(_ page: Int, of count: Int, _ total: Int? = nil) -> String {
    let rows: [JSON] = (0..<count).dropFirst(10 * (page - 1)).prefix(10).map {
      ["id": .integer($0 + 1), "name": .string("lamp \($0 + 1)")]
    }
    let json: JSON = ["lamps": .array(rows), "total": total.map(JSON.integer) ?? .null]
    return json.text
  }

  private static func plugin(_ server: LoopbackServer, _ rules: String = "[]") throws
    -> DeclaredPlugin
  {
    let text = """
      {"url": "\(server.baseURL)/lamps", "rows": "lamps", "id": "id", "page": "page=1", "total": "total", \
      "paging": "proved", "rate": "off", "fields": ["name"], "item": "\(server.baseURL)/lamps/{id}", \
      "errors": \(rules)}
      """
    return DeclaredPlugin("lamps", try Manifest(reading: Data(text.utf8)))
  }

  private static let tooDeep = LoopbackReply.json(
    #"{"error": {"code": "too_deep", "message": "no lamps below this"}}"#, status: 422)

  private static let endRule =
    #"[{"status": 422, "path": "error.code", "equals": "too_deep", "then": "end"}]"#

  private func sync(
    _ plugin: DeclaredPlugin, waits: Bool = false
  ) async throws -> SyncResult {
    try await plugin.sync(into: store, in: environment).run(upTo: nil, jobs: 1, waits: waits) { _ in
    }
  }

  /// The IDs of all pages, and their warnings.
  private func list(_ plugin: DeclaredPlugin) async throws -> (ids: [String], warnings: [Warning]) {
    var (ids, warnings): ([String], [Warning]) = ([], [])
    for try await step in try plugin.source(in: environment).pages(size: 10) {
      ids += step.items.map(\.id)
      warnings += step.page.warnings
    }
    return (ids, warnings)
  }

  // MARK: - end

  @Test(arguments: [nil, 30, 99])
  func `the end by a rule is complete, and reconciles`(total: Int?) async throws {
    let server = try Self.server(30, total: total) { $0 == 4 ? Self.tooDeep : nil }
    defer { server.stop() }
    let ruled = try Self.plugin(server, Self.endRule)
    let all = try await sync(ruled)
    #expect(all.isComplete && all.added == 30, "\(all)")
    #expect(server.requests.count == 4)
    let fewer = try Self.server(29, total: total) { $0 == 4 ? Self.tooDeep : nil }
    defer { fewer.stop() }
    // The source is another one by its address, so the store's records are those of this one.
    let later = try await DeclaredPlugin(
      "lamps", ruled.manifest.with(\.url, "\(fewer.baseURL)/lamps")
    ).sync(into: store, in: environment).run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(later.isComplete && later.removedUpstream == 1, "\(later)")

    for _ in 1...2 {
      let (ids, warnings) = try await list(ruled)
      #expect(ids.count == 30)
      #expect(warnings.filter(\.meansIncomplete) == [])
      let said = warnings.filter { $0.code == .endedByRule }.map(\.message)
      #expect(
        said
          == (total == 99
            ? ["the service reports 99 records, but a rule for errors ends its list after 30"] : [])
      )
    }
  }

  @Test(arguments: [
    "[]", #"[{"status": 422, "path": "error.code", "equals": "other", "then": "end"}]"#,
    #"[{"status": 400, "then": "end"}]"#,
    #"[{"status": 422, "path": "error.kind", "then": "end"}]"#,
  ])
  func `without a rule that applies, the same end is in doubt`(rules: String) async throws {
    let server = try Self.server(30, total: 99) { $0 == 4 ? Self.tooDeep : nil }
    defer { server.stop() }
    let plugin = try Self.plugin(server, rules)
    let result = try await sync(plugin)
    #expect(!result.isComplete && result.added == 30, "\(result)")
    #expect(try await list(plugin).warnings.contains(where: \.meansIncomplete))
  }

  @Test func `the rows of the response that ends a list are its last`() async throws {
    let server = try Self.server(40, total: 40) { page in
      page == 2
        ? .json(
          Self.body(2, of: 40, 40).replacing("{\"lamps\"", with: "{\"final\": true, \"lamps\""))
        : nil
    }
    defer { server.stop() }
    let rules = #"[{"path": "final", "equals": true, "then": "end"}]"#
    let result = try await sync(try Self.plugin(server, rules))
    #expect(result.isComplete && result.added == 20, "\(result)")
    #expect(server.requests.count == 2)
  }

  @Test func `an empty list by a rule removes nothing`() async throws {
    let honest = try Self.server(30)
    defer { honest.stop() }
    let plugin = try Self.plugin(honest, Self.endRule)
    #expect(try await sync(plugin).isComplete)
    let empty = try Self.server(0) { _ in Self.tooDeep }
    defer { empty.stop() }
    let result = try await DeclaredPlugin(
      "lamps", plugin.manifest.with(\.url, "\(empty.baseURL)/lamps")
    ).sync(into: store, in: environment).run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(!result.isComplete && result.removedUpstream == 0, "\(result)")
  }

  // MARK: - fail, retry, wait

  @Test(arguments: [
    (
      #"[{"path": "state", "equals": "broken", "message": "why.text", "then": "fail"}]"#,
      "lamp 7 broke"
    ),
    (#"[{"path": "state", "then": "fail"}]"#, "ask the janitor"),
    (
      #"[{"status": 200, "path": "parts.*.ok", "equals": false, "then": "fail"}]"#,
      "ask the janitor"
    ),
    (#"[{"path": "absent", "exists": false, "then": "fail"}]"#, "ask the janitor"),
    (#"[{"path": "parts.1.volts", "equals": 12.5, "then": "fail"}]"#, "ask the janitor"),
    (
      #"[{"path": "state", "equals": "fine", "then": "retry"}, {"path": "state", "then": "fail"}, "#
        + #"{"path": "state", "then": "wait"}]"#,
      "ask the janitor"
    ),
  ])
  func `the first rule that applies makes an error of the service's words`(
    rules: String, words: String
  ) async throws {
    let server = try Self.server(30) { _ in
      .json(
        #"{"state": "broken", "why": {"text": "lamp 7 broke"}, "message": "ask the janitor", "#
          + #""parts": [{"ok": true}, {"ok": false, "volts": 12.5}], "lamps": [{"id": 1}]}"#)
    }
    defer { server.stop() }
    let plugin = try Self.plugin(server, rules)
    let error = await #expect(throws: SourceError.self) { try await list(plugin) }
    #expect(error?.code == .rejected)
    #expect(error?.message == "\(server.authority) reports an error: \"\(words)\"")
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [
    #"[{"path": "state", "exists": false, "then": "fail"}]"#,
    #"[{"path": "none", "exists": true, "then": "fail"}]"#,
    #"[{"path": "state", "equals": "bro", "then": "fail"}]"#,
    #"[{"path": "count", "equals": "1", "then": "fail"}]"#,
    #"[{"status": 201, "path": "state", "then": "fail"}]"#,
  ])
  func `a rule that does not apply changes nothing`(rules: String) async throws {
    let server = try Self.server(30) { _ in
      .json(#"{"state": "broken", "none": null, "count": 1, "lamps": []}"#)
    }
    defer { server.stop() }
    #expect(try await list(Self.plugin(server, rules)).ids == [])
  }

  @Test(arguments: [2, 9])
  func `a response that is not ready is requested again`(pending: Int) async throws {
    let counter = Counter()
    let server = try Self.server(5) { _ in
      counter.add()
      return counter.value <= pending
        ? .json(#"{"status": "pending", "detail": "warming up"}"#) : nil
    }
    defer { server.stop() }
    let plugin = try Self.plugin(
      server, #"[{"path": "status", "equals": "pending", "then": "retry"}]"#)
    if pending < 3 {
      #expect(try await list(plugin).ids.count == 5)
    } else {
      let error = await #expect(throws: SourceError.self) { try await list(plugin) }
      #expect(error?.code == .serverError)
      #expect(error?.message == "\(server.authority) is not ready: \"warming up\"")
    }
    #expect(counter.value == (pending < 3 ? 4 : 3))
  }

  private static let waitRule = #"[{"status": 400, "path": "code", "equals": 17, "then": "wait"}]"#

  /// With the time that the service names, or with growing pauses.
  @Test(arguments: [[("Retry-After", "40")], []])
  func `a sync that waits goes on after the pause`(fields: [(String, String)]) async throws {
    let refusals = Counter()
    let (asks, attempts) = fields.isEmpty ? (6, 3) : (2, 1)
    let server = try Self.server(25) { page in
      guard page == 2, refusals.value < asks else { return nil }
      refusals.add()
      return .status(400, #"{"code": 17, "message": "easy"}"#, headers: fields)
    }
    defer { server.stop() }
    let plugin = try Self.plugin(server, Self.waitRule)
    let unwaiting = try await sync(plugin)
    #expect(unwaiting.failure?.code == .rateLimited)
    #expect(unwaiting.failure?.message == "\(server.authority) asks to wait (400): \"easy\"")
    #expect(unwaiting.failure?.retryAfter == (fields.isEmpty ? nil : .seconds(40)))
    #expect(refusals.value == attempts)
    if !fields.isEmpty { clock.advance(by: .seconds(40)) }
    let before = waits.value
    async let result = sync(plugin, waits: true)
    await waits.reaches(before + 1)
    await clock.sleepers(atLeast: 1)
    let count = server.requests.count
    #expect(clock.untilNextWake == (fields.isEmpty ? .seconds(60) : .seconds(40)))
    #expect(refusals.value == asks)
    clock.advance(by: fields.isEmpty ? .seconds(60) : .seconds(40))
    #expect(try await result.isComplete)
    #expect(server.requests.count == count + 3)
  }

  // MARK: - Single records

  @Test func `a single record that does not exist is no error of a rule`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"error": "no such lamp"}"#, status: 404) }
    defer { server.stop() }
    for (rules, code) in [
      (#"[{"path": "error", "then": "fail"}]"#, SourceError.Code.notFound),
      (#"[{"status": 404, "path": "error", "then": "fail"}]"#, .rejected),
      (#"[{"status": 404, "then": "end"}]"#, .notFound),
    ] {
      let source = try Self.plugin(server, rules).remote(in: environment)
      let error = await #expect(throws: SourceError.self) { try await source.item("7") }
      #expect(error?.code == code)
    }
  }

  @Test func `a rule also decides about a single record`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"id": 7, "state": "gone mad"}"#) }
    defer { server.stop() }
    let source = try Self.plugin(
      server, #"[{"path": "state", "message": "state", "then": "fail"}]"#
    )
    .remote(in: environment)
    let error = await #expect(throws: SourceError.self) { try await source.item("7") }
    #expect(error?.message == "\(server.authority) reports an error: \"gone mad\"")
  }

  // MARK: - Without a rule

  static let quotas: [[(String, String)]] = [
    [("RateLimit", #""p";r=0;t=30"#)],
    [("RateLimit-Remaining", "0"), ("RateLimit-Reset", "30")],
    [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1753000030")],
  ]

  @Test(arguments: quotas)
  func `a service without any quota left gets no request before its reset`(
    fields: [(String, String)]
  ) async throws {
    let server = try Self.server(25) { page in
      page == 1 ? .status(200, Self.body(1, of: 25), headers: fields) : nil
    }
    defer { server.stop() }
    let plugin = try Self.plugin(server)
    async let result = sync(plugin, waits: true)
    await waits.reaches(1)
    await clock.sleepers(atLeast: 1)
    #expect(server.requests.count == 1)
    // Other calls, also of another process with the same store, fail at once and send nothing.
    let error = await #expect(throws: SourceError.self) {
      try await plugin.live(in: environment).page(PageRequest(limit: 10))
    }
    #expect(error?.code == .rateLimited && error?.retryAfter == .seconds(30))
    #expect(error?.message.hasPrefix("rate limited by the service just now, after GET /") == true)
    #expect(server.requests.count == 1)
    clock.advance(by: .seconds(30))
    #expect(try await result.isComplete)
    #expect(server.requests.count == 4)
  }

  @Test func `a call waits for a reset that comes before its deadline`() async throws {
    let server = try Self.server(25) { page in
      .status(200, Self.body(page, of: 25), headers: [("RateLimit", #""p";r=0;t=2"#)])
    }
    defer { server.stop() }
    let source = try Self.plugin(server).live(in: environment)
    let first = try await source.page(PageRequest(limit: 10))
    async let second = source.page(PageRequest(after: first.next, limit: 10))
    await waits.reaches(1)
    await clock.sleepers(atLeast: 2)
    #expect(server.requests.count == 1)
    clock.advance(by: .seconds(2))
    #expect(try await second.records.count == 10)
  }

  @Test(arguments: [
    [("RateLimit", #""p";r=1;t=30"#)], [("RateLimit", #""p";r=0;t=-30"#)],
    [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "soon")],
    [("X-RateLimit-Remaining", "-1"), ("X-RateLimit-Reset", "30")],
  ])
  func `quota that is left, and nonsense, pause nothing`(fields: [(String, String)]) async throws {
    let server = try Self.server(25) { page in
      .status(200, Self.body(page, of: 25), headers: fields)
    }
    defer { server.stop() }
    #expect(try await sync(try Self.plugin(server)).isComplete)
    #expect(waits.value == 0)
  }

  @Test(arguments: [
    (403, [("Retry-After", "30")]), (429, [("Retry-After", "30")]),
    (403, [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1753000030")]),
    (403, [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "30")]),
    (403, [("RateLimit", #""p";r=0;t=30"#)]), (429, [("RateLimit", #""p";r=0;t=30"#)]),
    (200, [("Retry-After", "30")]),
  ])
  func `a sync waits as long as a refusal says`(
    status: Int, fields: [(String, String)]
  ) async throws {
    let refusals = Counter()
    let server = try Self.server(25) { page in
      guard page == 2, refusals.value == 0 else { return nil }
      refusals.add()
      return .status(status, #"{"ok": false, "error": "rate limited"}"#, headers: fields)
    }
    defer { server.stop() }
    async let result = sync(try Self.plugin(server), waits: true)
    await waits.reaches(1)
    await clock.sleepers(atLeast: 1)
    #expect(clock.untilNextWake == .seconds(30))
    #expect(server.requests.count == 2)
    clock.advance(by: .seconds(30))
    #expect(try await result.isComplete)
    #expect(server.requests.count == 5)
  }

  @Test(
    arguments: [
      (#"{"ok": false, "error": "no such channel", "lamps": []}"#, "no such channel"),
      (
        #"{"errors": [{"message": "Field 'x' is unknown", "extensions": {"code": 7}}]}"#,
        "Field 'x' is unknown"
      ),
      (#"{"errors": [{"code": 7, "message": "seven"}], "data": null}"#, "seven"),
      (#"{"error": {"code": 500, "status": {"text": "cracked"}}}"#, "cracked"),
      (#"{"error": true, "message": "No such project"}"#, "No such project"),
      (#"{"errors": [{}]}"#, nil),
    ] as [(String, String?)])
  func `an error with status 200 has the service's words`(body: String, words: String?) async throws
  {
    let server = try Self.server(25) { _ in .json(body) }
    defer { server.stop() }
    let error = await #expect(throws: SourceError.self) { try await list(Self.plugin(server)) }
    #expect(error?.code == .rejected)
    let reason = words.map { "\"\($0)\"" } ?? "no reason given"
    #expect(error?.message == "\(server.authority) reports an error: \(reason)")
    #expect(server.requests.count == 1)
  }

  /// Members that are long push their name away from both ends of the body.
  @Test(arguments: [1, 200])
  func `errors beside rows keep the rows, and are never complete`(count: Int) async throws {
    let about = String(repeating: "light ", count: 3 * count)
    let errors = JSON.array(
      (1...count).map {
        ["message": .string("shard \($0) is down"), "path": ["lamps", 3, "name"]]
      })
    let server = try Self.server(25) { page in
      page == 2
        ? .json(
          String(Self.body(2, of: 25).dropLast())
            + ", \"about\": \"\(about)\", \"errors\": \(errors.text)}")
        : nil
    }
    defer { server.stop() }
    let plugin = try Self.plugin(server)
    let (ids, warnings) = try await list(plugin)
    #expect(ids.count == 25)
    let words = "\(server.authority) reports an error: \"shard 1 is down\""
    #expect(warnings.filter(\.meansIncomplete).map(\.message) == [words])
    let result = try await sync(plugin)
    #expect(!result.isComplete && result.inconclusiveReason == words, "\(result)")
  }
}

extension Manifest {
  /// The manifest with another value.
  fileprivate func with<Value>(_ path: WritableKeyPath<Manifest, Value>, _ value: Value) -> Manifest
  {
    var manifest = self
    manifest[keyPath: path] = value
    return manifest
  }
}

extension LoopbackServer {
  fileprivate var authority: String { "127.0.0.1:\(port)" }
}
