package import AggregatorKit
package import AggregatorSavedQueries
package import AggregatorTerminal
package import DeclaredSource

/// The sources of a program, compiled and added, and all settings.
package final class SourceCatalog: Sendable {
  package let name: ProgramName
  package var program: String { name.text }

  /// The sources in the order of help; the added ones come last.
  package let plugins: [any Plugin]

  /// The folder of added sources; `nil` if there is no directory for it.
  package let manifests: ManifestFolder?

  /// The names of compiled sources and the words that no added source can have as its name.
  package let ownWords: Set<String>

  /// The added sources whose names are those of compiled sources or commands, which win.
  package let hiddenSources: [String]

  package let savedQueries: SavedQueries

  /// - Parameter words: The words that no added source can have as its name.
  package init(
    of name: ProgramName, compiled: [any Plugin], adding manifests: ManifestFolder?,
    savedQueries: SavedQueries = SavedQueries(), reserving words: [String]
  ) {
    let own = Set(compiled.map(\.name) + words)
    ownWords = own
    let added = manifests?.plugins ?? []
    self.name = name
    self.manifests = manifests
    self.savedQueries = savedQueries
    hiddenSources = added.map(\.name).filter(own.contains)
    plugins = compiled + added.filter { !own.contains($0.name) }.map { $0 as any Plugin }
  }

  /// This catalog with the added sources and the saved queries that their files have now.
  package var reread: SourceCatalog {
    SourceCatalog(
      of: name, compiled: plugins.filter { !($0 is DeclaredPlugin) }, adding: manifests,
      savedQueries: savedQueries.reread, reserving: Array(ownWords))
  }

  package var sources: [String] { plugins.map(\.name) }

  package var added: [String] { plugins.filter { $0 is DeclaredPlugin }.map(\.name) }

  /// All settings: those of each source, then those of the program; what the lists of a service share is there once.
  package var settings: [Setting] {
    var seen: Set<Setting> = []
    return (plugins.flatMap(\.settings) + ownSettings).filter { seen.insert($0).inserted }
  }

  /// The settings that a run reads, without reading the manifests of added sources: their secrets are those that
  /// are bound to a host.
  var settingGroups: [[Setting]] {
    plugins.filter { !($0 is DeclaredPlugin) }.map(\.settings)
      + [manifests?.boundSecrets ?? [], ownSettings]
  }

  /// The secrets of sources that are no longer there, as far as they are set.
  package func leftSecrets(in settings: SourceSettings) -> [Setting] {
    let known = Set(self.settings.map(\.key))
    return (manifests?.boundSecrets ?? []).filter {
      !known.contains($0.key) && settings.origin(of: $0) != .standard
    }.map { Setting($0.key, .secret, about: "secret of a source that was removed") }
  }

  package var ownSettings: [Setting] {
    [
      Directories.home(of: name), StoreLocation.setting(of: name),
      StoreLocation.password(of: name), Directories.history(of: name), SQLAddress.setting(of: name),
      SQLAddress.reads(of: name),
    ] + RecordingOptions.settings(of: name)
  }

  package func settings(except name: String) -> [Setting] {
    let own = plugins.first { $0.name == name }?.settings ?? []
    return settings.filter { !own.contains($0) }
  }

  package func plugin(named name: String) throws(CommandError) -> any Plugin {
    guard let plugin = plugins.first(where: { $0.name == name }) else {
      throw CommandError(
        .usage, "unknown source \"\(name)\"", suggestion: nearest(to: name, in: sources),
        hint: availableSources(near: name))
    }
    return plugin
  }

  /// The available sources; of many, those with names like a typed one, and the command that lists all.
  package func availableSources(near name: String? = nil) -> Hint {
    let maxCount = 8
    guard sources.count > maxCount else {
      return .words("available sources: \(sources.joined(separator: ", "))")
    }
    var (near, others) = ([String](), sources)
    while near.count < maxCount, let next = name.flatMap({ nearest(to: $0, in: others) }) {
      near.append(next)
      others.removeAll { $0 == next }
    }
    return near.count < 2
      ? .command("sources list")
      : .steps(.words("similar sources: \(near.joined(separator: ", "))"), .command("sources list"))
  }

  /// A source with a valid manifest, or without any.
  ///
  /// - Throws: ``CommandError`` with code `usage` for an unknown name, and `settings` for an invalid manifest.
  package func usablePlugin(named name: String) throws(CommandError) -> any Plugin {
    let plugin = try plugin(named: name)
    try plugin.checkManifest()
    return plugin
  }
}

extension Plugin {
  /// Fails with code `settings` if the source has a manifest that cannot be used.
  package func checkManifest() throws(CommandError) {
    guard let failure = (self as? DeclaredPlugin)?.failure else { return }
    throw CommandError(failure, of: self)
  }
}

extension ManifestFolder {
  /// The folder of the program's added sources, beside its settings file.
  ///
  /// The option `--manifests` or the variable `AGGREGATOR_MANIFESTS` names another; only the option may be relative to
  /// the working directory.
  package init?(of program: ProgramName, variables: [String: String], arguments: [String]) {
    if let path = Self.option(in: arguments) {
      let directory = FileManager.default.currentDirectoryPath
      self.init(path.hasPrefix("/") ? path : "\(directory)/\(path)")
      return
    }
    if let path = variables[program.variable("MANIFESTS")], path.hasPrefix("/") {
      self.init(path)
      return
    }
    guard let directory = SettingsLoader.userDirectory(of: program, variables: variables) else {
      return nil
    }
    self.init("\(directory)/sources")
  }

  /// The value of `--manifests`, which must be known before there is a command tree of all sources.
  private static func option(in arguments: [String]) -> String? {
    let spelling = Option.manifests.spelling
    let words = Array(arguments.prefix { $0 != "--" })
    guard let index = words.lastIndex(where: { $0 == spelling || $0.hasPrefix("\(spelling)=") })
    else { return nil }
    let value =
      words[index] == spelling
      ? words.dropFirst(index + 1).first : String(words[index].dropFirst(spelling.count + 1))
    // The parser reports a missing value.
    return value.flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension CommandContext {
  package func manifestFolder() throws(CommandError) -> ManifestFolder {
    guard let folder = catalog.manifests else {
      throw CommandError(
        .settings, "no directory for added sources", hint: "set HOME or XDG_CONFIG_HOME")
    }
    return folder
  }

  /// The folder, if it has a source of this name, or a service.
  package func manifestFolder(
    of name: String, orService: Bool = false
  ) throws(CommandError) -> ManifestFolder {
    let folder = try manifestFolder()
    let names = folder.names + (orService ? folder.services : [])
    guard names.contains(name) else {
      if catalog.plugins.contains(where: { $0.name == name && !($0 is DeclaredPlugin) }) {
        throw CommandError(
          .notFound,
          "no source named \"\(name)\" was added: it is built in, with settings but without a manifest",
          hint: .steps(
            .command("sources show \(name)"),
            .words("add one like it to edit: \(diagnostics.command("sources add NAME URL"))")))
      }
      throw CommandError(
        .notFound, "no source named \"\(name)\" was added",
        suggestion: nearest(to: name, in: names), hint: .command("sources"))
    }
    return folder
  }
}
