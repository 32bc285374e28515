import AggregatorArguments
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorSelection
import AggregatorTerminal
import Synchronization

extension Command {
  /// The maximum number of records per source, which fits one page of each.
  private static let maxLimit = 100

  static func search(_ plugins: [any Plugin]) -> Command {
    let example = plugins.dropFirst().first ?? plugins.first
    let query = (example?.example.query ?? "word").typed
    return Command(
      "QUERY…",
      options: [
        .source,
        .limit.with(
          about: "maximum number of records per source (default \(SearchOfSources.defaultLimit))"),
        .condition, .order.with(about: "sort the records by fields"), .count,
      ] + Option.summarizing + Option.reading(timeout: "time limit per source (default 10s)")
        + Option.formatting,
      fields: SearchHit.fields(of: plugins),
      notes: [
        "If a source does not respond within \(SearchOfSources.defaultTime.text) (see --timeout), its local "
          + "data is searched. The exit code is 3 if a source has no answer at all, or less than all, or if one of --source is left out.",
        "--where, --sort, --count, --group-by, --stats and --distinct read cached records, and leave out sources without "
          + "their fields, which is said; "
          + "\"help filters\" tells more. --limit holds for each source, or the groups, and so does --sort in tables of each; with "
          + "--fields, and in other formats, it sorts the records of all. Tables of chosen fields begin with the source. "
          + "Groups and numbers are those of all records found, and --group-by source compares the sources. "
          + "The search of one source can also read all of its service.",
      ],
      examples: [
        ("search \(query)", "search all sources"),
        ("search \(query) --where name~a --sort -name", "search the sources that have names"),
        ("search \(query) --group-by source", "the number of cached matches of each source"),
        (
          "search \(query) --source \(example?.name ?? "") --ndjson",
          "search one source, as JSON lines"
        ),
      ], run: search)
  }

  private static func search(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let example = (context.catalog.plugins.dropFirst().first ?? context.catalog.plugins.first)?
      .example
    let query = try invocation.query(example: "search \((example?.query ?? "word").typed)")
    let plugins = try invocation.sources(in: context)
    let selection = SelectionText(invocation)
    if let selection {
      try selection.requireFields(of: plugins)
      let names = try selection.fieldNames()
      let plugin = plugins.first { Set($0.fieldNames(orTyped: names)).isSuperset(of: names) }
      try invocation.refuseRefreshOfSelection(
        or: "\((plugin ?? plugins[0]).name) search \(query.text.typed)\(selection.arguments)")
    }
    suggestSource(for: invocation.arguments, context)
    let options = SourceOptions(invocation)
    let environment = try context.environment()
    environment.warnIfNoStore(context.diagnostics)
    let output = try OutputOptions(invocation, in: context)
    let values = try FieldSummary(invocation).map { summary in
      try SearchedValues(
        summary, of: plugins, selection ?? SelectionText(conditions: []),
        limit: invocation.count(.limit))
    }
    let limit = invocation.count(.limit) ?? SearchOfSources.defaultLimit
    guard limit <= maxLimit || values != nil else {
      throw CommandError(
        .usage, "invalid value \"\(limit)\" for --limit: must be at most \(maxLimit) per source",
        hint: .command("\(plugins[0].name) search \(query.text.typed) --limit \(limit)"))
    }
    var search = SearchOfSources(
      query, limit: limit, within: options.deadline ?? SearchOfSources.defaultTime,
      options.cachePolicy, chosen: output.fields)
    (search.selection, search.countsOnly) = (selection, invocation.has(.count))
    search.values = values
    var writer = try SearchWriter(search, plugins, output, context)
    let left = Mutex(plugins.map(\.name))
    context.progress.say { "Searching \(left.withLock { $0.joined(separator: ", ") })…" }
    try await withThrowingTaskGroup(of: SourceSearch?.self) { group in
      for plugin in plugins {
        let line = "\(plugin.name) search \(query.text.typed)\(selection?.arguments ?? "")"
        let continuation = context.diagnostics.command(line)
        group.addTask { [search] in
          await plugin.search(search, in: environment, continuation: continuation)
        }
      }
      group.addTask {
        try? await environment.clock.sleep(for: SearchWriter.firstAnswerDelay)
        return nil
      }
      defer { group.cancelAll() }
      for try await found in group {
        if let search = found {
          left.withLock { $0.removeAll { $0 == search.source } }
          try writer.take(search)
        } else {
          try writer.hurry()
        }
        if writer.isComplete { return }
      }
    }
    return try writer.finish(
      suggesting: writer.hasHits ? nil : await suggestion(for: query, plugins, environment))
  }

  private static func suggestion(
    for query: SearchQuery, _ plugins: [any Plugin], _ environment: PluginEnvironment
  ) async -> String? {
    for plugin in plugins {
      if let suggestion = await plugin.suggestion(for: query, in: environment) {
        return suggestion
      }
    }
    return nil
  }

