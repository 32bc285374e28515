import AggregatorArguments
package import AggregatorKit
import AggregatorLaws
import AggregatorQueries
import AggregatorTerminal
import Synchronization

extension Command {
  /// The most requests to a service for its laws.
  fileprivate static let maxLawRequests = 60

  /// The number of pages in which a list is read that has as many records as it says.
  fileprivate static let lawPages = 5

  /// The most pages of a list that a law reads: several laws together stay within ``maxLawRequests``.
  fileprivate static let maxLawPages = 8

  static func checkSources(_ plugins: [any Plugin]) -> Command {
    Command(
      "[SOURCE…]", words: CompletionSource.severalSources(plugins),
      options: [
        .laws, .timeout.with(about: "time limit per source (default 10s)"), .record, .replay,
      ] + Option.formatting, fields: SourceCheck.fields,
      notes: [
        "Requests one page from each service and checks its records, and prints a line for each: the "
          + "response time, the origin of a list now, and the number of cached records; with --verbose all "
          + "that is known. A page with rows that cannot be read, or a last sync that failed or came to its end without "
          + "all records, is incomplete. The exit code is that of the most severe failure.",
        "With --laws, checks the laws of paging, search and lookup: at most \(maxLawRequests) requests to each "
          + "service, at its rate limit, in pages so small that a short list has several. What cannot be known of the "
          + "service is not applicable, with the reason. The exit code is 3 if a law is violated.",
      ],
      examples: plugins.suffix(1).map {
        ("sources check \($0.name) --json", "check one source, as JSON")
      },
      run: checkSources)
  }

  private static func checkSources(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    var plugins = context.catalog.plugins
    if !invocation.arguments.isEmpty {
      plugins = try invocation.arguments.map { name throws(CommandError) in
        try context.catalog.plugin(named: name)
      }
    }
    let output = try OutputOptions(invocation, in: context)
    let environment = try context.environment()
    environment.warnIfNoStore(context.diagnostics)
    if invocation.has(.laws) {
      return try await checkLaws(of: plugins, invocation, output, environment, context)
    }
    let time = invocation.duration(.timeout) ?? SearchOfSources.defaultTime
    let left = Mutex(plugins.map(\.name))
    context.progress.say { "Checking \(left.withLock { $0.joined(separator: ", ") })…" }
    let checks = await plugins.concurrentMap { plugin in
      let check = await plugin.check(in: environment, within: time)
      left.withLock { $0.removeAll { $0 == plugin.name } }
      return check
    }
    if output.isForPeople, output.fields == nil, !invocation.has(.verbose) {
      try context.listingOutput.write(
        checks.rows(on: context.terminalLayout, hasUTF8: context.terminal.hasUTF8))
      try context.listingOutput.flush()
    } else {
      try RecordPrinter.print(
        checks, as: output.plainListing("check", SourceCheck.self, shape: .cards), output,
        in: context)
    }
    for (check, plugin) in zip(checks, plugins) {
      for remark in check.remarks { context.diagnostics.warning("\(plugin.name): \(remark)") }
      guard let error = check.failure else { continue }
      context.diagnostics.warning(
        "\(plugin.name): \(error.message)", hint: error.hint(settings: plugin.settings))
    }
    return checks.map(\.code).max { $0.severity < $1.severity } ?? .success
  }

  static func checkLaws(
    of plugins: [any Plugin], _ invocation: Invocation, _ output: OutputOptions,
    _ environment: PluginEnvironment, _ context: CommandContext
  ) async throws -> ExitCode {
    var entries: [LawEntry] = []
    var isPassed = true
    for plugin in plugins {
      context.progress.say { "Checking \(plugin.name)…" }
      let (report, requests) = try await plugin.checkLaws(
        in: environment, within: invocation.duration(.timeout))
      entries += report.entries.map { LawEntry($0, of: plugin.name) }
      isPassed = isPassed && report.violations.isEmpty && report.inconclusive.isEmpty
      context.diagnostics.note(
        "\(plugin.name): \(requests) of at most \(maxLawRequests) requests")
    }
    try RecordPrinter.print(
      entries, as: output.plainListing("laws", LawEntry.self), output, in: context)
    return isPassed ? .success : .partial
  }
}

