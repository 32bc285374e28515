package import AggregatorArguments
import AggregatorFiles
import AggregatorFoundation
package import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import DeclaredSource

extension Command {
  fileprivate static let method = Option(
    "method", letter: "X", .text, "METHOD",
    about: "request method (default GET); others are never retried")
  fileprivate static let field = Option(
    "raw-field", letter: "f", .text, "KEY=VALUE",
    about: "parameter of the query, or text in the JSON body if the method has one; also several")
  fileprivate static let typedField = Option(
    "field", letter: "F", .text, "KEY=VALUE",
    about: "the same, but a number, true, false or null in the body, or the text of a file after @")
  fileprivate static let input = Option(
    "input", .file, "FILE",
    about: "file with the body of the request, JSON or any other; - is standard input")
  fileprivate static let paginate = Option(
    "paginate", about: "also request the next pages, as lists do or as each response names them")
  fileprivate static let slurp = Option(
    "slurp", about: "print all pages of --paginate as one JSON array")
  fileprivate static let include = Option(
    "include", letter: "i",
    about:
      "print the HTTP version, the status and the header fields of each response before its body")
  fileprivate static let asCurl = Option(
    "curl", about: "print a curl command instead of sending the request, without secrets")

  /// Endless services end there, and hardly another list.
  fileprivate static let standardMaxPages = 1000

  package static func api(_ plugins: [any Plugin]) -> Command {
    // The example must run without a key.
    let plugin = plugins.dropFirst().first { !$0.settings.contains(where: \.isSecret) }
    let name = (plugin ?? plugins.first)?.name ?? "SOURCE"
    let first = plugins.first?.name ?? name
    return Command(
      "SOURCE PATH", words: paths,
      options: [
        method, header.with(about: "header field, such as 'Accept: text/csv'"), field,
        typedField, input, paginate, slurp, include,
        .outputFile.with(about: "write to a file once all is there; - is standard output"),
        .maxPages.with(
          about: "stop after N pages, 0 for no limit (default \(standardMaxPages) with --paginate)",
          in: .specific),
        asCurl,
      ] + Option.fetching + [
        .jq.with(about: "filter the body with jq, which must be installed"), .noPager,
      ],
      notes: [
        "Sends one request as the source does, with its credentials, rate limit, retries and deadline, and prints the "
          + "body of the response: as it is, or on a terminal indented and in color if it is JSON. A status of 400 or "
          + "more is an error, after the body, and so are errors of GraphQL without data and those of the source's own rules. "
          + "For any other body that only reports an error there is a warning.",
        "PATH is below the URL in the source's settings, below the base of the service of which an added source is a list, or "
          + "below the host of another added source. '' and '?limit=1' are the URL of an added source itself, with another query. "
          + "An http(s) URL may take its place; another host gets no credentials, and "
          + "redirects to another host are refused.",
        "With --paginate, the list of the source is requested page by page as \"SOURCE list --all\" does, with the parameters of "
          + "the source beside yours: another page size, page or offset of yours replaces that of the source. For other paths, or if "
          + "another of your parameters has another value there, the next page is that of rel=\"next\" in the Link header field, or "
          + "the URL in the member next, links.next or _links.next.href of the body. A page that repeats an earlier one ends it "
          + "with an error, and so does --max-pages. An empty page that ends the list of the source is not printed.",
        "In a body, the fields a[b]=1 and a[c]=2 are members of the object a, a[]=1 and a[]=2 elements of the list a, and a[] "
          + "alone is an empty list, as in gh. In a query, the name is sent as it is. All are sent in the order in which they are given.",
        "HEAD prints the status and the header fields. --slurp keeps all pages in memory, and prints the array also if a later "
          + "page fails; the exit code tells.",
        "--include hides the values of header fields that are likely to be secrets, such as set-cookie.",
        "--verbose prints the request line, the header fields that the source sends, and those of the response, without secrets. "
          + "With --output, an existing file stays as it is if the command fails.",
        "Nothing is cached.",
      ],
      examples: [
        ("api \(first) '?limit=1'", "a request to the URL of \(first) itself, with a parameter"),
        ("api \(name) '?limit=1' --curl", "print a request for curl"),
      ], run: api)
  }

