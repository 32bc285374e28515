import Foundation

/// The source files of this package.
enum SourceTree {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../..").standardizedFileURL

  /// The text of a file, whose path is relative to the package.
  static func text(of path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The paths of the files in `Sources` with one of these endings.
  static func files(endingWith endings: String...) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: "Sources").path)
      .filter { path in endings.contains { path.hasSuffix($0) } }
      .map { "Sources/\($0)" }.sorted()
  }
}
