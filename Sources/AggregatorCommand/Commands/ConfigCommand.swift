import AggregatorArguments
import AggregatorKit
import AggregatorPostgres
import AggregatorQueries
import AggregatorSourceCommands
import AggregatorTerminal
import DeclaredSource

extension CommandTree.Node {
  static func config(_ plugins: [any Plugin], of program: ProgramName) -> CommandTree.Node {
    @Sendable func known() -> [Setting] {
      plugins.flatMap(\.settings) + RecordingOptions.settings(of: program)
    }
    return CommandTree.Node(
      "config", "Show and change settings", .listSettings,
      children: [
        .init("config list", "Show all settings and their origins", .listSettings),
        .init("config get", "Print the value of a setting", .getSetting(known())),
        .init("config set", "Write a setting to your settings file", .setSetting(known(), plugins)),
        .init("config unset", "Remove a setting from your settings file", .unsetSetting(known())),
        .init("config path", "Print the path of your settings file", .settingsPath),
      ])
  }
}

extension Command {
  fileprivate static let listSettings = Command(
    options: Option.formatting, fields: SettingEntry.fields,
    examples: [("config", "show all settings and their origins")]
  ) { invocation, context in
    let output = try OutputOptions(invocation, in: context)
    let settings = try context.settings()
    context.warnOfInvalidValues(in: settings)
    let known = context.catalog.settings + context.catalog.leftSecrets(in: settings)
    let entries = known.map { SettingEntry(setting: $0, settings: settings) }
    var listing = try output.plainListing("config", SettingEntry.self)
    // Values and origins matter more than a word or two of a description.
    listing.minLastWidth = 32
    try RecordPrinter.print(entries, as: listing, output, in: context)
    return .success
  }

  fileprivate static func getSetting(_ known: [Setting]) -> Command {
    let examples = known.prefix(1).map { ("config get \($0.key)", "print one value") }
    return Command(
      "KEY", words: CompletionSource.setting,
      notes: ["Secrets are never shown, only whether they are set."],
      examples: examples,
      run: getSetting)
  }

  private static func getSetting(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let setting = try context.catalog.setting(named: invocation.argument("KEY"))
    let settings = try context.settings()
    let shown = settings.shown(setting)
    guard shown != .notSet, shown != .placeholder else {
      let state = shown == .placeholder ? "has only a placeholder value" : "is not set"
      throw CommandError(
        .notFound, "\(setting.key) \(state)", hint: .command("config set \(setting.key)"))
    }
    try context.output.write("\(settings.visible(setting).safeLine)\n")
    return .success
  }

  fileprivate static func setSetting(_ known: [Setting], _ plugins: [any Plugin]) -> Command {
    let example = plugins.lazy.compactMap { plugin in
      plugin.settings.first { $0.form == .url }.map {
        ("config set \($0.key) https://example.com/\(plugin.name).json", "change a setting")
      }
    }.first
    let secrets = known.filter(\.isSecret).prefix(1).map {
      ("config set \($0.key)", "set an API key; prompts for it")
    }
    return Command(
      "KEY [VALUE]", words: valueWords, options: [.noVerify],
      notes: [
        "Secrets are read from a prompt or standard input, so that they do not appear in the shell's "
          + "history. The file is readable only by you. A key is tried with one request first, and not "
          + "saved if the service rejects it."
      ], examples: [example].compactMap(\.self) + secrets, run: setSetting)
  }

  /// A key, and then a directory or a typical value.
  private static let valueWords: CompletionSource.Following = { arguments, tree in
    guard let key = arguments.first else { return CompletionSource.setting(arguments, tree) }
    guard arguments.count == 1, let setting = try? tree.catalog.setting(named: key),
      !setting.isSecret
    else { return .none }
    if setting.form == .directory { return .directory }
    let standard = setting.defaultValue.map { [Candidate($0, "the default")] } ?? []
    return .choice(standard + setting.offWord)
  }

