package import AggregatorAPI
import AggregatorAgents
package import AggregatorKit
package import AggregatorServer
package import AggregatorTelemetry
import Synchronization

/// All paths of the server: the page, the API and what describes them.
package final class Site: Sendable {
  private let api: API
  private let metrics: Metrics
  private let program: ProgramName
  /// Set once the port is known.
  private let access = Mutex<Access?>(nil)

  package init(_ program: ProgramName, _ api: API, _ metrics: Metrics) {
    (self.program, self.api, self.metrics) = (program, api, metrics)
  }

  package var sourceNames: [String] { api.sources.map(\.name) }

  /// Begins to answer requests; earlier ones are refused.
  package func open(_ access: Access) { self.access.withLock { $0 = access } }

  /// Ends the syncs, which the next ones resume.
  package func stop() async { await api.syncs.stop() }

  package func response(to request: ServerRequest) async -> ServerResponse {
    let start = ContinuousClock.now
    let route = Route(request.path)
    let access = access.withLock(\.self)
    var response = await Now.$current.withValue(Now { [api] in api.now() }) {
      do {
        guard let access else { throw Problem(503, "starting", "the server is starting") }
        api.refresh()
        // A change is decided by data of the primary.
        let preference =
          request.isChange && !route.onlyReads ? ReadPreference.primary : .standard
        return try await ReadPreference.$current.withValue(preference) {
          try await answer(route, request, access)
        }
      } catch {
        let problem = Problem(error)
        return isForPrograms(route, request)
          ? problem.response
          : pages.response(
            to: problem, of: route.sourceName, readOnly: access?.mayChange != true)
      }
    }
    finish(&response, to: request, access)
    metrics.count(
      request.method, route.metricLabel, status: response.status,
      after: ContinuousClock.now - start)
    return response
  }

  /// The response to a request that the server refuses before its path and its token are known.
  package func response(to refusal: RequestRefusal, of request: ServerRequest) -> ServerResponse {
    var problem = Problem(refusal.status, refusal.code, refusal.message)
    problem.retryAfter = refusal.retryAfter
    var response =
      isForPrograms(Route(request.path), request)
      ? problem.response : pages.response(to: problem, isForStrangers: true)
    finish(&response, to: request, access.withLock(\.self))
    metrics.count(request.method, "other", status: response.status, after: .zero)
    return response
  }

  private func finish(
    _ response: inout ServerResponse, to request: ServerRequest, _ access: Access?
  ) {
    if response.header("Content-Security-Policy") == nil {
      response.set("Content-Security-Policy", HTMLRenderer.contentSecurityPolicy)
    }
    response.set("X-Content-Type-Options", "nosniff")
    response.set("X-Frame-Options", "DENY")
    response.set("Referrer-Policy", "same-origin")
    response.set("Cross-Origin-Resource-Policy", "same-origin")
    if let origin = access?.foreignOrigin(of: request) { response.allow(origin) }
  }

  private func answer(
    _ route: Route, _ request: ServerRequest, _ access: Access
  ) async throws -> ServerResponse {
    // Whoever watches the server needs no token.
    if route != .common(.health) {
      try access.check(request)
      if request.method == "OPTIONS" {
        var response = ServerResponse.preflight(for: request)
        let methods = methods(of: route, access)
        if !methods.isEmpty { response.allow(methods) }
        return response
      }
      if let redirect = try access.exchange(request) { return redirect }
      guard access.admits(request) else { throw Problem.unauthorized }
    }
    if !route.methods.isEmpty {
      let allowed = route.managesSources ? methods(of: route, access) : route.methods
      guard !allowed.isEmpty else { throw Problem.unknownPath }
      try request.require(allowed)
      guard access.mayChange || !request.isChange || route.onlyReads else {
        throw Problem(403, "readOnly", "this server is read-only")
      }
    }
    if route.managesSources, request.isChange, !access.isOwn(request) {
      throw Problem(403, "foreignOrigin", "only pages of this server may change sources")
    }
    switch route {
    case .common(.health):
      return .json(JSON.object([.init("status", "ok")]).text)
    case .unknown: throw Problem.unknownPath
    case .api(let path): return try await api.response(to: request, for: path)
    case .page(let path):
      let response = try await pages.response(to: request, for: path, readOnly: !access.mayChange)
      // A part of a page belongs to one that shows it.
      guard response.status >= 400, isForPrograms(route, request),
        request.header(HTMLFragment.header) == nil
      else { return response }
      throw Problem(
        response.status, "failed", "the page shows an error",
        hint: "accept text/html, or ask \(APIPath.sources.rawValue)")
    case .common(.document):
      var server = OpenAPI.Server(
        version: Version.current, address: access.origin(for: request))
      server.title = program.text
      server.isReadOnly = !access.mayChange
      server.hasToken = access.secrets != nil
      server.mayAdd = access.mayChange && api.adding != nil
      var kinds: [String: [String: [RowSchema.Kind]]] = [:]
      let sources = api.sources
      if server.mayAdd, let adding = api.adding {
        server.removable = Set(sources.map(\.name).filter { adding.sources.mayChange($0) })
      }
      for source in sources { kinds[source.name] = await source.observedKinds() }
      return .json(OpenAPI.document(for: sources, of: server, kinds).text)
    case .common(.agents):
      let agents = AgentServer(of: program, mayChange: access.mayChange, mayAdd: false) { [api] in
        api
      }
      return await agents.response(to: request)
    case .common(.metrics):
      return ServerResponse(
        200, Metrics.contentType, Array(metrics.text.utf8),
        headers: [.init("Cache-Control", "no-store")])
    }
  }

  /// The methods of a path that this server answers.
  private func methods(of route: Route, _ access: Access) -> [String] {
    route.methods.filter { method in
      method == "GET" || route.onlyReads
        || access.mayChange && (!route.managesSources || mayManage(route))
    }
  }

  /// True if the sources may be changed by a path, which may be that of a source.
  private func mayManage(_ route: Route) -> Bool {
    guard let adding = api.adding else { return false }
    guard case .api(let path) = route, path.pattern == .list,
      api.sources.contains(where: { $0.name == path.source })
    else { return true }
    return adding.sources.mayChange(path.source)
  }

  private var pages: WebRouter {
    WebRouter(
      program: program.text, api: api, hasToken: access.withLock(\.self)?.secrets != nil)
  }

  private func isForPrograms(_ route: Route, _ request: ServerRequest) -> Bool {
    route.isForPrograms || request.header("Accept")?.contains("text/html") != true
  }
}
