import AggregatorFilters
package import AggregatorKit
package import AggregatorQueries
package import AggregatorSelection
package import AggregatorTerminal
import Synchronization

/// The cache of images, the pool and the program that all sources of a server use.
package struct ServedResources: Sendable {
  package static let none = ServedResources(imageFiles: nil, imagePool: .standard, duckDB: nil)

  let imageFiles: ImageDiskCache?
  let imagePool: ImagePool
  /// `nil` if it is not installed, so that there is no Parquet.
  let duckDB: DuckDB?

  package init(imageFiles: ImageDiskCache?, imagePool: ImagePool, duckDB: DuckDB?) {
    self.imageFiles = imageFiles
    self.imagePool = imagePool
    self.duckDB = duckDB
  }
}

package struct ServedPlugin<P: Plugin>: ServedSource {
  private let plugin: P
  private let environment: PluginEnvironment
  private let chain: ServedChain<P.Item>
  private let images: RecordImages<P.Item>
  let index: RecordIndex<P.Item>?
  private let holdingSyncLock: SyncHolder
  private let duckDB: DuckDB?

  /// Runs a sync while no other process downloads the same source.
  package typealias SyncHolder =
    @Sendable (_ body: @Sendable () async -> SyncResult) async throws -> SyncResult

  package init(
    _ plugin: P, in environment: PluginEnvironment, sharing resources: ServedResources = .none,
    syncing holder: @escaping SyncHolder = { body in await body() }
  ) {
    self.plugin = plugin
    self.environment = environment
    holdingSyncLock = holder
    duckDB = resources.duckDB
    chain = ServedChain {
      Result { () throws(SourceError) in try plugin.source(in: environment) }
    }
    var fetching = environment
    fetching.transport = resources.imagePool.transport(environment.transport)
    images = plugin.images(in: fetching, files: resources.imageFiles)
    index = environment.store.map { store in
      RecordIndex(
        plugin.recordStore(in: store), plugin.fields, lacksDetails: plugin.lacksDetails)
    }
  }

  package var name: String { plugin.name }
  package var scope: String? { plugin.storeScope(in: environment.settings)?.records }
  package var summary: String { plugin.summary }
  package var noun: RecordNoun { plugin.noun }
  package var fields: [FieldEntry] { plugin.fieldEntries }
  package var example: PluginExample { plugin.example }
  package var hasImages: Bool { plugin.layout.images != nil }
  package var hasParquet: Bool { duckDB != nil }
  package var isEndless: Bool { plugin.policy.isEndless }
  package var largestPage: Int { plugin.policy.largestPage }
  package var hasStore: Bool { environment.store != nil }

  // MARK: - Records

  /// The longest demanded pause that lists and records wait for; syncs wait for any.
  private static var longestPause: Duration { .seconds(2) }

  package func page(_ query: ServedQuery) async throws -> ServedListing {
    try await Deadline.$longestPause.withValue(Self.longestPause) { try await list(query) }
  }

  private func list(_ query: ServedQuery) async throws -> ServedListing {
    let limit = query.limit ?? min(ListingBounds.standardLimit, largestPage)
    if query.isWhole { return try await document(query) }
    guard 1...largestPage ~= limit else {
      throw Problem(
        400, "invalidRequest", "invalid value \"\(limit)\" for limit",
        hint:
          "from 1 to \(largestPage)\(query.isForPeople ? "" : "; all=true has all cached records")"
      )
    }
    let cursor = try query.cursor.map { text throws(Problem) in try PageCursor(received: text) }
    let chosen = try query.fields.map { try plugin.fields.fields(named: $0) } ?? plugin.fields
    var outcome = ListingOutcome(of: plugin, at: environment.now())
    let words = try query.query.map { try SearchQuery($0) }
    let selected = try await selected(by: query, at: cursor, matching: words, &outcome)
    let start = try query.offset.map { offset in
      let first = PageRequest(matching: words, limit: limit)
      guard let start = selected?.cursor(skipping: offset, from: first) else {
        throw Problem(
          409, "invalidRequest", "offset cannot be used: no record of \(name) is cached")
      }
      return start
    }
    if query.cache == .offline, selected == nil, let store = environment.store {
      outcome.gap = try await plugin.gap(in: store)
    }
    var run = ListingRun(
      try selected ?? timely(query), of: plugin, matching: words,
      .page(of: limit, after: start ?? cursor), outcome)
    run.store = environment.store
    run.chosen = query.chosenFields
    let records = try await run.records()
    // A page for people says beside the number of what it counts.
    let summary = query.isForPeople ? run.outcome.summary : run.outcome.printedSummary
    var listing = try await served(records, chosen, summary, query)
    listing.searchHints = run.outcome.searchHints
    if selected != nil, summary.provenance?.origin == .cached {
      listing.offset =
        query.offset ?? cursor.map { offset(of: $0, in: query, matching: words) } ?? 0
    }
    if query.isForPeople, query.time == nil, selected == nil, cursor == nil, let words {
      listing.cachedMatches = await cachedMatches(of: words, beside: summary)
      let hint = summary.warnings.firstIndex { $0.warning.hasCachedMatches }
      if let hint, let count = listing.cachedMatches {
        listing.summary.warnings[hint].warning = .cachedMatches(count)
      }
    }
    if records.isEmpty, !run.outcome.isPartial, query.conditions.isEmpty, let words {
      if query.isForPeople {
        listing.suggestion = await plugin.suggestion(for: words, in: environment)
      }
      await advise(after: words, query, in: &listing)
    } else if records.isEmpty, query.isForPeople, words == nil, query.time == nil,
      query.cursor == nil, query.offset == nil
    {
      listing.suggestion = try await meantCondition(query)
    }
    return listing
  }

  /// The number of matches in a complete copy, beside the answer of a service that has found others; `nil` for any other.
  private func cachedMatches(
    of words: SearchQuery, beside summary: ListingSummary
  ) async -> Int? {
    guard plugin.searchesService, let store = environment.store,
      !summary.warnings.contains(where: { $0.warning == .storedSearch }),
      (try? await plugin.recordStore(in: store).completeSync()) != nil,
      let status = try? await store.status(of: name), status.records <= Self.maxUnasked
    else { return nil }
    return try? await index?.count(matching: words)
  }

  /// The condition that is meant by the only one of a query, which no record meets; `nil` if there are very many records.
  private func meantCondition(_ query: ServedQuery) async throws -> String? {
    guard query.conditions.count == 1,
      case .condition(let condition) = try TypedFilter(query.conditions[0])
    else { return nil }
    // Of bounds and patterns, nothing is near.
    switch condition.test {
    case .compare(.equal, _), .compare(.contains, _), .oneOf: break
    case .compare, .range, .pattern: return nil
    }
    let selection = try selection(of: query)
    let local = try await plugin.localRecords(in: localEnvironment(for: query))
    if let store = environment.store, local.isCached,
      try await store.status(of: name).records > Self.maxUnasked
    {
      return nil
    }
    let miss = await SelectedSource(name, of: local.source, selection) { _ in false }.nearMiss()
    return miss.suggestion.map { near in
      let meant = near.hasPrefix(miss.field.asField) ? try? TypedFilter(near) : nil
      return meant?.quoted ?? TypedCondition(miss.field, .equal, near).quoted
    }
  }

  /// Adds what may help after a search without matches; not after one of several sources, which waits for none.
  private func advise(
    after words: SearchQuery, _ query: ServedQuery, in listing: inout ServedListing
  ) async {
    guard query.time == nil, query.cursor == nil else { return }
    let origin = listing.summary.provenance?.origin
    // A cached page may be an answer of the service.
    let isStored =
      !plugin.searchesService
      || listing.summary.warnings.contains { $0.warning == .storedSearch }
    let isLocal = origin == .bundled || origin == .cached && isStored
    let advice = SearchAdvice(
      searched: isLocal ? plugin.fields.filter(\.isSearchable).map { FieldEntry($0) } : [],
      // A store that cannot be read is reported by the next list.
      filters: (try? await facets(equalTo: SearchAdvice.value(of: words))) ?? [])
    if query.isForPeople {
      listing.advice = advice
    } else if let warning = advice.warning(of: noun) {
      listing.summary.warnings.append(SourceWarning(name, warning))
    }
  }

  /// Of each field that is not searched and has a text as a value, a facet of this value alone; none of very many records.
  private func facets(equalTo text: String) async throws -> [Facet] {
    // Of numbers, searches find only whole ones.
    let isFraction = Int(text) == nil && Double(text) != nil
    let fields = plugin.fields.filter { !$0.isSearchable || isFraction }
    let local = try await plugin.localRecords(in: environment)
    guard let index, let store = environment.store, local.isCached else {
      return try Facet.matching(text, of: fields, in: try await items(of: local, matching: nil))
    }
    guard try await store.status(of: name).records <= Self.maxUnasked else { return [] }
    return try await index.facets(of: fields, equalTo: text)
  }

  /// All cached records, or the bundled ones if none are cached.
  private func document(_ query: ServedQuery) async throws -> ServedListing {
    var outcome = ListingOutcome(of: plugin, at: environment.now())
    outcome.readsCacheOnly = query.cache != .offline
    let words = try query.query.map { try SearchQuery($0) }
    let selected = try await selected(by: query, &outcome)
    if selected == nil, let store = environment.store {
      _ = try await plugin.localRecords(in: localEnvironment(for: query))
      outcome.gap = try await plugin.gap(in: store)
    }
    var run = ListingRun(
      try selected ?? chain(.offline), of: plugin, matching: words, .all(pageSize: 1000), outcome)
    run.chosen = query.fields
    var writer = try writer(for: query)
    var text = writer.begin()
    var file = try file(of: query)
    while let records = try await run.next() {
      text += writer.append(records)
      try file?.add(records)
      guard text.utf8.count <= Self.maxDocumentBytes else {
        throw Problem(
          413, "tooLarge", "the list is larger than \(Self.maxDocumentBytes.byteCount)",
          hint: "select records or fields, or use the command export")
      }
    }
    var summary = run.outcome.printedSummary
    // No more are cached.
    summary.next = nil
    text += writer.finish(summary)
    return try await served(text, summary, file)
  }

  /// `nil` for a list that is a text.
  private func file(of query: ServedQuery) throws -> ListFileContents<P.Item>? {
    try query.file.map { kind in
      try ListFileContents(
        kind, named: name,
        query.fields.map { try plugin.fields.fields(named: $0) } ?? plugin.fields)
    }
  }

  /// A list in another format than JSON.
  private func served(
    _ text: String, _ summary: ListingSummary, _ file: ListFileContents<P.Item>?
  ) async throws -> ServedListing {
    let body = try await file?.bytes(of: text, by: duckDB) ?? Array(text.utf8)
    return ServedListing(records: [], summary: summary, body: body)
  }

  /// The most bytes of a whole list, which is made before it is sent.
  private static var maxDocumentBytes: Int { 64 << 20 }

  /// The writer of a file, which has all fields unless some were chosen, in every format.
  private func writer(for query: ServedQuery) throws -> any RecordWriter<P.Item> {
    let chosen = try query.fields.map { try plugin.fields.fields(named: $0) } ?? plugin.fields
    let listing = Listing(
      query.query == nil ? "list" : "search", of: name, query: query.query, fields: plugin.fields,
      layout: plugin.layout, chosen: chosen)
    return query.format.servedWriter(for: listing)
  }

  package func record(_ id: String, _ query: ServedQuery) async throws -> ServedListing {
    let chosen = try query.fields.map { try plugin.fields.fields(named: $0) } ?? plugin.fields
    let found = try await found(id, query)
    var outcome = ListingOutcome(of: plugin, at: environment.now())
    outcome.add(found, of: plugin, chosen: query.fields)
    var listing = try await served([found.item], chosen, outcome.summary, query)
    guard query.isForPeople, !listing.records.isEmpty,
      let text = try? CanonicalJSON.text(of: found.item)
    else { return listing }
    let kept = JSONText(Data(text.utf8)).map { JSON($0) }
    let row = (P.Item.self as? any RowRecord.Type).flatMap { kept?[$0.rowMember] }
    (listing.records[0].kept, listing.records[0].isAsSent) = (row ?? kept, row != nil)
    return listing
  }

  /// The record; for people its last copy, if the service does not have it any more.
  private func found(_ id: String, _ query: ServedQuery) async throws -> LookupResult<P.Item> {
    do {
      return try await Deadline.$longestPause.withValue(Self.longestPause) {
        try await find(id, query.cache)
      }
    } catch let error as SourceError
      where error.code == .notFound && query.isForPeople && query.cache.policy.mayFallBack
    {
      // A record that was deleted on this machine fails again.
      guard var copy = try? await find(id, .offline), copy.provenance.origin == .cached else {
        throw error
      }
      if !copy.warnings.contains(where: { $0.code == .removedUpstream }) {
        copy.provenance.reason = error
      }
      return copy
    }
  }

  private func find(
    _ id: String, _ cache: ServedQuery.Cache
  ) async throws -> LookupResult<P.Item> {
    guard P.Item.ID(id) != nil else {
      throw Problem(404, "notFound", SourceError.invalidID(id, of: plugin).message)
    }
    return try await plugin.find(id, in: try chain(cache))
  }

  private func chain(_ cache: ServedQuery.Cache) throws(SourceError) -> any DataSource<P.Item> {
    try chain.get().cachePolicy(cache.policy)
  }

  /// The chain, which local data replace after the time of the query.
  private func timely(_ query: ServedQuery) throws(SourceError) -> any DataSource<P.Item> {
    let source = try chain(query.cache)
    guard let time = query.time else { return source }
    return source.timeout(
      time, clock: environment.clock,
      else: query.cache.policy.mayFallBack ? try chain(.offline) : nil)
  }

  /// The records of the store that a query selects; `nil` if it selects none.
  private func selected(
    by query: ServedQuery, at cursor: PageCursor? = nil, matching words: SearchQuery? = nil,
    _ outcome: inout ListingOutcome
  ) async throws -> (any DataSource<P.Item>)? {
    try query.requireCachedRecords()
    // A list that began at an offset goes on in the store: the service does not know its cursors.
    let goesOn =
      [.normal, .offline].contains(query.cache)
      && cursor.flatMap { offset(of: $0, in: .plain, matching: words) } != nil
    guard query.readsIndex || goesOn else { return nil }
    let selection = try selection(of: query)
    _ = try await plugin.readFirstPage(
      of: try timely(query), in: environment, query.cache.policy)
    return try await plugin.selected(
      by: selection, in: localEnvironment(for: query), by: index, &outcome)
  }

  private func offset(
    of cursor: PageCursor, in query: ServedQuery, matching words: SearchQuery?
  ) -> Int? {
    IndexedSource<P.Item>.offset(of: cursor, in: name, query.selection, for: words)
  }

  private func localEnvironment(for query: ServedQuery) -> PluginEnvironment {
    var environment = environment
    environment.readsChangedFiles = query.cache != .offline
    return environment
  }

  private func selection(of query: ServedQuery) throws -> Selection<P.Item> {
    try Selection(query.selection, plugin.fields, at: environment.now())
  }

  private func served(
    _ records: [P.Item], _ chosen: [Field<P.Item>], _ summary: ListingSummary,
    _ query: ServedQuery
  ) async throws -> ServedListing {
    guard query.format == .json else {
      var writer = try writer(for: query)
      let text = writer.begin() + writer.append(records) + writer.finish(summary)
      var file = try file(of: query)
      try file?.add(records)
      return try await served(text, summary, file)
    }
    guard query.isForPeople else {
      return ServedListing(
        records: records.map {
          ServedRecord(id: $0.id.description, object: chosen.object(of: $0))
        }, summary: summary)
    }
    let columns =
      query.fields == nil
      ? query.columns.flatMap { try? plugin.fields.fields(named: $0) } ?? chosen.filter(\.isShown)
      : chosen
    return ServedListing(
      records: records.map { ServedRecord($0, of: plugin, columns: columns) }, summary: summary,
      columns: columns.map { field in
        var entry = FieldEntry(field)
        // Services do not say what their values are.
        let values = records.lazy.map { field[$0] }.filter { $0 != .null }
        if field.kind == .any, !values.isEmpty, values.allSatisfy(\.isNumber) {
          entry.kind = FieldKind.number.rawValue
        }
        return entry
      })
  }

  // MARK: - Images

  package func image(
    _ id: String, number: Int?, _ size: ImageSize, _ cache: ServedQuery.Cache
  ) async throws -> LookupResult<LoadedImage> {
    guard hasImages else {
      throw SourceError(.notFound, "\(plugin.name) have no images")
    }
    // A local record has the address, too; a list with many pictures must not ask the service for each record.
    if cache == .normal, let known = try? await find(id, .offline).item,
      case let address? = try address(of: known, number: number, size)
    {
      return try await images.loader.image(at: address, cachePolicy: cache.policy)
    }
    let record = try await find(id, cache).item
    guard let number else {
      return try await plugin.image(of: record, size, in: images, cache.policy)
    }
    guard let address = try address(of: record, number: number, size) else {
      throw SourceError(.notFound, "\(plugin.noun.one) \(record.id) has no image \(number)")
    }
    return try await images.loader.image(at: address, cachePolicy: cache.policy)
  }

  private func address(
    of record: P.Item, number: Int?, _ size: ImageSize
  ) throws(SourceError) -> ImageAddress? {
    guard let number else { return try images.address(of: record, size) }
    return try plugin.imageAddress(
      of: record, size, number: number, in: environment.settings)
  }

  // MARK: - The cached records

  package func shortfall() async throws -> Shortfall? {
    guard let store = environment.store else { return nil }
    if let reason = try await shortfall(in: store, store.coverage(of: name)) {
      return reason
    }
    return try await store.syncFailure(of: name).map { Shortfall(.syncFailed, $0) }
  }

  private func shortfall(
    in store: any SourceStore, _ coverage: Coverage
  ) async throws -> Shortfall? {
    guard let gap = coverage.gap else { return nil }
    let reason = try await store.checkpoint(Coverage.shortfallCheckpoint, of: name)
    return reason != nil || gap.isExcess ? gap : nil
  }

  package func cachedCount(of query: ServedQuery, _ page: ServedListing) async throws -> Int? {
    guard let index, let store = environment.store else { return nil }
    // The page says then that the service may have more, or that the last sync may have missed some.
    let mayBePart = query.isForPeople && query.query == nil
    let isCached = page.summary.provenance?.origin == .cached
    if !mayBePart || !page.summary.warnings.contains(where: { $0.warning.code == .cachedOnly }) {
      let coverage = try await store.coverage(of: name)
      let isAll =
        query.query == nil && query.cursor == nil && query.offset == nil && page.summary.next == nil
      // Records that the service no longer has take nothing from a page that has all of it.
      let mayCount = mayBePart ? coverage.gap != nil : isAll && coverage.gap?.isExcess == true
      guard coverage.isComplete || mayCount else { return nil }
      if isAll { return page.summary.count }
      if query.query == nil {
        // The service may have replaced records since the sync that stored them. People go to positions among these until
        // the list has been read to its end.
        guard !coverage.hasUnlisted, isCached || coverage.listed != nil || query.isForPeople
        else { return nil }
      }
    }
    // Another order and other matches would be those of the service.
    guard query.query == nil || isCached else { return nil }
    if query.query != nil, let total = page.summary.total { return total }
    return try await index.count(matching: try query.query.map { try SearchQuery($0) })
  }

  package func offset(of id: String, in query: ServedQuery) async throws -> Int? {
    guard let index, let store = environment.store, let id = P.Item.ID(id),
      query.cache == .normal || query.cache == .offline
    else { return nil }
    // The service finds others, and the values of very many records are read only if they are needed.
    if !query.readsIndex {
      let coverage = try await store.coverage(of: name)
      let shortfall = try await coverage.isComplete ? nil : shortfall(in: store, coverage)
      guard query.query == nil, coverage.isComplete || shortfall != nil,
        coverage.cached <= Self.maxUnasked
      else { return nil }
    }
    let words = try query.query.map { try SearchQuery($0) }
    return try await index.offset(of: id, in: selection(of: query), matching: words)
  }

  /// The most records whose values are read although neither a filter nor an order asks for them.
  private static var maxUnasked: Int { 50_000 }

  package func knownCount(of query: ServedQuery) async -> Int? {
    guard let index else { return 0 }
    if let words = query.query {
      guard query.conditions.isEmpty, let words = try? SearchQuery(words) else { return nil }
      return try? await index.count(matching: words)
    }
    // The list reports a store that cannot be read.
    return try? await index.count(of: selection(of: query), readingAtMost: Self.maxAwaited)
  }

  /// The most records whose values a page waits for that can do without.
  private static var maxAwaited: Int { 2000 }

  package func prepareIndex() {
    guard let index, let store = environment.store else { return }
    Task { [name] in
      // Callers that need it report the failure.
      guard let status = try? await store.status(of: name), status.records <= Self.maxUnasked
      else { return }
      try? await index.prepare()
    }
  }

  package func facets(_ query: ServedQuery) async throws -> [Facet] {
    let selection = try selection(of: query)
    let words = try query.query.map { try SearchQuery($0) }
    let fields = plugin.fields.filter { !$0.isDetail }
    let local = try await plugin.localRecords(in: localEnvironment(for: query))
    if let index, local.isCached {
      return try await index.facets(
        of: fields, selectedBy: selection, matching: words, keepsUniform: query.isForPeople,
        dividesRanges: query.isForPeople)
    }
    return try selection.facets(
      of: fields, in: try await items(of: local, matching: words),
      keepsUniform: query.isForPeople, dividesRanges: query.isForPeople)
  }

  package func localSummary(_ query: ServedQuery) async throws -> ListingSummary {
    let local = try await plugin.localRecords(in: localEnvironment(for: query))
    var provenance = Provenance(local.isCached ? .cached : .bundled)
    if local.isCached, let store = environment.store {
      provenance.fetchedAt = try await plugin.oldestFetch(in: store)
    }
    return ListingSummary(
      count: 0, provenance: CombinedProvenance(provenance),
      warnings: [local.gap?.limitation].compactMap(\.self))
  }

  private func items(
    of local: LocalRecords<P.Item>, matching words: SearchQuery?
  ) async throws(SourceError) -> [P.Item] {
    var items: [P.Item] = []
    let pages = local.source.pages(matching: words, size: 1000).makeAsyncIterator()
    while let step = try await pages.next() { items += step.items }
    return items
  }

  package func summary(
    _ summary: FieldSummary, _ query: ServedQuery
  ) async throws -> ServedListing {
    var outcome = ListingOutcome(of: plugin, at: environment.now())
    let words = try query.query.map { try SearchQuery($0) }
    let selected = try await plugin.selected(
      by: selection(of: query), in: localEnvironment(for: query), by: index, &outcome)
    var run = ListingRun(
      selected, of: plugin, matching: words, .all(pageSize: 10_000), outcome)
    let rows = try await summary.rows(of: &run, in: plugin.fields)
    let shown = rows.summary(of: run.outcome.summary)
    guard query.format == .json else {
      let listing = rows.listing(
        Listing("list", of: nil, fields: [], layout: RecordLayout(card: [])), of: name,
        matching: query.query)
      var writer = query.format.servedWriter(for: listing)
      let text = writer.begin() + writer.append(rows.rows) + writer.finish(shown)
      return ServedListing(records: [], summary: shown, body: Array(text.utf8))
    }
    return ServedListing(
      records: rows.rows.map { row in
        ServedRecord(id: String(row.id), object: rows.fields.object(of: row))
      }, summary: shown)
  }

  package func state() async throws -> SourceState {
    var state = SourceState()
    do { _ = try plugin.wholeRemote(in: environment) } catch { state.problem = Problem(error) }
    var coverage = try await environment.store?.coverage(of: name)
    // A list that was read whole since may lack records, too.
    if let known = coverage, let store = environment.store {
      if known.gap != nil { coverage?.shortfall = try await shortfall(in: store, known) }
      coverage?.total = try await plugin.recordStore(in: store).total(of: known)
    }
    if (coverage?.cached ?? 0) == 0 {
      state.bundled = (try? await plugin.bundled.page(PageRequest(limit: 1)).total) ?? 0
    }
    state.coverage = coverage
    guard let store = environment.store else { return state }
    let status = try await store.status(of: name)
    (state.removedUpstream, state.deleted) = (status.removedUpstream, status.hidden)
    state.fetchedAt = try await plugin.oldestFetch(in: store)
    state.lastFetchedAt = status.fetchedAt
    // Also of one that has come to its end without all records.
    state.syncedAt =
      try await plugin.recordStore(in: store).lastSync().completed ?? status.history?.syncedAt
    state.syncFailure = try await store.syncFailure(of: name)
    state.changes = try await changes(since: "sync", atMost: 1000)?.summary
    return state
  }

  package func recordCount() async -> Int? {
    try? await environment.store?.status(of: name).records
  }

  package func changes(since start: String, atMost limit: Int) async throws -> ServedChanges? {
    let store = try environment.requiredStore()
    let start = try HistoryStart(typed: start, now: environment.now())
    var entries: [ChangeEntry] = []
    var summary = try await plugin.changes(since: start, in: store, atMost: limit) {
      entries += $0
    }
    summary?.gap = try await plugin.gapOfChanges(in: store)
    return summary.map { ServedChanges(entries: entries, summary: $0) }
  }

  package func changes(_ query: ChangesQuery) async throws -> ChangePage? {
    try await plugin.changePage(query, in: environment)
  }

  package func changeSummary(since start: String) async throws -> ChangeSummary? {
    try await plugin.changeSummary(since: start, in: environment)
  }

  package func history(of id: String) async throws -> ServedHistory? {
    guard let store = environment.store, let id = P.Item.ID(id) else { return nil }
    let history = try await plugin.recordStore(in: store).history(of: id, limit: 50)
    return history.map { history in
      ServedHistory(
        firstSeen: history.firstSeen, knownSince: history.knownSince,
        entries: history.changes.compactMap { ChangeEntry($0.change, at: $0.date, of: plugin) },
        isComplete: history.isComplete)
    }
  }

  // MARK: - Changes

  package func delete(_ id: String) async throws -> Bool {
    let store = try environment.requiredStore()
    guard let key = P.Item.ID(id), try await plugin.isKnown(key, in: store) else { return false }
    try await plugin.recordStore(in: store).delete(key, at: environment.now())
    return true
  }

  package func restore(_ id: String) async throws -> Bool {
    let store = try environment.requiredStore()
    guard let key = P.Item.ID(id) else { return false }
    return try await plugin.recordStore(in: store).restore(key)
  }

  package func deleted() async throws -> ServedListing? {
    guard let store = environment.store else { return nil }
    let page = try await plugin.recordStore(in: store).deleted(or: plugin.bundled)
      .page(PageRequest(limit: 100))
    return ServedListing(
      records: page.records.map { ServedRecord($0, of: plugin, columns: []) },
      summary: ListingSummary(count: page.records.count, total: page.total))
  }

  package func schemaChanges() async throws -> [SchemaEntry] {
    guard let store = environment.store else { return [] }
    let history = try await plugin.recordStore(in: store).schemaHistory()
    return history?.entries.map(SchemaEntry.init) ?? []
  }

  package func sample() async -> FieldSample {
    let cached = await firstRecords()
    let items =
      cached.isEmpty && environment.store != nil
      ? (try? await plugin.bundled.page(PageRequest(limit: 100)).records) ?? [] : cached
    var sample = FieldSample()
    if let images = plugin.layout.images, !cached.isEmpty {
      sample.hasPictures = cached.map { !images($0, .small).isEmpty }.areMostlyTrue
    }
    for field in plugin.fields {
      sample.kinds[field.name] = ValueKind(of: field, in: items)
      let values = items.map { field[$0] }
      for value in values { sample.add(value, of: field.name) }
      if values.isFacet { sample.repeated.insert(field.name) }
      let keys = values.lazy.map { SortValue($0) }.filter { $0 != .missing }
      if !keys.isEmpty, keys.allSatisfy(\.isNumber) { sample.numerals.insert(field.name) }
    }
    return sample
  }

  private func firstRecords() async -> [P.Item] {
    guard let store = environment.store else { return [] }
    let slice = try? await store.records(of: name, matching: [], after: 0, limit: 100)
    return slice.map { plugin.recordStore(in: store).decoded($0.records).0 } ?? []
  }

  package func observedKinds() async -> [String: [RowSchema.Kind]] {
    guard let store = environment.store,
      let history = try? await plugin.recordStore(in: store).schemaHistory()
    else { return [:] }
    var kinds: [String: [RowSchema.Kind]] = [:]
    // Of rows as the service sends them, which only added sources store as they are.
    for field in plugin.fields where field.kind == .any && field.path?.hasPrefix("row.") == true {
      kinds[field.name] = field.path.flatMap { history.kinds(of: String($0.dropFirst(4))) }
    }
    return kinds
  }

  package func sync(
    pages: Int?, progress: @escaping @Sendable (SyncResult) -> Void
  ) async throws -> SyncResult {
    let store = try environment.requiredStore()
    // Whoever has started the sync is told what it waits for.
    var observed = environment
    observed.observer = environment.observer.also(Observer.current)
    let sync = try plugin.sync(into: store, in: observed)
    let written = Mutex(0)
    let result = try await holdingSyncLock {
      await sync.run(upTo: pages, jobs: 1, waits: true) { [chain] result in
        let count = result.added + result.changed
        // A page in memory may have these records as they were.
        let isNew = written.withLock { known in
          defer { known = count }
          return count != known
        }
        if isNew { chain.renew() }
        progress(result)
      }
    }
    // The pages before the sync are gone from the store, too.
    chain.renew()
    // A list that needs it says what is wrong.
    if result.failure == nil { try? await index?.renew() }
    return result
  }
}

