import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorSQL
import AggregatorTerminal

extension Command {
  private static let file = Option.outputFile.with(
    about: "file to write: .csv, .tsv, .json, .ndjson, .db or .parquet")

  static func export(_ plugins: [any Plugin]) -> Command {
    let first = plugins.first?.name ?? "SOURCE"
    return Command(
      "SOURCE", words: CompletionSource.source(plugins),
      options: [
        file, .sync.with(about: "first sync the source, if incomplete"), .fields, .csvRaw,
      ],
      notes: [
        "Saves the cached records, or bundled ones if none are cached, with all their fields. The ending of "
          + "the file's name is its format; an existing file is replaced. A .db file is an SQLite database with "
          + "a table named after the source. A .parquet file requires the duckdb program.",
        "No service is contacted unless --sync is given; a note says if records are missing.",
      ],
      examples: [
        ("export \(first) -o \(first).csv", "all cached \(first) as CSV"),
        ("export \(first) --sync -o \(first).db", "download missing \(first) first"),
      ], run: export)
  }

  private static func export(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let plugin = try context.catalog.plugin(named: invocation.argument("SOURCE"))
    guard let path = invocation.text(file) else {
      throw CommandError(
        .usage, "missing option \(file.spelling)",
        hint: .command("export \(plugin.name) -o \(plugin.name).csv"))
    }
    let format = try ExportFormat(ofFileNamed: path)
    guard !invocation.has(.csvRaw) || format == .text(.csv) else {
      throw CommandError(.usage, "--csv-raw requires a .csv file")
    }
    return try await plugin.export(to: path, as: format, invocation, context)
  }
}

enum ExportFormat: Hashable {
  case text(Format)
  case sqlite
  case parquet

  /// Fails with code `usage` for an unknown ending.
  init(ofFileNamed path: String) throws(CommandError) {
    let ending = URL(filePath: path).pathExtension.lowercased()
    switch ending {
    case "db", "sqlite", "sqlite3": self = .sqlite
    case "parquet": self = .parquet
    default:
      if let format = Format.allCases.first(where: { $0.fileEndings.contains(ending) }) {
        self = .text(format)
        return
      }
      throw CommandError(
        .usage, "unknown format of \"\(path)\"",
        hint: "end the file's name in .csv, .tsv, .json, .ndjson, .db or .parquet")
    }
  }
}

extension Plugin {
  fileprivate func export(
    to path: String, as format: ExportFormat, _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let duckDB = try format == .parquet ? DuckDB(context.variables) : nil
    let textFormat = if case .text(let format) = format { format } else { Format.ndjson }
    let output = OutputOptions(textFormat, invocation)
    var listing = try output.listing("export", of: name, fields: fields, layout: layout)
    let columns = listing.chosen ?? fields
    listing.chosen = columns
    let environment =
      try invocation.has(.sync) ? context.environment() : context.localEnvironment()
    var failure: CommandError?
    if invocation.has(.sync) {
      failure = await complete(in: environment, try environment.requiredStore(), context)
      if let failure { context.diagnostics.warning(failure.message, hint: failure.hint) }
    }
    var outcome = ListingOutcome(of: self, at: environment.now())
    outcome.syncHint = .command(syncArguments)
    do {
      let local = try await localRecords(in: environment)
      if let gap = local.gap { outcome.add(gap) }
      var run = ListingRun(local.source, of: self, .all(pageSize: 1000), outcome)
      run.isAllOrNothing = true
      defer { outcome = run.outcome }
      let file = try NewFile(replacing: path, in: context)
      context.progress.say { "Exporting \(name)…" }
      switch format {
      case .text:
        var printer = RecordPrinter(listing, output, in: context.writing(to: file.output))
        try await write(&run, to: &printer)
      case .sqlite:
        let table = try SQLiteTable(name, in: file.path, columns: columns)
        while let records = try await run.next() { try table.insert(records) }
        try table.finish()
      case .parquet:
        let rows = try NewFile(replacing: "\(file.path).ndjson", in: context)
        var printer = RecordPrinter(listing, output, in: context.writing(to: rows.output))
        try await write(&run, to: &printer)
        try duckDB?.convert(rows.path, to: file.path, columns: columns)
      }
      try file.finish()
    } catch let error as SourceError {
      throw CommandError(error, of: self)
    }
    outcome.reportCount(to: context.diagnostics)
    context.diagnostics.note("Saved \(path) (\(noun.count(outcome.count)))")
    return failure == nil && !outcome.isPartial ? .success : .partial
  }

  private func write(
    _ run: inout ListingRun<Self>, to printer: inout RecordPrinter<Item>
  ) async throws {
    while let records = try await run.next() { try printer.print(records) }
    try printer.finish(run.outcome.summary)
  }
}
