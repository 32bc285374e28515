public import AggregatorCore
import AggregatorFiles
import AggregatorText

/// Loads ``SourceSettings`` from files, the environment and the options of a program.
///
/// Layers, highest first: options, environment variables of the same name, the file of `--config`
/// or `AGGREGATOR_CONFIG`, `Configuration/Debug.xcconfig` or `Configuration/Release.xcconfig` in
/// the working directory, the user's file `~/.config/aggregator/config.xcconfig`, and the settings'
/// own defaults. With `AGGREGATOR_HOME` in the environment, the user's file is
/// `$AGGREGATOR_HOME/config/config.xcconfig`. The variables and directories of a program of another
/// name are named after it: `planets` has `PLANETS_CONFIG` and `~/.config/planets`.
///
///  An empty value, or the placeholder of an example file, is not a value: the next layer
/// down is used. Options and variables are taken literally; files may refer to each other's values, see
/// `SettingsExpansion`.
///
/// The working directory may be a cloned repository, whose author must not get a key. So its file never
/// sets the URL of a source that has a secret, nor a directory or the store; it reads nothing outside
/// `Configuration`; and its errors are warnings, because it may belong to an app. The same holds for a
/// *relative* `AGGREGATOR_CONFIG`, which is another file in each directory.
public struct SettingsLoader: Sendable {
  /// The build configuration, which selects the file in the working directory.
  public enum Build: String, Sendable {
    case debug = "Debug"
    case release = "Release"
  }

  /// Settings and warnings about them.
  public struct Loaded: Sendable {
    public let settings: SourceSettings
    /// Codes: `settings` (a line was ignored), `guarded` (a line was ignored that could reveal a key),
    /// `exposed` (other users can read a secret), `otherBuild`, `unknownSetting`.
    public let warnings: [Warning]
  }

  let settings: [Setting]
  let byKey: [String: Setting]
  /// The secrets that are sent to a URL, by the key of the URL's setting.
  let guarded: [String: Setting]
  /// The environment variables that are settings.
  let variables: [String: Secret]
  let workingDirectory: String
  let build: Build
  /// The value of `AGGREGATOR_CONFIG`.
  let namedFile: String?

  /// The path of the user's own file, which need not exist.
  ///
  /// `nil` without an absolute `XDG_CONFIG_HOME` or `HOME`, or if `AGGREGATOR_HOME` is relative. As its
  /// specification demands, a relative `XDG_CONFIG_HOME` is ignored: it would be in the working directory.
  public let userFile: String?

  /// The settings are grouped by source: the URLs of a group with a secret are guarded.
  ///
  /// - Parameter program: The name of the program: ASCII letters, digits, `-` and `_`.
  public init(
    _ groups: [[Setting]], environment: [String: String], workingDirectory: String, build: Build,
    program: String = "aggregator"
  ) {
    let program = ProgramName(program)
    settings = groups.flatMap(\.self)
    byKey = Dictionary(settings.map { ($0.key, $0) }) { first, _ in first }
    guarded = groups.reduce(into: [:]) { guarded, group in
      guard let secret = group.first(where: \.isSecret) else { return }
      for setting in group where [.url, .store].contains(setting.form) {
        guarded[setting.key] = secret
      }
    }
    variables = byKey.keys.reduce(into: [:]) { $0[$1] = environment[$1].map(Secret.init) }
    namedFile = environment[program.variable("CONFIG")].flatMap { $0.isEmpty ? nil : $0 }
    userFile =
      if let home = environment[program.variable("HOME")], !home.isEmpty {
        home.hasPrefix("/") ? "\(home)/config/config.xcconfig" : nil
      } else if let home = environment["XDG_CONFIG_HOME"], home.hasPrefix("/") {
        "\(home)/\(program.text)/config.xcconfig"
      } else if let home = environment["HOME"], home.hasPrefix("/") {
        "\(home)/.config/\(program.text)/config.xcconfig"
      } else {
        nil
      }
    self.workingDirectory = workingDirectory
    self.build = build
  }

  /// The directory of the user's own file; `nil` if it is not known.
  package static func userDirectory(
    of program: ProgramName, variables: [String: String]
  ) -> String? {
    let loader = SettingsLoader(
      [], environment: variables, workingDirectory: "/", build: .release, program: program.text)
    return loader.userFile.map(PrivateFile.directory(of:))
  }

  /// Loads all layers.
  ///
  /// `configFile`, that of `--config`, is absolute or relative to the working directory.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings`, file and line for an error in a file; `storage`
  ///   for a file that the system refuses to read.
  public func load(
    options: [String: String] = [:], configFile: String? = nil
  ) throws(SourceError) -> Loaded {
    var loading = SettingsLoading(self)
    try loading.add(files(configFile: configFile))
    try loading.add(variables, from: .environment)
    try loading.add(options.mapValues(Secret.init), from: .option)
    loading.warnOfOtherBuild()
    return Loaded(settings: SourceSettings(entries: loading.entries), warnings: loading.warnings)
  }
}

