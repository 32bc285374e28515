import AggregatorFakeServices
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The arguments, prompts and errors of `delete` and `restore`.
@Suite struct DeleteCommandTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  /// Which of the first three countries are left.
  private func left() async throws -> [String] {
    try await home.column("code", "countries list --offline --limit 3")
  }

  @Test func `IDs are arguments or come from standard input`() async throws {
    let typed = try await home.run("countries delete AF al --yes")
    #expect(typed.status == 0)
    #expect(
      typed.errors == "Deleted 2 countries. Undo: aggregator countries restore AF AL\n")
    let read = try await home.run("countries delete - --yes", input: "  DZ\n\nDZ\nAS")
    #expect(read.status == 0)
    #expect(read.errors.hasPrefix("Deleted 2 countries"))
    #expect(try await left() == ["AD", "AO", "AI"])
    #expect(try await home.run("countries restore -", input: "AF\nAS\n").status == 0)
    #expect(try await left() == ["AF", "AS", "AD"])
    let all = try await home.run("countries restore --all")
    #expect(all.errors == "Restored 2 countries\n")
    #expect(try await left() == ["AF", "AL", "DZ"])
  }

  @Test func `deleting and restoring twice is not an error`() async throws {
    for _ in 0..<2 { #expect(try await home.run("countries delete AF --yes").status == 0) }
    for words in ["Restored 1 country\n", "AF is not deleted\n"] {
      let restored = try await home.run("countries restore AF")
      #expect(restored.status == 0)
      #expect(restored.errors == words)
    }
    #expect(try await home.run("countries restore --all").errors == "Restored 0 countries\n")
  }

  @Test func `restoring an unknown ID exits as deleting it`() async throws {
    #expect(try await home.run("countries delete AF --yes").status == 0)
    let unknown = try await home.run("countries restore XX")
    #expect(unknown.status == 1)
    #expect(
      unknown.errors == """
        error: country XX not found
        hint: aggregator countries list --deleted

        """)
    #expect(try await home.run("countries restore nonsense!").status == 64)
    let mixed = try await home.run("countries restore XX AF AL")
    #expect(mixed.status == 3)
    #expect(mixed.errors.hasSuffix("AL is not deleted\nRestored 1 country\n"), "\(mixed)")
  }

  @Test func `IDs are neither blank nor JSON`() async throws {
    for verb in ["show", "restore"] {
      let json = try await home.run("countries \(verb) -", input: "{\n  \"items\": []\n}\n")
      #expect(json.status == 64)
      #expect(
        json.errors == """
          error: standard input is JSON, not IDs
          hint: pass one ID per line; of --json, with --jq '.items[].id'

          """)
      let blank = try await Binary.run(
        ["countries", verb, ""], environment: home.environment, in: home.sandbox)
      #expect(blank.status == 64)
      #expect(blank.errors.hasPrefix("error: blank ID\n"), "\(blank)")
    }
  }

  @Test func `an unknown ID exits 1, one not looked up 69, an invalid one 64`() async throws {
    let service = try FakeCountries()
    let unknown = try await TestHome(service.settings).run("countries delete XX --yes")
    #expect(unknown.status == 1)
    #expect(unknown.output == "")
    #expect(
      unknown.errors == """
        error: country XX not found
        hint: aggregator countries search QUERY

        """)
    let unreachable = try await home.run("countries delete XX --yes")
    #expect(unreachable.status == 69)
    #expect(unreachable.errors.hasPrefix("error: countries: "), "\(unreachable)")
    #expect(unreachable.errors.contains("XX"), "\(unreachable)")
    #expect(try await home.run("countries delete XX nonsense! --yes --offline").status == 64)
    let mixed = try await home.run("countries delete XX AF nonsense! --yes --offline")
    #expect(mixed.status == 3)
    #expect(
      mixed.errors.contains("country XX is neither cached nor bundled (offline mode)\n")
        && mixed.errors.contains("invalid country ID \"nonsense!\"\n"))
    #expect(try await left() == ["AL", "DZ", "AS"])
  }

  @Test(arguments: [
    "countries delete AF", "countries delete AF --no-input", "countries delete",
    "countries delete --yes", "countries restore", "countries restore AF --all",
  ])
  func `without confirmation nothing is deleted`(line: String) async throws {
    let outcome = try await home.run(line)
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasPrefix("error: "))
    #expect(try await left() == ["AF", "AL", "DZ"])
  }

  @Test func `IDs on standard input require --yes`() async throws {
    let outcome = try await home.run("countries delete -", input: "AF\n")
    #expect(outcome.status == 64)
    #expect(
      outcome.errors == "error: --yes is required when not running interactively\n"
        + "hint: aggregator countries delete - --yes\n")
    let several = try await home.run("countries delete AF AL --no-input")
    #expect(
      several.errors.hasSuffix("\nhint: aggregator countries delete AF AL --no-input --yes\n"),
      "\(several)")
    #expect(try await home.run("countries delete - --yes").status == 64)
    #expect(try await left() == ["AF", "AL", "DZ"])
  }

  @Test func `--dry-run only prints the plan`() async throws {
    for line in ["countries delete AF AL --dry-run", "countries delete AF AL --dry-run --yes"] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 0)
      #expect(outcome.errors == "Would delete 2 countries: AF, AL\n")
    }
    #expect(try await home.run("countries delete AF XX --dry-run --offline").status == 3)
    #expect(try sandboxIsEmpty())
  }

  private func sandboxIsEmpty() throws -> Bool { try home.sandbox.files(under: "home").isEmpty }

  static let answers: [(typed: String, isYes: Bool)] = [
    ("y\n", true), ("Yes\n", true), ("\n", false), ("n\n", false), ("yeah\n", false),
    ("\u{4}", false),
  ]

  @Test(arguments: answers.indices)
  func `on a terminal only yes confirms the prompt`(index: Int) async throws {
    let (typed, isYes) = Self.answers[index]
    let terminal = try PseudoTerminal()
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      "countries delete AF", terminal: terminal.descriptor, in: home.sandbox,
      output: .descriptor(pipe.writeEnd), isMerged: true)
    let question = await pipe.firstBytes(atMost: 100)
    #expect(String(decoding: question, as: UTF8.self) == "Delete Afghanistan (AF)? [y/N] ")
    terminal.type(typed)
    #expect(try await run.outcome().status == 0)
    let answer = String(decoding: await pipe.firstBytes(atMost: 100), as: UTF8.self)
    #expect(answer.hasPrefix(isYes ? "Deleted 1 country" : "Nothing deleted\n"))
    #expect(try await left().first == (isYes ? "AL" : "AF"))
  }
}
