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
    options: [.offline, .timeout.with(about: "time limit per source (default 10s)")]
      + Option.formatting,
    fields: Finding.fields,
    notes: [
      "Shows where data and settings are and whether they can be used, which keys are missing, which optional programs "
        + "and libraries are installed, and whether each service answers, with one request to each.",
      "The exit code is 78 if a setting is invalid, 3 if anything else does not work, and 0 otherwise, also if keys or "
        + "optional programs are missing.",
    ],
    examples: [
      ("doctor", "look for what is missing"), ("doctor --offline", "send no requests"),
    ],
    run: examine)

  private static func examine(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    try invocation.refuseArguments()
    let output = try OutputOptions(invocation, in: context)
    var findings: [Finding] = []
    // Whatever is wrong is a finding, and not the end.
    let settings = Result { () throws(SourceError) in try context.loadSettings() }
    findings += context.paths((try? settings.get())?.settings)
    findings += context.settingFindings(settings)
    findings += context.catalog.savedQueries.problems.map {
      Finding("settings", "saved queries", .failed, $0.message, $0.remedy?.text)
    }
    findings += context.declarations
    findings += context.programs
    findings += Finding.libraries
    findings.append(
      Finding("system", context.catalog.name.text, .ok, context.catalog.name.version))
    findings.append(context.clock)
    findings += context.surroundings
    let environment = Result { () throws(CommandError) in
      try context.localEnvironment(keepsDamagedFile: true)
    }
    switch environment {
    case .success(var environment):
      let store = await context.store(of: environment)
      // It would be what is wrong with each service, too.
      if store.contains(where: \.isUnusableStore) { environment.store = nil }
      findings += store
      findings += await context.wrongSQL(in: environment)
      if !invocation.has(.offline) {
        let time = invocation.duration(.timeout) ?? SearchOfSources.defaultTime
        context.progress.say { "Asking \(context.catalog.sources.joined(separator: ", "))…" }
        findings += await context.services(in: environment, within: time)
      }
    case .failure(let error):
      // What is wrong with the settings is said already.
      let isUnknown = if case .failure = settings { true } else { false }
      findings.append(
        isUnknown
          ? Finding(
            "store", "store", .warning,
            "not examined: the settings, which may name it, cannot be read")
          : Finding("store", "store", .failed, error.message, error.hint.map(context.plain)))
    }
    findings.sort { Finding.areas.index(of: $0.area) < Finding.areas.index(of: $1.area) }
    if output.isForPeople, output.fields == nil {
      try context.listingOutput.write(
        findings.page(on: context.terminalLayout, hasUTF8: context.terminal.hasUTF8))
      try context.listingOutput.flush()
    } else {
      try RecordPrinter.print(
        findings, as: output.plainListing("doctor", Finding.self), output, in: context)
    }
    let failed = findings.filter { $0.state == .failed }
    return failed.isEmpty
      ? .success : failed.contains { $0.area == "settings" } ? .settings : .partial
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

  static let areas = ["paths", "store", "settings", "services", "programs", "libraries", "system"]

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

  /// Why a file or directory cannot be read and written, or be made; `nil` if it can.
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
    _ loaded: Result<SettingsLoader.Loaded, SourceError>
  ) -> [Finding] {
    let known: SettingsLoader.Loaded
    switch loaded {
    case .success(let loaded): known = loaded
    case .failure(let error):
      return [Finding("settings", "settings", .failed, error.message, error.remedy?.text)]
    }
    let settings = known.settings
    return known.warnings.map { Finding("settings", "warning", .failed, $0.message) }
      + catalog.settings.compactMap { setting in
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
  fileprivate var declarations: [Finding] {
    let manifests = catalog.plugins.compactMap { $0 as? DeclaredPlugin }.compactMap { plugin in
      plugin.failure.map { Finding("settings", plugin.name, .failed, $0.message, $0.remedy?.text) }
    }
    let tree = CommandTree(catalog)
    let queries = catalog.savedQueries.queries.compactMap { query in
      QueryEntry(query, in: tree).problem.map { problem in
        Finding(
          "settings", query.name, .failed, problem,
          diagnostics.command("query edit \(query.name)"))
      }
    }
    return manifests + queries
  }

  /// The saved queries in SQL that do not compile.
  ///
  /// Those that read files, or have parameters, are not examined.
  fileprivate func wrongSQL(in environment: PluginEnvironment) async -> [Finding] {
    // A server would begin to run them.
    guard environment.store?.capabilities.database?.joinsOtherTables == true else { return [] }
    let parser = ArgumentParser(CommandTree(catalog))
    var findings: [Finding] = []
    for query in catalog.savedQueries.queries where query.script == nil {
      let line = parser.parse([query.name])
      let text = line.invocation.arguments.joined(separator: " ")
      guard line.path == "sql", text.nonBlank != nil, text != "-", !line.invocation.has(.attach),
        !SQLConsole.isScript(text)
      else { continue }
      do {
        _ = try await SQLRun(
          text, of: catalog.plugins, in: environment, within: QueryTime(SQLRun.defaultTime))
      } catch let error as SourceError
        where error.code == .invalidRequest && !(error.cause is SQLMissingParameter)
      {
        findings.append(
          Finding(
            "settings", query.name, .failed, error.message,
            diagnostics.command("query edit \(query.name)")))
      } catch {
        // What is wrong with the store or a source is another finding.
      }
    }
    return findings
  }

  /// The programs that some commands start.
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
    }
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
  fileprivate func store(of environment: PluginEnvironment) async -> [Finding] {
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
      for plugin in catalog.plugins {
        let status = try await store.status(of: plugin.name)
        guard status.records > 0 else { continue }
        // Another clock has written it, or this one is wrong.
        let isAhead = status.fetchedAt.map { $0 > Date().addingTimeInterval(300) } ?? false
        let oldest = try await plugin.oldestFetch(in: store)
        let age = oldest.map { ", fetched \($0.age(at: Date()))" } ?? ""
        let gap = try await plugin.gap(in: store)
        let cached =
          gap?.warning.warning.message ?? "\(plugin.noun.count(status.records)) cached"
        findings.append(
          isAhead
            ? Finding(
              "store", plugin.name, .failed, "records are of the future",
              "set the clock of this machine")
            : Finding(
              "store", plugin.name, gap == nil ? .ok : .missing, cached + age,
              gap?.command.map { diagnostics.command($0) }))
      }
      return findings + moved
    } catch {
      let area = error.code == .invalidSettings ? "settings" : "store"
      return [Finding(area, "store", .failed, error.message, error.remedy?.text)] + moved
    }
  }

  /// One request to each service; what is wrong with a manifest is found among the settings.
  fileprivate func services(
    in environment: PluginEnvironment, within time: Duration
  ) async -> [Finding] {
    let plugins = catalog.plugins.filter { ($0 as? DeclaredPlugin)?.failure == nil }
    return await plugins.concurrentMap { plugin in
      let check = await plugin.check(in: environment, within: time)
      guard let failure = check.failure else {
        return Finding(
          "services", plugin.name, check.isSound ? .ok : .failed,
          check.isSound ? "answers in \(check.milliseconds ?? 0) ms" : "its records break the laws",
          check.isSound ? nil : self.diagnostics.command("sources check \(plugin.name) --laws"))
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

extension [String] {
  fileprivate func index(of name: String) -> Int { firstIndex(of: name) ?? count }
}

extension [Finding] {
  /// Narrower columns would break most paths.
  private static var minRoom: Int { 30 }

  /// A paragraph for each area: `✓ heroes    answers in 82 ms`.
  fileprivate func page(on layout: TerminalLayout, hasUTF8: Bool) -> String {
    let widest = map(\.id.displayWidth).max() ?? 0
    // What was found is below its name where it would have no room beside it.
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
        for (number, piece) in wrap.lines(of: words.safeLine).enumerated() {
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
  private var summary: String {
    let problems = count { $0.state == .failed }
    let notes = count { $0.state != .failed && $0.state != .ok }
    guard problems + notes > 0 else { return "All is well" }
    return (problems > 0 ? problems.of("problem") : "No problems")
      + (notes > 0 ? ", \(notes.of("note"))" : "")
  }
}
