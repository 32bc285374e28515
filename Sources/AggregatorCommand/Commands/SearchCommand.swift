import AggregatorKit
import Synchronization

extension CommandTree.Node {
  /// `aggregator search QUERY…`.
  static func search(_ plugins: [any Plugin]) -> CommandTree.Node {
    CommandTree.Node("search", "Search all sources at once", .search(plugins))
  }
}

extension Command {
  /// How long what asks all sources takes at most, where nobody says.
  static let usualTimeOfAll = Duration.seconds(10)

  /// How many records of each source, where nobody says.
  private static let usualLimit = 5

  /// How many at most: as many as one page of each has.
  private static let mostLimit = 100

  fileprivate static func search(_ plugins: [any Plugin]) -> Command {
    let example = plugins.dropFirst().first ?? plugins.first
    let query = example?.example.query ?? "word"
    return Command(
      "QUERY…", options: [.source, .limit] + Option.reading + Option.output,
      fields: SearchHit.fields(of: plugins),
      notes: [
        "Each source gives its first \(usualLimit), or --limit. After \(usualTimeOfAll.text), or "
          + "--timeout, a source answers with what is at hand. The exit code is 3 if a service failed."
      ],
      examples: [
        ("search \(query)", "in all sources"),
        ("search \(query) --source \(example?.name ?? "") --ndjson", "in some, for a program"),
      ]
    ) { invocation, session in
      try await search(invocation, session)
    }
  }

  private static func search(
    _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    guard !invocation.arguments.isEmpty else {
      throw CommandError(.usage, "what to look for is missing", hint: .command("search WORD…"))
    }
    let query: Query
    do throws(SourceError) { query = try Query(invocation.arguments.joined(separator: " ")) } catch
    {
      throw CommandError(error)
    }
    let plugins = try sources(invocation, session)
    tellOfSource(in: invocation.arguments, session)
    let reading = ReadingOptions(invocation)
    let environment = try session.environment()
    environment.warnIfNoStore(session.diagnostics)
    let limit = invocation.count(.limit) ?? usualLimit
    guard limit <= mostLimit else {
      throw CommandError(
        .usage, "a search of all sources gives at most \(mostLimit) of each",
        hint: .command("\(plugins[0].name) search \(query.text.typed) --limit \(limit)"))
    }
    let time = reading.deadline ?? usualTimeOfAll
    var writer = try SearchWriter(query, plugins, OutputOptions(invocation, in: session), session)
    let left = Mutex(plugins.map(\.name))
    session.progress.say { "waiting for \(left.withLock { $0.joined(separator: ", ") })" }
    try await withThrowingTaskGroup(of: (Int, SourceSearch)?.self) { group in
      for (index, plugin) in plugins.enumerated() {
        let continuation = session.diagnostics.command("\(plugin.name) search \(query.text.typed)")
        group.addTask {
          let found = await plugin.search(
            query, limit: limit, within: time, reading, in: environment, continuation: continuation)
          return (index, found)
        }
      }
      group.addTask {
        try? await environment.clock.sleep(for: SearchWriter.firstAnswerDelay)
        return nil
      }
      defer { group.cancelAll() }
      for try await found in group {
        if let (index, search) = found {
          left.withLock { $0.removeAll { $0 == search.source } }
          try writer.take(search, at: index)
        } else {
          try writer.hurry()
        }
        if writer.isComplete { return }
      }
    }
    return try writer.finish()
  }

  /// Tells whoever began with a source's name how to search that source.
  private static func tellOfSource(in words: [String], _ session: Session) {
    guard let name = words.first, words.count > 1, session.tree.sources.contains(name),
      words.allSatisfy(\.isPlainWord)
    else { return }
    let line = "\(name) search \(words.dropFirst().joined(separator: " "))"
    session.diagnostics.note("in \(name) alone: \(session.diagnostics.command(line))")
  }

  /// The sources to search, in the order of the program.
  private static func sources(
    _ invocation: Invocation, _ session: Session
  ) throws(CommandError) -> [any Plugin] {
    guard let names = invocation.list(.source) else { return session.tree.plugins }
    guard !names.isEmpty else { throw CommandError(.usage, "--source names no source") }
    for name in names { _ = try session.tree.plugin(named: name) }
    return session.tree.plugins.filter { names.contains($0.name) }
  }
}

