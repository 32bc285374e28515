import AggregatorArguments
import AggregatorFiles
import AggregatorFormats
import AggregatorHTTP
import AggregatorKit
import AggregatorPostgres
import AggregatorQueries
import AggregatorSQL
import AggregatorSavedQueries
import AggregatorServer
import AggregatorSourceCommands
import AggregatorTerminal
import DeclaredSource

extension Command {
  static let doctor = Command(
    "[SOURCE…]", words: { CompletionSource.severalSources($1.catalog.plugins)($0, $1) },
    options: [.offline, .timeout.with(about: "time limit per source (default 10s)")]
      + Option.formatting,
    fields: Finding.fields,
    notes: [
      "Shows where data and settings are and whether they can be used, which keys are missing, which optional programs "
        + "and libraries are installed, and whether each service answers, with one request to each. With sources, only their "
        + "settings, keys, caches and services are shown, and whatever fails.",
      "A store in a file is examined by SQLite for 5 seconds at most, and it is said if that was not enough.",
      "The exit code is 78 if a setting is invalid, 3 if anything else does not work, the last sync of a source may lack records or a saved query is wrong, and 0 otherwise, also if keys or "
        + "optional programs are missing.",
    ],
    examples: [
      ("doctor", "look for what is missing"), ("doctor --offline", "send no requests"),
      ("doctor heroes", "examine one source"),
    ],
    run: examine)

  private static func examine(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let names = Set(try invocation.arguments.map { try context.catalog.plugin(named: $0).name })
    let plugins = context.catalog.plugins.filter { names.isEmpty || names.contains($0.name) }
    let output = try OutputOptions(invocation, in: context)
    var findings: [Finding] = []
    // Whatever is wrong is a finding, and not the end.
    let settings = Result { () throws(SourceError) in try context.loadSettings() }
    findings += context.paths((try? settings.get())?.settings)
    findings += context.settingFindings(settings, of: plugins)
    findings += context.catalog.savedQueries.problems.map {
      Finding("queries", "saved queries", .warning, $0.message, $0.remedy?.text)
    }
    findings += context.declarations(of: plugins)
    findings += context.programs
    findings += Finding.libraries
    findings.append(
      Finding("system", context.catalog.name.text, .ok, context.catalog.name.version))
    findings.append(context.clock)
    findings += context.surroundings
    let environment = Result { () throws(CommandError) in
      try context.localEnvironment(isStrict: true)
    }
    switch environment {
    case .success(var environment):
      let store = await context.store(of: environment, with: plugins)
      // It would be what is wrong with each service, too; and to keep their rates would make a mistyped directory.
      let isMissing = (try? context.chosenLocation(environment.settings))?.missingDirectory != nil
      if isMissing || store.contains(where: \.isUnusableStore) { environment.store = nil }
      findings += store
      findings += await context.wrongSQL
      if !invocation.has(.offline) {
        let time = invocation.duration(.timeout) ?? SearchOfSources.defaultTime
        context.progress.say { "Asking \(plugins.map(\.name).joined(separator: ", "))…" }
        findings += await context.services(plugins, in: environment, within: time)
      }
    case .failure(let error):
      // Faults of the settings are reported already.
      let isUnknown = if case .failure = settings { true } else { false }
      findings.append(
        isUnknown
          ? Finding(
            "store", "store", .warning,
            "not examined: the settings, which may name it, cannot be read")
          : Finding("store", "store", .failed, error.message, error.hint.map(context.plain)))
    }
    if !names.isEmpty {
      let own = names.union(plugins.flatMap { $0.settings.map(\.key) })
      findings.removeAll { $0.state != .failed && !own.contains($0.id) }
    }
    findings = Finding.areas.flatMap { area in findings.filter { $0.area == area } }
    let problems = findings.filter(\.isProblem)
    if output.isForPeople, output.fields == nil {
      try context.listingOutput.write(
        findings.page(on: context.terminalLayout, hasUTF8: context.terminal.hasUTF8))
      try context.listingOutput.flush()
    } else {
      if !problems.isEmpty {
        let names = problems.map(\.id).joined(separator: ", ")
        context.diagnostics.warning("\(findings.summary): \(names)")
      }
      try RecordPrinter.print(
        findings, as: output.plainListing("doctor", Finding.self), output, in: context)
    }
    return problems.isEmpty
      ? .success : problems.contains { $0.area == "settings" } ? .settings : .partial
  }
}

