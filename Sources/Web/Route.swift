/// What a request asks for by its path.
enum Route: Hashable {
  case health
  case document
  case metrics
  case api(APIRoute)
  case page(PageRoute)
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
    default: self = PageRoute(segments).map(Route.page) ?? .unknown(isForPrograms: false)
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
enum PageRoute: Hashable {
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
  var pattern: PageRoute {
    switch self {
    case .start, .search: self
    case .list: .list(source: "{source}")
    case .record: .record(source: "{source}", id: "{id}")
    case .change(let change, _, _): .change(change, source: "{source}", id: "{id}")
    case .asset: .asset("{file}")
    }
  }
}
