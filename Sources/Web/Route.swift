import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The target of a request, by its path.
enum Route: Hashable {
  case common(CommonPath)
  case api(RoutePath<APIPath>)
  case page(RoutePath<PagePath>)
  /// A path that leads nowhere, below `/api` or elsewhere.
  case unknown(isForPrograms: Bool)

  init(_ segments: [String]) {
    switch segments {
    // The path that browsers request after a reply that names no icon.
    case ["favicon.ico"]: self = .page(RoutePath(.asset, Asset.icon.name))
    default:
      self =
        RoutePath(segments).map { .common($0.pattern) } ?? RoutePath(segments).map(Route.api)
        ?? RoutePath(segments).map(Route.page)
        ?? .unknown(isForPrograms: segments.first == "api")
    }
  }

  /// True if whoever asks reads JSON or text, also of an error.
  var isForPrograms: Bool {
    switch self {
    case .common, .api: true
    case .page: false
    case .unknown(let isForPrograms): isForPrograms
    }
  }

  /// The methods of the path, without `HEAD` and `OPTIONS`; none for a path that leads nowhere.
  var methods: [String] {
    switch self {
    case .common(let path): path.methods
    case .api(let path): path.pattern.methods
    case .page(let path): path.pattern.methods
    case .unknown: []
    }
  }

  /// The name of the source that the path of a page names.
  var sourceName: String? {
    if case .page(let path) = self { path.source } else { nil }
  }

  /// True for a path whose `POST` changes nothing, or itself refuses what would.
  var onlyReads: Bool {
    switch self {
    case .common(let path): path == .agents
    case .api(let path): path.pattern == .sql
    case .page(let path): path.pattern == .sql
    default: false
    }
  }

  /// True for a path whose changes are those of the sources: they fetch what a client names and save it, or remove a source.
  var managesSources: Bool {
    switch self {
    case .api(let path): path.pattern == .sources || path.pattern == .list
    case .page(let path): [.add, .remove, .edit, .key].contains(path.pattern)
    default: false
    }
  }

  /// The kind of path, for the metrics: a path with IDs would be a series of its own for each.
  var metricLabel: String {
    switch self {
    case .common(let path): path.rawValue
    case .api(let path): path.pattern.rawValue
    case .page(let path): path.pattern.rawValue
    case .unknown: "other"
    }
  }
}

/// The paths of pages, and of the files that they use.
///
/// Those of sources have a first segment of their own, because a source could have the name of another path.
enum PagePath: String, CaseIterable {
  case start = "/"
  case search = "/search"
  case sql = "/sql"
  /// Where the syncs of all sources are started.
  case sync = "/sync"
  /// Where a source is added.
  case add = "/add"
  /// Where an added source is removed.
  case remove = "/remove/{source}"
  /// Where an added source is edited.
  case edit = "/edit/{source}"
  /// Where the key of a source is saved.
  case key = "/key"
  case asset = "/assets/{file}"
  /// The changes of the records of a source; `/sources/{source}/changes`, which may be a record, leads here.
  case changes = "/changes/{source}"
  case list = "/sources/{source}"
  case record = "/sources/{source}/{id}"
  case delete = "/sources/{source}/{id}/delete"
  case restore = "/sources/{source}/{id}/restore"

  fileprivate var methods: [String] {
    switch self {
    case .delete, .restore, .sync, .key: ["POST"]
    case .sql, .add, .remove, .edit: ["GET", "POST"]
    default: ["GET"]
    }
  }
}

/// Addresses of the pages, as paths on this server.
enum WebAddress {
  typealias Parameter = (name: String, value: String)

  static func list(_ source: String, _ query: ServedQuery, deleted: String? = nil) -> String {
    address(
      RoutePath(PagePath.list, source),
      query.parameters + (deleted.map { [("deleted", $0)] } ?? []))
  }

  /// The address of a record beside the list of a query, or the one that a form without script posts to.
  static func record(
    _ source: String, _ id: String, _ query: ServedQuery, _ path: PagePath = .record
  ) -> String {
    address(RoutePath(path, source, id), query.parameters)
  }

