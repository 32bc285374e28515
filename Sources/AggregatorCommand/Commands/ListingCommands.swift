import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Plugin {
  var listCommand: Command {
    Command(
      options: Option.listing + [.deleted] + detailOptions + readingOptions + Option.formatting,
      fields: fields,
      notes: [Selection<Item>.note],
      examples: [
        ("\(name) list", "the first 20 \(name)"),
        ("\(name) list --limit 5 --json", "the first 5 \(name) as JSON"),
        ("\(name) list --all --offline", "all cached or bundled \(name)"),
      ]
        + fields.filter(\.isSearchable).prefix(1).map { field in
          (
            "\(name) list --where \(field.name)~\(example.query.typed) --sort -\(field.name)",
            "cached \(name) by \(field.name), in descending order"
          )
        }
    ) { invocation, context in
      try invocation.refuseArguments()
      return invocation.has(.deleted)
        ? try await listDeleted(invocation, context)
        : try await list("list", matching: nil, invocation, context)
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
      examples: [("\(name) search \(example.query)", "\(name) that match \"\(example.query)\"")]
    ) { invocation, context in
      let query = try invocation.query(example: "\(name) search \(example.query.typed)")
      return try await list("search", matching: query, invocation, context)
    }
  }

  /// Records that are read from the store first are never requested again.
  var readingOptions: [Option] {
    policy.readOrder == .localFirst ? Option.reading.filter { $0 != .refresh } : Option.reading
  }

  private func list(
    _ verb: String, matching query: Query?, _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let output = try OutputOptions(invocation, in: context)
    let listing = try output.listing(
      verb, of: name, query: query, fields: fields, layout: layout)
    let selection = try Selection(invocation, fields)
    let isLocal = selection != nil && !invocation.has(.all)
    let explanation = Explanation(invocation, context)
    let environment = try context.environment().explained(by: explanation)
    let bounds = try ListingOptions(
      invocation, policy, hasStore: environment.store != nil, isSearch: query != nil,
      isLocal: isLocal)
    environment.warnIfNoStore(context.diagnostics)
    let options = SourceOptions(invocation)
    let source = try options.source(of: self, in: environment)
    let first = PageRequest(matching: query, after: bounds.cursor, limit: bounds.pageSize)
    if isLocal {
      explanation?.planLocal(self)
    } else {
      try await explanation?.plan(self, first, bounds, options, in: environment)
    }
    defer { explanation?.conclude() }
    var outcome = ListingOutcome(of: self, at: environment.now())
    outcome.offersAll = !invocation.has(.all)
    outcome.canGrow = policy.readOrder == .localFirst
    if invocation.has(.offline), !isLocal, let store = environment.store {
      outcome.gap = try? await gap(in: store)
    }
    var listed = source
    if let selection, isLocal {
      try invocation.refuseRefreshOfSelection()
      listed = try await selected(
        by: selection, in: environment, mayBeBundled: !invocation.has(.noFallback), &outcome)
    }
    // A local source selects by itself.
    let rest = isLocal ? nil : selection
    if invocation.has(.count) {
      if query == nil, !isLocal, let store = environment.store {
        outcome.isTotalWrong = (try? await store.coverage(of: name).isShort) ?? false
      }
      return try await count(
        listed, verb, matching: query, bounds, rest, output, &outcome, in: context)
    }
    let keeper = try SessionPositionKeeper(
      SessionPositionKey(of: name, invocation), for: environment, waiting: options.deadline,
      in: context,
      hasNamedSession: invocation.has(.session))
    let details = DetailLoader(of: self, source, in: environment, invocation, context)
    let page: ShownPage
    do {
      page = try await show(
        listed, matching: query, bounds, RecordPrinter(listing, output, in: context), &outcome,
        details, chosen: output.fields, selecting: rest,
        progress: invocation.has(.all) ? context.progress : nil)
    } catch var failure as CommandError where failure.code == .unavailable {
      if let query { failure.suggestion = await suggestion(for: query, in: environment) }
      throw failure
    }
    let limit = bounds.bound.items ?? max(page.count, 1)
    if let command = await keeper?.keep(
      NextPageRequest.beginning(
        of: query, fields: output.fields, selection: selection?.text
      ).position(after: page, limit: limit))
    {
      outcome.continuation = .listing(command)
    }
    if outcome.count == 0, !outcome.isPartial {
      if let query {
        outcome.suggestion = await suggestion(for: query, in: environment)
      } else if let listed = listed as? SelectedSource<Item> {
        outcome.suggestion = await listed.nearMiss()
      }
    }
    outcome.report(to: context.diagnostics, query: query)
    return outcome.isPartial ? .partial : .success
  }

  /// Opens no connection, and leaves the position of `next` alone.
  private func listDeleted(_ invocation: Invocation, _ context: CommandContext) async throws
    -> ExitCode
  {
    let output = try OutputOptions(invocation, in: context)
    let listing = try output.listing("list", of: name, fields: fields, layout: layout)
    let environment = try context.localEnvironment()
    var source: any DataSource<Item> = recordStore(in: try environment.requiredStore())
      .deleted(or: bundled)
    let selection = try Selection(invocation, fields)
    let bounds = try ListingOptions(
      invocation, policy, hasStore: true, isSearch: false, isLocal: true)
    var outcome = ListingOutcome(of: self, at: environment.now())
    outcome.offersAll = !invocation.has(.all)
    outcome.subject = "deleted \(name)"
    if let selection {
      outcome.select(isFilter: selection.isFilter)
      source = SelectedSource(
        "\(name).deleted", of: source, selection, lacksDetails: lacksDetails)
    }
    if invocation.has(.count) {
      return try await count(
        source, "list", matching: nil, bounds, nil, output, &outcome, in: context)
    }
    _ = try await show(
      source, matching: nil, bounds, RecordPrinter(listing, output, in: context), &outcome)
    outcome.report(to: context.diagnostics)
    if outcome.count > 0 {
      context.diagnostics.note("Restore: \(context.diagnostics.command("\(name) restore ID"))")
    }
    return outcome.isPartial ? .partial : .success
  }

  /// Prints the number of records.
  private func count(
    _ source: any DataSource<Item>, _ verb: String, matching query: Query?,
    _ bounds: ListingOptions, _ selection: Selection<Item>?, _ output: OutputOptions,
    _ outcome: inout ListingOutcome, in context: CommandContext
  ) async throws -> ExitCode {
    _ = try await show(source, matching: query, bounds, nil, &outcome, selecting: selection)
    let count = outcome.number
    if output.isForPeople {
      try context.output.write("\(count)\n")
    } else {
      let listing = try output.listing(
        verb, of: name, query: query, fields: RecordCount.fields,
        layout: Layout(card: RecordCount.fields.map(\.name)))
      var printer = RecordPrinter(listing, output, in: context)
      try printer.print([RecordCount(count: count)])
      var summary = outcome.summary
      summary.count = 1
      summary.total = 1
      summary.next = nil
      try printer.finish(summary)
    }
    outcome.reportCount(to: context.diagnostics)
    return outcome.isPartial ? .partial : .success
  }

  /// Prints the pages as they arrive, or all records at the end if they are sorted, and returns what was
  /// shown.
  ///
  /// Without a printer the records are only counted, by the total of the service if nothing contradicts it.
  private func show(
    _ source: any DataSource<Item>, matching query: Query?, _ bounds: ListingOptions,
    _ printer: RecordPrinter<Item>?, _ outcome: inout ListingOutcome,
    _ details: DetailLoader<Self>? = nil, chosen: [String]? = nil,
    selecting selection: Selection<Item>? = nil, progress: Progress? = nil
  ) async throws -> ShownPage {
    var printer = printer
    var details = details
    var sorted: [Item] = []
    // Conditions on details are checked with them.
    let fields = (chosen ?? []) + (selection?.detailFields ?? [])
    let needsDetails = selection?.detailFields.isEmpty == false
    if let selection { outcome.select(isFilter: selection.isFilter) }
    var shown = ShownPage(from: bounds.cursor)
    let pages = source.pages(
      matching: query, after: bounds.cursor, size: bounds.pageSize, upTo: bounds.bound,
      // A count may end after the first page.
      ahead: printer == nil && selection?.isFilter != true ? 0 : 1
    ).makeAsyncIterator()
    while true {
      let step: PaginationStep<Item>?
      do { step = try await pages.next() } catch {
        guard outcome.hasAnswer else { throw CommandError(error, of: self) }
        outcome.fail(error)
        break
      }
      guard let step else { break }
      outcome.add(step)
      progress?.expect(outcome.total)
      shown.add(step)
      // The service has counted them.
      if printer == nil, selection?.isFilter != true,
        outcome.hasCredibleTotal(pageSize: bounds.pageSize)
      {
        return shown
      }
      if let end = step.end {
        if end != .pageLimit || bounds.isCapped { outcome.end(end) }
        outcome.noteGap()
      }
      var items = step.items
      if needsDetails { try await complete(&items, &outcome, &details, fields) }
      if let selection {
        do { try selection.check(items) } catch { throw CommandError(error, of: self) }
        items.removeAll { !selection.matches($0) }
        outcome.narrow(by: step.items.count - items.count)
      }
      if selection?.order != nil {
        sorted += items
      } else if printer != nil {
        if !needsDetails { try await complete(&items, &outcome, &details, fields) }
        try printer?.print(items)
      }
    }
    if let selection {
      outcome.concludeNarrowed()
      shown.end()
      if selection.order != nil {
        var items = selection.sorted(sorted)
        if !needsDetails { try await complete(&items, &outcome, &details, fields) }
        try printer?.print(items)
      }
    }
    try printer?.finish(outcome.summary)
    return shown
  }

  /// Fetches details if requested, and notes the records that lack those of `fields`.
  private func complete(
    _ items: inout [Item], _ outcome: inout ListingOutcome, _ details: inout DetailLoader<Self>?,
    _ fields: [String]
  ) async throws {
    items = try await details?.completed(items, &outcome) ?? items
    outcome.check(items, of: self, chosen: fields, hint: details == nil ? .details : nil)
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
