import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Plugin {
  var diffCommand: Command {
    Command(
      options: [
        .since, .schema, .exitCode,
        .limit.with(about: "maximum number of changed records (default: all)"),
      ] + Option.formatting,
      fields: ChangeEntry.fields,
      notes: [
        "Compares cached records with an earlier state of them, and contacts no service: + was added, "
          + "~ has changed, − was removed upstream. Changes found by list, next and show count too, but "
          + "not details that merely became known, nor values that changed back. Deleted records are left out.",
        "--since sync compares with the completed sync before the last one, or with the last one if it is "
          + "the only one. Dates and times are in UTC.",
        "--schema lists how the members of the rows have changed, with those of objects inside (owner.login), as each "
          + "complete sync has found them: all that is known, or since a date. It is known of added sources.",
      ],
      examples: [
        ("\(name) diff", "changes of the last sync, and later ones"),
        ("\(name) diff --since yesterday --ndjson", "changes since yesterday as JSON lines"),
        ("\(name) diff --since 2h --exit-code", "exit with 1 if anything changed within 2 hours"),
      ], run: diff)
  }

  private func diff(_ invocation: Invocation, _ context: CommandContext) async throws -> ExitCode {
    let output = try OutputOptions(invocation, in: context)
    let environment = try context.localEnvironment()
    let now = environment.now()
    if invocation.has(.schema) { return try await schemaDiff(output, in: environment, context) }
    let start = try HistoryStart(typed: invocation.text(.since) ?? "sync", now: now)
    var listing = try output.plainListing("diff", ChangeEntry.self)
    listing.source = name
    listing.paragraph = { $0.paragraph($1) }
    var printer = RecordPrinter(listing, output, in: context)
    let found = try await changes(
      since: start, in: environment.requiredStore(), atMost: invocation.count(.limit)
    ) { try printer.print($0) }
    guard let found else { throw try await missingHistory(before: start, in: environment, context) }
    let warnings = found.warnings(of: name)
    try printer.finish(
      ListingSummary(
        count: found.count, total: found.isCut ? nil : found.count, warnings: warnings))
    let since = found.date.map { " since \($0.iso8601) (\($0.age(at: now)))" } ?? ""
    context.diagnostics.note(
      (found.count == 0 ? "No differences" : found.text) + since
        + (found.isCut ? " · more: without --limit" : ""))
    for warning in warnings { context.diagnostics.warning("\(name): \(warning.warning.message)") }
    return invocation.has(.exitCode) && found.count > 0 ? .different : .success
  }
}

extension Plugin {
  fileprivate func schemaDiff(
    _ output: OutputOptions, in environment: PluginEnvironment, _ context: CommandContext
  ) async throws -> ExitCode {
    let (invocation, now) = (context.invocation, environment.now())
    var start = Date.distantPast
    if let text = invocation.text(.since) {
      guard case .date(let date) = try HistoryStart(typed: text, now: now) else {
        throw CommandError(
          .usage, "--schema cannot be used with --since \(text)",
          hint: "give a date such as 2026-01-31, or a span such as 7d")
      }
      start = date
    }
    guard let history = try await recordStore(in: environment.requiredStore()).schemaHistory()
    else {
      throw CommandError(
        .unavailable, "\(name): the members of its rows are not known",
        hint: .command(syncArguments))
    }
    let entries = history.entries.filter { $0.date >= start }.map(SchemaEntry.init)
    let shown = Array(invocation.count(.limit).map { entries.suffix($0) } ?? entries[...])
    var listing = try output.plainListing("diff", SchemaEntry.self)
    listing.source = name
    listing.paragraph = { entry, _ in entry.paragraph }
    try RecordPrinter.print(
      shown, as: listing, output, in: context,
      ListingSummary(count: shown.count, total: entries.count))
    if entries.isEmpty { context.diagnostics.note("No member of the rows has changed") }
    return invocation.has(.exitCode) && !entries.isEmpty ? .different : .success
  }
}

/// The number of differences of a comparison, and its start.
struct ChangeSummary {
  fileprivate(set) var counts: [ChangeEntry.Kind: Int] = [:]
  fileprivate(set) var unreadable = UnreadableRows.none

  /// The date of the start; `nil` for a point without one.
  let date: Date?

  /// The date before which changes are not known, if it is after the start.
  let knownSince: Date?

  /// True if the limit was reached before the end.
  fileprivate(set) var isCut = false

  var count: Int { counts.values.reduce(0, +) }

  /// The counts: `2 added, 1 removed`.
  var text: String {
    [ChangeEntry.Kind.added, .changed, .removed].compactMap { kind in
      counts[kind].map { "\($0) \(kind.rawValue)" }
    }.joined(separator: ", ")
  }

  func warnings(of source: String) -> [SourceWarning] {
    var warnings: [Warning] = []
    if let knownSince {
      warnings.append(
        Warning(
          .historyTrimmed,
          "changes before \(knownSince.iso8601) are not known: some may be missing"))
    }
    if unreadable.count > 0 { warnings.append(.unreadable(unreadable)) }
    return warnings.map { SourceWarning(source, $0) }
  }
}

