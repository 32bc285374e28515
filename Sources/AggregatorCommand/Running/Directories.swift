import AggregatorFiles
import AggregatorKit
import Foundation

/// The directories for data, created by ``PrivateFile/makeDirectory(_:)`` on first write: 0700.
///
/// `AGGREGATOR_HOME` replaces them all; the default is the XDG Base Directory Specification, which
/// also demands that relative paths be ignored.
struct Directories: Hashable, Sendable {
  static let home = Setting(
    "AGGREGATOR_HOME", .directory,
    about: "directory for all program data, instead of the XDG directories")

  /// For `store.sqlite`; an absolute path, `nil` if unknown.
  let data: String?
  var storePath: String? { data.map { "\($0)/store.sqlite" } }
  /// For `positions/`; `nil` if unknown.
  let state: String?
  /// For data that can be fetched again; `nil` if unknown.
  let cache: String?

  /// - Throws: ``CommandError`` with code `settings` if `AGGREGATOR_HOME` is a relative path.
  init(_ settings: Settings, variables: [String: String]) throws(CommandError) {
    do throws(SourceError) {
      if let home = try settings.directory(Self.home) {
        (data, state, cache) = (home, home, "\(home)/cache")
        return
      }
    } catch {
      throw CommandError(error)
    }
    func directory(_ variable: String, _ defaultPath: String) -> String? {
      if let path = variables[variable], path.hasPrefix("/") { return "\(path)/aggregator" }
      guard let home = variables["HOME"], home.hasPrefix("/") else { return nil }
      return "\(home)/\(defaultPath)/aggregator"
    }
    data = directory("XDG_DATA_HOME", ".local/share")
    state = directory("XDG_STATE_HOME", ".local/state")
    cache = directory("XDG_CACHE_HOME", ".cache")
  }
}

extension PluginEnvironment {
  private static let remedy = Hint.words("set HOME, XDG_DATA_HOME or AGGREGATOR_HOME")

  func requiredStore() throws(CommandError) -> any Store {
    guard let store else {
      throw CommandError(.io, "no directory for the store", hint: Self.remedy)
    }
    return store
  }

  /// Warns if nothing is cached, and deleted records are not known.
  func warnIfNoStore(_ diagnostics: Diagnostics) {
    guard store == nil else { return }
    diagnostics.warning("caching is disabled: no directory for the store", hint: Self.remedy)
  }
}

extension SQLiteStore {
  /// Removed at the end of the run: a recording must include requests for records cached earlier,
  /// and a replay must not cache its records; throws `io`.
  static func temporary() throws(CommandError) -> SQLiteStore {
    let directory = try TemporaryDirectory()
    return SQLiteStore(at: "\(directory.path)/store.sqlite") { _ in
      // No other process uses the store, so there is no damage to report: the closure only keeps
      // the directory alive as long as the store.
      withExtendedLifetime(directory) {}
    }
  }
}

private final class TemporaryDirectory: Sendable {
  let path: String

  init() throws(CommandError) {
    let parent = FileManager.default.temporaryDirectory.path
    path = "\(parent)/aggregator-\(UInt64.random(in: .min ... .max))"
    do { try PrivateFile.makeDirectory(path) } catch { throw CommandError(error) }
    Interruption.atEnd { [path] in try? FileManager.default.removeItem(atPath: path) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
