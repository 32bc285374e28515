import AggregatorFoundation
import CAggregatorPostgres
import Dispatch

/// A request to the server to stop what it does for a connection, from any thread.
final class PostgresCancellation: Sendable {
  // libpq: "PQcancel can safely be invoked from a signal handler", and the request never changes.
  nonisolated(unsafe) private let request: OpaquePointer

  init(_ request: OpaquePointer) { self.request = request }

  deinit { cpq_free_cancel(request) }

  /// Sends the request, and waits until the server has it.
  func send() { _ = cpq_cancel_now(request) }

  /// Sends the request, and waits for at most 2 s until the server has it.
  func sendBriefly() {
    let isSent = DispatchSemaphore(value: 0)
    SystemThread.start { [self] in
      send()
      isSent.signal()
    }
    _ = isSent.wait(timeout: .now() + 2)
  }
}
