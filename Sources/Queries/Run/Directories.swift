import AggregatorFiles
package import AggregatorKit
package import AggregatorTerminal

/// The directories for data, created by ``PrivateFile/makeDirectory(_:)`` on first write: 0700.
///
/// `AGGREGATOR_HOME` replaces them all; the default is the XDG Base Directory Specification, which
/// also demands that relative paths be ignored. They are named after the program.
package struct Directories: Hashable, Sendable {
  package static func home(of program: ProgramName) -> Setting {
    Setting(
      program.variable("HOME"), .directory,
      about: "directory for all program data, instead of the XDG directories")
  }

  package static func history(of program: ProgramName) -> Setting {
    Setting(
      program.variable("HISTORY"), .history, default: "90d 100000",
      about: "age and number of the changes kept per source, or off")
  }

  /// For `store.sqlite`; an absolute path, `nil` if unknown.
  package let data: String?
  package var storePath: String? { data.map { "\($0)/store.sqlite" } }
  /// For `positions/`; `nil` if unknown.
  package let state: String?
  /// For data that can be fetched again; `nil` if unknown.
  package let cache: String?

  /// - Throws: ``CommandError`` with code `settings` if `AGGREGATOR_HOME` is a relative path.
  package init(
    of program: ProgramName, _ settings: SourceSettings, variables: [String: String]
  ) throws(CommandError) {
    if let home = try CommandError.wrapping(try settings.directory(Self.home(of: program))) {
      (data, state, cache) = (home, home, "\(home)/cache")
      return
    }
    func directory(_ variable: String, _ defaultPath: String) -> String? {
      if let path = variables[variable], path.hasPrefix("/") { return "\(path)/\(program.text)" }
      guard let home = variables["HOME"], home.hasPrefix("/") else { return nil }
      return "\(home)/\(defaultPath)/\(program.text)"
    }
    data = directory("XDG_DATA_HOME", ".local/share")
    state = directory("XDG_STATE_HOME", ".local/state")
    cache = directory("XDG_CACHE_HOME", ".cache")
  }
}

extension PluginEnvironment {
  private static let remedy = Hint.home("set HOME, XDG_DATA_HOME or")

  package func requiredStore() throws(CommandError) -> any SourceStore {
    guard let store else {
      throw CommandError(.io, "no directory for the store", hint: Self.remedy)
    }
    return store
  }

  /// Takes a store that ends with the run in the place of one that cannot be read, or has no records of a source and takes
  /// none, and returns the reason; a store of several machines stays.
  ///
  /// - Parameter known: The reason for which the store takes nothing, if that is known.
  package mutating func replaceStore(
    of source: String, ifUnwritable: Bool, knowing known: SourceError?
  ) async -> SourceError? {
    guard let store, !store.isShared else { return nil }
    do throws(SourceError) {
      guard try await store.status(of: source).isEmpty, ifUnwritable else { return nil }
      if let known { throw known }
      _ = try await store.restore([], of: source)
      return nil
    } catch {
      guard error.code != .busy, let temporary = try? SQLiteStore.temporary() else { return nil }
      self.store = temporary
      return error
    }
  }

  /// Warns if nothing is cached, and deleted records are not known.
  package func warnIfNoStore(_ diagnostics: Diagnostics) {
    guard store == nil else { return }
    diagnostics.warning("caching is disabled: no directory for the store", hint: Self.remedy)
  }
}

extension SQLiteStore {
  /// Removed at the end of the run: a recording must include requests for records cached earlier,
  /// and a replay must not cache its records; throws `io`.
  static func temporary() throws(CommandError) -> SQLiteStore {
    let directory = try TemporaryDirectory()
    // The store locks its own directory, so that is another one.
    return SQLiteStore(at: "\(directory.path)/store/store.sqlite") { _ in
      // No other process uses the store, so there is no damage to report: the closure only keeps
      // the directory alive as long as the store.
      withExtendedLifetime(directory) {}
    }
  }
}
