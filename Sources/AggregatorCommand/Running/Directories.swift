import AggregatorFiles
import AggregatorKit
import Foundation

/// Where the program keeps what it writes by itself; nothing is there before it is first written.
///
/// `AGGREGATOR_HOME` is the one directory of everything. Without it the directories are those of the
/// XDG Base Directory Specification, which also demands that a relative path be passed over.
///
/// Whoever writes there makes what is missing with ``PrivateFile/makeDirectory(_:)``: mode 0700.
struct Directories: Hashable, Sendable {
  /// The setting that names one directory for all.
  static let home = Setting(
    "AGGREGATOR_HOME", .directory,
    about: "one directory for all that the program keeps, instead of those of XDG")

  /// What took time to fetch: `store.sqlite`; an absolute path, `nil` where there is no place for it.
  let data: String?

  /// Where the store's file is, or would be; `nil` where there is no place for it.
  var storePath: String? { data.map { "\($0)/store.sqlite" } }

  /// Where a person stands: `positions/`.
  let state: String?

  /// What can be fetched again.
  let cache: String?

  /// The directories.
  ///
  /// - Parameters:
  ///   - settings: What is set.
  ///   - variables: The variables of the process.
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
    func directory(_ variable: String, _ standard: String) -> String? {
      if let path = variables[variable], path.hasPrefix("/") { return "\(path)/aggregator" }
      guard let home = variables["HOME"], home.hasPrefix("/") else { return nil }
      return "\(home)/\(standard)/aggregator"
    }
    data = directory("XDG_DATA_HOME", ".local/share")
    state = directory("XDG_STATE_HOME", ".local/state")
    cache = directory("XDG_CACHE_HOME", ".cache")
  }
}

extension PluginEnvironment {
  private static let remedy = Hint.words("set HOME, XDG_DATA_HOME or AGGREGATOR_HOME")

  /// The store, where there must be one.
  func requiredStore() throws(CommandError) -> any Store {
    guard let store else {
      throw CommandError(.io, "there is no place for a store", hint: Self.remedy)
    }
    return store
  }

  /// Says that what is read is not remembered, and that what was deleted is not known, if that is so.
  func warnIfNoStore(_ diagnostics: Diagnostics) {
    guard store == nil else { return }
    diagnostics.warning("nothing is remembered: there is no place for a store", hint: Self.remedy)
  }
}

extension SQLiteStore {
  /// A store for one run: empty at first, and gone with the run.
  ///
  /// A recording must not miss what an earlier run has stored, and a replay must not leave behind what it
  /// made up.
  ///
  /// - Returns: A store in a directory of its own.
  /// - Throws: ``CommandError`` with code `io` if there is no room for one.
  static func temporary() throws(CommandError) -> SQLiteStore {
    let directory = try TemporaryDirectory()
    return SQLiteStore(at: "\(directory.path)/store.sqlite") { _ in
      // Nobody writes there but this run, so there is nothing to report: what counts is that the store
      // holds the directory.
      withExtendedLifetime(directory) {}
    }
  }
}

/// A directory that only this process uses; it is removed when nobody holds it any more.
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
