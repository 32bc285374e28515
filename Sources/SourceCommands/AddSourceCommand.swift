package import AggregatorArguments
import AggregatorFiles
import AggregatorInference
package import AggregatorKit
import AggregatorOpenAPI
package import AggregatorQueries
package import AggregatorTerminal
package import DeclaredSource

extension Command {
  package static let header = Option(
    "header", letter: "H", .text, "FIELD",
    about: "header field, such as 'Authorization: Bearer ${TOKEN}'")
  static let body = Option(
    "body", .text, "JSON", about: "JSON body, or @FILE; makes the requests POST")

  /// The options whose values are keys of the manifest.
  static let manifestOptions = [
    Option("rows", .text, "PATH", about: "path of the list of records: data.items"),
    Option("id", .list, "PATHS", about: "paths in a record that identify it: id"),
    Option("page-param", .text, "PARAM=N", about: "parameter that counts pages, and its start"),
    Option(
      "offset-param", .text, "PARAM=N", about: "parameter that counts records, and its start"),
    Option(
      "next", .text, "PATH", about: "where the next page is: links.next, header:Link, last.id"),
    Option("token-param", .text, "PARAM", about: "query parameter of the token at --next"),
    Option("page-size", .text, "PARAM=N", about: "parameter of the page size, and its value"),
    Option("total", .text, "PATH", about: "where the number of all records is"),
    Option("more", .text, "PATH", about: "path of the flag that says if there are more pages"),
    Option("item", .text, "URL", about: "URL of one record, with {id}"),
    Option("link", .text, "PATH", about: "path of the URL of a record's web page: html_url"),
    Option("search", .text, "PARAM", about: "query parameter of the search text"),
    Option("rate", .text, "RATE", about: "rate limit: 5/s (default), or off"),
    Option("fresh", .text, "D", about: "how long cached pages are fresh: 10m (default)"),
  ]

  static let since = Option(
    "since-param", .text, "PARAM=PATH",
    about: "query parameter that asks for changes, and where a record has the time of its last one")

  static let each = Option(
    "each", .list, "DAY|VALUES",
    about: "a list for each day since DAY, {date} in the URL, or for each value, {value}")

  /// The keys of the options that have other names.
  private static let manifestKeys = [
    "page-param": "page", "offset-param": "offset", "token-param": "token", "page-size": "size",
  ]

  /// The names of the options that say how pages follow one another.
  private static let pagingNames = stepNames + ["token-param", "more"]
  private static let stepNames = ["page-param", "offset-param", "next"]

  static let table = Option(
    "table", .text, "NAME=PATH", about: "a list in the records is a table in SQL: lines=line_items")

  static let basic = Option(
    "basic", .text, "USER", about: "sign in with this user name, and a password that is asked for")
  static let oauthToken = Option(
    "oauth-token-url", .text, "URL",
    about: "sign in with OAuth 2 client credentials: the URL that issues tokens")
  static let oauthRefresh = Option(
    "oauth-refresh", about: "sign in with a refresh token, which is asked for")
  static let oauthID = Option(
    "oauth-id", .text, "ID", about: "the client ID; asked for if it is not given")
  static let oauthScope = Option("oauth-scope", .text, "SCOPE", about: "the scope of the tokens")
  static let oauthSend = Option(
    "oauth-send", .text, "HOW",
    about: "how ID and secret are sent: basic (default), basic-raw, body")

  static let signInOptions = [basic, oauthToken, oauthRefresh, oauthID, oauthScope, oauthSend]

  static let curl = Option("curl", about: "read the request, a curl command, from standard input")
  static let allowHost = Option(
    "allow-host", .text, "HOST", about: "other host of next pages; it gets no secrets")
  static let single = Option("single", about: "the response has all records")
  static let probe = Option(
    "probe", about: "also try --search, --item, --page-size and depth: up to 12 requests")
  static let replace = Option("replace", about: "replace a source of this name")