extension ExitCode {
  /// The rank among exit codes, the most severe last.
  fileprivate var severity: Int {
    let order: [ExitCode] = [
      .success, .partial, .tryLater, .unavailable, .io, .notUnderstood, .key, .settings,
    ]
    return order.firstIndex(of: self) ?? order.count
  }
}

/// The result of `sources check` for one source.
package struct SourceCheck: Entry {
  package let id: String
  let key: String
  let settings: [String]
  /// The records of a page as the laws judge them, or the failure of the service.
  let page: Result<LawReport, SourceError>
  /// The warnings about the page.
  let pageRemarks: [String]
  /// The reasons that the page lacks records of the service, or may; `nil` if it does not.
  let pageShortfall: Shortfall?
  /// The reason that the last finished sync, or a list since, may lack records, or that others are cached; `nil` if there is
  /// none, or if the page or the failure of the sync says it.
  let shortfall: Shortfall?
  /// The failure of the last sync; `nil` if it had none.
  package let syncFailure: String?
  /// True if the page or the last sync lacks records, or may.
  let isIncomplete: Bool
  let time: Duration
  let stored: StoreStatus?
  /// `nil` if a list fails.
  let origin: Provenance.Origin?

  package var failure: SourceError? { page.failure }

  /// The warnings about the page and the last sync.
  var remarks: [String] {
    pageRemarks
      + [
        shortfall.map { $0.isExcess ? "\($0)" : "the last sync may lack records: \($0)" },
        syncFailure,
      ].compactMap(\.self)
  }

  private var report: LawReport? { try? page.get() }

  /// The first violation of a law, in words.
  package var violation: String? { report?.violations.first?.details }

  package var isSound: Bool { report?.violations.isEmpty == true }

  var isOK: Bool { isSound && !isIncomplete }

  var status: String {
    failure != nil ? "failed" : isOK ? "ok" : isSound ? "incomplete" : "inconsistent"
  }

  var code: ExitCode { failure.map(ExitCode.init) ?? (isOK ? .success : .partial) }

  package var milliseconds: Int? { failure == nil ? Int(time / .milliseconds(1)) : nil }

  private var laws: [String] { report?.entries.map { "\($0.law.name): \($0.verdict)" } ?? [] }

  package static let fields: [Field<SourceCheck>] = [
    Field("source", "Source", \.id, about: "The source."),
    Field(
      "status", "Status", \.status,
      about: "ok, incomplete (records are missing), inconsistent (laws violated) or failed."),
    Field("key", "Key", \.key, about: "The API key: set, missing or not needed."),
    Field("settings", "Settings", \.settings, about: "The settings and their origins."),
    Field("service", "Service", .text, about: "The response of the service: ok, or the error.") {
      .string($0.failure?.message ?? "ok")
    },
    Field("milliseconds", "Latency", \.milliseconds, about: "The response time of a page in ms."),
    Field("laws", "Laws", \.laws, about: "The laws checked, with violations."),
    Field("records", "Cached", \.stored?.records, about: "The number of cached records."),
    Field(
      "fetchedAt", "Last fetched", \.stored?.fetchedAt?.iso8601,
      about: "Time of the newest fetched page."),
    Field(
      "origin", "Origin", \.origin?.rawValue,
      about: "The origin of a list now: live, cached or bundled; none if it fails."),
    Field("exitCode", "Exit code", .integer, about: "The exit code for this source alone.") {
      .integer(Int($0.code.rawValue))
    },
  ]
}

