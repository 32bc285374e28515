import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorInference
@testable import DeclaredSource

/// A compiled source whose list is a file of CSV.
private struct TablePlugin: Plugin {
  struct Lamp: SourceRecord {
    let id: String
    var name: String
    var price: Double?
  }

  let url: URL
  let name = "lamps"
  let summary = "lamps"
  let example = PluginExample(query: "lamp", id: "1")
  let fields = [Field<Lamp>("name", "name", \.name, about: "Name.")]

  var policy: Policy {
    var policy = Policy(largestPage: 2000, upstreamPageSize: .fixed(2000))
    policy.listIsFile = true
    return policy
  }

  func remote(in environment: PluginEnvironment) -> any DataSource<Lamp> {
    RESTSource(
      name, in: environment.readingFiles(of: self, as: .csv),
      list: HTTPRequest(.get, url.appending(path: "lamps")), paging: .file)
  }
}

/// Lists that are one large file: read row by row, while it arrives.
@Suite(.timeLimit(.minutes(10))) struct FileListTests {
  private static let count = 12_345

  private static func lines(_ count: Int = count, from first: Int = 1) -> Data {
    Data(
      (first..<first + count).map { "{\"id\": \($0), \"name\": \"lamp \($0)\"}\n" }.joined().utf8)
  }

  private static func table(_ count: Int = count) -> Data {
    Data(("id,name,price\n" + (1...count).map { "\($0),\"lamp, \($0)\",\($0).5\n" }.joined()).utf8)
  }

  /// A service with one file, which a test may change.
  private final class Service: Sendable {
    let file: Mutex<ServedFile>

    init(_ data: Data, _ type: String = "application/x-ndjson") {
      var file = ServedFile("")
      file.bytes = data
      file.fields.append(("Content-Type", type))
      self.file = Mutex(file)
    }

    /// Replaces the file by another version.
    func put(_ data: Data) {
      file.withLock { file in
        file.bytes = data
        file.fields[0].1 = "\"2\""
      }
    }

    /// Only the first response is cut.
    func server() throws -> LoopbackServer {
      try LoopbackServer { [self] request in
        if request.path.hasPrefix("/lamps/") {
          let id = request.path.dropFirst("/lamps/".count)
          guard let number = Int(id), 1...count ~= number else { return .json("{}", status: 404) }
          return .json("{\"id\": \(id), \"name\": \"lamp \(id)\"}")
        }
        return file.withLock { file in
          defer { file.cut = nil }
          return file.reply(to: request)
        }
      }
    }
  }

  private let directory = FileManager.default.temporaryDirectory.appending(
    path: "files-\(UUID())")

  private func environment() -> PluginEnvironment {
    var environment = PluginEnvironment(
      settings: SourceSettings(), transport: LongTimeoutTransport(), store: InMemoryStore())
    environment.downloadDirectory = directory
    return environment
  }

  private func plugin(_ server: LoopbackServer, _ format: String) throws -> DeclaredPlugin {
    let text = """
      {"url": "\(server.baseURL)/lamps", "rows": "$", "id": "id", "paging": "single", "rate": "off",
       "item": "\(server.baseURL)/lamps/{id}", "fields": ["name"], "format": "\(format)", "kinds": {"id": "number", "price": "number"}}
      """
    return DeclaredPlugin("lamps", try Manifest(reading: Data(text.utf8)))
  }

  private func ids(_ source: any DataSource<DeclaredRecord>) async throws -> [Int] {
    var ids: [Int] = []
    for try await step in source.pages(size: 500) { ids += step.items.compactMap { Int($0.id) } }
    return ids
  }

  @Test(arguments: ["ndjson", "csv", "ndjson.gz", "csv.gz"])
  func `all rows are read with one request`(format: String) async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let plain = format.hasPrefix("csv") ? Self.table() : Self.lines()
    let service = Service(
      format.hasSuffix("gz") ? Gzip.file(plain) : plain, "application/octet-stream")
    let server = try service.server()
    let plugin = try plugin(server, format.split(separator: ".").first.map(String.init) ?? "")
    let all = try await ids(try plugin.remote(in: environment()))
    #expect(all == Array(1...Self.count))
    #expect(server.requests.count == 1)
  }

  /// The IDs of pages that are each read by a process of its own, and the warnings of all.
  private func idsByPages(_ plugin: DeclaredPlugin) async throws -> (
    ids: [Int], warnings: [Warning]
  ) {
    var read: (ids: [Int], warnings: [Warning]) = ([], [])
    var cursor: PageCursor?
    repeat {
      let page = try await plugin.remote(in: environment())
        .page(PageRequest(after: cursor, limit: 2000))
      read.ids += page.records.compactMap { Int($0.id) }
      read.warnings += page.warnings
      cursor = page.next
    } while cursor != nil
    return read
  }

  @Test func `another process continues where one was killed`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let service = Service(Self.lines())
    let server = try service.server()
    let plugin = try plugin(server, "ndjson")
    let read = try await idsByPages(plugin)
    #expect(read.ids == Array(1...Self.count) && read.warnings.isEmpty)
  }

  @Test(arguments: [false, true])
  func `the number of a row is its place in the whole file`(isCompressed: Bool) async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    // All rows are the same, and one cannot be read.
    let lines = (1...Self.count).map { $0 == 2500 ? "nothing\n" : "{\"name\": \"lamp\"}\n" }
    let data = Data(lines.joined().utf8)
    let service = Service(isCompressed ? Gzip.file(data) : data)
    let server = try service.server()
    let text = """
      {"url": "\(server.baseURL)/lamps", "rows": "$", "id": "#", "paging": "single", "rate": "off",
       "format": "ndjson"}
      """
    let plugin = DeclaredPlugin("lamps", try Manifest(reading: Data(text.utf8)))
    let expected = (1...Self.count).filter { $0 != 2500 }
    #expect(try await ids(try plugin.remote(in: environment())) == expected)
    #expect(try await idsByPages(plugin).ids == expected)

    let first = try await plugin.remote(in: environment()).page(PageRequest(limit: 2000))
    service.put(Data(lines.prefix(2400).joined().utf8))
    let restarted = try await plugin.remote(in: environment())
      .page(PageRequest(after: first.next, limit: 2000))
    #expect(restarted.records.first?.id == "1")
  }

  @Test func `a broken transfer is continued, and no row is lost or read twice`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let data = Self.lines()
    let service = Service(data)
    service.file.withLock { $0.cut = data.count / 3 }
    let server = try service.server()
    let all = try await ids(try plugin(server, "ndjson").source(in: environment()))
    #expect(all == Array(1...Self.count))
    let ranges = server.requests.map { $0.header("range") }
    #expect(ranges.count == 2 && ranges[0] == nil && ranges[1] != nil, "\(ranges)")
  }

  @Test func `a file that has changed is started over, and says so`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let service = Service(Self.lines())
    let server = try service.server()
    let plugin = try plugin(server, "ndjson")
    let first = try await plugin.remote(in: environment()).page(PageRequest(limit: 2000))
    service.put(Self.lines(3000, from: 50_000))
    let second = try await plugin.remote(in: environment())
      .page(PageRequest(after: first.next, limit: 2000))
    #expect(second.records.first?.id == "50000")
    #expect(second.warnings.map(\.code) == [.restarted])
  }

  @Test func `a file that is cut off has the rows before, and is not complete`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let service = Service(Self.lines().dropLast(10))
    let server = try service.server()
    let environment = environment()
    let store = try #require(environment.store)
    let result = try await plugin(server, "ndjson").sync(into: store, in: environment)
      .run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(!result.isComplete)
    #expect(result.added == Self.count - 1)
    #expect(result.inconclusiveReason?.contains("the last line is not a whole JSON value") == true)
  }

  @Test func `a damaged line is named, whatever page it is on`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let service = Service(
      Self.lines(2500) + Data("{\"id\": \n".utf8) + Self.lines(10, from: 2501))
    let server = try service.server()
    let source = try plugin(server, "ndjson").remote(in: environment())
    let first = try await source.page(PageRequest(limit: 2000))
    #expect(first.records.count == 2000 && first.unreadable == .none)
    let second = try await source.page(PageRequest(after: first.next, limit: 2000))
    #expect(second.records.count == 510)
    #expect(second.unreadable == UnreadableRows(count: 1, firstReason: "line 2501 is not JSON"))
  }

  @Test func `a file beyond the limit says how to allow it`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let service = Service(Self.lines())
    let server = try service.server()
    var environment = environment()
    environment.maxSize = 100_000
    let source = try plugin(server, "ndjson").remote(in: environment)
    let error = await #expect(throws: SourceError.self) { try await ids(source) }
    #expect(error?.code == .tooLarge)
    #expect(error?.remedy?.action == .allowMoreBytes)
  }

  @Test func `a compressed file ends at the limit of what it has decompressed`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let file = directory.appending(path: "lamps")
    let name = String(repeating: "lamp ", count: 200)
    try Data((1...20_000).map { "{\"id\": \($0), \"name\": \"\(name)\"}\n" }.joined().utf8).write(
      to: file)
    let gzip = Process()
    gzip.executableURL = URL(filePath: "/usr/bin/gzip")
    gzip.arguments = [file.path]
    try gzip.run()
    gzip.waitUntilExit()
    let packed = try Data(contentsOf: directory.appending(path: "lamps.gz"))
    #expect(packed.count < 1 << 20)
    let server = try Service(packed, "application/gzip").server()
    var environment = environment()
    environment.maxSize = 4 << 20
    let plugin = try plugin(server, "ndjson")
    let store = try #require(environment.store)
    let result = try await plugin.sync(into: store, in: environment)
      .run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(result.failure?.code == .tooLarge)
    #expect(result.failure?.remedy?.action == .allowMoreBytes)
    #expect(!result.isComplete)
    // Those of the first 4 MiB.
    #expect((1..<4200).contains(result.added))
  }

  @Test func `a compiled source reads a file, and a sync of it is complete`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let server = try Service(Self.table(), "application/octet-stream").server()
    let plugin = TablePlugin(url: server.baseURL)
    let environment = environment()
    let store = try #require(environment.store)
    let result = try await plugin.sync(into: store, in: environment)
      .run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(result.isComplete)
    #expect(result.added == Self.count)
    #expect(server.requests.count == 1)
    let first = try await plugin.remote(in: environment).page(PageRequest(limit: 1)).records
    #expect(first == [TablePlugin.Lamp(id: "1", name: "lamp, 1", price: 1.5)])
  }

  @Test func `an error page instead of the file is an error`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    for (status, type, body, code) in [
      (503, "text/plain", "busy", SourceError.Code.serverError),
      (200, "text/html", "<html><title>Sign in</title></html>", .malformed),
      (200, "application/json", #"{"error": "no such file"}"#, .rejected),
      (200, "text/csv", "Try again later", .malformed),
    ] {
      let server = try LoopbackServer { _ in
        .status(status, body, headers: [("Content-Type", type)])
      }
      let source = try plugin(server, "csv").remote(in: environment())
      let error = await #expect(throws: SourceError.self) { try await ids(source) }
      #expect(error?.code == code, "\(body)")
    }
  }

  @Test func `a file that is too large for a response is added by its first rows`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let service = Service(Self.table(700_000), "text/csv")
    let server = try service.server()
    let proposal = try await Proposal(
      for: "lamps", from: ["url": .string("\(server.baseURL)/lamps"), "rate": "off"],
      isSingle: false, in: environment())
    #expect(proposal.isProved)
    #expect(proposal.json["format"] == "csv")
    #expect(proposal.json["kinds"] == ["id": "number", "price": "number"])
    #expect(
      proposal.evidence.first { $0.key == "paging" }?.reason
        == "a large file, of which the first 2000 rows were read")
    #expect(server.requests.count == 2)
  }

  @Test(arguments: ["ndjson", "csv"])
  func `the laws hold`(format: String) async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let count = 230
    let data = format == "csv" ? Self.table(count) : Self.lines(count)
    let service = Service(data, "application/octet-stream")
    let server = try service.server()
    let plugin = try plugin(server, format)
    let ids = (1...count).map(String.init)
    try await expectLaws(ofRemoteOf: plugin, in: environment(), knowing: ids)
    var environment = environment()
    environment.store = SQLiteStore(at: directory.appending(path: "store.sqlite").path)
    var chain = try LawSubject(chainOf: plugin, in: environment)
    chain.query = try SearchQuery("lamp 7")
    await expectLaws(of: chain)
  }

  @Test func `a later list sees the present file`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let service = Service(Self.lines(10))
    let server = try service.server()
    let source = try plugin(server, "ndjson").remote(in: environment())
    #expect(try await ids(source).count == 10)
    service.put(Self.lines(11))
    #expect(try await ids(source).count == 11)
  }
}
