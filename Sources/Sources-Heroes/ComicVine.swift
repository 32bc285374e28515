import AggregatorKit
import Foundation

/// Comic Vine (https://comicvine.gamespot.com/api/documentation): lists by offset, searches by page
/// number, characters by ID.
struct ComicVine: DataSource, CustomStringConvertible {
  /// The largest page of the service.
  static let largestPage = 100

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

  func item(_ id: Int) async throws(SourceError) -> LookupResult<Hero> {
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
    let start = SearchPosition(size: min(request.limit, Self.largestPage))
    guard let position = try? seal.open(request.cursor) ?? start else { return nil }
    return position.skipping(count).flatMap { try? seal.close($0) }
  }

  var description: String { "ComicVine(\(url.absoluteString))" }

  // MARK: - Lists

  private func list(_ request: PageRequest) async throws(SourceError) -> Page<Hero> {
    let seal = CursorSeal("heroes", for: nil)
    let offset = try seal.openOffset(request.cursor)
    let limit = min(request.limit, Self.largestPage)
    let (reply, provenance) = try await ask(
      "characters", fields: .list, query: [("limit", "\(limit)"), ("offset", "\(offset)")],
      as: LossyArray<Hero.Wire>.self)
    let rows = try reply.rows()
    // The service may use its own page size, and returns it.
    let end = offset + min(limit, max(reply.limit ?? limit, rows.count))
    let total = reply.total(after: offset, sent: rows.count)
    let isLast = rows.count == 0 || total.map { end >= $0 } ?? false
    return Page(
      Array(rows.elements.prefix(limit).map(\.hero)), next: isLast ? nil : try seal.close(end),
      total: total, provenance: provenance, unreadable: rows.unreadable)
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
    let start = SearchPosition(size: min(request.limit, Self.largestPage))
    let position = try seal.open(request.cursor) ?? start
    guard position.isValid else { throw .damaged(request.cursor) }
    let (reply, provenance) = try await ask(
      "search", fields: .list,
      query: [
        ("query", query.text), ("resources", "character"), ("limit", "\(position.size)"),
        ("page", "\(position.page)"),
      ], as: LossyArray<Hero.Wire>.self)
    let rows = try reply.rows()
    let size = reply.limit.map { 1...Self.largestPage ~= $0 ? $0 : position.size } ?? position.size
    let slice = rows.elements.dropFirst(position.skip).prefix(request.limit)
    let offset = (position.page - 1) * size
    let total = reply.total(after: offset, sent: rows.count)
    // Totals are unreliable: a search may report 945 rows and send none, or send more than
    // reported. The end is an empty page, or a short one that exactly reaches the total.
    let isLast = rows.count == 0 || rows.count < size && total == offset + rows.count
    var next: SearchPosition?
    if slice.endIndex < rows.elements.endIndex {
      next = SearchPosition(page: position.page, size: size, skip: slice.endIndex)
    } else if !isLast {
      next = SearchPosition(page: position.page + 1, size: size)
    }
    return Page(
      slice.map(\.hero), next: try next.map { next throws(SourceError) in try seal.close(next) },
      total: total, provenance: provenance,
      unreadable: position.skip == 0 ? rows.unreadable : .none)
  }

  // MARK: - Requests

  private enum Fields: String {
    case list =
      "id,name,real_name,aliases,deck,publisher,first_appeared_in_issue,image,site_detail_url"
    case detail =
      "id,name,real_name,aliases,deck,publisher,first_appeared_in_issue,image,site_detail_url,powers,teams,description"
  }

  private func ask<Results: Decodable & Sendable>(
    _ path: String, fields: Fields, query: [(String, String)] = [], as type: Results.Type
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
    return (reply, Provenance(.live, fetchedAt: now(), endpoint: request.endpoint))
  }
}

/// The position in a search: a page of the service, and the rows of it already returned.
struct SearchPosition: Codable {
  /// The page number, from 1.
  var page = 1
  var size: Int
  var skip = 0

  private enum CodingKeys: String, CodingKey { case page = "p", size = "n", skip = "s" }

  private static let pages = 1...1_000_000

  /// True if a decoded position makes sense: cursors are untrusted input.
  ///
  /// `skip` may exceed the page size, because the service may send more rows than it says.
  var isValid: Bool {
    Self.pages ~= page && 1...ComicVine.largestPage ~= size && 0...1_000_000 ~= skip
  }

  /// The position `count` rows ahead, if all pages of the service are full.
  func skipping(_ count: Int) -> SearchPosition? {
    let (sum, overflow) = skip.addingReportingOverflow(count)
    guard isValid, !overflow, sum / size < Self.pages.upperBound else { return nil }
    let position = SearchPosition(page: page + sum / size, size: size, skip: sum % size)
    return position.isValid ? position : nil
  }
}