extension Plugin {
  /// Requests a page from the service, checks its records, and inspects the store.
  package func check(
    in environment: PluginEnvironment, within time: Duration
  ) async -> SourceCheck {
    let start = ContinuousClock.now
    let requests = Mutex<Duration?>(nil)
    var environment = environment
    environment.observer = environment.observer.also { event in
      guard case .received(_, _, let time, _) = event else { return }
      requests.withLock { $0 = ($0 ?? .zero) + time }
    }
    let page = await Result { () async throws(SourceError) in
      if let fed = try await firstFedRecords(in: environment, maxSilence: time) {
        return Page(fed, provenance: Provenance(.live))
      }
      return try await live(in: environment, deadline: time).page(PageRequest(limit: 5))
    }
    // Not the wait for a rate limit, or for the other checks; a tap sends no request of ours.
    let taken = requests.withLock(\.self) ?? (ContinuousClock.now - start)
    let stored = try? await environment.store?.status(of: name)
    let report = await Result { () async throws(SourceError) in
      await judge(try page.get().records)
    }
    let first = try? page.get()
    var remarks = (first?.warnings ?? []).map(\.message)
    let unreadable = Shortfall.unreadable(first?.unreadable.count ?? 0)
    if let unreadable { remarks.append(unreadable.description) }
    let coverage = try? await environment.store?.coverage(of: name)
    let failure = try? await environment.store?.syncFailure(of: name)
    // The page may have said it, or the failure does.
    let shortfall = coverage?.gap.flatMap { shortfall in
      let words = shortfall.description
      return remarks.contains(words) || failure.map(words.hasPrefix) == true ? nil : shortfall
    }
    return SourceCheck(
      id: name, key: keyState(environment.settings), settings: shownSettings(environment.settings),
      page: report, pageRemarks: remarks,
      pageShortfall: Shortfall(first?.warnings ?? []) + unreadable, shortfall: shortfall,
      syncFailure: failure.map { "the last sync failed: \($0)" },
      isIncomplete: unreadable != nil || coverage?.gap != nil || failure != nil
        || first?.warnings.contains { $0.meansIncomplete } == true,
      time: taken, stored: stored,
      origin: await answer(
        isLive: page.failure == nil, hasStored: (stored?.records ?? 0) > 0, in: environment))
  }

  private func judge(_ records: [Item]) async -> LawReport {
    let source = BundledSource("\(name).sample", items: records, fields: fields)
    return await LawReport(
      on: LawSubject("\(name).sample", source: source, fields: fields), of: Law.ofRecords)
  }

  private func answer(
    isLive: Bool, hasStored: Bool, in environment: PluginEnvironment
  ) async -> Provenance.Origin? {
    let first = PageRequest(limit: min(ListingBounds.standardLimit, policy.largestPage))
    let isFresh = await cachedAnswer(to: first, in: environment) != nil
    let isStored = isFresh || hasStored && !isLive
    return isStored ? .cached : isLive ? .live : hasBundled ? .bundled : nil
  }

  /// Checks the laws that few requests are enough for, without the store.
  fileprivate func checkLaws(
    in environment: PluginEnvironment, within deadline: Duration?
  ) async throws(CommandError) -> (LawReport, requests: Int) {
    let counter = RequestCounter(atMost: Command.maxLawRequests)
    var environment = counter.observed(environment)
    // A tap has no pages, no searches and no lookups.
    let fed = await Result { () async throws(SourceError) in
      try await firstFedRecords(in: environment, maxSilence: deadline)
    }
    if let records = try CommandError.wrapping(of: self, try fed.get()) {
      return (await judge(records), 0)
    }
    func live() throws(CommandError) -> any DataSource<Item> {
      try CommandError.wrapping(of: self, try self.live(in: environment, deadline: deadline))
    }
    var bound = PaginationBound(pages: Command.maxLawPages)
    if !policy.isEndless, let page = try? await live().page(PageRequest(limit: policy.largestPage))
    {
      environment.pageSize = page.sizeOfPages(Command.lawPages)
      // Pages of the service that are larger than requested are read in several parts.
      bound = PaginationBound(items: max(page.records.count, 1) * Command.maxLawPages)
    }
    let source = try live()
    var subject = LawSubject(name, source: source, fields: fields)
    // The placeholder of a source without an example is no query.
    subject.query = example == .unknown ? nil : try? SearchQuery(example.query)
    subject.search = policy.localSearchBound == nil ? .service : .none
    subject.isEndless = policy.isEndless
    subject.repeatsRecords = policy.repeatsRecords
    subject.secrets = secrets(in: environment.settings)
    subject.bound = bound
    subject.pageSize = nil
    subject.sizes = [environment.pageSize ?? policy.largestPage]
    subject.smallSize = subject.sizes[0]
    subject.sample = bundled
    subject.requestCounter = counter
    subject.isRemote = true
    subject.mayChange = true
    return (await LawReport(on: subject, of: Law.ofServices), counter.requestCount)
  }
}

