import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorSelection
import AggregatorTerminal

extension Plugin {
  var nextCommand: Command {
    Command(
      needs: .init(newest: true),
      options: Option.position + detailOptions + readingOptions + Option.formatting, fields: fields,
      notes: [
        "Continues the last list or search shown on a terminal or with --session. The position is saved "
          + "after the whole page is written; concurrent processes never get the same page."
      ],
      examples: [
        ("\(name) next", "the next page"),
        ("\(name) next --peek", "the next page, without advancing"),
        ("\(name) next --reset --session mine", "the first page, in a separate session"),
      ]
    ) { invocation, context in
      try await NextRun(of: self, invocation, context).show()
    }
  }
}

private struct NextRun<P: Plugin> {
  /// The maximum number of successive pages without new records.
  private static var maxEmptyPages: Int { 10 }

  private let plugin: P
  private let invocation: Invocation
  private let context: CommandContext
  private let move: Option?
  private let output: OutputOptions
  private let environment: PluginEnvironment
  private let options: SourceOptions
  private let source: any DataSource<P.Item>
  private let file: SessionPositionFile
  private let explanation: Explanation?

  init(
    of plugin: P, _ invocation: Invocation, _ context: CommandContext
  ) throws(CommandError) {
    self.plugin = plugin
    self.invocation = invocation
    self.context = context
    move = [.reset, .back, .peek].first(where: invocation.has)
    output = try OutputOptions(invocation, in: context)
    let name = try SessionPositionKey(of: plugin.name, invocation)
    explanation = Explanation(invocation, context)
    environment = try context.environment().explained(by: explanation)
    options = SourceOptions(invocation)
    source = try options.source(of: plugin, in: environment, growing: .atEnd)
    file = try SessionPositionFile(
      name, in: context.directories(environment.settings))
  }

  func show() async throws -> ExitCode {
    // The file is replaced atomically, so reading needs no lock.
    if move == .peek { return try await run() }
    return try await file.holding(within: options.deadline, clock: environment.clock) {
      try await run()
    }
  }

  private func run() async throws -> ExitCode {
    let position = try read()
    guard var request = try request(from: position) else { return reportEnd() }
    if !context.terminal.isOutput, !file.name.isNamed, move != .reset, let position {
      // Listings of scripts leave no position, so it is that of a listing on a terminal, or of the last `next`.
      context.diagnostics.note("note: continues the default session: \(position.text)")
    }
    if file.name.isNamed, move != .reset, position == nil {
      context.diagnostics.note("note: the session is new, and begins with the first page")
    }
    let output = output.continuing(request.fields, of: plugin.fields)
    request.fields = output.fields
    let bounds = try ListingBounds(
      invocation, plugin.policy, hasStore: environment.store != nil, isSearch: request.query != nil,
      isLocal: request.selection != nil,
      standardLimit: request.limit ?? ListingBounds.standardLimit)
    let listing = try output.listing(
      "next", of: plugin.name, query: request.query, fields: plugin.fields, layout: plugin.layout)
    let first = PageRequest(matching: request.query, after: request.start, limit: bounds.pageSize)
    if request.selection == nil {
      do throws(SourceError) {
        try await explanation?.plan(
          plugin, first, pages: bounds.maxPages, options.cachePolicy, in: environment)
      } catch {
        throw CommandError(error, of: plugin)
      }
    } else {
      explanation?.planLocal(plugin)
    }
    defer { explanation?.conclude() }
    var run = try await run(of: request, bounds)
    let items = try await records(of: request, &run)
    let page = run.page
    run.outcome.earlier = request.earlierCount
    let isEnd = items.isEmpty && page.next == nil && request.latest != nil && !run.outcome.isPartial
    if !isEnd {
      try RecordPrinter.print(items, as: listing, output, in: context, run.outcome.printedSummary)
    }
    let command = "\(context.catalog.program) \(file.name.command())"
    if move == .peek {
      run.outcome.continuation = .peek(command)
    } else {
      try file.write(request.position(after: page, limit: bounds.bound.items ?? max(page.count, 1)))
      run.outcome.continuation = .next(command)
    }
    run.outcome.report(to: context.diagnostics, query: request.query)
    if isEnd { return reportEnd() }
    return run.outcome.code
  }

  private func read() throws(CommandError) -> SessionPosition? {
    do throws(CommandError) { return try file.read() } catch let failure
      where failure.code == .notFound && move == .reset
    {
      context.diagnostics.warning(
        "\(failure.message); starting from the beginning of the list")
      return nil
    }
  }

