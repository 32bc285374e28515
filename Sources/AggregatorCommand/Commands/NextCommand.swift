import AggregatorKit

extension Plugin {
  /// `aggregator SOURCE next`.
  ///
  /// - Parameter goesOnAfterEnd: Whether the end is only that of what is known so far, so that the
  ///   source is asked on there.
  /// - Returns: The command.
  func nextCommand(goesOnAfterEnd: Bool) -> Command {
    Command(
      options: Option.position + Option.reading + Option.output, fields: fields,
      notes: [
        "It goes on with the last list or search that was shown on a terminal, or with --session. The "
          + "place moves once the whole page was written, and no two processes get the same page."
      ],
      examples: [
        ("\(name) next", "what comes after the page shown last"),
        ("\(name) next --peek", "the same, without going there"),
        ("\(name) next --reset --session mine", "from the start, with a place of its own"),
      ]
    ) { invocation, session in
      try invocation.refuseArguments()
      return try await NextPage(
        of: self, invocation, session, goesOnAfterEnd: goesOnAfterEnd
      ).show()
    }
  }
}

/// One run of `next`.
private struct NextPage<P: Plugin> {
  private typealias Item = P.Item

  /// So many pages in a row without anything new are enough for one call.
  private static var maxEmptyPages: Int { 10 }

  private let plugin: P
  private let invocation: Invocation
  private let session: Session
  private let goesOnAfterEnd: Bool
  private let move: Option?
  private let output: OutputOptions
  private let environment: PluginEnvironment
  private let reading: ReadingOptions
  private let source: any DataSource<P.Item>
  private let file: SessionPositionFile
  private let explanation: Explanation?

  init(
    of plugin: P, _ invocation: Invocation, _ session: Session, goesOnAfterEnd: Bool
  ) throws(CommandError) {
    self.plugin = plugin
    self.invocation = invocation
    self.session = session
    self.goesOnAfterEnd = goesOnAfterEnd
    move = [.reset, .back, .peek].first(where: invocation.has)
    output = try OutputOptions(invocation, in: session)
    let name = try SessionName(of: plugin.name, invocation)
    explanation = Explanation(invocation, session)
    environment = try session.environment().explained(by: explanation)
    reading = ReadingOptions(invocation)
    source = try reading.source(of: plugin, in: environment, growing: .atEnd)
    file = try SessionPositionFile(
      name, in: Directories(environment.settings, variables: session.variables))
  }

  /// Shows the page, and moves the place.
  func show() async throws -> ExitCode {
    // Places are replaced as a whole, so whoever only looks needs no lock.
    if move == .peek { return try await go() }
    return try await file.holding(within: reading.deadline, clock: environment.clock) {
      try await go()
    }
  }

  private func go() async throws -> ExitCode {
    let place = try read()
    guard let nextPageRequest = try nextPageRequest(from: place) else { return sayEnd() }
    let bounds = try ListingOptions(
      invocation, plugin.policy, hasStore: environment.store != nil,
      isSearch: nextPageRequest.query != nil,
      standardLimit: nextPageRequest.limit ?? ListingOptions.standardLimit)
    let listing = try output.listing(
      "next", of: plugin.name, query: nextPageRequest.query, fields: plugin.fields,
      layout: plugin.layout)
    let first = PageRequest(
      matching: nextPageRequest.query, after: nextPageRequest.start, limit: bounds.pageSize)
    try await explanation?.plan(plugin, first, bounds, reading, in: environment)
    defer { explanation?.conclude() }
    var (items, page, outcome) = try await gather(nextPageRequest, bounds)
    let isEnd =
      items.isEmpty && page.next == nil && nextPageRequest.latest != nil && !outcome.isPartial
    if !isEnd {
      var printer = RecordPrinter(listing, output, in: session)
      try printer.print(items)
      try printer.finish(outcome.summary)
    }
    let command = "\(session.tree.program) \(file.name.command())"
    if move == .peek {
      outcome.continuation = .peek(command)
    } else {
      try file.write(
        nextPageRequest.position(after: page, limit: bounds.bound.items ?? max(page.count, 1)))
      outcome.continuation = .next(command)
    }
    outcome.tell(session.diagnostics, query: nextPageRequest.query)
    if isEnd { return sayEnd() }
    return outcome.isPartial ? .partial : .success
  }

  private func read() throws(CommandError) -> SessionPosition? {
    do throws(CommandError) { return try file.read() } catch let failure
      where failure.code == .notFound && move == .reset
    {
      session.diagnostics.warning(
        "\(failure.message), and what it was about is not known: \(plugin.name) from the start")
      return nil
    }
  }

  /// The way to the page that is to be shown; `nil` at the end.
  private func nextPageRequest(from place: SessionPosition?) throws(CommandError)
    -> NextPageRequest?
  {
    switch (move, place) {
    case (.reset, _): return .beginning(of: place?.query)
    case (.back, nil):
      throw CommandError(
        .notFound, "\(plugin.name): nothing was shown yet", hint: .command(file.name.command()))
    case (.back, let place?):
      guard let nextPageRequest = place.back else {
        throw CommandError(
          .notFound,
          "\(plugin.name): "
            + (place.isTruncated
              ? "no page before this one is remembered" : "there is no page before the first"),
          hint: .command(file.name.command(.reset)))
      }
      return nextPageRequest
    case (_, nil): return .beginning(of: nil)
    case (_, let place?): return place.continuation(goesOnAfterEnd: goesOnAfterEnd)
    }
  }

  /// Fetches the whole page before any of it is written, so that a failure loses nothing and shows
  /// nothing twice.
  private func gather(
    _ nextPageRequest: NextPageRequest, _ bounds: ListingOptions
  ) async throws(CommandError) -> (items: [P.Item], page: ShownPage, outcome: ListingOutcome) {
    var items: [P.Item] = []
    var page = ShownPage(from: nextPageRequest.start)
    var outcome = ListingOutcome(of: plugin, at: environment.now())
    if nextPageRequest.start != nil { outcome.restart = .command(file.name.command(.reset)) }
    let walk = source.excluding(nextPageRequest.excluded).pages(
      matching: nextPageRequest.query, after: nextPageRequest.start, size: bounds.pageSize,
      upTo: bounds.bound, ahead: 0
    ).makeAsyncIterator()
    var emptyPages = 0
    do throws(SourceError) {
      while let step = try await walk.next() {
        items += step.items
        page.add(step)
        outcome.add(step.page, showing: step.items.count)
        if let end = step.end, end != .pageLimit { outcome.end(end) }
        emptyPages = step.items.isEmpty ? emptyPages + 1 : 0
        if emptyPages == Self.maxEmptyPages, step.end == nil {
          outcome.pause(after: emptyPages)
          break
        }
      }
    } catch .invalidCursor where nextPageRequest.start != nil {
      throw file.invalid(nil)
    } catch {
      throw CommandError(error, of: plugin)
    }
    return (items, page, outcome)
  }

  private func sayEnd() -> ExitCode {
    let command = "\(session.tree.program) \(file.name.command(.reset))"
    session.diagnostics.note("that was all: \(command) starts over")
    return .notFound
  }
}
