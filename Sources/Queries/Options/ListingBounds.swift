package import AggregatorKit
package import AggregatorTerminal

/// The part of a list that a run reads.
package struct ListingBounds {
  package var cursor: PageCursor?

  package let bound: PaginationBound
  package let pageSize: Int

  /// True if reaching the limit of pages makes the result incomplete.
  package let isCapped: Bool

  /// The most records that `--all` reads unless `--max-pages` is given; `nil` for no limit.
  package private(set) var mostOfAll: Int?

  /// The maximum number of pages; `nil` for no limit.
  package var maxPages: Int? { bound.pages ?? bound.items.map { ($0 + pageSize - 1) / pageSize } }

  package static let standardLimit = 20

  package static func all(pageSize: Int) -> ListingBounds {
    ListingBounds(
      cursor: nil, bound: PaginationBound(), pageSize: pageSize, isCapped: false)
  }

  /// A page, filled with following records in the place of those that are deleted here.
  package static func page(of limit: Int, after cursor: PageCursor? = nil) -> ListingBounds {
    ListingBounds(cursor: cursor, bound: .filledPages(1), pageSize: limit, isCapped: false)
  }

  private static let standardMaxPages = 25
}

extension ListingBounds {
  /// Pages are as large as the limit and the service allow, which takes the fewest requests.
  ///
  /// A search that scans the service's records ends at a page that is not full: its bound is reached.
  /// Without a store a local-first source is unbounded. `isLocal` is true if only the store is read. Errors have the code `usage`.
  package init(
    _ invocation: Invocation, _ policy: Policy, hasStore: Bool, isSearch: Bool,
    isLocal: Bool = false, standardLimit: Int = standardLimit
  ) throws(CommandError) {
    cursor = try invocation.text(.cursor).map { text throws(CommandError) in
      guard let cursor = PageCursor(text) else { throw CommandError(SourceError.damaged(text)) }
      return cursor
    }
    if cursor != nil, invocation.has(.all),
      let option = Option.selecting.first(where: invocation.has)
    {
      throw CommandError(
        .usage, "--cursor cannot be used with --all and \(option.spelling)",
        hint: "\(option.spelling) with --all reads the list from its start")
    }
    let largestPage = policy.largestPage
    let isCached =
      isLocal || invocation.has(.offline) || policy.readsStoreFirst && hasStore
    let isScan = isSearch && policy.localSearchBound != nil && !isCached
    let maxPages = invocation.count(.maxPages)
    isCapped = invocation.has(.all) || maxPages != nil
    mostOfAll = isCached ? nil : Self.standardMaxPages * largestPage
    if invocation.has(.all) {
      // Cached records take no requests.
      let pages = maxPages ?? (isCached ? 0 : Self.standardMaxPages)
      bound = PaginationBound(pages: pages == 0 ? nil : pages)
      pageSize = largestPage
    } else {
      let limit = invocation.count(.limit) ?? standardLimit
      pageSize = min(limit, largestPage)
      let fullPages = (limit + pageSize - 1) / pageSize
      let pages = maxPages == 0 ? nil : maxPages
      bound =
        isScan && maxPages == nil
        ? .filledPages(fullPages, items: limit) : PaginationBound(items: limit, pages: pages)
    }
  }
}
