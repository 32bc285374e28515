/// Where a walk has been and where it goes next: all of its decisions, and none of its waiting.
struct Course<Item: Record> {
  /// What the walk asks for next; `nil` when it is over.
  private(set) var request: PageRequest?

  private let size: Int
  private let bound: WalkBound
  /// How many pages without anything new are followed before giving up.
  private let patience: Int

  private var ids: Set<Item.ID> = []
  /// The number of the page that each cursor led to.
  private var visits: [Cursor?: Int] = [:]
  private var pages = 0
  private var barren = 0

  init(
    matching query: Query?, after cursor: Cursor?, size: Int, bound: WalkBound, patience: Int = 3
  ) {
    self.size = size
    self.bound = bound
    self.patience = patience
    request = PageRequest(matching: query, after: cursor, limit: min(size, bound.items ?? size))
    visits[cursor] = 0
  }

  /// The next requests if the source's pages lie where `guess` says, the first of them certain.
  func requests(
    atMost count: Int, guess: (_ skipping: Int, _ from: PageRequest) -> Cursor?
  ) -> [PageRequest] {
    guard let request, count > 0 else { return [] }
    var requests = [request]
    while requests.count < min(count, bound.pages.map { $0 - pages } ?? count) {
      let distance = requests.count * size
      let left = bound.items.map { $0 - ids.count - distance } ?? size
      guard left > 0, let cursor = guess(distance, request) else { break }
      requests.append(
        PageRequest(matching: request.query, after: cursor, limit: min(size, left)))
    }
    return requests
  }

  /// Takes in the answer to ``request``.
  mutating func take(_ page: Page<Item>) -> WalkStep<Item> {
    var items = page.records.filter { ids.insert($0.id).inserted }
    if let most = bound.items, ids.count > most { items.removeLast(ids.count - most) }
    pages += 1
    barren = items.isEmpty && page.hidden == 0 ? barren + 1 : 0
    let end = end(after: page)
    request = end == nil ? following(page.next) : nil
    return WalkStep(items: items, page: page, end: end)
  }

  private mutating func end(after page: Page<Item>) -> WalkEnd? {
    if let most = bound.items, ids.count >= most { return .itemLimit }
    guard let next = page.next else { return .exhausted }
    if let visit = visits.updateValue(pages, forKey: next) { return .cycle(length: pages - visit) }
    if barren >= patience { return .nothingNew(pages: barren) }
    if let most = bound.pages, pages >= most { return .pageLimit }
    return nil
  }

  private func following(_ cursor: Cursor?) -> PageRequest? {
    let left = bound.items.map { $0 - ids.count } ?? size
    return request.map {
      PageRequest(matching: $0.query, after: cursor, limit: max(min(size, left), 1))
    }
  }
}
