/// A place records come from, one page at a time.
///
/// ## What every conformer promises
///
/// 1. Following ``Page/next`` from the start yields every record once, whatever the limit, and ends
///    with `next == nil`. An endless source never ends by itself: whoever walks it sets the bound.
/// 2. A page holds at most `request.limit` records. A shorter or an empty page may still have a `next`.
/// 3. A cursor is good only for the source and query that made it. Any other is `invalidCursor`, never
///    a silent restart.
/// 4. Local matching: every word of the query, folded, occurs in some searchable field. A server's own
///    search is trusted, not filtered again.
/// 5. An unknown id is `notFound`, which is an answer and not a failure.
/// 6. Cancelling the task ends the call promptly with `cancelled`.
/// 7. One unreadable row never loses a page: it is left out and counted in ``Page/unreadable``.
/// 8. No secret enters a ``SourceError``.
/// 9. A source that talks to a service makes at most one HTTP request per call.
///
/// ``Law`` has these promises as laws, which `expectLaws` of SourceTesting asserts in a test.
public protocol DataSource<Item>: Sendable {
  /// What this source gives.
  associatedtype Item: Record

  /// One page of records.
  ///
  /// - Parameter request: What is asked for, where to start, and how many records at most.
  /// - Returns: At most `request.limit` records.
  /// - Throws: ``SourceError``; `cancelled` when the task was cancelled, `invalidCursor` for a cursor
  ///   that this source did not make for this query.
  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item>

  /// The record with this id.
  ///
  /// - Parameter id: The id to look up.
  /// - Returns: The record and where it came from.
  /// - Throws: ``SourceError``; `notFound` when there is no such record.
  func item(_ id: Item.ID) async throws(SourceError) -> LookupResult<Item>

  /// The cursor that lies `count` records after `request`, where pages can be addressed ahead.
  ///
  /// It lets a walk keep several pages in flight. It is a guess, checked against the real `next`, so
  /// a wrong one costs a request and never order or completeness.
  ///
  /// - Parameters:
  ///   - count: How many records to skip, 1 or more.
  ///   - request: The request to count from.
  /// - Returns: The cursor, or `nil` (the default) where pages cannot be addressed.
  func cursor(skipping count: Int, from request: PageRequest) -> Cursor?
}

extension DataSource {
  /// No page can be addressed ahead.
  public func cursor(skipping count: Int, from request: PageRequest) -> Cursor? { nil }
}
