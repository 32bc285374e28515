public import AggregatorCore

/// Collects ``Settings`` from the files, the environment and the options of a program.
///
/// Layers, highest first: options, environment variables of the same name, the file of `--config`
/// or `AGGREGATOR_CONFIG`, `Configuration/Debug.xcconfig` or `Configuration/Release.xcconfig` in
/// the working directory, the user's file `~/.config/aggregator/config.xcconfig`, and the settings'
/// own defaults. An empty value sets nothing, and neither does the placeholder of an example file:
/// the next layer down is asked. Options and variables are taken literally; files may refer to each
/// other's values as `SettingsExpansion` tells.
///
/// The working directory may be a cloned repository, whose author must not get hold of a key. So
/// its file never sets the address of a source that has a secret, nor a directory; it reads nothing
/// outside `Configuration`; and what cannot be read there is a warning, because it may belong to an
/// app. The same guard holds for a *relative* `AGGREGATOR_CONFIG`, which means another file in each
/// directory.
public struct SettingsLoader: Sendable {
  /// How the program was built, which chooses the file in the working directory.
  public enum Build: String, Sendable {
    /// Reads `Debug.xcconfig`.
    case debug = "Debug"
    /// Reads `Release.xcconfig`.
    case release = "Release"
  }

  /// Settings, and what the reader should be told about them.
  public struct Loaded: Sendable {
    /// What has been set, and by whom.
    public let settings: Settings
    /// Codes: `settings` (a line was passed over), `guarded` (so was one that might give a key
    /// away), `exposed` (others can read a secret), `otherBuild`, `unknownSetting`.
    public let warnings: [Warning]
  }

  let settings: [Setting]
  let byKey: [String: Setting]
  /// The secret that an address is guarded for, by the address's key.
  let guarded: [String: Setting]
  /// The variables that set something; the rest of the environment is not kept.
  let variables: [String: Secret]
  let workingDirectory: String
  let build: Build
  /// The value of `AGGREGATOR_CONFIG`.
  let namedFile: String?

  /// The user's own file, which need not exist.
  ///
  /// `nil` without an absolute `XDG_CONFIG_HOME` or `HOME`. As its specification demands, a
  /// relative `XDG_CONFIG_HOME` is passed over: it would lie in the working directory.
  public let userFile: String?

  /// A loader.
  ///
  /// - Parameters:
  ///   - groups: The settings, grouped by source: the addresses of a group with a secret are
  ///     guarded.
  ///   - environment: The variables of the process.
  ///   - workingDirectory: The absolute path of the working directory.
  ///   - build: How the program was built.
  public init(
    _ groups: [[Setting]], environment: [String: String], workingDirectory: String, build: Build
  ) {
    settings = groups.flatMap(\.self)
    byKey = Dictionary(settings.map { ($0.key, $0) }) { first, _ in first }
    guarded = groups.reduce(into: [:]) { guarded, group in
      guard let secret = group.first(where: \.isSecret) else { return }
      for setting in group where setting.form == .url { guarded[setting.key] = secret }
    }
    variables = byKey.keys.reduce(into: [:]) { $0[$1] = environment[$1].map(Secret.init) }
    namedFile = environment["AGGREGATOR_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
    userFile =
      if let home = environment["XDG_CONFIG_HOME"], home.hasPrefix("/") {
        "\(home)/aggregator/config.xcconfig"
      } else if let home = environment["HOME"], home.hasPrefix("/") {
        "\(home)/.config/aggregator/config.xcconfig"
      } else {
        nil
      }
    self.workingDirectory = workingDirectory
    self.build = build
  }

  /// Reads all layers.
  ///
  /// - Parameters:
  ///   - options: The values that options of the command line set, by key.
  ///   - configFile: The file that `--config` names, absolute or relative to the working directory.
  /// - Returns: The settings, and what the reader should be told.
  /// - Throws: ``SourceError`` with code `badSettings`, and file and line, for what cannot be read;
  ///   `storage` for a file that the system refuses.
  public func load(
    options: [String: String] = [:], configFile: String? = nil
  ) throws(SourceError) -> Loaded {
    var loading = SettingsLoading(self)
    try loading.add(files(configFile: configFile))
    try loading.add(variables, from: .environment)
    try loading.add(options.mapValues(Secret.init), from: .option)
    loading.lookIntoOtherBuild()
    return Loaded(settings: Settings(entries: loading.entries), warnings: loading.warnings)
  }
}
