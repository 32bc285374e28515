import AggregatorAPI
package import AggregatorArguments
import AggregatorFiles
package import AggregatorKit
import AggregatorQueries
import AggregatorServer
import AggregatorTelemetry
import AggregatorTerminal
import AggregatorWeb
import Dispatch

extension Command {
  private static let port = Option(
    "port", .count(0...65535), "N", about: "port, 0 for any free one (default 8080)")
  private static let open = Option("open", about: "open the page in a browser")
  private static let listen = Option(
    "listen", .text, "ADDRESS",
    about: "listen on this address instead of 127.0.0.1; requires --token-file or --no-token")
  private static let host = Option(
    "host", .text, "NAME",
    about: "also answer for this host name, or behind a proxy for https://NAME; also several")
  private static let allowOrigin = Option(
    "allow-origin", .text, "ORIGIN", about: "let pages of this origin use the API; also several")
  private static let readOnly = Option(
    "read-only", about: "refuse deletions, restores and syncs")

  private static let allowAdd = Option(
    "allow-add", about: "let people add, edit and remove sources on the page; only on this machine")

  private static let defaultPort = 8080

  package static func serve(_ plugins: [any Plugin]) -> Command {
    let name = plugins.dropFirst().first?.name ?? plugins.first?.name ?? "NAME"
    return Command(
      needs: .init(descriptors: ServerLimits.minDescriptors, ownArenas: true),
      options: [
        port, open, listen, host, allowOrigin, readOnly, allowAdd, .newToken, .tokenFile, .noToken,
        .source.with(about: "serve only these sources"), .replay, .replayWire,
      ],
      notes: [
        "The printed address contains an access token, which survives restarts. Programs send it as "
          + "Authorization: Bearer TOKEN; /openapi.json describes the API.",
        "Requires libmicrohttpd (apt install libmicrohttpd12, brew install libmicrohttpd).",
      ],
      examples: [
        ("serve --open", "open the page in a browser"),
        ("serve --source \(name) --port 9000", "one source, on another port"),
        ("serve --replay-wire DIR", "replay a recording to an app, in place of its service"),
      ], run: serve)
  }

  private static func serve(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let address = invocation.text(listen) ?? "127.0.0.1"
    let port = invocation.count(port) ?? defaultPort
    // A replayed service has no token.
    let isOpen =
      invocation.has(.noToken) || invocation.has(.tokenFile) && !invocation.has(.replayWire)
    guard isLoopback(address) || isOpen else {
      let choice = invocation.has(.replayWire) ? "--no-token" : "--token-file or --no-token"
      throw CommandError(
        .usage, "--listen \(address) requires \(choice)",
        hint: "others can reach this address: choose who may use it")
    }
    // The server then requests whatever URL a client names, also those that only this machine reaches.
    if invocation.has(allowAdd) {
      guard isLoopback(address), !invocation.has(host) else {
        throw CommandError(
          .usage, "\(allowAdd.spelling) is only for servers that no other machine reaches",
          hint: "add sources on this machine, by sources add")
      }
      for other in [readOnly, .replay, .record] where invocation.has(other) {
        throw CommandError.exclusive(allowAdd.spelling, other.spelling)
      }
    }
    let (origins, hosts) = (try origins(invocation), try hosts(invocation))
    if let directory = invocation.text(.replayWire) {
      let replay = WireReplay(try Recording(URL(filePath: directory)))
      let server = try start(
        on: address, port,
        HTTPServer.Responder { request in
          let isPreflight =
            request.method == "OPTIONS" && request.header("Access-Control-Request-Method") != nil
          var response = isPreflight ? .preflight(for: request) : replay.response(to: request)
          if let origin = request.header("Origin"), origins.contains(origin.lowercased()) {
            response.allow(origin)
          }
          return response
        })
      try context.output.write("\(server.url(named: address))\n")
      context.diagnostics.note("Replaying \(directory). Press Ctrl-C to stop.")
      return await run(server)
    }
    let environment = try context.environment()
    let secrets = try secrets(invocation, environment, context)
    environment.warnIfNoStore(context.diagnostics)
    let metrics = Metrics()
    let images = ImagePool(for: limits)
    let serving = try ServedSources(invocation, environment, metrics, images, context)
    let plugins = try invocation.sources(in: context)
    let sql = ServedSQL(of: plugins, in: environment)
    let folder = ServedFolder(invocation.list(.source), in: environment, context) {
      plugin, environment in
      let source = try serving.source(plugin, environment)
      sql.add(plugin, in: environment)
      return source
    }
    let management =
      invocation.has(allowAdd) ? try ServedManagement(of: folder, context) : nil
    var api = API(
      sources: try folder.sources(), sql: sql, adding: management.map(SourceAdding.init),
      syncs: SyncJobs(in: environment), now: environment.now)
    // A recording has the sources and settings with which it was made.
    if !serving.isRecorded { api.changes = folder.changes }
    // They are of the person who runs it, and of nobody on another machine.
    if isLoopback(address), !invocation.has(host) {
      api.savedStatements = { [catalog = context.catalog] in catalog.savedStatements }
    }
    let site = Site(context.catalog.name, api, metrics)
    let server = try start(
      on: address, port,
      HTTPServer.Responder { [tracer = Tracer.current] request in
        guard let tracer else { return await site.response(to: request) }
        return await Tracer.$current.withValue(tracer) {
          await tracer.span(
            request.method, .server, under: request.header("traceparent"),
            failing: { $0.status >= 500 ? "status \($0.status)" : nil }
          ) { await site.response(to: request) }
        }
      } refuse: { refusal, request in
        site.response(to: refusal, of: request)
      })
    site.open(
      Access(
        secrets: secrets, names: names(address, secrets) + hosts, port: server.port,
        allowedOrigins: origins, mayChange: !invocation.has(readOnly)))
    let token = secrets.map { "/?token=\($0.token)" } ?? ""
    let url = server.url(named: address) + token
    try context.output.write("\(url)\n")
    context.diagnostics.note(
      "Serving \(site.sourceNames.joined(separator: ", ")). Press Ctrl-C to stop.")
    if invocation.has(open), let url = URL(string: url) {
      do { try Browser.open(url, variables: context.variables) } catch {
        context.diagnostics.warning(error.message, hint: error.hint)
      }
    }
    return await run(server) { [tracer = Tracer.current] in
      await site.stop()
      let loss = await tracer?.finish("\(context.catalog.name.text) serve", failing: nil)
      if let loss { context.diagnostics.warning(loss) }
    }
  }

