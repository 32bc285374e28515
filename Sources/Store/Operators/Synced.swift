package import AggregatorCore
package import AggregatorFoundation
import AggregatorText

extension DataSource {
  /// Answers from the store what a complete sync has stored, at any age, where the service would answer less: without
  /// the service all lists and searches, and `searching` those that would scan a part of its records.
  ///
  /// A search without the service that would scan a part of the stored records is one of all of them, also if no sync was
  /// complete; with the service, so is one that finds nothing in such a part, and one that finds some says whether more match.
  ///
  /// Where the cached pages of a list end without the service, it goes on with the stored records that they lack.
  ///
  /// A call that refreshes, or may not fall back, is left to the source. Without the service the first page fails, so that
  /// a fallback to the store answers. Before a search of the store, `renew` may bring the store up to date; so it does after
  /// a failure of that.
  package func synced(
    in recordStore: RecordStore<Item>, searching: Bool,
    renewing renew: @escaping @Sendable () async throws(SourceError) -> Void = {}
  ) -> some DataSource<Item> {
    Synced(base: self, recordStore: recordStore, searches: searching, renew: renew)
  }

  /// Looks up records of a service that cannot, or is not asked, in the store, if a complete sync has stored all of them.
  ///
  /// The failure of one that is not there says that the service was not asked: it may have it since.
  ///
  /// - Parameter capacity: The most records of the service that a lookup which refreshes looks through; 0 if none can.
  package func lookingUpSynced(
    in recordStore: RecordStore<Item>, scanning capacity: Int = 0,
    now: @escaping @Sendable () -> Date
  ) -> some DataSource<Item> {
    SyncedLookup(base: self, recordStore: recordStore, capacity: capacity, now: now)
  }
}

private struct Synced<Base: DataSource>: Decorator {
  let base: Base
  let recordStore: RecordStore<Base.Item>
  let searches: Bool
  let renew: @Sendable () async throws(SourceError) -> Void
  var label: String { "synced(in: \(recordStore.source))" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await answer(request)
    // A store that fails has no part in an answer of the service.
    if request.query == nil, !page.excludesDeleted, let total = page.total,
      (try? await recordStore.store.isTooLow(total, of: recordStore.source)) == true
    {
      page.total = nil
    }
    // After a cached page in the place of the service's come records of a stopped sync.
    if request.query == nil, request.cursor == nil, page.next != nil, !page.excludesDeleted,
      page.provenance.reason != nil || !request.cachePolicy.mayAskService,
      let state = try? await recordStore.store.state(of: recordStore.source, checkpoints: []),
      state.status.knownUpstream > state.pages.reduce(0, { $0 + ($1.page.rows ?? 0) })
    {
      let total = page.total
      try? await StoredSource(recordStore: recordStore).qualify(&page, of: request, isFirst: true)
      page.total = total
    }
    return page
  }

  private func answer(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    let stored = StoredSource(recordStore: recordStore)
    let policy = request.cachePolicy
    guard request.cursor == nil else {
      if stored.continues(request) {
        let isList = request.query == nil
        return try await StoredSource(recordStore: recordStore, isInPlaceOfService: isList)
          .page(request)
      }
      do { return try await base.page(request) } catch {
        guard !policy.mayAskService, error.code == .offline,
          let rest = try? await rest(after: request)
        else { throw error }
        return rest
      }
    }
    guard policy.mayFallBack, !policy.refreshes else { return try await base.page(request) }
    guard try await recordStore.isSynced() else {
      return try await searchingStore(beyond: base.page(request), request)
    }
    // The fallback to the store lists all of it, unlike the pages that happen to be cached.
    guard policy.mayAskService else { throw .offlineMode }
    if searches, request.query != nil {
      try await renew()
      return try await stored.page(request)
    }
    let page = try await base.page(request)
    if page.provenance.origin == .cached, let reason = page.provenance.reason { throw reason }
    return page
  }

  /// A page, or that of a search of all stored records if it has scanned a part of them.
  private func searchingStore(
    beyond page: Page<Base.Item>, _ request: PageRequest
  ) async throws(SourceError) -> Page<Base.Item> {
    let stored = StoredSource(recordStore: recordStore)
    let scan = page.warnings.firstIndex { $0.code == .scanned }
    guard searches, request.query != nil, scan != nil || page.next != nil else { return page }
    guard request.cachePolicy.mayAskService else {
      // The scan of further pages would end with the cached ones.
      if scan == nil, try await recordStore.store.coverage(of: recordStore.source).isComplete {
        return page
      }
      var all = try await stored.searchInPlaceOfScan(request)
      all.provenance.reason = page.provenance.reason
      return all
    }
    // A store that fails has no part in it.
    guard let scan, var all = try? await stored.searchInPlaceOfScan(request),
      all.records.count > page.records.count
    else { return page }
    var page = page
    if page.records.isEmpty {
      all.provenance.reason = SourceError(.unsupported, page.warnings[scan].message)
      return all
    }
    // The scan can go on at the service, which the store cannot.
    page.warnings[scan].message += "; an offline search finds cached ones that match"
    page.warnings[scan].hasCachedMatches = true
    return page
  }

