import Foundation

/// The directories of a person who has nothing yet, removed when nobody holds them any more.
final class Sandbox: Sendable {
  /// Where `home`, `work` and what the harness needs are.
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

  /// Writes a file such as `home/.config/aggregator/config.xcconfig`.
  ///
  /// - Returns: Where it is.
  @discardableResult
  func write(_ text: String, to path: String) throws -> URL {
    let file = root.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    // A file of settings that others can read would be warned about.
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    return file
  }

  /// The text of a file.
  func text(of path: String) throws -> String {
    String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
  }

  /// The permissions of a file or directory.
  func permissions(of path: String) throws -> Int? {
    let file = root.appending(path: path)
    return try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
  }

  /// What is in a directory, and under it.
  func files(under path: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: path).path).sorted()
  }
}

extension Sandbox {
  /// Lets a file be run.
  func makeExecutable(_ file: URL) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
  }
}
