import AggregatorKit

extension CommandTree.Node {
  /// `aggregator config [list | get KEY | set KEY [VALUE] | unset KEY | path]`.
  static func config(_ plugins: [any Plugin]) -> CommandTree.Node {
    let settings = plugins.flatMap(\.settings) + RecordingOptions.settings
    return CommandTree.Node(
      "config", "Show and change settings", .listSettings,
      children: [
        .init("config list", "Show every setting and where it comes from", .listSettings),
        .init("config get", "Print the value of a setting", .getSetting(settings)),
        .init("config set", "Write a setting into your settings file", .setSetting(settings)),
        .init(
          "config unset", "Take a setting out of your settings file", .unsetSetting(settings)),
        .init("config path", "Print where your settings file is", .settingsPath),
      ])
  }
}

extension Command {
  fileprivate static let listSettings = Command(
    options: Option.output, fields: SettingEntry.fields,
    examples: [("config", "what is set, and where")]
  ) { invocation, session in
    try invocation.refuseArguments()
    let output = try OutputOptions(invocation, in: session)
    let settings = try session.settings()
    session.warnOfNonsense(in: settings)
    let entries = session.tree.settings.map { SettingEntry($0, settings) }
    try RecordPrinter.print(
      entries, as: output.plainListing("config", SettingEntry.self), output, in: session)
    return .success
  }

  fileprivate static func getSetting(_ known: [Setting]) -> Command {
    let examples = known.prefix(1).map { ("config get \($0.key)", "one value, for a script") }
    return Command(
      "KEY", words: CompletionSource.setting,
      notes: ["A secret is never shown, only whether it is set."],
      examples: examples,
      run: getSetting)
  }

  private static func getSetting(
    _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    let setting = try session.tree.setting(named: invocation.argument("a KEY"))
    let settings = try session.settings()
    let shown = settings.shown(setting)
    guard shown != .notSet, shown != .placeholder else {
      let what = shown == .placeholder ? "has only a placeholder" : "is not set"
      throw CommandError(
        .notFound, "\(setting.key) \(what)", hint: .command("config set \(setting.key)"))
    }
    try session.output.write("\(shown.description.safeLine)\n")
    return .success
  }

  fileprivate static func setSetting(_ known: [Setting]) -> Command {
    let plain = known.first { $0.defaultValue != nil && !$0.isSecret }
    let examples =
      plain.map { [("config set \($0.key) \($0.defaultValue ?? "")", "a setting")] } ?? []
    let secrets = known.filter(\.isSecret).prefix(1).map {
      ("config set \($0.key)", "a key, which is asked for")
    }
    return Command(
      "KEY [VALUE]", words: valueWords,
      notes: [
        "A secret is asked for, or read from standard input: on the command line it would end up in "
          + "the shell's history. The file is readable by you alone."
      ], examples: examples + secrets, run: setSetting)
  }

  /// A key, and after it a directory, or what makes sense without thinking.
  private static let valueWords: CompletionSource.Following = { arguments, tree in
    guard let key = arguments.first else { return CompletionSource.setting(arguments, tree) }
    guard arguments.count == 1, let setting = try? tree.setting(named: key), !setting.isSecret
    else { return .none }
    if setting.form == .directory { return .directory }
    let standard = setting.defaultValue.map { [Candidate($0, "the default")] } ?? []
    return .choice(standard + (setting.form == .rate ? [Candidate("off", "no bound")] : []))
  }

