import Core
import Foundation

/// One socket.
///
/// Moved, never copied; closed when it goes away.
struct LoopbackSocket: ~Copyable {
  let descriptor: Int32

  private init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// A socket on a free port of 127.0.0.1 to which nobody can connect yet.
  static func bound() throws(SourceError) -> LoopbackSocket {
    #if canImport(Darwin)
      let descriptor = Darwin.socket(AF_INET, SOCK_STREAM, 0)
    #else
      let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    guard descriptor >= 0 else { throw .noSocket }
    let socket = LoopbackSocket(owning: descriptor)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    guard result == 0 else { throw .noSocket }
    return socket
  }

  /// A socket to which clients connect.
  static func listening() throws(SourceError) -> LoopbackSocket {
    let socket = try bound()
    socket.setNonBlocking()
    guard listen(socket.descriptor, 512) == 0 else { throw .noSocket }
    return socket
  }

  var port: Int {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// The next client; `nil` if it has gone again.
  borrowing func accepted() -> LoopbackSocket? {
    let client = accept(descriptor, nil, nil)
    guard client >= 0 else { return nil }
    let socket = LoopbackSocket(owning: client)
    socket.setNonBlocking()
    // Small pieces are sent at once: a test that drips bytes means it.
    var on: Int32 = 1
    setsockopt(client, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    #if canImport(Darwin)
      setsockopt(client, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
    return socket
  }

  /// Makes the close that follows a reset.
  borrowing func resetAtClose() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
  }

  private borrowing func setNonBlocking() {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  /// Accepts clients on a thread of its own until the bell rings.
  consuming func serve(
    until bell: LoopbackBell, recordingIn ledger: LoopbackLedger,
    _ handler: @escaping LoopbackServer.Handler
  ) {
    let descriptor = release()
    Thread.detachNewThread {
      let listener = LoopbackSocket(owning: descriptor)
      while bell.wait(for: listener.descriptor, POLLIN) != nil {
        guard let client = listener.accepted()?.release() else { continue }
        ledger.noteConnection()
        Thread.detachNewThread {
          var connection = LoopbackConnection(LoopbackSocket(owning: client), bell)
          connection.serve(recordingIn: ledger, handler)
        }
      }
    }
  }

  /// Hands the descriptor over, unclosed, because a closure cannot consume what it captured.
  private consuming func release() -> Int32 {
    let descriptor = descriptor
    discard self
    return descriptor
  }
}
