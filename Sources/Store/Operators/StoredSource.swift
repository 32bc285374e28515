public import AggregatorCore
import AggregatorFoundation
import AggregatorText

extension RecordStore {
  /// The stored records in first-seen order, without deleted ones and ones removed upstream.
  ///
  /// If nothing matches, the first page fails with `nothingCached`, so that a `fallback` continues
  /// with the next source.
  public var records: some DataSource<Item> { StoredSource(recordStore: self) }

  /// The stored records of a source of which there is nothing else: what a sync has to bring first, or may not have
  /// brought, is said.
  package var onlyRecords: any DataSource<Item> { StoredSource(recordStore: self, isOnly: true) }

  /// The stored records in the place of a service.
  ///
  /// If they may not be all, the first page of a list says so; a search, and the end of a list, say so with a warning that
  /// means incomplete, and a search has no total. A search of them that finds nothing is an empty answer if
  /// they are the last ones that are searched.
  package func recordsInPlaceOfService(areLast: Bool) -> any DataSource<Item> {
    StoredSource(recordStore: self, isInPlaceOfService: true, isLast: areLast)
  }
}

struct StoredSource<Item: SourceRecord>: DataSource, CustomStringConvertible {
  let recordStore: RecordStore<Item>
  /// True if the source has no other records, so that a sync alone brings more.
  var isOnly = false
  /// True if it answers where the service, and its cached pages, do not.
  var isInPlaceOfService = false
  /// True if no other source answers where this one has no match.
  var isLast = false

  private var sync: Remedy? { isOnly ? Remedy("\(recordStore.source) sync", .command) : nil }

  private func check(_ policy: CachePolicy) throws(SourceError) {
    guard isOnly, policy.refreshes else { return }
    throw SourceError(
      .unsupported, "there are no pages that could be requested", remedy: sync)
  }

  /// True if this source made the cursor of a request.
  func continues(_ request: PageRequest) -> Bool {
    let seal = CursorSeal(description, for: request.query)
    return (try? seal.open(request.cursor, as: RecordPosition.self)) != nil
  }

  @concurrent func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    try check(request.cachePolicy)
    let seal = CursorSeal(description, for: request.query)
    let start = try seal.open(request.cursor, as: RecordPosition.self)
    let (slice, last) = try await recordStore.slice(request, after: start)
    let sync = try await recordStore.completeSync()
    let isUnmatched = sync == nil && start == nil && slice.records.isEmpty
    // After a complete sync, no match is an answer.
    if isUnmatched, try await !isAnswerWithoutMatch(request) {
      var error = SourceError.nothingCached(of: recordStore.source, matching: request.query)
      error.remedy = self.sync
      throw error
    }
    var page = try recordStore.page(slice, next: slice.hasMore ? last : nil, seal)
    if isUnmatched { page.provenance.fetchedAt = try await recordStore.oldestFetch() }
    // A record is as old as its last change, but the last sync, or the last fetch of its page, has seen it.
    var dates = [page.provenance.fetchedAt]
    if sync == nil { dates.append(try await recordStore.lastFetchOfAll()) }
    page.provenance.fetchedAt = sync?.begun ?? dates.compactMap(\.self).max()
    if isOnly, sync == nil, start == nil {
      page.warnings.append(
        Warning(.incomplete, "the last sync was not complete: records may be missing"))
    }
    if isInPlaceOfService, sync == nil {
      try await qualify(&page, of: request, isFirst: start == nil)
    }
    return page
  }

  /// True for a search if records are cached, and nothing else is searched.
  private func isAnswerWithoutMatch(_ request: PageRequest) async throws(SourceError) -> Bool {
    guard isLast || isOnly, request.query != nil else { return false }
    return try await recordStore.store.status(of: recordStore.source).records > 0
  }

  /// The first page of a search of all stored records, in the place of one that scans a part of those of the service; it may
  /// be empty.
  func searchInPlaceOfScan(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    let (slice, last) = try await recordStore.slice(request, after: nil)
    let seal = CursorSeal(description, for: request.query)
    var page = try recordStore.page(slice, next: slice.hasMore ? last : nil, seal)
    try await qualify(&page, of: request, isFirst: true)
    return page
  }

  /// Says how many of the records of the service are cached, unless all are.
  ///
  /// A search, and the end of a list, claim to be of all; the first page of a list does not.
  func qualify(
    _ page: inout Page<Item>, of request: PageRequest, isFirst: Bool
  ) async throws(SourceError) {
    let matches = request.query == nil ? nil : page.total
    page.total = nil
    guard isFirst || page.next == nil else { return }
    let state = try await recordStore.store.state(
      of: recordStore.source, checkpoints: Coverage.checkpoints)
    let (coverage, status) = (Coverage(state), state.status)
    guard !coverage.isComplete else { return page.total = matches ?? status.records }
    // Deleted records are among those of the service.
    let total = coverage.totalOfCached.map { max($0 - status.hidden, status.records) }
    if request.query == nil, coverage.shortfall?.includes(.sentFewer) != true { page.total = total }
    let known = total.map { "\(status.records.grouped) of \($0.grouped)" }
    page.warnings.append(
      Warning(
        request.query == nil && page.next != nil ? .cachedOnly : .partlyCached,
        "limited to cached records: "
          + (known ?? "\(status.records.grouped), possibly not all")))
  }

  func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try check(cachePolicy)
    guard let stored = try await recordStore.item(id) else {
      if isOnly, try await recordStore.completeSync() == nil {
        if let missing = try await recordStore.missing(id) { throw missing }
        throw SourceError(
          .nothingCached,
          "record \(id.description.oneLine(atMost: 80)) is not cached, and the list was not synced "
            + "completely yet", remedy: sync)
      }
      throw .notFound(id, in: recordStore.source)
    }
    var found = stored.found
    if let date = stored.removedUpstreamAt { found.warnings.append(.removedUpstream(id, at: date)) }
    return found
  }

  var description: String { "\(recordStore.source).stored" }
}

/// A position in the first-seen order of a source's records, or of the matches of one rank.
package struct RecordPosition: Codable {
  package let position: Int64
  let rank: SearchRank?

  package init(_ record: StoredRecord, rank: SearchRank? = nil) {
    position = record.position
    self.rank = rank
  }

  private enum CodingKeys: String, CodingKey { case position = "p", rank = "k" }
}

extension RecordStore {
  /// A page of stored records, as old as its oldest record.
  package func page(
    _ slice: RecordSlice, next: RecordPosition?, _ seal: CursorSeal
  ) throws(SourceError) -> Page<Item> {
    let (records, unreadable) = decoded(slice.records)
    var page = Page(
      records, next: try next.map { next throws(SourceError) in try seal.close(next) },
      total: slice.total,
      provenance: Provenance(.cached, fetchedAt: slice.records.map(\.savedAt).min()),
      unreadable: unreadable, warnings: warnings(on: slice.records))
    page.excludesDeleted = true
    return page
  }
}

extension Warning {
  fileprivate static func removedUpstream(
    _ id: some RecordID, at date: Date
  ) -> Warning {
    Warning(
      .removedUpstream,
      "\(id.description.oneLine(atMost: 80)) was not found by the sync of \(date.iso8601)")
  }
}

extension SourceError {
  package static func nothingCached(of source: String, matching query: SearchQuery? = nil)
    -> SourceError
  {
    SourceError(
      .nothingCached,
      "no cached \(RecordNoun(source).word(for: 2))\(query.map { " match \"\($0.text.oneLine(atMost: 80))\"" } ?? "")"
    )
  }
}
