package import AggregatorCore
import AggregatorFoundation
import AggregatorText
import CAggregatorServer
import Synchronization

/// An HTTP/1.1 server on an address of this machine (RFC 9112), without TLS.
///
/// Requests are answered in tasks of their own. A task is cancelled if its client leaves.
package final class HTTPServer: Sendable {
  package typealias Handler = @Sendable (ServerRequest) async -> ServerResponse

  package struct Responder: Sendable {
    let respond: Handler
    let refuse: @Sendable (RequestRefusal, ServerRequest) -> ServerResponse

    /// - Parameter refuse: Returns the response to a request that is refused before `respond` sees it. It is called on
    ///   the thread of the server; of the request only the method, the client and the header fields are known. The
    ///   default is plain text.
    package init(
      respond: @escaping Handler,
      refuse: @escaping @Sendable (RequestRefusal, ServerRequest) -> ServerResponse = {
        refusal, _ in refusal.response
      }
    ) {
      self.respond = respond
      self.refuse = refuse
    }
  }

  package let address: String

  package let port: Int

  private let table: ConnectionTable
  private let daemon: cserver_daemon
  private let isStopped = Atomic(false)

  package static var isAvailable: Bool { (try? Libmicrohttpd.load(Libmicrohttpd.names)) != nil }

  /// Listens on a numeric address, or `localhost`, which is `127.0.0.1`; the port 0 is a free one.
  ///
  /// - Throws: ``SourceError`` with code `storage` if the port is in use or libmicrohttpd is not installed,
  ///   `invalidSettings` for an address or port that is invalid.
  package init(
    on address: String, port: Int, limits: ServerLimits = .standard,
    libraries: [String]? = nil, _ responder: Responder
  ) throws(SourceError) {
    try Libmicrohttpd.load(libraries ?? Libmicrohttpd.names)
    self.address = address == "localhost" ? "127.0.0.1" : address
    var boundPort: Int32 = 0
    let listener = try Self.listener(self.address, port, &boundPort)
    self.port = Int(boundPort)
    table = ConnectionTable(limits, responder)
    var callbacks = cserver_callbacks(owner: table)
    daemon = cserver_start(
      listener, limits.memory, UInt32(limits.sockets), &callbacks)
    guard daemon != 0 else {
      cserver_close(listener)
      throw SourceError(.storage, "cannot start the server")
    }
    SystemThread.start { [table] in table.run() }
  }

  deinit {
    guard !isStopped.load(ordering: .relaxed) else { return }
    Task.detached { [table, daemon] in await Self.stop(table, daemon, within: .zero) }
  }

  /// Accepts no more connections, ends event streams, lets other requests finish in a time, and then closes all
  /// connections.
  package func stop(within time: Duration) async {
    guard !isStopped.exchange(true, ordering: .relaxed) else { return }
    await Self.stop(table, daemon, within: time)
  }

  private static func stop(
    _ table: ConnectionTable, _ daemon: cserver_daemon, within time: Duration
  ) async {
    cserver_quiesce(daemon)
    await table.drain(within: time)
    await withCheckedContinuation { continuation in
      SystemThread.start {
        cserver_stop(daemon)  // its thread uses the table until here
        withExtendedLifetime(table) {}
        continuation.resume()
      }
    }
  }

  private static func listener(
    _ address: String, _ port: Int, _ boundPort: inout Int32
  ) throws(SourceError) -> Int32 {
    guard 0...65535 ~= port else {
      throw SourceError(.invalidSettings, "invalid port \(port): must be from 0 to 65535")
    }
    let listener = cserver_listen(address, Int32(port), &boundPort)
    if listener >= 0 { return listener }
    switch errno {
    case EINVAL:
      throw SourceError(
        .invalidSettings, "invalid address \"\(address.oneLine(atMost: 80))\"",
        remedy: "use a numeric address, or localhost")
    case EADDRINUSE:
      throw SourceError(.storage, "port \(port) is in use", remedy: "choose another port")
    case EACCES:
      throw SourceError(
        .storage, "port \(port) needs more permissions", remedy: "choose a port from 1024 on")
    case EADDRNOTAVAIL:
      throw SourceError(
        .invalidSettings, "\(address) is not an address of this machine",
        remedy: "use one of its addresses, or localhost")
    case let error:
      throw SourceError(
        .storage, "cannot listen on \(address):\(port): \(String(cString: strerror(error)))")
    }
  }
}

/// The library that speaks HTTP, loaded at run time.
enum Libmicrohttpd {
  static let names =
    ["libmicrohttpd.so.12"]
    + ["", "/opt/homebrew/lib/", "/usr/local/lib/"].map { "\($0)libmicrohttpd.dylib" }

  /// - Throws: ``SourceError`` with code `storage` if it is missing or too old.
  static func load(_ names: [String]) throws(SourceError) {
    guard names.contains(where: { cserver_load($0) }) else {
      throw SourceError(
        .storage, "libmicrohttpd 0.9.70 or later is not installed",
        remedy: "run \"apt-get install libmicrohttpd12\"")
    }
  }
}

extension cserver_callbacks {
  init(owner: ConnectionTable) {
    self.init(
      owner: Unmanaged.passUnretained(owner).toOpaque(),
      opened: { owner, handle, socket, address in
        guard let owner, let address else { return nil }
        let table = Unmanaged<ConnectionTable>.fromOpaque(owner).takeUnretainedValue()
        let connection = table.open(handle, socket, String(cString: address))
        return Unmanaged.passRetained(connection).toOpaque()
      },
      closed: { context in
        guard let context else { return }
        Unmanaged<ServerConnection>.fromOpaque(context).takeRetainedValue().close()
      },
      began: { context, target in
        guard let target else { return }
        ServerConnection.at(context)?.begin(String(cString: target))
      },
      field: { context, name, nameCount, value, valueCount in
        guard let name = String(name, nameCount), let value = String(value, valueCount) else {
          return
        }
        // White space around a value is no part of it (RFC 9110, section 5.5).
        ServerConnection.at(context)?.receive(field: .init(name, value.trimmed))
      },
      head: { context, method, count in
        guard let method else { return false }
        return ServerConnection.at(context)?.receiveHead(String(cString: method), count) ?? false
      },
      body: { context, bytes, count in
        ServerConnection.at(context)?
          .receive(body: UnsafeRawBufferPointer(start: bytes, count: count)) ?? false
      },
      complete: { ServerConnection.at($0)?.complete() ?? false },
      finished: { ServerConnection.at($0)?.finish() })
  }
}

extension ServerConnection {
  fileprivate static func at(_ context: UnsafeMutableRawPointer?) -> ServerConnection? {
    context.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }
}

extension String {
  /// Text of a header field, with replacement characters for invalid UTF-8.
  fileprivate init?(_ start: UnsafePointer<CChar>?, _ count: Int) {
    guard let start else { return nil }
    self.init(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