  static let addSource = Command(
    "NAME URL | NAME FILE | NAME --curl | NAME --openapi FILE | NAME --tap COMMAND",
    words: { words, _ in words.count == 1 ? .file : .anything },
    options: [curl, openAPI, only, tap, tapConfig, stream, header, body] + signInOptions
      + manifestOptions + [
        since, each, table, single, probe, allowHost, replace,
        .dryRun.with(about: "print what was found without saving it"),
        .yes.with(about: "save it even if the paging could not be verified"), .json,
        .refresh.with(about: "send requests even if they are paused after a rate limit"),
        .timeout.with(about: "time limit of all requests, and later of a page: 10 (seconds), 2m"),
        .maxSize,
      ],
    notes: [
      "Infers the list of records, their IDs and the paging from the response, and verifies the paging by "
        + "fetching a second page. Options override what is inferred. ${NAME} in a header field or in the "
        + "URL is a secret: it is read from the environment or asked for, and sent to this host only.",
      "A FILE of JSON, CSV, TSV, NDJSON or XML is a source, too, which a sync reads again if the file has changed. Its path is "
        + "saved as an absolute one. Only this command adds files: a manifest of somebody else cannot read yours.",
      "With --probe, tries the usual URLs of single records, and the usual parameters of a search and of the "
        + "page size, and looks for the depth at which the service ends a list. It saves only what is proved.",
      "With --since-param, later syncs ask only for what has changed. Two requests prove that the service does not ignore "
        + "the parameter.",
      "With {SOURCE.FIELD} in the URL, such as {repos.full_name}, there is a list for each record of that source, with {date} "
        + "or {value} one for each day or value of --each. Two of them are read.",
      "A literal key, as in \"Authorization: Bearer …\", becomes a setting named after the source, and is "
        + "saved in your settings file.",
      "With --basic or --oauth-token-url, the source signs in. The password, or the client's ID, its secret and the "
        + "refresh token, are settings named after the source. What is not set is asked for, and saved once the service "
        + "has accepted it.",
      "With --openapi, adds the lists of an OpenAPI 3 document as sources NAME-LIST of one service: with the "
        + "parameters, the paging and the URLs of single records that the document names, each verified by requests. "
        + "A URL after NAME replaces that of the document.",
      "With --tap, runs a Singer tap with --discover, and adds each of its streams as a source NAME-STREAM, or NAME if there is "
        + "one. A sync runs the tap, and lists read what it has stored. Passwords and tokens in --tap-config become settings.",
    ],
    examples: [
      ("sources add issues https://api.github.com/repos/swiftlang/swift/issues", "add a source"),
      ("sources add orders orders.csv", "add a file"),
      ("sources add issues --curl < command.txt", "add a source from a copied curl command"),
      (
        "sources add shop https://shop.example/orders --oauth-token-url https://shop.example/token",
        "sign in with OAuth 2"
      ),
      (
        "sources add rates https://api.example/rates/{date} --each 2024-01-01",
        "add a list for each day"
      ),
      ("sources add crm --openapi openapi.yaml", "add the lists that a document describes"),
      ("sources add shop --tap tap-shop --tap-config shop.json", "add the streams of a Singer tap"),
    ],
    run: addSource)

  private static func addSource(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    guard let name = invocation.arguments.first else { throw CommandError.missingArgument("NAME") }
    let second = invocation.arguments.dropFirst().first
    let isURL = name.contains("://")
    // The name is the last word, or missing.
    let isFile =
      !ManifestFolder.isName(name) && second.map(ManifestFolder.isName) != false && isFile(name)
      && ![curl, openAPI, tap].contains(where: invocation.has)
    if isURL || isFile {
      let url = isURL ? name : Manifest.url(ofFile: "/\(URL(filePath: name).lastPathComponent)")
      // One letter says something of a file, unlike of a URL.
      let stem = URL(filePath: name).lastPathComponent.prefix { $0 != "." }.lowercased()
      let isFree = isFile && ManifestFolder.isName(stem) && !context.catalog.isTaken(stem)
      let other =
        second ?? (isFree ? stem : nil)
        ?? SourceName.proposed(for: url) { !context.catalog.isTaken($0) }.nonBlank ?? "NAME"
      // Keys in it are settings then, as in the command that a person enters instead.
      var request = SourceRequest(url: name)
      if isURL { _ = request.extractSecrets(of: other, avoiding: []) }
      throw CommandError(
        .usage,
        "invalid name \"\(request.url)\": it is a \(isURL ? "URL" : "file"), and a name comes before it",
        suggestion:
          "sources add \(other.typed) \(isFile && name.isPlainWord ? name : request.url.shellQuoted)",
        hint: .command("help sources add"))
    }
    let folder = try context.manifestFolder()
    if let place = invocation.text(openAPI) {
      return try await addService(name, at: place, in: folder, invocation, context)
    }
    if let command = invocation.text(tap) {
      return try await addTap(name, command, in: folder, invocation, context)
    }
    for option in [tapConfig, stream] where invocation.has(option) {
      throw CommandError(.usage, "\(option.spelling) needs \(tap.spelling)")
    }
    if invocation.has(only) {
      throw CommandError(.usage, "\(only.spelling) needs \(openAPI.spelling)")
    }
    let service = folder.services.contains(name) ? name : folder.service(of: name)
    // Findings of a list can be copied into the manifest of its service.
    if let service, !invocation.has(.dryRun) {
      throw CommandError(
        .usage, "\"\(name)\" is \(service == name ? "" : "a list of ")the service \(service)",
        hint: .steps(
          .words("use another name, or change the service"), .command("sources edit \(service)")))
    }
    try context.checkName(
      name, in: folder, mayReplace: invocation.has(replace) || service != nil)
    if invocation.has(single) {
      for option in manifestOptions
      where pagingNames.contains(option.name) && invocation.has(option) {
        throw CommandError.exclusive(single.spelling, option.spelling)
      }
    }
    var request = try request(invocation, context)
    let file = try file(of: &request, invocation, in: folder)
    if let file {
      do throws(SourceError) { _ = try FileTransport.identity(ofFile: file) } catch {
        throw CommandError(.io, error.message)
      }
      try refuseDatabase(file, typed: invocation.arguments[1])
    }
    let literals = request.extractSecrets(
      of: name, avoiding: Set(context.catalog.settings(except: name).map(\.key)))
    if file == nil { try checkScheme(of: request, mayBeFile: !invocation.has(curl)) }
    let auth = try signIn(
      name, invocation, request, avoiding: Set(context.catalog.settings(except: name).map(\.key)))
    let hints = try hints(invocation, request, auth, literals)
    var secrets = NewSecrets(literals)
    do {
      let mayAsk = invocation.mayAsk
      var environment = try secrets.environment(
        of: name, in: hints, folder, context, mayAsk: mayAsk)
      if file != nil { environment.transport = FileTransport() }
      let host = URL(string: request.url).flatMap { Address($0)?.authority } ?? name
      context.progress.say { file.map { "Reading \($0)…" } ?? "Requesting \(host)…" }
      var time = RequestTime(invocation)
      let proposal = try await time.limit {
        try await Proposal(
          for: name, from: hints, isSingle: file != nil || invocation.has(single),
          isProbing: invocation.has(probe), in: environment
        ) { question, options in
          mayAsk ? Confirmation.choose(question, among: options) : nil
        }
      }
      let isWanted = proposal.isProved || proposal.isComplete && invocation.has(.yes)
      let isSaved = isWanted && !invocation.has(.dryRun)
      if isSaved {
        try proposal.save(as: name, in: folder, rebinding: secrets.replaced)
        try secrets.save(context, environment.settings, areArguments: !invocation.has(curl))
        await proposal.passOnQuota(to: name, in: environment)
      }
      if invocation.has(.json) {
        try context.output.write("\(proposal.document.text)\n")
      } else {
        try context.output.write(proposal.table(in: context))
        if isSaved {
          try context.output.write(
            "\(proposal.padded("saved"))\(folder.file(of: name))\n"
              + "\(proposal.padded("next"))\(context.diagnostics.command("\(name) list"))\n")
        } else if isWanted {
          try context.output.write(
            "\(proposal.padded("saved"))nothing (\(Option.dryRun.spelling))\n")
        }
      }
      for warning in proposal.warnings {
        let rival = proposal.rival.flatMap { $0.warning == warning ? $0.path.typed : nil }
        context.diagnostics.warning(
          "\(name): \(warning)",
          hint: rival.map {
            .words("if those are the records, use --rows \($0)\(isSaved ? " and --replace" : "")")
          })
      }
      if isSaved, context.catalog.hasQuery(name) {
        context.diagnostics.warning(
          "the source hides the saved query \"\(name)\"",
          hint: .command("query rename \(name) NEW"))
      }
      let isChosen = option(ofKey: "rate").map(invocation.has) == true
      if isSaved, let note = proposal.rateNote(as: name, in: environment, isChosen: isChosen) {
        context.diagnostics.note(note)
      }
      guard proposal.isProved else {
        if !isWanted {
          let error = refusal(of: proposal, invocation)
          context.diagnostics.error(error)
          return error.code
        } else if isSaved {
          context.diagnostics.note(
            "Saved nevertheless"
              + (proposal.isPagingProved ? "" : ": lists warn that records may be missing")
              + (proposal.isPagingProved || !proposal.hasNoRows ? "" : ", once there are some"))
        }
        return .partial
      }
      // As of every list of it.
      return proposal.isPartial ? .partial : .success
    } catch let error as SourceError { throw failure(of: error, with: secrets) }
  }

