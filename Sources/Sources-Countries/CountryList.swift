import AggregatorKit

/// The service: one JSON array, served as `text/plain`, without pages and without search.
///
/// Every call fetches the whole list (80 KB), so it belongs behind `sliced`.
struct CountryList: DataSource, CustomStringConvertible {
  let url: URL
  let transport: any Transport
  let now: @Sendable () -> Date

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Country> {
    guard request.query == nil else {
      throw SourceError(.invalidRequest, "the country list has no search")
    }
    let seal = CursorSeal("countries", for: nil)
    let offset = try seal.openOffset(request.cursor)
    let (all, unreadable, provenance) = try await fetch()
    let countries = all.dropFirst(offset).prefix(request.limit)
    let isLast = countries.endIndex >= all.endIndex
    return Page(
      Array(countries), next: isLast ? nil : try seal.close(countries.endIndex), total: all.count,
      provenance: provenance, unreadable: offset == 0 ? unreadable : .none)
  }

  /// A lookup would fetch the whole list, too, so it searches the cached one instead.
  func item(
    _ id: CountryCode, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Country> {
    throw SourceError(.unsupported, "the country list does not support lookups")
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    guard request.query == nil else { return nil }
    return CursorSeal("countries", for: nil).offset(skipping: count, from: request.cursor)
  }

  var description: String { "CountryList(\(url.absoluteString))" }

  private func fetch() async throws(SourceError) -> ([Country], UnreadableRows, Provenance) {
    let request = HTTPRequest(.get, url)
    let service = "the country list"
    let reply = try await transport.send(request).checked(by: service, now: now())
    let rows = try reply.decoded(as: LossyArray<Country.Wire>.self, by: service)
    return (
      rows.elements.map(\.country), rows.unreadable,
      Provenance(.live, fetchedAt: now(), endpoint: request.endpoint)
    )
  }
}
