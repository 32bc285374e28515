import AggregatorKit
import Synchronization

extension CommandTree.Node {
  /// `aggregator search QUERY…`.
  static func search(_ plugins: [any Plugin]) -> CommandTree.Node {
    CommandTree.Node("search", "Search all sources at once", .search(plugins))
  }
}

extension Command {
  /// How long what asks all sources takes at most, where nobody says.
  static let usualTimeOfAll = Duration.seconds(10)

  /// How many records of each source, where nobody says.
  private static let usualLimit = 5

  /// How many at most: as many as one page of each has.
  private static let mostLimit = 100

  fileprivate static func search(_ plugins: [any Plugin]) -> Command {
    let example = plugins.dropFirst().first ?? plugins.first
    let query = example?.example.query ?? "word"
    return Command(
      "QUERY…", options: [.source, .limit] + Option.reading + Option.output,
      fields: SearchHit.fields(of: plugins),
      notes: [
        "Each source gives its first \(usualLimit), or --limit. After \(usualTimeOfAll.text), or "
          + "--timeout, a source answers with what is at hand. The exit code is 3 if a service failed."
      ],
      examples: [
        ("search \(query)", "in all sources"),
        ("search \(query) --source \(example?.name ?? "") --ndjson", "in some, for a program"),
      ]
    ) { invocation, session in
      try await search(invocation, session)
    }
  }

  private static func search(
    _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    guard !invocation.arguments.isEmpty else {
      throw CommandError(.usage, "what to look for is missing", hint: .command("search WORD…"))
    }
    let query: Query
    do throws(SourceError) { query = try Query(invocation.arguments.joined(separator: " ")) } catch
    {
      throw CommandError(error)
    }
    let plugins = try sources(invocation, session)
    tellOfSource(in: invocation.arguments, session)
    let reading = ReadingOptions(invocation)
    let environment = try session.environment()
    environment.warnIfNoStore(session.diagnostics)
    let limit = invocation.count(.limit) ?? usualLimit
    guard limit <= mostLimit else {
      throw CommandError(
        .usage, "a search of all sources gives at most \(mostLimit) of each",
        hint: .command("\(plugins[0].name) search \(query.text.typed) --limit \(limit)"))
    }
    let time = reading.deadline ?? usualTimeOfAll
    var writer = try SearchWriter(query, plugins, OutputOptions(invocation, in: session), session)
    let left = Mutex(plugins.map(\.name))
    session.progress.say { "waiting for \(left.withLock { $0.joined(separator: ", ") })" }
    try await withThrowingTaskGroup(of: (Int, SourceSearch)?.self) { group in
      for (index, plugin) in plugins.enumerated() {
        let continuation = session.diagnostics.command("\(plugin.name) search \(query.text.typed)")
        group.addTask {
          let found = await plugin.search(
            query, limit: limit, within: time, reading, in: environment, continuation: continuation)
          return (index, found)
        }
      }
      group.addTask {
        try? await environment.clock.sleep(for: SearchWriter.firstAnswerDelay)
        return nil
      }
      defer { group.cancelAll() }
      for try await found in group {
        if let (index, search) = found {
          left.withLock { $0.removeAll { $0 == search.source } }
          try writer.take(search, at: index)
        } else {
          try writer.hurry()
        }
        if writer.isComplete { return }
      }
    }
    return try writer.finish()
  }

  /// Tells whoever began with a source's name how to search that source.
  private static func tellOfSource(in words: [String], _ session: Session) {
    guard let name = words.first, words.count > 1, session.tree.sources.contains(name),
      words.allSatisfy(\.isPlainWord)
    else { return }
    let line = "\(name) search \(words.dropFirst().joined(separator: " "))"
    session.diagnostics.note("in \(name) alone: \(session.diagnostics.command(line))")
  }

  /// The sources to search, in the order of the program.
  private static func sources(
    _ invocation: Invocation, _ session: Session
  ) throws(CommandError) -> [any Plugin] {
    guard let names = invocation.list(.source) else { return session.tree.plugins }
    guard !names.isEmpty else { throw CommandError(.usage, "--source names no source") }
    for name in names { _ = try session.tree.plugin(named: name) }
    return session.tree.plugins.filter { names.contains($0.name) }
  }
}
