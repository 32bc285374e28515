import AggregatorKit

/// What the options say about how much is listed.
struct ListingOptions {
  /// Where to start.
  let cursor: Cursor?

  /// How far to go.
  let bound: PaginationBound

  /// How many records to ask for at a time.
  let pageSize: Int

  /// Whether ending at the bound on pages means that something asked for is missing.
  let isCapped: Bool

  /// How many pages at most; `nil` for no bound.
  var mostPages: Int? { bound.pages ?? bound.items.map { ($0 + pageSize - 1) / pageSize } }

  /// How many records a page has where nobody says so.
  static let standardLimit = 20

  private static let standardMaxPages = 25

  /// Reads ``Option/listing``.
  ///
  /// - Parameters:
  ///   - invocation: What was typed.
  ///   - policy: How the source is treated. A listing asks for as many records at a time as it wants
  ///     and the service gives, so that it costs the fewest requests.
  ///   - hasStore: Whether records are kept; if not, a source that would begin with those has no end.
  ///   - isSearch: Whether something is looked for. Where that is done among records that do not match,
  ///     a page that is not full means that the search stopped, and no more are asked for.
  ///   - standardLimit: How many records are listed where nobody says so.
  /// - Throws: ``CommandError`` with code `usage`.
  init(
    _ invocation: Invocation, _ policy: Policy, hasStore: Bool, isSearch: Bool,
    standardLimit: Int = ListingOptions.standardLimit
  ) throws(CommandError) {
    cursor = try invocation.text(.cursor).map { text throws(CommandError) in
      guard let cursor = Cursor(text) else { throw CommandError(SourceError.damaged(text)) }
      return cursor
    }
    let largestPage = policy.largestPage
    let isStored = policy.readOrder == .localFirst && hasStore
    let isScan = isSearch && policy.localSearchBound != nil && !isStored
    let maxPages = invocation.count(.maxPages)
    isCapped = invocation.has(.all) || maxPages != nil
    if invocation.has(.all) {
      // All that is stored costs no request.
      let pages = maxPages ?? (isStored ? 0 : Self.standardMaxPages)
      bound = PaginationBound(pages: pages == 0 ? nil : pages)
      pageSize = largestPage
    } else {
      let limit = invocation.count(.limit) ?? standardLimit
      pageSize = min(limit, largestPage)
      let fullPages = (limit + pageSize - 1) / pageSize
      let pages = maxPages == 0 ? nil : maxPages ?? (isScan ? fullPages : nil)
      bound = PaginationBound(items: limit, pages: pages)
    }
  }
}
