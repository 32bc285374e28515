import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import Synchronization

extension Command {
  static func watch(_ plugins: [any Plugin]) -> Command {
    Command(
      "SOURCE", words: CompletionSource.source(plugins),
      needs: .init(ownArenas: true, newest: true),
      options: [
        .every, .exec,
        .maxPages.with(about: "stop each sync after N pages (required for unbounded sources)"),
        .jobs, .timeout,
      ] + Option.formatting.filter { ![.json, .jq].contains($0) },
      fields: ChangeEntry.fields,
      notes: [
        "Syncs until interrupted (Ctrl-C), and prints the differences after each sync, as diff does; the "
          + "first sync of a source only prints the number of records. A sync that fails is a warning, and "
          + "the next one resumes it.",
        "CMD gets the changes as JSON lines on standard input, with the fields of --fields. It is started "
          + "without a shell, unless it contains special characters of the shell: then /bin/sh runs it. "
          + "The next sync waits for its end; if it fails, that is a warning.",
        "If members of the rows have changed, CMD gets lines for them, too, with the fields of diff --schema: the path "
          + "is in .member, which lines of records do not have.",
      ],
      examples: plugins.prefix(1).flatMap { plugin in
        [
          ("watch \(plugin.name) --every 10m", "print changes of \(plugin.name)"),
          (
            "watch \(plugin.name) --every 1h --exec 'jq -r \".name // empty\" >> changed.txt'",
            "append the names of changed records to a file"
          ),
        ]
      }
    ) { invocation, context in
      let name = try invocation.argument("SOURCE")
      return try await context.catalog.plugin(named: name).watch(invocation, context)
    }
  }
}

extension Plugin {
  fileprivate func watch(_ invocation: Invocation, _ context: CommandContext) async throws
    -> ExitCode
  {
    let output = try OutputOptions(invocation, in: context)
    guard !output.isDocument else {
      throw CommandError(
        .usage, "watch cannot print one JSON document, because it does not end",
        hint: "use --ndjson")
    }
    let interval = invocation.duration(.every) ?? .seconds(600)
    guard interval >= .seconds(1) else {
      throw CommandError(
        .usage,
        "invalid value \"\(invocation.text(.every) ?? "")\" for --every: must be at least 1s")
    }
    let changed = try invocation.text(.exec).map { line throws(CommandError) in
      try ChangeCommand(line, context)
    }
    let pages = try maxPages(invocation, for: "watch \(name)")
    let environment = try context.environment()
    let store = try environment.requiredStore()
    guard try !environment.settings.history(Directories.history(of: context.catalog.name)).isOff
    else {
      throw try await missingHistory(before: .sync, in: environment, context)
    }
    let sync = try SourceOptions(invocation).sync(of: self, in: environment)
    let lock = try SyncLock(of: name, environment.settings, context, isNeeded: !store.isShared)

    var listing = try output.plainListing("watch", ChangeEntry.self)
    listing.source = name
    listing.paragraph = { $0.paragraph($1) }
    var printer = RecordPrinter(listing, output, in: context)
    // Changes are printed as they are found.
    try context.listingOutput.release()
    let resuming = "watch \(name) --every \(invocation.text(.every) ?? "10m")"
    var isFirst = true
    var failures: Set<ExitCode> = []
    // Until they are reported.
    var schemaChanges: [SchemaEntry] = []
    try await Watch(recordStore(in: store), every: interval, on: ContinuousClock()).run {
      let failure = await syncForWatch(resuming, lock, context) { progress in
        let result = await sync.run(
          upTo: pages, jobs: invocation.count(.jobs) ?? 1, waits: false, progress: progress)
        schemaChanges += result.schemaChanges.map { SchemaEntry($0, at: environment.now()) }
        return result
      }
      // Waiting does not mend these.
      if isFirst, let failure, [.key, .settings].contains(failure.code) { throw failure }
      // A service that stays down is reported once.
      if let failure, failures.insert(failure.code).inserted {
        context.diagnostics.warning(failure.message, hint: failure.hint)
      } else if failure == nil {
        failures = []
      }
    } report: { news in
      if isFirst {
        isFirst = false
        let count = try await store.status(of: name).records
        context.diagnostics.note("Watching \(noun.count(count)), every \(interval.text)")
      }
      if case .changes(let mark) = news {
        var lines = try changed.map { _ in try TemporaryFile() }
        let found = try await changes(since: .mark(mark), in: store) { entries in
          try printer.print(entries)
          var writer = Format.ndjson.writer(
            for: listing, on: TerminalLayout(width: 80, isTerminal: false, hasColor: false))
          try lines?.output.write(writer.append(entries))
        }
        if let found, found.count > 0 {
          context.diagnostics.note("\(environment.now().iso8601): \(found.text)")
          for warning in found.warnings(of: name) {
            context.diagnostics.warning("\(name): \(warning.warning.message)")
          }
        }
        for entry in schemaChanges { try lines?.output.write("\(entry.object.text)\n") }
        if let lines, found.map({ $0.count > 0 }) == true || !schemaChanges.isEmpty {
          changed?.run(on: lines)
        }
        (lines, schemaChanges) = (nil, [])
      }
      let end = ContinuousClock.now + interval
      context.progress.say { [name] in
        "\(name): next sync in \(max(.zero, end - ContinuousClock.now).text)"
      }
    } failed: { error in
      let failure = CommandError(error, of: self)
      context.diagnostics.warning(failure.message, hint: failure.hint)
    }
    return .success
  }