  private static func setSetting(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    guard let first = invocation.arguments.first else {
      throw CommandError.missingArgument("KEY")
    }
    // `KEY=VALUE` is one argument.
    let assignment = first.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      .map(String.init)
    let arguments = assignment + invocation.arguments.dropFirst()
    let setting = try context.catalog.setting(named: arguments[0])
    try invocation.refuseArguments(after: 3 - assignment.count)
    let value: String
    if setting.isSecret {
      // Without the value, which may be a secret.
      guard arguments.count == 1 else {
        let command = context.diagnostics.command("config set \(setting.key)")
        throw CommandError(
          .usage,
          "\(setting.key) cannot be passed on the command line, where other users could see it",
          hint: .words("run \(command); it prompts or reads standard input"))
      }
      value = try SecretInput.read(setting.key, mayAsk: !invocation.has(.noInput))
    } else if arguments.count == 2 {
      value = arguments[1]
    } else {
      throw CommandError.missingArgument(
        "VALUE", hint: .command("config set \(setting.key) VALUE"))
    }
    if setting.form == .store { try context.checkStore(value, for: setting) }
    let path = try context.userSettingsFile()
    var values = [setting.key: value]
    let mayVerify = !invocation.has(.noVerify) && setting.isSecret
    let source = mayVerify ? context.catalog.plugins.first { $0.settings.contains(setting) } : nil
    let store = context.currentStore
    // Only here, so that an invalid setting can be mended.
    let environment = try source.map { _ throws(CommandError) in try context.localEnvironment() }
    if let source, let environment, !invocation.has(.noInput), isatty(STDIN_FILENO) == 1 {
      let others = try CommandError.wrapping(
        try context.askForOthers(than: setting, of: source, in: environment))
      values.merge(others) { $1 }
    }
    if source != nil { context.progress.say { "Verifying \(setting.key)…" } }
    let saved = try await context.save(values, of: setting, verifiedBy: source, in: environment)
    context.diagnostics.note("Set \(values.keys.sorted().joined(separator: ", ")) in \(path)")
    context.noteLeftStore(store)
    if (try? context.settings())?.origin(of: setting) == .environment {
      context.diagnostics.warning(
        "the environment variable \(setting.key) takes precedence",
        hint: .words("unset \(setting.key) to use the new value"))
    }
    if let host = saved.host {
      context.diagnostics.note("It is sent to \(host) only")
    }
    if let unverified = saved.unverified {
      context.diagnostics.warning("the key could not be verified: \(unverified.message)")
    } else if source != nil {
      context.diagnostics.note("Verified with one request")
    }
    return .success
  }

  fileprivate static func unsetSetting(_ known: [Setting]) -> Command {
    let examples = known.prefix(1).map { ("config unset \($0.key)", "restore the default") }
    return Command(
      "KEY", words: CompletionSource.setting,
      notes: [
        "Comments are preserved. Values from other files and environment variables apply again."
      ],
      examples: examples, run: unsetSetting)
  }

  private static func unsetSetting(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    // Invalid settings can be mended, too.
    let left = (try? context.settings()).map(context.catalog.leftSecrets) ?? []
    let setting = try context.catalog.setting(named: invocation.argument("KEY"), among: left)
    let path = try context.userSettingsFile()
    let store = context.currentStore
    let wasSet = try SettingsFile(path, settings: context.catalog.settings).unset(setting.key)
    let settings = try context.settings()
    let origin = settings.origin(of: setting)
    let remaining =
      if origin != .standard {
        "the value now comes from \(origin)"
      } else if let value = settings.text(setting) {
        "the default is \(value)"
      } else {
        "there is no default"
      }
    context.diagnostics.note(
      (wasSet ? "Removed \(setting.key) from \(path)" : "\(setting.key) is not set in \(path)")
        + "; \(remaining)")
    context.noteLeftStore(store)
    return .success
  }

  fileprivate static let settingsPath = Command(
    examples: [("config path", "print the path of your settings file")]
  ) { _, context in
    try context.output.write("\(context.userSettingsFile())\n")
    return .success
  }
}

extension CommandContext {
  /// Asks for the other secrets that an added source needs and that are not set, in order.
  fileprivate func askForOthers(
    than setting: Setting, of source: any Plugin, in environment: PluginEnvironment
  ) throws(SourceError) -> [String: String] {
    // A compiled source may do without some of its secrets.
    guard source is DeclaredPlugin else { return [:] }
    var values: [String: String] = [:]
    for other in source.settings where other.key != setting.key {
      guard other.isSecret, environment.settings.secret(other) == nil else { continue }
      do throws(CommandError) {
        values[other.key] = try SecretInput.read(other.key, mayAsk: true)
      } catch { throw SourceError(.missingKey, error.message) }
    }
    return values
  }

