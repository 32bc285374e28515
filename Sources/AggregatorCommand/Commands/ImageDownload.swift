import AggregatorFiles
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// Saves the images of several records in a directory, a few at a time.
///
/// One that fails does not stop the others. Images that are already there are skipped, which resumes an
/// interrupted download.
struct ImageDownload<P: Plugin>: Sendable {
  static var jobs: Int { 4 }

  private struct Target: Sendable {
    /// As the user named it, if the record was not listed.
    let id: String
    var listed: P.Item?
  }

  private let plugin: P
  private let invocation: Invocation
  private let context: CommandContext
  private let directory: String
  private let destination: FileDestination

  /// Creates the directory; fails with code `usage` or `io`.
  init(
    of plugin: P, _ invocation: Invocation, _ context: CommandContext
  ) throws(CommandError) {
    guard let path = invocation.text(.outputFile), path != "-" else {
      throw CommandError(
        .usage, "several images require a directory", hint: "add -o DIR")
    }
    self.plugin = plugin
    self.invocation = invocation
    self.context = context
    directory = path
    destination = .directory(path)
    if let isDirectory = OpenFile.isDirectory(path) {
      guard isDirectory else {
        throw CommandError(.usage, "\"\(path)\" is not a directory", hint: "add -o DIR")
      }
    } else {
      do {
        try FileManager.default.createDirectory(
          atPath: path, withIntermediateDirectories: true)
      } catch {
        throw CommandError(.io, "cannot create the directory \"\(path)\"")
      }
    }
  }

  func run(_ ids: [String]) async throws -> ExitCode {
    let finder = try ImageFinder(of: plugin, in: context.environment(), invocation, context)
    var tally = ImageTally(of: finder)
    tally.total = ids.count
    var rest = ids[...]
    return try await run(&tally, finder) { _ in rest.popFirst().map { Target(id: $0) } }
  }

  func run() async throws -> ExitCode {
    let environment = try context.environment()
    let finder = try ImageFinder(of: plugin, in: environment, invocation, context)
    let bounds = try ListingBounds(
      invocation, plugin.policy, hasStore: environment.store != nil, isSearch: false)
    var tally = ImageTally(of: finder)
    var pages = ListingRun(finder.source, of: plugin, bounds, tally.outcome)
    pages.details = DetailLoader(of: plugin, finder.source, in: environment, invocation, context)
    var records: ArraySlice<P.Item> = []
    return try await run(&tally, finder) { tally in
      while records.isEmpty {
        let items = try await pages.next()
        tally.outcome = pages.outcome
        tally.total = pages.outcome.total
        guard let items else { return nil }
        records = items[...]
      }
      return records.popFirst().map { Target(id: $0.id.description, listed: $0) }
    }
  }

