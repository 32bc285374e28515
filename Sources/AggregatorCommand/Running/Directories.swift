import AggregatorKit

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