extension Finding {
  /// The libraries that are loaded when they are needed.
  static var libraries: [Finding] {
    func library(
      _ name: String, _ isInstalled: Bool, for use: String, _ package: String
    ) -> Finding {
      Finding(
        "libraries", name, isInstalled ? .ok : .missing,
        isInstalled ? use : "not installed: \(use)",
        isInstalled ? nil : "apt install \(package), or the package of your system")
    }
    var libraries = [
      library("libmicrohttpd", HTTPServer.isAvailable, for: "serve", "libmicrohttpd12"),
      library("libpq", Libpq.isInstalled, for: "a store in PostgreSQL", "libpq5"),
      library("libexpat", XMLReader.isInstalled, for: "services that send XML", "libexpat1"),
      library("zlib", Inflation.isInstalled, for: "compressed files", "zlib1g"),
      library("libyaml", Command.readsYAML, for: "OpenAPI documents in YAML", "libyaml-0-2"),
      library(
        "libedit", ConsoleInput.hasLibrary, for: "editing lines of the SQL console", "libedit2"),
    ]
    #if os(Linux)
      let curl = library("libcurl", CurlEngine.isInstalled, for: "all services", "libcurl4")
      libraries.insert(
        Finding(
          curl.area, curl.id, CurlEngine.isInstalled ? .ok : .failed, curl.found, curl.remedy),
        at: 0)
    #endif
    return libraries
  }
}

extension CommandContext {
  /// Where data and settings are, and whether they can be written.
  fileprivate func paths(_ settings: SourceSettings?) -> [Finding] {
    var paths: [(String, String?)] = [
      ("settings file", try? userSettingsFile()), ("added sources", catalog.manifests?.path),
      ("saved queries", catalog.savedQueries.file?.path),
    ]
    if let settings, let directories = try? directories(settings) {
      paths += [
        ("data", directories.data), ("state", directories.state), ("cache", directories.cache),
      ]
    }
    return paths.map { name, path in
      guard let path else {
        return Finding(
          "paths", name, .failed, "no directory",
          "set HOME, or \(Directories.home(of: catalog.name).key)")
      }
      if path == catalog.manifests?.path, let failure = catalog.manifests?.failure {
        return Finding("paths", name, .failed, failure, "make it a directory that you can read")
      }
      let isThere = access(path, F_OK) == 0
      if let failure = Self.failure(of: path) {
        return Finding(
          "paths", name, .failed, "\(path): \(failure)",
          "make it yours, and writable, or choose another")
      }
      guard isThere else { return Finding("paths", name, .ok, "\(path), not there yet") }
      return Finding("paths", name, .ok, path)
    }
  }

  /// The reason a file or directory cannot be read and written, or be made; `nil` if it can.
  private static func failure(of path: String) -> String? {
    guard access(path, R_OK | W_OK) != 0 else { return nil }
    guard errno == ENOENT else { return String(cString: strerror(errno)) }
    var parent = path
    repeat {
      parent = PrivateFile.directory(of: parent)
    } while access(parent, F_OK) != 0
      && errno == ENOENT && parent != "/"
    guard access(parent, W_OK | X_OK) == 0 else {
      return "\(parent): \(String(cString: strerror(errno)))"
    }
    // Some directories that may be written take no new ones, such as /proc: they refuse one whose name is too long
    // for any other reason than its name.
    let tooLong = "\(parent)/\(String(repeating: "x", count: 1100))"
    guard mkdir(tooLong, 0o700) != 0 else {
      rmdir(tooLong)
      return nil
    }
    return errno == ENAMETOOLONG ? nil : "nothing can be created in \(parent)"
  }

