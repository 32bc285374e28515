/// The state of an iteration over pages: all of its decisions, without the fetching.
///
/// A page that failed leaves it as it was, so that the same request can be made again.
package struct PaginationState<Item: SourceRecord>: Sendable {
  /// The next request; `nil` at the end.
  package private(set) var request: PageRequest?

  private let size: Int
  private let bound: PaginationBound
  /// The maximum number of consecutive pages without new records.
  private static var maxEmptyPages: Int { 3 }
  private let memory: DuplicateDetection

  private var ids: Set<RecordKey> = []
  /// Digests of the pages seen, if their records are not kept.
  private var digests: Set<Int> = []
  private var delivered = 0
  /// The number of records before ``request``; `nil` if unknown.
  private var passed: Int?
  private var total: Int?
  /// The largest total that the source has reported.
  private var largestTotal: Int?
  /// The page number of each cursor seen, by its token; that of the first page without a cursor is empty.
  private var visits: [String: Int] = [:]
  private var pages = 0
  /// The number of them that a bound of pages does not count, because others fill them.
  private var shortenedPages = 0
  /// The number of these that had, or followed, records.
  private var fills = 0
  /// The most of them: each may ask for a single record that is left.
  private static var maxFills: Int { 25 }
  private var emptyPages = 0
  /// True if any number of pages may have only records that were delivered before.
  private var isCopy = false

  package init(
    matching query: SearchQuery?, after cursor: PageCursor?, passing passed: Int? = nil, size: Int,
    bound: PaginationBound, remembering memory: DuplicateDetection = .records,
    cachePolicy: CachePolicy = .normal
  ) {
    self.size = size
    self.bound = bound
    self.memory = memory
    self.passed = passed ?? (cursor == nil ? 0 : nil)
    request = PageRequest(
      matching: query, after: cursor, limit: min(size, bound.items ?? size),
      cachePolicy: cachePolicy)
    visits[cursor?.description ?? ""] = 0
  }

  /// The next requests: the first is certain, the others follow from predicted cursors.
  ///
  /// Correct predictions in `earlier` are reused: a cursor costs more than all other decisions.
  func requests(
    atMost count: Int, after earlier: [PageRequest] = [],
    guess: (_ skipping: Int, _ from: PageRequest) -> PageCursor?
  ) -> [PageRequest] {
    guard let request, count > 0 else { return [] }
    let known = earlier.first == request ? earlier : []
    var requests = [request]
    while requests.count < min(count, bound.pages.map { $0 - countedPages } ?? count) {
      let distance = requests.count * size
      let limit = min(size, bound.items.map { $0 - delivered - distance } ?? size)
      if let passed, let total, passed + distance >= total { break }
      guard limit > 0 else { break }
      if requests.count < known.count, known[requests.count].limit == limit {
        requests.append(known[requests.count])
      } else if let cursor = guess(distance, request) {
        requests.append(request.after(cursor, limit: limit))
      } else {
        break
      }
    }
    return requests
  }

  /// Advances past the page that answers ``request``.
  package mutating func take(_ page: Page<Item>) -> PaginationStep<Item> {
    var items = newRecords(of: page)
    let hasNewRecords = !items.isEmpty
    if let maxItems = bound.items, delivered + items.count > maxItems {
      items.removeLast(delivered + items.count - maxItems)
    }
    delivered += items.count
    // A partition without records is no page of records.
    if !page.endsPartition || !page.records.isEmpty {
      pages += 1
      if isToBeFilled(page) {
        shortenedPages += 1
        if delivered > 0 { fills += 1 }
      }
    }
    emptyPages =
      hasNewRecords || page.hidden > 0 || page.endsPartition || isCopy ? 0 : emptyPages + 1
    passed = passed.map { $0 + page.records.count + page.hidden + page.unreadable.count }
    total = page.total ?? total
    largestTotal = [largestTotal, page.reportedTotal ?? page.total].compactMap(\.self).max()
    var page = page
    let end = end(after: page)
    // A warning of the page itself may say the same, or why it is none.
    if end == .exhausted, let shortfall,
      !page.warnings.contains(where: {
        $0.code == shortfall.code || $0.code == .endedByRule || $0.meansIncomplete
      })
    {
      page.warnings.append(shortfall)
    }
    let left = maxItems.map { $0 - delivered } ?? size
    request = end == nil ? request?.after(page.next, limit: max(min(size, left), 1)) : nil
    return PaginationStep(items: items, page: page, end: end)
  }

  /// The state of a list that goes on with a copy of the source, from its start, without the records that were
  /// delivered; `nil` at the end.
  ///
  /// The first pages of a copy have what was delivered: a bound of pages is one of the records that so many pages have.
  func continuedInCopy() -> PaginationState? {
    let left = bound.items.map { $0 - delivered } ?? size
    guard left > 0 else { return nil }
    var state = self
    state.request = PageRequest(limit: min(size, left))
    state.isCopy = true
    (state.passed, state.total, state.largestTotal) = (0, nil, nil)
    state.visits = ["": pages]
    return state
  }

  /// A warning if the source ends although it has reported more records, on any page.
  private var shortfall: Warning? {
    guard let passed, let largestTotal, passed < largestTotal else { return nil }
    return .fewer(passed, than: largestTotal, last: total, in: request?.query)
  }

  private mutating func newRecords(of page: Page<Item>) -> [Item] {
    switch memory {
    case .records: return page.records.filter { ids.insert($0.key).inserted }
    case .pages:
      guard !page.records.isEmpty else { return [] }
      return digests.insert(page.records.map(\.key).hashValue).inserted ? page.records : []
    }
  }

  private mutating func end(after page: Page<Item>) -> PaginationEnd? {
    if let maxItems = bound.items, delivered >= maxItems { return .itemLimit }
    guard let next = page.next else { return .exhausted }
    if let visit = visits.updateValue(pages, forKey: next.description) {
      return .cycle(length: pages - visit)
    }
    if emptyPages >= Self.maxEmptyPages { return .nothingNew(pages: emptyPages) }
    if let maxPages = bound.pages,
      isCopy ? delivered >= maxPages * size : countedPages >= maxPages
    {
      return .pageLimit
    }
    return nil
  }

  private var countedPages: Int { pages - shortenedPages }

  /// The most records to ask for: those of all pages of a bound that fills them.
  private var maxItems: Int? {
    bound.items ?? (bound.fillsShortened ? bound.pages.map { $0 * size } : nil)
  }

  /// False also for the page of a scan that has read as many records as it may.
  private func isToBeFilled(_ page: Page<Item>) -> Bool {
    bound.fillsShortened && page.isShortened && fills < Self.maxFills
      && !page.warnings.contains { $0.code == .scanned }
  }
}

