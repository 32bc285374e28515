import AggregatorArguments
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorSelection
import AggregatorTerminal

extension Plugin {
  var listCommand: Command {
    Command(
      options: Option.listing + [.deleted] + detailOptions + readingOptions + Option.formatting,
      fields: fields,
      notes: [Selection<Item>.note],
      examples: [
        ("\(name) list", "the first 20 \(noun.word(for: 20))"),
        ("\(name) list --limit 5 --json", "the first 5 \(noun.word(for: 5)) as JSON"),
        ("\(name) list --all --offline", "all cached or bundled \(noun.word(for: 2))"),
      ]
        + [exampleField].compactMap(\.self).map { field in
          (
            "\(name) list --where \(field.name)~\(example.query.typed) --sort -\(field.name)",
            "cached \(noun.word(for: 2)) by \(field.name), in descending order"
          )
        }
    ) { invocation, context in
      var listing = try RecordListing("list", of: self, matching: nil, invocation, context)
      return invocation.has(.deleted) ? try await listing.showDeleted() : try await listing.show()
    }
  }

  var searchCommand: Command {
    Command(
      "QUERY…", options: Option.listing + detailOptions + readingOptions + Option.formatting,
      fields: fields,
      notes: [
        "Arguments are joined with spaces. Searches of cached or bundled data ignore case, accents, "
          + "apostrophes, hyphens, dots and commas.",
        Selection<Item>.note,
      ],
      examples: [
        (
          "\(name) search \(example.query.typed)",
          "\(noun.word(for: 2)) that match \"\(example.query)\""
        )
      ]
    ) { invocation, context in
      let query = try invocation.query(example: "\(name) search \(example.query.typed)")
      var listing = try RecordListing("search", of: self, matching: query, invocation, context)
      return try await listing.show()
    }
  }

  /// The first searched field that has the example's query in a bundled record.
  private var exampleField: Field<Item>? {
    let query = example.query.lowercased()
    let searched = fields.filter { $0.isSearchable && $0.name.asField == $0.name }
    let records = (bundled as? BundledSource<Item>)?.records ?? []
    return searched.first { field in
      records.contains { field[$0].cell.lowercased().contains(query) }
    } ?? searched.first
  }

  /// Records that are read from the store first are never requested again.
  var readingOptions: [Option] {
    policy.readOrder == .localFirst ? Option.reading.filter { $0 != .refresh } : Option.reading
  }
}

/// The records that `list` and `search` show or count.
private struct RecordListing<P: Plugin> {
  private let verb: String
  private let plugin: P
  private let query: SearchQuery?
  private let invocation: Invocation
  private let context: CommandContext
  private let output: OutputOptions
  private let listing: Listing<P.Item>
  private let summary: FieldSummary?
  private var selection: Selection<P.Item>?

  init(
    _ verb: String, of plugin: P, matching query: SearchQuery?, _ invocation: Invocation,
    _ context: CommandContext
  ) throws(CommandError) {
    self.verb = verb
    self.plugin = plugin
    self.query = query
    self.invocation = invocation
    self.context = context
    summary = try FieldSummary(invocation)?.naming(plugin.fields)
    let options = try OutputOptions(invocation, in: context)
    // The fields to show are those of the summary.
    output = summary == nil ? options.continuing(nil, of: plugin.fields) : options
    listing = try (summary == nil ? output : output.ofAllFields).listing(
      verb, of: plugin.name, query: query, fields: plugin.fields, layout: plugin.layout)
    selection = try plugin.selection(invocation, at: context.currentDate.value)
  }

  /// True if the store selects the records by itself.
  private var isLocal: Bool { selection != nil && !invocation.has(.all) }

