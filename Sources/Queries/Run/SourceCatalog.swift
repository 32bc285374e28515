package import AggregatorKit
package import AggregatorTerminal
package import DeclaredSource

/// The sources of a program, compiled and added, and all settings.
package struct SourceCatalog: Sendable {
  /// The name of the program.
  package let name: ProgramName
  package var program: String { name.text }

  /// The sources in the order of help; the added ones come last.
  package let plugins: [any Plugin]

  /// The folder of added sources; `nil` if there is no directory for it.
  package let manifests: ManifestFolder?

  /// The added sources whose names are those of compiled sources or commands, which win.
  package let hiddenSources: [String]

  /// - Parameter words: The words that no added source can have as its name.
  package init(
    of name: ProgramName, compiled: [any Plugin], adding manifests: ManifestFolder?,
    reserving words: [String]
  ) {
    let own = Set(compiled.map(\.name) + words)
    let added = manifests?.plugins ?? []
    self.name = name
    self.manifests = manifests
    hiddenSources = added.map(\.name).filter(own.contains)
    plugins = compiled + added.filter { !own.contains($0.name) }.map { $0 as any Plugin }
  }

  package var sources: [String] { plugins.map(\.name) }

  /// The names of the added sources.
  package var added: [String] { plugins.filter { $0 is DeclaredPlugin }.map(\.name) }

  /// All settings: those of each source, then those of the program.
  package var settings: [Setting] { plugins.flatMap(\.settings) + ownSettings }

  /// The settings that a run reads, without reading the manifests of added sources: their secrets are those that
  /// are bound to a host.
  var settingGroups: [[Setting]] {
    plugins.filter { !($0 is DeclaredPlugin) }.map(\.settings)
      + [manifests?.boundSecrets ?? [], ownSettings]
  }

  /// The settings of the program.
  package var ownSettings: [Setting] {
    [
      Directories.home(of: name), StoreLocation.setting(of: name),
      StoreLocation.password(of: name), Directories.history(of: name), SQLAddress.setting(of: name),
    ] + RecordingOptions.settings(of: name)
  }

  /// The settings of the program and of all sources but one.
  package func settings(except name: String) -> [Setting] {
    let own = plugins.first { $0.name == name }?.settings ?? []
    return settings.filter { !own.contains($0) }
  }

  package func plugin(named name: String) throws(CommandError) -> any Plugin {
    guard let plugin = plugins.first(where: { $0.name == name }) else {
      throw CommandError(
        .usage, "unknown source \"\(name)\"", suggestion: nearest(to: name, in: sources),
        hint: "available sources: \(sources.joined(separator: ", "))")
    }
    return plugin
  }
}