  /// True for a word without a scheme if there is such a file, or if it looks like a path or the name of a file of records.
  private static func isFile(_ word: String) -> Bool {
    let extensions = ["csv", "tsv", "tab", "json", "jsonl", "ndjson", "xml", "rss", "atom", "gz"]
    let parts = word.split(separator: "/", maxSplits: 1)
    let isName =
      extensions.contains(URL(filePath: word).pathExtension.lowercased())
      && (parts.count == 1 || !parts[0].contains(".") && !word.hasPrefix("localhost"))
    return !word.contains("://")
      && (isName || word.hasPrefix("/") || word.hasPrefix(".") || access(word, F_OK) == 0)
  }

  /// The path of the file that the command line names, whose URL the request gets; `nil` for a service.
  private static func file(
    of request: inout SourceRequest, _ invocation: Invocation, in folder: ManifestFolder
  ) throws(CommandError) -> String? {
    let word = request.url
    guard !invocation.has(curl), !word.isEmpty else { return nil }
    if word.hasPrefix("file:") {
      let hints = try? Manifest(reading: Data((["url": .string(word)] as JSON).text.utf8))
      guard hints?.file != nil else {
        throw CommandError(
          .usage, "invalid URL \"\(word)\": must be file:/// and an absolute path",
          hint: "use the path instead")
      }
    } else {
      guard isFile(word) else { return nil }
      request.url = Manifest.url(
        ofFile: word.hasPrefix("/")
          ? word
          : "\(try workingDirectory())/\(word.trimmingPrefix("./"))")
    }
    for option in [header, body, each, since, probe, allowHost] + signInOptions
    where invocation.has(option) { throw .exclusive("a file", option.spelling) }
    guard folder.isOwn else {
      throw CommandError(
        .usage, "only a manifest in your own folder may read a file",
        hint: "leave out --manifests and AGGREGATOR_MANIFESTS")
    }
    return URL(string: request.url)?.path(percentEncoded: false)
  }

