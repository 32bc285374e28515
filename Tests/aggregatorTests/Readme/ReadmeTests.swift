import AggregatorFakeServices
import AggregatorKit
import Foundation
import Testing

@testable import AggregatorCommand
@testable import aggregator

/// The README matches the program.
@Suite struct ReadmeTests {
  static let readme = (try? Repository.text(of: "README.md")) ?? ""

  /// The guide for people who use the command line.
  static let guide =
    (try? Repository.text(of: "Sources/AggregatorKit/AggregatorKit.docc/UsingAggregator.md")) ?? ""

  @Test func `its session matches a terminal`() async throws {
    let session = try #require(Self.blocks("console").first)
    var shown = ""
    for line in session.split(separator: "\n") where line.hasPrefix("$ ") {
      let words = try #require(Self.commandLine(String(line.dropFirst(2))))
      let outcome = try await Binary.run(
        words, environment: ["AGGREGATOR_FORCE_TTY": "80", "TERM": "dumb", "NO_COLOR": "1"],
        isMerged: true)
      #expect(outcome.status == 0)
      shown += "\(line)\n\(outcome.output)"
    }
    #expect(shown == session)
  }

  @Test func `its command lines work`() async throws {
    let lines = Self.blocks("sh").flatMap { $0.split(separator: "\n").map(String.init) }
    let inline = Self.readme.matches(of: /`(aggregator[^`]+)`/).map { String($0.1) }
    let commands = (lines + inline).compactMap(Self.commandLine)
    #expect(commands.count > 10)
    for words in commands { try await Self.expectToWork(words) }
  }

  @Test func `the command lines of the guide work`() async throws {
    let lines = Self.blocks("console", in: Self.guide).flatMap { $0.split(separator: "\n") }
    // A pipe is for another program.
    let commands = lines.compactMap {
      Self.commandLine(String($0.dropFirst(2).prefix { $0 != "|" }))
    }
    #expect(commands.count > 8)
    let directory = try Sandbox()
    for words in commands { try await Self.expectToWork(words, in: directory) }
  }

  @Test func `the examples of the help work`() async throws {
    var examples: [String] = []
    CommandTree.standard.root.visit { examples += $0.command?.examples.map(\.arguments) ?? [] }
    #expect(examples.count > 20)
    for example in examples {
      try await Self.expectToWork(#require(Self.commandLine("aggregator \(example)")))
    }
  }

  @Test func `its Swift is compiled`() throws {
    let snippets = Self.blocks("swift").filter { !$0.hasPrefix(".package") }
    #expect(snippets.count == 3)
    func lines(_ text: String) -> [String] {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { !$0.isEmpty && !$0.hasPrefix("//") }
    }
    let files = ["ReadmeSnippets", "ReadmeTestingSnippet"]
    let compiled = try files.map { file in
      lines(try Repository.text(of: "Tests/aggregatorTests/Readme/\(file).swift"))
        .joined(separator: "\n")
    }.joined(separator: "\n")
    for snippet in snippets {
      #expect(compiled.contains(lines(snippet).joined(separator: "\n")), "\(snippet)")
    }
  }

  @Test func `the example's test is as short as stated`() throws {
    let test = try Repository.text(of: "Examples/Goods/Tests/GoodsTests/GoodsTests.swift")
    #expect(Self.readme.contains("has \(test.count { $0 == "\n" }) lines altogether"))
  }

  @Test func `the guide's example is as short as stated`() throws {
    let files = try Repository.swiftFiles(under: "Examples/Quakes/Sources/Quakes")
    let count = try files.map { try Repository.text(of: $0).count { $0 == "\n" } }.reduce(0, +)
    #expect(Self.readme.contains(": \(count) lines for"))
  }

  @Test func `its exit codes are those of the program`() throws {
    let section = try #require(Self.guide.split(separator: "## Exit codes").last)
    let rows = section.matches(of: /\n\| ([0-9]+) \| (.+) \|/).map { (Int32($0.1), String($0.2)) }
    #expect(rows.map(\.0) == ExitCode.allCases.map(\.rawValue))
    #expect(rows.map { $0.1.replacing("`", with: "") } == ExitCode.allCases.map(\.about))
  }

  @Test func `its sources are those of the program`() {
    for plugin in plugins { #expect(Self.readme.contains("\n| `\(plugin.name)` | ")) }
  }

  /// The blocks of code in a language.
  private static func blocks(_ language: String, in text: String = readme) -> [String] {
    text.matches(of: /```(\w+)\n(.*?)```/.dotMatchesNewlines()).filter { $0.1 == language }
      .map { String($0.2) }
  }

  /// The arguments of a line that runs the program; `nil` for any other line.
  private static func commandLine(_ line: String) -> [String]? {
    guard let match = line.wholeMatch(of: /(?:aggregator|Scripts\/run)(?:$| )(.*?) *(?:#.*)?/)
    else {
      return nil
    }
    return match.1.matches(of: /"([^"]*)"|([^ "]+)/).map { String($0.1 ?? $0.2 ?? "") }
  }

  /// Parses a command line and runs it, offline unless it requires the network.
  private static func expectToWork(_ words: [String], in sandbox: Sandbox? = nil) async throws {
    let line = words.joined(separator: " ")
    let parsed = ArgumentParser(.standard).parse(words)
    let invocation = parsed.invocation
    guard case .run(let command) = try parsed.action.get() else {
      Issue.record("\(line) does not run anything")
      return
    }
    // Bundled data has no images, and no image is bundled.
    if invocation.has(.noFallback) || words.contains("image") { return }
    // Recording and replaying depend on each other; RecordingTests run them.
    if words.contains("--record") || words.contains("--replay") { return }
    // Loading is asking the service, of which there is one here.
    let isAsking = ["load", "sync", "check"].contains(where: words.contains)
    let services = isAsking ? try FourServices() : nil
    let needsOffline =
      command.options.contains(.offline) && !invocation.has(.offline) && services == nil
    let settings: [String: String?] = services.map { $0.settings.mapValues(Optional.some) } ?? [:]
    let outcome = try await Binary.run(
      words + (needsOffline ? ["--offline"] : []),
      // Nothing that opens a browser by chance.
      environment: ["PATH": "/nowhere"].merging(settings) { $1 }, input: "a-key-for-a-test\n",
      in: sandbox)
    #expect(outcome.status == 0, "\(line): \(outcome)")
  }
}
