import AggregatorCore
import AggregatorServer

extension HTTPServer {
  /// A server whose refusals are plain text.
  convenience init(
    on address: String, port: Int, limits: ServerLimits = .longTimeouts, libraries: [String]? = nil,
    _ handler: @escaping Handler
  ) throws(SourceError) {
    try self.init(
      on: address, port: port, limits: limits, libraries: libraries, Responder(respond: handler))
  }
}

extension ServerLimits {
  /// The standard ones but for the timeouts, which a busy machine would exceed.
  static var longTimeouts: ServerLimits {
    var limits = ServerLimits.standard
    (limits.request, limits.idle, limits.response) = (.seconds(600), .seconds(600), .seconds(600))
    return limits
  }
}

/// Runs `body` with a server on a free port of 127.0.0.1 and stops it afterwards.
func withHTTPServer<Value: Sendable>(
  limits: ServerLimits = .longTimeouts, _ handler: @escaping HTTPServer.Handler,
  do body: (HTTPServer) async throws -> Value
) async throws -> Value {
  try await withHTTPServer(limits: limits, HTTPServer.Responder(respond: handler), do: body)
}

func withHTTPServer<Value: Sendable>(
  limits: ServerLimits = .longTimeouts, _ responder: HTTPServer.Responder,
  do body: (HTTPServer) async throws -> Value
) async throws -> Value {
  let server = try HTTPServer(on: "127.0.0.1", port: 0, limits: limits, responder)
  do {
    let value = try await body(server)
    await server.stop(within: .zero)
    return value
  } catch {
    await server.stop(within: .zero)
    throw error
  }
}

extension ServerResponse {
  static func text(_ text: String) -> ServerResponse {
    ServerResponse(200, "text/plain", Array(text.utf8))
  }
}