  mutating func show() async throws -> ExitCode {
    let explanation = Explanation(invocation, context)
    let environment = try context.environment().explained(by: explanation)
    // The date may be that of a recording.
    selection = try plugin.selection(invocation, at: environment.now())
    let bounds = try ListingBounds(
      invocation, plugin.policy, hasStore: environment.store != nil, isSearch: query != nil,
      isLocal: isLocal)
    environment.warnIfNoStore(context.diagnostics)
    let options = SourceOptions(invocation)
    let source = try options.source(of: plugin, in: environment)
    if isLocal, await !plugin.needsFirstPage(in: environment, options.cachePolicy) {
      explanation?.planLocal(plugin)
    } else {
      let first = PageRequest(matching: query, after: bounds.cursor, limit: bounds.pageSize)
      try await explanation?.plan(
        plugin, first, pages: bounds.maxPages, options.cachePolicy, in: environment)
    }
    defer { explanation?.conclude() }
    var outcome = try await outcome(in: environment)
    outcome.mostOfAll = bounds.mostOfAll
    let selected = try await selected(of: source, in: environment, &outcome)
    if let summary, let selected {
      return try await summarize(summary, of: selected, outcome, in: environment)
    }
    var run = ListingRun(selected ?? source, of: plugin, matching: query, bounds, outcome)
    run.selection = isLocal ? nil : selection
    if !isLocal, options.cachePolicy.mayFallBack, let store = environment.store {
      // Few lists need it.
      let copy = LazySource<P.Item> { [plugin] in
        ((try? plugin.source(in: environment)) ?? source).erased.cachePolicy(.offline)
      }
      run.copy = (copy, plugin.recordStore(in: store))
      run.stored = run.copy?.records
      run.store = store
    }
    if invocation.has(.count) { return try await count(&run, in: environment) }
    run.details = DetailLoader(of: plugin, source, in: environment, invocation, context)
    run.chosen = output.fields
    run.detailsHint = .details
    run.progress = invocation.has(.all) ? context.progress : nil
    let keeper = try SessionPositionKeeper(
      SessionPositionKey(of: plugin.name, invocation), for: environment,
      waiting: options.deadline, in: context, hasNamedSession: invocation.has(.session))
    do { try await print(&run) } catch let error as SourceError {
      var failure = CommandError(error, of: plugin)
      if failure.code == .unavailable, let query {
        failure.suggestion = await plugin.suggestion(for: query, in: environment)
      }
      throw failure
    }
    await run.outcome.continuation = continuation(after: run.page, bounds, keeper)
    if run.outcome.count == 0, !run.outcome.isPartial || run.outcome.origin == .cached {
      if let query {
        run.outcome.suggestion = await plugin.suggestion(for: query, in: environment)
      } else {
        await run.suggest()
      }
    }
    await noteCopy(&run.outcome, in: environment)
    run.outcome.report(to: context.diagnostics, query: query)
    return run.outcome.code
  }

  /// Opens no connection, and leaves the position of `next` alone.
  func showDeleted() async throws -> ExitCode {
    let environment = try context.localEnvironment()
    var source: any DataSource<P.Item> = plugin.recordStore(in: try environment.requiredStore())
      .deleted(or: plugin.bundled)
    let bounds = try ListingBounds(
      invocation, plugin.policy, hasStore: true, isSearch: false, isLocal: true)
    var outcome = ListingOutcome(of: plugin, at: environment.now())
    outcome.offersAll = !invocation.has(.all)
    outcome.subject = "deleted \(plugin.name)"
    if let selection {
      outcome.select(isFilter: selection.isFilter)
      source = SelectedSource(
        "\(plugin.name).deleted", of: source, selection, lacksDetails: plugin.lacksDetails)
    }
    var run = ListingRun(source, of: plugin, bounds, outcome)
    if invocation.has(.count) { return try await count(&run, in: nil) }
    try await print(&run)
    run.outcome.report(to: context.diagnostics)
    if run.outcome.count > 0 {
      let command = context.diagnostics.command("\(plugin.name) restore ID")
      context.diagnostics.note("Restore: \(command)")
    }
    return run.outcome.code
  }

  /// The outcome before the first page.
  private func outcome(in environment: PluginEnvironment) async throws -> ListingOutcome {
    var outcome = ListingOutcome(of: plugin, at: environment.now())
    outcome.offersAll = !invocation.has(.all)
    outcome.canGrow = plugin.policy.readOrder == .localFirst
    if selection != nil { outcome.claimAll() }
    guard !isLocal, let store = environment.store else { return outcome }
    if invocation.has(.offline) { outcome.gap = try? await plugin.gap(in: store) }
    if invocation.has(.count), query == nil {
      let coverage = try? await store.coverage(of: plugin.name)
      outcome.isTotalWrong = coverage.map { $0.isShort || $0.gap != nil } ?? false
    }
    return outcome
  }