  /// A source, and then the paths of the lists of its service, if it was added.
  private static let paths: CompletionSource.Following = { arguments, tree in
    let plugins = tree.catalog.plugins
    guard let name = arguments.first else {
      return CompletionSource.source(plugins)(arguments, tree)
    }
    guard arguments.count == 1, let plugin = plugins.first(where: { $0.name == name }),
      plugin is DeclaredPlugin, let own = plugin.serviceURLs.first.flatMap({ Address($0) })
    else { return .none }
    let base = plugin.resourceBase?.path() ?? ""
    let others = plugins.filter { $0 is DeclaredPlugin && $0.resourceBase == plugin.resourceBase }
    return .choice(
      others.compactMap { other in
        guard let url = other.serviceURLs.first, !url.path().isPattern,
          Address(url)?.authority == own.authority, url.path().hasPrefix(base)
        else { return nil }
        let path = String(url.path().dropFirst(base.count))
        return Candidate(base.isEmpty ? path : String(path.drop { $0 == "/" }), other.summary)
      })
  }

  private static func api(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    var words = invocation.arguments
    guard let name = words.first else { throw CommandError.missingArgument("SOURCE") }
    // `api POST heroes /path`, as in httpie.
    if words.count > 2,
      let place = words.firstIndex(where: { word in
        HTTPRequest.Method.common.contains { $0.rawValue == word.uppercased() }
      })
    {
      let verb = words.remove(at: place)
      throw CommandError(
        .usage, "unexpected argument \"\(verb)\"",
        suggestion: (["api"] + words.map(\.typed) + [method.spelling, verb.uppercased()])
          .joined(separator: " "))
    }
    let plugin = try context.catalog.usablePlugin(named: name)
    guard invocation.arguments.count > 1 else {
      throw CommandError.missingArgument(
        "PATH", hint: .words("'' requests the URL of the source itself"))
    }
    if invocation.has(.quiet), words.count > 2, let filter = words.last, filter.hasPrefix(".") {
      // `-q .name` of gh.
      throw CommandError(
        .usage, "unexpected argument \"\(filter)\": -q is \(Option.quiet.spelling)",
        suggestion: "\(Option.jq.spelling) \(filter.typed)", hint: .command("help api"))
    }
    try invocation.refuseArguments(after: 2)
    guard (plugin as? DeclaredPlugin)?.manifest.file == nil else {
      throw CommandError(.usage, "\(name) is a file, of which nothing is requested")
    }
    let environment = try context.environment()
    let url: URL
    do { url = try plugin.resource(invocation.arguments[1], in: environment.settings) } catch {
      // A path is none of the source.
      throw error.code == .invalidRequest ? CommandError(error) : CommandError(error, of: plugin)
    }
    var call = ServiceCall(try invocation.method, url)
    try call.fill(from: invocation)
    guard call.method == .get || !invocation.has(paginate) else {
      throw CommandError(.usage, "\(paginate.spelling) requires the method GET")
    }
    guard invocation.has(paginate) || !invocation.has(slurp) else {
      throw CommandError(.usage, "\(slurp.spelling) requires \(paginate.spelling)")
    }
    for (option, others) in [(include, [Option.jq, asCurl, slurp]), (.outputFile, [.jq, asCurl])]
    where invocation.has(option) {
      if let other = others.first(where: invocation.has) {
        throw CommandError.exclusive(option.spelling, other.spelling)
      }
    }
    if call.method == .head, invocation.has(.jq) {
      throw CommandError.exclusive("\(method.spelling) HEAD", Option.jq.spelling)
    }
    if invocation.has(asCurl) {
      return try await plugin.printCurl(call, in: environment, context)
    }
    if invocation.has(.verbose) { call.willSend = { context.trace($0) } }
    guard let path = invocation.text(.outputFile), path != "-" else {
      return try await plugin.printResponses(to: call, in: environment, context)
    }
    let file = try NewFile(replacing: path, in: context)
    let code: ExitCode
    do {
      code = try await plugin.printResponses(
        to: call, in: environment, context.writing(to: file.output))
    } catch {
      if invocation.has(paginate) {
        let outcome = access(path, F_OK) == 0 ? "stays as it was" : "was not written"
        context.diagnostics.note("\(path) \(outcome): what was read before the failure is dropped")
      }
      throw error
    }
    try file.finish()
    context.diagnostics.note("\(file.verb) \(path)")
    return code
  }
}

