import AggregatorKit
import Foundation
import Synchronization
import Testing

/// A REST source whose pages can be computed: sizes, limits and cursors.
@Suite struct RESTPlaceTests {
  private struct Number: SourceRecord { let id: Int }

  /// The numbers from 1, by page or by offset; as many as asked for, up to a limit of its own.
  private final class Service: Transport {
    var requests: [[String: String]] { asked.withLock(\.self) }

    private let asked = Mutex<[[String: String]]>([])
    private let total: Int
    private let largest: Int

    init(_ total: Int = 25, largest: Int = 10) {
      self.total = total
      self.largest = largest
    }

    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      let query = request.query.reduce(into: [String: String]()) { query, item in
        if case .plain(let value) = item.value { query[item.name] = value }
      }
      asked.withLock { $0.append(query) }
      let size = min(Int(query["size"] ?? "") ?? largest, largest)
      let start =
        Int(query["skip"] ?? "") ?? ((Int(query["page"] ?? "").map { $0 - 1 } ?? 0) * size)
      let rows = (1...total).dropFirst(start).prefix(size).map { #"{"id": \#($0)}"# }
      return HTTPResponse(
        status: 200,
        body: Data(#"{"rows": [\#(rows.joined(separator: ","))], "size": \#(size)}"#.utf8))
    }
  }

  private struct Rows: Decodable {
    let rows: LossyArray<Number>
    let size: Int
  }

  private static let url = URL(string: "https://numbers.example/") ?? URL(filePath: "/")

  private static let offsets = RESTPaging(
    .offset(.query("skip"), start: 0), size: (.query("size"), 10), followsLimit: true,
    predictsCursors: true)
  private static let pages = RESTPaging(
    .page(.query("page"), start: 1), size: (.query("size"), 10), followsLimit: true,
    predictsCursors: true)
  private static let fixed = RESTPaging(
    .page(.query("page"), start: 1), size: (.query("size"), 10), predictsCursors: true,
    deepest: 100)

  private func source(_ service: Service, _ paging: RESTPaging) -> RESTSource<Number> {
    RESTSource(
      "numbers", list: HTTPRequest(.get, Self.url), paging: paging, transport: service,
      now: { Date(timeIntervalSince1970: 0) }
    ) { response, _ throws(SourceError) in
      let body = try response.decoded(as: Rows.self, by: "numbers")
      var decoded = RESTResponse(body.rows)
      decoded.size = body.size
      return decoded
    }
  }

  @Test(
    arguments: [offsets, pages, fixed],
    [
      [10, 10, 10, 10, 10], [7, 3, 5, 100, 100, 100, 100, 100, 100],
      Array(repeating: 1, count: 99), [100, 100, 100, 100],
      [3, 100, 1, 100, 1] + Array(repeating: 100, count: 20),
    ])
  func `reads every record once, whatever the limits`(
    paging: RESTPaging, limits: [Int]
  ) async throws {
    // Each page by another source, as after a restart of the program.
    let service = Service()
    var (read, cursor): ([Int], PageCursor?) = ([], nil)
    for limit in limits {
      let page = try await source(service, paging).page(PageRequest(after: cursor, limit: limit))
      #expect(page.records.count <= limit)
      read += page.records.map(\.id)
      guard let next = page.next else { break }
      cursor = next
    }
    #expect(read == Array(1...25))
  }

  @Test(arguments: [offsets, pages, fixed])
  func `computes the cursors that pages return`(paging: RESTPaging) async throws {
    let source = source(Service(), paging)
    let start = PageRequest(limit: 10)
    let first = try #require(try await source.page(start).next)
    let second = try #require(try await source.page(start.after(first)).next)
    #expect(source.cursor(skipping: 10, from: start) == first)
    #expect(source.cursor(skipping: 20, from: start) == second)
    #expect(source.cursor(skipping: 10, from: start.after(first)) == second)
    #expect(source.cursor(skipping: .max, from: start.after(first)) == nil)
    #expect(source.cursor(skipping: 1, from: PageRequest(matching: try SearchQuery("1"))) == nil)
  }

  @Test func `requests no more than the caller wants, up to the largest page`() async throws {
    let service = Service(largest: 100)
    for limit in [3, 50] {
      _ = try await source(service, Self.offsets).page(PageRequest(limit: limit))
    }
    _ = try await source(service, Self.fixed).page(PageRequest(limit: 3))
    #expect(service.requests.map { $0["size"] } == ["3", "10", "10"])
  }

  @Test func `counts pages in the size that the service says`() async throws {
    let service = Service(largest: 4)
    let source = source(service, Self.pages)
    let next = try await source.page(PageRequest(limit: 10)).next
    let page = try await source.page(PageRequest(after: next, limit: 10))
    #expect(page.records.map(\.id) == [5, 6, 7, 8])
    #expect(service.requests.map { $0["size"] } == ["10", "4"])
  }

  /// What cursors of earlier versions have in them: sessions and checkpoints go on.
  @Test func `opens the cursors of offsets and page numbers`() async throws {
    let seal = CursorSeal("numbers", for: nil)
    let offset = try seal.close(7)
    let page = try await source(Service(), Self.offsets).page(PageRequest(after: offset, limit: 2))
    #expect(page.records.map(\.id) == [8, 9])
    let number = try seal.close(["p": 2, "n": 10, "s": 3])
    for paging in [Self.pages, Self.fixed] {
      let page = try await source(Service(), paging).page(PageRequest(after: number, limit: 2))
      #expect(page.records.map(\.id) == [14, 15])
      #expect(page.next == (try seal.close(["p": 2, "n": 10, "s": 5])))
    }
  }

  @Test(arguments: [
    ["p": 0, "n": 10, "s": 0], ["p": 11, "n": 10, "s": 0], ["p": 1, "n": 10, "s": -1],
    ["p": .max, "n": .max, "s": 0], ["p": .min, "n": .min, "s": .min], ["p": 1, "n": 0, "s": 0],
    ["p": 1, "n": 9, "s": 0], ["p": 1, "n": 10], ["n": 10, "s": 0],
  ])
  func `rejects places that no page has`(place: [String: Int]) async throws {
    let service = Service()
    let request = PageRequest(after: try CursorSeal("numbers", for: nil).close(place))
    let source = source(service, Self.fixed)
    let error = await #expect(throws: SourceError.self) { try await source.page(request) }
    #expect(error?.code == .invalidCursor)
    #expect(source.cursor(skipping: 1, from: request) == nil)
    #expect(service.requests.isEmpty)
  }

  @Test func `binds cursors to a collection`() async throws {
    var (spring, autumn) = (source(Service(), Self.offsets), source(Service(), Self.offsets))
    spring.collection = "spring"
    autumn.collection = "autumn"
    let next = try #require(try await spring.page(PageRequest(limit: 5)).next)
    #expect(try await spring.page(PageRequest(after: next, limit: 1)).records.map(\.id) == [6])
    let error = await #expect(throws: SourceError.self) {
      try await autumn.page(PageRequest(after: next))
    }
    #expect(error?.code == .invalidCursor)
  }

