import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The prompt for a secret at a terminal.
@Suite struct PromptTests {
  private let terminal: PseudoTerminal
  private let pipe: ProgramPipe

  init() throws {
    terminal = try PseudoTerminal()
    pipe = try ProgramPipe()
  }

  /// Starts the program, and waits for its prompt.
  private func atPrompt() async throws -> Binary.Run {
    let run = try Binary.start(
      "config set COMIC_VINE_API_KEY", terminal: terminal.descriptor,
      output: .descriptor(pipe.writeEnd), isMerged: true)
    let prompt = await pipe.firstBytes(atMost: 100)
    #expect(String(decoding: prompt, as: UTF8.self) == "COMIC_VINE_API_KEY: ")
    return run
  }

  @Test func `reads the secret without echo, and saves it`() async throws {
    #expect(terminal.showsTyping)
    let run = try await atPrompt()
    #expect(!terminal.showsTyping)
    terminal.type("abc def-123\n")
    #expect(try await run.outcome().status == 0)
    #expect(terminal.showsTyping)
    let path = "home/.config/aggregator/config.xcconfig"
    #expect(try run.sandbox.text(of: path) == "COMIC_VINE_API_KEY = abc def-123\n")
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func `a signal at the prompt restores the terminal`(signal: Int32) async throws {
    let run = try await atPrompt()
    #expect(!terminal.showsTyping)
    run.child.send(signal)
    #expect(try await run.outcome().ending == .signal(signal))
    #expect(terminal.showsTyping)
    #expect(try run.sandbox.files(under: "home").isEmpty)
  }

  @Test func `--no-input never prompts`() async throws {
    let run = try Binary.start(
      "config set COMIC_VINE_API_KEY --no-input", terminal: terminal.descriptor)
    let outcome = try await run.outcome()
    #expect(outcome.status == 64)
    #expect(
      outcome.errors == "error: missing value\nhint: pass it on standard input\n")
  }

  @Test func `a report is wrapped at words, and a name that is missing is asked for`()
    async throws
  {
    let service = try LoopbackServer { _ in
      .json(#"[{"id": 1, "name": "a", "self": "http://127.0.0.1/1"}, {"id": 2, "name": "b"}]"#)
    }
    terminal.widen(to: 60, rows: 24)
    let sandbox = try Sandbox()
    func start(_ line: String) throws -> Binary.Run {
      try Binary.start(
        line, environment: ["TERM": "xterm", "LC_ALL": "C.UTF-8"], terminal: terminal.descriptor,
        in: sandbox, output: .descriptor(terminal.descriptor), isMerged: true)
    }
    let adding = try start("sources add lamps \(service.baseURL)/x --rate off --single")
    let report = try await terminal.read(until: "link ", "saved ")
    let indent = String(repeating: " ", count: 16)
    #expect(report.contains("has a web page:\r\n\(indent)records have none"), "\(report)")
    #expect(try await adding.outcome().status == 0)

    let removing = try start("sources remove")
    try await terminal.read(until: "NAME is missing:", "1  lamps", "leave it open: ")
    terminal.type("1\n")
    try await terminal.read(until: "[y/N] ")
    terminal.type("y\n")
    #expect(try await removing.outcome().status == 0)
    #expect(try !sandbox.files(under: "home").contains { $0.hasSuffix("lamps.json") })
  }
}
