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
        + "settings, keys, caches and services are examined beside the rest.",
      "A store in a file is examined by SQLite for 5 seconds at most, and it is said if that was not enough.",
      "The exit code is 78 if a setting is invalid, 3 if anything else does not work or a saved query is wrong, and 0 otherwise, also if keys or "
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
    findings.sort { Finding.areas.index(of: $0.area) < Finding.areas.index(of: $1.area) }
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

/// One thing that was examined.
private struct Finding: Entry {
  enum State: String {
    case ok
    /// Something optional is not there.
    case missing
    /// Something that works as it is needs a decision.
    case warning
    case failed
  }

  static let areas = [
    "paths", "store", "settings", "queries", "services", "programs", "libraries", "system",
  ]

  let area: String
  let id: String
  let state: State
  let found: String
  /// How to mend it; `nil` if nothing is wrong.
  let remedy: String?

  init(
    _ area: String, _ id: String, _ state: State, _ found: String, _ remedy: String? = nil
  ) {
    self.area = area
    self.id = id
    self.state = state
    self.found = found
    self.remedy = remedy
  }

  /// A saved query that does not run hinders nothing else.
  var isProblem: Bool { state == .failed || area == "queries" }

  var isUnusableStore: Bool { state == .failed && id == "store" }

  static let fields: [Field<Finding>] = [
    Field("area", "Area", \.area, about: "What it belongs to."),
    Field("name", "Name", \.id, about: "What was examined."),
    Field("state", "State", \.state.rawValue, about: "ok, missing (optional), warning or failed."),
    Field("found", "Found", \.found, about: "What there is, or what is wrong."),
    Field("remedy", "Remedy", \.remedy, about: "What mends it."),
  ]