extension ServedQuery.Cache {
  /// Lists of endless sources do not grow: they would never end.
  fileprivate var policy: CachePolicy {
    switch self {
    case .normal: CachePolicy(growth: .whenEmpty)
    case .offline: .offline
    case .reload: CachePolicy(refreshes: true, growth: .whenEmpty)
    case .live: CachePolicy(refreshes: true, mayFallBack: false, growth: .whenEmpty)
    }
  }
}

extension ServedRecord {
  /// A record for people.
  package init<P: Plugin>(_ record: P.Item, of plugin: P, columns: [Field<P.Item>]) {
    let id = record.id.description
    let label = plugin.label(of: record)
    let name = label.isEmpty ? id : label
    let images = plugin.layout.images?(record, .small) ?? []
    let (idField, nameField) = plugin.fields.headingFields(of: record, named: name)
    func line(_ field: Field<P.Item>, with images: [String] = []) -> Line? {
      var line = Line(field, of: record, with: images)
      if field.name == idField { line?.json = nil }
      line?.isHeading = field.name == idField || field.name == nameField
      return line
    }
    // What is shown as a picture needs no address.
    let shown = plugin.fields.filter(\.isShown).compactMap { line($0, with: images) }
      .filter { $0.images.isEmpty && !images.contains($0.value) }
    // A number that identifies a record says nothing beside its name.
    let isNumber = Int(id).map(String.init) == id
    self.init(
      id: id, name: name, object: plugin.fields.object(of: record),
      summary: shown.filter { $0.field != nameField && !(isNumber && $0.field == idField) },
      cells: columns.compactMap { field in
        var line = line(field, with: images)
        let place = line.flatMap { images.firstIndex(of: $0.value) }
        if let place { line?.images = [place + 1] }
        return line
      },
      card: plugin.layout.cardFields(among: plugin.fields).compactMap { field in
        line(field, with: images)
          // Null may mean that lists do not include it.
          ?? (field.isShown || field[record] != JSON.null
            ? Line(field: field.name, label: field.label, value: "") : nil)
      },
      link: plugin.layout.link?(record)?.webAddress,
      hasImage: !images.isEmpty)
  }
}

