public import AggregatorCore
public import AggregatorFoundation
import AggregatorText
import Synchronization

extension DataSource {
  /// Caches pages and records in the store.
  ///
  /// A fresh page or record costs no call, unless the call refreshes. A stale one is used if the call fails; its provenance has its
  /// age and the failure. Fetched records are stored, merged with their stored form. A fresh page also
  /// answers requests for fewer records.
  ///
  /// Pages fetched at different times may show different states of the service, and a listing of both
  /// would lose or repeat records. So fetching a first page begins a *generation* of its listing. Pages
  /// are stored with their generation, and cursors carry it: a later page counts as fresh only in its own
  /// generation. If a page turns out to have changed within its generation, the first page does not count
  /// as fresh either. Pages of another generation still stand in for a failing service, with the warning
  /// `mixedGenerations`.
  ///
  /// `scope` distinguishes services, for example by URL: answers of one are not used for another.
  public func cached(
    in recordStore: RecordStore<Item>, freshFor freshness: Duration, of scope: String = "",
    now: @escaping @Sendable () -> Date = { Date() }
  ) -> some DataSource<Item> {
    Cached(
      base: self, recordStore: recordStore, freshness: freshness, scope: scope, now: now)
  }
}

struct Cached<Base: DataSource>: Decorator {
  let base: Base
  let recordStore: RecordStore<Base.Item>
  let freshness: Duration
  let scope: String
  let now: @Sendable () -> Date
  let latest = LatestGeneration()
  var label: String { "cached(in: \(recordStore.source), freshFor: \(freshness.text))" }