extension Page {
  /// The size in which the list of this first page has so many pages; `nil` if that is larger, or unknown.
  fileprivate func sizeOfPages(_ count: Int) -> Int? {
    let known = total ?? (next == nil ? records.count : nil)
    let size = known.map { ($0 + count - 1) / count }
    return size.flatMap { 1...max(records.count, 1) ~= $0 ? $0 : nil }
  }
}

extension [SourceCheck] {
  /// One line a source: `✓ heroes    82 ms  live   107 cached`.
  func rows(on layout: TerminalLayout, hasUTF8: Bool) -> String {
    let sources = map { $0.id.safeLine }
    let results = map { check in
      check.isOK ? Duration.milliseconds(check.milliseconds ?? 0).text : check.status
    }
    let widest = (
      source: sources.map(\.displayWidth).max() ?? 0,
      result: results.map(\.displayWidth).max() ?? 0,
      origin: compactMap { $0.origin?.rawValue.displayWidth }.max() ?? 0
    )
    var text = ""
    for (index, check) in enumerated() {
      let isOK = check.isOK
      let mark = isOK ? (hasUTF8 ? "✓" : "+") : (hasUTF8 ? "✗" : "x")
      var line = Line(on: layout)
      line.add(mark, as: isOK ? .id : .error)
      line.move(to: 2)
      line.add(sources[index])
      // Times end in one column.
      var column = 4 + widest.source + widest.result
      line.move(to: column - results[index].displayWidth)
      line.add(results[index], as: isOK ? nil : .error)
      column += 2
      if column + widest.origin <= layout.width {
        if let origin = check.origin {
          line.move(to: column)
          line.add(origin.rawValue, as: .label)
        }
        column += widest.origin + 2
        let cached = check.stored.map(\.records).map { $0 > 0 ? "\($0) cached" : "" } ?? ""
        if !cached.isEmpty, column + cached.displayWidth <= layout.width {
          line.move(to: column)
          line.add(cached, as: .label)
        }
      }
      text += line.text + "\n"
    }
    return text
  }
}

struct LawEntry: Entry {
  let id: String
  let source: String
  let verdict: String
  let found: String?
  let about: String

  init(_ entry: LawReport.Entry, of source: String) {
    id = entry.law.name
    self.source = source
    about = entry.law.summary
    switch entry.verdict {
    case .holds: (verdict, found) = ("pass", nil)
    case .violated(let violations):
      (verdict, found) = ("fail", violations.map(\.details).joined(separator: "; "))
    case .notApplicable(let reason): (verdict, found) = ("not applicable", reason)
    case .inconclusive(let error): (verdict, found) = ("inconclusive", error.message)
    }
  }

  static let fields: [Field<LawEntry>] = [
    Field("source", "Source", \.source, about: "The source."),
    Field("law", "Law", \.id, about: "The name of the law."),
    Field(
      "verdict", "Verdict", \.verdict, about: "pass, fail, not applicable, or inconclusive."),
    Field("found", "Found", \.found, about: "The violations, or the reason."),
    Field("about", "Description", \.about, about: "What the law demands."),
  ]
}
