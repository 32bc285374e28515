public import AggregatorKit
public import Foundation

/// A port of 127.0.0.1 on which connections neither succeed nor fail, for as long as this object lives.
///
/// Somebody listens, but the queue of those who want to connect is full, and so the system leaves
/// everybody else without an answer.
public final class UnansweringPort: Sendable {
  /// The port.
  public let port: Int

  private let socket: LoopbackSocket
  private let queue: [Int32]

  /// Takes a port and fills its queue.
  ///
  /// - Throws: `SourceError` with code `unreachable` if the system gives no socket.
  public init() throws(SourceError) {
    socket = try LoopbackSocket.listening(queue: 0)
    port = socket.port
    var queue: [Int32] = []
    for _ in 0..<8 { queue.append(try LoopbackSocket.connecting(to: port).release()) }
    self.queue = queue
  }

  deinit { for descriptor in queue { close(descriptor) } }

  /// The address, without a path: `http://127.0.0.1:PORT`.
  public var baseURL: URL { .loopback(port: port) }
}