  @concurrent func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    let position = try CachedPosition(request, in: recordStore.source)
    let upstream = position.upstream(of: request)
    let stored = try await storedPage(upstream)
    let listingGeneration = position.generation
    // Another reader may have found that the listing has changed since.
    let isOutdated = await isOutdated(listingGeneration)
    let mixed: [Warning] = isOutdated ? [.mixedGenerations] : []
    if let fresh = try await freshPage(upstream, stored, in: listingGeneration) {
      return try cut(
        fresh.page, to: request, at: position.inGeneration(fresh.generation, pageSize: fresh.size),
        adding: mixed)
    }
    var page: Page<Base.Item>
    do { page = try await base.page(upstream) } catch {
      guard let stored, var page = stale(stored.page, insteadOf: error, request.cachePolicy) else {
        throw error
      }
      page.provenance.reason = error
      return try cut(
        page, to: request,
        at: position.inGeneration(listingGeneration ?? stored.generation, pageSize: upstream.limit),
        adding: listingGeneration == nil || listingGeneration == stored.generation
          ? mixed : [.mixedGenerations])
    }
    // A page without a readable row must not replace a cached one.
    guard !page.isUnreadable else {
      return try cut(
        page, to: request, at: position.inGeneration(listingGeneration, pageSize: upstream.limit),
        adding: mixed)
    }
    var warnings: [Warning?] = mixed
    var generation = listingGeneration
    let hasChanged = try await hasChanged(page, since: stored, upstream, in: listingGeneration)
    if listingGeneration == nil || hasChanged || upstream.cursor == nil {
      generation = newGeneration(of: page, after: stored?.generation)
    }
    if let listingGeneration, hasChanged {
      if !isOutdated { warnings.append(.mixedGenerations) }
      warnings.append(try await markOutdated(listingGeneration))
    } else if listingGeneration == nil, let stored, let old = stored.generation,
      differs(page, from: stored)
    {
      warnings.append(try await markOutdated(old))
    }
    var fetched = PageMetadata(
      next: page.next, total: page.total, endpoint: page.provenance.endpoint,
      unreadable: page.unreadable, generation: generation)
    if let stored, !differs(page, from: stored) { fetched.unchangedSince = stored.unchangedSince }
    let kept = page.warnings.filter {
      $0.meansIncomplete || $0.isOfValues || [.endedByRule, .skippedPartition].contains($0.code)
    }
    if !kept.isEmpty { fetched.warnings = kept }
    fetched.rows = page.records.count + page.unreadable.count
    if page.endsPartition { fetched.endsPartition = true }
    warnings.append(try await save(&page.records, key(upstream), fetched))
    if kept.contains(where: \.isOfValues) {
      // The page has them, too.
      try? await recordStore.store.note(
        valueWarnings: kept, of: recordStore.source, isOfAll: false, at: now())
    }
    return try cut(
      page, to: request, at: position.inGeneration(generation, pageSize: upstream.limit),
      adding: warnings.compactMap(\.self))
  }

  @concurrent func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    let key = key(CallKind.show.rawValue, id.description)
    let cached = try await cachedPage(key).flatMap(found)
    if let cached, !cachePolicy.refreshes, isFresh(cached.provenance),
      await !recordStore.isOfUnknownSecret()
    {
      return cached
    }
    var found: LookupResult<Base.Item>
    do { found = try await base.item(id, cachePolicy: cachePolicy) } catch {
      guard var cached = stale(cached, insteadOf: error, cachePolicy) else { throw error }
      cached.provenance.reason = error
      return cached
    }
    let fetched = PageMetadata(next: nil, total: nil, endpoint: found.provenance.endpoint)
    var items = [found.item]
    if let warning = try await save(&items, key, fetched) { found.warnings.append(warning) }
    found.item = items[0]
    return found
  }

  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    guard var position = try? CachedPosition(request, in: recordStore.source) else { return nil }
    let upstream = position.upstream(of: request)
    let (skip, overflow) = (position.slice?.skip ?? 0).addingReportingOverflow(count)
    guard !overflow else { return nil }
    if let slice = position.slice, skip < slice.size {
      position.slice?.skip = skip
    } else {
      guard let ahead = base.cursor(skipping: skip, from: upstream) else { return nil }
      position.cursor = ahead
      position.slice = nil
      position.generation = position.generation ?? latest.of(request)
    }
    return position.token(for: request.query, in: recordStore.source)
  }

  private func key(_ kind: String, _ parts: String?...) -> String {
    JSON.array(([scope, kind] + parts).map { $0.map(JSON.string) ?? .null }).text
  }

  /// `nil` also if the store fails, which must not prevent a call to the service, unless it is only locked or
  /// must not be ignored.
  private func cachedPage(_ key: String) async throws(SourceError) -> CachedPage? {
    do throws(SourceError) {
      return try await recordStore.store.page(key, of: recordStore.source)
    } catch {
      guard ![.busy, .unusableStore].contains(error.code) else { throw error }
      return nil
    }
  }

  private func key(_ request: PageRequest) -> String {
    key(
      CallKind(request).rawValue, request.query?.text, request.cursor?.description,
      "\(request.limit)")
  }

  /// The key of a mark that a generation is outdated; no page has it.
  private func outdatedKey(_ generation: String) -> String { key("outdated", generation) }

  /// A stored page, decoded.
  private func storedPage(
    _ request: PageRequest
  ) async throws(SourceError) -> CacheHit<Base.Item>? {
    guard let stored = try await cachedPage(key(request)) else { return nil }
    let (records, unreadable) = recordStore.decoded(stored.records)
    let dropped = UnreadableRows(count: stored.page.unreadable, firstReason: stored.page.reason)
    var page = Page(
      records, next: stored.page.next, total: stored.page.total,
      provenance: provenance(of: stored), unreadable: dropped + unreadable,
      warnings: stored.page.warnings ?? [])
    page.endsPartition = stored.page.endsPartition == true
    return CacheHit(
      page: page, size: request.limit, generation: stored.page.generation,
      unchangedSince: stored.page.unchangedSince ?? stored.page.generation,
      isComplete: unreadable.count == 0)
  }

  /// The stored page, or else a larger one at the same position, if it is fresh.
  private func freshPage(
    _ request: PageRequest, _ stored: CacheHit<Base.Item>?, in generation: String?
  ) async throws(SourceError) -> CacheHit<Base.Item>? {
    guard !request.cachePolicy.refreshes, await !recordStore.isOfUnknownSecret() else { return nil }
    if let stored, await isFresh(stored, in: generation) { return stored }
    for size in await largerSizes(than: request) {
      let larger = request.after(request.cursor, limit: size)
      if let stored = try await storedPage(larger), await isFresh(stored, in: generation) {
        return stored
      }
    }
    return nil
  }

  private func largerSizes(than request: PageRequest) async -> [Int] {
    let end = "\"\(request.limit)\"]"
    let prefix = key(request).dropLast(end.count)
    let keys = try? await recordStore.store.pageKeys(
      of: recordStore.source, startingWith: String(prefix))
    return (keys ?? []).compactMap { Int($0.dropFirst(prefix.count + 1).dropLast(2)) }
      .filter { $0 > request.limit }.sorted()
  }

  private func isFresh(
    _ stored: CacheHit<Base.Item>, in generation: String?
  ) async -> Bool {
    // Records that only another version can decode are worth a call.
    guard isFresh(stored.page.provenance), stored.isComplete, let own = stored.generation
    else { return false }
    if let generation { return own == generation }
    return await !isOutdated(own)
  }

  /// True if a listing of this generation is known to have changed.
  private func isOutdated(_ generation: String?) async -> Bool {
    guard let generation else { return false }
    return await (try? recordStore.store.page(outdatedKey(generation), of: recordStore.source))
      != nil
  }

  private func markOutdated(_ generation: String) async throws(SourceError) -> Warning? {
    var none: [Base.Item] = []
    return try await save(
      &none, outdatedKey(generation), PageMetadata(next: nil, total: nil, endpoint: nil))
  }

  private func isFresh(_ provenance: Provenance) -> Bool {
    guard let fetchedAt = provenance.fetchedAt else { return false }
    // A date in the future, after the clock was set back, is not fresh.
    return 0..<(freshness / .seconds(1)) ~= now().timeIntervalSince(fetchedAt)
  }

  private func stale<Answer>(
    _ cached: Answer?, insteadOf error: SourceError, _ policy: CachePolicy
  ) -> Answer? {
    policy.mayFallBack && error.allowsFallback ? cached : nil
  }

  private func found(_ stored: CachedPage) -> LookupResult<Base.Item>? {
    recordStore.decoded(stored.records).records.first.map {
      LookupResult(
        $0, provenance: provenance(of: stored), warnings: recordStore.warnings(on: stored.records))
    }
  }

  private func provenance(of stored: CachedPage) -> Provenance {
    Provenance(.cached, fetchedAt: stored.fetchedAt, endpoint: stored.page.endpoint)
  }

  /// True if a fetched page shows that the listing has changed since `generation` began.
  private func hasChanged(
    _ page: Page<Base.Item>, since stored: CacheHit<Base.Item>?, _ request: PageRequest,
    in generation: String?
  ) async throws(SourceError) -> Bool {
    guard let generation else { return false }
    if let stored, stored.generation == generation { return differs(page, from: stored) }
    guard request.cursor != nil, let total = page.total,
      let first = try await storedPage(request.after(nil)), first.generation == generation
    else { return false }
    return first.page.total.map { $0 != total } ?? false
  }

  /// True if a page has other records than it had, or another place in the listing.
  private func differs(_ page: Page<Base.Item>, from stored: CacheHit<Base.Item>) -> Bool {
    stored.page.records.map(\.key) != page.records.map(\.key)
      || stored.page.next != page.next || stored.page.total != page.total
  }

  /// A new generation: different from the one before, even at the same time.
  ///
  /// Whole seconds, because a recording has no fractions, and its replay must return the same cursors.
  private func newGeneration(of page: Page<Base.Item>, after old: String?) -> String {
    let ids = page.records.map(\.id.description).joined(separator: " ")
    let time = now().timeIntervalSince1970.rounded(.down)
    return "\(old ?? "") \(time) \(page.total ?? -1) \(page.next?.description ?? "") \(ids)".fnv1a
      .base36(digits: CachedPosition.generationLength)
  }

  /// The requested part of a page, with the cursor that follows it.
  private func cut(
    _ page: Page<Base.Item>, to request: PageRequest, at position: CachedPosition,
    adding warnings: [Warning] = []
  ) throws(SourceError) -> Page<Base.Item> {
    if request.cursor == nil { latest.set(position.generation, of: request) }
    var (page, next) = (page, position)
    let skip = position.slice?.skip ?? 0
    let part = page.records.dropFirst(skip).prefix(request.limit)
    if part.endIndex < page.records.endIndex {
      next.slice?.skip = part.endIndex
    } else {
      next.cursor = page.next
      next.slice = nil
    }
    let isLast = next.cursor == nil && next.slice == nil
    page.next = next.token(for: request.query, in: recordStore.source)
    // Without its cursor this page would look like the last.
    guard isLast || page.next != nil else { throw .positionTooLong }
    page.records = Array(part)
    // The first part reports the problems of the page, and no other does.
    if skip > 0 {
      page.unreadable = .none
      page.hidden = 0
      page.warnings = []
    }
    page.warnings += warnings
    return page
  }

  /// Caches an answer and completes it from the store, so that the cached one will be the same.
  ///
  /// Returns a warning if that fails, because the answer is valid all the same.
  private func save(
    _ records: inout [Base.Item], _ key: String, _ page: PageMetadata
  ) async throws(SourceError) -> Warning? {
    do {
      let changes = try await recordStore.save(records, page: (key, page), at: now())
      for (index, json) in changes.merged {
        if let item = try? JSONText(json)?.read(Base.Item.self) { records[index] = item }
      }
      return nil
    } catch {
      guard error.code != .cancelled else { throw error }
      return .storage(error)
    }
  }
}

private struct CacheHit<Item: SourceRecord> {
  let page: Page<Item>
  /// The number of records that were requested.
  let size: Int
  let generation: String?
  let unchangedSince: String?
  /// False if some records cannot be decoded.
  let isComplete: Bool
}

/// The generation of the first page that was answered last, for predicted cursors.
final class LatestGeneration: Sendable {
  private let latest = Mutex<(request: PageRequest, generation: String)?>(nil)

  func set(_ generation: String?, of request: PageRequest) {
    latest.withLock { $0 = generation.map { (request, $0) } }
  }

  /// `nil` if another listing was answered later.
  func of(_ request: PageRequest) -> String? {
    latest.withLock { $0?.request == request ? $0?.generation : nil }
  }
}

extension Warning {
  static var mixedGenerations: Warning {
    Warning(
      .mixedGenerations, "the pages are from different times: records may be missing or repeated")
  }
}
