import Foundation
import Testing

/// How a secret is asked for at a terminal.
@Suite struct PromptTests {
  private let terminal: PseudoTerminal
  private let pipe: Pipe

  init() throws {
    terminal = try PseudoTerminal()
    pipe = try Pipe()
  }

  /// Starts the program, and waits until it asks.
  private func asked() async throws -> Binary.Run {
    let run = try Binary.start(
      "config set COMIC_VINE_API_KEY", terminal: terminal.descriptor,
      output: .descriptor(pipe.writeEnd), isMerged: true)
    let prompt = await pipe.firstBytes(atMost: 100)
    #expect(String(decoding: prompt, as: UTF8.self) == "COMIC_VINE_API_KEY: ")
    return run
  }

  @Test func `what is typed is not shown, and kept`() async throws {
    #expect(terminal.showsTyping)
    let run = try await asked()
    #expect(!terminal.showsTyping)
    terminal.type("abc def-123\n")
    #expect(try await run.outcome().status == 0)
    #expect(terminal.showsTyping)
    let path = "home/.config/aggregator/config.xcconfig"
    #expect(try run.sandbox.text(of: path) == "COMIC_VINE_API_KEY = abc def-123\n")
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal while it asks leaves the terminal as it was`(signal: Int32) async throws {
    let run = try await asked()
    #expect(!terminal.showsTyping)
    run.child.send(signal)
    #expect(try await run.outcome().ending == .signal(signal))
    #expect(terminal.showsTyping)
    #expect(try run.sandbox.files(under: "home").isEmpty)
  }

  @Test func `--no-input never asks`() async throws {
    let run = try Binary.start(
      "config set COMIC_VINE_API_KEY --no-input", terminal: terminal.descriptor)
    let outcome = try await run.outcome()
    #expect(outcome.status == 64)
    #expect(
      outcome.errors == "error: the value is missing\nhint: give it on standard input\n")
  }
}
