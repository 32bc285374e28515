import AggregatorCore
import CAggregatorServer

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
  /// The callbacks that forward to a ``ConnectionTable`` and its connections.
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
        ServerConnection.at(context)?.receive(field: .init(name, value))
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
