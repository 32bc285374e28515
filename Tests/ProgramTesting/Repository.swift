import Foundation

/// The files of this package.
enum Repository {
  /// The package's root directory.
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../..").standardizedFileURL

  static func text(of path: String) throws -> String {
    String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
  }

  /// The Swift files under a directory, as paths from the root.
  static func swiftFiles(under directory: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: directory).path)
      .filter { $0.hasSuffix(".swift") }.map { "\(directory)/\($0)" }.sorted()
  }

  /// A program of the tests or of this machine; `nil` if it is not installed.
  static func program(named name: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders =
      [root.appending(path: ".build/python/bin").path] + path.split(separator: ":").map(String.init)
    return folders.map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
