import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `--jq`: output filtered by an installed `jq`.
@Suite struct JQTests {
  private static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/jq")

  private func jq(
    _ expression: String, _ line: String = "countries list --offline -L2",
    _ environment: [String: String?] = [:]
  ) async throws -> Outcome {
    try await Binary.run(
      line.split(separator: " ").map(String.init) + ["--jq", expression], environment: environment)
  }

  @Test(.enabled(if: isInstalled, "requires jq"))
  func `filters the document`() async throws {
    let names = try await jq(".items[].name")
    #expect(names.status == 0)
    #expect(names.output == "Afghanistan\nAlbania\n")
    #expect(names.errors.contains("showing bundled sample data"))
    #expect(try await jq("-(.items | length)").output == "-2\n")
    #expect(try await jq(".warnings[0].code", "heroes list --offline --json").output == "bundled\n")
    #expect(try await jq(".items | length", "sources").output == "\(sourceNames.count)\n")
  }

  @Test(.enabled(if: isInstalled, "requires jq"), arguments: ["--ndjson", "--format ndjson"])
  func `filters record by record`(format: String) async throws {
    let names = try await jq(".name", "countries list --offline -L2 \(format)")
    #expect(names.status == 0 && names.output == "Afghanistan\nAlbania\n", "\(names)")
    let objects = try await jq("{name, code}", "countries list --offline -L1 \(format)")
    #expect(objects.output == "{\"name\":\"Afghanistan\",\"code\":\"AF\"}\n", "\(objects)")
    let other = try await jq(".name", "countries list --offline --csv")
    #expect(other.status == 64 && other.errors.contains("--csv and --jq cannot"), "\(other)")
  }

  @Test(.enabled(if: isInstalled, "requires jq"))
  func `reports an expression that does not compile before anything else`() async throws {
    let outcome = try await jq(".items[", "heroes list --no-fallback")
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(
      outcome.errors.hasPrefix(
        "error: invalid value \".items[\" for --jq: syntax error, unexpected "), "\(outcome)")
    #expect(!outcome.errors.contains("jq: error"))
  }

  @Test(.enabled(if: isInstalled, "requires jq"))
  func `reports an expression that does not fit the document`() async throws {
    let outcome = try await jq(".items[0] | .name.x")
    #expect(outcome.status == 64)
    #expect(
      outcome.errors.contains(
        "error: jq failed with status 5: Cannot index string with string \"x\"\n"), "\(outcome)")
    #expect(outcome.errors.hasSuffix("hint: --json shows the input, whose records are in .items\n"))
  }

  @Test(.enabled(if: isInstalled, "requires jq"))
  func `a document is not the list of its records`() async throws {
    let outcome = try await jq(".[].name", "heroes list --offline")
    #expect(outcome.status == 64, "\(outcome)")
    #expect(outcome.errors.contains("Did you mean \"--jq '.items[].name'\"?"), "\(outcome)")
  }

  @Test(.enabled(if: isInstalled, "requires jq"))
  func `keeps the exit code and writes nothing after a failure`() async throws {
    let failed = try await jq(".", "heroes list --no-fallback")
    #expect(failed.output == "")
    #expect(failed.status == 69 || failed.status == 77)
    #expect(try await jq(".items[]", "heroes show 1443 999999999 --offline").status == 3)
  }

  @Test(.enabled(if: isInstalled, "requires jq"))
  func `a path for a name with dots is said to lead to nothing`() async throws {
    let home = try TestHome()
    try #"[{"id": 1, "owner": {"login": "x"}}, {"id": 2, "owner": {"login": "y"}}]"#.write(
      to: home.sandbox.home.appending(path: "items.json"), atomically: true, encoding: .utf8)
    let file = home.sandbox.home.appending(path: "items.json").path
    #expect(try await home.run("sources add items \(file)").status == 0)
    func filter(_ words: String...) async throws -> Outcome {
      try await Binary.run(["items", "list", "--jq"] + words, in: home.sandbox)
    }
    let hint = #"hint: "owner.login" is one name: write ."owner.login""#
    for outcome in [
      try await filter(".items[].owner.login"), try await filter(".owner.login", "--ndjson"),
      try await filter(#".items[] | select(.owner.login == "x")"#),
    ] {
      #expect(outcome.status == 0 && outcome.errors.contains(hint), "\(outcome)")
    }
    let failed = try await filter(".items[].owner.login | explode")
    #expect(failed.status == 64 && failed.errors.contains(hint), "\(failed)")
    let right = try await filter(#".items[]."owner.login""#)
    #expect(right.output == "x\ny\n" && !right.errors.contains("hint"), "\(right)")
  }

  @Test(.enabled(if: isInstalled, "requires jq"))
  func `is safe on a terminal`() async throws {
    let expression = #""\u001b[31mred\u202e\tx\n  y""#
    let terminal = try await jq(expression, "countries list --offline -L1", NextTests.terminal)
    #expect(terminal.output == "␛[31mred\tx\n  y\n")
    #expect(try await jq(expression).output == "\u{1B}[31mred\u{202E}\tx\n  y\n")
  }

  @Test func `says that it is not installed`() async throws {
    let outcome = try await jq(".", "countries list --offline", ["PATH": "/nonexistent"])
    #expect(outcome.status == 69)
    #expect(
      outcome.errors == """
        error: --jq requires jq, which is not installed
        hint: install it with your package manager (apt install jq, brew install jq)

        """)
  }

  @Test func `needs JSON`() async throws {
    let outcome = try await jq(".", "countries list --csv")
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("error: --csv and --jq cannot be used together\n"))
  }
}
