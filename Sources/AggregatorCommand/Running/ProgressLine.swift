import Core
import Foundation
import Synchronization

/// A line at the end of a terminal that says how far a long run has come, and is erased at its end.
final class ProgressLine: Sendable {
  private let output = Output(descriptor: STDERR_FILENO)
  private let width: Int
  private let words: @Sendable () -> String
  private let isShown = Mutex(false)

  /// Before this nothing is shown: most runs are over by then.
  private static let delay = Duration.milliseconds(300)
  private static let interval = Duration.milliseconds(100)

  /// A line.
  ///
  /// - Parameters:
  ///   - terminal: Where it is shown.
  ///   - words: What it says now.
  init(on terminal: Terminal, _ words: @escaping @Sendable () -> String) {
    width = terminal.width
    self.words = words
  }

  /// Shows the line while something is done.
  func during<Value: Sendable>(_ body: () async -> Value) async -> Value {
    // Not structured, because it goes on until `body`, which is not to be moved to a task, is done.
    let drawing = Task {
      var pause = Self.delay
      while (try? await Task.sleep(for: pause)) != nil {
        draw()
        pause = Self.interval
      }
    }
    let value = await body()
    drawing.cancel()
    await drawing.value
    erase()
    return value
  }

  /// Takes the line away.
  func erase() {
    isShown.withLock { isShown in
      guard isShown else { return }
      isShown = false
      try? output.write("\r\u{1B}[K")
    }
  }

  private func draw() {
    // The last cell stays free: some terminals break the line there.
    let line = words().safeLine.fitted(to: width - 1)
    isShown.withLock { isShown in
      isShown = true
      try? output.write("\r\(line)\u{1B}[K")
    }
  }
}