  /// The libraries that are loaded when they are needed.
  static var libraries: [Finding] {
    func library(
      _ name: String, _ isInstalled: Bool, for use: String, _ package: String
    ) -> Finding {
      Finding(
        "libraries", name, isInstalled ? .ok : .missing, use,
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
        "programs", name, path == nil ? .missing : .ok, path.map { "\(use): \($0)" } ?? use,
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

  fileprivate func plain(_ hint: Hint) -> String {
    diagnostics.texts(of: hint).joined(separator: "; ")
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
            "store", "moved aside", .warning, "\(path), a store that was damaged",
            "read what is left with sqlite3 FILE .recover, then delete it")
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
        let status = try await store.status(of: plugin.name)
        guard status.records > 0 else { continue }
        // Another clock has written it, or this one is wrong.
        let isAhead = status.fetchedAt.map { $0 > Date().addingTimeInterval(300) } ?? false
        let oldest = try await plugin.oldestFetch(in: store)
        let fetch = oldest.map { "fetched \($0.age(at: Date()))" }
        let gap = try await plugin.gap(in: store)
        let reason = gap?.warning.warning.message
        let list = diagnostics.command("\(plugin.name) list --all --refresh")
        let remedy =
          gap?.hint
          ?? (gap?.hasUnreadableRows == true
            ? .words("only its service can mend that; \(list) says where it is") : nil)
        let count =
          gap?.isOfChangedFile == false ? nil : "\(plugin.noun.count(status.records)) cached"
        let cached = [count, fetch].compactMap(\.self).joined(separator: ", ")
        findings.append(
          isAhead
            ? Finding(
              "store", plugin.name, .failed, "records are of the future",
              "set the clock of this machine")
            : Finding(
              "store", plugin.name, gap == nil ? .ok : .missing,
              (count == nil ? [reason, cached] : [cached, reason]).compactMap(\.self)
                .joined(separator: "; "), remedy.map(plain)))
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
    var directory = PrivateFile.directory(of: store.path)
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

  /// One request to each service; what is wrong with a manifest is found among the settings.
  fileprivate func services(
    _ plugins: [any Plugin], in environment: PluginEnvironment, within time: Duration
  ) async -> [Finding] {
    let plugins = plugins.filter { ($0 as? DeclaredPlugin)?.failure == nil }
    return await plugins.concurrentMap { plugin in
      let check = await plugin.check(in: environment, within: time)
      guard let failure = check.failure else {
        let verb = (plugin as? DeclaredPlugin)?.manifest.file == nil ? "answers" : "file read"
        let found = [
          check.violation ?? "\(verb) in \(check.milliseconds ?? 0) ms", check.syncFailure,
        ].compactMap(\.self).joined(separator: "; ")
        guard check.isSound, check.syncFailure != nil else {
          return Finding(
            "services", plugin.name, check.isSound ? .ok : .failed, found,
            check.isSound ? nil : self.diagnostics.command("sources check \(plugin.name) --verbose")
          )
        }
        return Finding(
          "services", plugin.name, .warning, found,
          self.diagnostics.command("\(plugin.syncArguments) --verbose"))
      }
      let remedy =
        failure.hint(settings: plugin.settings).map(self.plain)
        ?? self.diagnostics.command("sources check \(plugin.name) --verbose")
      // A missing key is one of the settings.
      return Finding(
        "services", plugin.name, failure.code == .missingKey ? .missing : .failed,
        failure.message, remedy)
    }
  }
}

extension String {
  /// This text, in which a path that is wider than a line has line breaks after slashes.
  fileprivate func brokenAtSlashes(within room: Int) -> String {
    split(separator: " ", omittingEmptySubsequences: false).map { word in
      guard word.displayWidth > room else { return String(word) }
      var (lines, line) = (word.startIndex == startIndex ? "" : "\n", "")
      for (index, part) in word.split(separator: "/", omittingEmptySubsequences: false).enumerated()
      {
        let part = index == 0 ? String(part) : "/\(part)"
        if !line.isEmpty, line.displayWidth + part.displayWidth > room {
          lines += line + "\n"
          line = ""
        }
        line += part
      }
      return lines + line
    }.joined(separator: " ")
  }
}

extension [String] {
  fileprivate func index(of name: String) -> Int { firstIndex(of: name) ?? count }
}

extension [Finding] {
  /// Narrower columns would break most paths.
  private static var minRoom: Int { 30 }

  /// A paragraph for each area: `✓ heroes    answers in 82 ms`.
  fileprivate func page(on layout: TerminalLayout, hasUTF8: Bool) -> String {
    let widest = map(\.id.displayWidth).max() ?? 0
    // A finding is below its name where it would have no room beside it.
    let isNarrow = layout.width < widest + 4 + Self.minRoom
    let column = isNarrow ? 4 : widest + 4
    var text = ""
    var area = ""
    for finding in self {
      if finding.area != area {
        area = finding.area
        var heading = Line(on: layout)
        heading.add(area.capitalizedFirst, as: .heading)
        text += (text.isEmpty ? "" : "\n") + heading.text + "\n"
      }
      let mark =
        switch finding.state {
        case .ok: hasUTF8 ? "✓" : "+"
        case .missing: hasUTF8 ? "–" : "-"
        case .warning: "!"
        case .failed: hasUTF8 ? "✗" : "x"
        }
      var line = Line(on: layout)
      line.add(mark, as: finding.state == .ok ? .id : finding.state == .failed ? .error : .label)
      line.move(to: 2)
      line.add(finding.id.safeLine)
      if isNarrow {
        text += line.text + "\n"
        line = Line(on: layout)
      }
      line.move(to: column)
      let wrap = Wrap(Swift.max(10, layout.width - column))
      for (index, words) in [finding.found, finding.remedy].compactMap(\.self).enumerated() {
        let broken = words.safeLine.brokenAtSlashes(within: layout.width - column)
        for (number, piece) in wrap.lines(of: broken).enumerated() {
          if index + number > 0 {
            text += line.text + "\n"
            line = Line(on: layout)
            line.move(to: column)
          }
          line.add(piece, as: index == 1 ? .label : finding.state == .failed ? .error : nil)
        }
      }
      text += line.text + "\n"
    }
    return text + "\n\(summary)\n"
  }

  /// The numbers of what does not work, and of what is missing or needs a decision.
  fileprivate var summary: String {
    let problems = count(where: \.isProblem)
    let notes = count { !$0.isProblem && $0.state != .ok }
    guard problems + notes > 0 else { return "All is well" }
    return (problems > 0 ? problems.of("problem") : "No problems")
      + (notes > 0 ? ", \(notes.of("note"))" : "")
  }
}