extension SettingsLoader {
  /// The settings file of a layer.
  struct File {
    let path: String
    let reader: SettingsReader
    /// `true` if it is not trusted: it sets no guarded URL, no store and no directory.
    var isGuarded = false
    /// `true` if it may belong to an app: errors are warnings.
    var isLenient = false
    /// `true` if its absence is an error, because it was named for this run.
    var isRequired = false
  }

  /// The file in the working directory for a build, which need not exist.
  func workingFile(for build: Build) -> File {
    File(
      path: "Configuration/\(build.rawValue).xcconfig",
      reader: SettingsReader(in: workingDirectory, confinedTo: "Configuration"),
      isGuarded: true, isLenient: true)
  }

  /// The file of `--config`, else of `AGGREGATOR_CONFIG`.
  private func file(namedBy configFile: String?) -> File? {
    guard let path = configFile ?? namedFile else { return nil }
    let isGuarded = configFile == nil && !path.hasPrefix("/")
    let reader = SettingsReader(in: workingDirectory, confinedTo: isGuarded ? "." : nil)
    return File(path: path, reader: reader, isGuarded: isGuarded, isRequired: true)
  }

  /// The paths of the files of ``load(options:configFile:)``, which need not exist.
  package func paths(configFile: String?) -> [String] { files(configFile: configFile).map(\.path) }

  /// The files of the layers, which need not exist, the highest first.
  func files(configFile: String?) -> [File] {
    let ownFile = userFile.map { File(path: $0, reader: SettingsReader(in: workingDirectory)) }
    return [file(namedBy: configFile), workingFile(for: build), ownFile].compactMap(\.self)
  }
}

/// The state of one ``SettingsLoader/load(options:configFile:)``: layers are added from the lowest.
struct SettingsLoading {
  private let loader: SettingsLoader

  private(set) var entries: [String: SourceSettings.Entry] = [:]

  private(set) var warnings: [Warning] = []

  init(_ loader: SettingsLoader) { self.loader = loader }

  /// Adds environment variables or options, which are taken literally.
  mutating func add(
    _ values: [String: Secret], from origin: SourceSettings.Origin
  ) throws(SourceError) {
    for setting in loader.settings {
      guard let value = values[setting.key] else { continue }
      guard let text = value.reveal(\.singleLine) else {
        throw SourceError(
          .invalidSettings,
          "\(origin): \(setting.key) contains a line break or a control character",
          remedy: "set it to a single line of text")
      }
      put(text, for: setting, from: origin)
    }
  }

  /// Adds the files that exist, given the highest first; a file that is two layers is the higher one.
  mutating func add(_ files: [SettingsLoader.File]) throws(SourceError) {
    var texts: [(file: SettingsLoader.File, text: SettingsText)] = []
    for file in files {
      guard let text = try read(file) else { continue }
      if texts.allSatisfy({ $0.text.realPath != text.realPath }) { texts.append((file, text)) }
    }
    for (file, text) in texts.reversed() { try add(file, text) }
  }

  private mutating func read(_ file: SettingsLoader.File) throws(SourceError) -> SettingsText? {
    switch file.reader(file.path) {
    case .text(let text):
      return text
    case .missing:
      guard file.isRequired else { return nil }
      throw SourceError(
        .invalidSettings, "settings file not found: \(file.path)",
        remedy: "create it, or specify another file")
    case .refused(let fault):
      let diagnostic = SettingsLayer.Location(file: file.path, line: nil).locating(fault)
      guard file.isLenient else { throw diagnostic }
      warn(.settings, diagnostic.description)
      return nil
    }
  }

  /// Adds a file with its includes.
  private mutating func add(
    _ file: SettingsLoader.File, _ text: SettingsText
  ) throws(SourceError) {
    let layer = SettingsLayer(text, read: file.reader.callAsFunction)
    try report(layer, of: file)
    var expansion = expansion(of: layer)
    for setting in loader.settings {
      guard let assignment = expansion.assignment(of: setting.key) else { continue }
      if file.isGuarded, let reason = guarding(setting) {
        warn(.ignored, "\(assignment.location): \(setting.key) is ignored: \(reason)")
        continue
      }
      do throws(SourceError) {
        let value = try expansion.value(of: setting.key) ?? ""
        put(value, for: setting, from: assignment.location.origin)
      } catch {
        guard file.isLenient else { throw error }
        warn(.settings, error.description)
      }
    }
    warnOfOpenFiles(layer, expansion)
    if !file.isLenient { warnOfUnknownKeys(layer) }
  }

  /// Warns of settings that have a value only in the file of the other build.
  mutating func warnOfOtherBuild() {
    let file = loader.workingFile(for: loader.build == .debug ? .release : .debug)
    guard case .text(let text) = file.reader(file.path) else { return }
    var expansion = expansion(of: SettingsLayer(text, read: file.reader.callAsFunction))
    for setting in loader.settings where !isSet(setting) && guarding(setting) == nil {
      guard let value = try? expansion.value(of: setting.key), isReal(value, for: setting) else {
        continue
      }
      let build = loader.build
      warn(
        .otherBuild,
        "\(setting.key) is set in \(file.path), but this is a \(build) build, which reads "
          + "\(build.rawValue).xcconfig")
    }
  }

