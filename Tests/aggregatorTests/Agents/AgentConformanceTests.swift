import AggregatorFakeServices
import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The server scenarios of https://github.com/modelcontextprotocol/conformance that apply here, as
/// far as the other tests of agents do not contain them.
@Suite(.timeLimit(.minutes(10))) struct AgentConformanceTests {
  private static let prefix = "io.modelcontextprotocol/"
  private static let capabilities = #""\#(prefix)clientCapabilities":{}"#
  private static let none = #""uri":"test://none""#

  private static func version(_ version: String = "2026-07-28") -> String {
    #""\#(prefix)protocolVersion":"\#(version)""#
  }

  /// A request of the stateless revision; the members of `_meta` are those that are required.
  private static func request(
    _ method: String, _ params: String = "", meta: [String]? = nil, id: Int = 7
  ) -> String {
    let meta = (meta ?? [version(), capabilities]).joined(separator: ",")
    return legacy(method, #"\#(params)"_meta":{\#(meta)}"#, id: id)
  }

  private static func legacy(_ method: String, _ params: String = "", id: Int = 7) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{\#(params)}}"#
  }

  private static let sync = request(
    "tools/call", #""name":"sync","arguments":{"source":"heroes"},"#,
    meta: [version(), capabilities, #""progressToken":0"#])

  /// The messages of the program on standard output, in order.
  private func messages(
    to lines: [String], _ options: String = "", in home: TestHome? = nil
  ) async throws -> [JSON] {
    let input = lines.joined(separator: "\n") + "\n"
    let outcome = try await (home ?? TestHome()).run("mcp \(options)", input: input)
    #expect(outcome.status == 0, "\(outcome)")
    return try outcome.output.split(separator: "\n").map { line in
      JSON(try #require(JSONText(Data(line.utf8)), "\(line)"))
    }
  }

  @Test func `nothing works before initialize, which agrees on a version`() async throws {
    let initialize = Self.legacy("initialize", #""protocolVersion":"2024-11-05""#, id: 0)
    let found = try await messages(
      to: (1...40).map { Self.legacy("tools/list", id: $0) } + [initialize])
    let codes = (1...40).map { found.answer(to: $0)?["error"]?["code"] }
    #expect(codes.allSatisfy { $0 == -32602 }, "\(codes)")
    let result = found.answer(to: 0)?["result"]
    #expect(result?["protocolVersion"] == "2025-11-25")
    #expect(result?["capabilities"] == ["tools": [:], "resources": [:], "completions": [:]])
  }

  @Test func `lists and reads may be kept, agree, and name a resource that is unknown`()
    async throws
  {
    let lists = ["resources/list", "resources/templates/list", "tools/list"]
    let methods = lists + ["server/discover", "resources/read"]
    let uri = #""uri":"aggregator://countries/schema","#
    var found = try await messages(to: methods.enumerated().map { Self.request($1, uri, id: $0) })
    for (id, method) in methods.enumerated() {
      let result = found.answer(to: id)?["result"]
      #expect(result?["resultType"] == "complete", "\(method)")
      #expect(Int(result?["ttlMs"]?.text ?? "").map { $0 >= 0 } == true, "\(method)")
      #expect(["public", "private"].contains(result?["cacheScope"]?.string ?? ""), "\(method)")
      #expect(result?["_meta"]?["\(Self.prefix)serverInfo"]?["version"] != nil, "\(method)")
    }
    let listed = found.answer(to: 0)?["result"]?["resources"]?.array ?? []
    let uris = listed.compactMap { $0["uri"]?.string } + ["aggregator://countries/FR"]
    try #require(uris.count == 5)
    found = try await messages(
      to: (uris + ["test://none"]).enumerated().map {
        Self.request("resources/read", #""uri":"\#($1)","#, id: $0)
      } + [Self.legacy("initialize"), Self.legacy("resources/read", Self.none, id: 6)])
    for (id, word) in ["countries", "heroes", "products", "users", "Paris"].enumerated() {
      let contents = found.answer(to: id)?["result"]?["contents"]?.array?.first
      #expect(contents?["uri"]?.string == uris[id])
      #expect(contents?["text"]?.string?.contains(word) == true, "\(word)")
    }
    for (id, code) in [5: -32602, 6: -32002] {
      let error = found.answer(to: id)?["error"]
      #expect(error?["code"] == .integer(code) && error?["data"]?["uri"] == "test://none")
    }
  }

  @Test func `a prompt has no completions, which is no error`() async throws {
    let params = #""ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"b","value":"c"},"#
    let found = try await messages(to: [Self.request("completion/complete", params)])
    #expect(found.answer(to: 7)?["result"]?["completion"]?["values"] == [])
  }

  @Test func `tools have names, texts and strict schemas, which answers obey`() async throws {
    let extra = #""name":"sources","inputResponses":{"a":{}},"requestState":"x","#
    let found = try await messages(
      to: [Self.request("tools/list", id: 1), Self.request("tools/call", extra)], "--allow-add")
    let tools = found.answer(to: 1)?["result"]?["tools"]?.array ?? []
    #expect(Set(tools.compactMap { $0["name"]?.string }).count == 9)
    for tool in tools {
      #expect(tool["name"]?.string?.wholeMatch(of: /[a-zA-Z0-9_.-]{1,64}/) != nil)
      #expect(tool["description"]?.string?.isEmpty == false, "\(tool.text)")
      let schema = try #require(tool["inputSchema"])
      #expect(schema["type"] == "object" && schema["additionalProperties"] == false)
      let required = (schema["required"]?.array ?? []).compactMap(\.string)
      #expect(required.allSatisfy { schema["properties"]?[$0] != nil }, "\(required)")
      // Otherwise these arguments would be header fields, too.
      #expect(!schema.text.contains("x-mcp-header"))
    }
    // A call needs no arguments, and unexpected members are ignored.
    let result = found.answer(to: 7)?["result"]
    #expect(result?["resultType"] == "complete" && result?["isError"] != true, "\(found)")
    #expect(result?["content"]?.array?.first?["type"] == "text", "\(found)")
    let required = try #require(tools.first?["outputSchema"]?["required"]?.array)
    #expect(required.allSatisfy { result?["structuredContent"]?[$0.string ?? ""] != nil })
  }

  @Test func `progress rises, names its request, and ends with the answer`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings.merging(["COMIC_VINE_PAGE_SIZE": "10"]) { $1 })
    let found = try await messages(to: [Self.sync], in: home)
    let updates = found.dropLast().map { $0["params"] }
    #expect(found.last?["id"] == 7 && !updates.isEmpty, "\(found)")
    #expect(updates.allSatisfy { $0?["progressToken"] == 0 }, "\(updates)")
    let counts = updates.map { Int($0?["progress"]?.text ?? "") ?? -1 }
    #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 < $1 }, "\(counts)")
  }

  @Test func `a running call that is cancelled stops, without an answer`() async throws {
    let services = try FourServices()
    services.heroes.fail(with: .stalled)
    let cancelled = [#""none""#, "99", "7"].map { id in
      #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":\#(id)}}"#
    }
    let found = try await messages(
      to: [Self.sync] + cancelled + [Self.request("tools/list", id: 8)],
      in: TestHome(services.settings))
    #expect(found.compactMap { $0["id"] } == [8], "\(found)")
  }

  @Test func `fifty calls at once are answered, each by its own answer`() async throws {
    let names = ["FR", "DE", "JP", "BR", "NO"]
    let found = try await messages(
      to: (0..<50).map { number in
        let arguments = #""source":"countries","id":"\#(names[number % 5])""#
        return Self.request(
          "tools/call", #""name":"show","arguments":{\#(arguments)},"#, id: number)
      })
    #expect(found.count == 50)
    for number in 0..<50 {
      let structure = found.answer(to: number)?["result"]?["structuredContent"]
      #expect(structure?["items"]?.array?.first?["code"]?.string == names[number % 5], "\(number)")
    }
  }

  @Test(.enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
  func `header fields and bodies are refused by the codes of the specification`() async throws {
    let server = try await ServingProgram()
    func expect(
      _ status: Int, _ code: JSON?, _ method: String, _ body: String,
      _ fields: [String: String] = [:], id: JSON? = 7
    ) async throws {
      let standard = ["MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method]
      let reply = try await server.post("/mcp", body, standard.merging(fields) { $1 })
      let json = try reply.json()
      #expect(reply.status == status, "\(body) \(fields)")
      #expect(json["error"]?["code"] == code && json["id"] == id, "\(body) \(fields)")
      #expect(reply.header("Mcp-Session-Id") == nil)
    }
    let (name, plain) = ("server/discover", Self.request("server/discover"))
    // What `_meta` must have; the name of the client is optional.
    try await expect(200, nil, name, plain)
    try await expect(400, -32602, name, Self.legacy(name))
    try await expect(400, -32602, name, Self.request(name, meta: [Self.version()]))
    try await expect(400, -32602, name, Self.request(name, meta: [Self.capabilities]))
    // The version, in the body and beside it.
    let v999 = ["MCP-Protocol-Version": "v999"]
    let future = Self.request(name, meta: [Self.version("v999"), Self.capabilities])
    try await expect(400, -32022, name, future, v999)
    try await expect(400, -32020, name, future)
    try await expect(400, -32020, name, plain, v999)
    for version in ["invalid", "2000-01-01", "2099-01-01"] {
      try await expect(400, -32022, name, Self.legacy(name), ["MCP-Protocol-Version": version])
    }
    let resources = ["resources/subscribe", "resources/unsubscribe"]
    for method in resources + ["initialize", "ping", "logging/setLevel", "prompts/list", "none"] {
      try await expect(404, -32601, method, Self.request(method))
    }
    try await expect(400, -32600, name, "[\(plain),\(plain)]", id: nil)
    // The names of fields have no case, values have; space around these does not count.
    try await expect(200, nil, name, plain, ["Mcp-Method": "", "mcp-method": name])
    try await expect(200, nil, name, plain, ["Mcp-Method": "  \(name)  "])
    try await expect(400, -32020, name, plain, ["Mcp-Method": "SERVER/DISCOVER"])
    let call = Self.request("tools/call", #""name":"sources","#)
    try await expect(400, -32020, "tools/call", call, ["Mcp-Name": "=?base64?c291cmNlcw?="])
    // There are no sessions, and only names of this server are answered.
    try await expect(200, nil, name, plain, ["Mcp-Session-Id": "1", "Last-Event-ID": "2"])
    try await expect(200, nil, name, plain, ["Host": "localhost:\(server.port)"])
    try await expect(421, nil, name, plain, ["Host": "evil.example"], id: nil)
    try await server.stop()
  }

  @Test(.enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
  func `a client that closes the stream of an answer cancels the request`() async throws {
    let services = try FourServices()
    services.heroes.fail(with: .stalled, after: 3)
    let home = try TestHome(services.settings.merging(["COMIC_VINE_PAGE_SIZE": "10"]) { $1 })
    let server = try await ServingProgram(environment: home.environment, in: home.sandbox)
    let listen = Self.request("subscriptions/listen", #""notifications":{},"#)
    for _ in 1...5 {
      let event = try await firstEvent(of: server, "Mcp-Method: subscriptions/listen", listen)
      #expect(event.contains(#""method":"notifications/subscriptions/acknowledged""#), "\(event)")
      #expect(event.contains("\"\(Self.prefix)subscriptionId\":7"), "\(event)")
    }
    let fields = "Mcp-Method: tools/call\r\nMcp-Name: sync"
    let event = try await firstEvent(of: server, fields, Self.sync)
    #expect(event.contains(#""method":"notifications/progress""#), "\(event)")
    var state: JSON? = "running"
    while state == "running" {
      state = try await server.get("/api/v1/sync/heroes").json()["items"]?.array?.first?["state"]
    }
    #expect(state == "cancelled")
    try await server.stop()
  }

  /// Sends a request, and closes the connection after the first event of the answer.
  private func firstEvent(
    of server: ServingProgram, _ fields: String, _ body: String
  ) async throws -> String {
    let descriptor = try ServingProgram.connected(to: server.port)
    let request = Array(
      """
      POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\
      Authorization: Bearer \(server.token ?? "")\r\nContent-Type: application/json\r\n\
      Accept: text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\(fields)\r\n\
      Content-Length: \(body.utf8.count)\r\n\r\n\(body)
      """.utf8)
    #expect(write(descriptor, request, request.count) == request.count)
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var (answer, bytes) = ("", [UInt8](repeating: 0, count: 4096))
        while !answer.contains("}\n"), case let count = read(descriptor, &bytes, 4096), count > 0 {
          answer += String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        close(descriptor)
        continuation.resume(returning: answer)
      }
    }
  }
}

extension [JSON] {
  fileprivate func answer(to id: Int) -> JSON? { first { $0["id"] == .integer(id) } }
}
