import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorSelection
import AggregatorSinger
import AggregatorTerminal

extension Option {
  /// The state of an earlier export.
  static let state = Option(
    "state", .file, "FILE", about: "send only what has changed since the state in FILE")
  fileprivate static let catalog = Option(
    "catalog", .file, "FILE", about: "send only the streams and fields that FILE selects")
  fileprivate static let properties = Option(
    "properties", .file, "FILE", about: "the same as --catalog, for older programs")
  fileprivate static let discover = Option(
    "discover", about: "print the catalog: the streams, with their fields")
}

extension Command {
  static let tap = Command(
    needs: .init(ownArenas: true, newest: true),
    options: [
      .config.with(about: "read the names of the sources from FILE, a JSON object"), .discover,
      .catalog, .properties, .state,
    ],
    notes: [
      "Runs as a tap of the Singer protocol, such as Meltano starts: prints the cached records of each source as the "
        + "messages of a stream, for a target that loads them into a database. Messages go to standard output, all else to "
        + "standard error.",
      "The file of --config is {\"sources\": [\"heroes\"], \"sync\": true}: by default all sources, without a sync. With "
        + "sync, each source is synced first; if that fails, its cached records are sent, and the exit code is 3.",
      "The last message is the state. Given to the next run with --state, only what has changed is sent: records that were "
        + "removed upstream or deleted have the property _sdc_deleted_at. Everything is sent again, as a new version, if the "
        + "history of changes does not reach back to the state, or if it is that of another store.",
    ],
    examples: [
      ("tap --config tap.json --discover", "the catalog of the sources in tap.json"),
      ("tap --config tap.json --state state.json", "what has changed since the state"),
    ], run: runTap)

  private static func runTap(
    _ invocation: Invocation, _ outer: CommandContext
  ) async throws -> ExitCode {
    try invocation.refuseArguments()
    let path = invocation.text(.catalog) ?? invocation.text(.properties)
    if invocation.has(.catalog), invocation.has(.properties) {
      throw CommandError.exclusive(Option.catalog.spelling, Option.properties.spelling)
    }
    let config = try CommandError.wrapping(
      try invocation.text(.config).map(TapConfig.init(reading:)) ?? TapConfig())
    // The file is not one of settings.
    let options = Option.common.filter { $0 != .config && invocation.has($0) }
    let values = options.map { ($0, invocation.texts($0)) }
    let context = CommandContext(
      Invocation(arguments: [], values: Dictionary(values) { first, _ in first }),
      of: outer.catalog, variables: outer.variables)
    let plugins =
      try config.sources?.map(context.catalog.plugin(named:)) ?? context.catalog.plugins
    guard !invocation.has(.discover) else { return try await discover(plugins, context) }
    let catalog = try CommandError.wrapping(try path.map(TapCatalog.init(reading:)))
    let state = try CommandError.wrapping(
      try invocation.text(.state).map(SingerState.init(reading:)) ?? SingerState())
    let code = try await send(plugins, catalog, state, syncing: config.syncs, context)
    await context.signIns.finish()
    return code
  }

  /// Prints the catalog.
  private static func discover(
    _ plugins: [any Plugin], _ context: CommandContext
  ) async throws -> ExitCode {
    let store = try context.localEnvironment().requiredStore()
    var streams: [JSON] = []
    for plugin in plugins { streams.append(try await plugin.catalogEntry(in: store)) }
    let catalog: JSON = ["streams": .array(streams)]
    try context.output.write("\(catalog.text)\n")
    return .success
  }

  /// Sends the selected streams, one after the other.
  private static func send(
    _ plugins: [any Plugin], _ catalog: TapCatalog?, _ state: SingerState, syncing: Bool,
    _ context: CommandContext
  ) async throws -> ExitCode {
    var (plugins, state) = (plugins, state)
    var isComplete = true
    if let catalog {
      let names = Set(plugins.map(\.name))
      let unknown = catalog.selected.filter { !names.contains($0) }
      if let first = unknown.first {
        isComplete = false
        let others = unknown.count > 1 ? " and \((unknown.count - 1).of("other stream"))" : ""
        context.diagnostics.warning(
          "the catalog selects \"\(first)\"\(others), not among the sources",
          hint: .words("add the source to the file of --config, or deselect it"))
      }
      plugins.removeAll { !catalog.isSelected($0.name) }
    }
    // An invalid one is reported before anything is sent.
    for plugin in plugins { _ = try CommandError.wrapping(try state.position(of: plugin.name)) }
    let environment = try syncing ? context.environment() : context.localEnvironment()
    for (index, plugin) in plugins.enumerated() {
      if syncing, await !plugin.syncForTap(in: environment, context) { isComplete = false }
      do {
        let isSent = try await plugin.sendStream(in: environment, context, &state) { field in
          catalog?.isSelected(field, of: plugin.name) ?? true
        }
        if !isSent { isComplete = false }
        if index < plugins.count - 1 { try context.write(state) }
      } catch let error as CommandError where error.code != .io && error.code != .interrupted {
        // The others are sent.
        context.diagnostics.error(error)
        isComplete = false
      }
    }
    try context.write(state)
    return isComplete ? .success : .partial
  }
}