  /// The location of the store by the settings; `nil` if they are invalid.
  fileprivate var currentStore: StoreLocation? {
    (try? settings()).flatMap { try? storeLocation($0) }
  }

  /// Says that the records of a file stay there, if the settings have another location now.
  fileprivate func noteLeftStore(_ left: StoreLocation?) {
    guard case .file(let path)? = left, access(path, F_OK) == 0, let new = currentStore, new != left
    else { return }
    let copy = diagnostics.command("store copy \(path.typed) \(new.description.typed)")
    diagnostics.note("Records cached so far stay in \(path). Copy them to an empty store: \(copy)")
  }

  /// Fails with code `usage` for an invalid location, and warns of a password in it.
  fileprivate func checkStore(_ value: String, for setting: Setting) throws(CommandError) {
    guard try CommandError.wrapping(try setting.hasPassword(value, of: catalog.name)) else {
      return
    }
    warnOfVisiblePassword("the password may be in the history of your shell now")
  }

  /// Warns of invalid values, which are errors only when they are used.
  fileprivate func warnOfInvalidValues(in settings: SourceSettings) {
    do throws(CommandError) { _ = try chosenLocation(settings) } catch {
      diagnostics.warning(error.message, hint: error.hint)
    }
    let recording = RecordingOptions.settings(of: catalog.name)
    for setting in catalog.settings {
      // A variable may be relative to the working directory.
      let isAnywhere =
        recording.contains(setting) && settings.origin(of: setting) == .environment
      do throws(SourceError) { try settings.check(setting) } catch {
        guard !isAnywhere else { continue }
        diagnostics.warning(error.message, hint: error.remedy.map(Hint.init))
      }
    }
  }
}

extension Setting {
  /// True if a value of this setting, the location of a store or those of its standbys, has a password.
  fileprivate func hasPassword(
    _ value: String, of program: ProgramName
  ) throws(SourceError) -> Bool {
    guard self == SQLAddress.reads(of: program) else {
      return try StoreLocation(value, for: key).hasPassword
    }
    do throws(SourceError) {
      return try PostgresAddress.list(value).contains(where: \.hasPassword)
    } catch {
      throw SourceError(
        error.code, "invalid value for \(key): \(error.message)", remedy: error.remedy)
    }
  }

  fileprivate var offWord: [Candidate] {
    switch form {
    case .rate: [Candidate("off", "no limit")]
    case .history: [Candidate("off", "no history")]
    default: []
    }
  }
}

private struct SettingEntry: Entry {
  let setting: Setting
  let settings: SourceSettings

  var id: String { setting.key }
  var value: String { settings.visible(setting) }
  var origin: String { settings.origin(of: setting).description }

  static let fields: [Field<SettingEntry>] = [
    Field("key", "Key", \.id, about: "The setting's key."),
    Field("value", "Value", \.value, about: "The value; secrets are masked."),
    Field("origin", "Origin", \.origin, about: "The file, variable or default."),
    Field("about", "Description", \.setting.about, about: "The description."),
  ]
}

extension SourceCatalog {
  /// The setting with this key, ignoring case, of this program or among others.
  fileprivate func setting(
    named key: String, among others: [Setting] = []
  ) throws(CommandError) -> Setting {
    // The program's own first: a manifest may name one of them as its secret.
    let known = ownSettings + settings + others
    guard let setting = known.first(where: { $0.key == key.uppercased() }) else {
      // `KEY=VALUE`: the value may be a secret.
      let name = key.prefix { $0 != "=" }
      let keys = settings.map(\.key)
      // `api_key` or `comic_vine_key` of COMIC_VINE_API_KEY.
      let words = name.uppercased().split(separator: "_")
      let longer = keys.filter { Set($0.split(separator: "_")).isSuperset(of: words) }
      throw CommandError(
        .usage, "unknown setting \"\(name)\(name.endIndex == key.endIndex ? "" : "=…")\"",
        suggestion: name.isEmpty
          ? nil
          : keys.first { $0.hasPrefix(name.uppercased()) }
            ?? (longer.count == 1 ? longer[0] : nearest(to: String(name), in: keys)),
        hint: .command("config list"))
    }
    return setting
  }
}
