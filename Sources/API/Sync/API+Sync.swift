import AggregatorKit
import AggregatorQueries
import AggregatorServer
import AggregatorTerminal

extension API {
  /// The most pages of a sync.
  static let maxPages = 1_000_000

  /// The syncs that run, and the last one of each source, in the order of the sources.
  func listSyncs(of name: String? = nil) async -> ServerResponse {
    let (jobs, time) = await syncs.all()
    let records = sources.compactMap { source -> ServedRecord? in
      guard name == nil || source.name == name, let job = jobs[source] else { return nil }
      return ServedRecord(id: source.name, object: job.object(of: source.name, at: time))
    }
    var response = response(
      records, verb: "sync", of: name, ListingSummary(count: records.count, total: records.count))
    response.set("Cache-Control", "no-store")
    return response
  }

  /// The last ten syncs of a source that servers have run, the latest first; those of the command line are not jobs.
  package func lastSyncs(of source: any ServedSource) async -> [ServedSync] {
    let (jobs, time) = await syncs.all()
    guard let job = jobs[source] else { return [] }
    return ([job] + (job.earlier ?? [])).map { $0.served(at: time) }
  }

  /// The last sync that a server has run, or runs, of each source, by the names of the sources.
  package func lastSyncs() async -> [String: ServedSync] {
    let (jobs, time) = await syncs.all()
    let last = sources.compactMap { source in jobs[source].map { (source.name, $0) } }
    return Dictionary(last) { first, _ in first }.mapValues { $0.served(at: time) }
  }

  /// Starts the sync of a source, follows it or stops it.
  ///
  /// It goes on when its client leaves.
  func sync(_ source: any ServedSource, _ request: ServerRequest) async throws -> ServerResponse {
    let (events, json) = (
      request.weight(ofType: "text/event-stream"),
      request.weight(ofType: Format.json.mediaType)
    )
    switch request.method {
    case "POST":
      try request.requireParameters(among: ["pages"])
      let pages = try request.parameter("pages", hint: "from 1 to \(Self.maxPages)") { text in
        Int(text).flatMap { 1...Self.maxPages ~= $0 ? $0 : nil }
      }
      guard pages != nil || !source.isEndless else {
        throw Problem(
          400, "invalidRequest", "\(source.name) is unbounded", hint: "set the parameter pages")
      }
      await syncs.start(source, pages: pages)
      guard events < json else { return ServerResponse(events: syncs.events(of: source)) }
      var response = await listSyncs(of: source.name)
      response.status = 202
      return response
    case "DELETE":
      try request.requireParameters(among: [])
      guard await syncs.cancel(source) else {
        throw Problem(
          404, "notFound", "\(source.name): no sync is running",
          hint: "GET \(request.rawPath) has the last one")
      }
      return .noContent()
    default:
      try request.requireParameters(among: [])
      guard events > json else { return await listSyncs(of: source.name) }
      return ServerResponse(events: syncs.events(of: source))
    }
  }
}
