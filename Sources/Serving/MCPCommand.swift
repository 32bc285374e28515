import AggregatorAPI
import AggregatorAgents
package import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Command {
  private static let readOnly = Option(
    "read-only", about: "leave out the tool that downloads whole sources")
  private static let allowAdd = Option(
    "allow-add", about: "let models try URLs, and add sources of them")
  private static let allowHost = Option(
    "allow-host", .text, "HOST",
    about: "host of a private network that a tried URL may name; also several")
  private static let install = Option(
    "install", .choice(AgentClient.allCases.map(\.rawValue)), "PROGRAM",
    about: "print the configuration for a program, and where it belongs")

  package static let mcp = Command(
    needs: .init(ownArenas: true),
    options: [
      readOnly, allowAdd, allowHost, install, .source.with(about: "offer only these sources"),
      .replay,
    ],
    notes: [
      "Speaks the Model Context Protocol on standard input and output, so that a language model's program can use the "
        + "sources as tools: it starts this command, and ends it. serve answers the same at /mcp, with its token.",
      "Records are marked as data, and a model can change nothing but what is cached. --allow-add also lets it request "
        + "hosts that it names.",
    ],
    examples: [
      ("mcp --install claude-code", "print how Claude Code is told of it"),
      ("mcp --source countries --read-only", "one source, which only reads"),
    ], run: answerAgents)

  private static func answerAgents(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    try invocation.refuseArguments()
    if let client = invocation.text(install).flatMap({ AgentClient(rawValue: $0) }) {
      let (place, text) = client.configuration(
        of: context.programPath, named: context.catalog.name.text)
      context.diagnostics.note("Add to \(place):")
      try context.output.write(text)
      return .success
    }
    let mayAdd = invocation.has(allowAdd)
    for other in [readOnly, .replay] where mayAdd && invocation.has(other) {
      throw CommandError.exclusive(allowAdd.spelling, other.spelling)
    }
    guard mayAdd || !invocation.has(allowHost) else {
      throw CommandError(
        .usage, "\(allowHost.spelling) needs \(allowAdd.spelling)",
        hint: "without it no host can be named")
    }
    let environment = try context.environment()
    environment.warnIfNoStore(context.diagnostics)
    let serving = try ServedSources(invocation, environment, nil, .standard, context)
    let plugins = try invocation.sources(in: context)
    let sql = ServedSQL(of: plugins, in: environment)
    let hosts = invocation.texts(allowHost)
    let folder = ServedFolder(
      invocation.list(.source), in: environment, context,
      limitedBy: { PublicTransport($0, allowing: hosts) }
    ) { plugin, environment in
      let source = try serving.source(plugin, environment)
      sql.add(plugin, in: environment)
      return source
    }
    let management = mayAdd ? try ServedManagement(of: folder, context) : nil
    var api = API(
      sources: try folder.sources(), sql: sql, adding: management.map(SourceAdding.init),
      syncs: SyncJobs(in: environment), now: environment.now)
    if !serving.isRecorded { api.changes = folder.changes }
    let server = AgentServer(
      of: context.catalog.name, mayChange: !invocation.has(readOnly), mayAdd: mayAdd
    ) { [api] in api }
    if isatty(STDIN_FILENO) == 1 {
      context.diagnostics.note(
        "Waiting for messages of the Model Context Protocol; Ctrl-D ends it. A program of agents starts this command: "
          + "see --install.")
    }
    await AgentStream(server, output: context.output).run()
    await api.syncs.stop()
    return .success
  }
}

extension CommandContext {
  /// The path of this program, for a configuration that is read where `PATH` may be another one.
  fileprivate var programPath: String {
    let name = CommandLine.arguments.first ?? ""
    guard name.contains("/"), let path = realpath(name, nil) else { return catalog.name.text }
    defer { free(path) }
    return String(cString: path)
  }
}
