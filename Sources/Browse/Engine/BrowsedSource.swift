package import AggregatorKit
package import AggregatorQueries
package import AggregatorSelection
package import AggregatorTerminal
import Synchronization

/// A source as the browser reads it.
///
/// Lists are those of this machine, by parts; only ``refresh(_:isForced:)``, ``record(_:)``, ``picture(_:)`` and
/// ``sync(pages:progress:)`` ask the service.
package protocol BrowsedSource: Sendable {
  var name: String { get }
  var fields: [BrowsedColumn] { get }
  var isEndless: Bool { get }
  /// The most pages that a search reads, if the service has no search and they have a size.
  var scannedPages: Int? { get }
  /// The reason for which no change is kept; `nil` if the store takes them.
  var refusal: SourceError? { get set }

  /// Fails with code `usage` if the condition or the order is invalid.
  func check(_ request: ListRequest) throws(CommandError)
  func window(_ request: ListRequest, start: Int, count: Int) async throws -> BrowsedWindow
  /// The number of cached records that match a query.
  func count(_ request: ListRequest) async throws -> Int
  /// The numbers of the records of a list for each value of a field, also for a single value; none if values do not repeat.
  func facets(of field: String, in request: ListRequest) async throws -> [Facet]
  /// Reads the records that a picker's query is matched with, of those that meet a condition; `changed` gets true once all
  /// of them are read.
  func index(
    _ condition: String, _ changed: @Sendable (_ isComplete: Bool) -> Void
  ) async throws
  func status() async throws -> SourceStatus
  /// Asks the chain for the records that match a query, all for an empty one.
  func refresh(_ query: String, isForced: Bool) async throws -> Refreshed?
  func record(_ id: String) async throws -> BrowsedRow
  func picture(_ request: PictureRequest) async throws -> Picture?
  func delete(_ id: String) async throws
  func restore(_ id: String) async throws
  /// Fetches all records, or more of them: up to a number of pages, and for one page up to the first with anything new.
  func sync(
    pages: Int?, progress: @escaping @Sendable (SyncResult) -> Void
  ) async throws -> SyncReport
}

