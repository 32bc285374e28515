import AggregatorKit
import AggregatorSourceTesting
import Foundation

/// A record whose encoding drops `~`.
struct Leaf: SourceRecord {
  let id: Int
  var title: String

  private enum CodingKeys: CodingKey { case id, title }

  init(_ id: Int, _ title: String) {
    self.id = id
    self.title = title
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(title.filter { $0 != "~" }, forKey: .title)
  }
}

/// A plugin for a service of 40 leaves, which tests break.
struct LeafPlugin: Plugin {
  static let url = Setting("LEAVES_URL", .url, default: "https://leaves.test", about: "Where.")

  static let key = Setting("LEAVES_KEY", .secret, about: "A key, sent if it is set.")

  /// Sends the key as a plain text, so that the transport does not know it.
  var leaksKey = false

  /// Wraps the correct source in a broken one.
  var breaking: @Sendable (any DataSource<Leaf>) -> any DataSource<Leaf> = { $0 }

  let name = "leaves"
  let summary = "leaves of a test"
  let example = PluginExample(query: "leaf", id: "1")
  let settings = [LeafPlugin.url, LeafPlugin.key]
  let fields: [Field<Leaf>] = [
    Field("id", "Id", \.id, about: "The number."),
    Field("title", "Title", \.title, about: "The words.", isSearchable: true),
  ]
  let layout = RecordLayout<Leaf>(card: ["title"])
  let policy = Policy(localSearchBound: 100)

  func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Leaf> {
    breaking(
      LeafService(
        url: try environment.settings.url(Self.url), transport: environment.transport,
        now: environment.now, authorization: authorization(in: environment)))
  }

  private func authorization(in environment: PluginEnvironment) -> HTTPRequest.Value? {
    guard let key = environment.settings.secret(Self.key) else { return nil }
    return leaksKey
      ? key.reveal { .plain("Bearer \($0)") } : .secret(Secret(prefix: "Bearer ", key))
  }

  var bundled: any DataSource<Leaf> {
    BundledSource("leaves", items: [Leaf(900, "pressed")], fields: fields)
  }

  /// `GET /leaves?skip=0&take=10` and `GET /leaf/1`.
  ///
  /// - Parameter mark: A suffix for all titles.
  static func serve(_ mark: String = "") -> LoopbackServer.Handler {
    let leaves = (1...40).map { id -> JSON in
      ["id": .integer(id), "title": .string("leaf \(id)\(mark)")]
    }
    return { request in
      if let skip = request.query["skip"].flatMap({ Int($0) }),
        let take = request.query["take"].flatMap({ Int($0) })
      {
        let rows = JSON.array(Array(leaves.dropFirst(skip).prefix(take)))
        return .json((["leaves": rows, "total": 40] as JSON).text)
      }
      let id = request.path.split(separator: "/").last.flatMap { Int($0) } ?? 0
      return 1...40 ~= id ? .json(leaves[id - 1].text) : .status(404)
    }
  }
}

/// The correct source.
private struct LeafService: DataSource {
  let url: URL
  let transport: any Transport
  let now: @Sendable () -> Date
  let authorization: HTTPRequest.Value?

  private var headers: [HTTPRequest.Item] {
    authorization.map { [.init("Authorization", $0)] } ?? []
  }

  private struct Reply: Decodable {
    let leaves: LossyArray<Leaf>
    let total: Int
  }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Leaf> {
    guard request.query == nil else { throw SourceError(.invalidRequest, "there is no search") }
    let seal = CursorSeal("leaves", for: nil)
    let skip = try seal.openOffset(request.cursor)
    let sent = HTTPRequest(
      .get, url.appending(path: "leaves"),
      query: [.init("skip", "\(skip)"), .init("take", "\(request.limit)")], headers: headers)
    let reply: Reply = try await transport.send(sent).checked(by: "leaves", now: now())
      .decoded(by: "leaves")
    let end = skip + request.limit
    let isLast = reply.leaves.count == 0 || end >= reply.total
    return Page(
      Array(reply.leaves.elements.prefix(request.limit)), next: isLast ? nil : try seal.close(end),
      total: reply.total, provenance: provenance, unreadable: reply.leaves.unreadable)
  }

  func item(_ id: Int, cachePolicy: CachePolicy) async throws(SourceError) -> LookupResult<Leaf> {
    let response = try await transport.send(
      HTTPRequest(.get, url.appending(path: "leaf").appending(component: "\(id)"), headers: headers)
    )
    if response.status == 404 { throw .notFound(id, in: "leaves") }
    let leaf: Leaf = try response.checked(by: "leaves", now: now()).decoded(by: "leaves")
    return LookupResult(leaf, provenance: provenance)
  }

  private var provenance: Provenance {
    Provenance(.live, fetchedAt: now(), endpoint: url.absoluteString)
  }
}