/// Writes what the sources of a search find, in the order of the sources.
///
/// A program gets that order whatever happens. A person does not wait for a slow source: after a short
/// while what is there is shown, and what comes later follows.
struct SearchWriter {
  /// How long the order is kept for a person.
  static let firstAnswerDelay = Duration.milliseconds(400)

  private let query: Query
  private let names: [String]
  private let output: OutputOptions
  private let session: Session
  private let isGrouped: Bool
  private var printer: RecordPrinter<SearchHit>
  private var waiting: [Int: SourceSearch] = [:]
  private var shown: [Int: SourceSearch] = [:]
  private var isHurried = false
  private var hasShownGroup = false

  /// A writer.
  init(
    _ query: Query, _ plugins: [any Plugin], _ output: OutputOptions, _ session: Session
  ) throws(CommandError) {
    self.query = query
    self.output = output
    self.session = session
    names = plugins.map(\.name)
    var listing = try output.listing(
      "search", of: nil, query: query, fields: SearchHit.fields(of: plugins),
      layout: Layout(card: []))
    listing.object = \.object
    isGrouped = output.isForPeople && listing.chosen == nil
    printer = RecordPrinter(listing, output, in: session)
  }

  /// Whether every source has been shown.
  var isComplete: Bool { shown.count == names.count }

  /// Takes what a source found, and shows what may be shown.
  mutating func take(_ search: SourceSearch, at index: Int) throws {
    waiting[index] = search
    try showReady()
  }

  /// Keeps a person waiting no longer for those that come first.
  mutating func hurry() throws {
    isHurried = output.isForPeople
    try showReady()
  }

  /// Says what is left to be said.
  mutating func finish() throws -> ExitCode {
    let searches = shown.sorted { $0.key < $1.key }.map(\.value)
    let failures = searches.compactMap(\.failure)
    guard failures.count < searches.count || failures.isEmpty else {
      for failure in failures { session.diagnostics.error(failure) }
      return failures.first?.code ?? .unavailable
    }
    if !isGrouped {
      var summary = ListingSummary(count: searches.reduce(0) { $0 + $1.hits.count })
      summary.provenance = CombinedProvenance(
        joining: searches.compactMap(\.outcome.summary.provenance))
      summary.warnings = searches.flatMap(\.outcome.summary.warnings)
      summary.sources = searches.map { JSON.Member($0.source, $0.json) }
      try printer.finish(summary)
    }
    for search in searches where !search.hits.isEmpty {
      search.outcome.tellAmount(session.diagnostics, isNamed: true)
    }
    let empty = searches.filter { $0.hits.isEmpty && $0.failure == nil }.map(\.source)
    if !empty.isEmpty {
      session.diagnostics.note(
        "no \(empty.joined(separator: ", ")) match '\(query.text.fitted(to: 80))'")
    }
    tellRemarks(searches)
    for failure in failures {
      session.diagnostics.warning(failure.message, hint: failure.hint)
    }
    return searches.contains { $0.hasServiceFailed || $0.outcome.isPartial } ? .partial : .success
  }

  private mutating func showReady() throws {
    for index in names.indices where shown[index] == nil {
      guard let search = waiting.removeValue(forKey: index) else {
        guard isHurried else { return }
        continue
      }
      shown[index] = search
      // If nobody answers, nothing is written.
      guard search.failure == nil else { continue }
      if isGrouped { try showGroup(search) } else { try printer.print(search.hits) }
    }
  }

  private mutating func showGroup(_ search: SourceSearch) throws {
    guard !search.hits.isEmpty else { return }
    let origin = search.origin.flatMap { $0 == .live ? nil : " · \($0.rawValue)" } ?? ""
    let heading = session.terminalLayout.style(.heading, search.source + origin)
    try session.output.write("\(hasShownGroup ? "\n" : "")\(heading)\n")
    hasShownGroup = true
    try search.printTable(output, session)
  }

  /// Tells what the records alone do not; what is so for several sources is told once.
  private func tellRemarks(_ searches: [SourceSearch]) {
    var told: [(remark: ListingOutcome.Remark, sources: [String])] = []
    for search in searches {
      for remark in search.outcome.allRemarks {
        if let index = told.firstIndex(where: { $0.remark.warning == remark.warning }) {
          told[index].sources.append(search.source)
        } else {
          told.append((remark, [search.source]))
        }
      }
    }
    for (remark, sources) in told {
      remark.tell(session.diagnostics, of: sources.joined(separator: ", "))
    }
  }
}