  /// Suggests the source's own search if the first word is the name of a source.
  private static func suggestSource(for words: [String], _ context: CommandContext) {
    guard let name = words.first, words.count > 1, context.catalog.sources.contains(name),
      words.allSatisfy(\.isPlainWord)
    else { return }
    let line = "\(name) search \(words.dropFirst().joined(separator: " "))"
    context.diagnostics.note("To search only \(name): \(context.diagnostics.command(line))")
  }
}

/// Writes results in the order of the sources; on a terminal only for ``firstAnswerDelay``, so that
/// a slow source does not delay the others.
struct SearchWriter {
  static let firstAnswerDelay = Duration.milliseconds(400)

  /// With less, the records of all sources are cards: some have tables that would not fit.
  private static let minWidthForTables = 60

  private let asked: SearchOfSources
  private let names: [String]
  private let output: OutputOptions
  private let context: CommandContext
  private let isGrouped: Bool
  /// The order of the records of all sources; `nil` if each source keeps its place.
  private let order: RecordOrder<SearchHit>?
  private var printer: RecordPrinter<SearchHit>
  private var waiting: [Int: SourceSearch] = [:]
  private var shown: [Int: SourceSearch] = [:]
  private var isHurried = false
  private var hasShownGroup = false
  private var hiddenFields: [String] = []

  init(
    _ search: SearchOfSources, _ plugins: [any Plugin], _ output: OutputOptions,
    _ context: CommandContext
  ) throws(CommandError) {
    asked = search
    self.output =
      context.terminal.width < Self.minWidthForTables ? output.inCards : output
    self.context = context
    names = plugins.map(\.name)
    // The fields to show are those of the summary.
    var listing = try (search.values == nil ? output : output.ofAllFields).listing(
      "search", of: nil, query: search.query,
      fields: search.countsOnly ? SearchHit.ofCounts : SearchHit.fields(of: plugins),
      layout: RecordLayout(card: search.countsOnly ? ["source", "count"] : []))
    listing.object = \.object
    // A person does not see of which source a record is.
    if output.isForPeople, names.count > 1, listing.template == nil, search.values == nil,
      let chosen = listing.chosen, !chosen.contains(where: { $0.name == "source" })
    {
      listing.chosen = listing.fields.filter { $0.name == "source" } + chosen
    }
    isGrouped =
      output.isForPeople && listing.chosen == nil && !search.countsOnly && search.values == nil
    if let typed = search.selection?.order, !isGrouped {
      let sorted = SelectionText(conditions: [], order: typed)
      order = try Selection(sorted, listing.fields, at: Date(), inAnyCase: true).order
    } else {
      order = nil
    }
    printer = RecordPrinter(listing, output, in: context)
  }

  var isComplete: Bool { shown.count == names.count }

  var hasHits: Bool { shown.values.contains { $0.outcome.count > 0 } }

  mutating func take(_ search: SourceSearch) throws {
    guard let index = names.firstIndex(of: search.source) else { return }
    waiting[index] = search
    try showReady()
  }

  mutating func hurry() throws {
    isHurried = output.isForPeople
    try showReady()
    // Hits are shown as they arrive.
    if isHurried { try context.listingOutput.release() }
  }

  mutating func finish(suggesting suggestion: String?) throws -> ExitCode {
    let searches = shown.sorted { $0.key < $1.key }.map(\.value)
    let failures = searches.compactMap(\.failure)
    guard failures.count < searches.count || failures.isEmpty else {
      for failure in failures { context.diagnostics.error(failure) }
      return failures.first?.code ?? .unavailable
    }
    if isGrouped {
      try context.listingOutput.flush()
      context.note(hidden: hiddenFields)
      if asked.selection?.order != nil, searches.count(where: { !$0.hits.isEmpty }) > 1 {
        context.diagnostics.note(
          "The records of each source are sorted; those of all together with --fields")
      }
    } else {
      try printAll(searches)
    }
    if asked.countsOnly {
      let count = searches.reduce(0) { $0 + $1.outcome.number }
      context.diagnostics.note("\(count.of("record")) counted")
    }
    for note in searches.compactMap(\.outcome.firstPage) { context.diagnostics.note(note) }
    for search in searches where !search.hits.isEmpty {
      search.outcome.reportAmount(to: context.diagnostics, isNamed: true)
    }
    let without = searches.filter { search in
      search.outcome.count == 0 && search.failure == nil && !search.isLeftOut
        && !search.outcome.foundNothingYet
    }
    let empty = without.map(\.source)
    if !empty.isEmpty {
      // Those of a filter are not all that match.
      let isFiltered = searches.contains { $0.outcome.subject != $0.source }
      let records = empty.recordsOfAny
      let words = isFiltered ? "matching \(records) for" : "\(records) match"
      context.diagnostics.note(
        "No \(words) \"\(asked.query.text.fitted(to: 80))\"\(Self.part(of: without))\(suggestion.didYouMean)"
      )
    }
    reportRemarks(searches)
    reportFailures(searches)
    // A source that was named must answer.
    let isNamed = context.invocation.has(.source)
    return searches.contains {
      $0.failure != nil || $0.outcome.code != .success || isNamed && $0.isLeftOut
    } ? .partial : .success
  }

