import Foundation

/// Reads a query from standard input.
enum SQLInput {
  /// More than SQLite takes, so that it is the one to refuse.
  private static let mostBytes = 200_000

  /// Reads all of it.
  ///
  /// - Returns: The text.
  /// - Throws: ``CommandError`` with code `io`.
  static func read() throws(CommandError) -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count < mostBytes {
      let count = Foundation.read(STDIN_FILENO, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw CommandError(.io, "cannot read standard input: \(String(cString: strerror(errno)))")
      }
      guard count > 0 else { break }
      bytes += chunk.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
