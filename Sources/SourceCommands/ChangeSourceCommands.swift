import AggregatorArguments
import AggregatorFiles
import AggregatorInference
package import AggregatorKit
package import AggregatorQueries
package import AggregatorTerminal
package import DeclaredSource

extension Command {
  static let editSource = Command(
    "NAME", words: CompletionSource.addedSourceOrService,
    options: editOptions,
    notes: [
      "Opens a copy of the manifest in $VISUAL, $EDITOR or vi, and checks it before it replaces the manifest. The manifest "
        + "of a service has all of its lists. With options, changes only what they name, without an editor and without "
        + "requests: sources check verifies it. For other rows or another paging, sources add --replace finds out the rest.",
      "A literal key in a header field becomes a setting, as in sources add; config set changes its value later.",
    ],
    examples: [
      ("sources edit issues", "change the manifest of an added source"),
      ("sources edit issues --link html_url", "say where the web page of a record is"),
      ("sources edit issues --fields '*,user.login'", "all fields of cached records, and a path"),
      ("sources edit issues --rate 1/s --fresh 1h", "send fewer requests"),
    ],
    run: editSource)

  private static let editedNames = [
    "id", "page-size", "total", "item", "link", "search", "rate", "fresh",
  ]
  private static let editOptions =
    [.fields.with(about: "fields of the records, in order, by their names or paths")]
    + manifestOptions.filter { editedNames.contains($0.name) }
    + [header, .timeout.with(about: "time limit of a page: 10 (seconds), 2m")]

  private static func editSource(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    try invocation.refuseArguments(after: 1)
    let name = try invocation.names("NAME", of: context.addedNames())[0]
    let folder = try context.manifestFolder(of: name, orService: true)
    let old = folder.sources(of: name).map { ($0, try? folder.manifest($0)) }
    // With another URL or ID they are no longer those of the source.
    var cached: [String: [DeclaredRecord]] = [:]
    for (source, _) in old {
      cached[source] = await context.cachedRecords(of: source, in: folder)?.records
    }
    let records = cached[name] ?? []
    var code = ExitCode.success
    if editOptions.contains(where: invocation.has) {
      try context.checkFile(of: name, in: folder)
      guard !folder.services.contains(name) else {
        throw CommandError(
          .usage, "\(name) is a service, and options change one source",
          hint: .command("sources edit \(name)"))
      }
      let (members, secrets, settings) = try change(of: name, in: folder, context)
      let known = try settings.map { _ in try folder.manifest(name).secretNames } ?? []
      let manifest = try edited(name, records, setting: members, in: folder, context)
      guard manifest != nil || !secrets.replaced.isEmpty else {
        context.diagnostics.note("Nothing changed")
        return .success
      }
      if let manifest {
        if try JSONText(Data(folder.text(of: name))) == nil {
          context.diagnostics.warning("the comments of \(folder.file(of: name)) are removed")
        }
        let text = JSONFormatter.indented(Array(manifest.json.text.utf8)) ?? []
        try folder.replace(name, with: text + [UInt8(ascii: "\n")])
        context.diagnostics.note("Changed \(folder.file(of: name))")
      }
      if let settings {
        // Only those that were typed: others of a manifest that was copied stay unbound.
        for secret in secrets.names
        where secrets.replaced.contains(secret) || !known.contains(secret) {
          _ = try folder.bind(secret)
        }
        try secrets.save(context, settings, areArguments: true)
      }
    } else {
      code = try context.edit(folder.text(of: name), as: "\(name).json") {
        text throws(CommandError) in
        try CommandError.wrapping(try folder.replace(name, with: text))
        return folder.file(of: name)
      }
      if let path = try? folder.manifest(name).pathWithoutID(in: records) {
        context.diagnostics.warning(
          "\(name): none of \(records.count.grouped("cached record")) has an ID at \"\(path)\"")
      }
    }
    await context.warnOfMissingPaths(of: folder.sources(of: name), in: folder)
    // Before a file is allowed, nothing else can be done with its source.
    if let manifest = try? folder.manifest(name) {
      do throws(SourceError) { try folder.requireAdded(manifest, as: name) } catch {
        context.diagnostics.warning("\(name): \(error.message)", hint: error.hint(settings: []))
        return code
      }
    }
    for (source, before) in old where cached[source]?.isEmpty == false {
      guard let before, let after = try? folder.manifest(source), after.scope != before.scope else {
        continue
      }
      context.diagnostics.note(
        "\(source): the records cached before the change are kept, but no longer shown. Fetch the present ones with: "
          + context.diagnostics.command("\(source) sync"))
    }
    // Nothing was requested, so a change may have left nothing to read.
    let changed = old.compactMap { source, before -> String? in
      guard let before, let after = try? folder.manifest(source),
        (before.url, before.headers, before.rows, before.paging)
          != (after.url, after.headers, after.rows, after.paging)
      else { return nil }
      return source
    }
    if !changed.isEmpty {
      let command = context.diagnostics.command(
        "sources check \(changed.joined(separator: " "))")
      context.diagnostics.note("Verify it with: \(command)")
    }
    return code
  }