extension Invocation {
  /// The method of `-X`, of which the usual ones may be in small letters.
  fileprivate var method: HTTPRequest.Method {
    get throws(CommandError) {
      guard let text = text(Command.method) else { return .get }
      let common = HTTPRequest.Method.common.first { $0.rawValue == text.uppercased() }
      // A proxy would be asked for a tunnel.
      guard let method = common ?? HTTPRequest.Method(rawValue: text), text != "CONNECT" else {
        throw CommandError(
          .usage,
          "invalid value \"\(text)\" for \(Command.method.spelling): must be a method such as POST")
      }
      return method
    }
  }
}

extension ServiceCall {
  /// True if a header field of the command line has a secret.
  fileprivate var hasTypedSecret: Bool {
    headers.contains { if case .secret = $0.value { true } else { false } }
  }

  /// The longest body, as of responses.
  private static let maxBody = 16 << 20

  fileprivate mutating func fill(from invocation: Invocation) throws(CommandError) {
    followsPaging = invocation.has(Command.paginate)
    for text in invocation.texts(Command.header) {
      let field = try CommandError.wrapping(try HTTPRequest.Item(headerField: text))
      headers.append(field)
    }
    let input = invocation.text(Command.input)
    let isInQuery = method == .get || method == .head || input != nil
    guard input == nil || method != .get && method != .head else {
      throw CommandError(
        .usage, "\(Command.input.spelling) requires a method with a body",
        hint: "add \(Command.method.spelling) POST")
    }
    var content: JSON?
    for (option, text) in invocation.texts(of: [Command.field, Command.typedField]) {
      let equals = text.firstIndex(of: "=") ?? text.endIndex
      let name = String(text[..<equals])
      let isEmptyList = equals == text.endIndex && name.hasSuffix("[]") && !isInQuery
      guard !name.isEmpty, equals != text.endIndex || isEmptyList else {
        throw CommandError(
          .usage, "invalid value \"\(text)\" for \(option.spelling): must be KEY=VALUE")
      }
      let word = String(text[equals...].dropFirst())
      let value = try option == Command.typedField ? Self.json(word) : .string(word)
      if isInQuery {
        let isSecret = LikelySecret.isParameter(name, value: value.cell)
        query.append(
          HTTPRequest.Item(name, isSecret ? .secret(Secret(value.cell)) : .plain(value.cell)))
      } else if isEmptyList {
        content = try Self.body(content, with: [], named: String(name.dropLast(2)))
      } else {
        content = try Self.body(content, with: value, named: name)
      }
    }
    hideKeys()
    body =
      try input.map { path throws(CommandError) in try Self.read(path) }
      ?? content.map { Data($0.text.utf8) }
    if let body, !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
      let isJSON = input == nil || JSONText(body) != nil
      headers.append(
        HTTPRequest.Item(
          "Content-Type", isJSON ? "application/json" : "application/octet-stream"))
    }
  }

  /// Makes likely keys in the URL secrets of the query, so that no message shows them, nor what the service repeats of them.
  private mutating func hideKeys() {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      let items = parts.percentEncodedQueryItems
    else { return }
    let rest = items.filter { item in
      let text = (item.value ?? "").replacing("+", with: "%20")
      let (name, value) = (item.name.percentDecoded ?? item.name, text.percentDecoded ?? text)
      guard LikelySecret.isParameter(name, value: value) else { return true }
      query.append(HTTPRequest.Item(name, .secret(Secret(value))))
      return false
    }
    guard rest.count < items.count else { return }
    parts.percentEncodedQueryItems = rest.isEmpty ? nil : rest
    url = parts.url ?? url
  }

  /// Goes on at the URL of the next page, which has the parameters.
  ///
  /// A key that the service repeats was hidden in it: it is the one that was typed, or one that the source sends anyway.
  fileprivate mutating func follow(_ link: URL) {
    let typed = Address(link)?.authority == Address(url)?.authority ? query : []
    (url, query) = (link, [])
    guard var parts = URLComponents(url: link, resolvingAgainstBaseURL: true),
      let items = parts.percentEncodedQueryItems
    else { return }
    let hidden = items.filter { $0.value == "REDACTED" }
    guard !hidden.isEmpty else { return }
    let rest = items.filter { $0.value != "REDACTED" }
    parts.percentEncodedQueryItems = rest.isEmpty ? nil : rest
    url = parts.url ?? link
    query = typed.filter { item in hidden.contains { $0.name.percentDecoded == item.name } }
  }

  /// A body with one more field, whose name is as in `a`, `a[b]` or `a[b][]`.
  private static func body(
    _ body: JSON?, with value: JSON, named name: String
  ) throws(CommandError) -> JSON {
    guard name.wholeMatch(of: /[^\[\]]+(\[[^\[\]]*\]){0,32}/) != nil else {
      throw CommandError(
        .usage, "invalid field \"\(name)\": must be a name such as a, a[b] or a[]",
        hint: "send other names with \(Command.input.spelling)")
    }
    let keys = name.split(separator: "[", omittingEmptySubsequences: false).map {
      $0.hasSuffix("]") ? $0.dropLast() : $0
    }
    guard let body = adding(value, at: keys[...], to: body) else {
      throw CommandError(
        .usage, "invalid field \"\(name)\": another one has a value at its place",
        hint: "a name has one value (a=1), members (a[b]=1) or elements (a[]=1)")
    }
    return body
  }

  /// A number, a Boolean or null, the contents of a file after `@`, else text.
  private static func json(_ text: String) throws(CommandError) -> JSON {
    if text.hasPrefix("@") {
      let data = try read(String(text.dropFirst()))
      guard let content = String(validating: data, as: UTF8.self) else {
        throw CommandError(.usage, "\(text.dropFirst()) is not UTF-8 text")
      }
      return .string(content)
    }
    // 007 is a code, and more digits than a number keeps are text, too.
    let isNumber =
      text.wholeMatch(of: /-?(0|[1-9][0-9]{0,17})/) != nil
      || text.wholeMatch(of: /-?(0|[1-9][0-9]{0,9})\.[0-9]{1,5}/) != nil
    guard isNumber || ["true", "false", "null"].contains(text) else { return .string(text) }
    return JSONText(Data(text.utf8)).map { JSON($0) } ?? .string(text)
  }

  private static func read(_ path: String) throws(CommandError) -> Data {
    let bytes: [UInt8]
    if path == "-" {
      bytes = try StandardInput.read(atMost: maxBody + 1)
    } else {
      do throws(SystemFailure) {
        bytes = try OpenFile(path, O_RDONLY).prefix(maxBody + 1)
      } catch {
        throw CommandError(.io, "cannot read \(path): \(error.words)")
      }
    }
    guard bytes.count <= maxBody else {
      throw CommandError(.usage, "the body is larger than 16 MiB")
    }
    return Data(bytes)
  }
}