extension Plugin {
  /// Passes the changes since a point to `body`, some at a time; `nil` if nothing is known of that point.
  func changes(
    since start: HistoryStart, in store: any Store, atMost limit: Int? = nil,
    _ body: ([ChangeEntry]) throws -> Void
  ) async throws -> ChangeSummary? {
    let recordStore = recordStore(in: store)
    var start = start
    var summary: ChangeSummary?
    var position: Int64? = 0
    while let after = position {
      guard let page = try await recordStore.changes(since: start, after: after, limit: 500) else {
        return nil
      }
      start = .mark(page.start)
      position = page.next
      var sum = summary ?? ChangeSummary(date: page.date, knownSince: page.knownSince)
      let all = page.changes.compactMap { ChangeEntry($0.change, at: $0.date, of: self) }
      let entries = Array(limit.map { all.prefix($0 - sum.count) } ?? all[...])
      for entry in entries { sum.counts[entry.kind, default: 0] += 1 }
      sum.unreadable = sum.unreadable + page.unreadable
      sum.isCut = entries.count < all.count
      if sum.count == limit, position != nil {
        sum.isCut = true
        position = nil
      }
      summary = sum
      try body(entries)
    }
    return summary
  }

  /// The reason that nothing is known of a point, and the remedy.
  func missingHistory(
    before start: HistoryStart, in environment: PluginEnvironment, _ context: CommandContext
  ) async throws -> CommandError {
    let status = try await environment.requiredStore().status(of: name)
    let setting = Directories.history(of: context.catalog.name)
    let isOff = (try? environment.settings.history(setting))?.isOff ?? false
    if isOff {
      return CommandError(
        .unavailable, "\(name): no history is kept (\(setting.key) is off)",
        hint: .command("config set \(setting.key) \(setting.defaultValue.map { "'\($0)'" } ?? "")"))
    }
    if status.isEmpty {
      return CommandError(
        .unavailable, "\(name): nothing is cached, so there is nothing to compare with",
        hint: .command(syncArguments))
    }
    return start == .sync
      ? CommandError(
        .unavailable, "\(name) was never synced completely",
        hint: .steps(.command(syncArguments), .words("or compare with a date: --since yesterday")))
      : CommandError(
        .unavailable, "\(name): no history yet, it begins with the next change or sync",
        hint: .command(syncArguments))
  }
}

/// A change of a record, as `diff` and `watch` print it.
struct ChangeEntry: Entry {
  enum Kind: String, Codable { case added, changed, removed }

  let kind: Kind
  let id: String

  private let name: String

  /// The names of the fields that differ; none for a record that was added or removed.
  private let names: [String]

  /// The earlier values of these fields; null if there are none.
  private let before: JSON

  /// The present values of these fields; null if there are none.
  private let after: JSON

  /// The record as it is now, or was when it was removed.
  private let record: JSON
  private let date: String

  /// `nil` if no field differs, but only something that is not shown.
  init?<P: Plugin>(_ change: RecordChange<P.Item>, at date: Date, of plugin: P) {
    id = change.item.id.description
    name = plugin.label(of: change.item)
    self.date = date.iso8601
    record = plugin.fields.object(of: change.item)
    switch change {
    case .added: (kind, names, before, after) = (.added, [], .null, .null)
    case .removed: (kind, names, before, after) = (.removed, [], .null, .null)
    case .changed(let old, let new):
      let fields = plugin.fields.filter { $0[old] != $0[new] }
      guard !fields.isEmpty else { return nil }
      (kind, names) = (.changed, fields.map(\.name))
      (before, after) = (fields.object(of: old), fields.object(of: new))
    }
  }

  static let fields: [Field<ChangeEntry>] = [
    Field("change", "Change", .text, about: "added, changed or removed.") {
      .string($0.kind.rawValue)
    },
    Field("id", "ID", \.id, about: "The record's ID."),
    Field("name", "Name", \.name, about: "The record's name or title."),
    Field("fields", "Fields", \.names, about: "The fields that changed."),
    Field(
      "before", "Before", .any, about: "The earlier values of these fields.", read: \.before),
    Field("after", "After", .any, about: "Their present values.", read: \.after),
    Field(
      "record", "Record", .any, about: "The record now, or when it was removed.", isShown: false,
      read: \.record),
    Field("foundAt", "Found", \.date, about: "The time at which the change was found."),
  ]

  /// A line for people: `~ Toaster (42): price 12 → 9`.
  func paragraph(_ id: String) -> Paragraph {
    let title = name.isEmpty ? id : "\(name.safeLine.fitted(to: 80)) (\(id))"
    switch kind {
    case .added: return Paragraph(sign: "+", role: .id, text: title)
    case .removed: return Paragraph(sign: "−", role: .error, text: title)
    case .changed:
      let differences = names.map { name in
        let (old, new) = Excerpt.pair(before[name] ?? .null, after[name] ?? .null)
        return "\(name) \(old) → \(new)"
      }
      return Paragraph(
        sign: "~", role: .warning, text: "\(title): \(differences.joined(separator: ", "))")
    }
  }
}

/// The parts of two long values that show where they differ.
private enum Excerpt {
  private static let maxCells = 40
  /// The characters before the first difference.
  private static let context = 12

  static func pair(_ old: JSON, _ new: JSON) -> (String, String) {
    let (old, new) = (old.cell.safeLine, new.cell.safeLine)
    let common = zip(old, new).prefix { $0 == $1 }.count
    let isLong = max(old.displayWidth, new.displayWidth) > maxCells
    let skipped = isLong ? max(0, common - context) : 0
    func part(_ text: String) -> String {
      guard !text.isEmpty else { return "(none)" }
      return ((skipped > 1 ? "…" : "") + text.dropFirst(skipped > 1 ? skipped : 0))
        .fitted(to: maxCells)
    }
    return (part(old), part(new))
  }
}