  @Test func `searches with a paging and a response of its own`() async throws {
    let service = Service()
    let source = source(service, Self.offsets).searching(
      paging: Self.pages,
      decoding: { response, position throws(SourceError) in
        let rows = try response.decoded(as: Rows.self, by: "numbers").rows
        return RESTResponse(rows, hasMore: position.number == 2 ? false : nil)
      }
    ) { HTTPRequest(.get, Self.url, query: [.init("q", .plain($0.text))]) }
    let query = try SearchQuery("even")
    let first = try await source.page(PageRequest(matching: query, limit: 10))
    let second = try await source.page(PageRequest(matching: query, after: first.next, limit: 10))
    #expect(second.records.map(\.id) == Array(11...20))
    #expect(second.next == nil)
    #expect(service.requests.map { $0["page"] } == ["1", "2"])
    #expect(service.requests.allSatisfy { $0["q"] == "even" })
  }

  @Test func `checks a response before its status`() async throws {
    let service = Service()
    var source = source(service, Self.offsets).item(at: { id throws(SourceError) in
      guard id > 0 else { throw SourceError(.unsupported, "no number \(id)") }
      return HTTPRequest(.get, Self.url)
    }) { _, _ in nil }
    source.check = { _ throws(SourceError) in throw SourceError(.rateLimited, "come back later") }
    for id in [1, 0] {
      let error = await #expect(throws: SourceError.self) { try await source.item(id) }
      #expect(error?.code == (id > 0 ? .rateLimited : .unsupported))
    }
    let error = await #expect(throws: SourceError.self) { try await source.page(PageRequest()) }
    #expect(error?.code == .rateLimited)
    #expect(service.requests.count == 2)
  }
}
