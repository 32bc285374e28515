import AggregatorKit
import AggregatorSourceTesting
import AggregatorTerminal
import AggregatorTestSupport
import Foundation
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorServer
@testable import AggregatorWeb
@testable import DeclaredSource

/// The ways from the record of a source to those of others.
@Suite(.timeLimit(.minutes(10))) struct RecordLinksTests {
  private let sandbox: Sandbox
  private let environment: PluginEnvironment

  init() throws {
    sandbox = try Sandbox()
    environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: HTTPTransport(),
      store: SQLiteStore(at: sandbox.root.appending(path: "store.sqlite").path))
  }

  /// An added source with these fields, all of whose records are cached.
  private func source(
    _ name: String, _ fields: [String], _ rows: [String]
  ) async throws -> any ServedSource {
    let server = try LoopbackServer { _ in .json("[\(rows.joined(separator: ","))]") }
    let manifest = """
      {"url": "\(server.baseURL)/\(name)", "rows": "$", "id": "id", "paging": "single",
      "fields": [\(fields.map { "\"\($0)\"" }.joined(separator: ","))]}
      """
    let plugin = DeclaredPlugin(name, try Manifest(reading: Data(manifest.utf8)))
    let source = ServedPlugin(plugin, in: environment)
    let result = try await source.sync(pages: nil) { _ in }
    withExtendedLifetime(server) {}
    #expect(result.failure == nil && result.passed == rows.count)
    return source
  }

  private var makers: any ServedSource {
    get async throws {
      try await source(
        "makers", ["name"],
        [
          #"{"id": 103, "name": "Acme <&>"}"#, #"{"id": 104, "name": "Idle"}"#,
          #"{"id": 2, "name": "Twin"}"#,
        ])
    }
  }

  /// An opened record.
  private func page(
    _ source: String, _ id: String, of sources: [any ServedSource]
  ) async throws -> String {
    let router = WebRouter(
      program: "aggregator",
      api: API(
        sources: sources, sql: nil, adding: nil, syncs: SyncJobs(in: environment),
        now: { MadeUpSource.now }))
    let response = try await router.response(
      to: ServerRequest(
        method: "GET", query: [.init("cache", "offline")],
        headers: [.init(HTMLFragment.header, HTMLFragment.detail.rawValue)]),
      for: RoutePath(.record, source, id), readOnly: false)
    #expect(response.status == 200)
    guard case .bytes(let bytes) = response.body else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `an ID leads to the cached record of another source, and that to all that have it`()
    async throws
  {
    let things = try await source(
      "things", ["name", "maker_id"],
      [
        #"{"id": 1, "name": "Lamp", "maker_id": 103}"#,
        #"{"id": 2, "name": "Sofa", "maker_id": 2}"#,
        #"{"id": 3, "name": "Rug", "maker_id": 103}"#,
        #"{"id": 4, "name": "Bed", "maker_id": 999}"#, #"{"id": 5, "name": "Vase"}"#,
      ])
    let all = [things, try await makers]
    let link =
      #"<a href="/sources/makers/103"><data value="103"><bdi>103</bdi></data> · <bdi>Acme &#60;&#38;&#62;</bdi></a>"#
    #expect(try await page("things", "1", of: all).contains(link))
    // A record of another source may have the same ID.
    #expect(try await page("things", "2", of: all).contains(#"<a href="/sources/makers/2">"#))
    for id in ["4", "5"] {
      #expect(try await !page("things", id, of: all).contains("/sources/makers"))
    }
    // Without the other source, it is a value like any other.
    #expect(try await !page("things", "1", of: [things]).contains("/sources/makers"))

    let list =
      #"<dt>Things</dt><dd><a href="/sources/things?where=maker_id%3D%22103%22">2 cached things with this maker</a></dd>"#
    #expect(try await page("makers", "103", of: all).contains(list))
    #expect(try await page("makers", "2", of: all).contains(">1 cached thing with this maker<"))
    #expect(try await !page("makers", "104", of: all).contains("with this maker"))
    let query = ServedQuery(conditions: [#"maker_id="103""#])
    #expect(try await things.page(query).records.count == 2)
  }

  @Test func `the values of many records are not read for a link, which says that none may match`()
    async throws
  {
    let rows = (1...2001).map { #"{"id": \#($0), "name": "Part \#($0)", "maker": 104}"# }
    let parts = try await source("parts", ["name", "maker"], rows)
    let query = ServedQuery(conditions: [#"maker="103""#])
    #expect(await parts.knownCount(of: query) == nil)
    let all = [parts, try await makers]
    #expect(
      try await page("makers", "103", of: all).contains(">Cached parts that may have this maker<"))
    // A list reads them.
    #expect(try await parts.page(query).records.isEmpty)
    #expect(await parts.knownCount(of: query) == 0)
    #expect(try await !page("makers", "103", of: all).contains("this maker"))
    #expect(
      try await page("makers", "104", of: all).contains(">2,001 cached parts with this maker<"))
  }

  @Test func `a source without cached records has no links, nor has one without a store`()
    async throws
  {
    let makers = try await makers
    let bundled = MadeUpSource(
      name: "countries", records: [ServedRecord("FR", "France")],
      provenance: Provenance(.bundled))
    let lines = [ServedRecord.Line(field: "country", label: "Country", value: "FR")]
    let record = ServedRecord("1", "Lamp", card: lines)
    var links = await RecordLinks(of: record, in: makers, among: [makers, bundled])
    #expect(links.targets.isEmpty && links.referrers.isEmpty)
    var cached = bundled
    cached.provenance = Provenance(.cached)
    links = await RecordLinks(of: record, in: makers, among: [makers, cached])
    #expect(links.targets["country"]?.record.name == "France")
    cached.hasStore = false
    links = await RecordLinks(of: record, in: makers, among: [makers, cached])
    #expect(links.targets.isEmpty)
  }

  @Test(arguments: [
    ("makers", "maker_id"), ("makers", "makerId"), ("makers", "makerID"), ("makers", "maker-id"),
    ("makers", "MAKER_ID"), ("makers", "maker.id"), ("makers", "maker"), ("makers", "makers"),
    ("makers", "details.maker_id"), ("maker", "maker_id"), ("boxes", "box_id"),
    ("houses", "house_id"), ("statuses", "status_id"), ("categories", "categoryId"),
    ("people", "person_id"), ("tool-makers", "tool_maker_id"),
  ])
  func `a field is named after the records of a source`(source: String, field: String) {
    #expect(RecordNoun(source).names(field))
  }

  @Test(arguments: [
    ("makers", "id"), ("makers", "_id"), ("makers", "ID"), ("makers", "make_id"),
    ("makers", "maker_name"), ("makers", "maker.name"), ("makers", "toymaker_id"), ("makers", ""),
    ("cands", "candid"), ("s", "id"), ("-", "_id"),
  ])
  func `other fields are not`(source: String, field: String) {
    #expect(!RecordNoun(source).names(field))
  }
}
