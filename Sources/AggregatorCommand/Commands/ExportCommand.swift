import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorSQL
import AggregatorSelection
import AggregatorTerminal

extension Command {
  private static let file = Option.outputFile.with(
    about:
      "file to write: .csv, .tsv, .json, .ndjson, .yaml, .md, .db or .parquet; - is standard output"
  )

  private static let format = Option.format.with(
    about: "format of standard output, or of a file whose name does not tell; singer is messages",
    choices: Format.allCases.map(\.rawValue) + [singer])

  private static let singer = "singer"

  static func export(_ plugins: [any Plugin]) -> Command {
    let first = plugins.first?.name ?? "SOURCE"
    return Command(
      "SOURCE", words: CompletionSource.source(plugins),
      options: [
        file, .noClobber, format, .state,
        .sync.with(about: "first sync the source, if incomplete"), .fields, .condition, .order,
        .csvRaw, .headers, .noHeaders,
      ],
      notes: [
        "Saves the cached records, or bundled ones if none are cached, with all their fields. The ending of "
          + "the file's name is its format; an existing file is replaced, or refused with --no-clobber. A .db file is an SQLite database with "
          + "a table named after the source. A .parquet file requires the duckdb program. A name that ends in .gz, such as "
          + "\(first).csv.gz, is a compressed file of text.",
        "Tables of lists in the records, which a manifest declares, are tables of the .db file, or files beside the "
          + "other one: orders_lines.csv beside orders.csv.",
        "--format singer prints the messages of a tap of the Singer protocol, for a target that loads them into a database: "
          + "schema, records and a last state. With --state only what has changed since is sent, with the property "
          + "_sdc_deleted_at of deleted records. \"help tap\" tells more.",
        "No service is contacted unless --sync is given; if the records may not be all, or are bundled, a warning says so, and the exit code is 3.",
      ],
      examples: [
        ("export \(first) -o \(first).csv", "all cached \(first) as CSV"),
        ("export \(first) --sync -o \(first).db", "download missing \(first) first"),
        ("export \(first) -o - --format ndjson", "to standard output, as JSON lines"),
        ("export \(first) --format singer --state state.json", "changes, for a Singer target"),
      ], run: export)
  }

  private static func export(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    if invocation.arguments.count == 2, !invocation.has(file) {
      let words = invocation.arguments.map(\.typed)
      throw CommandError(
        .usage, "unexpected argument \"\(invocation.arguments[1])\"",
        suggestion: "export \(words[0]) -o \(words[1])")
    }
    let plugin = try context.catalog.usablePlugin(named: invocation.argument("SOURCE"))
    if invocation.text(.format) == singer {
      for option in [file, .noClobber, .condition, .order, .csvRaw, .headers, .noHeaders]
      where invocation.has(option) && invocation.text(option) != "-" {
        throw CommandError(
          .usage, "--format singer and \(option.spelling) cannot be used together",
          hint: [file, .noClobber].contains(option) ? "it prints to standard output" : nil)
      }
      return try await plugin.exportStream(invocation, context)
    }
    guard !invocation.has(.state) else {
      throw CommandError(.usage, "--state requires --format singer")
    }
    guard let path = invocation.text(file) else {
      throw CommandError(
        .usage, "missing option \(file.spelling)",
        hint: .command("export \(plugin.name) -o \(plugin.name).csv"))
    }
    let format = try ExportFormat(ofFileNamed: path, or: invocation.text(.format))
    if invocation.has(.noClobber), path != "-" { try NewFile.refuse(path) }
    guard !invocation.has(.csvRaw) || format.text == .csv else {
      throw CommandError(.usage, "--csv-raw requires a .csv file")
    }
    for option in [Option.headers, .noHeaders] where invocation.has(option) {
      guard format.text?.isSeparated == true else {
        throw CommandError(.usage, "\(option.spelling) requires a .csv or .tsv file")
      }
    }
    return try await plugin.export(to: path, as: format, invocation, context)
  }
}

enum ExportFormat: Hashable {
  case text(Format, isCompressed: Bool)
  case sqlite
  case parquet

  /// Fails with code `usage` for an unknown ending.
  ///
  /// - Parameter name: The value of `--format`, which precedes the ending of a file of text.
  init(ofFileNamed path: String, or name: String?) throws(CommandError) {
    let (ending, isCompressed) = path.fileEnding
    let named = name.flatMap { Format(named: $0) }
    let format = Format.allCases.first { $0.fileEndings.contains(ending) } ?? named
    if let name, path != "-", format != named || Self.databases.contains(ending) {
      throw CommandError(
        .usage, "--format \(name) contradicts the name of \"\(path)\"",
        hint: "leave out --format, or give the file another ending")
    }
    switch (format, ending) {
    case (nil, "parquet"): self = .parquet
    case (nil, let ending) where Self.databases.contains(ending): self = .sqlite
    case (let format?, _) where !format.isForPeople:
      self = .text(format, isCompressed: isCompressed)
    default:
      let isOutput = path == "-"
      throw CommandError(
        .usage,
        isOutput ? "the format of standard output is not known" : "unknown format of \"\(path)\"",
        hint: isOutput
          ? "add --format csv, tsv, json, ndjson, yaml or markdown"
          : "end the file's name in .csv, .tsv, .json, .ndjson, .yaml or .md, also followed by .gz, or in .db or .parquet"
      )
    }
    guard !isCompressed || text != nil else {
      throw CommandError(.usage, "unknown format of \"\(path)\"", hint: "only text is compressed")
    }
  }

