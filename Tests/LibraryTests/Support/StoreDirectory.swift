import AggregatorKit
import Foundation
import Synchronization

/// A directory of its own for one test's stores; it goes away with the test.
final class StoreDirectory: Sendable {
  /// Without symbolic links.
  let root: String

  private let log = Mutex<[Warning]>([])

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    root = url.resolvingSymlinksInPath().path
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  /// Where the store's file is, or will be.
  var path: String { "\(root)/state/store.sqlite" }

  /// What the stores have reported.
  var warnings: [Warning] { log.withLock { $0 } }

  /// What lies beside the store's file, itself included.
  var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/state").sorted()) ?? []
  }

  /// A store; two of them stand for two processes.
  func store(at path: String? = nil, busyTimeout: Duration = .seconds(5)) -> SQLiteStore {
    SQLiteStore(at: path ?? self.path, busyTimeout: busyTimeout) { [self] warning in
      log.withLock { $0.append(warning) }
    }
  }

  /// A connection past the store, to look at its file or to spoil it.
  func database() throws -> RawDatabase { try RawDatabase(path) }

  /// Writes a file in the store's place.
  func write(_ bytes: some Sequence<UInt8>) throws {
    try FileManager.default.createDirectory(
      atPath: "\(root)/state", withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(filePath: path))
  }

  /// The bytes of a file beside the store's.
  func bytes(_ name: String = "store.sqlite") throws -> Data {
    try Data(contentsOf: URL(filePath: "\(root)/state/\(name)"))
  }

  func mode(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}