  /// Refuses a database, of which `sql` reads the tables.
  private static func refuseDatabase(
    _ path: String, typed word: String
  ) throws(CommandError) {
    guard let head = try? OpenFile(reading: path).prefix(16), head.isDatabase else { return }
    let file = URL(filePath: path)
    // Names of other endings are refused by `sql`.
    guard ["sqlite", "sqlite3", "db"].contains(file.pathExtension.lowercased()) else {
      throw CommandError(
        .notUnderstood, "\(word) is an SQLite database",
        hint: "give it a name that ends in .db, and query it with sql --attach")
    }
    // The name of the file may be a word of SQL.
    let query = "sql --attach data=\(word.isPlainWord ? word : word.shellQuoted)"
    throw CommandError(
      .notUnderstood, "\(word) is an SQLite database",
      hint: .steps(
        .command("\(query) \"SELECT * FROM data.TABLE\""),
        .words("to add a table, write it to a file first: the same with --csv > TABLE.csv")))
  }

  /// The path of the working directory.
  ///
  /// - Throws: ``CommandError`` if it was removed: then its path is empty, and a name in it would be one in `/`.
  static func workingDirectory() throws(CommandError) -> String {
    let path = FileManager.default.currentDirectoryPath
    guard !path.isEmpty else {
      throw CommandError(
        .usage, "the working directory does not exist any more", hint: "use an absolute path")
    }
    return path
  }

