import AggregatorFakeServices
import AggregatorKit
import AggregatorServer
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The Model Context Protocol over HTTP, at `/mcp` of `serve`.
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed")
) struct AgentEndpointTests {
  private static let version = "io.modelcontextprotocol/protocolVersion"

  private static func body(
    _ method: String, _ params: String = "", version: String = "2026-07-28"
  ) -> String {
    #"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":{\#(params)"_meta":{"\#(Self.version)":"\#(version)","#
      + #""io.modelcontextprotocol/clientCapabilities":{}}}}"#
  }

  private static func fields(_ method: String, _ name: String? = nil) -> [String: String] {
    ["MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name ?? ""]
  }

  @Test func `header fields and the body must say the same`() async throws {
    let server = try await ServingProgram()
    func status(_ body: String, _ fields: [String: String]) async throws -> [JSON?] {
      let reply = try await server.post("/mcp", body, fields)
      let json = try reply.json()
      return [.integer(reply.status), json["error"]?["code"], json["id"]]
    }
    let call = Self.body("tools/call", #""name":"list","arguments":{"source":"countries"},"#)
    #expect(try await status(call, Self.fields("tools/call", "list")) == [200, nil, 7])
    #expect(
      try await status(call, Self.fields("tools/call", "=?base64?bGlzdA==?=")) == [200, nil, 7])
    #expect(try await status(call, Self.fields("tools/call", "=?base64?%?=")) == [400, -32020, 7])
    #expect(try await status(call, Self.fields("tools/call", "show")) == [400, -32020, 7])
    #expect(try await status(call, Self.fields("tools/call")) == [400, -32020, 7])
    #expect(try await status(call, Self.fields("tools/list", "list")) == [400, -32020, 7])
    #expect(
      try await status(call, ["Mcp-Method": "tools/call", "Mcp-Name": "list"]) == [400, -32020, 7])
    let old = ["MCP-Protocol-Version": "2025-11-25"]
    #expect(
      try await status(call, Self.fields("tools/call", "list").merging(old) { $1 })
        == [400, -32020, 7])
    #expect(
      try await status(Self.body("nothing"), Self.fields("nothing")) == [404, -32601, 7])
    #expect(
      try await status(Self.body("tools/list", version: "1900-01-01"), Self.fields("tools/list"))
        == [400, -32020, 7])
    #expect(
      try await status(
        #"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#, Self.fields("tools/list"))
        == [400, -32602, 7])
    #expect(
      try await status(
        #"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#, ["MCP-Protocol-Version": "1900-01-01"])
        == [400, -32022, 7])
    #expect(try await status("nonsense", [:]) == [400, -32700, nil])
    let listen = Self.body("subscriptions/listen", #""notifications":{},"#)
    #expect(
      try await status(listen, Self.fields("subscriptions/listen")) == [400, -32600, 7])
    // Before 2026-07-28 only the version is a header field, if at all.
    let legacy = #"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#
    #expect(try await status(legacy, old) == [200, nil, 7])
    #expect(try await status(legacy, [:]) == [200, nil, 7])
    let told = try await server.post(
      "/mcp", #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, old)
    #expect(told.status == 202 && told.body.isEmpty)
    try await server.stop()
  }

  @Test func `strangers are refused, and only POST is answered`() async throws {
    let server = try await ServingProgram("--read-only")
    let list = Self.body("tools/list")
    #expect(
      try await server.post(
        "/mcp", list, Self.fields("tools/list").merging(["Authorization": ""]) { $1 }
      )
      .status == 401)
    #expect(
      try await server.post(
        "/mcp", list, Self.fields("tools/list").merging(["Origin": "https://evil.example"]) { $1 }
      ).status == 403)
    for method in ["GET", "DELETE"] {
      let reply = try await server.send(method, "/mcp")
      #expect(reply.status == 405 && reply.header("Allow")?.contains("POST") == true)
    }
    #expect(try await server.post("/mcp", list, Self.fields("tools/list")).status == 200)
    try await server.stop()
  }

  @Test func `progress makes the answer a stream`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let server = try await ServingProgram(environment: home.environment, in: home.sandbox)
    let reply = try await server.post(
      "/mcp",
      Self.body("tools/call", #""name":"sync","arguments":{"source":"heroes"},"#).replacing(
        #""_meta":{"#, with: #""_meta":{"progressToken":3,"#),
      Self.fields("tools/call", "sync").merging([
        "Accept": "application/json, text/event-stream"
      ]) { $1 })
    #expect(reply.header("Content-Type") == "text/event-stream")
    #expect(reply.header("X-Accel-Buffering") == "no")
    let events = reply.text.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map {
      JSONText(Data($0.dropFirst(6).utf8)).map { JSON($0) }
    }
    #expect(events.last??["result"]?["structuredContent"]?["complete"] == true, "\(reply.text)")
    let progress = events.dropLast().compactMap { $0?["params"]?["progress"] }
    #expect(!progress.isEmpty, "\(reply.text)")
    try await server.stop()
  }
}
