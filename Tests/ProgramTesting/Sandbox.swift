import Foundation
import Testing

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
  /// The rows of a query, as CSV, by the program `duckdb` in the working directory.
  func rows(of query: String, by program: String) throws -> String {
    let reading = Process()
    reading.executableURL = URL(filePath: program)
    reading.currentDirectoryURL = work
    reading.arguments = ["-init", "/dev/null", "-noheader", "-csv", "-c", query]
    let pipe = Pipe()
    reading.standardOutput = pipe
    try reading.run()
    let rows = try pipe.fileHandleForReading.readToEnd() ?? Data()
    reading.waitUntilExit()
    return String(decoding: rows, as: UTF8.self)
  }

  /// Replaces a file by an executable copy, which another program writes.
  ///
  /// Programs that other tests start meanwhile inherit, for a moment, what this process has open, and Linux does not
  /// execute a file that anyone may still write to (`ETXTBSY`).
  func makeExecutable(_ file: URL) throws {
    let text = file.appendingPathExtension("text")
    try FileManager.default.moveItem(at: file, to: text)
    let install = Process()
    install.executableURL = URL(filePath: "/usr/bin/install")
    install.arguments = ["-m", "755", text.path, file.path]
    try install.run()
    install.waitUntilExit()
    try #require(install.terminationStatus == 0)
    try FileManager.default.removeItem(at: text)
  }
}