  private func run(
    _ tally: inout ImageTally<P>, _ finder: ImageFinder<P>,
    _ next: (inout ImageTally<P>) async throws -> Target?
  ) async throws -> ExitCode {
    let jobs = invocation.count(.jobs) ?? Self.jobs
    let existing = Set(
      invocation.has(.refresh)
        ? [] : (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
    let interruption = Interruption.atEnd { [diagnostics = context.diagnostics] in
      diagnostics.note("Interrupted. Resume with the same command.")
    }
    defer {
      interruption.cancel()
      context.progress.say(nil)
    }
    try await withThrowingTaskGroup(of: ImageResult<P.Item>.self) { group in
      var running = 0
      while let target = try await next(&tally) {
        let id = P.Item.ID(target.id)?.description ?? target.id
        if existing.isDisjoint(with: ImageFileName(id, of: plugin.name).candidates) {
          if running == jobs, let result = try await group.next() {
            tally.add(result)
            running -= 1
          }
          group.addTask { try await load(target, finder) }
          running += 1
        } else {
          tally.skipped += 1
        }
        show(tally.progress)
      }
      for try await result in group {
        tally.add(result)
        show(tally.progress)
      }
    }
    return await tally.report(to: context.diagnostics, directory)
  }

  private func show(_ line: String) {
    context.progress.say { [progress = context.progress] in progress.withStatus(line) }
  }

  /// Fails only if the file cannot be written: neither can the others.
  private func load(
    _ target: Target, _ finder: ImageFinder<P>
  ) async throws -> ImageResult<P.Item> {
    var result = ImageResult<P.Item>(id: target.id, isListed: target.listed != nil)
    let record: P.Item
    let loaded: LookupResult<LoadedImage>
    do throws(SourceError) {
      if let listed = target.listed {
        record = listed
        loaded = try await finder.image(of: listed)
      } else {
        let found = try await finder.record(target.id)
        result.record = found
        record = found.item
        loaded = try await finder.image(of: found)
      }
    } catch {
      result.bytes = .failure(error)
      return result
    }
    result.warnings = loaded.warnings
    if let reason = loaded.provenance.reason {
      result.warnings.append(Warning(.cached, "cached images were used (\(reason.message))"))
    }
    let bytes = loaded.item.bytes
    let name = ImageFileName(record.id.description, of: plugin.name).text(loaded.item.type)
    _ = try destination.write(bytes, named: name, in: context)
    result.bytes = .success(bytes.count)
    return result
  }
}

/// The end of the download of one image.
struct ImageResult<Item: SourceRecord>: Sendable {
  let id: String

  /// True if the record was listed, not named by the user.
  let isListed: Bool

  /// The record, if it had to be looked up and was found.
  var record: LookupResult<Item>?

  /// The number of bytes that were saved.
  var bytes: Swift.Result<Int, SourceError> = .success(0)

  var warnings: [Warning] = []
}

/// The numbers of a download of images, for progress and report.
struct ImageTally<P: Plugin> {
  var outcome: ListingOutcome
  var skipped = 0

  /// The number of records; `nil` if unknown.
  var total: Int?

  private let plugin: P
  private let environment: PluginEnvironment
  private var failures = LookupFailures()
  private var failed = 0
  private var warnings: [Warning] = []
  private var saved = 0
  private var missing = 0
  private var bytes = 0

  init(of finder: ImageFinder<P>) {
    plugin = finder.plugin
    environment = finder.environment
    outcome = ListingOutcome(of: plugin, at: finder.environment.now())
  }

  mutating func add(_ result: ImageResult<P.Item>) {
    if let record = result.record { outcome.add(record) }
    for warning in result.warnings where !warnings.contains(warning) { warnings.append(warning) }
    switch result.bytes {
    case .success(let count):
      saved += 1
      bytes += count
    case .failure(let error) where error.code == .notFound && result.isListed: missing += 1
    case .failure(let error):
      failed += 1
      failures.add(error, of: result.id)
    }
  }

  /// The line of progress: `heroes: 12 of 40 images, 3.4 MB`.
  var progress: String {
    let done = saved + skipped + missing + failed
    let count = total.map { "\(done) of \($0) images" } ?? done.of("image")
    return "\(plugin.name): \(count), \(bytes.byteCount)"
  }

  func report(to diagnostics: Diagnostics, _ directory: String) async -> ExitCode {
    if saved + skipped + missing == 0, !failures.isEmpty {
      return await failures.report(of: plugin, in: environment, to: diagnostics)
    }
    var outcome = outcome
    for error in failures.errors { outcome.fail(error) }
    outcome.reportCount(to: diagnostics)
    for warning in warnings { diagnostics.warning("\(plugin.name): \(warning.message)") }
    let size = saved > 0 ? " (\(bytes.byteCount))" : ""
    var parts = ["Saved \(saved.of("image")) to \(directory)\(size)"]
    if skipped > 0 { parts.append("\(skipped) already there") }
    if missing > 0 { parts.append("\(plugin.noun.count(missing)) without image") }
    if failed > 0 { parts.append("\(failed) failed") }
    diagnostics.note(parts.joined(separator: ", "))
    return outcome.lookupCode
  }
}
