import AggregatorKit

/// Comic Vine (https://comicvine.gamespot.com/api/documentation): lists by offset, searches by page
/// number, characters by ID.
struct ComicVine: DataSource, CustomStringConvertible {
  /// The largest page of the service.
  static let largestPage = 100

  /// Its name in messages.
  static let service = "Comic Vine"

  /// The type number of characters, whose IDs are `4005-1443` in addresses.
  private static let characterType = 4005

  let url: URL
  let key: Secret
  let transport: any Transport
  let now: @Sendable () -> Date

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Hero> {
    if let query = request.query {
      try await search(query, request)
    } else {
      try await list(request)
    }
  }

  func item(_ id: Int, cachePolicy: CachePolicy) async throws(SourceError) -> LookupResult<Hero> {
    // The service reports such an address as malformed, not as unknown.
    guard id > 0 else { throw .notFound(id, in: "heroes") }
    let (reply, provenance) = try await ask(
      "character/\(Self.characterType)-\(id)", fields: .detail, as: Hero.Wire.self)
    guard let results = reply.results else { throw .notFound(id, in: "heroes") }
    guard results.hero.id == id else {
      throw SourceError(.malformed, "Comic Vine sent character \(results.hero.id) instead of \(id)")
    }
    return LookupResult(results.hero, provenance: provenance)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    let seal = CursorSeal("heroes", for: request.query)
    if request.query == nil {
      return seal.offset(skipping: count, from: request.cursor)
    }
    let first = PagePosition(size: request.limit, largest: Self.largestPage)
    let position = try? first.opening(request.cursor, with: seal)
    return position?.skipping(count).flatMap { try? seal.close($0) }
  }

  var description: String { "ComicVine(\(url.absoluteString))" }

  // MARK: - Lists

  private func list(_ request: PageRequest) async throws(SourceError) -> Page<Hero> {
    let seal = CursorSeal("heroes", for: nil)
    let offset = try seal.openOffset(request.cursor)
    let limit = min(request.limit, Self.largestPage)
    let (reply, provenance) = try await ask(
      "characters", fields: .list, query: [("limit", "\(limit)"), ("offset", "\(offset)")],
      as: LossyArray<Hero.Wire>.self, isEmpty: { $0.count == 0 })
    let rows = try reply.rows()
    // The service may use its own page size, and need not say so: only the rows sent count.
    let end = offset + min(limit, rows.count)
    let total = reply.total(after: offset, sent: rows.count)
    let isLast = rows.count == 0 || total.map { end >= $0 } ?? false
    return Page(
      Array(rows.elements.prefix(limit).map(\.hero)), next: isLast ? nil : try seal.close(end),
      total: total, provenance: provenance, unreadable: rows.unreadable,
      warnings: isLast ? reply.shortfall(after: end, in: nil) : [])
  }

  // MARK: - Search

  /// One page of search results.
  ///
  /// The service searches by page number, and may use a smaller page size than requested: the size
  /// that it returns goes into the cursor. A smaller limit returns a part of a page.
  private func search(
    _ query: Query, _ request: PageRequest
  ) async throws(SourceError) -> Page<Hero> {
    let seal = CursorSeal("heroes", for: query)
    let first = PagePosition(size: request.limit, largest: Self.largestPage)
    let position = try first.opening(request.cursor, with: seal)
    let (reply, provenance) = try await ask(
      "search", fields: .list,
      query: [
        ("query", query.text), ("resources", "character"), ("limit", "\(position.size)"),
        ("page", "\(position.number)"),
      ], as: LossyArray<Hero.Wire>.self, isEmpty: { $0.count == 0 })
    let rows = try reply.rows()
    let size = reply.pageSize(for: position, sent: rows.count)
    let slice = rows.elements.dropFirst(position.skip).prefix(request.limit)
    let offset = (position.number - 1) * size
    let total = reply.total(after: offset, sent: rows.count)
    // Totals are unreliable: a search may report 945 rows and send none, or send more than
    // reported. The end is an empty page, or a short one that exactly reaches the total.
    let isLast = rows.count == 0 || rows.count < size && total == offset + rows.count
    let next = position.next(
      after: slice.endIndex, of: rows.elements.count, size: size, isLast: isLast)
    return Page(
      slice.map(\.hero), next: try next.map { next throws(SourceError) in try seal.close(next) },
      total: total, provenance: provenance,
      unreadable: position.skip == 0 ? rows.unreadable : .none,
      warnings: next == nil ? reply.shortfall(after: offset + rows.count, in: query) : [])
  }

  // MARK: - Requests

  private enum Fields: String {
    case list =
      "id,name,real_name,aliases,deck,publisher,first_appeared_in_issue,image,site_detail_url"
    case detail =
      "id,name,real_name,aliases,deck,publisher,first_appeared_in_issue,image,site_detail_url,powers,teams,description"
  }

  private func ask<Results: Decodable & Sendable>(
    _ path: String, fields: Fields, query: [(String, String)] = [], as type: Results.Type,
    isEmpty: (Results) -> Bool = { _ in false }
  ) async throws(SourceError) -> (ComicVineReply<Results>, Provenance) {
    let request = HTTPRequest(
      // Without the trailing slash the service redirects.
      .get, url.appending(path: path, directoryHint: .isDirectory),
      query: [
        .init("api_key", .secret(key)), .init("format", "json"),
        .init("field_list", .plain(fields.rawValue)),
      ] + query.map { .init($0.0, .plain($0.1)) })
    let response = try await transport.send(request)
    let reply = try ComicVineReply<Results>(response, at: now())
    if let results = reply.results, isEmpty(results),
      let failure = response.reportedFailure(by: Self.service, hasRows: false)
    {
      throw failure
    }
    return (reply, Provenance(.live, fetchedAt: now(), endpoint: request.endpoint))
  }
}