  private static func setSetting(
    _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    guard let key = invocation.arguments.first else {
      throw CommandError(.usage, "a KEY is missing")
    }
    let setting = try session.tree.setting(named: key)
    try invocation.refuseArguments(after: 2)
    let value: String
    if setting.isSecret {
      // Not with the value in the message: it may be one.
      guard invocation.arguments.count == 1 else {
        throw CommandError(
          .usage, "\(setting.key) is not taken from the command line, which others can see",
          hint: .command("config set \(setting.key) asks for it, or reads standard input"))
      }
      value = try SecretInput.read("\(setting.key): ", mayAsk: !invocation.has(.noInput))
    } else if invocation.arguments.count == 2 {
      value = invocation.arguments[1]
    } else {
      throw CommandError(
        .usage, "a VALUE is missing", hint: .command("config set \(setting.key) VALUE"))
    }
    let path = try session.userSettingsFile()
    do throws(SourceError) {
      try SettingsFile(path, settings: session.tree.settings).set(setting.key, to: value)
    } catch {
      var failure = CommandError(error)
      // What is wrong with it was typed, not read.
      if error.code == .badSettings { failure.code = .usage }
      throw failure
    }
    session.diagnostics.note("\(setting.key) is set in \(path)")
    if setting.isSecret,
      let source = session.tree.plugins.first(where: { $0.settings.contains(setting) })
    {
      let check = session.diagnostics.command("sources check \(source.name)")
      session.diagnostics.note("whether it is accepted: \(check)")
    }
    return .success
  }

  fileprivate static func unsetSetting(_ known: [Setting]) -> Command {
    let examples = known.prefix(1).map { ("config unset \($0.key)", "back to the default") }
    return Command(
      "KEY", words: CompletionSource.setting,
      notes: ["Comments stay. What other files and the environment say holds from then on."],
      examples: examples, run: unsetSetting)
  }

  private static func unsetSetting(
    _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    let setting = try session.tree.setting(named: invocation.argument("a KEY"))
    let path = try session.userSettingsFile()
    let wasSet: Bool
    do throws(SourceError) {
      wasSet = try SettingsFile(path, settings: session.tree.settings).unset(setting.key)
    } catch {
      throw CommandError(error)
    }
    let settings = try session.settings()
    let origin = settings.origin(of: setting)
    let rest =
      if origin != .standard {
        "its value comes from \(origin)"
      } else if let value = settings.text(setting) {
        "the default is \(value)"
      } else {
        "it is set nowhere"
      }
    session.diagnostics.note(
      "\(setting.key) is \(wasSet ? "no longer" : "not") set in \(path); \(rest)")
    return .success
  }

  fileprivate static let settingsPath = Command(
    examples: [("config path", "where your settings file is, or would be")]
  ) { invocation, session in
    try invocation.refuseArguments()
    try session.output.write("\(session.userSettingsFile())\n")
    return .success
  }
}

extension Session {
  /// Says which values make no sense; each is an error only where it is needed.
  fileprivate func warnOfNonsense(in settings: Settings) {
    for setting in tree.settings {
      // A recording may be anywhere, seen from where the variable was typed.
      let isAnywhere =
        RecordingOptions.settings.contains(setting) && settings.origin(of: setting) == .environment
      do throws(SourceError) { try settings.check(setting) } catch {
        guard !isAnywhere else { continue }
        diagnostics.warning(error.message, hint: error.remedy.map(Hint.init))
      }
    }
  }
}

extension CommandTree {
  /// The setting with this key, in any case.
  fileprivate func setting(named key: String) throws(CommandError) -> Setting {
    guard let setting = settings.first(where: { $0.key == key.uppercased() }) else {
      // `KEY=VALUE`: the value may be a secret.
      let name = key.prefix { $0 != "=" }
      throw CommandError(
        .usage, "there is no setting '\(name)\(name.endIndex == key.endIndex ? "" : "=…")'",
        suggestion: nearest(to: String(name), in: settings.map(\.key)),
        hint: .command("config list"))
    }
    return setting
  }
}

/// A setting, for `config list`.
private struct SettingEntry: Entry {
  let id: String
  let value: String
  let origin: String
  let about: String

  init(_ setting: Setting, _ settings: Settings) {
    id = setting.key
    value = settings.shown(setting).description
    origin = settings.origin(of: setting).description
    about = setting.about
  }

  static let fields: [Field<SettingEntry>] = [
    Field("key", "Key", \.id, about: "The setting's key."),
    Field("value", "Value", \.value, about: "What it is set to; of a secret only whether it is."),
    Field("origin", "From", \.origin, about: "Who set it."),
    Field("about", "About", \.about, about: "What it is for."),
  ]
}
