/// Where a walk has been and where it goes next: all of its decisions, and none of its waiting.
struct PaginationState<Item: Record> {
  /// What the walk asks for next; `nil` when it is over.
  private(set) var request: PageRequest?

  private let size: Int
  private let bound: PaginationBound
  /// How many pages without anything new are followed before giving up.
  private let maxEmptyPages: Int
  private let memory: DuplicateDetection

  private var ids: Set<Item.ID> = []
  /// What stands for the pages met, where their records are not remembered.
  private var digests: Set<Int> = []
  /// How many records the walk has given.
  private var given = 0
  /// How many records come before ``request``; `nil` if nobody knows.
  private var passed: Int?
  /// How many records there are altogether, by the service's last word.
  private var total: Int?
  /// The number of the page that each cursor led to.
  private var visits: [Cursor?: Int] = [:]
  private var pages = 0
  private var emptyPages = 0

  init(
    matching query: Query?, after cursor: Cursor?, passing passed: Int? = nil, size: Int,
    bound: PaginationBound, maxEmptyPages: Int = 3,
    remembering memory: DuplicateDetection = .records
  ) {
    self.size = size
    self.bound = bound
    self.maxEmptyPages = maxEmptyPages
    self.memory = memory
    self.passed = passed ?? (cursor == nil ? 0 : nil)
    request = PageRequest(matching: query, after: cursor, limit: min(size, bound.items ?? size))
    visits[cursor] = 0
  }

  /// The next requests if the source's pages lie where `guess` says, the first of them certain.
  ///
  /// - Parameters:
  ///   - count: How many at most.
  ///   - earlier: What was guessed before this step. Where it came true it is not guessed again: a cursor
  ///     takes longer than all else that a walk decides.
  ///   - guess: The cursor so many records after a request.
  /// - Returns: The requests, in order; none after the end.
  func requests(
    atMost count: Int, after earlier: [PageRequest] = [],
    guess: (_ skipping: Int, _ from: PageRequest) -> Cursor?
  ) -> [PageRequest] {
    guard let request, count > 0 else { return [] }
    let known = earlier.first == request ? earlier : []
    var requests = [request]
    while requests.count < min(count, bound.pages.map { $0 - pages } ?? count) {
      let distance = requests.count * size
      let limit = min(size, bound.items.map { $0 - given - distance } ?? size)
      if let passed, let total, passed + distance >= total { break }
      guard limit > 0 else { break }
      if requests.count < known.count, known[requests.count].limit == limit {
        requests.append(known[requests.count])
      } else if let cursor = guess(distance, request) {
        requests.append(PageRequest(matching: request.query, after: cursor, limit: limit))
      } else {
        break
      }
    }
    return requests
  }

  /// Takes in the answer to ``request``.
  mutating func take(_ page: Page<Item>) -> PaginationStep<Item> {
    var items = news(of: page)
    let isNews = !items.isEmpty
    if let most = bound.items, given + items.count > most {
      items.removeLast(given + items.count - most)
    }
    given += items.count
    pages += 1
    emptyPages = isNews || page.hidden > 0 ? 0 : emptyPages + 1
    passed = passed.map { $0 + page.records.count + page.hidden + page.unreadable.count }
    total = page.total ?? total
    let end = end(after: page)
    request = end == nil ? following(page.next) : nil
    return PaginationStep(items: items, page: page, end: end)
  }

  /// The records of a page that the walk had not met before.
  private mutating func news(of page: Page<Item>) -> [Item] {
    switch memory {
    case .records: return page.records.filter { ids.insert($0.id).inserted }
    case .pages:
      guard !page.records.isEmpty else { return [] }
      return digests.insert(page.records.map(\.id).hashValue).inserted ? page.records : []
    }
  }

  private mutating func end(after page: Page<Item>) -> PaginationEnd? {
    if let most = bound.items, given >= most { return .itemLimit }
    guard let next = page.next else { return .exhausted }
    if let visit = visits.updateValue(pages, forKey: next) { return .cycle(length: pages - visit) }
    if emptyPages >= maxEmptyPages { return .nothingNew(pages: emptyPages) }
    if let most = bound.pages, pages >= most { return .pageLimit }
    return nil
  }

  private func following(_ cursor: Cursor?) -> PageRequest? {
    let left = bound.items.map { $0 - given } ?? size
    return request.map {
      PageRequest(matching: $0.query, after: cursor, limit: max(min(size, left), 1))
    }
  }
}

/// What a walk remembers of where it has been.
public enum DuplicateDetection: Sendable {
  /// Every record: those met before are left out.
  case records
  /// Every page: one that has come before is nothing new. For whoever knows the records anyway, as a
  /// store does, and walks through so many that remembering them would take much memory.
  case pages
}