extension HTTPRequest.Item {
  /// The host, to which alone credentials are sent, and fields that say where a body ends or what a connection does next
  /// (RFC 9110, section 7.6.1).
  private static let namesOfConnection: Set<String> = [
    "connection", "content-length", "host", "keep-alive", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]

  fileprivate init(headerField text: String) throws(SourceError) {
    let field = try SourceRequest.Header(parsing: text)
    guard !Self.namesOfConnection.contains(field.name.lowercased()) else {
      throw SourceError(
        .invalidRequest,
        "header field \"\(field.name)\" cannot be set: it belongs to the connection",
        remedy: "leave it out")
    }
    let isSecret = LikelySecret.isHeader(field.name, value: field.value)
    let scheme = field.scheme
    let secret = Secret(prefix: String(scheme), String(field.value.dropFirst(scheme.count)))
    self.init(field.name, isSecret ? .secret(secret) : .plain(field.value))
  }
}

extension Plugin {
  fileprivate func printResponses(
    to call: ServiceCall, in environment: PluginEnvironment, _ context: CommandContext
  ) async throws -> ExitCode {
    var pages: [Data]? = context.invocation.has(Command.slurp) ? [] : nil
    let result: Result<ExitCode, any Error>
    do {
      result = .success(try await printResponses(to: call, in: environment, context, &pages))
    } catch {
      result = .failure(error)
    }
    if let pages, !pages.isEmpty {
      var array = Data("[".utf8)
      array.append(contentsOf: pages.joined(separator: Data(",".utf8)))
      try context.printBody(array + Data("]\n".utf8), afterLine: false)
    }
    return try result.get()
  }