  /// Syncs once, and prints the remarks; returns the failure.
  private func syncForWatch(
    _ resuming: String, _ lock: SyncLock, _ context: CommandContext,
    _ sync: (_ progress: @escaping @Sendable (SyncResult) -> Void) async -> SyncResult
  ) async -> CommandError? {
    do throws(CommandError) {
      let result = try await lock.holding {
        let progress = SyncProgress(of: name, resumingWith: resuming, in: context)
        defer { progress.end() }
        return await sync(progress.show)
      }
      let report = SyncReport(result, of: self, isWaiting: true)
      for warning in report.remarks {
        context.diagnostics.warning("\(name): \(warning.message)")
      }
      var failure = report.failure
      // There is no --refresh: the next sync tries again.
      if let error = report.result.failure, error.code == .circuitOpen {
        failure?.hint = error.remedy.map(Hint.init)
      }
      return failure
    } catch {
      return error
    }
  }
}

/// The command of `--exec`.
private struct ChangeCommand {
  private let line: String
  private let words: [String]
  private let context: CommandContext

  /// Fails with code `unavailable` if the program is not installed.
  init(_ line: String, _ context: CommandContext) throws(CommandError) {
    guard let words = ExternalProgram.words(of: line, context.variables) else {
      throw CommandError(
        .unavailable, "cannot run \"\(line)\": the program is not installed",
        hint: "give its path, or install it in a directory of PATH")
    }
    self.line = line
    self.words = words
    self.context = context
  }

  /// Runs it to its end; a failure is a warning.
  func run(on lines: TemporaryFile) {
    lines.rewind()
    let group = ProcessGroup()
    let cleanUp = Interruption.atEnd { group.end() }
    defer { cleanUp.cancel() }
    let child = group.start(words, context.variables, reading: lines)
    let status = child.map(ExternalProgram.status) ?? -1
    guard status != 0 else { return }
    let ending =
      status == -1 ? "could not be started" : "failed with \(ExternalProgram.ending(status))"
    context.diagnostics.warning("\"\(line)\" \(ending)")
  }
}

/// A program, and what it has started itself: after this program nobody would read what they do.
private final class ProcessGroup: Sendable {
  private let leader = Mutex<pid_t?>(nil)

  func start(
    _ words: [String], _ variables: [String: String], reading lines: TemporaryFile
  ) -> pid_t? {
    leader.withLock { leader in
      leader = ExternalProgram.start(
        words, variables, descriptors: [STDIN_FILENO: lines.descriptor], leadsGroup: true)
      return leader
    }
  }

  /// Ends them; while they are being started it waits until they are there.
  func end() {
    if let leader = leader.withLock(\.self) { kill(-leader, SIGTERM) }
  }
}