  /// The settings that are not the defaults, the keys, and what is wrong with any of them.
  fileprivate func settingFindings(
    _ loaded: Result<SettingsLoader.Loaded, SourceError>, of plugins: [any Plugin]
  ) -> [Finding] {
    let known: SettingsLoader.Loaded
    switch loaded {
    case .success(let loaded): known = loaded
    case .failure(let error):
      return [Finding("settings", "settings", .failed, error.message, error.remedy?.text)]
    }
    let settings = known.settings
    let others = catalog.plugins.filter { plugin in !plugins.contains { $0.name == plugin.name } }
    let left = Set(others.flatMap { $0.settings.map(\.key) })
      .subtracting(plugins.flatMap { $0.settings.map(\.key) })
    return known.warnings.map { Finding("settings", "warning", .failed, $0.message) }
      + catalog.settings.compactMap { setting in
        guard !left.contains(setting.key) else { return nil }
        do throws(SourceError) { try settings.check(setting) } catch {
          return Finding("settings", setting.key, .failed, error.message, error.remedy?.text)
        }
        let isMissing = setting.isSecret && settings.secret(setting) == nil
        guard isMissing || settings.origin(of: setting) != .standard else { return nil }
        // Not all secrets are keys of a service.
        if isMissing, catalog.ownSettings.contains(setting) { return nil }
        let origin = settings.origin(of: setting)
        return Finding(
          "settings", setting.key, isMissing ? .missing : .ok,
          isMissing
            ? settings.visible(setting) : "\(settings.visible(setting)), from \(origin)",
          isMissing ? "\(diagnostics.command("config set \(setting.key)"))" : nil)
      }
      + catalog.leftSecrets(in: settings).map { setting in
        Finding(
          "settings", setting.key, .warning,
          "set in \(settings.origin(of: setting)), but no source has it",
          diagnostics.command("config unset \(setting.key)"))
      }
  }

  /// The manifests that cannot be used, and the saved queries that do not run.
  fileprivate func declarations(of plugins: [any Plugin]) -> [Finding] {
    let manifests = plugins.compactMap { $0 as? DeclaredPlugin }.compactMap { plugin in
      plugin.failure.map { Finding("settings", plugin.name, .failed, $0.message, $0.remedy?.text) }
    }
    let tree = CommandTree(catalog)
    let queries = catalog.savedQueries.queries.compactMap { query in
      QueryEntry(query, in: tree).problem.map { wrong(query, $0) }
    }
    return manifests + queries
  }

  /// The saved queries in SQL that do not compile.
  fileprivate var wrongSQL: [Finding] {
    get async {
      let tree = CommandTree(catalog)
      var findings: [Finding] = []
      for query in catalog.savedQueries.queries {
        guard let statement = try? tree.check(query) else { continue }
        do throws(CommandError) { try await SQLSession.check(statement, in: self) } catch {
          findings.append(wrong(query, error.message))
        }
      }
      return findings
    }
  }

  private func wrong(_ query: SavedQuery, _ problem: String) -> Finding {
    let remedy =
      catalog.isTaken(query.name) ? "query rename \(query.name) NEW" : "query edit \(query.name)"
    return Finding("queries", query.name, .warning, problem, diagnostics.command(remedy))
  }

  /// The programs that some commands start, and the completions of the shell.
  fileprivate var programs: [Finding] {
    let programs = [
      (Browser.opener, "open, serve --open"), ("less", "long output"), ("jq", "--jq"),
      ("chafa", "pictures on most terminals"), ("duckdb", "Parquet"),
    ]
    return programs.map { name, use in
      let path = ExternalProgram.path(of: name, variables)
      return Finding(
        "programs", name, path == nil ? .missing : .ok,
        path.map { "\(use): \($0)" } ?? "not installed: \(use)",
        path == nil
          ? name == "duckdb"
            ? "pip install duckdb-cli" : "apt install \(name == "xdg-open" ? "xdg-utils" : name)"
          : nil)
    } + [editor] + completions
  }

  private var editor: Finding {
    let line = Editor.command(variables)
    let isThere = ExternalProgram.words(of: line, variables) != nil
    return Finding(
      "programs", "editor", isThere ? .ok : .missing,
      "sources edit, query edit: \(line)\(isThere ? "" : " is not installed")",
      isThere ? nil : "set VISUAL or EDITOR to the command of your editor")
  }

  /// A finding about the completions of the person's shell; empty for an unknown shell.
  private var completions: [Finding] {
    let name = variables["SHELL"]?.split(separator: "/").last.map(String.init)
    guard let shell = name.flatMap({ Shell(rawValue: $0) }) else { return [] }
    let path = shell.completions(of: catalog.program, variables)
    return [
      Finding(
        "programs", "completions", path == nil ? .missing : .ok,
        path.map { "\(shell.rawValue): \($0)" }
          ?? "not found where \(shell.rawValue) usually has them",
        path == nil ? diagnostics.command("help completions \(shell.rawValue)") : nil)
    ]
  }