  /// The records that the store selects; `nil` if the run selects those of the source.
  private func selected(
    of source: any DataSource<P.Item>, in environment: PluginEnvironment,
    _ outcome: inout ListingOutcome
  ) async throws(CommandError) -> (any DataSource<P.Item>)? {
    guard let selection, isLocal else { return nil }
    try invocation.refuseRefreshOfSelection()
    do throws(SourceError) {
      let policy = SourceOptions(invocation).cachePolicy
      let note = try await plugin.readFirstPage(of: source, in: environment, policy)
      if let note { context.diagnostics.note(note) }
    } catch {
      throw CommandError(error, of: plugin)
    }
    return try await plugin.selected(
      by: selection, in: environment, mayBeBundled: !invocation.has(.noFallback), &outcome)
  }

  /// How the listing goes on: by the position, if it is saved.
  private func continuation(
    after page: ShownRecords, _ bounds: ListingBounds, _ keeper: SessionPositionKeeper?
  ) async -> ContinuationHint {
    let position = NextRequest.beginning(
      of: query, fields: output.fields, selection: selection?.text
    ).position(after: page, limit: bounds.bound.items ?? max(page.count, 1))
    return await keeper?.keep(position).map(ContinuationHint.listing) ?? .cursor
  }

  private func print(_ run: inout ListingRun<P>) async throws {
    var printer = RecordPrinter(listing, output, in: context)
    // A reader who leaves the pager early has seen some of them.
    defer {
      context.listingOutput.sayIfDropped {
        [outcome = run.outcome, diagnostics = context.diagnostics] in
        outcome.reportOrigin(to: diagnostics)
      }
    }
    let written = InterruptedWork()
    // What a pager holds back, or jq has read, is not written.
    let isWritten = !context.terminal.isOutput && !invocation.has(.jq)
    let note = interruption(of: written) { [noun = plugin.noun] in
      isWritten ? "\(noun.count($0)) written, others" : "records"
    }
    defer { note?.cancel() }
    // A table has the same columns for all records of a screen, whatever the pages of the service.
    var rows = output.format == .table ? context.terminal.height ?? 100 : 0
    var screen: [P.Item] = []
    do {
      while let records = try await run.next() {
        screen += records
        guard screen.count >= rows else { continue }
        try printer.print(screen)
        written.add(screen.count)
        (screen, rows) = ([], 0)
      }
    } catch {
      if !screen.isEmpty { try printer.print(screen) }
      throw error
    }
    try printer.print(screen)
    try printer.finish(run.outcome.printedSummary)
  }

  /// The note of a signal that ends a list of all records; `nil` for another list.
  private func interruption(
    of work: InterruptedWork, _ words: @escaping @Sendable (Int) -> String
  ) -> Interruption.CleanUp? {
    invocation.has(.all) ? work.note(to: context.diagnostics, words) : nil
  }

  /// Tells of fields of all selected records.
  private func summarize(
    _ summary: FieldSummary, of source: any DataSource<P.Item>, _ outcome: ListingOutcome,
    in environment: PluginEnvironment
  ) async throws -> ExitCode {
    var run = ListingRun(source, of: plugin, matching: query, .all(pageSize: 1000), outcome)
    let rows = try await summary.rows(of: &run, in: plugin.fields)
    if invocation.has(.count) {
      try print(count: rows.rows.count, run.outcome)
    } else {
      let listing = SummaryListing(
        verb: verb, source: plugin.name, query: query?.text, limit: invocation.count(.limit),
        output: output, context: context)
      try listing.print(rows, run.outcome.summary)
    }
    noteGrowth()
    run.outcome.reportCount(to: context.diagnostics)
    return try await isPart(run.outcome, in: environment) ? .partial : .success
  }

  /// Prints a number in the place of records.
  private func print(count: Int, _ outcome: ListingOutcome) throws {
    guard !output.isForPeople else { return try context.output.write("\(count)\n") }
    var listing = try output.plainListing(verb, RecordCount.self)
    listing.source = plugin.name
    listing.query = query?.text
    var summary = outcome.summary
    (summary.count, summary.total, summary.next) = (1, 1, nil)
    try RecordPrinter.print(
      [RecordCount(count: count)], as: listing, output, in: context, summary)
  }