  package static func checkScheme(
    of request: SourceRequest, mayBeFile: Bool = false
  ) throws(CommandError) {
    let url = request.url
    guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
      let isLocal = url.hasPrefix("localhost") || url.hasPrefix("127.0.0.1")
      // Of a word alone, the ending tells a host from a file.
      let ending = url.prefix { $0 != "?" }.split(separator: ".").last?.lowercased() ?? ""
      let domains = [
        "com", "org", "net", "dev", "app", "gov", "edu", "info", "biz", "cloud", "xyz", "example",
      ]
      let mayBeDomain =
        domains.contains(ending)
        || ending.count == 2 && !["db", "md", "py", "js", "xz", "7z"].contains(ending)
      let isHost =
        url.contains(".") && !url.contains("://") && url.first?.isLetter == true
        && (url.contains("/") || mayBeDomain)
      let isURL = !mayBeFile || url.contains(":") || isLocal || isHost
      throw CommandError(
        isURL ? .usage : .io,
        isURL
          ? "invalid URL \"\(url)\": must begin with https:// or http://"
          : "no such file: \"\(url)\"; a URL must begin with https:// or http://",
        suggestion: isLocal ? "http://\(url)" : isHost ? "https://\(url)" : nil)
    }
  }

  /// Names of members as one argument, in quotes if a shell would split or change it.
  private static func argument(_ names: [String]) -> String {
    let text = names.joined(separator: ",")
    return names.allSatisfy(\.isPlainWord) ? text : text.shellQuoted
  }

  /// The error of a proposal that was not saved.
  private static func refusal(of proposal: Proposal, _ invocation: Invocation) -> CommandError {
    let reason =
      proposal.obstacle
      ?? (proposal.hasNoRows
        ? "the list is empty, and shows no paging" : "the paging is not proved")
    if proposal.isOutOfTime, proposal.obstacle == nil {
      return CommandError(
        .partial, "nothing was saved, because the time limit was reached and \(reason)",
        hint: .words("allow more time with --timeout"))
    }
    if !proposal.isComplete, !proposal.hasNoRows, let id = option(ofKey: "id"),
      let paths = invocation.list(id)
    {
      let rows = proposal.rows
      // A member that rows lack, or share, would be refused as well.
      let members = (rows.first?.members ?? []).map(\.name).filter { name in
        let values = rows.compactMap { $0[name] }.filter { $0 != .null && $0 != .string("") }
        return values.count == rows.count && (paths.count > 1 || Set(values).count == rows.count)
      }
      let near = paths.compactMap { nearest(to: $0, in: members) }
      return CommandError(
        .usage,
        "nothing was saved, because \(id.spelling) \(Self.argument(paths)) does not identify records",
        suggestion: near.count < paths.count || near == paths
          ? nil : "\(id.spelling) \(Self.argument(near))",
        hint: .words(
          "name the members that identify a record by \(id.spelling)"
            + (proposal.canNumberRows ? ", or number the rows by \(id.spelling) '#'" : ""))
      )
    }
    if proposal.obstacle == nil, let wrong = proposal.disproved.first.flatMap(option(ofKey:)) {
      return CommandError(
        .usage, "nothing was saved, because \(wrong.spelling) is not proved",
        hint: .words("correct it or leave it out, or use --yes"))
    }
    let told = manifestOptions.first { stepNames.contains($0.name) && invocation.has($0) }
    let remedy =
      switch (proposal.isComplete, proposal.hasNoRows) {
      case (true, true): "try again when it has records, or use --yes"
      case (true, false) where told == nil && proposal.json["body"]?["query"]?.string != nil:
        "let the query ask for pageInfo { endCursor hasNextPage }, and take a variable $after for the cursor; or use --single "
          + "or --yes"
      case (true, false):
        told.map { "correct \($0.spelling) or leave it out, or use --yes" }
          ?? "name it by --page-param, --offset-param, --next or --single, or use --yes"
      case (false, true):
        "try again when it has records, or name its ID by --id"
          + (proposal.isPagingProved ? "" : " and use --yes")
      case (false, false): "name the members that identify a record by --id"
      }
    return CommandError(.partial, "nothing was saved, because \(reason)", hint: .words(remedy))
  }

  /// The failure of a request, or of what the command line says of a source.
  static func failure(of error: SourceError, with secrets: NewSecrets) -> CommandError {
    var failure = CommandError(error)
    if error.code == .rateLimited { failure.hint = error.hint(settings: []) }
    let response = error.cause as? UnusableResponse
    if case .unauthorized? = response { failure.code = .key }
    let isRefused = error.code == .invalidKey || response?.keyPlace != nil
    if failure.hint == nil, isRefused, !secrets.names.isEmpty {
      failure.hint = .words("check \(secrets.names.joined(separator: ", "))")
    }
    if failure.hint == nil, let response {
      failure.hint =
        switch response {
        case .unauthorized(let place), .refusal(let place):
          .words(
            "sign in with \(SourceRequest().words(withKeyIn: place, named: "TOKEN")), --basic USER or --oauth-token-url URL"
          )
        case .page(isRedirected: true):
          .words(
            "if it wants a person to sign in, use \(SourceRequest().words(withKeyIn: "Authorization: Bearer", named: "TOKEN")), "
              + "--basic USER or --curl; else look for the URL of the API in its documentation")
        case .page:
          .words(
            "this is a web page: look for the URL of the API in its documentation, or use --curl with what "
              + "\"Copy as cURL\" of a browser copies")
        case .otherFormat: .words("use a URL that sends JSON, CSV, TSV, NDJSON or XML")
        }
    }
    if let cause = error.cause as? NoList {
      let list = cause.isFile ? "a file with a list" : "the URL of a list"
      failure.hint = .words(
        cause.entries.map { "if each is a record, add --rows \($0.typed)" }
          ?? cause.lists.map {
            "use a \(cause.isFile ? "file" : "URL") with objects (?_shape=objects of Datasette) or CSV; "
              + "or identify rows by a position: --rows \($0.typed) --id 0"
          } ?? "name the list with --rows PATH, or use \(list)")
    }
    if failure.hint == nil { failure.hint = error.remedyOfService.map(Hint.words) }
    if let other = error.cause as? OtherHost {
      failure.hint = .words("allow it with --allow-host \(other.host); it gets no secrets")
    }
    if let other = error.cause as? NotAllowedHost {
      failure.hint = .words("if that is right, allow it with --allow-host \(other.host)")
    }
    // An invalid option is a mistake on the command line, not in a file.
    if error.code == .invalidSettings {
      failure.code = .usage
      failure.message = inOptions(String(failure.message.trimmingPrefix("line 1: ")))
    }
    return failure
  }

  /// A message that begins with a key of a manifest, with the option or the argument of that key.
  private static func inOptions(_ message: String) -> String {
    let parts = message.split(separator: "\"", maxSplits: 1, omittingEmptySubsequences: false)
    guard message.hasPrefix("\""), let rest = parts.last?.split(separator: "\"", maxSplits: 1),
      rest.count == 2
    else { return message }
    if rest[0] == "url" { return "the URL\(rest[1])" }
    return option(ofKey: String(rest[0])).map { "\($0.spelling)\(rest[1])" } ?? message
  }

  private static func option(ofKey key: String) -> Option? {
    manifestOptions.first { (manifestKeys[$0.name] ?? $0.name) == key }
  }

  /// The request on the command line, or that of a curl command on standard input.
  static func request(
    _ invocation: Invocation, _ context: CommandContext
  ) throws(CommandError) -> SourceRequest {
    var request = SourceRequest()
    if invocation.has(openAPI) {
      try invocation.refuseArguments(after: 2)
      if invocation.arguments.count > 1 { request.url = invocation.arguments[1] }
    } else if invocation.has(curl) {
      if let word = invocation.arguments.dropFirst().first, word.hasPrefix("curl") {
        throw CommandError(
          .usage, "\(curl.spelling) reads the curl command from standard input",
          hint: .words(
            "paste it after \(context.diagnostics.command("sources add \(invocation.arguments[0].typed) \(curl.spelling)"))"
          ))
      }
      try invocation.refuseArguments(after: 1)
      if isatty(STDIN_FILENO) == 1 {
        context.diagnostics.note("Paste the curl command, then press Return and Ctrl-D")
      }
      let text = try StandardInput.read(atMost: CurlCommand.maxSize)
      guard text.count < CurlCommand.maxSize else {
        throw CommandError(
          .usage, "the curl command is longer than \(CurlCommand.maxSize >> 10) KB")
      }
      let command = try CommandError.wrapping(
        try CurlCommand(String(decoding: text, as: UTF8.self)))
      request = command.request
      if !command.leftOut.isEmpty {
        let names = command.leftOut.joined(separator: ", ")
        context.diagnostics.note(
          "Left out what browsers add: \(names). Use --header if the API needs one")
      }
    } else {
      guard invocation.arguments.count > 1 else {
        throw CommandError.missingArgument("URL", hint: .command("help sources add"))
      }
      try invocation.refuseArguments(after: 2)
      request.url = invocation.arguments[1]
    }
    try setHeaders(of: &request, invocation)
    if let text = invocation.text(body) { request.body = try json(in: text) }
    if let user = invocation.text(basic) {
      guard !user.contains(":") else {
        throw CommandError(
          .usage, "invalid value for --basic: must be a user name without a colon",
          hint: "the password is asked for, or read from the environment")
      }
      request.user = .init(name: user)
    }
    for name in request.secretBodyMembers {
      context.diagnostics.warning(
        "the body contains \"\(name)\": it is kept in the manifest, which others may read")
    }
    return request
  }

  /// Adds the header fields on the command line, in the place of others of their names.
  static func setHeaders(
    of request: inout SourceRequest, _ invocation: Invocation
  ) throws(CommandError) {
    for field in invocation.texts(header) {
      let header = try CommandError.wrapping(try SourceRequest.Header(parsing: field))
      request.headers.removeAll { $0.name.lowercased() == header.name.lowercased() }
      request.headers.append(header)
    }
  }

  /// The JSON of `--body`: the text itself, or the contents of the file after `@`.
  private static func json(in text: String) throws(CommandError) -> JSON {
    var bytes = Array(text.utf8)
    if text.hasPrefix("@") {
      let path = String(text.dropFirst())
      let contents = try CommandError.wrapping(
        try PrivateFile(path: path).contents(atMost: CurlCommand.maxSize))
      guard let contents else {
        throw CommandError(SourceError(.storage, "cannot read \(path): no such file"))
      }
      bytes = contents
    }
    guard let body = JSONText(Data(bytes)).map({ JSON($0) }) else {
      throw CommandError(.usage, "invalid value for --body: must be JSON, or @ and a file of JSON")
    }
    return body
  }

  /// The `auth` of the manifest; `nil` if the source does not sign in.
  static func signIn(
    _ name: String, _ invocation: Invocation, _ request: SourceRequest,
    avoiding taken: Set<String>
  ) throws(CommandError) -> JSON? {
    guard let token = invocation.text(oauthToken) else {
      for option in signInOptions.dropFirst(2) where invocation.has(option) {
        throw CommandError(.usage, "\(option.spelling) needs \(oauthToken.spelling)")
      }
      return request.basicAuth
    }
    if request.user != nil { throw .exclusive(basic.spelling, oauthToken.spelling) }
    func setting(_ part: String) -> String {
      let plain = "\(name)_\(part)".uppercased().replacing("-", with: "_")
      let numbered = (2...99).lazy.map { "\(plain)_\($0)" }.first { !taken.contains($0) }
      return "${\(taken.contains(plain) ? numbered ?? plain : plain)}"
    }
    let isRefreshing = invocation.has(oauthRefresh)
    var members: [JSON.Member] = [
      .init("token", .string(token)),
      .init("grant", .string(isRefreshing ? "refresh_token" : "client_credentials")),
      .init("id", .string(invocation.text(oauthID) ?? setting("id"))),
      .init("secret", .string(setting("secret"))),
    ]
    if isRefreshing { members.append(.init("refresh", .string(setting("refresh")))) }
    for (key, option) in [("scope", oauthScope), ("send", oauthSend)] {
      if let text = invocation.text(option) { members.append(.init(key, .string(text))) }
    }
    return ["oauth": .object(members)]
  }

  /// The lists of which there is one for each value of a placeholder in the URL; `nil` without a placeholder.
  private static func lists(
    _ invocation: Invocation, in url: String
  ) throws(CommandError) -> JSON? {
    let values = invocation.list(each)
    guard let name = Manifest.Each.names(in: url).first else {
      guard values == nil else {
        throw CommandError(.usage, "\(each.spelling) needs {date} or {value} in the URL")
      }
      return nil
    }
    guard !invocation.has(openAPI) else {
      throw CommandError(
        .usage, "the URL cannot have {\(name)} with \(openAPI.spelling)",
        hint: "add that list by its own URL, or write \"each\" into the manifest")
    }
    switch (name, values) {
    case ("date", let days?) where days.count == 1: return ["dates": .string(days[0])]
    case ("value", let values?): return ["values": .array(values.map(JSON.string))]
    case ("date", _):
      throw CommandError(
        .usage, "{date} needs the first day", hint: "such as \(each.spelling) 2024-01-01")
    case ("value", nil):
      throw CommandError(
        .usage, "{value} needs the values", hint: "such as \(each.spelling) alpha,beta")
    case (_, nil): return .string(String(name.prefix { $0 != "." }))
    default:
      throw CommandError(
        .usage, "\(each.spelling) cannot be used with {\(name)}, which is a list for each record")
    }
  }

  /// A manifest of what the command line says.
  static func hints(
    _ invocation: Invocation, _ request: SourceRequest, _ auth: JSON?,
    _ literals: [SourceRequest.LiteralSecret]
  ) throws(CommandError) -> JSON {
    var members = request.members
    if let lists = try lists(invocation, in: request.url) {
      members.append(JSON.Member("each", lists))
    }
    if let auth { members.append(JSON.Member("auth", auth)) }
    if let body = request.body { members.append(JSON.Member("body", body)) }
    return .object(members + (try self.members(invocation, literals)))
  }

  /// The members of a manifest that options name, but for those of the request.
  static func members(
    _ invocation: Invocation, _ literals: [SourceRequest.LiteralSecret]
  ) throws(CommandError) -> [JSON.Member] {
    var members: [JSON.Member] = []
    for option in manifestOptions {
      let key = manifestKeys[option.name] ?? option.name
      if key == "id" {
        if let paths = invocation.list(option) {
          members.append(JSON.Member(key, .array(paths.map(JSON.string))))
        }
      } else if var text = invocation.text(option) {
        // URLs of records and searches may repeat the secrets.
        for literal in literals where literal.value.utf8.count >= 8 {
          for form in [literal.value, literal.value.percentEncoded] {
            text = text.replacing(form, with: "${\(literal.setting)}")
          }
        }
        members.append(JSON.Member(key, .string(text)))
      }
    }
    if let text = invocation.text(since) {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts.contains(where: \.isEmpty) else {
        throw CommandError(
          .usage, "invalid value \"\(text)\" for --since-param: must be PARAM=PATH",
          hint: "such as --since-param updated_since=updated_at")
      }
      members.append(
        JSON.Member(
          "since", ["parameter": .string(String(parts[0])), "field": .string(String(parts[1]))]))
    }
    let tables = invocation.texts(table).map { text in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return JSON.Member(String(parts[0]), .string(parts.dropFirst().joined()))
    }
    if !tables.isEmpty { members.append(JSON.Member("tables", .object(tables))) }
    if invocation.has(allowHost) {
      let hosts = invocation.texts(allowHost).map(JSON.string)
      members.append(JSON.Member("hosts", .array(hosts)))
    }
    if let limit = invocation.duration(.timeout) {
      // A manifest has whole seconds.
      let seconds = max((limit / .seconds(1)).rounded(.up), 1)
      members.append(JSON.Member("timeout", .string("\(Int(seconds))s")))
    }
    return members
  }
}

