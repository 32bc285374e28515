import AggregatorFilters
package import AggregatorKit
package import AggregatorSelection
package import AggregatorTerminal

/// A run through a list: the records of a source that are shown, selected, completed and bounded, and what is known
/// of the answer.
///
/// `list`, `search`, `next`, `--count`, `--deleted`, `export`, the search of all sources and the pages of the server
/// are runs, and differ only in what they set.
package struct ListingRun<P: Plugin> {
  private let plugin: P
  private var source: any DataSource<P.Item>
  private let query: SearchQuery?
  private let bounds: ListingBounds

  /// The records to show, and their order; `nil` for those of the source.
  package var selection: Selection<P.Item>?
  /// Completes the records; `nil` leaves them as they are in lists.
  package var details: DetailLoader<P>?
  /// The names of the fields that were asked for; `nil` for the default ones.
  package var chosen: [String]?
  /// The command that fetches the fields that lists do not include, for a warning.
  package var detailsHint: Hint?
  package var progress: Progress?
  /// Is called with the number of the records of each page that was read, selected or not.
  package var onRead: (@Sendable (Int) -> Void)?
  /// True if only the number of the records is asked for: no record is shown, and a total ends the run where the records
  /// are more than it reads, unless something contradicts it.
  package var countsOnly = false
  /// The most pages that are fetched before they are read.
  package var prefetch = 1
  /// The chain without the service, and its records: where a list goes on if the service fails after the first page and a
  /// sync has stored all records; `nil` for nowhere.
  package var copy: (source: any DataSource<P.Item>, records: RecordStore<P.Item>)?
  /// The stored records, whose number is the total of a list that has none if they are all; `nil` to ask no store.
  package var stored: RecordStore<P.Item>?
  /// The store, which can say what its records lack where they stand in for the service; `nil` to ask none.
  package var store: (any SourceStore)?
  /// True if a failure after the first page fails the whole run.
  package var isAllOrNothing = false
  /// The number of successive pages without new records after which the run pauses; `nil` leaves that to the pages.
  package var maxEmptyPages: Int?

  package var outcome: ListingOutcome
  package private(set) var page: ShownRecords

  /// The reason a copy of the source is read instead.
  private var replacement: SourceError?

  private var pages: PageSequence<P.Item>.Iterator?
  private var sorted: [P.Item] = []
  private var emptyPages = 0
  /// The number of records that were read, selected or not.
  private var read = 0
  private var isOver = false
  /// A value near that of the only condition, while no record has matched.
  private var nearMiss = NearMiss()
  private var hasMatch = false
  /// Of conditions that compare numbers or dates.
  private var compared: [ComparedValues] = []

  package init(
    _ source: any DataSource<P.Item>, of plugin: P, matching query: SearchQuery? = nil,
    _ bounds: ListingBounds, _ outcome: ListingOutcome
  ) {
    self.plugin = plugin
    self.source = source
    self.query = query
    self.bounds = bounds
    self.outcome = outcome
    if let query, bounds.cursor == nil {
      self.outcome.add(
        query.hints(plugin.fields), isSearchedLocally: plugin.policy.localSearchBound != nil)
    }
    page = ShownRecords(from: bounds.cursor)
  }

  /// This run of a copy of the source, from the start of the copy: its cursors are others.
  package func reading(
    _ copy: any DataSource<P.Item>, because reason: SourceError, _ outcome: ListingOutcome
  ) -> ListingRun {
    var run = self
    run.source = copy
    run.replacement = reason
    run.outcome = outcome
    run.page = ShownRecords(from: bounds.cursor)
    run.pages = nil
    run.emptyPages = 0
    return run
  }

  /// The next records to show: those of a page, or all of them if they are sorted; `nil` at the end.
  ///
  /// - Throws: ``SourceError`` if there is no answer; a later failure is noted in the outcome, and ends the run.
  package mutating func next() async throws(SourceError) -> [P.Item]? {
    while !isOver {
      guard let step = try await nextStep() else { return try await conclusion() }
      add(step)
      if step.end != nil {
        await noteGap()
        await noteTotal()
      }
      if mayEndAnywhere, outcome.hasCredibleTotal(within: bounds) {
        isOver = true
        if bounds.bound.items == nil { outcome.trustTotal() }
        return nil
      }
      let items = try await selected(step.items)
      emptyPages = step.items.isEmpty ? emptyPages + 1 : 0
      if emptyPages == maxEmptyPages, step.end == nil {
        outcome.pause(after: emptyPages)
        isOver = true
      }
      if selection?.order != nil {
        sorted += items
      } else if !countsOnly {
        return try await completed(items)
      }
    }
    return nil
  }

  /// Notes a value that is near that of the only condition, which no record matches, or the values that there are.
  package mutating func suggest() async {
    let miss = await (source as? SelectedSource<P.Item>)?.nearMiss() ?? nearMiss
    (outcome.suggestion, outcome.values) = (miss.suggestion, miss.list)
  }

  package mutating func records() async throws(SourceError) -> [P.Item] {
    var records: [P.Item] = []
    while let items = try await next() { records += items }
    return records
  }

  /// The sorted records, after all pages.
  private mutating func conclusion() async throws(SourceError) -> [P.Item]? {
    isOver = true
    guard let selection else { return nil }
    outcome.concludeNarrowed()
    outcome.note(selection.warnings(of: compared))
    page.end()
    guard selection.order != nil, !countsOnly else { return nil }
    return try await completed(selection.sorted(sorted))
  }

  /// True if the total of any page may be the answer.
  private var mayEndAnywhere: Bool { countsOnly && selection?.isFilter != true }

  /// The next page; `nil` at the end, and after a failure that leaves an answer.
  private mutating func nextStep() async throws(SourceError) -> PaginationStep<P.Item>? {
    let pages =
      pages
      ?? source.pages(
        matching: query, after: replacement == nil ? bounds.cursor : nil, size: bounds.pageSize,
        upTo: bounds.bound, ahead: mayEndAnywhere ? 0 : prefetch
      ).makeAsyncIterator()
    self.pages = pages
    do throws(SourceError) {
      let step = try await pages.next()
      // Pages of several times may lack records: the copy does not.
      if let step, step.end == nil, let reason = step.page.provenance.reason,
        step.page.warnings.contains(where: { $0.code == .mixedGenerations })
      {
        _ = await goesOnInCopy(because: reason)
      }
      return step
    } catch {
      if await goesOnInCopy(because: error) { return try await nextStep() }
      if await goesOnInStore(because: error) { return try await nextStep() }
      var error = error
      if error.code == .offline, error.cause == nil {
        let isStart = bounds.cursor == nil && !outcome.hasAnswer
        let none = query.map { "nothing cached matches \"\($0.text.oneLine(atMost: 80))\"" }
        error.message =
          (isStart ? none ?? "nothing is cached" : "the cached pages end here")
          + (outcome.readsCacheOnly ? "" : " (offline mode)")
        if isStart { error.remedy = Remedy(plugin.syncArguments, .command) }
        if outcome.readsCacheOnly, outcome.hasAnswer {
          outcome.endOfCache()
          return nil
        }
      }
      guard outcome.hasAnswer, !isAllOrNothing else { throw error }
      outcome.fail(error)
      return nil
    }
  }

  /// Goes on with the records of the copy that were not shown; false if there is no complete copy.
  private mutating func goesOnInCopy(because reason: SourceError) async -> Bool {
    guard let copy, query == nil, bounds.cursor == nil, outcome.hasAnswer, !isAllOrNothing,
      replacement == nil, reason.allowsFallback,
      (try? await copy.records.completeSync()) != nil,
      // The service may have reported more records since.
      (try? await copy.records.store.coverage(of: copy.records.source).isComplete) == true,
      let rest = pages?.continued(in: copy.source)
    else { return false }
    replacement = reason
    pages = rest
    outcome.goOnInCopy()
    return true
  }

  /// Goes on with the stored records that the cached pages do not have, in a list of these alone that shows all of them;
  /// false if there are none.
  private mutating func goesOnInStore(because reason: SourceError) async -> Bool {
    guard let copy, reason.allowsFallback, outcome.isCached, query == nil,
      bounds.cursor == nil, bounds.bound.pages == nil, outcome.hasAnswer, !isAllOrNothing,
      replacement == nil,
      let stored = try? await copy.records.store.status(of: copy.records.source).records,
      stored > read, stored < bounds.bound.items ?? .max,
      let rest = pages?.continued(
        in: copy.records.recordsInPlaceOfService(areLast: true)
          .warningOfDoubts(in: copy.records))
    else { return false }
    replacement = reason
    pages = rest
    // The cursors of the stored records are not those of the chain.
    self.copy = nil
    outcome.goOnInCopy()
    return true
  }

  /// Takes the number of stored records as the total of a list that has none, if they are all.
  private mutating func noteTotal() async {
    guard let stored, query == nil, selection == nil, !countsOnly, outcome.total == nil,
      let coverage = try? await stored.store.coverage(of: stored.source), coverage.isComplete,
      let count = try? await stored.store.status(of: stored.source).records
    else { return }
    outcome.noteTotal(ofStored: count, coverage)
  }

  private mutating func add(_ step: PaginationStep<P.Item>) {
    read += step.items.count
    onRead?(step.items.count)
    if let replacement {
      outcome.add(step, because: replacement)
      // The cursors of the chain are those of its copy, too.
      if copy == nil { page.addCopy(step) } else { page.add(step) }
    } else {
      outcome.add(step)
      page.add(step)
    }
    progress?.expect(outcome.total)
    guard let end = step.end else { return }
    if end != .pageLimit || bounds.isCapped { outcome.end(end) }
  }

  /// Says what the cache lacks, if the answer claims to be of all records.
  private mutating func noteGap() async {
    if outcome.gap == nil, outcome.isPartlyCached, let store {
      outcome.gap = try? await plugin.gap(in: store)
    }
    outcome.noteGap(ofSearch: query != nil)
  }

  private mutating func selected(_ items: [P.Item]) async throws(SourceError) -> [P.Item] {
    guard let selection else { return items }
    let complete = selectsByDetails ? try await fetchingDetails(items) : items
    try selection.check(complete)
    selection.count(complete, in: &compared)
    let selected = complete.filter(selection.matches)
    hasMatch = hasMatch || !selected.isEmpty
    if !hasMatch { selection.add(complete, to: &nearMiss) }
    outcome.narrow(by: items.count - selected.count)
    return selected
  }

  private mutating func completed(_ items: [P.Item]) async throws(SourceError) -> [P.Item] {
    selectsByDetails ? items : try await fetchingDetails(items)
  }

  /// Conditions on details are checked with them.
  private var selectsByDetails: Bool { selection?.detailFields.isEmpty == false }

  /// Fetches details if they are asked for, and notes the records that lack those of the fields.
  private mutating func fetchingDetails(
    _ items: [P.Item]
  ) async throws(SourceError) -> [P.Item] {
    let completed = try await details?.completed(items, &outcome) ?? items
    let fields = (chosen ?? []) + (selection?.detailFields ?? [])
    outcome.check(
      completed, of: plugin, chosen: fields, hint: details == nil ? detailsHint : nil)
    return completed
  }
}
