import Foundation
import Synchronization
import Testing

/// A pipe between this process and the program.
final class ProgramPipe: Sendable {
  let readEnd: Int32
  let writeEnd: Int32
  private let open: Mutex<Set<Int32>>

  private static let making = Mutex(())

  /// Runs `body` while no pipe is created, such as to start a program that inherits none.
  static func whileNoneIsMade<Result>(_ body: () throws -> Result) rethrows -> Result {
    try making.withLock { _ in try body() }
  }

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard Self.whileNoneIsMade({ pipe(&ends) }) == 0 else { throw POSIXError(.EMFILE) }
    (readEnd, writeEnd) = (ends[0], ends[1])
    open = Mutex(Set(ends))
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// Closes one end.
  func close(_ end: Int32) {
    open.withLock { open in
      if open.remove(end) != nil { _ = Foundation.close(end) }
    }
  }

  /// Reads until the text so far contains some words.
  func text(until words: String) async throws -> String {
    var text = ""
    while !text.contains(words) {
      let bytes = await firstBytes(atMost: 4096)
      try #require(!bytes.isEmpty, "\(text)")
      text += String(decoding: bytes, as: UTF8.self)
    }
    return text
  }

  /// Waits on a thread of its own for input, and reads some of it.
  ///
  /// - Returns: Nothing if the program ended without output.
  func firstBytes(atMost count: Int = 1) async -> [UInt8] {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = read(self.readEnd, &bytes, count)
        continuation.resume(returning: Array(bytes.prefix(max(0, length))))
      }
    }
  }
}
