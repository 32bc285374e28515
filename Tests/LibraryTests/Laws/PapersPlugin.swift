import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization

struct Paper: SourceRecord {
  let id: String
  let title: String?
  let year: Int?
}

/// A source of papers, which tests break; its remote is correct for a ``PapersService`` with page numbers from 1.
struct PapersPlugin<Item: SourceRecord>: Plugin {
  static var key: Setting { Setting("PAPERS_KEY", .secret, about: "A key.") }
  static var limit: RESTParameter { .query("limit") }

  let name = "papers"
  let summary = "papers of a test"
  let example = PluginExample(query: "sample", id: "1")
  let settings = [Self.key]
  let fields: [Field<Item>]
  var step = RESTPaging.Step.page(.query("page"), start: 1)
  /// The paging of searches, if it is another.
  var search: RESTPaging?
  var leaksKey = false
  /// Wraps the correct source in a broken one.
  var breaking: @Sendable (any DataSource<Item>) -> any DataSource<Item> = { $0 }

  init(_ fields: [Field<Item>]) { self.fields = fields }

  func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Item> {
    guard let url = URL(string: "https://papers.example/items") else { throw .cancelled }
    let key = try environment.settings.required(Self.key)
    let list = HTTPRequest(.get, url, headers: [.bearer(key)])
    let next = step == .link ? RESTResponsePart.member("next") : .member("cursor")
    var source = RESTSource<Item>(
      name, in: environment, list: list, paging: RESTPaging(step, size: (Self.limit, 100)),
      rows: "items", total: .header("X-Total-Count"), next: next
    )
    .item(below: url)
    source =
      if let search {
        source.searching(paging: search) { list.setting(.query("q"), to: $0.text) }
      } else { source.searching(by: .query("q")) }
    if leaksKey {
      source.check = { response throws(SourceError) in
        guard response.status == 404 else { return }
        throw SourceError(.notFound, key.reveal { "nothing for \($0)" })
      }
    }
    return breaking(source)
  }
}

extension PapersPlugin<Paper> {
  init(_ change: (inout Self) -> Void = { _ in }) {
    self.init([
      Field(\.id, "ID"), Field(\.title, isSearchable: true), Field(\.year, about: "The year."),
    ])
    change(&self)
  }
}

/// A service of papers `1`, `2`, … with pages of any size.
struct PapersService: Sendable {
  enum Paging: Sendable {
    /// Pages are counted from `first`; the answer to an earlier number is the first page, an empty page, or 400.
    case page(first: Int, earlier: Earlier = .first)
    case offset, token, link
  }

  enum Earlier: Sendable { case first, empty, error }

  var count = 23
  var paging = Paging.page(first: 1)
  /// The total for a number of rows, and the number on the page.
  var total: @Sendable (_ count: Int, _ onPage: Int) -> Int? = { count, _ in count }
  /// The rows that a page has in common with the one before.
  var overlap = 0
  /// Makes up new IDs for each response.
  var renamesRows = false
  /// The record that is sent for an ID; `nil` for 404.
  var item: @Sendable (_ id: Int?, _ count: Int) -> Int? = { id, count in
    id.flatMap { 1...count ~= $0 ? $0 : nil }
  }
  var searches = true

  init(_ change: (inout Self) -> Void = { _ in }) { change(&self) }

  var handler: LoopbackServer.Handler {
    let responses = Counter()
    return { request in
      responses.add()
      let prefix = renamesRows ? "r\(responses.value)-" : ""
      return reply(to: request, prefix)
    }
  }

  private func row(_ number: Int, _ prefix: String) -> JSON {
    [
      "id": .string("\(prefix)\(number)"), "title": .string("Sample \(number)"),
      "year": .integer(1900 + number),
    ]
  }

  private func reply(to request: LoopbackRequest, _ prefix: String) -> LoopbackReply {
    if request.path.hasPrefix("/items/") {
      let id = request.path.split(separator: "/").last.flatMap { Int($0) }
      return item(id, count).map { .json(row($0, prefix).text) } ?? .json("{}", status: 404)
    }
    func number(_ name: String) -> Int? { request.query[name].flatMap { Int($0) } }
    let words = searches ? request.query["q"]?.lowercased() ?? "" : ""
    let found = (1...count).filter { words.isEmpty || "sample \($0)".contains(words) }
    let limit = number("limit") ?? 100
    // Tokens are opaque; links have numbers.
    let token = request.query["cursor"].flatMap { Int($0.drop { $0 == "t" }) }
    var start = number("offset") ?? token ?? 0
    if case .page(let first, let earlier) = paging {
      let page = (number("page") ?? first) - first
      start = max(page, 0) * (limit - overlap)
      if page < 0, earlier == .error { return .json("{}", status: 400) }
      if page < 0, earlier == .empty { start = count }
    }
    let page = found.dropFirst(start).prefix(limit)
    var members = [JSON.Member("items", .array(page.map { row($0, prefix) }))]
    let end = start + limit
    if case .token = paging, end < found.count {
      members.append(.init("cursor", .string("t\(end)")))
    }
    if case .link = paging, end < found.count {
      let search = request.query["q"].map { "&q=\($0)" } ?? ""
      members.append(.init("next", .string("/items?cursor=\(end)&limit=\(limit)\(search)")))
    }
    let total = total(found.count, page.count).map { [("X-Total-Count", "\($0)")] } ?? []
    return .status(
      200, JSON.object(members).text, headers: [("Content-Type", "application/json")] + total)
  }
}

/// A source whose answers are changed.
struct ChangedSource<Item: SourceRecord>: DataSource {
  let base: any DataSource<Item>
  var request: @Sendable (PageRequest) -> PageRequest = { $0 }
  var page: @Sendable (PageRequest, inout Page<Item>) -> Void = { _, _ in }
  var id: @Sendable (Item.ID) -> Item.ID = { $0 }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    var answer = try await base.page(self.request(request))
    page(request, &answer)
    return answer
  }

  func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try await base.item(self.id(id), cachePolicy: cachePolicy)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    base.cursor(skipping: count, from: request)
  }
}
