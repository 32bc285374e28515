import AggregatorKit
import Foundation
import Synchronization

/// Tells all threads of a server at once that it is over: a pipe whose write end is closed.
final class ShutdownSignal: Sendable {
  /// Readable from ``ring()`` on.
  let descriptor: Int32
  private let writeEnd: Mutex<Int32?>

  init() throws(SourceError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw .noSocket }
    descriptor = ends[0]
    writeEnd = Mutex(ends[1])
  }

  deinit {
    ring()
    close(descriptor)
  }

  /// Ends everything.
  ///
  /// Does nothing the second time.
  func ring() {
    writeEnd.withLock { end in
      if let end { close(end) }
      end = nil
    }
  }

  /// Waits until something can be done with a socket.
  ///
  /// - Parameters:
  ///   - socket: What to wait for; -1 for nothing.
  ///   - events: `POLLIN` or `POLLOUT`; 0 only waits for the client to leave.
  ///   - time: How long to wait at most; `nil` for ever.
  /// - Returns: `true` if it can be done, `false` if the time is up, `nil` if it is over.
  func wait(for socket: Int32, _ events: Int32, atMost time: Duration? = nil) -> Bool? {
    let deadline = time.map { ContinuousClock.now + $0 }
    while true {
      var polled = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: socket, events: Int16(events), revents: 0),
      ]
      let left = deadline.map { max(.zero, $0 - .now) / Duration.milliseconds(1) }
      let count = poll(&polled, 2, left.map { Int32($0.rounded(.up)) } ?? -1)
      if count < 0, errno == EINTR { continue }
      if count < 0 || polled[0].revents != 0 { return nil }
      return count > 0
    }
  }
}

extension SourceError {
  /// What went wrong with the last call of the system.
  static var noSocket: SourceError {
    SourceError(.unreachable, "no socket for the test server: \(String(cString: strerror(errno)))")
  }
}