  /// The request for the page; `nil` at the end.
  private func request(from position: SessionPosition?) throws(CommandError) -> NextRequest? {
    switch (move, position) {
    case (.reset, _):
      return .beginning(
        of: position?.query, fields: position?.fields, selection: position?.selection)
    case (.back, nil):
      throw CommandError(
        .notFound, "\(plugin.name): no page has been shown yet", hint: .command(file.name.command())
      )
    case (.back, let position?):
      if let request = position.back { return request }
      let reason =
        position.isTruncated ? "earlier pages are no longer known" : "already at the first page"
      throw CommandError(
        .notFound, "\(plugin.name): \(reason)", hint: .command(file.name.command(.reset)))
    case (_, nil): return .beginning(of: nil)
    case (_, let position?):
      return position.continuation(goesOnAfterEnd: plugin.policy.readOrder == .localFirst)
    }
  }

  private func run(
    of request: NextRequest, _ bounds: ListingBounds
  ) async throws(CommandError) -> ListingRun<P> {
    var (bounds, outcome) = (bounds, ListingOutcome(of: plugin, at: environment.now()))
    bounds.cursor = request.start
    if request.start != nil { outcome.restart = .command(file.name.command(.reset)) }
    let source = try await source(of: request, &outcome)
    var run = ListingRun(
      source.excluding(request.excluded), of: plugin, matching: request.query,
      bounds, outcome)
    run.outcome.earlier = request.earlierCount
    if request.selection == nil, options.cachePolicy.mayFallBack {
      run.stored = environment.store.map { plugin.recordStore(in: $0) }
      run.store = environment.store
    }
    run.isAllOrNothing = true
    run.prefetch = 0
    run.maxEmptyPages = Self.maxEmptyPages
    run.details = DetailLoader(of: plugin, self.source, in: environment, invocation, context)
    run.chosen = request.fields
    run.detailsHint = .details
    return run
  }

  /// Fetches the whole page before any of it is written, so that a failure neither loses nor repeats
  /// records.
  private func records(
    of request: NextRequest, _ run: inout ListingRun<P>
  ) async throws(CommandError) -> [P.Item] {
    do throws(SourceError) { return try await run.records() } catch .invalidCursor
      where request.start != nil
    {
      throw file.invalid(nil)
    } catch {
      guard let copied = try await copy(of: &run, request, insteadOf: error) else {
        throw CommandError(error, of: plugin)
      }
      return copied
    }
  }

  /// The selected records, if the listing selects some.
  private func source(
    of request: NextRequest, _ outcome: inout ListingOutcome
  ) async throws(CommandError) -> any DataSource<P.Item> {
    guard let text = request.selection else { return source }
    // A field of an added source may be gone.
    guard
      let selection = try? Selection(
        text, plugin.fields, at: environment.now(), inAnyCase: true)
    else {
      throw file.invalid(nil)
    }
    let verb = request.query.map { "search \($0.text.typed)" } ?? "list"
    try invocation.refuseRefreshOfSelection(or: "\(plugin.name) \(verb)\(text.arguments)")
    return try await plugin.selected(
      by: selection, in: environment, mayBeBundled: !invocation.has(.noFallback), &outcome)
  }

  /// The page from the cached records without those shown before; `nil` unless they are complete.
  private func copy(
    of run: inout ListingRun<P>, _ request: NextRequest, insteadOf reason: SourceError
  ) async throws(CommandError) -> [P.Item]? {
    guard options.cachePolicy.mayFallBack, reason.allowsFallback, request.start != nil,
      !request.excluded.isTruncated, request.selection == nil,
      let store = environment.store
    else { return nil }
    let records = plugin.recordStore(in: store).records.excluding(request.excluded)
    do throws(SourceError) {
      guard try await store.coverage(of: plugin.name).isComplete else { return nil }
      run = run.reading(
        records, because: reason, ListingOutcome(of: plugin, at: environment.now()))
      return try await run.records()
    } catch {
      guard error.code == .cancelled else { return nil }
      throw CommandError(error, of: plugin)
    }
  }

  private func reportEnd() -> ExitCode {
    let command = "\(context.catalog.program) \(file.name.command(.reset))"
    context.diagnostics.note("End of list. Start over: \(command)")
    return .notFound
  }
}
