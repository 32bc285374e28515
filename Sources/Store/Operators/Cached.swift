public import AggregatorCore
public import Foundation

extension DataSource {
  /// Answers from the store what was fetched a short while ago, and what cannot be fetched now.
  ///
  /// A page or record that is fresh costs no call. An older one answers if the call fails, and says why;
  /// its provenance gives its age. What is fetched is stored, merged with what was known.
  ///
  /// - Parameters:
  ///   - shelf: Where answers are kept.
  ///   - freshness: How long an answer counts as fresh.
  ///   - scope: Which service it is, such as its address: answers of one are not given for another.
  ///   - policy: Which kept answers may be given.
  ///   - now: What the calendar says.
  /// - Returns: The source with a memory.
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
    let stored = await kept(key)
    let kept = stored.map(page)
    // Rows that only another version can read are worth a call.
    if let kept, isFresh(kept.provenance), kept.records.count == stored?.records.count {
      return kept
    }
    var page: Page<Base.Item>
    do { page = try await base.page(request) } catch {
      guard var kept = try stale(kept, instead: error) else { throw error }
      kept.provenance.reason = error
      return kept
    }
    // Nobody should be given that once more, nor in the place of what was kept before.
    guard !page.isUnreadable else { return page }
    let fetched = FetchedPage(
      next: page.next, total: page.total, endpoint: page.provenance.endpoint,
      unreadable: page.unreadable)
    if let warning = try await save(page.records, key, fetched) { page.warnings.append(warning) }
    return page
  }

  func item(_ id: Base.Item.ID) async throws(SourceError) -> LookupResult<Base.Item> {
    let key = key(.show, id.description)
    let kept = await kept(key).flatMap(found)
    if let kept, isFresh(kept.provenance) { return kept }
    var found: LookupResult<Base.Item>
    do { found = try await base.item(id) } catch {
      guard var kept = try stale(kept, instead: error) else { throw error }
      kept.provenance.reason = error
      return kept
    }
    let fetched = FetchedPage(next: nil, total: nil, endpoint: found.provenance.endpoint)
    if let warning = try await save([found.item], key, fetched) { found.warnings.append(warning) }
    return found
  }

  // MARK: - The kept answer

  private func key(_ kind: CallKind, _ parts: String?...) -> String {
    JSON.array(([scope, kind.rawValue] + parts).map { $0.map(JSON.string) ?? .null }).text
  }

  /// What is kept; nothing if the store fails, which must not keep anybody from asking the service.
  private func kept(_ key: String) async -> StoredPage? {
    try? await recordStore.store.page(key, of: recordStore.source)
  }

  private func isFresh(_ provenance: Provenance) -> Bool {
    guard !policy.refreshes, let fetchedAt = provenance.fetchedAt else { return false }
    // A clock that was set back makes nothing fresh.
    return 0..<(freshness / .seconds(1)) ~= now().timeIntervalSince(fetchedAt)
  }

  private func stale<Answer>(
    _ kept: Answer?, instead error: SourceError
  ) throws(SourceError) -> Answer? { policy.mayFallBack && error.allowsFallback ? kept : nil }

  private func page(_ kept: StoredPage) -> Page<Base.Item> {
    let (items, unreadable) = recordStore.items(kept.records)
    let dropped = Unreadable(count: kept.page.unreadable, firstReason: kept.page.reason)
    return Page(
      items, next: kept.page.next, total: kept.page.total, provenance: provenance(of: kept),
      unreadable: dropped + unreadable)
  }

  private func found(_ kept: StoredPage) -> LookupResult<Base.Item>? {
    recordStore.items(kept.records).items.first.map {
      LookupResult($0, provenance: provenance(of: kept))
    }
  }

  private func provenance(of kept: StoredPage) -> Provenance {
    Provenance(.cached, fetchedAt: kept.fetchedAt, endpoint: kept.page.endpoint)
  }

  /// Keeps an answer.
  ///
  /// - Returns: What to say if it cannot be kept: the answer is good all the same.
  private func save(
    _ items: [Base.Item], _ key: String, _ page: FetchedPage
  ) async throws(SourceError) -> Warning? {
    do {
      _ = try await recordStore.save(items, page: (key, page), at: now())
      return nil
    } catch {
      guard error.code != .cancelled else { throw error }
      return .storage(error)
    }
  }
}
