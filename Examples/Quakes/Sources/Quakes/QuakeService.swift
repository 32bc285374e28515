import AggregatorKit
import Foundation

/// The service: each page links to the next one; search is server-side.
struct QuakeService: DataSource {
  let url: URL
  let transport: any Transport
  let now: @Sendable () -> Date

  private struct Reply: Decodable {
    let quakes: LossyArray<Quake.Wire>
    let next: String?
  }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Quake> {
    let seal = CursorSeal("quakes", for: request.query)
    let position = try seal.open(request.cursor, as: LinkPosition.self) ?? LinkPosition()
    var first = HTTPRequest(.get, url, query: [.init("size", "\(request.limit)")])
    if let words = request.query { first.query.append(.init("q", .plain(words.text))) }
    let asked = try position.request(from: first)
    let (reply, provenance) = try await ask(asked, as: Reply.self)
    // A link keeps the previous page's size, which may exceed the limit.
    let rows = reply.quakes.elements.dropFirst(position.skip).prefix(request.limit)
    let next = try position.next(
      after: rows.endIndex, of: reply.quakes.elements.count, link: reply.next, in: asked)
    return Page(
      rows.map(Quake.init), next: try next.map { next throws(SourceError) in try seal.close(next) },
      provenance: provenance, unreadable: position.skip == 0 ? reply.quakes.unreadable : .none)
  }

  func item(_ id: String) async throws(SourceError) -> LookupResult<Quake> {
    // The ID becomes part of a URL, so an invalid one must not request anything else.
    guard id.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil else { throw .notFound(id, in: "quakes") }
    let (row, provenance) = try await ask(.init(.get, url.appending(path: id)), as: Quake.Wire.self)
    return LookupResult(Quake(row), provenance: provenance)
  }

  private func ask<Reply: Decodable>(
    _ request: HTTPRequest, as type: Reply.Type
  ) async throws(SourceError) -> (Reply, Provenance) {
    let response = try await transport.send(request)
    if response.status == 404 { throw SourceError(.notFound, "\(request.endpoint) not found") }
    let reply = try response.checked(by: "Quakes", now: now()).decoded(as: type, by: "Quakes")
    return (reply, Provenance(.live, fetchedAt: now(), endpoint: request.endpoint))
  }
}
