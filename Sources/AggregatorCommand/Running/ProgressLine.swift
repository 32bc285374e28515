import AggregatorKit
import Foundation
import Synchronization

/// The line at the bottom of the terminal that says how far a run has come.
///
/// There is one terminal, so there is one line. Whatever else is written takes it away first.
enum ProgressLine {
  private static let isShown = Mutex(false)
  /// Whether it is not to be shown any more.
  private static let isClosed = Mutex(false)
  private static let erasure = "\r\u{1B}[K"

  /// Shows a line in the place of the one before.
  ///
  /// Nothing happens while something else is being written, or if the task was cancelled.
  ///
  /// - Parameters:
  ///   - text: What it says.
  ///   - width: How many cells the terminal has.
  static func show(_ text: String, width: Int) {
    // The last cell stays free: some terminals break the line there.
    let line = text.safeLine.fitted(to: width - 1)
    isShown.withLockIfAvailable { isShown in
      guard !Task.isCancelled, !isClosed.withLock(\.self) else { return }
      write("\r\(line)\u{1B}[K")
      isShown = true
    }
  }

  /// Takes the line away, unless something else is being written, which has done so.
  static func erase() {
    isShown.withLockIfAvailable { erase(&$0) }
  }

  /// Takes the line away for good.
  static func close() {
    isClosed.withLock { $0 = true }
    isShown.withLock { erase(&$0) }
  }

  /// Writes something else, with the line out of the way.
  static func aside<Failure>(_ body: () throws(Failure) -> Void) throws(Failure) {
    try isShown.withLock { isShown throws(Failure) in
      erase(&isShown)
      try body()
    }
  }

  private static func erase(_ isShown: inout Bool) {
    guard isShown else { return }
    write(erasure)
    isShown = false
  }

  /// Nobody is left to be told that standard error is closed.
  private static func write(_ text: String) {
    _ = text.utf8.withContiguousStorageIfAvailable {
      Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count)
    }
  }
}