/// The data kept to detect duplicates.
public enum DuplicateDetection: Sendable {
  /// The id of every record; duplicates are left out.
  case records
  /// A digest of every page, for readers that detect duplicate records themselves: saves memory.
  case pages
}

/// The limits of an iteration over pages.
public struct PaginationBound: Hashable, Sendable {
  /// The maximum number of records, 1 or more; `nil` for no limit.
  public var items: Int?
  /// The maximum number of pages, 1 or more; `nil` for no limit.
  public var pages: Int?
  /// True if pages that lack deleted records do not count, so that others fill them.
  package var fillsShortened = false

  public init(items: Int? = nil, pages: Int? = nil) {
    precondition(items ?? 1 > 0 && pages ?? 1 > 0, "a limit of zero records or pages")
    self.items = items
    self.pages = pages
  }

  /// As many records as so many pages of the service have, of which none is deleted here.
  package static func filledPages(_ pages: Int, items: Int? = nil) -> PaginationBound {
    var bound = PaginationBound(items: items, pages: pages)
    bound.fillsShortened = true
    return bound
  }
}

/// One step of an iteration over pages.
public struct PaginationStep<Item: SourceRecord>: Equatable, Sendable {
  /// The records of the page that are new.
  public let items: [Item]

  public let page: Page<Item>

  /// The reason why this is the last step; `nil` if it is not.
  public let end: PaginationEnd?
}

/// The reason why an iteration over pages ended.
public enum PaginationEnd: Hashable, Sendable {
  /// The source has no more records.
  case exhausted
  case itemLimit
  case pageLimit
  /// The next page is one seen before: `length` pages ago, 1 for the page just read.
  case cycle(length: Int)
  /// So many consecutive pages had no new records.
  case nothingNew(pages: Int)

  /// True if the source made no progress.
  public var isWithoutProgress: Bool {
    switch self {
    case .cycle, .nothingNew: true
    case .exhausted, .itemLimit, .pageLimit: false
    }
  }

  /// A message: `pages repeat in a cycle of 2`.
  public var text: String {
    switch self {
    case .exhausted: "no more records"
    case .itemLimit: "record limit reached"
    case .pageLimit: "page limit reached"
    case .cycle(length: 1): "a page links to itself"
    case .cycle(let length): "pages repeat in a cycle of \(length)"
    case .nothingNew(let pages): "\(pages) consecutive pages had no new records"
    }
  }
}

extension SourceError {
  public static func noProgress(_ end: PaginationEnd) -> SourceError {
    SourceError(.noProgress, "pagination stopped: \(end.text)")
  }
}