  /// The members of a manifest that options change, and the secrets of the header fields among them with their settings.
  private static func change(
    of name: String, in folder: ManifestFolder, _ context: CommandContext
  ) throws -> (members: [JSON.Member], secrets: NewSecrets, settings: SourceSettings?) {
    let invocation = context.invocation
    guard invocation.has(header) else { return (try members(invocation, []), NewSecrets([]), nil) }
    let present = try folder.manifest(name)
    var request = SourceRequest(url: present.url)
    try setHeaders(of: &request, invocation)
    let literals = request.extractSecrets(
      of: name, avoiding: Set(context.catalog.settings(except: name).map(\.key)))
    var secrets = NewSecrets(literals)
    let environment = try secrets.environment(
      of: name, in: .object(request.members), folder, context, mayAsk: invocation.mayAsk)
    let names = request.headers.map { $0.name.lowercased() }
    request.headers.insert(
      contentsOf: present.headers.filter { !names.contains($0.name.lowercased()) }, at: 0)
    return (
      request.members + (try members(invocation, literals)), secrets, environment.settings
    )
  }

  /// The manifest of a source with the fields and members of the options; `nil` if they change nothing.
  ///
  /// Fails with code `usage` for a path that none of the cached records has.
  private static func edited(
    _ name: String, _ records: [DeclaredRecord], setting members: [JSON.Member],
    in folder: ManifestFolder, _ context: CommandContext
  ) throws(CommandError) -> Manifest? {
    let invocation = context.invocation
    let isGiven = { (key: String) in members.contains { $0.name == key } }
    let rows = records.map(\.row)
    let fields: [String]?
    let (present, manifest): (Manifest, Manifest)
    do throws(SourceError) {
      present = try folder.manifest(name)
      let others = present.otherFields(in: rows)
      let known = (present.fields + others).map(\.name)
      fields = invocation.list(.fields)?.map { name in
        guard !known.contains(name), let path = JSONPath(name),
          !rows.contains(where: { path.value(in: $0) != nil })
        else { return name }
        return path.throughLists(in: rows)?.description ?? name
      }
      manifest = try present.edited(fields: fields, and: others, setting: members)
    } catch { throw failure(of: error, with: NewSecrets([])) }
    guard manifest != present else {
      guard fields?.contains("*") == true, records.isEmpty else { return nil }
      throw CommandError(
        .usage, "--fields: without cached records, \"*\" is only the fields of the manifest",
        hint: .command("\(name) sync"))
    }
    let count = records.count.grouped("cached record")
    if isGiven("id"), let path = manifest.pathWithoutID(in: records) {
      throw CommandError(
        .usage, "--id: none of \(count) has an ID at \"\(path)\"",
        hint: "name a member with another text or number in each record")
    }
    let known = present.fields.map(\.path)
    let added = manifest.fields.map(\.path).filter { !known.contains($0) }
    if records.isEmpty,
      let path = added.first(where: { $0.components.count > 1 && !$0.isMultiple })
    {
      context.diagnostics.warning(
        "\(name): nothing is cached, so it is not known if records have "
          + "\"\(path.description.oneLine(atMost: 80))\"; a path through a list needs * for its elements"
      )
    }
    let link = isGiven("link") ? manifest.link : nil
    for (option, paths) in [("--fields", added), ("--link", [link].compactMap(\.self))] {
      guard let (path, near) = Manifest.missing(paths, in: records).first else { continue }
      throw CommandError(
        .usage, "\(option): none of \(count) has \"\(path)\"", suggestion: near,
        hint: .words(
          "name what the records have, or use an editor: "
            + context.diagnostics.command("sources edit \(name)")))
    }
    if let link,
      case let values = records.compactMap({ link.value(in: $0.row) }).filter({ $0 != .null }),
      !values.isEmpty, !values.contains(where: \.isURL)
    {
      let path = link.description.oneLine(atMost: 80)
      throw CommandError(
        .usage, "--link: none of \(count) has a web address at \"\(path)\"",
        hint: "name a field with the http or https URL of a page")
    }
    return manifest
  }