  /// The stored records that the cached pages before a page of a list do not have, if these end there without the service;
  /// `nil` for none.
  ///
  /// They begin after those that the pages and the store have in the same order: others may repeat.
  private func rest(
    after request: PageRequest
  ) async throws(SourceError) -> Page<Base.Item>? {
    // Whoever reads a list goes on in the copy of a complete sync by itself.
    guard request.query == nil, request.cachePolicy.mayFallBack,
      try await !recordStore.isSynced()
    else { return nil }
    let cached = base.pages(
      PaginationState(
        matching: nil, after: nil, size: request.limit, bound: PaginationBound(),
        cachePolicy: .offline), ahead: 0
    ).makeAsyncIterator()
    var shown: Set<RecordKey> = []
    while true {
      guard let step = try? await cached.next(), step.end == nil else { return nil }
      shown.formUnion(step.page.records.map(\.key))
      if step.page.next == request.cursor { break }
    }
    let stored = StoredSource(recordStore: recordStore)
    var list = PageRequest(limit: 1000)
    var page = try await stored.page(list)
    while page.records.allSatisfy({ shown.contains($0.key) }) {
      guard let next = page.next else { return nil }
      list = list.after(next)
      page = try await stored.page(list)
    }
    let known = page.records.prefix { shown.contains($0.key) }.count
    if known > 0 {
      list = list.after(try await stored.page(list.after(list.cursor, limit: known)).next)
    }
    page = try await stored.page(request.after(list.cursor))
    if page.records.contains(where: { shown.contains($0.key) }) {
      page.warnings.append(.mixedGenerations)
    }
    try await stored.qualify(&page, of: request, isFirst: true)
    return page
  }
}

private struct SyncedLookup<Base: DataSource>: Decorator {
  let base: Base
  let recordStore: RecordStore<Base.Item>
  let capacity: Int
  let now: @Sendable () -> Date
  var label: String { "lookingUpSynced(in: \(recordStore.source))" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    try await base.page(request)
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    do { return try await base.item(id, cachePolicy: cachePolicy) } catch {
      let isOffline = error.code == .offline
      guard isOffline || error.code == .unsupported, !cachePolicy.refreshes else { throw error }
      guard try await recordStore.isSynced() else {
        throw isOffline ? error : (try? await recordStore.missing(id)) ?? error
      }
      do throws(SourceError) {
        let found = try await StoredSource(recordStore: recordStore).item(
          id, cachePolicy: cachePolicy)
        // The store answers in the place of the service, and says so.
        guard !isOffline else { throw error }
        return found
      } catch .notFound {
        throw try await recordStore.unasked(id, scanning: capacity, at: now())
      }
    }
  }
}

/// A sync that has stored all records of a service.
package struct CompleteSync {
  /// Its end; `nil` for one of an older version.
  package let date: Date?

  /// Its beginning, before any interruption; `nil` if it is not known.
  private let beginning: Date?

  /// The second of its beginning, so that nothing that it has read is older; its end if that is all that is known.
  package var begun: Date? {
    (beginning ?? date).map {
      Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down))
    }
  }

  /// - Parameter mark: The text of the checkpoint that it has left.
  init(_ mark: String) {
    let seconds = mark.split(separator: " ").compactMap { Double($0) }.filter { $0 > 1 }
    date = seconds.first.map(Date.init(timeIntervalSince1970:))
    beginning = seconds.dropFirst().last.map(Date.init(timeIntervalSince1970:))
  }
}

/// The ends of the last syncs that came to their end, but may have missed records.
package struct IncompleteEnds {
  /// The name of the checkpoint with them.
  package static let checkpoint = "incomplete"

  /// At most two, the latest first.
  package var dates: [Date]

  /// - Parameter text: That of the checkpoint; `nil` for none.
  package init(_ text: String?) {
    let seconds = (text ?? "").split(separator: " ").compactMap { Double($0) }
      .filter(\.isFinite)
    dates = seconds.prefix(2).map(Date.init(timeIntervalSince1970:))
  }
}

