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
      NextPageRequest.beginning(of: query).place(after: page, limit: limit))
    {
      outcome.continuation = .listing(command)
    }
    outcome.tell(session.diagnostics, query: query)
    return outcome.isPartial ? .partial : .success
  }
}

/// What the options say about how much is listed.
struct ListingOptions {
  /// Where to start.
  let cursor: Cursor?

  /// How far to go.
  let bound: PaginationBound

  /// How many records to ask for at a time.
  let pageSize: Int

  /// Whether ending at the bound on pages means that something asked for is missing.
  let isCapped: Bool

  /// How many pages at most; `nil` for no bound.
  var mostPages: Int? { bound.pages ?? bound.items.map { ($0 + pageSize - 1) / pageSize } }

  /// How many records a page has where nobody says so.
  static let standardLimit = 20

  private static let standardMaxPages = 25

  /// Reads ``Option/listing``.
  ///
  /// - Parameters:
  ///   - invocation: What was typed.
  ///   - policy: How the source is treated. A listing asks for as many records at a time as it wants
  ///     and the service gives, so that it costs the fewest requests.
  ///   - hasStore: Whether records are kept; if not, a source that would begin with those has no end.
  ///   - isSearch: Whether something is looked for. Where that is done among records that do not match,
  ///     a page that is not full means that the search stopped, and no more are asked for.
  ///   - standardLimit: How many records are listed where nobody says so.
  /// - Throws: ``CommandError`` with code `usage`.
  init(
    _ invocation: Invocation, _ policy: Policy, hasStore: Bool, isSearch: Bool,
    standardLimit: Int = ListingOptions.standardLimit
  ) throws(CommandError) {
    cursor = try invocation.text(.cursor).map { text throws(CommandError) in
      guard let cursor = Cursor(text) else { throw CommandError(SourceError.damaged(text)) }
      return cursor
    }
    let largestPage = policy.largestPage
    let isStored = policy.readOrder == .localFirst && hasStore
    let isScan = isSearch && policy.localSearchBound != nil && !isStored
    let maxPages = invocation.count(.maxPages)
    isCapped = invocation.has(.all) || maxPages != nil
    if invocation.has(.all) {
      // All that is stored costs no request.
      let pages = maxPages ?? (isStored ? 0 : Self.standardMaxPages)
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