  /// `nil` if everyone may access the server.
  private static func secrets(
    _ invocation: Invocation, _ environment: PluginEnvironment, _ context: CommandContext
  ) throws -> Access.Secrets? {
    guard !invocation.has(.noToken) else { return nil }
    let state = try context.directories(environment.settings).state
    if let file = invocation.text(.tokenFile) { return try .shared(in: file) }
    guard let state else { return .random() }
    return try .saved(at: "\(state)/serve-token", renewing: invocation.has(.newToken))
  }

  /// The origins of `--allow-origin`, in lower case.
  private static func origins(_ invocation: Invocation) throws(CommandError) -> Set<String> {
    var origins: Set<String> = []
    for text in invocation.texts(allowOrigin) {
      let origin = text.lowercased()
      guard origin.wholeMatch(of: /[a-z][a-z0-9+.-]*:\/\/[^\/?#@]+/) != nil else {
        throw CommandError(
          .usage, "invalid origin \"\(text)\" for --allow-origin",
          hint: "name the scheme and the host, such as http://localhost:5173")
      }
      origins.insert(origin)
    }
    return origins
  }

  private static func isLoopback(_ address: String) -> Bool {
    address == "::1" || address.hasPrefix("127.") || address == "localhost"
  }

  /// The names of `--host`.
  private static func hosts(_ invocation: Invocation) throws(CommandError) -> [Access.Name] {
    try invocation.texts(host).map { text throws(CommandError) in
      guard let name = Access.Name(text) else {
        throw CommandError(
          .usage, "invalid name \"\(text)\" for --host",
          hint: "write it as box.local, box.local:9000 or https://box.example")
      }
      return name
    }
  }

  /// The names under which the server is asked for on this machine, and at the address where it listens.
  private static func names(_ address: String, _ secrets: Access.Secrets?) -> [Access.Name] {
    let name = HTTPServer.name(of: address)
    // Browsers look for the names of localhost at these addresses only.
    let session = Access.loopbackNames.contains(name) ? secrets.map { [$0.hostName] } : nil
    return (Access.loopbackNames + [name] + (session ?? [])).map(Access.Name.init(host:))
  }

  private static var limits: ServerLimits {
    ServerLimits(descriptors: ProcessResources.descriptors)
  }

  private static func start(
    on address: String, _ port: Int, _ responder: HTTPServer.Responder
  ) throws(CommandError) -> HTTPServer {
    do { return try HTTPServer(on: address, port: port, limits: limits, responder) } catch {
      var failure = CommandError(error)
      // The address is an option, not a setting.
      if error.code == .invalidSettings { failure.code = .usage }
      throw failure
    }
  }

  /// Serves until a signal ends the program, which lets requests in flight end.
  private static func run(
    _ server: HTTPServer, ending work: @escaping @Sendable () async -> Void = {}
  ) async -> ExitCode {
    Interruption.first { _ in
      let hasStopped = DispatchSemaphore(value: 0)
      Task {
        await work()
        await server.stop(within: .seconds(5))
        hasStopped.signal()
      }
      hasStopped.wait()
    }
    // The main thread, which waits for signals, ends the program.
    while true { try? await Task.sleep(for: .seconds(86400)) }
  }
}

extension HTTPServer {
  /// An address as the name of a host in a URL: an IPv6 address is in brackets.
  static func name(of address: String) -> String {
    address.contains(":") ? "[\(address)]" : address
  }

  fileprivate func url(named address: String) -> String {
    // A wildcard is no address to ask for.
    let name = ["0.0.0.0", "::"].contains(address) ? "127.0.0.1" : Self.name(of: address)
    return "http://\(name):\(port)"
  }
}
