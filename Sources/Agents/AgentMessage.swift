import AggregatorKit

/// A request or a notification of JSON-RPC 2.0 (https://www.jsonrpc.org/specification), in the form of the Model Context
/// Protocol: one object, never a batch.
struct AgentMessage: Sendable {
  enum ID: Hashable, Sendable {
    case integer(Int)
    case text(String)

    var json: JSON {
      switch self {
      case .integer(let number): .integer(number)
      case .text(let text): .string(text)
      }
    }

    init?(_ json: JSON) {
      switch json {
      case .integer(let number): self = .integer(number)
      case .string(let text) where text.utf8.count <= 200: self = .text(text)
      default: return nil
      }
    }
  }

  /// `nil` for a notification, which has no answer.
  let id: ID?
  let method: String
  /// An object; empty if the message has none.
  let params: JSON

  /// Reads a message; `nil` for a response, as clients may send one.
  init?(_ bytes: [UInt8]) throws(AgentError) {
    guard let text = JSONText(Data(bytes)) else {
      throw AgentError(.parse, "the message is not JSON")
    }
    let json = JSON(text)
    guard json.isObject else { throw AgentError(.invalidRequest, "the message is not an object") }
    let id = json["id"].flatMap { ID($0) }
    func invalid(_ reason: String) -> AgentError {
      var error = AgentError(.invalidRequest, reason)
      error.id = id
      return error
    }
    guard json["jsonrpc"] == "2.0" else { throw invalid("\"jsonrpc\" must be \"2.0\"") }
    guard let method = json["method"] else {
      guard json["result"] != nil || json["error"] != nil else {
        throw invalid("the message has no method")
      }
      return nil
    }
    guard case .string(let name) = method else { throw invalid("the method is not a text") }
    guard json["id"] == nil || id != nil else {
      throw invalid("the ID must be an integer or a short text")
    }
    self.id = id
    self.method = name
    params = json["params"] ?? [:]
    guard params.isObject else {
      var error = AgentError(.invalidParams, "params must be an object")
      error.id = id
      throw error
    }
  }

  /// A member of `_meta`, without the prefix of the protocol.
  func meta(_ name: String) -> JSON? {
    params["_meta"]?["io.modelcontextprotocol/\(name)"]
  }

  /// The value by which notifications of progress name this request; `nil` if it wants none.
  var progressToken: JSON? {
    guard let token = params["_meta"]?["progressToken"], ID(token) != nil else { return nil }
    return token
  }
}

/// A mistake in the use of the protocol.
///
/// Mistakes in the use of a tool are its results, so that a model can mend them.
struct AgentError: Error, Equatable {
  /// The codes of JSON-RPC and of the protocol's revision 2026-07-28.
  enum Code: Int {
    case parse = -32700
    case invalidRequest = -32600
    case unknownMethod = -32601
    case invalidParams = -32602
    case internalError = -32603
    /// Of the revisions before 2026-07-28 alone.
    case unknownResource = -32002
    case headerMismatch = -32020
    case unsupportedVersion = -32022
  }

  let code: Code
  let message: String
  var data: JSON?
  /// The message that it answers; `nil` if its ID could not be read.
  var id: AgentMessage.ID?
  /// True for a request that lacks a member that every request has.
  var isMalformed = false

  init(_ code: Code, _ message: String, data: JSON? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }

  /// The request does not say what each one has to say in `_meta`.
  static func missingMeta(_ name: String) -> AgentError {
    var error = AgentError(
      .invalidParams, "_meta has no io.modelcontextprotocol/\(name)",
      data: ["supported": .array(AgentRevision.all.map(JSON.string))])
    error.isMalformed = true
    return error
  }

  /// As an answer.
  func response(to id: AgentMessage.ID?) -> JSON {
    let error = [
      JSON.Member("code", .integer(code.rawValue)), .init("message", .string(message)),
    ]
    return .object(
      [.init("jsonrpc", "2.0")] + ((id ?? self.id).map { [.init("id", $0.json)] } ?? []) + [
        .init("error", .object(error + (data.map { [.init("data", $0)] } ?? [])))
      ])
  }
}

/// The revisions of the Model Context Protocol that are spoken here.
enum AgentRevision {
  /// Each request names its version, and nothing is known of earlier ones.
  static let stateless = "2026-07-28"
  /// A connection begins with `initialize`; the newest first.
  static let initialized = ["2025-11-25", "2025-06-18"]
  static let all = [stateless] + initialized

  static func unsupported(_ version: String) -> AgentError {
    AgentError(
      .unsupportedVersion, "the protocol version \(version.oneLine(atMost: 40)) is not supported",
      data: ["supported": .array(all.map(JSON.string)), "requested": .string(version)])
  }
}
