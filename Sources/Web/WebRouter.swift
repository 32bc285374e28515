import AggregatorKit
import AggregatorServer

/// Answers requests for pages, and for the files that they use.
struct WebRouter: Sendable {
  let program: String
  let api: API
  let now: @Sendable () -> Date

  func response(
    to request: ServerRequest, for route: WebRoute, readOnly: Bool
  ) async throws -> ServerResponse {
    let pages = HTMLRenderer(
      program: program, sources: api.sources, isReadOnly: readOnly, now: now())
    let part = request.header(HTMLFragment.header).flatMap(HTMLFragment.init)
    func page(of source: String, _ id: String? = nil) async throws -> ServerResponse {
      try request.require("GET")
      let content = try await content(of: api.source(named: source), id, part, request)
      return html(pages.page(content, part: part), status: content.status(of: part))
    }
    switch route {
    case .start:
      try request.require("GET")
      return .redirect(
        to: api.sources.first.map { WebAddress.list($0.name, ServedQuery()) }
          ?? WebAddress.search(nil))
    case .search:
      try request.require("GET")
      return html(pages.search(try await search(request), part: part))
    case .list(let source): return try await page(of: source)
    case .record(let source, let id): return try await page(of: source, id)
    case .change(let change, let source, let id):
      try request.require("POST")
      return try await make(change, id, of: try api.source(named: source), request)
    case .asset(let name):
      try request.require("GET")
      return try asset(named: name)
    }
  }

  /// The page for an error that no other page shows.
  ///
  /// - Parameter isForStrangers: True for a client whose access was not checked.
  func response(to problem: Problem, isForStrangers: Bool = false) -> ServerResponse {
    let pages = HTMLRenderer(program: program, sources: api.sources, isReadOnly: true, now: now())
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

  private static let parameters: Set<String> = [
    "query", "limit", "cursor", "cache", "where", "sort", "deleted",
  ]

  private func content(
    of source: any ServedSource, _ id: String?, _ part: HTMLFragment?, _ request: ServerRequest
  ) async throws -> SourceContent {
    let query = try ServedQuery(request, knowing: Self.parameters, isForPeople: true)
    // The list and the record are fetched at the same time.
    async let list = part == .detail ? nil : result { try await source.page(query) }
    var content = SourceContent(source: source, query: query)
    content.deleted = request.parameter("deleted")
    if let id {
      content.detail = DetailContent(
        id: id, answer: await result { try await source.record(id, query) })
    }
    content.list = await list
    return content
  }

  private func search(_ request: ServerRequest) async throws -> SearchContent {
    let query = try ServedQuery(request, knowing: ["query", "cache"], isForPeople: true)
    let results = query.query == nil ? [] : await api.results(of: query)
    return SearchContent(
      query: query.query, cache: query.cache,
      answers: results.map { source, result in
        .init(source: source, page: result)
      })
  }

  private func result(
    _ body: @Sendable () async throws -> ServedListing
  ) async -> Result<ServedListing, Problem> {
    do { return .success(try await body()) } catch { return .failure(Problem(error)) }
  }

  // MARK: - Forms

  /// Deletes or restores a record, and shows the list again.
  private func make(
    _ change: WebRoute.Change, _ id: String, of source: any ServedSource, _ request: ServerRequest
  ) async throws -> ServerResponse {
    let query = try ServedQuery(request, knowing: Self.parameters)
    switch change {
    case .delete:
      guard try await source.delete(id) else { throw Problem.unknownPath }
      return .redirect(to: WebAddress.list(source.name, query, deleted: id))
    case .restore:
      _ = try await source.restore(id)
      return .redirect(to: WebAddress.record(source.name, id, query))
    }
  }

  // MARK: - Responses

  private func html(_ text: String, status: Int = 200) -> ServerResponse {
    ServerResponse(
      status, HTMLRenderer.contentType, Array(text.utf8),
      headers: [.init("Cache-Control", "private, no-cache"), .init("Vary", HTMLFragment.header)])
  }

  private func asset(named name: String) throws(Problem) -> ServerResponse {
    guard let asset = Asset.all.first(where: { $0.name == name }) else { throw .unknownPath }
    return ServerResponse(
      200, asset.type, Array(asset.body.utf8),
      headers: [.init("Cache-Control", "private, max-age=31536000, immutable")])
  }
}

extension SourceContent {
  /// The status of the page: that of what was asked for.
  fileprivate func status(of part: HTMLFragment?) -> Int {
    let answer = part == .list ? list : detail?.answer ?? list
    guard case .failure(let failure)? = answer else { return 200 }
    return failure.status
  }
}

extension Problem {
  /// The heading of a page that shows the problem.
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
