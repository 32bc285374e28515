import AggregatorArguments
package import AggregatorKit
package import AggregatorQueries
import AggregatorSQL
import AggregatorSelection
import AggregatorTerminal
import Synchronization

/// Does what a ``BrowseState`` asks for, beside the input, and posts what comes of it.
package final class EffectRunner: Sendable {
  /// A running task; a later one of the same kind takes its place.
  private enum Slot: Hashable {
    case status(String)
    case window(String)
    case count(String)
    case index(String)
    case refresh(String)
    case record
    case picture
    case sync(String)
    case query
    case completion
    case preview
    case values
    case write
  }

  private struct Running {
    let effect: BrowseEffect
    let task: Task<Void, Never>
  }

  private let sources: [String: any BrowsedSource]
  private let plugins: [any Plugin]
  private let environment: PluginEnvironment
  private let context: CommandContext
  private let post: @Sendable (BrowseEvent) -> Void
  private let running = Mutex<[Slot: Running]>([:])
  private let changes = Mutex<[Task<Void, Never>]>([])
  private let syncing = Mutex<Set<String>>([])
  private let opened = Mutex("")

  /// The rows of a query that are shown.
  private static let maxRows = 5000
  /// The time that a record is chosen before its picture and its details are fetched: scrolling past asks for nothing.
  private static let rest = Duration.milliseconds(150)

  package init(
    _ sources: [any BrowsedSource], _ plugins: [any Plugin], _ environment: PluginEnvironment,
    _ context: CommandContext, post: @escaping @Sendable (BrowseEvent) -> Void
  ) {
    self.sources = Dictionary(sources.map { ($0.name, $0) }) { first, _ in first }
    self.plugins = plugins
    self.environment = environment
    self.context = context
    self.post = post
  }

  package func perform(_ effect: BrowseEffect) {
    switch effect {
    case .status(let name):
      run(effect, in: .status(name), of: name) { source, post in
        post(.status(name, try await source.status()))
      }
    case .window(let request, let start, let count):
      opened.withLock { $0 = request.source }
      run(effect, in: .window(request.source), of: request.source) { source, post in
        let result = await Self.result {
          try await source.window(request, start: start, count: count)
        }
        // A cancelled request has a successor.
        if !Task.isCancelled { post(.window(request, start: start, result)) }
      }
    case .count(let request):
      run(effect, in: .count(request.source), of: request.source) { source, post in
        post(.counted(request, try await source.count(request)))
      }
    case .index(let name, let condition):
      run(effect, in: .index(name), of: name) { source, post in
        do {
          try await source.index(condition) { post(.indexed(name, isComplete: $0)) }
        } catch {
          // No more will come.
          if !Task.isCancelled { post(.indexed(name, isComplete: true)) }
          throw error
        }
      }
    case .refresh(let name, let query, let isForced):
      run(effect, in: .refresh(name), of: name) { [self] source, post in
        try await refresh(source, query, isForced, post)
      }
    case .stopRefresh(let name): running.withLock { $0[.refresh(name)]?.task }?.cancel()
    case .record(let name, let id):
      run(effect, in: .record, of: name) { source, post in
        try await Task.sleep(for: Self.rest)
        post(.record(source: name, try await source.record(id)))
      }
    case .picture(let request):
      guard running.withLock({ $0[.picture]?.effect }) != effect else { return }
      run(effect, in: .picture, of: request.source) { source, post in
        try await Task.sleep(for: Self.rest)
        let picture = try? await source.picture(request)
        if !Task.isCancelled { post(.picture(request, picture)) }
      }
    case .delete(let deletion):
      // Its details, if they are still on their way, would be an error that hides how to restore it.
      running.withLock { $0[.record]?.task }?.cancel()
      change(deletion) { source, post in
        var done = deletion
        done.ids = []
        do {
          for id in deletion.ids {
            try await source.delete(id)
            done.ids.append(id)
          }
        } catch {
          // Those before it can be restored.
          if !done.ids.isEmpty { post(.deleted(done)) }
          throw error
        }
        post(.deleted(done))
      }
    case .restore(let deletion):
      change(deletion) { source, post in
        for id in deletion.ids { try await source.restore(id) }
        post(.restored(deletion))
      }
    case .sync(let name, let pages):
      _ = syncing.withLock { $0.insert(name) }
      run(effect, in: .sync(name), of: name) { [self] source, _ in await sync(source, pages) }
    case .stopSync(let name): running.withLock { $0[.sync(name)]?.task }?.cancel()
    case .open(let link): open(link)
    case .query(let text):
      replace(
        .query, effect,
        with: Task { [self] in
          let result = await Self.result { try await answer(to: text) }
          if !Task.isCancelled { post(.answered(text, result)) }
        })
    case .complete(let start):
      replace(
        .completion, effect,
        with: Task { [self] in post(.completed(start, completions(of: start))) })
    case .preview(let request):
      run(effect, in: .preview, of: request.source) { [self] source, post in
        try await Task.sleep(for: Self.rest)
        let notice = await preview(of: request, in: source)
        if !Task.isCancelled { post(.previewed(request, notice)) }
      }
    case .values(let request, let field):
      run(effect, in: .values, of: request.source) { source, post in
        let result = await Self.result {
          try Self.window(
            of: try await source.facets(of: field.name, in: request), field, request)
        }
        if !Task.isCancelled { post(.values(request, result)) }
      }
    case .write(let list):
      replace(.write, effect, with: Task { await write(list) })
    case .stop(let work):
      let slot: Slot =
        switch work {
        case .query: .query
        case .values: .values
        case .write: .write
        }
      running.withLock { $0[slot]?.task }?.cancel()
    case .remember(let kind, let text):
      // A line of the console ends with a semicolon, or the statement would go on.
      keep(
        kind == .query && !text.hasSuffix(";") ? "\(text);" : text, named: Self.file(of: kind))
    case .keepColumns(let name, let fields):
      keep(Self.line(name, fields), named: Self.columns, replacing: "\(name) ")
    case .copy(let text): copy(text)
    case .redraw, .pick, .quit: break
    }
  }

  /// Ends what is running, and waits until a sync has saved where it is, and a file is written.
  ///
  /// - Returns: The sources whose syncs were stopped.
  @discardableResult
  package func finish() async -> [String] {
    let (running, changes) = (running.withLock(\.self), changes.withLock(\.self))
    let stopped = syncing.withLock(\.self).sorted()
    for (slot, work) in running where slot != .write { work.task.cancel() }
    for task in running.values.map(\.task) + changes { await task.value }
    return stopped
  }

  // MARK: - Tasks

  private func run(
    _ effect: BrowseEffect, in slot: Slot, of name: String,
    _ body:
      @escaping @Sendable (any BrowsedSource, @Sendable (BrowseEvent) -> Void) async throws -> Void
  ) {
    guard let source = sources[name] else { return }
    replace(
      slot, effect,
      with: Task { [post] in
        do { try await body(source, post) } catch {
          guard !Task.isCancelled else { return }
          post(.notice(Notice(.error, "\(name): \(Self.words(of: error))")))
        }
      })
  }

  private func replace(_ slot: Slot, _ effect: BrowseEffect, with task: Task<Void, Never>) {
    let old = running.withLock { running in
      let old = running[slot]
      running[slot] = Running(effect: effect, task: task)
      return old
    }
    old?.task.cancel()
  }

  /// A change is never cancelled.
  private func change(
    _ deletion: Deletion,
    _ body:
      @escaping @Sendable (any BrowsedSource, @Sendable (BrowseEvent) -> Void) async throws -> Void
  ) {
    guard let source = sources[deletion.source] else { return }
    let task = Task { [post] in
      do { try await body(source, post) } catch {
        post(.notChanged(Notice(.error, Self.words(of: error))))
      }
    }
    changes.withLock { $0.append(task) }
  }

  static func words(of error: any Error) -> String {
    let (message, nearest, hint): (String, String?, Hint?)
    switch error {
    case let error as CommandError:
      (message, nearest, hint) = (error.message, error.suggestion, error.hint)
    case let error as SourceError:
      (message, nearest) = (error.message, (error.cause as? SQLMistake)?.nearest)
      // Those of other failures name options of the command line.
      hint = error.code == .invalidRequest ? error.remedy.map(Hint.init) : nil
    default: return "\(error)"
    }
    guard nearest == nil, case .words(let words)? = hint else {
      return message + nearest.didYouMean
    }
    return "\(message). \(words.capitalizedFirst)"
  }

  private static func result<Value>(
    _ body: () async throws -> Value
  ) async -> Result<Value, BrowseFailure> {
    do { return .success(try await body()) } catch {
      return .failure(BrowseFailure(words(of: error)))
    }
  }

  // MARK: - Work

  private func refresh(
    _ source: any BrowsedSource, _ query: String, _ isForced: Bool,
    _ post: @Sendable (BrowseEvent) -> Void
  ) async throws {
    if !isForced {
      try? await Task.sleep(for: Self.rest)
      // Who has left does not need it.
      guard opened.withLock(\.self) == source.name, !Task.isCancelled else {
        return post(.refreshed(source.name, .success(nil)))
      }
    }
    let before = isForced ? await Self.cached(source, query) : nil
    var result = await Self.result { try await source.refresh(query, isForced: isForced) }
    // Only lists that are compared as a whole have numbers.
    if case .success(var refreshed?) = result, refreshed.badge.kind == .live, query.isEmpty,
      let before, let after = await Self.cached(source, query),
      max(before.count, after.count) <= Self.maxCompared
    {
      refreshed.added = after.objects.keys.count { before.objects[$0] == nil }
      refreshed.changed = after.objects.count { id, object in
        before.objects[id].map { $0 != object } ?? false
      }
      result = .success(refreshed)
    }
    guard !Task.isCancelled else { return }
    post(.refreshed(source.name, result))
  }

  /// The records that a refresh compares.
  private struct Cached {
    let count: Int
    let objects: [String: JSON]
  }

  /// At least as many as a refresh asks for.
  private static let maxCompared = 1000

  /// The first cached records; `nil` without a store.
  private static func cached(_ source: any BrowsedSource, _ query: String) async -> Cached? {
    guard let count = try? await source.status().count else { return nil }
    var request = ListRequest(source.name)
    request.query = query
    // Bundled records are not those of before.
    let window =
      count > 0 ? try? await source.window(request, start: 0, count: maxCompared) : nil
    let rows = (window?.rows ?? []).map { ($0.id, $0.object) }
    return Cached(count: count, objects: Dictionary(rows) { first, _ in first })
  }

  private func sync(_ source: any BrowsedSource, _ pages: Int?) async {
    let name = source.name
    let end: BrowseEvent
    let start = ContinuousClock.now
    // Beside it is the key that stops it.
    let bar = ProgressBar(width: 60, hasUTF8: context.terminal.hasUTF8)
    do {
      let report = try await source.sync(pages: pages) { [post] result in
        let count = result.added + result.changed + result.unchanged
        let text =
          result.total.map { total in
            bar.line(name, result.passed, of: total, after: count, in: .now - start)
          } ?? "\(name): page \(result.earlierPages + result.pages), \(result.passed.of("record"))"
        post(.syncing(name, progress: text))
      }
      end = .synced(name, Self.notice(of: report, name), SyncEnd(report))
    } catch {
      end = .synced(name, Notice(.error, Self.words(of: error)))
    }
    // Before the event, after which another may begin.
    _ = syncing.withLock { $0.remove(name) }
    post(end)
  }

  static func notice(of report: SyncReport, _ name: String) -> Notice {
    guard let failure = report.failure else {
      // A screen may have no room for more than the reason for which records are missing.
      let first = report.sentNoMore ?? report.shortage ?? report.remarks.last?.message
      let counts = report.hasReadNothing ? first == nil ? "no more records" : nil : report.text
      let text = [first, counts].compactMap(\.self).joined(separator: " · ")
      return Notice(report.remarks.isEmpty ? .note : .warning, "\(name): \(text)")
    }
    // It names the source.
    guard failure.code == .interrupted else { return Notice(.error, failure.message) }
    return Notice(.note, "\(name): stopped; progress saved, S resumes")
  }

  private func open(_ link: String) {
    guard let url = URL(string: link) else { return }
    SystemThread.start { [post, variables = context.variables] in
      do throws(CommandError) {
        // Its messages, and a browser in the terminal, would end up on the screen.
        try Browser.open(url, variables: variables, isSilent: true)
      } catch {
        post(.notice(Notice(.error, "\(error.message): \(link)")))
      }
    }
  }

  /// Gives a text to tmux, if this is one of its terminals: unless it is set to, it takes none from the programs in it.
  private func copy(_ text: String) {
    let variables = context.variables
    guard variables["TMUX"]?.nonBlank != nil,
      let tmux = ExternalProgram.path(of: "tmux", variables),
      let file = try? TemporaryFile(), let messages = try? TemporaryFile(),
      (try? file.output.write(text)) != nil
    else { return }
    file.rewind()
    SystemThread.start { [post] in
      let status = ExternalProgram.run(
        // Also to the clipboard of the terminal around it.
        [tmux, "load-buffer", "-w", "-"], variables,
        descriptors: [
          STDIN_FILENO: file.descriptor, STDOUT_FILENO: messages.descriptor,
          STDERR_FILENO: messages.descriptor,
        ])
      if status == 0 { post(.copied(text)) }
    }
  }

  // The file of the columns of earlier sessions. A line is a source and its columns: `heroes ["id","name"]`.
  static let columns = "browse_columns"

  /// The file of the lines of earlier sessions: for SQL, that of the console.
  static func file(of kind: BrowseState.Prompt) -> String {
    switch kind {
    case .query: LineHistory.sql
    case .condition: "browse_conditions"
    case .filter, .pick, .file, .source: "browse_filters"
    }
  }

  /// The lines of earlier sessions; `nil` if there are none or they cannot be read.
  static func history(named name: String, in context: CommandContext) -> LineHistory? {
    guard let settings = try? context.loadSettings().settings,
      let directory = try? context.directories(settings).state
    else { return nil }
    return try? LineHistory(named: name, in: directory)
  }

  static func line(_ source: String, _ columns: [String]) -> String {
    "\(source) \(JSON.array(columns.map { .string($0) }).text)"
  }

  /// The source and the columns of a line; other versions kept names without commas: `heroes id,name`.
  static func columns(in line: String) -> (source: String, names: [String])? {
    guard let space = line.firstIndex(of: " ") else { return nil }
    let list = line[space...].dropFirst()
    let names = JSON(reading: Data(list.utf8))?.array?.compactMap(\.string)
    return (String(line[..<space]), names ?? list.split(separator: ",").map(String.init))
  }

  /// A line that cannot be saved is not worth a message over the list.
  private func keep(_ line: String, named name: String, replacing beginning: String? = nil) {
    let task = Task { [context] in
      var history = Self.history(named: name, in: context)
      try? history?.add(line, replacing: beginning)
    }
    changes.withLock { $0.append(task) }
  }

  /// The texts that the beginning of a line can become, by the records and tables of this machine.
  private func completions(of start: TypedStart) -> [String] {
    switch start.kind {
    case .condition:
      guard let plugin = plugins.first(where: { $0.name == start.source }) else { return [] }
      return ConditionCompleter(for: plugin, context).completions(of: start.text)
    case .query:
      guard let store = try? environment.databaseStore() else { return [] }
      let tables = plugins.flatMap { SQLView.all(of: $0) }.map {
        SQLTable(schema: nil, name: $0.name, columns: store.columns(of: $0))
      }
      return SQLWords(tables).completions(ofStatement: start.text)
    case .filter, .pick, .file, .source: return []
    }
  }

  /// The most records that are counted while a condition is typed.
  private static let maxPreviewed = 100_000

  /// The number of records that a list would have, in words, with near values if there are none.
  private func preview(of request: ListRequest, in source: any BrowsedSource) async -> Notice {
    // The beginning of the name of a field, which Tab completes, is not a mistake yet.
    let start = TypedStart(kind: .condition, source: request.source, text: request.condition)
    do { try source.check(request) } catch {
      return completions(of: start).isEmpty
        ? Notice(.error, Self.words(of: error)) : Notice(.note, "unfinished: Tab completes")
    }
    do {
      guard try await source.status().count ?? 0 <= Self.maxPreviewed else {
        return Notice(.note, "valid: Enter filters")
      }
      // Every part has the total, and that of the second record tells nothing of the columns of the list.
      func count(_ request: ListRequest) async throws -> Int {
        try await source.window(request, start: 1, count: 1).total ?? 0
      }
      let total = try await count(request)
      guard total == 0 else { return Notice(.note, "\(total.of("record"))") }
      var unfiltered = request
      unfiltered.query = ""
      let others = request.query.nonBlank == nil ? 0 : try await count(unfiltered)
      guard others == 0 else {
        let words = "no records with the filter \"\(request.query)\"; without it"
        return Notice(.warning, "\(words), \(others.of("record"))")
      }
      var words = "no records"
      if let (field, value) = SelectionText(conditions: [request.condition]).lastComparison {
        let facets = try await source.facets(of: field, in: ListRequest(request.source))
        let near = facets.first?.values(near: value) ?? []
        if near.contains(value) {
          words += " that meet all conditions"
        } else if !near.isEmpty {
          words += ", near: \(near.joined(separator: ", "))"
        }
      }
      return Notice(.warning, words)
    } catch {
      return Notice(.error, Self.words(of: error))
    }
  }

  /// The values of a facet as rows, whose IDs are the conditions of the list with one of them.
  private static func window(
    of facets: [Facet], _ field: BrowsedColumn, _ request: ListRequest
  ) throws(CommandError) -> BrowsedWindow {
    let columns = [field, BrowsedColumn("count", "Records", isNumeric: true)]
    guard let facet = facets.first, !facet.isUniform else {
      let none =
        switch facets.first {
        case nil: "nearly every record has a value of its own"
        case let facet?:
          facet.values.first.map {
            "every record has the same \(facet.isRange ? "range" : "value"), \($0.text)"
          } ?? "no record has a value"
        }
      return BrowsedWindow(
        columns: columns, rows: [], total: 0, warnings: ["\(field.label): \(none)"])
    }
    let text = SelectionText(conditions: request.condition.isEmpty ? [] : [request.condition])
    var rows: [BrowsedRow] = []
    for value in facet.values + [facet.empty] where value.count > 0 {
      let condition = try text.condition(with: value, of: facet)
      let name = value.text.isEmpty ? "(none)" : value.text
      var row = BrowsedRow(
        id: condition, name: name, cells: [name, "\(value.count)"],
        card: [.init("Condition", condition)])
      row.object = .object([
        .init(field.name, .string(value.text)), .init("count", .integer(value.count)),
      ])
      rows.append(row)
    }
    let words = [
      text.omission(from: facet).map { "counted without \($0)" },
      facet.omitted > 0 ? "\(facet.omitted) rarer values are not shown" : nil,
    ].compactMap(\.self).joined(separator: " · ")
    return BrowsedWindow(
      columns: columns, rows: rows, total: rows.count, warnings: words.isEmpty ? [] : [words])
  }

  // MARK: - Files

  /// Writes rows to a file in the format of its ending.
  private func write(_ list: WrittenList) async {
    do {
      let (ending, isCompressed) = list.path.fileEnding
      let format = Format.allCases.first { $0.fileEndings.contains(ending) }
      guard format != nil || SQLiteFile.endings.contains(ending) && !isCompressed else {
        throw CommandError(
          .usage,
          "unknown format: end the name in .csv, .tsv, .json, .ndjson, .yaml or .md, also followed by .gz, or in .db"
        )
      }
      let home = list.path.hasPrefix("~/") ? context.variables["HOME"] : nil
      let path = home.map { $0 + list.path.dropFirst() } ?? list.path
      guard list.replaces || access(path, F_OK) != 0 else {
        let words = "\(list.path) exists: Enter replaces it, Esc leaves it"
        return post(.notWritten(list, Notice(.warning, words), isThere: true))
      }
      let file = try NewFile(replacing: path, in: context)
      let output = isCompressed ? try file.output.compressed() : file.output
      let database = format == nil ? try SQLiteFile(file.path) : nil
      let (count, missing) = try await write(list, as: format, to: output, or: database)
      try Task.checkCancellation()
      try output.finish()
      try database?.finish()
      try file.finish()
      post(.written(list, count, missing: missing))
    } catch {
      guard !Task.isCancelled else { return }
      post(.notWritten(list, Notice(.error, Self.words(of: error)), isThere: false))
    }
  }

  /// Writes rows to a database, or for `nil` to the output; returns their number, and that of those that could not be read.
  private func write(
    _ list: WrittenList, as format: Format?, to output: Output, or database: SQLiteFile?
  ) async throws -> (count: Int, missing: Int) {
    let fields = list.fields.map { column in
      Field<BrowsedRow>(column.name, column.label, .any, about: "") {
        $0.object[column.name] ?? .null
      }
    }
    var listing = Listing(
      "export", of: list.request.source, fields: fields, layout: RecordLayout(card: []))
    listing.chosen = fields
    let table = try database.map {
      try SQLiteTable(list.request.source, in: $0, columns: fields)
    }
    var printer = format.map {
      RecordPrinter(
        listing, OutputOptions($0, context.invocation, in: context),
        in: context.writing(to: output))
    }
    func print(_ rows: [BrowsedRow]) throws {
      try table?.insert(rows)
      try printer?.print(rows)
    }
    var (count, start, total) = (list.rows.count, 0, list.rows.count)
    var summary = try await summary(ofRowsOf: list)
    try print(list.rows)
    while list.rows.isEmpty, let source = sources[list.request.source] {
      // The first part has the columns of the list.
      try Task.checkCancellation()
      let size = start == 0 ? ListState.chunk : 1000
      let window = try await source.window(list.request, start: start, count: size)
      if start == 0 { summary = window.summary }
      try print(window.rows)
      count += window.rows.count
      start += size
      total = window.total ?? start
      if start >= total, window.total != nil || window.rows.isEmpty { break }
    }
    // Records behind the first part, of which the summary is, may be older.
    if summary.provenance?.origin == .cached, list.origin == .marked || total > ListState.chunk,
      let oldest = try await sources[list.request.source]?.status().fetchedAt
    {
      summary.provenance = summary.provenance?.joined(
        by: CombinedProvenance(Provenance(.cached, fetchedAt: oldest)))
    }
    let missing = max(0, total - count)
    (summary.count, summary.next) = (count, nil)
    if summary.total != count { summary.total = nil }
    if missing > 0 {
      let words = "\(missing.of("record")) could not be read, or the list has changed"
      summary.warnings.append(SourceWarning(list.request.source, Warning(.incomplete, words)))
    }
    try printer?.finish(summary)
    try table?.finish()
    return (count, missing)
  }

  /// The origin and the warnings of rows that are written as they are shown.
  private func summary(ofRowsOf list: WrittenList) async throws -> ListingSummary {
    var summary = ListingSummary(count: 0)
    if case .query(let warnings) = list.origin { summary.warnings = warnings }
    guard !list.rows.isEmpty, [.list, .marked].contains(list.origin),
      let source = sources[list.request.source]
    else { return summary }
    summary = try await source.window(list.request, start: 0, count: ListState.chunk).summary
    // A choice of records is all of it.
    if list.origin == .marked { summary.warnings.removeAll(where: \.warning.meansIncomplete) }
    return summary
  }

  private func answer(to text: String) async throws -> BrowsedWindow {
    let time = QueryTime(context.invocation.duration(.timeout) ?? SQLRun.defaultTime)
    let run = try await SQLRun(text, of: plugins, in: environment, within: time)
    let cancel = await run.result.cancellation
    // Also a query with more rows than are read.
    defer { cancel?() }
    return try await withTaskCancellationHandler {
      var rows: [[SQLValue]] = []
      while rows.count <= Self.maxRows, let page = try await run.result.page(within: time.left) {
        rows += page
      }
      return Self.window(run, rows)
    } onCancel: {
      cancel?()
    }
  }

  /// Rows with numbers as in the table of `sql`; what is written to a file has them as they are.
  private static func window(_ run: SQLRun, _ rows: [[SQLValue]]) -> BrowsedWindow {
    let names = run.columns
    let columns = names.enumerated().map { index, name in
      BrowsedColumn(name, name, isNumeric: rows.areNumbers(at: index))
    }
    let decimals = columns.indices.map { index in
      columns[index].isNumeric ? rows.map { $0[index].json.decimals() }.max() ?? 0 : 0
    }
    let records = rows.prefix(maxRows).enumerated().map { number, values in
      let cells = zip(values, decimals).map { value, most in
        (most > 0 ? value.json.aligned(to: most) : nil) ?? value.json.shownCell()
      }
      var row = BrowsedRow(
        id: "\(number)", name: cells.first ?? "",
        cells: cells.map(BrowsedRow.cell),
        card: zip(names, values).map { BrowsedRow.Line($0, $1.json.rounded.shownCell()) })
      row.object = .object(zip(names, values).map { JSON.Member($0, $1.json) })
      return row
    }
    let isCut = rows.count > maxRows
    let cut = isCut ? ["only the first \(maxRows) rows are shown"] : []
    let warnings = run.warnings + run.warnings(on: rows)
    var window = BrowsedWindow(
      columns: columns, rows: records, total: records.count,
      warnings: cut + warnings.map(\.warning.message))
    window.summary.warnings =
      cut.map { SourceWarning(nil, Warning(.incomplete, $0)) } + warnings
    window.isCut = isCut
    return window
  }
}

extension SyncReport {
  /// True if a list was read to its end, and had no records after those that were read before.
  fileprivate var hasReadNothing: Bool {
    result.hasEnded && result.passed > 0
      && result.added + result.changed + result.unchanged + result.removedUpstream == 0
  }

  /// The end of a list after which its service reports more, if nothing was left of it.
  fileprivate var sentNoMore: String? {
    guard hasReadNothing, let total = result.total, total > result.passed else { return nil }
    return "the service sent no more, although it reports \(total.grouped("record"))"
  }

  /// The reason for which the records of a list that was read may not be all.
  fileprivate var shortage: String? {
    guard !result.isPartitioned, result.kind != .incremental else { return nil }
    return result.inconclusiveReason.map { "\($0), and no record counts as removed" }
  }
}

extension SyncEnd {
  fileprivate init(_ report: SyncReport) {
    self.init(isAtEnd: report.result.hasEnded && report.result.kind == .full)
    guard !report.result.isComplete else { return }
    total = report.result.total
    isPaused = report.result.failure?.pauseWords != nil
    let failure = report.failure.flatMap { $0.code == .interrupted ? nil : $0.message }
    reason = report.result.inconclusiveReason ?? failure
  }
}