/// The cause of `notFound` for a record that is not among those of a complete sync, as the service may have it since.
package struct UnaskedLookup: Error {
  /// The end of the message: ` among the 95 records cached 7 min ago; the service was not asked`.
  package let words: String

  package init(_ words: String) { self.words = words }
}

extension Remedy {
  /// The remedy for cached records that the service may have changed since.
  package static let refresh: Remedy = "refresh it to ask the service"
}

extension RecordStore {
  /// The failure of a record that no complete sync has stored, and of which the service was not asked.
  ///
  /// Only a new sync reads a list to its end that is longer than what a lookup can look through.
  fileprivate func unasked(
    _ id: Item.ID, scanning capacity: Int, at now: Date
  ) async throws(SourceError) -> SourceError {
    let count = try await store.status(of: source).records
    let age = try await completeSync()?.begun.map { " \($0.age(at: now))" } ?? ""
    let words = " among the \(count.grouped("record")) cached\(age); the service was not asked"
    var error = SourceError.notFound(id, in: source)
    error.message += words
    error.remedy = count < capacity ? .refresh : Remedy("\(source) sync", .command)
    error.cause = UnaskedLookup(words)
    return error
  }

  /// True if all records of the service are stored; false also if the store fails, as for ``Cached``.
  fileprivate func isSynced() async throws(SourceError) -> Bool {
    do throws(SourceError) { return try await completeSync() != nil } catch {
      guard ![.busy, .unusableStore, .cancelled].contains(error.code) else { throw error }
      return false
    }
  }

  /// The failure of a record that is not stored, as a sync that came to its end may have missed it; `nil` if it is stored, or
  /// no such sync is known.
  func missing(_ id: Item.ID) async throws(SourceError) -> SourceError? {
    guard let reason = try await store.shortfall(of: source),
      try await item(id) == nil
    else { return nil }
    let record = "record \(id.description.oneLine(atMost: 80))"
    let words = reason.description.oneLine(atMost: 200)
    return SourceError(
      .notFound, "\(record) not found; it may be missing, as the last sync is incomplete: \(words)",
      cause: SourceError(.noProgress, words))
  }

  /// The time since which the cached records were fetched, as far as their pages or the first of them tell; `nil` for none.
  ///
  /// It is that of ``lastFetchOfAll()`` unless a sync has been complete, or other records are cached, of which that says nothing.
  package func oldestFetch() async throws(SourceError) -> Date? {
    if let begun = try await completeSync()?.begun { return begun }
    if let date = try await lastFetchOfAll() { return date }
    let pages = try await store.state(of: source, checkpoints: []).pages
    var oldest: Date?
    if let key = pages.last?.key { oldest = try await store.page(key, of: source)?.fetchedAt }
    // The first to be fetched; a record that has changed since is newer.
    let first = try await slice(PageRequest(limit: 1000), after: nil).slice.records
    return (first.map(\.savedAt) + [oldest].compactMap(\.self)).min()
  }

  /// The time since which all cached records were fetched, as an incomplete sync or their pages tell, which save no record
  /// that they find unchanged; `nil` if these may not have all of them.
  package func lastFetchOfAll() async throws(SourceError) -> Date? {
    let read = try await store.checkpoint(Coverage.readCheckpoint, of: source)
    let begun = read.flatMap { CompleteSync($0).begun }
    return [begun, try await oldestPage()].compactMap(\.self).max()
  }

  private func oldestPage() async throws(SourceError) -> Date? {
    let state = try await store.state(of: source, checkpoints: [])
    // Others are of single records.
    let pages = state.pages.filter { $0.page.rows != nil }
    let known = state.status.knownUpstream
    let listed = pages.reduce(0) { $0 + ($1.page.rows ?? 0) }
    guard let last = pages.last, known <= listed else { return nil }
    if known == listed, Set(pages.map(\.page.generation)).count == 1 {
      return try await store.page(last.key, of: source)?.fetchedAt
    }
    // Pages of different times overlap, and rows repeat, while records that moved are on none: only positions tell.
    guard state.status.removedUpstream == 0 else { return nil }
    var seen: Set<Int64> = []
    for (key, _) in pages.prefix(10) {
      guard let page = try await store.page(key, of: source) else { continue }
      seen.formUnion(page.records.map(\.position))
      if seen.count >= known { return page.fetchedAt }
    }
    return nil
  }

  /// The last sync, if all records of the service are stored; `nil` if they may not be, or may be those of another
  /// account.
  package func completeSync() async throws(SourceError) -> CompleteSync? {
    guard let mark = try await store.checkpoint(Coverage.checkpoint, of: source),
      await !isOfUnknownSecret()
    else { return nil }
    return CompleteSync(mark)
  }
}
