import AggregatorKit

/// Addresses of the pages, as paths on this server.
enum PageAddress {
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
    _ change: PageRoute.Change, _ source: String, _ id: String, _ query: ServedQuery
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

  private static func path(_ route: PageRoute, _ parameters: [Parameter]) -> String {
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
  fileprivate var parameters: [PageAddress.Parameter] {
    var parameters: [PageAddress.Parameter] = []
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
