public import AggregatorCore
public import Foundation

extension DataSource {
  /// Gives what is stored, and fetches more when that runs out: a collection that grows.
  ///
  /// Pages come from the store in first-seen order. Where it ends, upstream is asked, and only what was
  /// never seen before is kept, until a page is full or ten upstream pages in a row brought nothing new.
  /// A page is either stored or live as a whole. With a query it answers from the store alone, and never
  /// fetches by itself. While nothing at all is stored it fails where upstream fails, so that a `fallback`
  /// answers.
  ///
  /// - Parameters:
  ///   - shelf: Where records are kept.
  ///   - size: How many records upstream is asked for at a time, 1 or more.
  ///   - collection: Which of upstream's collections it is, where settings choose: each goes on where it
  ///     ended.
  ///   - growth: When upstream is asked.
  ///   - now: What the calendar says.
  /// - Returns: The collection.
  public func growing(
    in recordStore: RecordStore<Item>, by size: Int, of collection: String = "",
    growing growth: LoadMorePolicy = .atEnd,
    now: @escaping @Sendable () -> Date = { Date() }
  ) -> some DataSource<Item> {
    GrowingSource(
      upstreamLoader: UpstreamLoader(
        base: self, recordStore: recordStore, size: size, collection: collection, now: now),
      growth: growth)
  }
}

struct GrowingSource<Item: Record>: DataSource, CustomStringConvertible {
  let upstreamLoader: UpstreamLoader<Item>
  let growth: LoadMorePolicy

  private var recordStore: RecordStore<Item> { upstreamLoader.recordStore }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    let seal = CursorSeal("\(recordStore.source).stored", for: request.query)
    let start = try seal.open(request.cursor, as: StoredPosition.self)
    let slice = try await slice(of: request, after: start)
    if let query = request.query { return try await found(slice, matching: query, start, seal) }
    guard slice.records.isEmpty else {
      return try await page(slice, seal)
    }
    let mayGrow =
      switch growth {
      case .never: false
      case .whenEmpty: try await isEmpty()
      case .atEnd: true
      }
    guard mayGrow else {
      try await refuseEmptiness()
      return try recordStore.page(slice, next: nil, seal)
    }
    return try await grown(for: request, after: start, seal)
  }

  func item(_ id: Item.ID) async throws(SourceError) -> LookupResult<Item> {
    if let found = try await recordStore.item(id) {
      return LookupResult(found.item, provenance: Provenance(.cached, fetchedAt: found.savedAt))
    }
    try await refuseEmptiness()
    throw .notFound(id, in: recordStore.source)
  }

  var description: String {
    "\(upstreamLoader.base)\n  .accumulating(in: \(recordStore.source), growing: \(growth))"
  }

  // MARK: - What is stored

  private func slice(
    of request: PageRequest, after start: StoredPosition?
  ) async throws(SourceError) -> StoredSlice {
    try await recordStore.store.records(
      of: recordStore.source, matching: request.query?.words ?? [], after: start?.position ?? 0,
      limit: request.limit)
  }

  /// A page that the store fills.
  ///
  /// Whether there is a next one depends on who may be asked then.
  private func page(
    _ slice: StoredSlice, _ seal: CursorSeal
  ) async throws(SourceError) -> Page<Item> {
    let last = slice.records.last.map { StoredPosition($0) }
    var hasNext = slice.hasMore
    if !hasNext, growth == .atEnd {
      hasNext = try await !upstreamLoader.isAtEnd()
      // Another process may have fetched the rest since the slice was read.
      if !hasNext { hasNext = try await isAnything(after: last) }
    }
    var page = try recordStore.page(slice, next: hasNext ? last : nil, seal)
    if growth == .atEnd { page.total = nil }
    return page
  }

  private func isAnything(after last: StoredPosition?) async throws(SourceError) -> Bool {
    guard let last else { return false }
    return try await !recordStore.store.records(
      of: recordStore.source, matching: [], after: last.position, limit: 1
    ).records.isEmpty
  }

  private func found(
    _ slice: StoredSlice, matching query: Query, _ start: StoredPosition?, _ seal: CursorSeal
  ) async throws(SourceError) -> Page<Item> {
    if slice.records.isEmpty { try await refuseEmptiness(matching: query) }
    var page = try recordStore.page(
      slice, next: slice.hasMore ? slice.records.last.map { StoredPosition($0) } : nil, seal)
    if start == nil {
      let count = try await recordStore.store.status(of: recordStore.source).records
      page.warnings.append(
        Warning("storedOnly", "searched the \(count) \(recordStore.source) that are stored"))
    }
    return page
  }

  /// Whether nothing at all is stored, not even what is deleted.
  private func isEmpty() async throws(SourceError) -> Bool {
    try await recordStore.store.status(of: recordStore.source).isEmpty
  }

  private func refuseEmptiness(matching query: Query? = nil) async throws(SourceError) {
    guard try await !isEmpty() else {
      throw .nothingCached(of: recordStore.source, matching: query)
    }
  }

  // MARK: - What is fetched

  private func grown(
    for request: PageRequest, after start: StoredPosition?, _ seal: CursorSeal
  ) async throws(SourceError) -> Page<Item> {
    var result = UpstreamLoadResult()
    var slice = StoredSlice.empty
    var emptyPages = 0
    // Of what is new some may have been deleted before it came: then it takes more to fill a page.
    repeat {
      let known = slice.records.count
      result.add(await upstreamLoader.take(request.limit - known) { _ in })
      slice = try await self.slice(of: request, after: start)
      emptyPages = slice.records.count > known ? 0 : emptyPages + 1
      // A forged position lies behind all that ever comes.
      if emptyPages == UpstreamLoader<Item>.maxEmptyPages {
        result.end = .nothingNew(pages: result.pages)
      }
    } while slice.records.count < request.limit && result.end == nil && result.failure == nil
    if let failure = result.failure {
      guard failure.code != .cancelled else { throw failure }
      if slice.records.isEmpty {
        // Where all that is stored is deleted, nobody may bring in others in its place.
        guard start == nil, try await !isEmpty() else { throw failure }
      }
    }
    var page = try await page(slice, seal)
    if let provenance = result.provenance { page.provenance = provenance }
    page.provenance.reason = result.failure
    page.unreadable = page.unreadable + result.unreadable
    if let end = result.end, end != .exhausted {
      page.warnings.append(Warning("stopped", "stopped: \(end.text)"))
    }
    return page
  }
}
