/// A paginated collection of records.
///
/// ## Requirements for conforming types
///
/// 1. Following ``Page/next`` from the start yields every record once, whatever the limit, and ends
///    with `next == nil`. An endless source never ends by itself: its reader sets the bound.
/// 2. A page has at most `request.limit` records. A shorter or an empty page may still have a `next`.
/// 3. A cursor is valid only for the source and query that made it. Any other is `invalidCursor`, never
///    a silent restart.
/// 4. Local matching: every word of the query, folded, occurs in some searchable field. A server's own
///    search is trusted, not filtered again.
/// 5. An unknown id is `notFound`, which is an answer and not a failure.
/// 6. Cancelling the task ends the call promptly with `cancelled`.
/// 7. One unreadable row never loses a page: it is left out and counted in ``Page/unreadable``.
/// 8. No secret enters a ``SourceError``.
/// 9. A source that calls a service makes at most one HTTP request per call.
///
/// The laws of AggregatorSourceTesting check these requirements.
public protocol DataSource<Item>: Sendable {
  associatedtype Item: SourceRecord

  /// Fetches one page of records.
  ///
  /// - Throws: ``SourceError``; `cancelled` if the task was cancelled, `invalidCursor` for a cursor
  ///   that this source did not make for this query.
  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item>

  /// Looks up one record.
  ///
  /// A source that only calls a service, or only reads local data, has no use for the policy. An operator passes
  /// it on, as it does ``PageRequest/cachePolicy``.
  ///
  /// - Throws: ``SourceError``; `notFound` if no record has this id.
  func item(_ id: Item.ID, cachePolicy: CachePolicy) async throws(SourceError) -> LookupResult<Item>

  /// The expected cursor `count` records, 1 or more, after `request`, if pages can be addressed ahead.
  ///
  /// It lets pagination keep several pages in flight. The result is checked against the real `next`, so
  /// a wrong one costs a request, but never order or completeness.
  ///
  /// - Returns: `nil`, the default, if pages cannot be addressed.
  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor?

  /// True if a page is the rest of a response that is kept, so that it takes no request; false by default.
  ///
  /// A rate limit then makes the call at once, with a cache policy that may not ask the service: it fails with
  /// `offline` if the response is no longer kept.
  func isInMemory(_ request: PageRequest) -> Bool

  /// False if a page may be requested only when it is needed, because the service sends it once; true by default.
  var readsAhead: Bool { get }

  /// The number of records of a page of the service, if it is not the caller's limit; `nil` by default.
  ///
  /// A chain requests and caches whole pages of this size.
  var pageSize: Int? { get }

  /// A stream for each ``ReplaceableSource`` that this source reads, which yields after its replacements from now on; none by
  /// default.
  ///
  /// An operator passes on those of its base: open lists and details load once more then.
  var replacements: [AsyncStream<Void>] { get }
}

extension DataSource {
  /// Looks up one record: fresh cached data, else the service, else local data.
  ///
  /// - Throws: ``SourceError``; `notFound` if no record has this id.
  public func item(_ id: Item.ID) async throws(SourceError) -> LookupResult<Item> {
    try await item(id, cachePolicy: .normal)
  }

  public func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? { nil }

  public func isInMemory(_ request: PageRequest) -> Bool { false }

  public var readsAhead: Bool { true }

  public var pageSize: Int? { nil }

  public var replacements: [AsyncStream<Void>] { [] }
}
