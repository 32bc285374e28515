import AggregatorKit
import CAggregatorSQLite
import CountriesSource
import Foundation
import HeroesSource
import ProductsSource
import UsersSource

/// A store filled by all four sources.
final class StoreSample: Sendable {
  let bytes: Data

  /// Unstructured, because a static value cannot wait; it ends by itself.
  static let shared = Task { try await StoreSample() }

  static let plugins: [any Plugin] = [
    CountriesPlugin(), HeroesPlugin(), ProductsPlugin(), UsersPlugin(),
  ]

  private init() async throws {
    let directory = try ScratchDirectory()
    do {
      let store = SQLiteStore(at: directory.path)
      for plugin in Self.plugins { try await Self.fill(store, by: plugin) }
      _ = try await store.delete(["1253", "FR"], of: "heroes", at: Date(timeIntervalSince1970: 9))
    }
    try Database(directory.path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    bytes = try Data(contentsOf: URL(filePath: directory.path))
  }

  private static func fill(_ store: SQLiteStore, by plugin: some Plugin) async throws {
    let environment = environment(of: plugin, store)
    let syncing = try plugin.sync(into: store, in: environment)
    _ = await syncing.run(upTo: 1, jobs: 1, waits: false) { _ in }
    let source = try plugin.source(in: environment)
    let page = try await source.page(PageRequest(limit: 3))
    _ = try? await source.page(PageRequest(after: page.next, limit: 3))
    _ = try? await source.page(PageRequest(matching: SearchQuery("a"), limit: 3))
  }

  /// An environment in which the service replies with a recorded body.
  static func environment(of plugin: some Plugin, _ store: SQLiteStore) -> PluginEnvironment {
    let name = plugin.name.capitalized
    let reply = Samples.replies(name).max { $0.count < $1.count } ?? []
    var environment = PluginEnvironment.fuzzing(
      CannedTransport(reply: HTTPResponse(status: 200, body: Data(reply))), store: store)
    environment.settings = SourceSettings([
      "COMIC_VINE_API_KEY": "0123456789abcdef", "RANDOM_USER_SEED": "aggregator",
      "RANDOM_USER_PAGE_SIZE": "10",
    ])
    // Never really waits.
    environment.clock = ReplayClock()
    return environment
  }
}

/// A temporary directory, deleted on deinitialisation.
final class ScratchDirectory: Sendable {
  private let root: String

  var path: String { "\(root)/store.sqlite" }

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "fuzz-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    root = url.resolvingSymlinksInPath().path
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }
}

/// A connection to an SQLite file, without the store's safeguards.
struct Database: ~Copyable {
  private let handle: OpaquePointer

  init(_ path: String) throws {
    var opened: OpaquePointer?
    guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let opened else {
      throw BrokenInvariant("\(path) cannot be opened")
    }
    handle = opened
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs statements separated by semicolons, ignoring errors.
  func execute(_ sql: String) { sqlite3_exec(handle, sql, nil, nil, nil) }
}
