import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorInference
@testable import AggregatorSync
@testable import DeclaredSource

/// `since` in a manifest: how it is read, proved and used.
@Suite(.timeLimit(.minutes(10))) struct ManifestChangesTests {
  private static func manifest(_ since: String) throws -> Manifest {
    let text = """
      {"url": "https://api.example/orders?updated_since=2020-01-01", "rows": "$", "id": "id", "since": \(since)}
      """
    return try Manifest(reading: Data(text.utf8))
  }

  @Test func `reads and writes all members`() throws {
    let text = """
      {"parameter":"updated_since","field":"meta.updated","format":"unix","order":"ascending",\
      "lookback":"2h","full":"3d"}
      """
    let manifest = try Self.manifest(text)
    let changes = try #require(manifest.changes)
    #expect(changes.parameter == "updated_since" && changes.field == JSONPath("meta.updated"))
    #expect(changes.tracking.format == .unix && changes.tracking.order == .ascending)
    #expect(changes.tracking.lookback == .seconds(7200))
    #expect(changes.tracking.fullEvery == .seconds(3 * 86_400))
    #expect(manifest.json["since"]?.text == text)
    let short = #"{"parameter":"since","field":"updated_at"}"#
    let plain = try Self.manifest(short)
    #expect(plain.changes?.tracking.lookback == .seconds(3600))
    #expect(plain.json["since"]?.text == short)
  }

  @Test(arguments: [
    (#""updated_since""#, "line 1: \"since\" must be an object such as"),
    (#"{"parameter": "since"}"#, "line 1: \"since\" must be an object with a \"field\""),
    (#"{"field": "updated_at"}"#, "unless the \"order\" is \"descending\""),
    (#"{"parameter": "since", "field": "a.*.b"}"#, "\"since.field\" must be a path"),
    (#"{"parameter": "since", "field": "a", "order": "up"}"#, "\"since.order\" must be"),
    (#"{"parameter": "since", "field": "a", "format": "iso"}"#, "\"since.format\" must be"),
    (#"{"parameter": "since", "field": "a", "lookback": 3}"#, "\"since.lookback\" must be"),
    (#"{"parameter": "since", "fields": "a"}"#, "\"fields\""),
  ])
  func `a wrong one names its key`(since: String, words: String) throws {
    let error = #expect(throws: SourceError.self) { try Self.manifest(since) }
    #expect(error?.code == .invalidSettings)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test(
    arguments: [
      ("2026-11-20T14:02:00.123+01:00", nil, "2026-11-20T12:02:00Z"),
      ("2026-11-20 14:02:00", nil, "2026-11-20 13:02:00"),
      ("2026-11-20T14:02:00Z", ChangeTracking.Format.date, "2026-11-20"),
      ("2026-11-20", nil, "2026-11-19"), ("1795183320", nil, "1795179720"),
      ("1795183320000", nil, "1795179720000"),
      ("2026-11-20T14:02:00Z", .unix, "1795183320"),
      ("1795183320", .iso8601, "2026-11-20T13:02:00Z"),
      ("1795183320", .unixMilliseconds, "1795179720000"), ("4711", nil, "4711"),
      ("v12", nil, "v12"),
    ] as [(String, ChangeTracking.Format?, String)])
  func `asks for an hour less, in the form of the mark or another one`(
    mark: String, format: ChangeTracking.Format?, parameter: String
  ) throws {
    let tracking = ChangeTracking("since", format: format)
    let asked = tracking.parameter(for: mark, less: .seconds(3600))
    if format == .unix {
      #expect(asked == "1795179720")
    } else {
      #expect(asked == parameter)
    }
  }

  @Test func `no lookback is too long`() {
    for mark in ["2026-11-20T14:02:00Z", "1795183320"] {
      let tracking = ChangeTracking("since", format: .iso8601)
      let asked = tracking.parameter(for: mark, less: .seconds(1_000_000 * 86_400))
      #expect(!asked.isEmpty && asked < mark)
    }
  }

  // MARK: - Services

  /// A service with 45 orders, one changed each hour of two days.
  private static func service(
    _ parameter: String = "since", ignores: Bool = false, refuses: Bool = false
  ) throws -> LoopbackServer {
    try LoopbackServer { request in
      let since = request.query[parameter] ?? ""
      if refuses, since.hasPrefix("2999") { return .status(422, "{}", headers: []) }
      let rows = (1...45).map { number -> (String, JSON) in
        let time = Date(timeIntervalSince1970: 1_795_000_000 + Double(number) * 3600).iso8601
        return (
          time,
          [
            "id": .integer(number), "title": .string("Order \(number)"),
            "updated_at": .string(time), "created_at": .string(time),
          ]
        )
      }
      let listed = rows.filter { ignores || $0.0 >= since }.map(\.1)
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      return .json(JSON.array(Array(listed.dropFirst((page - 1) * 10).prefix(10))).text)
    }
  }

  private static func proposal(_ server: LoopbackServer, _ url: String) async throws -> Proposal {
    let hints: JSON = [
      "url": .string("\(server.baseURL)\(url)"), "rate": "off",
      "since": ["parameter": "since", "field": "updated_at"],
    ]
    return try await Proposal(
      for: "orders", from: hints,
      in: PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport()))
  }

  @Test(arguments: [false, true])
  func `is proved by a time after all changes and one of the first page`(
    refuses: Bool
  ) async throws {
    let proposal = try await Self.proposal(try Self.service(refuses: refuses), "/orders")
    #expect(proposal.isProved && proposal.warnings.isEmpty)
    let since = try #require(proposal.evidence.first { $0.key == "since" })
    #expect(since.value == "since")
    #expect(since.reason == "no rows for 2999-12-31T00:00:00Z, 10 since 2026-11-18T17:06:40Z")
    #expect(proposal.json["since"]?["parameter"] == "since")
  }

  @Test func `is left out if the service ignores it`() async throws {
    let proposal = try await Self.proposal(try Self.service(ignores: true), "/orders")
    #expect(proposal.isProved && proposal.json["since"] == nil)
    #expect(proposal.evidence.first { $0.key == "since" }?.value == "–")
    let reason = "the service ignores \"since\": 10 rows for 2999-12-31T00:00:00Z"
    #expect(proposal.warnings == ["every sync will read everything: \(reason)"])
  }

  @Test func `replaces the parameter in the URL, and keeps it out of the first sync`() async throws
  {
    let server = try Self.service()
    let text = """
      {"url": "\(server.baseURL)/orders?since=2020-01-01&state=all", "rows": "$", "id": "id",
       "page": "page=1", "paging": "proved", "rate": "off",
       "since": {"parameter": "since", "field": "updated_at", "order": "ascending"}}
      """
    let plugin = DeclaredPlugin("orders", try Manifest(reading: Data(text.utf8)))
    let store = InMemoryStore()
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: HTTPTransport(), store: store,
      now: { Date(timeIntervalSince1970: 1_795_200_000) })
    let full = try await plugin.sync(into: store, in: environment)
      .run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(full.kind == .full && full.isComplete && full.added == 45)
    #expect(Set(server.requests.map { $0.query["since"] }) == ["2020-01-01"])
    let changes = try await plugin.sync(into: store, in: environment)
      .run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(changes.kind == .incremental && changes.isComplete && changes.unchanged == 2)
    let last = try #require(server.requests.last)
    #expect(last.rawQuery?.contains("state=all") == true)
    #expect(last.query["page"] == "2")
    #expect(last.query["since"] == "2026-11-20T07:06:40Z", "\(last.rawQuery ?? "")")
  }

  @Test func `marks of another field begin with a full sync`() async throws {
    let server = try Self.service()
    let store = InMemoryStore()
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: HTTPTransport(), store: store,
      now: { Date(timeIntervalSince1970: 1_795_200_000) })
    func kind(_ field: String) async throws -> SyncResult.Kind {
      let text = """
        {"url": "\(server.baseURL)/orders", "rows": "$", "id": "id", "page": "page=1",
         "paging": "proved", "rate": "off", "since": {"parameter": "since", "field": "\(field)"}}
        """
      let plugin = DeclaredPlugin("orders", try Manifest(reading: Data(text.utf8)))
      return try await plugin.sync(into: store, in: environment)
        .run(upTo: nil, jobs: 1, waits: false) { _ in }.kind
    }
    #expect(try await kind("updated_at") == .full)
    #expect(try await kind("updated_at") == .incremental)
    #expect(try await kind("created_at") == .full)
    #expect(try await kind("created_at") == .incremental)
  }
}