  static let removeSource = Command(
    "NAME…", words: CompletionSource.severalAddedSources,
    options: [.data, .yes, .dryRun],
    notes: [
      "A service is removed with all of its lists. Its cached records and images stay in the store, and the tokens with which it "
        + "signed in in their private files, unless --data is given."
    ],
    examples: [
      ("sources remove issues --yes", "remove an added source"),
      ("sources remove issues --data --yes", "remove it and its cached records"),
    ],
    run: removeSources)

  private static func removeSources(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let folder = try context.manifestFolder()
    var names: [String] = []
    for name in try invocation.names("NAME", of: context.addedNames()) where !names.contains(name) {
      try context.checkFile(of: name, in: folder)
      names.append(name)
    }
    let environment = try context.localEnvironment()
    var cached: [(source: String, data: CachedData)] = []
    for name in names {
      cached += try await context.cachedData(
        of: name, in: folder, environment, isNeeded: invocation.has(.data))
    }
    let data = invocation.has(.data) ? cached.map(\.data) : nil
    let services = names.filter(folder.services.contains)
    let sources = names.filter { !services.contains($0) }
    let kinds = [("source", sources), ("service", services)].compactMap { kind, names in
      names.isEmpty ? nil : "the \(kind)\(names.count == 1 ? "" : "s") \(names.listText)"
    }
    let contents = (data == nil ? [] : cached).map { source, data in
      names.count == 1 ? "its \(data.text)" : "\(data.text) of \(source)"
    }
    let subject = (kinds + contents).listText
    let secrets = context.catalog.secrets(
      ofOnly: names.flatMap { folder.sources(of: $0) }, in: environment.settings)
    let isRemoved = try await context.remove(subject) {
      try await context.removeSources(names, in: folder, with: data, environment)
    }
    if isRemoved, data == nil {
      for (source, data) in cached { context.note(data, keptAs: source) }
    }
    for secret in isRemoved ? secrets : [] {
      let command = context.diagnostics.command("config unset \(secret.key)")
      context.diagnostics.note(
        "Still set: \(secret.key) (\(environment.settings.origin(of: secret))). Remove with: \(command)"
      )
    }
    return .success
  }

  static let renameSource = Command(
    "NAME NEW", words: CompletionSource.addedSourceOrService,
    notes: [
      "A service is renamed with all of its lists. Cached records, deletions, history and images move to the new name, and saved "
        + "queries that begin with the old one begin with the new one. Settings with secrets and tokens stay what they are. Positions of "
        + "next are not kept."
    ],
    examples: [("sources rename issues bugs", "give an added source another name")],
    run: renameSource)

  private static func renameSource(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    guard let name = invocation.arguments.first else { throw CommandError.missingArgument("NAME") }
    guard let new = invocation.arguments.dropFirst().first else {
      throw CommandError.missingArgument("NEW")
    }
    try invocation.refuseArguments(after: 2)
    try await context.renameSource(
      name, to: new, in: context.manifestFolder()
    ) { try context.localEnvironment() }
    return .success
  }
}

extension SourceCatalog {
  /// The secrets in settings files that no other source needs.
  package func secrets(ofOnly names: [String], in settings: SourceSettings) -> [Setting] {
    let others = plugins.filter { !names.contains($0.name) }.flatMap(\.settings) + ownSettings
    var secrets: [Setting] = []
    for setting in plugins.filter({ names.contains($0.name) }).flatMap(\.settings) {
      guard setting.isSecret, case .file = settings.origin(of: setting),
        !(others + secrets).contains(where: { $0.key == setting.key })
      else { continue }
      secrets.append(setting)
    }
    return secrets
  }
}

extension Manifest {
  /// A path of the ID at which none of some records has one; `nil` for none.
  fileprivate func pathWithoutID(in records: [DeclaredRecord]) -> String? {
    guard !records.isEmpty else { return nil }
    return id.first { path in
      !records.contains { path.value(in: $0.row)?.isIdentifying == true }
    }?.description.oneLine(atMost: 80)
  }
}