  /// Counts the records of a run; those of no `environment` are all here.
  private func count(
    _ run: inout ListingRun<P>, in environment: PluginEnvironment?
  ) async throws -> ExitCode {
    run.countsOnly = true
    run.outcome.isNumber = true
    let read = InterruptedWork()
    run.onRead = read.add
    let note = interruption(of: read) { [noun = plugin.noun] in "\(noun.count($0)) read, others" }
    defer { note?.cancel() }
    _ = try await run.records()
    try print(count: run.outcome.number, run.outcome)
    if run.outcome.number == 0 { await run.suggest() }
    await noteCopy(&run.outcome, in: environment)
    noteGrowth()
    run.outcome.reportCount(to: context.diagnostics)
    return try await isPart(run.outcome, in: environment) ? .partial : .success
  }

  /// Notes beside a number of local records that there is none of all: the service has no end.
  private func noteGrowth() {
    guard let verb = plugin.verbs.first(where: { $0.role == .loadsMore }) else { return }
    let command = context.diagnostics.command("\(plugin.name) \(verb.name)")
    context.diagnostics.note(
      "only local records are counted: \(plugin.name) has no end · more: \(command)")
  }

  /// Notes that the cache has all records, if the pages of the service were too many, or are, or failed.
  private func noteCopy(
    _ outcome: inout ListingOutcome, in environment: PluginEnvironment?
  ) async {
    guard outcome.isCapped || outcome.hasFailed || outcome.exceedsAll, !invocation.has(.offline),
      let store = environment?.store,
      (try? await store.coverage(of: plugin.name).isComplete) == true
    else { return }
    outcome.copyCount = try? await store.status(of: plugin.name).records
  }

  /// True if numbers of an outcome are those of a part of the records: records that are shown may be some, a number
  /// claims to be of all.
  private func isPart(
    _ outcome: ListingOutcome, in environment: PluginEnvironment?
  ) async throws -> Bool {
    guard !outcome.isPartial, !outcome.isInexact else { return true }
    guard let environment else { return false }
    guard !outcome.lacksRecords else { return true }
    guard isLocal || invocation.has(.offline) else { return false }
    guard let store = environment.store else { return true }
    return try await plugin.gap(in: store) != nil
  }
}

/// The rows of a summary in the place of the records of one source or several.
struct SummaryListing {
  let verb: String
  /// `nil` for several sources.
  let source: String?
  let query: String?
  /// The most rows to print; `nil` for all.
  let limit: Int?
  let output: OutputOptions
  let context: CommandContext

  /// - Parameter summary: That of the records.
  func print(_ rows: SummaryRows, _ summary: ListingSummary) throws {
    var rows = rows
    let total = rows.rows.count
    if let limit { rows.rows = Array(rows.rows.prefix(limit)) }
    var listing = rows.listing(
      try output.ofAllFields.plainListing(verb, SummaryRow.self), of: source, matching: query)
    // A card for each group would compare none of them; elsewhere no number is left out for want of room.
    let comparesGroups =
      output.format == .table && (output.keepsTable || context.terminalLayout.width >= 60)
      && rows.keyCount > 0
    if output.format == .table, !comparesGroups { listing.fields = rows.fieldsOfCards }
    // Scripts tell columns by their places.
    if output.format.isSeparated { listing.fields = rows.columns }
    if output.isForPeople { listing.fields = listing.fields.map(\.rounded) }
    (listing.keyCount, listing.prefersCards) = (comparesGroups ? rows.keyCount : 0, !comparesGroups)
    listing.chosen = try output.fields.map { [all = listing.fields] in
      let fields = try all.fields(named: all.names(listedAs: $0))
      // Numbers say nothing without their group.
      let keys = all.prefix(rows.keyCount)
      return fields.contains { field in keys.contains { $0.name == field.name } }
        ? fields : keys + fields
    }
    var shown = rows.summary(of: summary)
    shown.total = total
    try RecordPrinter.print(rows.rows, as: listing, output, in: context, shown)
    rows.report(to: context.diagnostics, of: total)
  }
}

/// The result of `--count`.
private struct RecordCount: Entry {
  let count: Int

  var id: Int { count }

  static let fields: [Field<RecordCount>] = [
    Field("count", "Count", \.count, about: "The number of records.")
  ]
}