package struct BrowsedPlugin<P: Plugin>: BrowsedSource {
  private let plugin: P
  private let environment: PluginEnvironment
  private let options: SourceOptions
  private let index: RecordIndex<P.Item>?
  private let images: RecordImages<P.Item>
  private let chafa: Chafa?
  /// The deleted records, if a picker shows these; `nil` for the others.
  private let deleted: (any DataSource<P.Item>)?
  package var refusal: SourceError?
  private let lock: SyncLock
  private let program: String
  private let walk = Walk()
  private let fuzzy = FuzzyRecords()
  private let numeric = NumericColumns()

  /// The columns of numbers of the list that was read last.
  private final class NumericColumns: Sendable {
    let columns = Mutex<Set<Int>?>(nil)
  }

  /// The positions of records of a list by their number, so that a part is read without those before it.
  private final class Walk: Sendable {
    private let marks = Mutex<(request: ListRequest?, positions: [Int: RecordPosition])>((nil, [:]))

    /// The last known position up to a number.
    func nearest(_ request: ListRequest, to number: Int) -> (number: Int, position: RecordPosition)?
    {
      marks.withLock { marks in
        guard marks.request == request else { return nil }
        return marks.positions.filter { $0.key <= number }.max { $0.key < $1.key }
          .map { ($0.key, $0.value) }
      }
    }

    func mark(_ request: ListRequest, _ number: Int, _ position: RecordPosition) {
      marks.withLock { marks in
        if marks.request != request { marks = (request, [:]) }
        marks.positions[number] = position
      }
    }
  }

  package init(
    _ plugin: P, in environment: PluginEnvironment, _ context: CommandContext, chafa: Chafa?,
    areDeleted: Bool = false
  ) throws(CommandError) {
    if areDeleted {
      let store = try environment.requiredStore()
      deleted = plugin.recordStore(in: store).deleted(or: plugin.bundled)
    } else {
      deleted = nil
    }
    self.plugin = plugin
    self.environment = environment
    self.chafa = chafa
    program = context.catalog.program
    options = SourceOptions(context.invocation)
    index = environment.store.map { store in
      RecordIndex(
        plugin.recordStore(in: store), plugin.fields, lacksDetails: plugin.lacksDetails)
    }
    let isRecorded = try RecordingOptions(
      context.invocation, environment.settings, of: context.catalog.name
    ).isOn
    images = plugin.images(
      in: environment, files: isRecorded ? nil : try context.imageFiles(environment.settings),
      deadline: options.deadline)
    lock = try SyncLock(
      of: plugin.name, environment.settings, context,
      isNeeded: environment.store?.isShared == false)
  }

  package var name: String { plugin.name }
  package var isEndless: Bool { plugin.policy.isEndless }

  package var scannedPages: Int? {
    guard let bound = plugin.policy.localSearchBound,
      case .fixed(let size)? = plugin.policy.upstreamPageSize
    else { return nil }
    return max(bound / size, 1)
  }

  package var fields: [BrowsedColumn] { plugin.fields.map { BrowsedColumn($0.name, $0.label) } }

  private var columns: [Field<P.Item>] { plugin.fields.filter(\.isShown) }

  // MARK: - Lists

  package func check(_ request: ListRequest) throws(CommandError) { _ = try selection(of: request) }

  private func selection(of request: ListRequest) throws(CommandError) -> Selection<P.Item> {
    let conditions = request.condition.nonBlank.map { [$0] } ?? []
    return try Selection(
      SelectionText(conditions: conditions, order: request.order), plugin.fields,
      at: environment.now(), inAnyCase: true)
  }

  package func window(
    _ request: ListRequest, start: Int, count: Int
  ) async throws -> BrowsedWindow {
    var outcome = ListingOutcome(of: plugin, at: environment.now())
    if request.isFuzzy, request.query.nonBlank != nil {
      return try await fuzzyWindow(request, start: start, count: count)
    }
    if let deleted {
      return try await window(of: deleted, start: start, count: count, outcome)
    }
    let words = try request.query.nonBlank.map { try SearchQuery($0) }
    guard request.condition.isEmpty, request.order == nil else {
      return try await selected(request, start: start, count: count, words, outcome)
    }
    let local = try await plugin.localRecords(in: environment)
    guard start == 0 else {
      guard local.isCached else {
        return try await selected(request, start: start, count: count, words, outcome)
      }
      return try await walked(request, start: start, count: count, words)
    }
    outcome.syncHint = plugin.syncHint(in: environment)
    var run = ListingRun(local.source, of: plugin, matching: words, .page(of: count), outcome)
    guard let records = try await Self.records(of: &run) else {
      return BrowsedWindow(columns: columns(of: [], at: start), rows: [], total: 0)
    }
    var total = run.outcome.next == nil ? records.count : run.outcome.total
    if words == nil, local.isCached, let store = environment.store {
      total = try await store.status(of: name).records
    }
    var window = window(records, at: start, total: total, run.outcome)
    run.outcome.claimAll(despite: local.gap)
    window.summary = run.outcome.printedSummary
    return window
  }

  /// A part of the deleted records, after those before it.
  private func window(
    of deleted: any DataSource<P.Item>, start: Int, count: Int, _ outcome: ListingOutcome
  ) async throws -> BrowsedWindow {
    var run = ListingRun(deleted, of: plugin, .page(of: start + count), outcome)
    let records = try await run.records()
    return window(
      Array(records.dropFirst(start)), at: start,
      total: run.outcome.next == nil ? records.count : nil, run.outcome)
  }

  /// A part of the cached records: those before it are passed over without being decoded, and not at all the next time.
  private func walked(
    _ request: ListRequest, start: Int, count: Int, _ words: SearchQuery?
  ) async throws -> BrowsedWindow {
    let records = plugin.recordStore(in: try environment.requiredStore())
    let position = try await position(before: start, in: records, request, words)
    let (slice, last) = try await records.slice(
      PageRequest(matching: words, limit: count), after: position)
    if let last { walk.mark(request, start + slice.records.count, last) }
    let decoded = records.decoded(slice.records).records
    return BrowsedWindow(
      columns: columns(of: decoded, at: start), rows: decoded.map(row),
      total: slice.hasMore ? nil : start + slice.records.count)
  }

  /// The position of the last record before a number.
  private func position(
    before start: Int, in records: RecordStore<P.Item>, _ request: ListRequest,
    _ words: SearchQuery?
  ) async throws -> RecordPosition? {
    let nearest = walk.nearest(request, to: start)
    var (number, position) = (nearest?.number ?? 0, nearest?.position)
    while number < start {
      try Task.checkCancellation()
      let (slice, last) = try await records.slice(
        PageRequest(matching: words, limit: min(2000, start - number)), after: position)
      number += slice.records.count
      position = last ?? position
      if let last { walk.mark(request, number, last) }
      guard slice.hasMore, !slice.records.isEmpty else { break }
    }
    return position
  }

  package func count(_ request: ListRequest) async throws -> Int {
    if let deleted {
      let outcome = ListingOutcome(of: plugin, at: environment.now())
      var run = ListingRun(deleted, of: plugin, .all(pageSize: 1000), outcome)
      return try await run.records().count
    }
    let records = plugin.recordStore(in: try environment.requiredStore())
    let words = try request.query.nonBlank.map { try SearchQuery($0) }
    _ = try await position(before: .max, in: records, request, words)
    return walk.nearest(request, to: .max)?.number ?? 0
  }

  /// `nil` if nothing is cached or bundled.
  private static func records(
    of run: inout ListingRun<P>
  ) async throws(SourceError) -> [P.Item]? {
    do throws(SourceError) { return try await run.records() } catch .nothingCached { return nil }
  }

  /// A part of a list that is counted, filtered or sorted by an index of values.
  private func selected(
    _ request: ListRequest, start: Int, count: Int, _ words: SearchQuery?, _ outcome: ListingOutcome
  ) async throws -> BrowsedWindow {
    var outcome = outcome
    let selection = try selection(of: request)
    let source = try await plugin.selected(by: selection, in: environment, by: index, &outcome)
    let first = PageRequest(matching: words, limit: count)
    let cursor = start > 0 ? source.cursor(skipping: start, from: first) : nil
    // A store that cannot tell whether it has changed, and bundled records, have no such cursor.
    let skipped = cursor == nil ? start : 0
    var run = ListingRun(
      source, of: plugin, matching: words, .page(of: count + skipped, after: cursor), outcome)
    let records = try await run.records()
    return window(
      Array(records.dropFirst(skipped)), at: start, total: run.outcome.total, run.outcome)
  }

  package func facets(of field: String, in request: ListRequest) async throws -> [Facet] {
    let fields = plugin.fields.filter { $0.name == field }
    let selection = try selection(of: request)
    let words = try request.query.nonBlank.map { try SearchQuery($0) }
    let local = try await plugin.localRecords(in: environment)
    if let index, local.isCached {
      return try await index.facets(
        of: fields, selectedBy: selection, matching: words, keepsUniform: true,
        dividesRanges: true)
    }
    let page = try await Self.page(PageRequest(matching: words, limit: 100_000), of: local.source)
    return try selection.facets(
      of: fields, in: page?.records ?? [], keepsUniform: true, dividesRanges: true)
  }

  private func window(
    _ records: [P.Item], at start: Int, total: Int?, _ outcome: ListingOutcome
  ) -> BrowsedWindow {
    let summary = outcome.summary
    // The badge says these, and a list of cached records is expected to lack some.
    let implied: Set<Warning.Code> = [
      .bundled, .cached, .cachedOnly, .incomplete, .partlyCached,
    ]
    var window = BrowsedWindow(
      columns: columns(of: records, at: start), rows: records.map(row), total: total,
      warnings: summary.warnings.map(\.warning).filter { !implied.contains($0.code) }
        .map(\.message))
    window.summary = outcome.printedSummary
    window.badge = OriginBadge(
      summary, choosesLocal: !options.cachePolicy.mayAskService, at: environment.now())
    return window
  }

  /// The columns; as in a table, the first records of a list decide which of any kind are of numbers.
  private func columns(of records: [P.Item], at start: Int) -> [BrowsedColumn] {
    let fields: [Field<P.Item>] = columns
    let judged = numeric.columns.withLock { judged in
      let known = start == 0 ? nil : judged
      let numeric = known ?? Set(fields.indices.filter { fields[$0].hasNumbers(in: records) })
      judged = numeric
      return numeric
    }
    return fields.enumerated().map { index, field in
      BrowsedColumn(field.name, field.label, isNumeric: judged.contains(index))
    }
  }

  private func cells(of record: P.Item) -> [String] {
    columns.map { BrowsedRow.cell($0[record].shownCell()) }
  }

  private func name(of record: P.Item) -> String {
    let label = plugin.label(of: record)
    return label.isEmpty ? record.id.description : label
  }

  private func row(_ record: P.Item) -> BrowsedRow {
    var row = BrowsedRow(
      id: record.id.description, name: name(of: record), cells: cells(of: record),
      card: plugin.layout.cardFields(among: plugin.fields).compactMap { field in
        let value = field[record].shownCell()
        return value.isEmpty ? nil : BrowsedRow.Line(field.label, value)
      }, link: plugin.layout.link?(record)?.webAddress)
    row.hasImage = plugin.layout.images?(record, .small).isEmpty == false
    row.object = plugin.fields.object(of: record)
    return row
  }

  // MARK: - The queries of a picker

  package func index(
    _ condition: String, _ changed: @Sendable (_ isComplete: Bool) -> Void
  ) async throws {
    let source: any DataSource<P.Item>
    if let deleted {
      source = deleted
    } else {
      source = try await plugin.localRecords(in: environment).source
    }
    var selecting = ListRequest(name)
    selecting.condition = condition
    let selection = try selection(of: selecting)
    let isFirst = !fuzzy.isComplete
    var content = FuzzyRecords.Content()
    // Matches have the origin of the list without a query; without one they can be picked all the same.
    content.badge = try? await window(selecting, start: 0, count: ListState.chunk).badge
    var request = PageRequest(limit: 1000)
    // The first ones can be picked while the others are read.
    var next = request.limit
    repeat {
      try Task.checkCancellation()
      guard let page = try await Self.page(request, of: source) else { break }
      try selection.check(page.records)
      for record in page.records where selection.matches(record) {
        let id = record.id.description
        let fields = BrowsedRow.fuzzyFields(
          id, name(of: record), cells(of: record).map(\.safeLine))
        content.append(id, fields.joined(separator: "\t"))
      }
      request.cursor = page.next
      guard isFirst, request.cursor != nil, content.ids.count >= next else { continue }
      next *= 3
      fuzzy.replace(content, isComplete: false)
      changed(false)
    } while request.cursor != nil
    fuzzy.replace(content, isComplete: true)
    changed(true)
  }

  /// `nil` if nothing is cached or bundled.
  private static func page(
    _ request: PageRequest, of source: any DataSource<P.Item>
  ) async throws(SourceError) -> Page<P.Item>? {
    do throws(SourceError) { return try await source.page(request) } catch .nothingCached {
      return nil
    }
  }

  private func fuzzyWindow(
    _ request: ListRequest, start: Int, count: Int
  ) async throws -> BrowsedWindow {
    let (ids, total) = try fuzzy.matches(request.query, start..<start + count)
    let source: any DataSource<P.Item>
    if let deleted {
      source = deleted
    } else {
      let local = try await plugin.localRecords(in: environment)
      // That a record is not found in a store is no reason to look elsewhere.
      source = local.isCached ? local.source : plugin.bundled
    }
    var rows: [BrowsedRow] = []
    var records: [P.Item] = []
    for id in ids {
      try Task.checkCancellation()
      if let key = P.Item.ID(id), let record = try? await source.item(key).item {
        rows.append(row(record))
        records.append(record)
      } else {
        // Another process has deleted it.
        rows.append(BrowsedRow(id: id, name: id, cells: columns.map { _ in "" }, card: []))
      }
    }
    var window = BrowsedWindow(
      columns: columns(of: records, at: start), rows: rows, total: total)
    window.badge = fuzzy.badge
    return window
  }

  package func status() async throws -> SourceStatus {
    guard let store = environment.store else { return SourceStatus() }
    let state = try await store.state(of: name, checkpoints: Coverage.checkpoints)
    let (counts, coverage) = (state.status, Coverage(state))
    var status = SourceStatus(
      count: counts.records, total: coverage.total.map { max($0 - counts.hidden, counts.records) })
    status.fetchedAt = try await plugin.oldestFetch(in: store)
    if scannedPages != nil {
      // A service may send fewer than it is asked for.
      status.pageRows = state.pages.compactMap(\.page.rows).max()
    }
    if counts.records > 0 {
      let gap = try await plugin.gap(in: store)
      status.gap = gap?.warning.warning.message
      status.syncCommand = gap?.command.map { "\(program) \($0)" }
      status.isComplete = coverage.isComplete && !plugin.policy.isEndless
      status.answersSearches = try await answersSearches(from: plugin.recordStore(in: store))
    }
    return status
  }

  /// True if no search asks the service: a complete sync has stored all that it could find.
  private func answersSearches(
    from records: RecordStore<P.Item>
  ) async throws(SourceError) -> Bool {
    // A file may have changed, and is read again.
    guard plugin.policy.localSearchBound != nil, plugin.policy.file == nil,
      options.cachePolicy.mayFallBack, !options.cachePolicy.refreshes
    else { return plugin.policy.readOrder == .storedOnly }
    return try await records.completeSync() != nil
  }

  // MARK: - The service

  private func chain(isForced: Bool = false) throws -> any DataSource<P.Item> {
    var policy = options.cachePolicy
    policy.growth = .whenEmpty
    if isForced, policy.mayAskService { policy.refreshes = true }
    return try plugin.source(in: environment, deadline: options.deadline).cachePolicy(policy)
  }

  package func refresh(_ query: String, isForced: Bool) async throws -> Refreshed? {
    // A page that is fetched as a whole anyway may be the whole list.
    let page =
      if case .fixed(let size)? = plugin.policy.upstreamPageSize { min(size, 1000) } else { 100 }
    let limit = min(page, plugin.policy.largestPage)
    var run = ListingRun(
      try chain(isForced: isForced), of: plugin,
      matching: try query.nonBlank.map { try SearchQuery($0) }, .page(of: limit),
      ListingOutcome(of: plugin, at: environment.now()))
    let count = try await run.records().count
    var summary = run.outcome.summary
    // The list has the cached records that match, among them those of the answer.
    if query.nonBlank != nil, plugin.searchesService,
      !summary.warnings.contains(where: \.warning.isOfStoredSearch)
    {
      summary.warnings.append(SourceWarning(name, .storedSearch))
    }
    let badge = OriginBadge(
      summary, choosesLocal: !options.cachePolicy.mayAskService,
      at: environment.now())
    let hasMore = run.outcome.next != nil
    var refreshed = badge.map { Refreshed($0, count: count, of: query, hasMore: hasMore) }
    let failures = [SourceError.Code.storage, .unusableStore, .busy].map { Warning.Code($0) }
    refreshed?.failure =
      summary.warnings.first { failures.contains($0.warning.code) }?.warning.message
    return refreshed
  }

  package func record(_ id: String) async throws -> BrowsedRow {
    row(try await plugin.find(id, in: try chain()).item)
  }

  package func picture(_ request: PictureRequest) async throws -> Picture? {
    guard let chafa else { return nil }
    let local = try plugin.source(in: environment).cachePolicy(.offline)
    let record = try await plugin.find(request.id, in: local).item
    let image = try await plugin.image(of: record, .medium, in: images, options.cachePolicy)
    return try await chafa.picture(
      of: image.item, within: Picture.Size(columns: request.columns, rows: request.rows))
  }

  // MARK: - Changes

  package func delete(_ id: String) async throws {
    if let refusal { throw refusal }
    let store = try environment.requiredStore()
    guard let key = P.Item.ID(id) else { throw SourceError.invalidID(id, of: plugin) }
    try await plugin.recordStore(in: store).delete(key, at: environment.now())
  }

  package func restore(_ id: String) async throws {
    if let refusal { throw refusal }
    let store = try environment.requiredStore()
    guard let key = P.Item.ID(id) else { throw SourceError.invalidID(id, of: plugin) }
    try await plugin.recordStore(in: store).restore(key)
  }

  package func sync(
    pages: Int?, progress: @escaping @Sendable (SyncResult) -> Void
  ) async throws -> SyncReport {
    // Another page is one more to browse.
    if let refusal, pages != 1 { throw refusal }
    let sync = try options.sync(of: plugin, in: environment)
    let result = try await lock.holding {
      var result = await sync.run(upTo: pages, jobs: 1, waits: true, progress: progress)
      // Who asks for more wants records that are not there: pages of which all are cached, by lists or an earlier sync, are
      // passed over.
      while pages == 1, !isEndless, result.pages > 0, result.added + result.changed == 0,
        !result.hasEnded, result.failure == nil, !Task.isCancelled
      {
        result = await sync.run(upTo: 1, jobs: 1, waits: true, progress: progress)
      }
      return result
    }
    return SyncReport(result, of: plugin, isWaiting: true)
  }
}
