import AggregatorAPI
import AggregatorKit
import AggregatorSourceTesting
import CountriesSource

@testable import AggregatorAgents

/// Messages of the Model Context Protocol.
extension FuzzTarget {
  static let agents = [agentMessage]

  /// A server of the bundled countries, whose service is never reached.
  private static let server: AgentServer = {
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: Unreachable(), store: InMemoryStore())
    let api = API(
      sources: [ServedPlugin(CountriesPlugin(), in: environment)],
      syncs: SyncJobs(in: environment), now: environment.now)
    return AgentServer(of: ProgramName("fuzz"), mayChange: false, mayAdd: true) { api }
  }()

  private struct Unreachable: Transport {
    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      throw SourceError(.unreachable, "nothing is reached")
    }
  }

  private static func call(_ tool: String, _ arguments: String) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(tool)","arguments":{\#(arguments)},"#
      + #""_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
      + #""io.modelcontextprotocol/clientCapabilities":{}}}}"#
  }

  private static let agentMessage = FuzzTarget(
    "agent-message",
    texts: [
      call(
        "list", #""source":"countries","where":["region=EU"],"sort":"-name","limit":3,"bytes":2000"#
      ),
      call("search", #""query":"land","source":"countries","fields":["name"],"cursor":"x""#),
      call("show", #""source":"countries","id":"FR""#), call("sources", ""),
      call("changes", #""source":"countries","since":"2h""#),
      #"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
      #"{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"aggregator://countries/FR"}}"#,
      #"{"jsonrpc":"2.0","id":3,"method":"completion/complete","params":{"argument":{"name":"source","value":"c"}}}"#,
    ],
    tokens: [
      "null", "{}", "[]", "1e999", "-1", "\"\"", "\\u202e", "aggregator://", "%2F", "countries",
      "id",
      "params", "_meta",
    ], cost: .medium
  ) { text in
    let answer: JSON
    do throws(AgentError) {
      guard let message = try AgentMessage(Array(text.utf8)), message.id != nil,
        message.method != "subscriptions/listen"
      else { return }
      let life = try server.life(of: message, isInitialized: true)
      answer = try await server.result(of: message, in: life) { _ in }
    } catch {
      answer = error.response(to: nil)
    }
    let line = answer.text
    try expect(!line.contains("\n"), "an answer has two lines")
    try expect(JSONText(Data(line.utf8)) != nil, "an answer is not JSON: \(line)")
    guard let structure = answer["structuredContent"] else { return }
    let words = answer["content"]?.array?.first?["text"]?.string ?? ""
    try expect(
      (structure["complete"] == true) != words.contains("NOT complete: "),
      "an answer contradicts itself: \(line)")
    try expect(
      structure.text.utf8.count + words.utf8.count <= AgentAnswer.sizes.upperBound,
      "an answer has \(line.utf8.count) bytes")
  }
}