  /// The part of the records of sources without a match that was searched, in words; empty for all of them.
  private static func part(of searches: [SourceSearch]) -> String {
    // Of these, all that is known is that samples have no match.
    let sampled = searches.filter { $0.origin == .bundled }.map(\.source)
    guard sampled.count < searches.count else { return " in bundled sample data" }
    let partial = searches.filter { search in
      search.origin != .bundled
        && search.outcome.allRemarks.contains(where: \.warning.tellsOfMissingData)
    }
    // The warnings of these say how much.
    let parts = [
      ("bundled sample data", sampled), ("a part", partial.map(\.source)),
    ].filter { !$0.1.isEmpty }.map { "\($0) of \($1.joined(separator: ", "))" }
    return parts.isEmpty ? "" : " (only \(parts.joined(separator: ", and ")))"
  }

  /// Prints the records of all sources, or their summary, after those that are printed already.
  private mutating func printAll(_ searches: [SourceSearch]) throws {
    var summary = ListingSummary(joining: searches.map(\.answer))
    if let values = asked.values {
      let listing = SummaryListing(
        verb: "search", source: nil, query: asked.query.text, limit: values.limit, output: output,
        context: context)
      return try listing.print(values.rows, summary)
    }
    let hits = searches.flatMap(\.hits)
    if output.isForPeople || order != nil { try printer.print(order?.sorted(hits) ?? hits) }
    summary.count = hits.count
    try printer.finish(summary)
  }

  private mutating func showReady() throws {
    for index in names.indices where shown[index] == nil {
      guard let search = waiting.removeValue(forKey: index) else {
        guard isHurried else { return }
        continue
      }
      shown[index] = search
      // If all sources fail, nothing is written.
      guard search.failure == nil else { continue }
      if isGrouped {
        try showGroup(search)
      } else if !output.isForPeople, order == nil, asked.values == nil {
        // The columns of a table are measured together.
        try printer.print(search.hits)
      }
    }
  }

  private mutating func showGroup(_ search: SourceSearch) throws {
    guard !search.hits.isEmpty else { return }
    let origin = search.origin.flatMap { $0 == .live ? nil : " · \($0.rawValue)" } ?? ""
    let heading = context.terminalLayout.style(.heading, search.source + origin)
    try context.listingOutput.write("\(hasShownGroup ? "\n" : "")\(heading)\n")
    hasShownGroup = true
    hiddenFields += try search.printTable(output, context)
  }

  /// Reports failures, each once for all sources that share it.
  private func reportFailures(_ searches: [SourceSearch]) {
    var reported: [(words: String, hint: Hint?, sources: [String])] = []
    for search in searches {
      guard let failure = search.failure else { continue }
      let words = String(failure.message.trimmingPrefix("\(search.source): "))
      if let index = reported.firstIndex(where: { $0.words == words }) {
        reported[index].sources.append(search.source)
        // That of one of them would leave out the others.
        if reported[index].hint != failure.hint { reported[index].hint = nil }
      } else {
        reported.append((words, failure.hint, [search.source]))
      }
    }
    for (words, hint, sources) in reported {
      context.diagnostics.warning("\(sources.joined(separator: ", ")): \(words)", hint: hint)
    }
  }

  /// Reports remarks, each once for all sources that share it.
  ///
  /// On a terminal, bundled data is one remark whatever the reason of each source is, unless a command mends it: the
  /// warnings would be longer than the hits.
  private func reportRemarks(_ searches: [SourceSearch]) {
    let isBrief = context.diagnostics.isForPeople
    var reported: [(key: Warning, remarks: [ListingOutcome.Remark], sources: [String])] = []
    for search in searches {
      for remark in search.outcome.allRemarks {
        let key = isBrief ? remark.withoutReason : remark.warning
        if let index = reported.firstIndex(where: { $0.key == key }) {
          reported[index].remarks.append(remark)
          reported[index].sources.append(search.source)
        } else {
          reported.append((key, [remark], [search.source]))
        }
      }
    }
    for (key, remarks, sources) in reported {
      let names = sources.joined(separator: ", ")
      if let first = remarks.first, remarks.allSatisfy({ $0.warning == first.warning }) {
        first.report(context.diagnostics, of: names)
      } else {
        context.diagnostics.warning("\(names): \(key.message)", hint: .command("sources check"))
      }
    }
  }
}

extension ListingOutcome.Remark {
  /// The warning of bundled data without its reason, unless the hint is a command for the source; else all of it.
  fileprivate var withoutReason: Warning {
    switch hint {
    case .words?, nil:
      guard warning.code == .bundled else { return warning }
      return Warning(.bundled, warning.message.prefix { $0 != "(" }.trimmed)
    default: return warning
    }
  }
}
