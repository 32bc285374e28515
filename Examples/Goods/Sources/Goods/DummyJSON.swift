import AggregatorKit

/// https://dummyjson.com/docs/products: pages by `skip` and `limit`,
/// with a total, and server-side search.
struct DummyJSON: DataSource {
  let url: URL
  let transport: any Transport
  let now: @Sendable () -> Date

  private struct Reply: Decodable {
    let products: LossyArray<Good>
    let total: Int
  }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Good> {
    let seal = CursorSeal("goods", for: request.query)
    let skip = try seal.openOffset(request.cursor)
    var query: [HTTPRequest.Item] = [.init("skip", "\(skip)"), .init("limit", "\(request.limit)")]
    if let words = request.query { query.append(.init("q", .plain(words.text))) }
    let (reply, provenance) = try await ask(
      request.query == nil ? "products" : "products/search", query, as: Reply.self)
    // The reply's own `limit` is the number of rows sent, so advancing by it would never end.
    let end = skip + reply.products.count
    let isLast = reply.products.count == 0 || end >= reply.total
    return Page(
      Array(reply.products.elements.prefix(request.limit)),
      next: isLast ? nil : try seal.close(end), total: reply.total,
      provenance: provenance, unreadable: reply.products.unreadable)
  }

  func item(_ id: Int, cachePolicy: CachePolicy) async throws(SourceError) -> LookupResult<Good> {
    let (good, provenance) = try await ask("products/\(id)", as: Good.self)
    return LookupResult(good, provenance: provenance)
  }

  private func ask<Value: Decodable>(
    _ path: String, _ query: [HTTPRequest.Item] = [], as type: Value.Type
  ) async throws(SourceError) -> (Value, Provenance) {
    let request = HTTPRequest(.get, url.appending(path: path), query: query)
    let response = try await transport.send(request)
    if response.status == 404 { throw SourceError(.notFound, "DummyJSON has no \(path)") }
    let value = try response.checked(by: "DummyJSON", now: now()).decoded(as: type, by: "DummyJSON")
    return (value, Provenance(.live, fetchedAt: now(), endpoint: request.endpoint))
  }
}
