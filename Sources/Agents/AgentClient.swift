import AggregatorKit

/// A program of agents, and the lines that tell it of this one.
package enum AgentClient: String, CaseIterable, Sendable {
  case claudeCode = "claude-code"
  case cursor
  case vscode

  /// The lines, and where they belong.
  ///
  /// - Parameter program: The path of this program, or its name.
  package func configuration(of program: String, named name: String) -> (
    place: String, text: String
  ) {
    let server: [JSON.Member] = [.init("command", .string(program)), .init("args", ["mcp"])]
    func document(_ key: String, _ server: [JSON.Member]) -> String {
      let json = JSON.object([.init(key, .object([.init(name, .object(server))]))])
      let text = JSONFormatter.indented(Array(json.text.utf8)) ?? []
      return String(decoding: text, as: UTF8.self) + "\n"
    }
    return switch self {
    case .claudeCode:
      ("run this command", "claude mcp add \(name) -- \(program.shellQuoted) mcp\n")
    case .cursor: ("~/.cursor/mcp.json", document("mcpServers", server))
    case .vscode:
      (".vscode/mcp.json", document("servers", [.init("type", "stdio")] + server))
    }
  }
}
