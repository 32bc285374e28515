public import AggregatorCore
public import Foundation

extension DataSource {
  /// Caches pages and records in the store.
  ///
  /// A fresh page or record costs no call. A stale one is used if the call fails; its provenance has its
  /// age and the failure. Fetched records are stored, merged with their stored form.
  ///
  /// `scope` distinguishes services, for example by URL: answers of one are not used for another.
  public func cached(
    in recordStore: RecordStore<Item>, freshFor freshness: Duration, of scope: String = "",
    _ policy: CachePolicy = .normal, now: @escaping @Sendable () -> Date = { Date() }
  ) -> some DataSource<Item> {
    Cached(
      base: self, recordStore: recordStore, freshness: freshness, scope: scope, policy: policy,
      now: now)
  }
}

struct Cached<Base: DataSource>: Decorator {
  let base: Base
  let recordStore: RecordStore<Base.Item>
  let freshness: Duration
  let scope: String
  let policy: CachePolicy
  let now: @Sendable () -> Date
  var label: String { "cached(in: \(recordStore.source), freshFor: \(freshness.text))" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    let key = key(
      CallKind(request), request.query?.text, request.cursor?.description, "\(request.limit)")
    let stored = await cachedPage(key)
    let cached = stored.map(page)
    // Records that only another version can decode are worth a call.
    if let cached, isFresh(cached.provenance), cached.records.count == stored?.records.count {
      return cached
    }
    var page: Page<Base.Item>
    do { page = try await base.page(request) } catch {
      guard var cached = stale(cached, insteadOf: error) else { throw error }
      cached.provenance.reason = error
      return cached
    }
    // A page without a readable row must not replace a cached one.
    guard !page.isUnreadable else { return page }
    let fetched = FetchedPage(
      next: page.next, total: page.total, endpoint: page.provenance.endpoint,
      unreadable: page.unreadable)
    if let warning = try await save(page.records, key, fetched) { page.warnings.append(warning) }
    return page
  }

  func item(_ id: Base.Item.ID) async throws(SourceError) -> LookupResult<Base.Item> {
    let key = key(.show, id.description)
    let cached = await cachedPage(key).flatMap(found)
    if let cached, isFresh(cached.provenance) { return cached }
    var found: LookupResult<Base.Item>
    do { found = try await base.item(id) } catch {
      guard var cached = stale(cached, insteadOf: error) else { throw error }
      cached.provenance.reason = error
      return cached
    }
    let fetched = FetchedPage(next: nil, total: nil, endpoint: found.provenance.endpoint)
    if let warning = try await save([found.item], key, fetched) { found.warnings.append(warning) }
    return found
  }

  // MARK: - Cached answers

  private func key(_ kind: CallKind, _ parts: String?...) -> String {
    JSON.array(([scope, kind.rawValue] + parts).map { $0.map(JSON.string) ?? .null }).text
  }

  /// `nil` also if the store fails, which must not prevent a call to the service.
  private func cachedPage(_ key: String) async -> StoredPage? {
    try? await recordStore.store.page(key, of: recordStore.source)
  }

  private func isFresh(_ provenance: Provenance) -> Bool {
    guard !policy.refreshes, let fetchedAt = provenance.fetchedAt else { return false }
    // A date in the future, after the clock was set back, is not fresh.
    return 0..<(freshness / .seconds(1)) ~= now().timeIntervalSince(fetchedAt)
  }

  private func stale<Answer>(_ cached: Answer?, insteadOf error: SourceError) -> Answer? {
    policy.mayFallBack && error.allowsFallback ? cached : nil
  }

  private func page(_ stored: StoredPage) -> Page<Base.Item> {
    let (records, unreadable) = recordStore.decoded(stored.records)
    let dropped = Unreadable(count: stored.page.unreadable, firstReason: stored.page.reason)
    return Page(
      records, next: stored.page.next, total: stored.page.total,
      provenance: provenance(of: stored), unreadable: dropped + unreadable)
  }

  private func found(_ stored: StoredPage) -> LookupResult<Base.Item>? {
    recordStore.decoded(stored.records).records.first.map {
      LookupResult($0, provenance: provenance(of: stored))
    }
  }

  private func provenance(of stored: StoredPage) -> Provenance {
    Provenance(.cached, fetchedAt: stored.fetchedAt, endpoint: stored.page.endpoint)
  }

  /// Caches an answer; returns a warning if that fails, because the answer is valid all the same.
  private func save(
    _ records: [Base.Item], _ key: String, _ page: FetchedPage
  ) async throws(SourceError) -> Warning? {
    do {
      _ = try await recordStore.save(records, page: (key, page), at: now())
      return nil
    } catch {
      guard error.code != .cancelled else { throw error }
      return .storage(error)
    }
  }
}