extension CommandContext {
  fileprivate func write(_ state: SingerState) throws {
    let message: JSON = ["type": "STATE", "value": state.json]
    try output.write("\(message.text)\n")
  }
}

extension Plugin {
  fileprivate func catalogEntry(in store: any SourceStore) async throws -> JSON {
    try await StreamWriter(of: self, in: store) { _ in true }.catalogEntry
  }

  /// Syncs the source, one page of an endless one; false if that has failed, or not everything was read.
  fileprivate func syncForTap(
    in environment: PluginEnvironment, _ context: CommandContext
  ) async -> Bool {
    do throws(CommandError) {
      let report = try await syncRun(
        upTo: policy.isEndless ? 1 : nil, resumingWith: syncArguments, in: environment, context)
      report.report(to: context.diagnostics, isNamed: true)
      return report.code == .success
    } catch {
      context.diagnostics.error(error)
      return false
    }
  }

  /// Prints what has changed in the cached records, and the state after them.
  func exportStream(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    var state = try CommandError.wrapping(
      try invocation.text(.state).map(SingerState.init(reading:)) ?? SingerState())
    let chosen = try invocation.list(.fields).map { try fields.fields(named: $0).map(\.name) }
    let syncs = invocation.has(.sync)
    let environment = try syncs ? context.environment() : context.localEnvironment()
    var isComplete = true
    if syncs {
      let failure = await complete(in: environment, try environment.requiredStore(), context)
      if let failure {
        context.diagnostics.warning(failure.message, hint: failure.hint)
        isComplete = false
      }
    }
    let isSent = try await sendStream(in: environment, context, &state) { field in
      chosen?.contains(field) ?? true
    }
    try context.write(state)
    return isSent && isComplete ? .success : .partial
  }

  /// Prints the messages but for the last state, which is put into `state`; false if records are missing.
  fileprivate func sendStream(
    in environment: PluginEnvironment, _ context: CommandContext, _ state: inout SingerState,
    selecting isSelected: (String) -> Bool
  ) async throws -> Bool {
    let store = try environment.requiredStore()
    do {
      let isSynced = try await recordStore(in: store).completeSync() != nil
      guard try await !store.status(of: name).isEmpty || isSynced else {
        throw CommandError(
          .unavailable, "\(name): no records are cached, so there is nothing to send",
          hint: .command(syncArguments))
      }
      var warnings = await store.doubts(of: name)
      let gap = try await gap(in: store)
      if let gap { warnings.append(gap.limitation.warning) }
      var export = try await StreamExport(
        of: self, in: environment, state, selecting: isSelected
      ) { try context.output.write($0) }
      if let position = try await export.run(isComplete: warnings.allSatisfy(\.isOfValues)) {
        state = state.setting(name, to: position)
      }
      if export.unreadable.count > 0 { warnings.append(.unreadable(export.unreadable)) }
      if let reason = export.restartReason {
        context.diagnostics.note("\(name): everything is sent again, because \(reason)")
      }
      if !export.isNoted {
        context.diagnostics.warning(
          "\(name): the store cannot be written to, so the next export sends everything again")
      }
      for warning in warnings {
        let hint = warning.code == .incomplete ? gap?.command.map(Hint.command) : nil
        context.diagnostics.warning("\(name): \(warning.message)", hint: hint)
      }
      let deleted = export.deleted > 0 ? ", \(export.deleted) of them deleted" : ""
      context.diagnostics.note("\(name): sent \(noun.count(export.count))\(deleted)")
      return warnings.allSatisfy(\.isOfValues)
    } catch let error as SourceError {
      throw CommandError(error, of: self)
    }
  }
}
