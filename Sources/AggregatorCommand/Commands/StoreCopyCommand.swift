import AggregatorArguments
package import AggregatorCopy
package import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import Synchronization

extension Command {
  static let copyStore = Command(
    "FROM TO", words: { arguments, _ in arguments.count < 2 ? .file : .none },
    options: Option.formatting, fields: StoreCopy.Table.fields,
    notes: [
      "FROM and TO are paths of SQLite files or URLs of PostgreSQL databases. TO must be empty, and is "
        + "created. Records keep their positions, so that next and sync continue in the copy. An "
        + "interrupted copy continues if the command is repeated.",
      "At the end all rows of both are compared: the exit code is 0 only if the checksums are equal. What changes "
        + "in FROM meanwhile is copied too; if it keeps changing, the exit code is 75.",
      "Images are not part of a store. Leave passwords out of URLs: ~/.pgpass can hold those of two servers.",
    ],
    examples: [
      ("store copy store.sqlite postgresql://me@db.example/records", "move to PostgreSQL"),
      ("store copy postgresql://me@db.example/records backup.sqlite", "make a backup"),
    ],
    run: runCopy)

  private static func runCopy(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let (from, to) = try context.copyLocations()
    let output = try OutputOptions(invocation, in: context)
    let start = ContinuousClock.now
    let hasBegun = Atomic(false)
    let resumption = { @Sendable [diagnostics = context.diagnostics] in
      guard hasBegun.load(ordering: .relaxed) else { return }
      diagnostics.note(
        "The copy is unfinished. Resume with: "
          + diagnostics.command("store copy \(from.typed) \(to.typed)"))
    }
    let interruption = Interruption.atEnd(resumption)
    defer { interruption.cancel() }
    let show = context.showCopying()
    let result: StoreCopy.Result
    do {
      result = try await StoreCopy(
        from: .init(context.store(at: from, isStrict: true), at: from.description),
        to: .init(context.store(at: to, isStrict: true), at: to.description)
      ) { progress in
        // A copy that was finished before is only compared.
        if !progress.isComparing { hasBegun.store(true, ordering: .relaxed) }
        show(progress)
      }.run()
    } catch {
      resumption()
      throw error
    }
    context.progress.say(nil)
    try RecordPrinter.print(
      result.tables, as: output.plainListing("store copy", StoreCopy.Table.self), output,
      in: context)
    guard result.isComplete else {
      throw CommandError(
        .tryLater, "\(from) is being changed: the copy is not finished",
        hint: "stop what writes to it, and run this command again")
    }
    if result.hasChanged {
      context.diagnostics.note("Some rows differed and were copied again: \(from) has changed")
    }
    let rows = result.tables.reduce(0) { $0 + $1.rows }
    context.diagnostics.note(
      "Copied \(rows.of("row")) to \(to) in \((ContinuousClock.now - start).text)")
    let setting = StoreLocation.setting(of: context.catalog.name).key
    context.diagnostics.note(
      "To use it: \(context.diagnostics.command("config set \(setting) \(to.typed)"))")
    return .success
  }
}

extension CommandContext {
  fileprivate func copyLocations() throws(CommandError) -> (from: StoreLocation, to: StoreLocation)
  {
    let names = ["FROM", "TO"]
    guard invocation.arguments.count >= names.count else {
      throw .missingArgument(
        names[invocation.arguments.count], hint: "name two stores: store copy FROM TO")
    }
    try invocation.refuseArguments(after: names.count)
    guard !invocation.has(.store) else {
      throw CommandError(
        .usage, "\(Option.store.spelling) cannot be used with store copy",
        hint: "name both stores as arguments")
    }
    let settings = try settings()
    let chosen = try chosenLocation(settings)
    var locations: [StoreLocation] = []
    for (name, text) in zip(names, invocation.arguments) {
      let location = try CommandError.wrapping(
        try StoreLocation(
          argument: text, for: name, in: FileManager.default.currentDirectoryPath))
      if location.hasPassword {
        warnOfVisiblePassword(
          "\(name) has a password, which other users can see in the process list")
      }
      // The password of one server is not sent to another one.
      let isOther: Bool =
        if case .postgres? = chosen { chosen?.description != location.description } else { false }
      locations.append(isOther ? location : location.completed(by: settings, of: catalog.name))
    }
    guard locations[0].resolved != locations[1].resolved else {
      throw CommandError(
        .usage, "FROM and TO are the same store", hint: "name a new file or an empty database")
    }
    return (locations[0], locations[1])
  }

  fileprivate func showCopying() -> @Sendable (StoreCopy.Progress) -> Void {
    let latest = Mutex<StoreCopy.Progress?>(nil)
    progress.say { [progress] in
      guard let state = latest.withLock(\.self) else { return "Opening the stores…" }
      return progress.bar(
        state.isComparing ? "comparing" : "copying", state.done, of: state.total,
        after: state.count)
    }
    return { state in latest.withLock { $0 = state } }
  }

  /// Says how to finish the copy that is this store.
  func warnOfUnfinishedCopy(
    into store: any SourceStore, at location: StoreLocation
  ) async throws(SourceError) {
    guard let text = try await store.capabilities.database?.copyMark(), let mark = CopyMark(text)
    else { return }
    diagnostics.warning(
      "this store is an unfinished copy of \(mark.origin)",
      hint: .command("store copy \(mark.origin.typedPath) \(location.typed)"))
  }
}

extension StoreLocation {
  fileprivate var typed: String { description.typedPath }
}

extension StoreCopy.Table: Entry {
  package var id: String { name }

  package static let fields: [Field<StoreCopy.Table>] = [
    Field("table", "Table", \.id, about: "The table of the store."),
    Field("rows", "Rows", \.rows, about: "The number of its rows in FROM."),
    Field(
      "checksum", "Checksum", \.checksum,
      about: "The checksum of these rows: 128-bit FNV-1a of all values in the order of their keys."),
    Field("equal", "Equal", \.isEqual, about: "True if TO has the same number and checksum."),
  ]
}