extension CommandContext {
  /// Renames an added source, or a service with all of its lists, and says what has moved.
  ///
  /// - Parameter environment: Made once the names are checked.
  package func renameSource(
    _ name: String, to new: String, in folder: ManifestFolder,
    _ environment: () throws -> PluginEnvironment
  ) async throws {
    try checkFile(of: name, in: folder)
    let sources = folder.sources(of: name)
    for text in [new] + sources.map({ new + $0.dropFirst(name.count) }) {
      let remedy = Hint.steps(
        "use another name, or remove that one first",
        .command("sources remove \(folder.service(of: text) ?? text)"))
      try checkName(
        text, in: folder, mayReplace: false, orElse: text == name ? "use another name" : remedy)
    }
    for other in folder.names {
      guard case .records(let source, _)? = (try? folder.manifest(other))?.each?.partitions,
        sources.contains(source)
      else { continue }
      throw CommandError(
        .usage, "\(other) has a list for each record of \(source), which its manifest names",
        hint: .command("sources edit \(other)"))
    }
    let environment = try environment()
    let cached = try await cachedData(of: name, in: folder, environment, isNeeded: true)
    let names = sources.map { (old: $0, new: new + $0.dropFirst(name.count)) }
    await forgetRates(of: [name], in: folder, environment)
    try await move(names, in: environment) { () throws(SourceError) in
      try folder.rename(name, to: new)
    }
    let contents = cached.map { source, data in
      sources.count == 1 ? data.text : "\(data.text) of \(source)"
    }
    let subject = contents.isEmpty ? "" : ", with \(contents.joined(separator: ", "))"
    diagnostics.note("Renamed \(name) to \(new)\(subject)")
    for (old, new) in names { renameInQueries(old, to: new) }
  }

  /// Checks that an added source or a service has a file of its own.
  fileprivate func checkFile(of name: String, in folder: ManifestFolder) throws(CommandError) {
    _ = try manifestFolder(of: name, orService: true)
    guard let service = folder.service(of: name) else { return }
    throw CommandError(
      .usage, "\(name) is a list of the service \(service)",
      hint: .steps(.command("sources edit \(service)"), .command("sources remove \(service)")))
  }

  /// Warns of paths in manifests that none of the first cached records has; nothing is requested.
  fileprivate func warnOfMissingPaths(of sources: [String], in folder: ManifestFolder) async {
    for name in sources {
      guard let (plugin, records) = await cachedRecords(of: name, in: folder) else { continue }
      for warning in plugin.missingPaths(in: records) {
        diagnostics.warning("\(name): \(warning)")
      }
    }
  }

  /// The first cached records of an added source; `nil` for none.
  fileprivate func cachedRecords(
    of name: String, in folder: ManifestFolder
  ) async -> (plugin: DeclaredPlugin, records: [DeclaredRecord])? {
    guard var environment = try? localEnvironment() else { return nil }
    let plugin = DeclaredPlugin(name, in: folder, of: folder.service(of: name))
    // Records of another URL are no sample.
    environment.store = environment.store?.capabilities.scopes?
      .replacing(name, with: plugin.recordScope(in: environment.settings))
    guard let local = try? await plugin.localRecords(in: environment), local.isCached,
      let page = try? await local.source.page(PageRequest(limit: 100))
    else { return nil }
    return (plugin, page.records)
  }

  /// Moves all that is stored of sources to other names, and back if `rename` fails.
  fileprivate func move(
    _ names: [(old: String, new: String)], in environment: PluginEnvironment,
    and rename: () throws(SourceError) -> Void
  ) async throws {
    let store = environment.store?.capabilities.scopes
    let files = try imageFiles(environment.settings)
    do throws(SourceError) { try await store?.rename(names) } catch {
      guard error.code == .invalidRequest else { throw error }
      throw CommandError(.usage, error.message, hint: .command("store"))
    }
    do throws(SourceError) {
      for (old, new) in names { try await files?.move(old, to: new) }
      try rename()
    } catch {
      // The first failure is reported.
      try? await store?.rename(names.map { (old: $0.new, new: $0.old) })
      for (old, new) in names { try? await files?.move(new, to: old) }
      throw error
    }
  }

  /// Lets saved queries that begin with a source begin with its new name, and names the others that have the old one.
  fileprivate func renameInQueries(_ name: String, to new: String) {
    // Others may have saved queries while the records moved.
    let catalog = catalog.reread
    var renamed: [String] = []
    do throws(CommandError) {
      renamed = try catalog.renameSource(name, to: new)
    } catch {
      diagnostics.warning(error.message, hint: error.hint)
    }
    if !renamed.isEmpty {
      let names = renamed.map { "\"\($0)\"" }.joined(separator: ", ")
      diagnostics.note("Also in the saved \(renamed.count == 1 ? "query" : "queries") \(names)")
    }
    for query in catalog.queryNames(with: name) where !renamed.contains(query) {
      diagnostics.warning(
        "the saved query \"\(query)\" names \(name)", hint: .command("query show \(query)"))
    }
  }