extension SourceRequest {
  /// The URL and the header fields as members of a manifest.
  package var members: [JSON.Member] {
    let fields = headers.map { JSON.Member($0.name, .string($0.value)) }
    return [.init("url", .string(url))]
      + (fields.isEmpty ? [] : [.init("headers", .object(fields))])
  }

  /// The arguments of `sources add` for a URL whose key is a setting, and in the place that ``add(key:in:)`` reads.
  package func words(withKeyIn place: String, named setting: String) -> String {
    guard place.hasPrefix("?") else {
      let field = "\(place)\(place.contains(":") ? " " : ": ")${\(setting)}"
      return "\(url.isEmpty ? "" : "\(url.shellQuoted) ")-H \(field.shellQuoted)"
    }
    let mark = url.contains("?") ? "&" : "?"
    return "\(url)\(mark)\(place.dropFirst())=${\(setting)}".shellQuoted
  }
}

extension Invocation {
  /// True if a person can be asked.
  var mayAsk: Bool { !has(.noInput) && isatty(STDIN_FILENO) == 1 }
}

/// The time that is left for the requests of a command, without that in which a person is asked for secrets.
struct RequestTime {
  /// `nil` without a limit.
  private var left: Duration?

  init(_ invocation: Invocation) { left = invocation.duration(.timeout) }

