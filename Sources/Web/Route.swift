import AggregatorKit

/// What a request asks for by its path.
enum Route: Hashable {
  case health
  case document
  case metrics
  case api(APIRoute)
  case page(WebRoute)
  /// A path that leads nowhere, below `/api` or elsewhere.
  case unknown(isForPrograms: Bool)

  /// - Parameter segments: The decoded segments of the path.
  init(_ segments: [String]) {
    switch (segments.first, segments.count) {
    case ("healthz", 1): self = .health
    case ("openapi.json", 1): self = .document
    case ("metrics", 1): self = .metrics
    case ("api", _):
      self = APIRoute(segments).map(Route.api) ?? .unknown(isForPrograms: true)
    default: self = WebRoute(segments).map(Route.page) ?? .unknown(isForPrograms: false)
    }
  }

  /// True if whoever asks reads JSON or text, also of an error.
  var isForPrograms: Bool {
    switch self {
    case .health, .document, .metrics, .api: true
    case .page: false
    case .unknown(let isForPrograms): isForPrograms
    }
  }

  /// The kind of path, for the metrics: a path with IDs would be a series of its own for each.
  var metricLabel: String {
    switch self {
    case .health: "/healthz"
    case .document: "/openapi.json"
    case .metrics: "/metrics"
    case .api(let route): route.pattern.path
    case .page(let route): route.pattern.path
    case .unknown: "other"
    }
  }
}

/// A path below `/api/v1`.
enum APIRoute: Hashable {
  case sources
  case search
  case list(source: String)
  /// With POST and the ID `sync`, the download of a source.
  case record(source: String, id: String)
  case image(source: String, id: String)
  case restore(source: String, id: String)

  private static let root = ["api", "v1"]

  /// The ID in whose place a source is downloaded.
  static let sync = "sync"

  /// `nil` for a path that leads nowhere.
  init?(_ segments: [String]) {
    guard segments.starts(with: Self.root) else { return nil }
    let rest = Array(segments.dropFirst(Self.root.count))
    switch (rest.count, rest.last) {
    case (1, "sources"): self = .sources
    case (1, "search"): self = .search
    case (1, let source?): self = .list(source: source)
    case (2, let id?): self = .record(source: rest[0], id: id)
    case (3, "image"): self = .image(source: rest[0], id: rest[1])
    case (3, "restore"): self = .restore(source: rest[0], id: rest[1])
    default: return nil
    }
  }

  var segments: [String] {
    let rest =
      switch self {
      case .sources: ["sources"]
      case .search: ["search"]
      case .list(let source): [source]
      case .record(let source, let id): [source, id]
      case .image(let source, let id): [source, id, "image"]
      case .restore(let source, let id): [source, id, "restore"]
      }
    return Self.root + rest
  }

  /// The segments as a path, which nothing in them needs to be encoded for.
  var path: String { "/" + segments.joined(separator: "/") }

  /// This route of any source and record.
  var pattern: APIRoute {
    switch self {
    case .sources, .search: self
    case .list: .list(source: "{source}")
    case .record: .record(source: "{source}", id: "{id}")
    case .image: .image(source: "{source}", id: "{id}")
    case .restore: .restore(source: "{source}", id: "{id}")
    }
  }
}

/// A path of the page, or of a file that it uses.
enum WebRoute: Hashable {
  /// What a form without script does with a record.
  enum Change: String {
    case delete
    case restore
  }

  case start
  case search
  case list(source: String)
  case record(source: String, id: String)
  case change(Change, source: String, id: String)
  case asset(String)

  /// The first segment of the addresses of sources, whose names could be those of other paths.
  private static let root = "sources"

  /// `nil` for a path that leads nowhere.
  init?(_ segments: [String]) {
    switch (segments.first, segments.count) {
    case (nil, _): self = .start
    case ("search", 1): self = .search
    case ("assets", 2): self = .asset(segments[1])
    // What browsers ask for beside a reply that names no icon.
    case ("favicon.ico", 1): self = .asset(Asset.icon.name)
    case (Self.root, 2): self = .list(source: segments[1])
    case (Self.root, 3): self = .record(source: segments[1], id: segments[2])
    case (Self.root, 4):
      guard let change = Change(rawValue: segments[3]) else { return nil }
      self = .change(change, source: segments[1], id: segments[2])
    default: return nil
    }
  }

