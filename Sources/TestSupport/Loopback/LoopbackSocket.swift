public import AggregatorKit
import Foundation

/// A socket, closed when its owner ends.
package struct LoopbackSocket: ~Copyable {
  package let descriptor: Int32

  init(owning descriptor: Int32) {
    self.descriptor = descriptor
    // A process that a test starts would keep it open.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(descriptor) }

  /// A socket on a port of 127.0.0.1, by default a free one, that does not listen.
  static func bound(to port: Int = 0) throws(SourceError) -> LoopbackSocket {
    let socket = try LoopbackSocket()
    socket.sharePort()
    guard withLoopback(port: port, { bind(socket.descriptor, $0, $1) }) == 0 else {
      throw .noSocket
    }
    return socket
  }

  /// `port` is that of another socket, which this one keeps, or 0 for any; throws `unreachable`.
  package static func listening(
    on port: Int = 0, queue: Int32 = 512
  ) throws(SourceError) -> LoopbackSocket {
    let socket = try bound(to: port)
    guard listen(socket.descriptor, queue) == 0 else { throw .noSocket }
    return socket
  }

  package static func connecting(to port: Int) throws(SourceError) -> LoopbackSocket {
    let socket = try LoopbackSocket()
    let result = withLoopback(port: port) { connect(socket.descriptor, $0, $1) }
    guard result == 0 || errno == EINPROGRESS else { throw .noSocket }
    return socket
  }

  /// A new non-blocking socket.
  private init() throws(SourceError) {
    let descriptor = socket(AF_INET, SocketConstants.stream, 0)
    guard descriptor >= 0 else { throw .noSocket }
    self.init(owning: descriptor)
    setNonBlocking()
  }

  private static func withLoopback(
    port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  package var port: Int {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// The next client; `nil` if it has disconnected.
  package borrowing func accepted() -> LoopbackSocket? {
    let client = accept(descriptor, nil, nil)
    guard client >= 0 else { return nil }
    let socket = LoopbackSocket(owning: client)
    socket.setNonBlocking()
    // Send small pieces at once: a test that drips bytes relies on it.
    var on: Int32 = 1
    setsockopt(client, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    if let option = SocketConstants.noSignalOption {
      setsockopt(client, SOL_SOCKET, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }
    return socket
  }

  /// Makes the following close send RST.
  borrowing func resetAtClose() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
  }

  /// Lets a second socket of this process use the same port, which no other process gets.
  private borrowing func sharePort() {
    var on: Int32 = 1
    let option = SocketConstants.sharesPort
    setsockopt(descriptor, SOL_SOCKET, option, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  private borrowing func setNonBlocking() {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  /// Accepts clients until the server stops, then closes.
  consuming func acceptClients(
    until shutdownSignal: ShutdownSignal, _ requestLog: Watched<RequestLog>,
    _ handler: @escaping LoopbackServer.Handler
  ) {
    while shutdownSignal.wait(for: descriptor, POLLIN) != nil {
      guard let client = accepted()?.release() else { continue }
      requestLog.change { $0.connections += 1 }
      Thread.detachNewThread {
        var connection = LoopbackConnection(
          socket: LoopbackSocket(owning: client), shutdownSignal: shutdownSignal,
          requestLog: requestLog)
        connection.serve(handler)
      }
    }
    // A process may have inherited it even so, and closing it here would not end it.
    _ = shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// Releases the descriptor unclosed: a closure cannot consume what it captured, nor can an array
  /// hold it.
  consuming func release() -> Int32 {
    let descriptor = descriptor
    discard self
    return descriptor
  }
}

/// A port of 127.0.0.1 that refuses connections while this object lives.
///
/// The port is taken but nothing listens, so no other process can listen on it.
public final class RefusingPort: Sendable {
  public let port: Int

  private let socket: LoopbackSocket

  /// - Throws: `SourceError` with code `unreachable` if there is no free socket.
  public init() throws(SourceError) {
    socket = try LoopbackSocket.bound()
    port = socket.port
  }

  public var baseURL: URL { .loopback(port: port) }
}

extension URL {
  static func loopback(port: Int) -> URL {
    var parts = URLComponents()
    (parts.scheme, parts.host, parts.port) = ("http", "127.0.0.1", port)
    return parts.url ?? URL(filePath: "/")  // never nil: these parts are an address
  }
}

/// A port of 127.0.0.1 on which connections neither succeed nor fail while this object lives.
///
/// Its backlog is full, so the system leaves further connections unanswered.
public final class UnansweringPort: Sendable {
  public let port: Int

  private let socket: LoopbackSocket
  private let queue: [Int32]

  /// - Throws: `SourceError` with code `unreachable` if there is no free socket.
  public init() throws(SourceError) {
    socket = try LoopbackSocket.listening(queue: 0)
    port = socket.port
    var queue: [Int32] = []
    for _ in 0..<8 { queue.append(try LoopbackSocket.connecting(to: port).release()) }
    self.queue = queue
  }

  deinit { for descriptor in queue { close(descriptor) } }

  public var baseURL: URL { .loopback(port: port) }
}

/// Constants of the socket interface that differ between systems, in value or in type.
enum SocketConstants {
  #if canImport(Darwin)
    static let stream = SOCK_STREAM
    /// Lets a second socket of the process use a port.
    static let sharesPort = SO_REUSEPORT
    /// Makes `send` to a peer that has left an error instead of a signal: an option of the socket here.
    static let noSignalOption: Int32? = SO_NOSIGPIPE
    static let sendFlags: Int32 = 0
  #else
    static let stream = Int32(SOCK_STREAM.rawValue)
    static let sharesPort = SO_REUSEADDR
    static let noSignalOption: Int32? = nil
    static let sendFlags = Int32(MSG_NOSIGNAL)
  #endif
}