  /// - Parameter pages: The bodies that are kept; `nil` to print each at once.
  private func printResponses(
    to call: ServiceCall, in environment: PluginEnvironment, _ context: CommandContext,
    _ pages: inout [Data]?
  ) async throws -> ExitCode {
    let invocation = context.invocation
    let options = SourceOptions(invocation)
    let limit = invocation.count(.maxPages) ?? Command.standardMaxPages
    let maxPages = invocation.has(Command.paginate) ? limit : 1
    let scanner = SecretScanner(
      settings.filter(\.isSecret).compactMap { environment.settings.secret($0) })
    var call = call
    var walk = PageWalk()
    walk.visited.insert(call.url)
    var isInLine = false
    context.progress.say { [name] in "Fetching \(name)…" }
    let read = InterruptedWork()
    // What a pager holds back, or jq has read, is not printed.
    let isPrinted = pages == nil && !context.terminal.isOutput && !invocation.has(.jq)
    let note =
      invocation.has(Command.paginate)
      ? read.note(to: context.diagnostics) {
        "\($0.of("page")) \(isPrinted ? "printed" : "read"), others"
      } : nil
    defer { note?.cancel() }
    while true {
      let reply = await send(
        call, in: environment, cachePolicy: options.cachePolicy, deadline: options.deadline)
      if let response = reply.response, invocation.has(.verbose) {
        for line in scanner.redacted(response).head.split(separator: "\n") {
          context.diagnostics.trace("< \(line)")
        }
      }
      // Some lists end only with an empty page.
      let isPastEnd =
        call.cursor != nil && reply.error == nil
        && reply.page.map { $0.isEmpty && $0.next == nil } ?? false
      // The end of a list may be an error that is none; to a filter of pages an error is no further one.
      let isFiltered = walk.count > 0 && reply.error != nil && invocation.has(.jq)
      if let response = reply.response, reply.error != nil || response.status < 400, !isPastEnd,
        !isFiltered
      {
        if invocation.has(Command.include) || call.method == .head {
          try context.printHead(of: scanner.redacted(response), afterLine: isInLine)
          isInLine = false
        }
        if pages == nil {
          try context.printBody(response.body, afterLine: isInLine)
          isInLine = response.body.last.map { $0 != UInt8(ascii: "\n") } ?? isInLine
        }
      }
      if let error = reply.error {
        var failure = CommandError(error, of: self)
        // The setting of the source has not been sent where a header field was typed.
        if error.code == .rejected || error.code == .invalidKey && call.hasTypedSecret,
          let status = reply.response?.status,
          let hint = try signInHint(for: call, status, in: environment.settings)
        {
          (failure.code, failure.hint) = (.key, hint)
        }
        if walk.count > 0, failure.code != .interrupted { failure.code = .partial }
        if let hint = postCommand(insteadOf: call, reply, invocation) { failure.hint = hint }
        if reply.response?.status == 404, failure.hint == nil {
          failure.hint = listCommand(insteadOf: call.url, in: environment.settings)
        }
        if isInLine, context.hasMessagesInOutput { try context.output.write("\n") }
        throw failure
      }
      if let doubt = reply.remark ?? reply.response?.cutJSON {
        if isInLine, context.hasMessagesInOutput { try context.output.write("\n") }
        context.diagnostics.warning("\(name): \(doubt)")
      }
      guard invocation.has(Command.paginate) else { return .success }
      let body = reply.response.flatMap { $0.status < 400 && !isPastEnd ? $0.body : nil }
      if let body {
        do throws(CommandError) { try walk.add(body, mustBeJSON: pages != nil) } catch {
          throw CommandError(error.code, "\(name): \(error.message)", hint: error.hint)
        }
        pages?.append(body)
        read.add(1)
      }
      let next = reply.page?.next
      let link = call.cursor == nil ? reply.response?.nextPage(after: call.url) : nil
      if let page = reply.page, page.isFollowed, next != nil || link == nil {
        walk.add(page.warnings)
      }
      guard next != nil || link != nil else { return end(of: walk, reply.page, context) }
      guard walk.count != maxPages else {
        context.diagnostics.warning(
          "\(name): stopped after \(walk.count.of("page"))",
          hint: "raise --max-pages, 0 for no limit")
        return .partial
      }
      call.cursor = next
      guard next == nil, let link else { continue }
      let isSigned = try signs(link, in: environment.settings)
      guard try isSigned == signs(call.url, in: environment.settings),
        walk.visited.insert(link).inserted
      else {
        throw CommandError(
          .partial,
          "\(name): the next page is on another host, or one that was read: \(Address(link)?.authority ?? "")"
        )
      }
      call.follow(link)
    }
  }