  /// Says how cached data of a source that is not there can be removed.
  ///
  /// - Parameter isKnown: False if the source may be that of another program or machine with the same store.
  package func note(_ data: CachedData, keptAs source: String, isKnown: Bool = true) {
    let command = diagnostics.command("store clear \(source) --forget-deleted")
    let words =
      isKnown
      ? "Still in the store: \(data.text)"
      : "\(source) is not a source here, but the store has \(data.text) of it"
    diagnostics.note("\(words). Remove with: \(command)")
  }

  /// The cached data of an added source, or of the lists of a service, as far as there is any.
  ///
  /// - Parameter isNeeded: True if a store that cannot be read is an error: a source can be removed without its data
  ///   whatever the state of the store.
  package func cachedData(
    of name: String, in folder: ManifestFolder, _ environment: PluginEnvironment, isNeeded: Bool
  ) async throws -> [(source: String, data: CachedData)] {
    let files = try imageFiles(environment.settings)
    var cached: [(source: String, data: CachedData)] = []
    for source in folder.sources(of: name) {
      do throws(SourceError) {
        guard let store = environment.store else { break }
        let data = try await CachedData(of: source, in: store, files, .everything)
        if !data.isEmpty { cached.append((source, data)) }
      } catch {
        if isNeeded { throw error }
      }
    }
    return cached
  }

  /// The added sources and services that have files of their own.
  fileprivate func addedNames() throws(CommandError) -> [String] {
    let folder = try manifestFolder()
    return folder.services + folder.names.filter { folder.service(of: $0) == nil }
  }

  /// Lets the rates of sources that go hold back no others.
  fileprivate func forgetRates(
    of files: [String], in folder: ManifestFolder, _ environment: PluginEnvironment
  ) async {
    let names = Set(files.flatMap { folder.sources(of: $0) })
    for plugin in folder.plugins where names.contains(plugin.name) {
      await plugin.forgetRate(in: environment)
    }
  }

  /// Removes added sources, or services with their lists.
  ///
  /// - Parameter data: The cached data, which is removed with the tokens of the sources; `nil` if both stay.
  package func removeSources(
    _ files: [String], in folder: ManifestFolder, with data: [CachedData]?,
    _ environment: PluginEnvironment
  ) async throws {
    // The data first: afterwards the command would not find the source again.
    if let data {
      for data in data { try await data.remove() }
      let names = Set(files.flatMap { folder.sources(of: $0) })
      let others = catalog.plugins.filter { !names.contains($0.name) }
      for plugin in folder.plugins where names.contains(plugin.name) {
        try await plugin.removeTokens(butThoseOf: others, in: environment)
      }
    }
    await forgetRates(of: files, in: folder, environment)
    for file in files { _ = try folder.remove(file) }
  }

  /// Opens a copy of a text in an editor, again if the changed text is refused and the person wants to.
  ///
  /// - Parameters:
  ///   - ending: The end of the name of the copy.
  ///   - save: Checks the changed text and replaces the old one; returns what was changed.
  package func edit(
    _ old: [UInt8], as ending: String, save: ([UInt8]) throws(CommandError) -> String
  ) throws -> ExitCode {
    let directory = FileManager.default.temporaryDirectory.path
    let number = UInt64.random(in: .min ... .max)
    let copy = PrivateFile(path: "\(directory)/\(catalog.program)-\(number)-\(ending)")
    try copy.write(old)
    while true {
      try openEditor(copy.path)
      let new = try copy.contents(atMost: CurlCommand.maxSize) ?? old
      guard new != old else {
        diagnostics.note("Nothing changed")
        break
      }
      do throws(CommandError) {
        let changed = try save(new)
        diagnostics.note("Changed \(changed)")
        break
      } catch {
        let failure = CommandError(
          error.code, "\(error.message); nothing was changed",
          hint: .words("your version is in \(copy.path)"))
        guard !invocation.has(.noInput), isatty(STDIN_FILENO) == 1 else { throw failure }
        diagnostics.error(failure)
        guard try Confirmation.ask("Edit it again", mayAsk: true) else { return failure.code }
      }
    }
    unlink(copy.path)
    return .success
  }

  private func openEditor(_ path: String) throws(CommandError) {
    do throws(CommandError) { try Editor.open(path, variables) } catch {
      unlink(path)
      throw error
    }
  }
}
