package import AggregatorKit
package import AggregatorServer
import Synchronization

/// All paths of the server: the page, the API and what describes them.
package final class Site: Sendable {
  private let api: API
  private let metrics: Metrics
  private let program: ProgramName
  private let version: String
  private let now: @Sendable () -> Date
  /// Set once the port is known.
  private let access = Mutex<Access?>(nil)

  package init(
    _ program: ProgramName, _ sources: [any ServedSource], metrics: Metrics,
    _ environment: PluginEnvironment
  ) {
    api = API(sources: sources, now: environment.now)
    self.program = program
    self.metrics = metrics
    version = Version.current
    now = environment.now
  }

  package var sourceNames: [String] { api.sources.map(\.name) }

  /// Begins to answer requests; earlier ones are refused.
  package func open(_ access: Access) { self.access.withLock { $0 = access } }

  package func response(to request: ServerRequest) async -> ServerResponse {
    let start = ContinuousClock.now
    let access = access.withLock(\.self)
    let date = now
    var response = await Now.$current.withValue(Now { date() }) {
      do {
        guard let access else { throw Problem(503, "starting", "the server is starting") }
        return try await answer(request, access)
      } catch {
        let problem = Problem(error)
        return isForPrograms(request) ? problem.response : pages.response(to: problem)
      }
    }
    finish(&response, to: request, access)
    metrics.count(
      request.method, route(request), status: response.status,
      after: ContinuousClock.now - start)
    return response
  }

  /// The response to a request that the server refuses before its path and its token are known.
  package func response(to refusal: RequestRefusal, of request: ServerRequest) -> ServerResponse {
    var problem = Problem(refusal.status, refusal.code, refusal.message)
    problem.retryAfter = refusal.retryAfter
    var response =
      isForPrograms(request)
      ? problem.response : pages.response(to: problem, isForStrangers: true)
    finish(&response, to: request, access.withLock(\.self))
    metrics.count(request.method, "other", status: response.status, after: .zero)
    return response
  }

  /// Adds the header fields that all responses have.
  private func finish(
    _ response: inout ServerResponse, to request: ServerRequest, _ access: Access?
  ) {
    response.secure()
    if let origin = access?.foreignOrigin(of: request) { response.allow(origin) }
  }

  private func answer(_ request: ServerRequest, _ access: Access) async throws -> ServerResponse {
    if request.path == ["healthz"] {
      try request.require("GET")
      return .json(["status": "ok"])
    }
    try access.check(request)
    if request.method == "OPTIONS" { return .preflight(for: request) }
    if let redirect = try access.exchange(request) { return redirect }
    guard access.admits(request) else { throw Problem.unauthorized }
    switch request.path.first {
    case "api" where request.path.dropFirst().first == "v1":
      return try await api.response(to: request)
    case "openapi.json" where request.path.count == 1:
      try request.require("GET")
      let host = request.header("Host") ?? ""
      return .json(
        OpenAPI.document(
          for: api.sources, title: program.text, version: version, address: "http://\(host)",
          isReadOnly: !access.mayChange))
    case "metrics" where request.path.count == 1:
      try request.require("GET")
      return ServerResponse(
        200, Metrics.contentType, Array(metrics.text.utf8),
        headers: [.init("Cache-Control", "no-store")])
    default: return try await pages.response(to: request, readOnly: !access.mayChange)
    }
  }

  private var pages: PageRouter { PageRouter(program: program.text, api: api, now: now) }

  private func isForPrograms(_ request: ServerRequest) -> Bool {
    ["api", "openapi.json", "metrics", "healthz"].contains(request.path.first ?? "")
      || request.header("Accept")?.contains("text/html") != true
  }

  /// The kind of path, for the metrics: a path with IDs would be a series of its own for each.
  private func route(_ request: ServerRequest) -> String {
    switch request.path.first {
    case nil: "/"
    case "api":
      switch request.path.count {
      case 3: "/api/v1/{source}"
      case 4: "/api/v1/{source}/{id}"
      case 5: "/api/v1/{source}/{id}/{action}"
      default: "other"
      }
    case PageAddress.root:
      switch request.path.count {
      case 2: "/sources/{source}"
      case 3: "/sources/{source}/{id}"
      case 4: "/sources/{source}/{id}/{action}"
      default: "other"
      }
    case let name? where ["openapi.json", "metrics", "healthz", "assets", "search"].contains(name):
      "/\(name)"
    default: "other"
    }
  }
}

extension ServerResponse {
  fileprivate static func json(_ json: JSON) -> ServerResponse {
    var response = ServerResponse(200, "application/json", Array(json.text.utf8))
    response.set("Cache-Control", "private, no-cache")
    return response
  }

  /// The header fields of every response.
  fileprivate mutating func secure() {
    if header("Content-Security-Policy") == nil {
      set("Content-Security-Policy", WebPages.contentSecurityPolicy)
    }
    set("X-Content-Type-Options", "nosniff")
    set("X-Frame-Options", "DENY")
    set("Referrer-Policy", "same-origin")
    set("Cross-Origin-Resource-Policy", "same-origin")
  }
}
