import AggregatorCore

/// Loads the pages of one list off the main actor, and leaves out duplicates there.
///
/// One load at a time. A failed or cancelled load loses nothing: the next one makes the same request.
actor PageLoader<Item: SourceRecord> {
  private let source: any DataSource<Item>
  private let start: PaginationState<Item>
  private var pagination: PaginationState<Item>
  /// Of the pages without new records so far.
  private var batch = RecordBatch<Item>(isFirst: true)

  init(
    _ source: any DataSource<Item>, matching query: SearchQuery?, size: Int,
    cachePolicy: CachePolicy
  ) {
    self.source = source
    start = PaginationState(
      matching: query, after: nil, size: size, bound: PaginationBound(), cachePolicy: cachePolicy)
    pagination = start
  }

  /// A loader that continues after a page.
  private init(
    _ source: any DataSource<Item>, from start: PaginationState<Item>, after page: Page<Item>
  ) {
    self.source = source
    (self.start, pagination) = (start, start)
    _ = pagination.take(page)
    batch = RecordBatch(isFirst: false)
  }

  /// Loads pages until there are as many new records as the list shows then, or no more: the first page by one policy, those
  /// after it by the other.
  func next(
    keeping shown: @Sendable @MainActor () -> Int, by first: CachePolicy, then policy: CachePolicy
  ) async throws(SourceError) -> RecordBatch<Item> {
    try await extended(try await next(by: first, then: policy), to: shown, by: policy)
  }

  /// A batch with the pages that follow, until it has as many records as the list shows then.
  private func extended(
    _ batch: RecordBatch<Item>, to shown: @Sendable @MainActor () -> Int, by policy: CachePolicy
  ) async throws(SourceError) -> RecordBatch<Item> {
    var whole = batch
    while whole.hasMore, whole.failure == nil, whole.records.count < (await shown()) {
      whole.append(try await next(by: policy, then: policy))
    }
    return whole
  }

  /// Loads the next page from local data; `nil` if it is not there, and this changes nothing then.
  func nextCached() async -> RecordBatch<Item>? {
    let saved = (pagination, batch)
    guard let next = try? await next(by: .offline, then: .offline),
      // An end of what is cached is not that of the list.
      next.hasMore || !next.warnings.contains(where: \.meansIncomplete)
    else {
      (pagination, batch) = saved
      return nil
    }
    return next.whileServiceIsAsked
  }

  /// Loads pages until one has new records or is the last: the first page by one policy, those after it by the other.
  private func next(
    by first: CachePolicy, then policy: CachePolicy
  ) async throws(SourceError) -> RecordBatch<Item> {
    var isFirst = true
    while var request = pagination.request {
      request.cachePolicy = isFirst ? first : policy
      isFirst = false
      let page = try await source.page(request)
      // Not every source ends a cancelled call with an error. Nobody may be left to take this page.
      guard !Task.isCancelled else { throw .cancelled }
      if let batch = try take(page) { return batch }
    }
    return RecordBatch(isFirst: false, hasMore: false)
  }

  /// Loads the first page twice: the cached one, which is passed to `show` at once with a loader of those after it, and the
  /// one that the policy gives, with further ones if more records are shown by then; `nil` if nothing is left to show.
  func first(
    keeping shown: @Sendable @MainActor () -> Int,
    showing show: @Sendable @MainActor (RecordBatch<Item>, PageLoader) -> Void
  ) async throws(SourceError) -> RecordBatch<Item>? {
    guard let request = start.request else { return nil }
    var pages = source.updates(for: request).makeAsyncIterator()
    var last: RecordBatch<Item>?
    var isShown = true
    while let page = try await pages.next(isolation: self) {
      guard !Task.isCancelled else { throw .cancelled }
      restart()
      let isSecond = last != nil
      last = try take(page)
      isShown = last != nil && !isSecond
      if let last, isShown { await show(last, PageLoader(source, from: start, after: page)) }
    }
    if isShown { return nil }
    let policy = request.cachePolicy
    guard let last else { return try await next(keeping: shown, by: policy, then: policy) }
    return try await extended(last, to: shown, by: policy)
  }

  private func restart() {
    pagination = start
    batch = RecordBatch(isFirst: true)
  }

  /// `nil` if the page has no new records, and is not the last; an error if there is no record at all.
  private func take(_ page: Page<Item>) throws(SourceError) -> RecordBatch<Item>? {
    let step = pagination.take(page)
    batch.add(step)
    if batch.isFirst, batch.records.isEmpty, let failure = batch.failure {
      restart()
      throw failure
    }
    guard !step.items.isEmpty || step.end != nil else { return nil }
    defer { batch = RecordBatch(isFirst: false) }
    return batch
  }
}

/// The new records of one page, and of the pages without new records before it.
struct RecordBatch<Item: SourceRecord>: Sendable {
  let isFirst: Bool
  private(set) var records: [Item] = []
  private(set) var total: Int?
  private(set) var provenance: Provenance?
  private(set) var warnings: [Warning] = []
  private(set) var unreadable = UnreadableRows.none
  private(set) var hasMore = true
  /// The reason why there are no more records although the source did not end.
  private(set) var failure: SourceError?

  /// True if the service has sent a page of a list that has changed since its first page.
  var isOfAnotherGeneration: Bool {
    provenance?.origin == .live && warnings.contains { $0.code == .mixedGenerations }
  }

  /// A batch of local data, which nobody had to be offline for.
  var whileServiceIsAsked: RecordBatch {
    var batch = self
    batch.provenance?.withdrawOffline()
    return batch
  }

  mutating func add(_ step: PaginationStep<Item>) {
    records += step.items
    total = step.page.total ?? total
    provenance = provenance.leastCurrent(step.page.provenance)
    warnings += step.page.warnings
    unreadable = unreadable + step.page.unreadable
    hasMore = step.end == nil
    failure = step.end.flatMap { $0.isWithoutProgress ? .noProgress($0) : nil }
  }

  /// Adds the batch that follows.
  mutating func append(_ next: RecordBatch) {
    records += next.records
    total = next.total ?? total
    provenance = provenance.leastCurrent(next.provenance)
    warnings += next.warnings
    unreadable = unreadable + next.unreadable
    (hasMore, failure) = (next.hasMore, next.failure)
  }
}

extension Provenance? {
  /// The one whose data is older: bundled, then cached, the earlier fetched first.
  func leastCurrent(_ other: Provenance?) -> Provenance? {
    guard let self, let other else { return self ?? other }
    let order: [Provenance.Origin] = [.live, .cached, .bundled]
    let ranks = [self, other].compactMap { order.firstIndex(of: $0.origin) }
    if ranks[0] != ranks[1] { return ranks[0] > ranks[1] ? self : other }
    guard let date = self.fetchedAt, let otherDate = other.fetchedAt else { return self }
    return otherDate < date ? other : self
  }
}
