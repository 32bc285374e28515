import AggregatorFakeServices
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The question for the features of a terminal, which controls the program as a shell's does.
@Suite(.timeLimit(.minutes(10))) struct TerminalQueryTests {
  private let home: PetHome
  private let terminal: PseudoTerminal

  private static let question = "\u{1B}[c"

  init() async throws {
    home = try await PetHome(["a"])
    terminal = try PseudoTerminal()
  }

  private func start(then script: String = "") throws -> Child {
    let chafa = try FakeChafa.drawing(in: home.sandbox)
    var variables = [
      "HOME": home.sandbox.home.path, "TERM": "xterm", "LC_ALL": "C",
      "PATH": (chafa["PATH"] ?? nil) ?? "",
    ]
    variables["COLUMNS"] = "80"
    return try Child(
      [
        "/usr/bin/setsid", "-c", "-w", "/bin/sh", "-c", #""$0" pets image a; "# + script,
        try Binary.path,
      ],
      environment: variables, directory: home.sandbox.work.path,
      descriptors: [terminal.descriptor, terminal.descriptor, terminal.descriptor])
  }

  private var format: String {
    get throws { try home.sandbox.text(of: "arguments").split(separator: "\n")[1].description }
  }

  #if os(Linux)
    @Test(arguments: [("\u{1B}[?62;4;22c", "sixels"), ("\u{1B}[?62;22c", "symbols")])
    func `a terminal with pixels is asked for sixels`(
      answer: String, expected: String
    ) async throws {
      terminal.widen(to: 80, rows: 24, cell: (9, 18))
      let child = try start()
      _ = try await terminal.read(until: Self.question)
      #expect(!terminal.showsTyping)
      terminal.type(answer)
      // The fake program draws symbols in any case.
      let screen = try await terminal.read(until: expected == "sixels" ? "something else" : "▀▀▀")
      #expect(!screen.contains("62;"), "\(screen)")
      #expect(await child.ending() == .exit(expected == "sixels" ? 76 : 0))
      #expect(try format == expected)
      #expect(terminal.showsTyping)
    }

    @Test func `a terminal that does not answer gets symbols`() async throws {
      terminal.widen(to: 80, rows: 24, cell: (9, 18))
      let child = try start()
      _ = try await terminal.read(until: "▀▀▀")
      #expect(await child.ending() == .exit(0))
      #expect(try format == "symbols")
      #expect(terminal.showsTyping)
    }

    @Test func `keys that were typed ahead stay for the shell`() async throws {
      terminal.widen(to: 80, rows: 24, cell: (9, 18))
      terminal.type("next\n")
      let child = try start(then: #"read line; echo "got $line""#)
      let screen = try await terminal.read(until: "got next")
      #expect(!screen.contains(Self.question) && screen.contains("▀▀▀"))
      #expect(await child.ending() == .exit(0))
    }

    @Test func `a terminal without the size of a cell is not asked`() async throws {
      terminal.widen(to: 80, rows: 24)
      let child = try start()
      let screen = try await terminal.read(until: "▀▀▀")
      #expect(!screen.contains(Self.question))
      #expect(await child.ending() == .exit(0))
    }

    @Test func `a terminal of others is not asked`() async throws {
      terminal.widen(to: 80, rows: 24, cell: (9, 18))
      // Without a controlling terminal; in the background it is the same.
      let chafa = try FakeChafa.drawing(in: home.sandbox)
      let outcome = try await Binary.run(
        "pets image a", environment: chafa.merging(["TERM": "xterm"]) { $1 }, in: home.sandbox,
        output: .descriptor(terminal.descriptor))
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try format == "symbols")
      let screen = try await terminal.read(until: "▀▀▀")
      #expect(!screen.contains(Self.question))
    }
  #endif
}
