import AggregatorFoundation
package import AggregatorKit
package import AggregatorQueries
package import AggregatorTerminal

extension Invocation {
  private static let maxIDs = 100_000

  /// The IDs for a verb: the arguments, those on standard input for `-`, or those of the records that the person picks
  /// on the terminal, also if an argument is no ID and several are called so; `nil` if they leave without one, none if
  /// nothing is deleted.
  ///
  /// - Parameter takesSeveral: True if several may be picked.
  package func ids<P: Plugin>(
    of plugin: P, for verb: String, pickedIn context: CommandContext, takesSeveral: Bool = true
  ) async throws -> [String]? {
    let mayName = arguments.count == 1 && arguments != ["-"] && verb != "restore"
    guard arguments.isEmpty || mayName && isatty(STDERR_FILENO) == 1,
      let picker = RecordPicker(of: plugin, context)
    else { return try ids(of: plugin, for: verb, in: context) }
    if let text = arguments.first, try await !isAmbiguous(text, in: plugin, context) {
      return try ids(of: plugin, for: verb, in: context)
    }
    let picking = BrowseState.Picking(
      takesSeveral: takesSeveral, areDeleted: verb == "restore")
    // A verb without the option asks no service.
    return try await picker.pick(
      picking, matching: arguments.first ?? "", isLocal: verb == "delete")
  }

  /// True if the text is no ID of the source, and several of its local records are called so.
  private func isAmbiguous<P: Plugin>(
    _ text: String, in plugin: P, _ context: CommandContext
  ) async throws -> Bool {
    let environment = try context.quiet.localEnvironment()
    let recording = try RecordingOptions(self, environment.settings, of: context.catalog.name)
    // The request would be recorded twice.
    guard !recording.isOn else { return false }
    let source = try SourceOptions(self).source(of: plugin, in: environment)
    return await RecordFinder(plugin, source, environment).isAmbiguous(text)
  }

  /// The IDs for a verb: the arguments, or those on standard input for `-`.
  package func ids(
    of plugin: some Plugin, for verb: String, in context: CommandContext
  ) throws(CommandError) -> [String] {
    let command = "\(plugin.name) \(verb)"
    guard let first = arguments.first else {
      throw CommandError.missingArgument(
        "ID",
        hint: .steps(
          .command("\(command) \(plugin.example.idArgument)"),
          .words(
            "or pass IDs on standard input, one per line: \(context.catalog.program) \(command) -"))
      )
    }
    guard first == "-", arguments.count == 1 else {
      guard arguments.allSatisfy({ $0.nonBlank != nil }) else {
        throw CommandError(.usage, "blank ID", hint: .command("help \(command)"))
      }
      return arguments
    }
    var ids: [String] = []
    while let line = readLine() {
      if ids.isEmpty, let mark = line.first(where: { !$0.isWhitespace }), "{[".contains(mark) {
        throw CommandError(
          .usage, "standard input is JSON, not IDs",
          hint: .words("pass one ID per line; of --json, with --jq '.items[].id'"))
      }
      // The first column of what list and fzf print.
      let id = String(line.prefix { $0 != "\t" }).trimmed
      if !id.isEmpty { ids.append(id) }
      guard ids.count <= Self.maxIDs else {
        throw CommandError(.usage, "more than \(Self.maxIDs) IDs; nothing was done")
      }
    }
    guard !ids.isEmpty else {
      throw CommandError(
        .usage, "standard input contains no ID",
        hint: .words(
          "pass one ID per line: \(context.catalog.program) \(command) - < ids.txt"))
    }
    return ids
  }
}

extension [String] {
  /// The IDs without those that are there already.
  package var uniqueIDs: [String] {
    var seen: Set<RecordKey> = []
    return filter { seen.insert(RecordKey($0)).inserted }
  }
}
