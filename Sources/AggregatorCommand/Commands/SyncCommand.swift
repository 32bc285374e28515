import Core

extension Plugin {
  /// `aggregator SOURCE sync`.
  var syncCommand: Command {
    let bound = policy.isEndless ? " --max-pages 10" : ""
    return Command(
      options: [.maxPages, .jobs, .wait, .explain] + Option.asking + Option.output,
      fields: SyncEntry.fields,
      notes: [
        policy.isEndless
          ? "There is no end of \(name), so --max-pages must say how far to go. Each sync goes on where "
            + "the last one, or next, ended."
          : "A sync that is stopped, even by kill -9, goes on at the very next page. Records that a "
            + "complete one does not meet have vanished: they are no longer listed."
      ],
      examples: [
        ("\(name) sync\(bound)", "fetch \(policy.isEndless ? "ten pages" : "all") into the store"),
        ("\(name) sync\(bound) --jobs 4 --wait", "four pages at a time, as long as it takes"),
      ]
    ) { invocation, session in
      try invocation.refuseArguments()
      return try await sync(invocation, session)
    }
  }

  private func sync(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
    let pages = try maxPages(invocation)
    let output = try OutputOptions(invocation, in: session)
    let listing = try output.plainListing("sync", SyncEntry.self)
    let bound = policy.isEndless ? pages.map { " --max-pages \($0)" } ?? "" : ""
    let explanation = Explanation(invocation, session)
    let environment = try session.environment().explained(by: explanation)
    _ = try environment.requiredStore()
    guard let syncing = try ReadingOptions(invocation).syncing(of: self, in: environment) else {
      return .io
    }
    let lock = try SyncLock(of: name, environment.settings, session)
    do throws(SourceError) {
      try await explanation?.foretellService(of: self, .list, pages: pages, in: environment)
    } catch {
      throw Failure(error, of: self)
    }
    defer { explanation?.conclude() }
    let result = try await lock.holding {
      let progress = SyncProgress(of: name, goingOnBy: "\(name) sync\(bound)", in: session)
      return await syncing.sync(
        upTo: pages, jobs: invocation.count(.jobs) ?? 1, waits: invocation.has(.wait),
        progress: progress.show)
    }
    Interruption.atEnd(nil)
    if let failure = result.failure, result.pages == 0 {
      throw Failure(failure, of: self, onSync: session)
    }
    let entry = SyncEntry(name, result)
    if output.isForPeople {
      try session.output.write("\(name): \(entry.words)\n")
    } else {
      try RecordPrinter.print([entry], as: listing, output, in: session)
    }
    return tell(result, session)
  }

  /// How many pages at most; `nil` for all.
  private func maxPages(_ invocation: Invocation) throws(Failure) -> Int? {
    let pages = invocation.count(.maxPages).flatMap { $0 == 0 ? nil : $0 }
    guard pages != nil || !policy.isEndless else {
      throw Failure(
        .usage, "there is no end of \(name): say how many pages to fetch",
        hint: .command("\(name) sync --max-pages 10"))
    }
    return pages
  }

  /// Says what the numbers alone do not say.
  private func tell(_ result: SyncResult, _ session: Session) -> ExitCode {
    let diagnostics = session.diagnostics
    if result.earlierPages > 0 {
      diagnostics.note("went on after page \(result.earlierPages)")
    }
    if result.unreadable.count > 0 {
      let rows = result.unreadable.count == 1 ? "1 row" : "\(result.unreadable.count) rows"
      let reason = result.unreadable.firstReason.map { " (\($0))" } ?? ""
      diagnostics.warning("\(name): \(rows) could not be read\(reason)")
    }
    if let doubt = result.doubt {
      diagnostics.warning("\(name): what has vanished is not known: \(doubt)")
    }
    if let error = result.failure {
      let failure = Failure(error, of: self, onSync: session)
      diagnostics.error(failure)
      return failure.code == .tryLater || failure.code == .interrupted ? failure.code : .partial
    }
    guard !result.isComplete, !policy.isEndless else { return .success }
    diagnostics.note(
      "\(result.total.map { "\(result.passed) of \($0)" } ?? "\(result.passed)") \(name) · more: "
        + diagnostics.command("\(name) sync"))
    return .partial
  }
}

extension Failure {
  /// What ended a sync, and how to go on.
  fileprivate init(_ error: SourceError, of plugin: some Plugin, onSync session: Session) {
    self.init(error, of: plugin)
    guard error.code == .rateLimited else { return }
    let wait = error.retryAfter.map { "try again in \($0.inWords)" } ?? "try again later"
    hint = .words("\(wait): sync goes on from here; with --wait it stays until then")
  }
}

/// What a sync did, for programs.
private struct SyncEntry: Entry {
  let id: String
  let added: Int
  let changed: Int
  let same: Int
  let vanished: Int
  let pages: Int
  let isComplete: Bool

  init(_ name: String, _ result: SyncResult) {
    id = name
    added = result.added
    changed = result.changed
    same = result.same
    vanished = result.vanished
    pages = result.pages
    isComplete = result.isComplete
  }

  /// The same for people: `+12 ~3 =985 −2 (10 pages)`.
  var words: String {
    "+\(added) ~\(changed) =\(same) −\(vanished) (\(pages) page\(pages == 1 ? "" : "s"))"
  }

  static let fields: [Field<SyncEntry>] = [
    Field("source", "Source", \.id, about: "The source."),
    Field("added", "Added", \.added, about: "How many records were new."),
    Field("changed", "Changed", \.changed, about: "How many records had changed, or came back."),
    Field("same", "Same", \.same, about: "How many were as before, and were not written."),
    Field("vanished", "Vanished", \.vanished, about: "How many the service no longer has."),
    Field("pages", "Pages", \.pages, about: "How many pages were fetched."),
    Field("complete", "Complete", \.isComplete, about: "Whether the service has no more."),
  ]
}