  private static let databases = SQLiteFile.endings + ["parquet"]

  var text: Format? { if case .text(let format, _) = self { format } else { nil } }

  var isCompressed: Bool { if case .text(_, true) = self { true } else { false } }
}

extension Plugin {
  fileprivate func export(
    to path: String, as format: ExportFormat, _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    // Standard output is one table.
    let tables = path == "-" ? [] : tables
    let duckDB = try format == .parquet ? DuckDB(context.variables) : nil
    let output = OutputOptions(format.text ?? .ndjson, invocation, in: context)
    var listing = try output.listing("export", of: name, fields: fields, layout: layout)
    listing.chosen = listing.chosen ?? listing.fields
    let environment =
      try invocation.has(.sync) ? context.environment() : context.localEnvironment()
    var failure: CommandError?
    if invocation.has(.sync) {
      failure = await complete(in: environment, try environment.requiredStore(), context)
      if let failure { context.diagnostics.warning(failure.message, hint: failure.hint) }
    }
    var outcome = ListingOutcome(of: self, at: environment.now())
    outcome.syncHint = syncHint(in: environment)
    var saved: [(file: String, rows: String)] = []
    do {
      let source: any DataSource<Item>
      if let selection = try Selection(invocation, fields, at: environment.now()) {
        source = try await selected(by: selection, in: environment, &outcome)
      } else {
        let local = try await localRecords(in: environment)
        outcome.claimAll(despite: local.gap)
        source = local.source
      }
      var run = ListingRun(source, of: self, .all(pageSize: 1000), outcome)
      run.isAllOrNothing = true
      defer { outcome = run.outcome }
      let target = try ExportTarget(
        path, format, context, mayReplace: !invocation.has(.noClobber))
      var table = try target.table(listing, output)
      // The fields of the command line are those of the records.
      let plain = output.ofAllFields
      var nested = try tables.map { table in
        let columns = table.fields(of: name, fields)
        var listing = try plain.listing(
          "export", of: "\(name)_\(table.name)", fields: columns, layout: RecordLayout())
        listing.chosen = columns
        return try target.table(listing, plain, nested: table.name)
      }
      context.progress.say { "Exporting \(name)…" }
      while let records = try await run.next() {
        try table.write(records)
        for (index, list) in tables.enumerated() {
          try nested[index].write(records.flatMap { list.rows(of: $0, fields) })
        }
      }
      if run.outcome.count == 0 { await run.suggest() }
      var summary = run.outcome.printedSummary
      try table.finish(summary, duckDB)
      for index in nested.indices {
        // The lists of missing records are missing, too.
        (summary.count, summary.total) = (nested[index].count, nil)
        try nested[index].finish(summary, duckDB)
      }
      // That of the records last: with it, all are there.
      for list in nested {
        if let path = try list.save() { saved.append((path, list.count.of("row"))) }
      }
      let database = try target.save()
      if let file = try database ?? table.save() {
        saved.insert((file, noun.count(run.outcome.count)), at: 0)
      }
    } catch let error as SourceError {
      throw CommandError(error, of: self)
    }
    outcome.reportCount(to: context.diagnostics)
    let code = failure == nil ? outcome.code : .partial
    if path == "-" { return code }
    if format.text == .tsv, !invocation.has(.headers), !invocation.has(.noHeaders) {
      context.diagnostics.note("\(path) has no header; for sql --attach, export it with --headers")
    }
    for (file, rows) in saved { context.diagnostics.note("\(file) (\(rows))") }
    return code
  }
}

/// The file of an export, or the files of one with nested tables.
private struct ExportTarget {
  private let path: String
  private let format: ExportFormat
  private let context: CommandContext
  private let mayReplace: Bool
  private let database: (content: SQLiteFile, file: NewFile)?

  init(
    _ path: String, _ format: ExportFormat, _ context: CommandContext, mayReplace: Bool
  ) throws {
    self.path = path
    self.context = context
    self.mayReplace = mayReplace
    self.format = format
    guard format == .sqlite else {
      database = nil
      return
    }
    let file = try NewFile(replacing: path, in: context, mayReplace: mayReplace)
    database = (try SQLiteFile(file.path), file)
  }

  /// A table of the file, or one in a file beside it: `orders_lines.csv` for the table `lines` in `orders.csv`.
  func table<Row: SourceRecord>(
    _ listing: Listing<Row>, _ output: OutputOptions, nested name: String? = nil
  ) throws -> ExportedTable<Row> {
    if let database {
      return try ExportedTable(
        listing.source ?? "", in: database.content, columns: listing.chosen ?? listing.fields)
    }
    let parts = path.split(separator: ".", omittingEmptySubsequences: false)
    let endings = parts.suffix(format.isCompressed ? 2 : 1).joined(separator: ".")
    let file = name.map { "\(path.dropLast(endings.count + 1))_\($0).\(endings)" } ?? path
    let new =
      file == "-" ? nil : try NewFile(replacing: file, in: context, mayReplace: mayReplace)
    return try ExportedTable(in: new, as: format, listing, output, context)
  }

  /// Completes the database, if it is one, gives it its name, and returns its path after a verb.
  func save() throws -> String? {
    guard let database else { return nil }
    try database.content.finish()
    try database.file.finish()
    return database.file.summary
  }
}