  static func changes(
    _ source: String, since start: String? = nil, of kind: ChangeEntry.Kind? = nil,
    in field: String? = nil, at cursor: PageCursor? = nil
  ) -> String {
    let parameters = [
      ("since", start), ("kind", kind?.rawValue), ("field", field),
      ("cursor", cursor?.description),
    ]
    return address(
      RoutePath(PagePath.changes, source),
      parameters.compactMap { name, value in value.map { (name, $0) } })
  }

  /// The address of all changes of a page at the API, in a format.
  static func api(_ source: String, changes query: ChangesQuery, as format: Format) -> String {
    var parameters: [Parameter] = [("since", query.since)]
    if let kind = query.kind { parameters.append(("kind", kind.rawValue)) }
    if let field = query.field { parameters.append(("field", field)) }
    parameters.append(("all", "true"))
    parameters.append(("format", format.rawValue))
    return address(RoutePath(APIPath.changes, source), parameters)
  }

  static func search(_ query: ServedQuery) -> String {
    address(RoutePath(PagePath.search), query.parameters)
  }

  /// The page of a query.
  ///
  /// - Parameter source: The source of the list that it is to have the records of, written as people do where it has them.
  static func sql(_ text: String, ofList source: String? = nil) -> String {
    address(RoutePath(PagePath.sql), [("sql", text)] + (source.map { [("list", $0)] } ?? []))
  }

  /// The address of the result of a query at the API.
  static func api(sql text: String, format: String? = nil) -> String {
    address(RoutePath(APIPath.sql), [("sql", text)] + (format.map { [("format", $0)] } ?? []))
  }

  /// The address of the results of queries that are sent as a body.
  static func api(sqlAs format: String) -> String {
    address(RoutePath(APIPath.sql), [("format", format)])
  }

  static func image(
    _ source: String, _ id: String, number: Int? = nil, _ size: ImageSize,
    _ cache: ServedQuery.Cache
  ) -> String {
    let number = number.map { [Parameter("number", String($0))] } ?? []
    let offline = cache == .offline ? [Parameter("cache", cache.rawValue)] : []
    return address(
      RoutePath(APIPath.image, source, id), [("size", size.rawValue)] + number + offline)
  }

  /// The address of the same list at the API.
  static func api(_ source: String, _ query: ServedQuery) -> String {
    var query = query
    query.showsFilters = false
    query.chosenView = nil
    return address(RoutePath(APIPath.list, source), query.parameters)
  }

  static func sync(_ source: String) -> String { address(RoutePath(APIPath.sync, source), []) }

  static func api(_ source: String, _ id: String) -> String {
    address(RoutePath(APIPath.record, source, id), [])
  }

  private static func address<Pattern>(
    _ path: RoutePath<Pattern>, _ parameters: [Parameter]
  ) -> String {
    let path = path.segments.map { "/\($0.percentEncoded)" }.joined()
    guard !parameters.isEmpty else { return path }
    return path + "?"
      + parameters.map { "\($0.name)=\($0.value.percentEncoded)" }.joined(separator: "&")
  }
}

extension ServedQuery {
  /// The parameters of an address.
  fileprivate var parameters: [WebAddress.Parameter] {
    var parameters: [WebAddress.Parameter] = []
    if let query { parameters.append(("query", query)) }
    for condition in conditions { parameters.append(("where", condition)) }
    if let order { parameters.append(("sort", order)) }
    if let fields { parameters.append(("fields", fields.joined(separator: ","))) }
    if let limit { parameters.append(("limit", String(limit))) }
    if cache != .normal { parameters.append(("cache", cache.rawValue)) }
    if let shownFilters { parameters.append(("filters", shownFilters)) }
    if let offset { parameters.append(("offset", String(offset))) }
    if let cursor { parameters.append(("cursor", cursor)) }
    if let chosenView { parameters.append(("view", chosenView.rawValue)) }
    if isWhole { parameters.append(("all", "true")) }
    if format != .json || file != nil {
      parameters.append(("format", file?.rawValue ?? format.rawValue))
    }
    return parameters
  }

  /// The filters that the page shows, as an address names them; `nil` if it shows none.
  var shownFilters: String? { showsFilters ? showsAllFilters ? "all" : "shown" : nil }

  /// The query for links of its answer: a reload is over when it is answered.
  var forLinks: ServedQuery { cache == .reload ? with(\.cache, .normal) : self }

  /// True for a list without parameters.
  var isPlain: Bool { parameters.isEmpty }
}
