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
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return ([root.appending(path: ".build/python/bin").path] + folders.map(String.init))
      .map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
