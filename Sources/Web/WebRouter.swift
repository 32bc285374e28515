import AggregatorKit
import AggregatorServer

/// Answers requests for pages, and for the files that they use.
struct WebRouter: Sendable {
  let program: String
  let api: API

  func response(
    to request: ServerRequest, for path: RoutePath<PagePath>, readOnly: Bool
  ) async throws -> ServerResponse {
    let pages = HTMLRenderer(
      program: program, sources: api.sources, isReadOnly: readOnly, now: api.now())
    let part = request.header(HTMLFragment.header).flatMap(HTMLFragment.init)
    try request.require([.delete, .restore].contains(path.pattern) ? "POST" : "GET")
    switch path.pattern {
    case .start:
      return .redirect(
        to: api.sources.first.map { WebAddress.list($0.name, ServedQuery()) }
          ?? WebAddress.search(nil))
    case .search: return html(pages.search(try await search(request), part: part))
    case .asset:
      guard let asset = Asset.all.first(where: { $0.name == path.source }) else {
        throw Problem.unknownPath
      }
      return ServerResponse(
        200, asset.type, Array(asset.body.utf8),
        headers: [.init("Cache-Control", "private, max-age=31536000, immutable")])
    case .list, .record:
      let id = path.pattern == .record ? path.id : nil
      let content = try await content(of: api.source(named: path.source), id, part, request)
      // The status of what was asked for.
      let answer = part == .list ? content.list : content.detail?.answer ?? content.list
      return html(
        pages.page(content, part: part), status: answer?.failure?.status ?? 200)
    case .delete:
      let (source, query) = (try api.source(named: path.source), try Self.query(of: request))
      guard try await source.delete(path.id) else { throw Problem.unknownPath }
      return .redirect(to: WebAddress.list(source.name, query, deleted: path.id))
    case .restore:
      let (source, query) = (try api.source(named: path.source), try Self.query(of: request))
      _ = try await source.restore(path.id)
      return .redirect(to: WebAddress.record(source.name, path.id, query))
    }
  }

  /// The page for an error that no other page shows; strangers are clients whose access was not checked.
  func response(to problem: Problem, isForStrangers: Bool = false) -> ServerResponse {
    let pages = HTMLRenderer(
      program: program, sources: api.sources, isReadOnly: true, now: api.now())
    guard isForStrangers || [401, 403, 421].contains(problem.status) else {
      return html(pages.failure(problem), status: problem.status)
    }
    // A client without access must not learn what is served, and gets no other file.
    let nonce = Access.Secrets.randomText()
    var response = html(pages.failure(problem, nonce: nonce), status: problem.status)
    response.set("Content-Security-Policy", HTMLRenderer.contentSecurityPolicy(nonce: nonce))
    return response
  }

  // MARK: - Content

  private static func query(of request: ServerRequest) throws(Problem) -> ServedQuery {
    let parameters: Set = ["query", "limit", "cursor", "cache", "where", "sort", "deleted"]
    return try ServedQuery(request, knowing: parameters, isForPeople: true)
  }

  private func content(
    of source: any ServedSource, _ id: String?, _ part: HTMLFragment?, _ request: ServerRequest
  ) async throws -> SourceContent {
    let query = try Self.query(of: request)
    // The list and the record are fetched at the same time.
    async let list = part == .detail ? nil : result { try await source.page(query) }
    var content = SourceContent(source: source, query: query)
    content.deleted = request.parameter("deleted")
    if let id {
      content.detail = DetailContent(
        id: id, answer: await result { try await source.record(id, query) })
    }
    if part != .detail, query.query == nil, query.cursor == nil {
      // A store that cannot be read is reported by the list.
      content.schemaChanges = (try? await source.schemaChanges()) ?? []
    }
    content.list = await list
    return content
  }

  private func search(_ request: ServerRequest) async throws -> SearchContent {
    let query = try ServedQuery(request, knowing: ["query", "cache"], isForPeople: true)
    return SearchContent(
      query: query, answers: query.query == nil ? [] : await api.results(of: query))
  }

  private func result(
    _ body: @Sendable () async throws -> ServedListing
  ) async -> Result<ServedListing, Problem> {
    do { return .success(try await body()) } catch { return .failure(Problem(error)) }
  }

  // MARK: - Responses

  private func html(_ text: String, status: Int = 200) -> ServerResponse {
    ServerResponse(
      status, HTMLRenderer.contentType, Array(text.utf8),
      headers: [.init("Cache-Control", "private, no-cache"), .init("Vary", HTMLFragment.header)])
  }
}

extension Problem {
  var title: String {
    switch status {
    case 400: "This address does not work"
    case 401: "Access token required"
    case 403, 421: "Refused"
    case 404: "Not found"
    case 413, 431: "Too large"
    case 429, 503: "Not available now"
    case 502: "The service failed"
    case 504: "The service took too long"
    default: "Something went wrong"
    }
  }
}

extension ServerResponse {
  fileprivate static func redirect(to address: String) -> ServerResponse {
    ServerResponse(
      303, "text/plain; charset=utf-8", [],
      headers: [.init("Location", address), .init("Cache-Control", "no-store")])
  }
}
