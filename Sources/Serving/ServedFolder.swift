import AggregatorAPI
import AggregatorFiles
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import DeclaredSource
import Synchronization

/// The sources of a server as the folder of added sources and the settings file have them, which other programs change
/// while it runs.
final class ServedFolder: Sendable {
  typealias Serve =
    @Sendable (any Plugin, PluginEnvironment) throws -> any ServedSource

  private let context: CommandContext
  private let fixed: PluginEnvironment
  /// Limits the hosts that are requested for sources which the server itself has added.
  let limited: @Sendable (any Transport) -> any Transport
  private let serve: Serve
  /// Files at paths, and that of the settings; `nil` for what is not there.
  private let files: @Sendable (_ paths: [String]) -> [String: FileIdentity?]
  private let state: Mutex<State>
  private let plugins: Mutex<[any Plugin]>

  private struct State {
    /// Those that the server was told to serve; `nil` for all.
    let names: [String]?
    /// Those that it has added itself.
    var added: Set<String> = []
    var checked = ContinuousClock.now
    var files: [String: FileIdentity?] = [:]
    var versions: [String: Version] = [:]
    /// With the scopes of the sources as they are now.
    var store: (any SourceStore)?
    /// The last ones that could be read.
    var settings: SourceSettings
    /// The reasons why sources cannot be served as they are now, which is tried again at every look.
    var failures: [String: String] = [:]

    func serves(_ name: String) -> Bool { names?.contains(name) ?? true || added.contains(name) }
  }

  /// The manifest and settings of a source; another version if any of them has changed.
  private struct Version {
    /// `nil` without a manifest, or if there is none any more.
    let file: FileIdentity?
    let values: [String?]

    init(_ plugin: any Plugin, in folder: ManifestFolder, _ settings: SourceSettings) {
      file = plugin is DeclaredPlugin ? FileIdentity(folder.file(of: plugin.name)) : nil
      values = plugin.settings.map { setting in
        settings.secret(setting)?.reveal(\.self) ?? settings.text(setting)
      }
    }

    func isUnchanged(since other: Version) -> Bool {
      values == other.values && FileIdentity.areUnchanged(file, since: other.file)
    }
  }

  init(
    _ names: [String]?, in environment: PluginEnvironment, _ context: CommandContext,
    limitedBy limited: @escaping @Sendable (any Transport) -> any Transport = { $0 },
    serving serve: @escaping Serve
  ) {
    (self.context, self.limited, self.serve) = (context, limited, serve)
    fixed = environment
    plugins = Mutex(context.catalog.plugins)
    let settingsFile = try? context.userSettingsFile()
    files = { paths in
      let paths = paths + [settingsFile].compactMap(\.self)
      return Dictionary(paths.map { ($0, FileIdentity($0)) }) { first, _ in first }
    }
    var state = State(names: names, store: environment.store, settings: environment.settings)
    if let folder = context.catalog.manifests {
      if let settings = try? context.loadSettings().settings { state.settings = settings }
      for plugin in context.catalog.plugins where names?.contains(plugin.name) ?? true {
        state.versions[plugin.name] = Version(plugin, in: folder, state.settings)
      }
      state.files = files([folder.path] + context.catalog.added.map(folder.file))
    }
    self.state = Mutex(state)
  }

  /// The environment of the server as it is now.
  var environment: PluginEnvironment { environment(with: state.withLock(\.store)) }

  private func environment(with store: (any SourceStore)?) -> PluginEnvironment {
    var environment = fixed
    environment.store = store
    environment.sources = { [self] in plugins.withLock(\.self) }
    return environment
  }

  /// The sources with which the server begins.
  func sources() throws -> [any ServedSource] {
    let environment = environment
    let names = state.withLock(\.names)
    return try context.catalog.plugins.filter { names?.contains($0.name) ?? true }
      .map { try serve($0, environment) }
  }

  /// True for a source that the server was told to serve, or that it has added itself.
  func serves(_ name: String) -> Bool { state.withLock { $0.serves(name) } }

  /// Serves a source whatever the server was told to serve, unless it cannot be saved.
  func adding(_ name: String, _ save: () async throws -> Void) async throws {
    let isNew = state.withLock { $0.added.insert(name).inserted }
    do { try await save() } catch {
      // Another source may have the name, or get it.
      if isNew { state.withLock { _ = $0.added.remove(name) } }
      throw error
    }
  }

  /// The sources that have changed since the last call, as they are now.
  ///
  /// - Parameter atOnce: False to look at most once a second.
  func changes(atOnce: Bool) -> [SourceChange] {
    guard let folder = context.catalog.manifests else { return [] }
    return state.withLock { state in
      let now = ContinuousClock.now
      guard atOnce || now - state.checked >= .seconds(1) else { return [] }
      state.checked = now
      let isSame = state.files.allSatisfy { path, file in
        FileIdentity.areUnchanged(FileIdentity(path), since: file)
      }
      return isSame && state.failures.isEmpty ? [] : reread(folder, &state)
    }
  }

  private func reread(_ folder: ManifestFolder, _ state: inout State) -> [SourceChange] {
    // First, so that what changes while it is read is read again.
    state.files = files([folder.path])
    let run = context.rereadingSources()
    state.files.merge(files(run.catalog.added.map(folder.file))) { first, _ in first }
    // Those that cannot be read stay as they were; commands say what is wrong with them.
    if let settings = try? run.loadSettings().settings { state.settings = settings }
    plugins.withLock { $0 = run.catalog.plugins }
    var changes: [SourceChange] = []
    for name in state.versions.keys where !run.catalog.sources.contains(name) {
      state.versions[name] = nil
      changes.append(SourceChange(name, nil))
    }
    var failures: [String: String] = [:]
    for plugin in run.catalog.plugins where state.serves(plugin.name) {
      let version = Version(plugin, in: folder, state.settings)
      if let old = state.versions[plugin.name], version.isUnchanged(since: old) { continue }
      do {
        changes.append(SourceChange(plugin.name, try served(plugin, &state)))
        state.versions[plugin.name] = version
      } catch {
        let reason = Problem(error).message
        failures[plugin.name] = reason
        guard state.failures[plugin.name] != reason else { continue }
        context.diagnostics.warning("\(plugin.name): \(reason)")
      }
    }
    state.failures = failures
    return changes
  }

  private func served(
    _ plugin: any Plugin, _ state: inout State
  ) throws -> any ServedSource {
    let scope = plugin.storeScope(in: state.settings)
    state.store =
      state.store?.capabilities.scopes?.replacing(plugin.name, with: scope) ?? state.store
    var environment = environment(with: state.store)
    environment.settings = state.settings
    if state.added.contains(plugin.name) {
      environment.transport = limited(environment.transport)
    }
    return try serve(plugin, environment)
  }
}

extension FileIdentity {
  /// True if a file has not changed, or is still not there.
  fileprivate static func areUnchanged(_ one: FileIdentity?, since other: FileIdentity?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    return one.isUnchanged(since: other)
  }
}