extension Sequence {
  /// The names of the fields that have the ID and the name of a record, one of each; other fields may have the same values.
  fileprivate func headingFields<Item: SourceRecord>(
    of record: Item, named name: String
  ) -> (id: String?, name: String?) where Element == Field<Item> {
    let text = record.id.description
    let id =
      first { $0.name == "id" && $0[record].cell == text } ?? first { $0[record].cell == text }
    guard name != text else { return (id?.name, id?.name) }
    let others = lazy.filter { $0.name != id?.name && $0[record].cell == name }
    return (id?.name, (others.first(where: \.isName) ?? others.first { _ in true })?.name)
  }
}

extension JSON {
  package var isNumber: Bool {
    switch self {
    case .integer, .number: true
    default: false
    }
  }
}

extension ServedRecord.Line {
  fileprivate init?<Item: SourceRecord>(
    _ field: Field<Item>, of record: Item, with images: [String] = []
  ) {
    let json = field[record]
    let value = json.cell
    guard !value.isEmpty else { return nil }
    self.init(
      field: field.name, label: field.label, value: value, json: json,
      isLink: value.webAddress != nil)
    guard case .array(let elements) = json else { return }
    self.elements = elements.map(\.cell)
    let places = self.elements.compactMap { images.firstIndex(of: $0) }
    if places.count == self.elements.count { self.images = places.map { $0 + 1 } }
  }
}
