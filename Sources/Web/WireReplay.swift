package import AggregatorHTTP
import AggregatorKit
package import AggregatorServer

/// A server in the place of a recorded service: the same paths, statuses, header fields and bodies.
package struct WireReplay: Sendable {
  /// Fields that belong to a connection, or that a server computes from the body that it sends.
  private static let droppedFields: Set = [
    "connection", "content-encoding", "content-length", "date", "keep-alive", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
  ]

  private static let linkFields: Set = ["content-location", "link", "location"]

  /// The most recorded requests that the response to an unknown one lists.
  private static let maxListed = 20

  private let replies: RecordedReplies

  private let origins: [String]

  package init(_ recording: Recording) {
    replies = recording.repliesWithoutHost
    // The longest first: one may be the beginning of another, which has a port.
    origins = recording.origins.sorted { $0.count > $1.count }
  }

  /// Returns the recorded response, or status 404 with a list of the most similar recorded requests.
  ///
  /// A recorded failure of the network is status 502, or 504 for a timeout.
  package func response(to request: ServerRequest) -> ServerResponse {
    let target = request.rawPath + (request.rawQuery.map { "?\($0)" } ?? "")
    // A server answers HEAD as it answers GET, and leaves out the body.
    let method = request.method == "HEAD" ? "GET" : request.method
    let recorded = RecordedRequest(method, target: target, body: request.body)
    guard let recorded, let exchange = replies.next(for: recorded) else {
      return missing(request)
    }
    switch exchange.outcome {
    case .reply(let reply): return response(reply, from: request.header("Host"))
    case .failure(let error):
      let wait = error.retryAfter.map { Int(($0 / .seconds(1)).rounded(.up)) }
      return plain(
        error.code == .timedOut ? 504 : 502, "\(error.message), as recorded\n",
        headers: wait.map { [.init("Retry-After", "\($0)")] } ?? [])
    case .silence: return plain(504, "no response until the deadline, as recorded\n")
    }
  }

  private func response(_ reply: HTTPResponse, from host: String?) -> ServerResponse {
    var response = ServerResponse(reply.status, "", Array(reply.body))
    response.headers = reply.headers.filter { !Self.droppedFields.contains($0.name) }.map { field in
      let isLink = Self.linkFields.contains(field.name)
      return .init(field.name, isLink ? local(field.value, host) : field.value)
    }
    return response
  }

  /// A field whose URLs of the service are those of this server, so that clients stay here.
  private func local(_ value: String, _ host: String?) -> String {
    let base = host.map { "http://\($0)" } ?? ""
    return origins.reduce(value) { $0.replacing("\($1)/", with: "\(base)/") }
  }

  /// A list that repeats no key of the request.
  private func missing(_ request: ServerRequest) -> ServerResponse {
    let target = RecordedRequest.target(
      request.rawPath, request.rawQuery, hiding: replies.secretNames)
    var text = "\(request.method) \(target)".oneLine(atMost: 300) + " is not in the recording.\n"
    // Other methods are not recorded; requests with the same URL are the most similar then.
    let similar =
      RecordedRequest(request.method, target: target, body: request.body)
      ?? RecordedRequest("GET", target: target, body: request.body)
    let neighbors = similar.map(replies.neighbors) ?? []
    if !neighbors.isEmpty { text += "\nRecorded, the most similar first:\n" }
    for neighbor in neighbors.prefix(Self.maxListed) {
      text += "\n\(neighbor.name): \(neighbor.request.line.oneLine(atMost: 300))\n"
      let differences = neighbor.differences.prefix(5).joined(separator: ", ")
      if !differences.isEmpty { text += "  \(differences)\n" }
    }
    let rest = neighbors.count - Self.maxListed
    if rest > 0 { text += "\nand \(rest) more\n" }
    return plain(404, text)
  }

  private func plain(
    _ status: Int, _ text: String, headers: [ServerRequest.Parameter] = []
  ) -> ServerResponse {
    ServerResponse(status, "text/plain; charset=utf-8", Array(text.utf8), headers: headers)
  }
}
