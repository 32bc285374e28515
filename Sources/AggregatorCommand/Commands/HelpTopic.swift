import AggregatorKit

/// What there is to know beside the commands.
enum HelpTopic: String, CaseIterable {
  case options
  case exitCodes = "exit-codes"
  case environment
  case man

  /// What it is about, in one line.
  var summary: String {
    switch self {
    case .options: "All options, and what they mean everywhere"
    case .exitCodes: "What the exit codes mean"
    case .environment: "Settings, and where they come from"
    case .man: "All of this as a manual page, for man -l -"
    }
  }

  /// The whole topic.
  func text(_ help: Help, tree: CommandTree) -> String {
    switch self {
    case .options:
      return help.rows("Options", tree.options.map { ($0.synopsis, $0.about) })
        + "\n"
        + help.wrapped(Self.spelling)
    case .exitCodes:
      return help.rows("Exit codes", ExitCode.allCases.map { ("\($0.rawValue)", $0.about) })
        + "\n"
        + help.wrapped(Self.lastResort)
    case .environment:
      return help.rows("Settings", Self.settings(of: tree)) + "\n"
        + help.rows("Other variables", Self.variables) + "\n"
        + help.wrapped(Self.order(tree.program))
    case .man:
      return ManualPage(tree).text
    }
  }

  /// How options are written.
  static let spelling =
    "An option may stand anywhere before --, as --option VALUE or --option=VALUE. "
    + "Names cannot be shortened."

  /// When failures decide about the exit code.
  static let lastResort =
    "69, 75, 76 and 77 are seen only when nothing else could answer, with --no-fallback, or by sync and sources check."

  /// What can be set, and what it is for.
  static func settings(of tree: CommandTree) -> [(String, String)] {
    tree.settings.map { setting in
      let standard = setting.defaultValue.map { "; \($0) by default" } ?? ""
      return (setting.key, setting.about + standard)
    }
  }

  /// Variables of the environment that are no settings.
  static let variables = [
    ("AGGREGATOR_CONFIG", "one more settings file, as --config"),
    ("XDG_CONFIG_HOME", "where aggregator/config.xcconfig is, instead of ~/.config"),
    ("XDG_DATA_HOME", "where aggregator/store.sqlite is, instead of ~/.local/share"),
    ("XDG_STATE_HOME", "where aggregator/positions is, instead of ~/.local/state"),
    ("XDG_CACHE_HOME", "where aggregator/images is, instead of ~/.cache"),
    ("http_proxy, https_proxy, no_proxy", "as for curl"),
    ("COLUMNS", "how wide the output is"),
    ("NO_COLOR", "no colour if it is not empty"),
    (
      "FORCE_HYPERLINK",
      "1: addresses in cards are links; 0: never; else where terminals can"
    ),
    ("AGGREGATOR_FORCE_TTY", "as if on a terminal of so many columns"),
  ]

  /// Where settings come from.
  static func order(_ program: String) -> String {
    "A setting is looked for in this order: an environment variable of its name; the file of "
      + "--config or AGGREGATOR_CONFIG; Configuration/Debug.xcconfig or Release.xcconfig in the "
      + "working directory, as the program was built; ~/.config/aggregator/config.xcconfig; its "
      + "default. '\(program) config' shows what is set, and where."
  }
}
