import AggregatorKit
import Foundation

/// The service: pages by `skip` and `limit`, with a total, and server-side search.
struct {{Record}}Service: DataSource, CustomStringConvertible {
  private static let service = "the {{name}} service"

  let url: URL
  let transport: any Transport
  let now: @Sendable () -> Date

  private struct Reply: Decodable {
    let items: LossyArray<{{Record}}.Wire>
    let total: Int
  }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<{{Record}}> {
    let seal = CursorSeal("{{name}}", for: request.query)
    let skip = try seal.openOffset(request.cursor)
    var query: [HTTPRequest.Item] = [.init("skip", "\(skip)"), .init("limit", "\(request.limit)")]
    if let words = request.query { query.append(.init("q", .plain(words.text))) }
    let (reply, provenance) = try await ask("items", query, as: Reply.self)
    let end = skip + min(reply.items.count, request.limit)
    let isLast = reply.items.count == 0 || end >= reply.total
    return Page(
      reply.items.elements.prefix(request.limit).map({{Record}}.init),
      next: isLast ? nil : try seal.close(end), total: reply.total,
      provenance: provenance, unreadable: reply.items.unreadable)
  }

  func item(_ id: String) async throws(SourceError) -> LookupResult<{{Record}}> {
    // The ID becomes part of a URL, so an invalid one must not request anything else.
    guard id.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil else {
      throw .notFound(id, in: "{{name}}")
    }
    let (row, provenance) = try await ask("items/\(id)", as: {{Record}}.Wire.self)
    return LookupResult({{Record}}(row), provenance: provenance)
  }

  var description: String { "{{Record}}Service(\(url.absoluteString))" }

  private func ask<Reply: Decodable>(
    _ path: String, _ query: [HTTPRequest.Item] = [], as type: Reply.Type
  ) async throws(SourceError) -> (Reply, Provenance) {
    let request = HTTPRequest(.get, url.appending(path: path), query: query)
    let response = try await transport.send(request)
    if response.status == 404 {
      throw SourceError(.notFound, "\(Self.service) has no \(path)")
    }
    let reply = try response.checked(by: Self.service, now: now())
      .decoded(as: type, by: Self.service)
    return (reply, Provenance(.live, fetchedAt: now(), endpoint: request.endpoint))
  }
}