  fileprivate var clock: Finding {
    Finding("system", "clock", .ok, "\(Date().iso8601) (UTC)")
  }

  /// The locale and the terminal.
  fileprivate var surroundings: [Finding] {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"]
    let locale = names.lazy.compactMap { self.variables[$0] }.first { !$0.isEmpty }
    let size = terminal.height.map { "\(terminal.width) × \($0) cells" } ?? "none"
    let colors = terminal.wantsColor ? "colors" : "no colors"
    return [
      Finding(
        "system", "locale", terminal.hasUTF8 ? .ok : .missing, locale ?? "not set",
        terminal.hasUTF8 ? nil : "set LANG to one of UTF-8, such as C.UTF-8"),
      Finding(
        "system", "terminal", .ok,
        [size, variables["TERM"], colors].compactMap(\.self).joined(separator: ", ")),
    ]
  }

  /// The state of the store.
  fileprivate func store(
    of environment: PluginEnvironment, with plugins: [any Plugin]
  ) async -> [Finding] {
    guard let store = environment.store else {
      return [Finding("store", "store", .failed, "no directory", "set HOME")]
    }
    var moved: [Finding] = []
    do throws(SourceError) {
      var findings: [Finding] = []
      if let facts = try await store.capabilities.database?.facts() {
        moved = facts.movedFiles.map { path in
          Finding(
            "store", "moved aside", .warning,
            "\(path), \((OpenFile.size(of: path) ?? 0).byteCount), a store that was damaged; no command reads it",
            "read what is left with sqlite3 \(path.shellQuoted) .recover, then delete it")
        }
        let size = facts.bytes?.byteCount ?? "does not exist yet"
        findings.append(
          Finding(
            "store", "store", .ok,
            [facts.location, facts.server, size].compactMap(\.self).joined(separator: ", ")))
        findings += facts.standbys.map { standby in
          Finding(
            standby.failure?.code == .invalidSettings ? "settings" : "store", "standby",
            standby.failure == nil ? .ok : .failed, standby.text, standby.failure?.remedy?.text)
        }
      }
      if let file = store.capabilities.database as? SQLiteStore {
        findings += try await Self.examine(file)
      }
      for plugin in plugins {
        findings += try await [cache(of: plugin, in: store)].compactMap(\.self)
      }
      return findings + moved
    } catch {
      let area = error.code == .invalidSettings ? "settings" : "store"
      return [Finding(area, "store", .failed, error.message, error.remedy?.text)] + moved
    }
  }

  private static let maxCheckTime = Duration.seconds(5)

  /// The structure of the file of a store, and the free space beside it.
  private static func examine(_ store: SQLiteStore) async throws(SourceError) -> [Finding] {
    var findings: [Finding] = []
    let parent = PrivateFile.directory(of: store.path)
    if let failure = failure(of: store.path) ?? failure(of: parent) {
      findings.append(
        Finding(
          "store", "permissions", .failed, "the store cannot be written: \(failure)",
          "make the file and its directory yours, and writable, or choose another"))
    }
    let size = UInt64(OpenFile.size(of: store.path) ?? 0)
    if size > 0 {
      let problems = try await store.problems(within: maxCheckTime)
      let isSound = problems?.isEmpty ?? true
      findings.append(
        Finding(
          "store", "integrity", isSound ? .ok : .failed,
          problems.map { $0.first?.oneLine(atMost: 200) ?? "no damage found (quick_check)" }
            ?? "not examined to the end: it took longer than \(maxCheckTime.text)",
          isSound ? nil : "read what is left with sqlite3 FILE .recover, then delete the file"))
    }
    var space = statvfs()
    var directory = parent
    while statvfs(directory, &space) != 0 {
      guard errno == ENOENT, directory != "/" else { return findings }
      directory = PrivateFile.directory(of: directory)
    }
    let (free, overflow) = UInt64(space.f_bavail).multipliedReportingOverflow(
      by: UInt64(space.f_frsize))
    // Removing records may write the file anew.
    let isEnough = overflow || free >= max(size, 100 << 20)
    findings.append(
      Finding(
        "store", "free space", isEnough ? .ok : .warning,
        overflow ? "enough" : Int(clamping: free).byteCount,
        isEnough ? nil : "free some space, or set another directory for data"))
    return findings
  }
}
