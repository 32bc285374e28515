import Foundation

/// The directories of a new user, removed with the last reference.
final class Sandbox: Sendable {
  /// The directory of `home`, `work` and files of the harness.
  let root: URL

  /// The home directory.
  var home: URL { root.appending(path: "home") }

  /// The working directory.
  var work: URL { root.appending(path: "work") }

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "aggregator-\(UUID().uuidString)")
    for directory in [home, work] {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  /// Writes a file such as `home/.config/aggregator/config.xcconfig`, and returns its URL.
  @discardableResult
  func write(_ text: String, to path: String) throws -> URL {
    let file = root.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    // Settings files that others can read cause a warning.
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    return file
  }

  func text(of path: String) throws -> String {
    String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
  }

  func permissions(of path: String) throws -> Int? {
    let file = root.appending(path: path)
    return try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
  }

  /// The files in a directory and below.
  func files(under path: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: path).path).sorted()
  }
}

extension Sandbox {
  func makeExecutable(_ file: URL) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
  }
}