  var segments: [String] {
    switch self {
    case .start: []
    case .search: ["search"]
    case .list(let source): [Self.root, source]
    case .record(let source, let id): [Self.root, source, id]
    case .change(let change, let source, let id): [Self.root, source, id, change.rawValue]
    case .asset(let name): ["assets", name]
    }
  }

  /// The segments as a path, which nothing in them needs to be encoded for.
  var path: String { "/" + segments.joined(separator: "/") }

  /// This route of any source, record and file.
  var pattern: WebRoute {
    switch self {
    case .start, .search: self
    case .list: .list(source: "{source}")
    case .record: .record(source: "{source}", id: "{id}")
    case .change(let change, _, _): .change(change, source: "{source}", id: "{id}")
    case .asset: .asset("{file}")
    }
  }
}

/// Addresses of the pages, as paths on this server.
enum WebAddress {
  typealias Parameter = (name: String, value: String)

  static func list(_ source: String, _ query: ServedQuery, deleted: String? = nil) -> String {
    path(.list(source: source), query.parameters + (deleted.map { [("deleted", $0)] } ?? []))
  }

  /// The address of a record beside the list of a query.
  static func record(_ source: String, _ id: String, _ query: ServedQuery) -> String {
    path(.record(source: source, id: id), query.parameters)
  }

  /// The address that a form without script posts to.
  static func change(
    _ change: WebRoute.Change, _ source: String, _ id: String, _ query: ServedQuery
  ) -> String {
    path(.change(change, source: source, id: id), query.parameters)
  }

  static func search(_ query: String?, _ cache: ServedQuery.Cache = .normal) -> String {
    path(.search, ServedQuery(query: query, cache: cache).parameters)
  }

  static func image(
    _ source: String, _ id: String, _ size: ImageSize, _ cache: ServedQuery.Cache
  ) -> String {
    let offline = cache == .offline ? [Parameter("cache", cache.rawValue)] : []
    return path(
      APIRoute.image(source: source, id: id).segments, [("size", size.rawValue)] + offline)
  }

  static func api(_ source: String, _ id: String? = nil) -> String {
    path((id.map { .record(source: source, id: $0) } ?? APIRoute.list(source: source)).segments, [])
  }

  private static func path(_ route: WebRoute, _ parameters: [Parameter]) -> String {
    path(route.segments, parameters)
  }

  private static func path(_ segments: [String], _ parameters: [Parameter]) -> String {
    let path = segments.map { "/\($0.percentEncoded)" }.joined()
    guard !parameters.isEmpty else { return path }
    return path + "?"
      + parameters.map { "\($0.name)=\($0.value.percentEncoded)" }.joined(separator: "&")
  }
}

extension ServedQuery {
  /// The parameters of an address; `fields` concerns the API alone.
  fileprivate var parameters: [WebAddress.Parameter] {
    var parameters: [WebAddress.Parameter] = []
    if let query { parameters.append(("query", query)) }
    for condition in conditions { parameters.append(("where", condition)) }
    if let order { parameters.append(("sort", order)) }
    if let limit { parameters.append(("limit", String(limit))) }
    if cache != .normal { parameters.append(("cache", cache.rawValue)) }
    if let cursor { parameters.append(("cursor", cursor)) }
    return parameters
  }

  /// The query for links of its answer: a reload is over when it is answered.
  var forLinks: ServedQuery {
    var query = self
    if cache == .reload { query.cache = .normal }
    return query
  }

  /// This query with another value of a member.
  func with<Value>(_ member: WritableKeyPath<ServedQuery, Value>, _ value: Value) -> ServedQuery {
    var query = self
    query[keyPath: member] = value
    return query
  }
}