  /// Says what is missing after the last page that is known.
  private func end(
    of walk: PageWalk, _ page: ServicePage?, _ context: CommandContext
  ) -> ExitCode {
    for message in walk.warnings { context.diagnostics.warning("\(name): \(message)") }
    guard walk.count == 1, !walk.isIncomplete else {
      return walk.isIncomplete ? .partial : .success
    }
    guard page?.isFollowed != true else {
      context.diagnostics.note("1 page: the list of \(name) has no more")
      return .success
    }
    guard let page, let total = page.total, total > page.count else {
      context.diagnostics.note(
        "only one page was requested: the response names no next one, and \(name) does not know how to request it"
      )
      return .success
    }
    context.diagnostics.warning(
      "\(name): only one page was requested, with \(page.count) of \(noun.count(total)): the response names no "
        + "next one, and parameters of the request differ from those by which \(name) requests its pages",
      hint: .words("leave out parameters that \(name) sends with another value"))
    return .partial
  }

  /// The remedy if the service wants credentials that the call does not have, or other ones; `nil` if it does not say that.
  private func signInHint(
    for call: ServiceCall, _ status: Int, in settings: SourceSettings
  ) throws -> Hint? {
    let isSigned = try signs(call.url, in: settings)
    let hasCredentials = call.hasTypedSecret || isSigned && !secrets(in: settings).isEmpty
    guard [401, 407].contains(status) || status == 403 && !hasCredentials else { return nil }
    let header = Command.header.spelling
    guard !call.hasTypedSecret else { return .words("check the credentials of \(header)") }
    let others = "send credentials with \(header) 'Authorization: Bearer TOKEN'"
    guard isSigned else {
      return .words("those of \(name) are for its own host; \(others)")
    }
    guard self is DeclaredPlugin else { return .words(others) }
    let edit = "sources edit \(name) \(header) 'Authorization: Bearer ${TOKEN}'"
    return .steps(.words(others), .command(edit))
  }

