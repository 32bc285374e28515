public import AggregatorCore
public import AggregatorFoundation
public import AggregatorStore

extension DataSource {
  /// Serves records from the store, and loads more from upstream at its end.
  ///
  /// Pages come from the store in first-seen order. At its end upstream is fetched until a page is full of
  /// new records, or ten consecutive upstream pages have none. A page is either stored or live as a whole, so that the
  /// last stored records are a page of their own, which may be short.
  /// Searches read the store, into which the first one fetches a page. While the store is empty, a failure
  /// of upstream is thrown, so that a `fallback` takes over. A first page that refreshes requests new records, too, which come
  /// after those that are stored.
  ///
  /// ``CachePolicy/growth`` says whether a call may fetch. An upstream request has `size` records, 1 or more; each
  /// `collection` of upstream has its own checkpoint.
  public func growing(
    in recordStore: RecordStore<Item>, by size: Int, of collection: String = "",
    now: @escaping @Sendable () -> Date = { Date() }
  ) -> some DataSource<Item> {
    GrowingSource(
      upstreamLoader: UpstreamLoader(
        base: self, recordStore: recordStore, size: size, collection: collection, now: now))
  }
}

struct GrowingSource<Item: SourceRecord>: DataSource, CustomStringConvertible {
  let upstreamLoader: UpstreamLoader<Item>

  private var recordStore: RecordStore<Item> { upstreamLoader.recordStore }

  @concurrent func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    let seal = CursorSeal("\(recordStore.source).stored", for: request.query)
    let start = try seal.open(request.cursor, as: RecordPosition.self)
    let growth = request.cachePolicy.allowedGrowth
    var (slice, last) = try await recordStore.slice(request, after: start)
    if let query = request.query {
      if slice.records.isEmpty, growth != .never, try await isEmpty() {
        (slice, last) = try await searchable(for: request, after: start)
      }
      return try await searchPage(slice, before: last, matching: query, start, seal)
    }
    guard slice.records.isEmpty else {
      guard start == nil, request.cachePolicy.refreshes, growth == .atEnd else {
        return try await page(slice, growth, seal)
      }
      return try await refreshedPage(for: request, seal)
    }
    let mayGrow =
      switch growth {
      case .never: false
      case .whenEmpty: try await isEmpty()
      case .atEnd: true
      }
    guard mayGrow else {
      try await throwIfEmpty()
      return try recordStore.page(slice, next: nil, seal)
    }
    return try await loadMorePage(for: request, after: start, seal)
  }

  func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    if let stored = try await recordStore.item(id) { return stored.found }
    try await throwIfEmpty()
    throw .notFound(id, in: recordStore.source)
  }

  var replacements: [AsyncStream<Void>] { upstreamLoader.base.replacements }

  var description: String {
    "\(upstreamLoader.base)\n  .growing(in: \(recordStore.source))"
  }

  // MARK: - Reading the store

  /// A page of stored records, with a next one if the store has more or upstream may be fetched.
  private func page(
    _ slice: RecordSlice, _ growth: LoadMorePolicy, _ seal: CursorSeal
  ) async throws(SourceError) -> Page<Item> {
    let last = slice.records.last.map { RecordPosition($0) }
    var hasNext = slice.hasMore
    if !hasNext, growth == .atEnd {
      hasNext = try await !upstreamLoader.isAtEnd()
      // Another process may have fetched the rest since the slice was read.
      if !hasNext, let last {
        hasNext = try await !recordStore.store.records(
          of: recordStore.source, matching: [], after: last.position, limit: 1
        ).records.isEmpty
      }
    }
    var page = try recordStore.page(slice, next: hasNext ? last : nil, seal)
    if growth == .atEnd { page.total = nil }
    return page
  }

  private func searchPage(
    _ slice: RecordSlice, before last: RecordPosition?, matching query: SearchQuery,
    _ start: RecordPosition?, _ seal: CursorSeal
  ) async throws(SourceError) -> Page<Item> {
    if slice.records.isEmpty { try await throwIfEmpty(matching: query) }
    var page = try recordStore.page(slice, next: slice.hasMore ? last : nil, seal)
    if start == nil {
      let count = try await recordStore.store.status(of: recordStore.source).records
      page.warnings.append(
        Warning(.cachedOnly, "searched only cached \(recordStore.source): \(count)"))
    }
    return page
  }

  /// True if no record is stored, not even a deleted one.
  private func isEmpty() async throws(SourceError) -> Bool {
    try await recordStore.store.status(of: recordStore.source).isEmpty
  }

  private func throwIfEmpty(matching query: SearchQuery? = nil) async throws(SourceError) {
    guard try await !isEmpty() else {
      throw .nothingCached(of: recordStore.source, matching: query)
    }
  }

  // MARK: - Loading more

  /// Fetches the first records, of which a search finds some: bundled ones are for a failure only.
  private func searchable(
    for request: PageRequest, after start: RecordPosition?
  ) async throws(SourceError) -> (RecordSlice, RecordPosition?) {
    let result = await upstreamLoader.with(request.cachePolicy).take(1) { _ in }
    if result.added == 0, let failure = result.failure { throw failure }
    return try await recordStore.slice(request, after: start)
  }

  /// The first stored records, after a request of new ones, which come after those that are stored.
  private func refreshedPage(
    for request: PageRequest, _ seal: CursorSeal
  ) async throws(SourceError) -> Page<Item> {
    let result = await upstreamLoader.with(request.cachePolicy).take(1) { _ in }
    if let failure = result.failure,
      failure.code == .cancelled || !request.cachePolicy.mayFallBack
    {
      throw failure
    }
    let slice = try await recordStore.slice(request, after: nil).slice
    var page = try await page(slice, request.cachePolicy.allowedGrowth, seal)
    page.provenance.reason = result.failure
    page.unreadable = page.unreadable + result.unreadable
    return page
  }

  private func loadMorePage(
    for request: PageRequest, after start: RecordPosition?, _ seal: CursorSeal
  ) async throws(SourceError) -> Page<Item> {
    var result = UpstreamLoadResult()
    var slice = RecordSlice.empty
    var emptyPages = 0
    // Newly loaded records may already be deleted, so one load may not fill the page.
    repeat {
      let known = slice.records.count
      result.add(
        await upstreamLoader.with(request.cachePolicy).take(request.limit - known) { _ in })
      slice = try await recordStore.slice(request, after: start).slice
      emptyPages = slice.records.count > known ? 0 : emptyPages + 1
      // A forged cursor may point past every record; stop then.
      if emptyPages == UpstreamLoader<Item>.maxEmptyPages {
        result.end = .nothingNew(pages: result.pages)
      }
    } while slice.records.count < request.limit && result.end == nil && result.failure == nil
    if let failure = result.failure {
      guard failure.code != .cancelled else { throw failure }
      if slice.records.isEmpty {
        // If all stored records are deleted, no fallback may stand in for them.
        guard start == nil, try await !isEmpty() else { throw failure }
      }
    }
    var page = try await page(slice, request.cachePolicy.allowedGrowth, seal)
    if let provenance = result.provenance { page.provenance = provenance }
    page.provenance.reason = result.failure
    page.unreadable = page.unreadable + result.unreadable
    if let end = result.end, end != .exhausted {
      page.warnings.append(Warning(.stopped, "stopped: \(end.text)"))
    }
    return page
  }
}

extension CachePolicy {
  fileprivate var allowedGrowth: LoadMorePolicy { mayAskService ? growth : .never }
}
