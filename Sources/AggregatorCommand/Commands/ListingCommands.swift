import AggregatorKit

extension Plugin {
  /// `aggregator SOURCE list`.
  var listCommand: Command {
    Command(
      options: Option.listing + Option.reading + Option.output, fields: fields,
      examples: [
        ("\(name) list", "the first 20"),
        ("\(name) list --limit 5 --json", "five, for a program"),
        ("\(name) list --all --offline", "all that is at hand, without the network"),
      ]
    ) { invocation, session in
      try invocation.refuseArguments()
      return try await list("list", matching: nil, invocation, session)
    }
  }

  /// `aggregator SOURCE search QUERY…`.
  var searchCommand: Command {
    Command(
      "QUERY…", options: Option.listing + Option.reading + Option.output, fields: fields,
      notes: ["Words are joined by spaces. Case and accents do not matter in local search."],
      examples: [("\(name) search \(example.query)", "those that match")]
    ) { invocation, session in
      guard !invocation.arguments.isEmpty else {
        throw CommandError(
          .usage, "what to look for is missing", hint: .command("\(name) search WORD…"))
      }
      let query: Query
      do throws(SourceError) {
        query = try Query(invocation.arguments.joined(separator: " "))
      } catch {
        throw CommandError(error)
      }
      return try await list("search", matching: query, invocation, session)
    }
  }

  private func list(
    _ verb: String, matching query: Query?, _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    let output = try OutputOptions(invocation, in: session)
    let listing = try output.listing(
      verb, of: name, query: query, fields: fields, layout: layout)
    let explanation = Explanation(invocation, session)
    let environment = try session.environment().explained(by: explanation)
    let bounds = try ListingOptions(
      invocation, policy, hasStore: environment.store != nil, isSearch: query != nil)
    environment.warnIfNoStore(session.diagnostics)
    let reading = ReadingOptions(invocation)
    let source = try reading.source(of: self, in: environment)
    let first = PageRequest(matching: query, after: bounds.cursor, limit: bounds.pageSize)
    try await explanation?.plan(self, first, bounds, reading, in: environment)
    defer { explanation?.conclude() }
    let keeper = try SessionPositionKeeper(
      SessionName(of: name, invocation), for: environment, waiting: reading.deadline, in: session,
      isWanted: invocation.has(.session))

    var page = ShownPage(from: bounds.cursor)
    var printer = RecordPrinter(listing, output, in: session)
    var outcome = ListingOutcome(of: self, at: environment.now())
    outcome.offersAll = !invocation.has(.all)
    outcome.canGrow = policy.readOrder == .localFirst
    let walk = source.pages(
      matching: query, after: bounds.cursor, size: bounds.pageSize, upTo: bounds.bound
    ).makeAsyncIterator()
    while true {
      let step: PaginationStep<Item>?
      do { step = try await walk.next() } catch {
        guard outcome.hasAnswer else { throw CommandError(error, of: self) }
        outcome.fail(error)
        break
      }
      guard let step else { break }
      outcome.add(step.page, showing: step.items.count)
      page.add(step)
      if let end = step.end, end != .pageLimit || bounds.isCapped { outcome.end(end) }
      try printer.print(step.items)
    }
    try printer.finish(outcome.summary)
    let limit = bounds.bound.items ?? max(page.count, 1)
    if let command = await keeper?.keep(
      NextPageRequest.beginning(of: query).position(after: page, limit: limit))
    {
      outcome.continuation = .listing(command)
    }
    outcome.tell(session.diagnostics, query: query)
    return outcome.isPartial ? .partial : .success
  }
}