  /// The command with the method that was probably meant, if fields were sent as a query, unlike in gh, and nothing is there.
  private func postCommand(
    insteadOf call: ServiceCall, _ reply: ServiceReply, _ invocation: Invocation
  ) -> Hint? {
    let fields = invocation.texts(of: [Command.field, Command.typedField])
    guard [404, 405].contains(reply.response?.status), !invocation.has(Command.method),
      !invocation.has(Command.paginate), !fields.isEmpty
    else { return nil }
    let isSecret = call.query.contains { if case .secret = $0.value { true } else { false } }
    let words = fields.compactMap { option, text in
      text.argument.map { "\(option == Command.field ? "-f" : "-F") \($0)" }
    }
    // Not all that was typed may be shown, or can be.
    guard !isSecret, call.headers.isEmpty, words.count == fields.count,
      let path = invocation.arguments[1].argument
    else { return "add \(Command.method.spelling) POST" }
    return .command("api \(name) \(path) -X POST \(words.joined(separator: " "))")
  }

  /// The command for the list of an added source, whose paths are below the host, not below the list, if the path is near.
  private func listCommand(insteadOf url: URL, in settings: SourceSettings) -> Hint? {
    guard let path = serviceURLs.first?.path(), let base = try? serviceBase(in: settings),
      base.path() == "/", path.count > 1, path != url.path(), !path.isPattern,
      nearest(to: url.path(), in: [path]) != nil
    else { return nil }
    return .command("api \(name) \(path.typed)")
  }

  /// Prints a command line of curl in which `$NAME` stands for each secret.
  fileprivate func printCurl(
    _ call: ServiceCall, in environment: PluginEnvironment, _ context: CommandContext
  ) async throws -> ExitCode {
    var environment = environment
    // The command names secrets and has none, so that any value will do, except where a token must be requested.
    if (self as? DeclaredPlugin)?.manifest.auth?.client == nil {
      let missing = settings.filter { $0.isSecret && environment.settings.secret($0) == nil }
      environment.settings = environment.settings.replaced(
        missing.reduce(into: [:]) { $0[$1.key] = $1.key })
    }
    let request: HTTPRequest
    do { request = try await self.request(for: call, in: environment) } catch {
      throw CommandError(error, of: self)
    }
    let secrets = settings.filter(\.isSecret).compactMap { setting in
      environment.settings.secret(setting).map { (setting.key, $0) }
    }
    let line = request.curlCommand(
      naming: secrets, bodyIn: context.invocation.text(Command.input))
    try context.output.write(line.safeLines + "\n")
    return .success
  }
}

/// The pages that were printed.
private struct PageWalk {
  var count = 0
  var visited: Set<URL> = []
  /// The warnings of the source about its pages, each once.
  private(set) var warnings: [String] = []
  private(set) var isIncomplete = false
  private var bodies: Set<Int> = []
  private var isJSON = false

  mutating func add(_ others: [Warning]) {
    for warning in others where !warnings.contains(warning.message) {
      warnings.append(warning.message)
      isIncomplete = isIncomplete || warning.meansIncomplete
    }
  }

