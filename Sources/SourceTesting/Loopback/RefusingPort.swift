public import AggregatorKit
public import Foundation

/// A port of 127.0.0.1 that refuses connections, for as long as this object lives.
///
/// The port is taken but nobody listens, so that no other process can make the test succeed.
public final class RefusingPort: Sendable {
  /// The port.
  public let port: Int

  private let socket: LoopbackSocket

  /// Takes a port.
  ///
  /// - Throws: `SourceError` with code `unreachable` if the system gives no socket.
  public init() throws(SourceError) {
    socket = try LoopbackSocket.bound()
    port = socket.port
  }

  /// The address, without a path: `http://127.0.0.1:PORT`.
  public var baseURL: URL { .loopback(port: port) }
}

extension URL {
  /// `http://127.0.0.1:PORT`.
  static func loopback(port: Int) -> URL {
    var parts = URLComponents()
    (parts.scheme, parts.host, parts.port) = ("http", "127.0.0.1", port)
    return parts.url ?? URL(filePath: "/")  // never nil: these parts are an address
  }
}
