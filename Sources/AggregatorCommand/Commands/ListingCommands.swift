import AggregatorKit

extension Plugin {
  var listCommand: Command {
    Command(
      options: Option.listing + Option.reading + Option.output, fields: fields,
      examples: [
        ("\(name) list", "the first 20 \(name)"),
        ("\(name) list --limit 5 --json", "the first 5 \(name) as JSON"),
        ("\(name) list --all --offline", "all cached or bundled \(name)"),
      ]
    ) { invocation, session in
      try invocation.refuseArguments()
      return try await list("list", matching: nil, invocation, session)
    }
  }

  var searchCommand: Command {
    Command(
      "QUERY…", options: Option.listing + Option.reading + Option.output, fields: fields,
      notes: ["Arguments are joined with spaces. Local search ignores case and accents."],
      examples: [("\(name) search \(example.query)", "\(name) that match \"\(example.query)\"")]
    ) { invocation, session in
      let query = try invocation.query(example: "\(name) search \(example.query.typed)")
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
    let options = SourceOptions(invocation)
    let source = try options.source(of: self, in: environment)
    let first = PageRequest(matching: query, after: bounds.cursor, limit: bounds.pageSize)
    try await explanation?.plan(self, first, bounds, options, in: environment)
    defer { explanation?.conclude() }
    let keeper = try SessionPositionKeeper(
      SessionName(of: name, invocation), for: environment, waiting: options.deadline, in: session,
      isWanted: invocation.has(.session))

    var page = ShownPage(from: bounds.cursor)
    var printer = RecordPrinter(listing, output, in: session)
    var outcome = ListingOutcome(of: self, at: environment.now())
    outcome.offersAll = !invocation.has(.all)
    outcome.canGrow = policy.readOrder == .localFirst
    let pages = source.pages(
      matching: query, after: bounds.cursor, size: bounds.pageSize, upTo: bounds.bound
    ).makeAsyncIterator()
    while true {
      let step: PaginationStep<Item>?
      do { step = try await pages.next() } catch {
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
    outcome.report(to: session.diagnostics, query: query)
    return outcome.isPartial ? .partial : .success
  }
}

struct ListingOptions {
  let cursor: Cursor?

  let bound: PaginationBound
  let pageSize: Int

  /// True if reaching the limit of pages makes the result incomplete.
  let isCapped: Bool

  /// The maximum number of pages; `nil` for no limit.
  var maxPages: Int? { bound.pages ?? bound.items.map { ($0 + pageSize - 1) / pageSize } }

  static let standardLimit = 20

  private static let standardMaxPages = 25

  /// Pages are as large as the limit and the service allow, which takes the fewest requests.
  ///
  /// A search that scans the service's records ends at a page that is not full: its bound is reached.
  /// Without a store a local-first source is unbounded. Errors have the code `usage`.
  init(
    _ invocation: Invocation, _ policy: Policy, hasStore: Bool, isSearch: Bool,
    standardLimit: Int = ListingOptions.standardLimit
  ) throws(CommandError) {
    cursor = try invocation.text(.cursor).map { text throws(CommandError) in
      guard let cursor = Cursor(text) else { throw CommandError(SourceError.damaged(text)) }
      return cursor
    }
    let largestPage = policy.largestPage
    let isCached = policy.readOrder == .localFirst && hasStore
    let isScan = isSearch && policy.localSearchBound != nil && !isCached
    let maxPages = invocation.count(.maxPages)
    isCapped = invocation.has(.all) || maxPages != nil
    if invocation.has(.all) {
      // Cached records take no requests.
      let pages = maxPages ?? (isCached ? 0 : Self.standardMaxPages)
      bound = PaginationBound(pages: pages == 0 ? nil : pages)
      pageSize = largestPage
    } else {
      let limit = invocation.count(.limit) ?? standardLimit
      pageSize = min(limit, largestPage)
      let fullPages = (limit + pageSize - 1) / pageSize
      let pages = maxPages == 0 ? nil : maxPages ?? (isScan ? fullPages : nil)
      bound = PaginationBound(items: limit, pages: pages)
    }
  }
}