  /// Counts a page; throws for one that cannot be all of it, or that repeats an earlier one.
  mutating func add(_ body: Data, mustBeJSON: Bool) throws(CommandError) {
    count += 1
    let wasJSON = isJSON
    isJSON = JSONText(body) != nil
    // A page that is cut off names no next one, and must not look like the last.
    guard isJSON || !wasJSON || body.isEmpty else {
      throw CommandError(
        .partial, "page \(count) is not JSON, unlike the one before: it may be cut off")
    }
    guard isJSON || !mustBeJSON else {
      throw CommandError(
        count == 1 ? .notUnderstood : .partial, "page \(count) is not JSON",
        hint: .words("leave out --slurp"))
    }
    // `Data` hashes only its first bytes.
    var hasher = Hasher()
    body.withUnsafeBytes { hasher.combine(bytes: $0) }
    guard bodies.insert(hasher.finalize()).inserted else {
      throw CommandError(.partial, "page \(count) repeats an earlier one")
    }
  }
}

extension HTTPResponse {
  /// Says that the body ends within its JSON; `nil` if it does not, or if it is not said to be JSON.
  fileprivate var cutJSON: String? {
    guard !body.isEmpty,
      header("Content-Type")?.contains(/(?i)^application\/([^;]*\+)?json\b/) == true,
      JSONText.errorOffset(in: body) == body.count
    else { return nil }
    return "the body is incomplete JSON: it ends after \(body.count.byteCount)"
  }

  /// The status and the header fields, without likely secrets, a line each.
  fileprivate var head: String {
    let fields = headers.map { name, value in
      let isSecret = LikelySecret.isHeader(name, value: "")
      let shown = isSecret ? "REDACTED" : LikelySecret.hidden(in: value)
      return "\(name): \(shown)".safeLine + "\n"
    }
    return "\(statusLine?.safeLine ?? "HTTP \(status)")\n\(fields.joined())"
  }
}

extension CommandContext {
  /// Prints the request line and the header fields of a request, without secrets, and the size of its body.
  fileprivate func trace(_ request: HTTPRequest) {
    let address = LikelySecret.hidden(in: request.shownAddress)
    diagnostics.trace("> \(request.method.rawValue) \(address)")
    for field in request.headers {
      let value = if case .plain(let text) = field.value { text } else { "REDACTED" }
      diagnostics.trace("> \(field.name): \(value)")
    }
    if let body = request.body { diagnostics.trace("> body of \(body.count.byteCount)") }
  }

  /// True if messages follow the body in one file or pipe, in which they need a line of their own.
  fileprivate var hasMessagesInOutput: Bool {
    var (body, messages) = (stat(), stat())
    return !terminal.isOutput && fstat(STDOUT_FILENO, &body) == 0
      && fstat(STDERR_FILENO, &messages) == 0
      && (body.st_dev, body.st_ino) == (messages.st_dev, messages.st_ino)
  }

  /// Prints the status and the header fields of a response, without likely secrets, and an empty line.
  ///
  /// - Parameter isInLine: True if the body before it has no line break at its end.
  fileprivate func printHead(of response: HTTPResponse, afterLine isInLine: Bool) throws {
    let head = "\(response.head)\n"
    guard terminalLayout.isRead else { return try output.write((isInLine ? "\n" : "") + head) }
    try listingOutput.write(head)
  }

  /// Prints the body of a response; on a terminal as it can be shown there, or an error with the code `usage`.
  ///
  /// - Parameter isInLine: True if the body before it has no line break at its end.
  fileprivate func printBody(_ body: Data, afterLine isInLine: Bool) throws {
    guard terminalLayout.isRead else {
      return try output.write((isInLine ? Data("\n".utf8) : Data()) + body)
    }
    guard let plain = String(validating: body, as: UTF8.self), !plain.utf8.contains(0) else {
      throw CommandError(
        .usage, "refusing to write binary data to a terminal", hint: "redirect standard output")
    }
    // Written anew, so that characters that a terminal obeys are escaped.
    let json = JSONText(body).map { JSON($0).text }
    let indented = json.flatMap { JSONFormatter.indented(Array($0.utf8)) }
    let text =
      indented.map { String(decoding: $0, as: UTF8.self).coloredJSON(terminalLayout.style) }
      ?? plain.safeLines
    try listingOutput.write(text.isEmpty || text.hasSuffix("\n") ? text : text + "\n")
  }
}