  private func expansion(of layer: SettingsLayer) -> SettingsExpansion {
    let below = entries
    return SettingsExpansion(of: layer, settings: loader.byKey) { setting in
      SourceSettings(entries: below).text(setting)
    }
  }

  /// Sets a value, unless it is empty or a placeholder and a lower layer has a real one.
  private mutating func put(
    _ text: String, for setting: Setting, from origin: SourceSettings.Origin
  ) {
    guard isReal(text, for: setting) || (!text.isEmpty && !isSet(setting)) else { return }
    entries[setting.key] = SourceSettings.Entry(text, origin: origin)
  }

  private func isSet(_ setting: Setting) -> Bool {
    entries[setting.key] != nil && !SourceSettings(entries: entries).isPlaceholder(setting)
  }

  private func isReal(_ text: String, for setting: Setting) -> Bool {
    !text.isEmpty && !(setting.isSecret && SourceSettings.isPlaceholder(text))
  }

  /// The reason why an untrusted file must not set this; `nil` if it may.
  private func guarding(_ setting: Setting) -> String? {
    let elsewhere =
      "set it in the environment, or in \(loader.userFile ?? "your own file")"
    if let secret = loader.guarded[setting.key] {
      return "the working directory must not choose where \(secret.key) is sent (\(elsewhere))"
    }
    guard [.directory, .store].contains(setting.form) else { return nil }
    return "the working directory must not choose where files are written (\(elsewhere))"
  }

  private mutating func warn(_ code: Warning.Code, _ message: String) {
    let warning = Warning(code, message)
    if !warnings.contains(warning) { warnings.append(warning) }
  }
}

extension SettingsLoading {
  /// Throws the first error, or warns of the first few.
  private mutating func report(
    _ layer: SettingsLayer, of file: SettingsLoader.File
  ) throws(SourceError) {
    if let diagnostic = layer.diagnostics.first, !file.isLenient { throw diagnostic }
    for diagnostic in layer.diagnostics { warn(.settings, diagnostic.description) }
    let more = layer.diagnosticCount - layer.diagnostics.count
    if more > 0 { warn(.settings, "\(file.path): \(more) more invalid lines") }

    var reported: Set<String> = []
    for assignment in layer.assignments where assignment.statement.isConditional {
      let key = assignment.statement.key
      guard !file.isLenient || loader.byKey[key] != nil, reported.insert(key).inserted else {
        continue
      }
      warn(
        .settings,
        "\(assignment.location): \(key)[…] is ignored: conditions are not supported (write \(key) = value)"
      )
    }
  }

  private mutating func warnOfOpenFiles(_ layer: SettingsLayer, _ expansion: SettingsExpansion) {
    for assignment in layer.assignments where assignment.isOpenToOthers {
      let (key, value) = (assignment.statement.key, assignment.statement.value)
      guard expansion.isConfidential(key), !value.isEmpty, !SourceSettings.isPlaceholder(value),
        loader.byKey[key]?.form != .store || value.mayContainPassword
      else { continue }
      let file = assignment.location.file
      warn(
        .exposed, "\(file) contains a secret and is open to other users (run: chmod 600 \(file))")
    }
  }

  /// Warns of keys that resemble a setting, unless another value refers to them.
  private mutating func warnOfUnknownKeys(_ layer: SettingsLayer) {
    var reported: Set<String> = []
    for assignment in layer.assignments {
      let key = assignment.statement.key
      guard loader.byKey[key] == nil, reported.insert(key).inserted,
        let near = nearest(to: key, in: loader.settings.map(\.key)),
        !layer.assignments.contains(where: { $0.statement.references.contains(key) })
      else { continue }
      warn(
        .unknownSetting,
        "\(assignment.location): unknown setting \(key) (did you mean \"\(near)\"?)")
    }
  }
}

extension String {
  /// True for a URL such as `postgresql://user:password@host/`.
  fileprivate var mayContainPassword: Bool { contains(/:[^\/@]+@|password/) }
}

extension SettingsLayer.Location {
  fileprivate var origin: SourceSettings.Origin { .file(path: file, line: line ?? 1) }
}

/// The name of a program, from which the names of its directories and environment variables derive, and its version.
package struct ProgramName: Hashable, Sendable {
  package let text: String
  package let version: String

  /// Stops the program unless the name consists of ASCII letters, digits, `-` and `_`: it becomes the
  /// name of a directory, and part of shell scripts.
  package init(_ text: String, version: String = Version.current) {
    precondition(
      !text.isEmpty && !text.hasPrefix("-")
        && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) },
      "\"\(text)\" is not a name for a program")
    self.text = text
    self.version = version
  }

  /// The name of an environment variable: `AGGREGATOR_HOME`, or `MY_PLANETS_HOME` of `my-planets`.
  package func variable(_ suffix: String) -> String {
    // The name of a variable does not begin with a digit (POSIX.1-2024, section 3.216).
    let isNumbered = text.utf8.first.map { 0x30...0x39 ~= $0 } ?? false
    let name = text.uppercased().utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
    return "\(isNumbered ? "_" : "")\(String(decoding: name, as: UTF8.self))_\(suffix)"
  }
}
