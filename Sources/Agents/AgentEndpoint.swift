import AggregatorAPI
import AggregatorKit
package import AggregatorServer

extension AgentServer {
  /// The answer to a message that a client has posted: the protocol's "Streamable HTTP".
  ///
  /// A request that may report progress, and whose client reads events, is answered by a stream, whose end cancels it.
  package func response(to request: ServerRequest) async -> ServerResponse {
    var message: AgentMessage?
    do throws(AgentError) {
      guard request.mediaType == "application/json" else {
        throw AgentError(.invalidRequest, "the body must be application/json")
      }
      message = try AgentMessage(request.body)
      guard let message, let id = message.id else {
        return ServerResponse(
          202, "application/json", [], headers: [.init("Cache-Control", "no-store")])
      }
      let life = try life(of: message, in: request)
      let isListening = message.method == "subscriptions/listen"
      if request.readsEvents,
        isListening || message.method == "tools/call" && message.progressToken != nil
      {
        return stream(message, id, life)
      }
      // Its answer is the end of a stream.
      guard !isListening else {
        throw AgentError(.invalidRequest, "subscriptions/listen needs Accept: text/event-stream")
      }
      let result = try await result(of: message, in: life) { _ in }
      return Self.response(200, ["jsonrpc": "2.0", "id": id.json, "result": result])
    } catch {
      let isStateless = message.map { $0.meta("protocolVersion") != nil } ?? true
      return Self.response(
        error.status(isStateless: isStateless), error.response(to: message?.id))
    }
  }

  private static func response(_ status: Int, _ json: JSON) -> ServerResponse {
    ServerResponse(
      status, "application/json", Array(json.text.utf8),
      headers: [.init("Cache-Control", "no-store")])
  }

  private func stream(_ message: AgentMessage, _ id: AgentMessage.ID, _ life: Life)
    -> ServerResponse
  {
    let (events, continuation) = AsyncStream<ServerSentEvent>.makeStream()
    let task = Task {
      let answer: JSON
      do throws(AgentError) {
        let result = try await result(of: message, in: life) {
          continuation.yield(ServerSentEvent(data: $0.text))
        }
        answer = ["jsonrpc": "2.0", "id": id.json, "result": result]
      } catch {
        answer = error.response(to: id)
      }
      continuation.yield(ServerSentEvent(data: answer.text))
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    var response = ServerResponse(events: events)
    response.set("X-Accel-Buffering", "no")
    return response
  }

  /// The form of the protocol that a request uses, whose header fields must say the same as its body.
  private func life(
    of message: AgentMessage, in request: ServerRequest
  ) throws(AgentError) -> Life {
    let version = request.header("MCP-Protocol-Version")
    let isStateless = message.meta("protocolVersion") != nil
    if !isStateless, let version, !AgentRevision.initialized.contains(version) {
      guard version == AgentRevision.stateless else { throw AgentRevision.unsupported(version) }
      throw .missingMeta("protocolVersion")
    }
    try request.require("MCP-Protocol-Version", message.meta("protocolVersion")?.string)
    let life = try life(of: message, isInitialized: true)
    guard life == .stateless else { return life }
    let named =
      switch message.method {
      case "tools/call", "prompts/get": message.params["name"]?.string
      case "resources/read": message.params["uri"]?.string
      default: nil as String?
      }
    try request.require("Mcp-Method", message.method)
    try request.require("Mcp-Name", named)
    return life
  }
}

extension ServerRequest {
  /// Throws unless a header field has a value, which may be encoded; any value will do for `nil`.
  fileprivate func require(_ name: String, _ value: String?) throws(AgentError) {
    guard let value else { return }
    guard let sent = header(name) else {
      throw AgentError(.headerMismatch, "the header field \(name) is missing")
    }
    guard sent.agentHeaderDecoded == value else {
      throw AgentError(
        .headerMismatch,
        "the header field \(name) is \"\(sent.oneLine(atMost: 80))\", unlike the body")
    }
  }

  fileprivate var readsEvents: Bool {
    header("Accept")?.lowercased().contains("text/event-stream") == true
  }
}

extension String {
  /// A value that may be `=?base64?…?=`; `nil` if that is invalid.
  fileprivate var agentHeaderDecoded: String? {
    let (prefix, suffix) = ("=?base64?", "?=")
    guard hasPrefix(prefix), hasSuffix(suffix), utf8.count >= prefix.utf8.count + suffix.utf8.count
    else { return self }
    let inner = String(dropFirst(prefix.count).dropLast(suffix.count))
    return Data(base64Encoded: inner).flatMap { String(validating: $0, as: UTF8.self) }
  }
}

extension AgentError {
  fileprivate func status(isStateless: Bool) -> Int {
    switch code {
    case .parse, .invalidRequest, .headerMismatch, .unsupportedVersion: 400
    case .unknownMethod: isStateless ? 404 : 200
    case .invalidParams: isMalformed ? 400 : 200
    case .internalError, .unknownResource: 200
    }
  }
}
