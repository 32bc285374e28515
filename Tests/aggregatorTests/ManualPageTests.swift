import AggregatorKit
import Foundation
import Testing

@testable import AggregatorArguments
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal

/// The manual page, checked by programs that format manual pages.
@Suite struct ManualPageTests {
  private static func path(_ program: String) -> String? {
    ["/usr/bin/\(program)", "/usr/local/bin/\(program)"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  static let mandoc = path("mandoc")
  static let groff = path("groff")

  /// Runs a program on the page, in a file beside it.
  private func read(by program: [String]) async throws -> Outcome {
    let page = try await Binary.run("help man")
    let file = try page.sandbox.write(page.output, to: "work/aggregator.1")
    let words = program.map { $0 == "PAGE" ? file.path : $0 }
    // The program itself is the last argument, which is taken for the name of the shell.
    return try await Binary.run(
      [String](), in: page.sandbox, by: ["/bin/sh", "-c", words.joined(separator: " ")])
  }

  @Test(.enabled(if: mandoc != nil, "mandoc is not installed"))
  func `mandoc reports no problem`() async throws {
    let program = try #require(Self.mandoc)
    let outcome = try await read(by: [program, "-T", "lint", "-W", "warning", "PAGE"])
    let complaints = (outcome.lines + outcome.errorLines)
      // A page generated on request has no date.
      .filter { !$0.contains("missing date") }
    #expect(complaints.isEmpty)
  }

  @Test(.enabled(if: groff != nil, "groff is not installed"))
  func `groff formats it without a warning`() async throws {
    let program = try #require(Self.groff)
    let outcome = try await read(by: [program, "-man", "-ww", "-Tutf8", "-P-cbou", "PAGE"])
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
    #expect(outcome.output.contains("\n       aggregator SOURCE VERB [ARGUMENT...]"))
    #expect(outcome.output.contains("       -L, --limit N\n"))
    // No blank line is between two options, and one before a paragraph.
    #expect(outcome.output.contains(/\n              [^\n]+\n       -L, --limit N\n/))
    let examples = outcome.output.split(separator: "\nEXAMPLES\n").last?
      .split(separator: "\n\nSEE ALSO").first
    #expect(examples?.contains("\n\n") == false)
    #expect(outcome.output.contains(#"aggregator sql "SELECT count(*) FROM countries""#))
    #expect(outcome.output.contains("Open a record's page in the browser."))
    #expect(
      outcome.output.contains("\n\nDESCRIPTION\n") && outcome.output.contains("\n\nSEE ALSO\n"))
  }

  @Test func `it has all commands, options, exit codes and settings`() async throws {
    let page = try await Binary.run("help man")
    #expect(page.status == 0)
    #expect(page.output.allSatisfy { $0.isASCII })
    let text = page.output.replacing("\\-", with: "-").replacing("\\:", with: "")
    let tree = CommandTree.standard
    let common = Set(tree.commonVerbs.map(\.node.word))
    tree.root.visit { node in
      guard node.command != nil, !node.path.isEmpty else { return }
      let isCommon =
        common.contains(node.word) && tree.catalog.sources.contains { node.path.hasPrefix($0) }
      let path = isCommon ? "SOURCE \(node.word)" : node.path
      #expect(text.contains("\n\\fB\(path)\\fR"), "\(path)")
    }
    for option in tree.options { #expect(text.contains("\\fB\(option.synopsis)\\fR"), "\(option)") }
    for code in ExitCode.allCases { #expect(text.contains("\\fB\(code.rawValue)\\fR\n")) }
    for setting in tree.catalog.settings { #expect(text.contains("\\fB\(setting.key)\\fR\n")) }
  }

  @Test func `on a terminal man shows it, or else it is formatted`() async throws {
    let sandbox = try Sandbox()
    let man = try sandbox.write("#!/bin/sh\necho \"man $@\"; exec head -n 1\n", to: "bin/man")
    try sandbox.makeExecutable(man)
    func show(_ path: String) async throws -> String {
      try await Binary.run(
        "help man", environment: ["AGGREGATOR_FORCE_TTY": "70", "NO_COLOR": "1", "PATH": path],
        in: sandbox
      ).output
    }
    let shown = try await show("\(man.deletingLastPathComponent().path):/usr/bin:/bin")
    #expect(
      shown == "man -l -\n.TH AGGREGATOR 1 \"\" \"aggregator \(Version.current)\"\n")
    let text = try await show("/nowhere")
    #expect(text.hasPrefix("NAME\n       aggregator - query"))
    #expect(text.contains("\n       -L, --limit N\n              maximum number"))
    #expect(!text.contains("\n\n       -L, --limit N\n"))
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.contains("DESCRIPTION") && lines.contains("SEE ALSO"))
    #expect(lines.allSatisfy { $0.displayWidth <= 70 })
  }

  @Test func `no note is there twice`() {
    let paragraphs = ManualPage(.standard).source.split(separator: "\n").filter { $0.count > 80 }
    #expect(paragraphs.count > 50)
    for (text, same) in Dictionary(grouping: paragraphs, by: \.self) where same.count > 1 {
      Issue.record("\(same.count) times: \(text)")
    }
  }

  @Test func `its examples are those of the help`() async throws {
    let page = try await Binary.run("help man").output
    let section = try #require(page.split(separator: ".SH EXAMPLES").last)
    let shown = section.matches(of: /\.TP\n\\fBaggregator (.+)\\fR\n/).map { match in
      String(match.1).replacing("\\-", with: "-").replacing("\\:", with: "")
        .replacing("\\(dq", with: "\"").replacing("\\(ti", with: "~")
        .replacing("\\(aq", with: "'")
    }
    var examples: Set<String> = []
    CommandTree.standard.root.visit {
      examples.formUnion($0.command?.examples.map(\.arguments) ?? [])
    }
    #expect(shown.count > 30)
    #expect(Set(shown).count == shown.count)
    #expect(examples.isSuperset(of: shown))
  }

  @Test func `text of a service or a plugin is not a macro`() {
    #expect(ManualPage.plain(".SH x") == "\\&.SH x")
    #expect(ManualPage.plain("'x\\n-\u{1B}é…") == "\\&\\(aqx\\en\\-\\[u241B]\\[u00E9].\\|.\\|.")
  }
}