  mutating func limit<Value>(_ requests: () async throws -> Value) async throws -> Value {
    let clock = ContinuousClock()
    let start = clock.now
    defer { left = left.map { $0 - start.duration(to: clock.now) } }
    let deadline = left.map { Deadline(after: $0, on: clock) }
    return try await Deadline.$current.withValue(deadline) { try await requests() }
  }
}

/// The secrets of a source that is being added, which are saved with it.
package struct NewSecrets {
  private let literals: [SourceRequest.LiteralSecret]
  private var values: [String: String]
  private var known: [Setting] = []

  package init(_ literals: [SourceRequest.LiteralSecret]) {
    self.literals = literals
    values = Dictionary(literals.map { ($0.setting, $0.value) }) { first, _ in first }
  }

  /// The names of all that the manifest has.
  var names: [String] { known.map(\.key) }

  /// Those that have new values, so that the hosts of old ones do not matter.
  package var replaced: Set<String> { Set(literals.map(\.setting)) }

  /// An environment with the secrets that a manifest names; what is not set is asked for.
  package mutating func environment(
    of name: String, in hints: JSON, _ folder: ManifestFolder, _ context: CommandContext,
    mayAsk: Bool
  ) throws -> PluginEnvironment {
    known = try declaredSecrets(of: name, in: hints, boundIn: folder, replacing: replaced)
    var environment = try context.localEnvironment(knowing: known)
    environment.settings = environment.settings.replaced(values)
    for secret in known where environment.settings.secret(secret) == nil {
      values[secret.key] = try context.ask(for: secret, mayAsk: mayAsk)
      environment.settings = environment.settings.replaced(values)
    }
    return environment
  }

  /// Saves what was typed, and says what is read from the environment.
  package func save(
    _ context: CommandContext, _ settings: SourceSettings, areArguments: Bool
  ) throws {
    let file = SettingsFile(
      try context.userSettingsFile(), settings: context.catalog.settings + known)
    for (key, value) in values.sorted(by: { $0.key < $1.key }) { try file.set(key, to: value) }
    context.note(literals, savedIn: file.path, areArguments: areArguments)
    for secret in known where settings.origin(of: secret) == .environment {
      context.diagnostics.note(
        "\(secret.key) is not saved: later runs read it from the environment, too. To save it: "
          + context.diagnostics.command("config set \(secret.key)"))
    }
  }
}

