import AggregatorFiles
package import AggregatorKit

/// The lines that were typed at a prompt, in a private file.
package struct LineHistory {
  /// The file of statements in SQL, which the console and `browse` share.
  package static let sql = "sql_history"

  private static let maxLines = 1000
  private static let maxLineSize = 256 << 10
  private static let maxSize = 8 << 20

  /// The newest line comes last.
  package private(set) var lines: [String] = []

  /// `nil` if there is no directory for it.
  private let file: PrivateFile?

  /// Throws `storage` if the file cannot be read.
  package init(named name: String, in directory: String?) throws(SourceError) {
    file = directory.map { PrivateFile(path: "\($0)/\(name)") }
    lines = Self.lines(in: try file?.contents(atMost: Self.maxSize) ?? [])
  }

  /// Saves a line, unless it repeats the last one; throws `storage` or `busy`.
  ///
  /// - Parameter beginning: The beginning of earlier lines in whose place it is.
  package mutating func add(
    _ line: String, replacing beginning: String? = nil
  ) throws(SourceError) {
    guard line.nonBlank != nil, line.utf8.count <= Self.maxLineSize, line != lines.last else {
      return
    }
    lines.append(line)
    // Other processes may have added lines.
    try file?.replace(atMost: Self.maxSize) { contents in
      let earlier = Self.lines(in: contents)
        .filter { line in beginning.map { !line.hasPrefix($0) } ?? true }
      // The newest for which there is room.
      var room = Self.maxSize
      let kept = (earlier + [line]).suffix(Self.maxLines).reversed().prefix {
        room -= $0.utf8.count + 1
        return room >= 0
      }
      return Array(kept.reversed().map { "\($0)\n" }.joined().utf8)
    }
  }

  /// Control characters could be obeyed by the terminal.
  private static func lines(in contents: [UInt8]) -> [String] {
    String(decoding: contents, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter { line in !line.unicodeScalars.contains { $0.properties.generalCategory == .control }
      }
  }
}