extension CommandContext {
  /// The remedy for a request that needs a key in a place, or another key than the one that it has, with `nil`.
  package func keyRemedy(for name: String, _ request: SourceRequest, in place: String?) -> Remedy {
    guard let place else { return "check the key, and where the service takes it" }
    let setting = "\(name)_key".uppercased().replacing("-", with: "_")
    let arguments = "\(name) \(request.words(withKeyIn: place, named: setting))"
    return Remedy(
      "if it needs a key, type it here, or add it on the command line: \(catalog.program) sources add \(arguments)"
    )
  }

  /// - Parameter remedy: That of a name that is taken; `nil` for that of a source that is added.
  package func checkName(
    _ name: String, in folder: ManifestFolder, mayReplace: Bool, orElse remedy: Hint? = nil
  ) throws(CommandError) {
    guard ManifestFolder.isName(name) else {
      // `sx_csv`, as tables in SQL are called.
      let near = String(
        name.lowercased().map { ["_", " ", "."].contains($0) ? "-" : $0 })
      throw CommandError(
        .usage, "invalid name \"\(name)\"",
        suggestion: ManifestFolder.isName(near) ? near : nil,
        hint: "use 1 to 32 lower-case letters, digits and hyphens, beginning with a letter")
    }
    let isService = folder.services.contains(name)
    if isService || folder.names.contains(name) {
      guard mayReplace else {
        throw CommandError(
          .usage, "there is a \(isService ? "service" : "source") \"\(name)\" already",
          hint: remedy ?? "use another name, or --replace of sources add")
      }
    } else if catalog.isReserved(name) {
      throw CommandError(
        .usage, "\"\(name)\" is the name of a source, command or verb of \(catalog.program)",
        hint: "use another name")
    }
  }

  fileprivate func ask(for secret: Setting, mayAsk: Bool) throws(CommandError) -> String {
    guard mayAsk else {
      throw CommandError(
        .key, "\(secret.key) is not set",
        hint: .words("set the environment variable \(secret.key)"))
    }
    return try SecretInput.read(secret.key, mayAsk: true)
  }

  fileprivate func note(
    _ literals: [SourceRequest.LiteralSecret], savedIn path: String, areArguments: Bool
  ) {
    guard !literals.isEmpty else { return }
    let keys = literals.map(\.setting).joined(separator: ", ")
    diagnostics.note(
      "Set \(keys) in \(path)"
        + (areArguments
          ? "; other users can see arguments while a command runs, and the shell's history keeps them"
          : ""))
  }
}

extension Proposal {
  /// The columns of the keys of the evidence, with a space.
  private var keyWidth: Int { max(7, evidence.map(\.key.count).max() ?? 0) + 1 }

  /// A key in its column.
  fileprivate func padded(_ key: String) -> String {
    key + String(repeating: " ", count: keyWidth - key.count)
  }

  /// The evidence as lines of a key, its value and the reason, which goes on below itself on a terminal.
  func table(in context: CommandContext) -> String {
    // Fields are a list of any length.
    let width = min(
      evidence.filter { !["fields", "left out"].contains($0.key) }.map(\.value.count).max() ?? 0, 40
    )
    return evidence.map { line in
      let value = line.value + String(repeating: " ", count: max(0, width - line.value.count))
      let hint =
        line.key == "left out"
        ? "; sources edit NAME --fields takes their paths, with * for the elements of a list"
        : line.key == "link" && line.value == "–" ? "; name one with --link FIELD" : ""
      let reason = (line.reason + hint).safeLine
      let head = "\(padded(line.key))\(value)  ".safeLine
      guard context.terminal.isOutput, !reason.isEmpty else {
        return "\(head)\(reason)".trimmed + "\n"
      }
      let columns = context.terminalLayout.width
      let isBeside = columns - head.displayWidth >= 24
      let indent = String(repeating: " ", count: isBeside ? head.displayWidth : keyWidth)
      let lines = Wrap(columns - indent.count).lines(of: reason)
      return (isBeside ? head : "\(head.trimmed)\n\(indent)")
        + lines.joined(separator: "\n\(indent)") + "\n"
    }.joined()
  }

  package var document: JSON {
    [
      "schema": "aggregator/1", "manifest": json,
      "evidence": .array(evidence.map(\.json)),
      "proved": .bool(isProved), "requests": .integer(requests),
      "warnings": .array(warnings.map(JSON.string)),
    ]
  }
}

extension Proposal.Evidence {
  var json: JSON { ["key": .string(key), "value": .string(value), "why": .string(reason)] }
}
