import AggregatorFakeServices
import AggregatorKit
import AggregatorPlugins
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorArguments
@testable import AggregatorFilters
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal

/// The README matches the program.
@Suite struct ReadmeTests {
  static let readme = (try? Repository.text(of: "README.md")) ?? ""

  /// The guide for people who use the command line.
  static let guide =
    (try? Repository.text(of: "Sources/AggregatorKit/AggregatorKit.docc/UsingAggregator.md")) ?? ""

  static let apiGuide =
    (try? Repository.text(of: "Sources/AggregatorKit/AggregatorKit.docc/AddingAnAPI.md")) ?? ""

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
    try directory.write("code,sold\nFR,7\n", to: "work/sales.csv")
    for words in commands { try await Self.expectToWork(words, in: directory) }
  }

  @Test func `the guide has the grammar of filters`() {
    let rules = TypedFilter.grammar.map { name, rule in
      "\(name)\(String(repeating: " ", count: 9 - name.count)) = \(rule)\n"
    }
    #expect(Self.guide.contains("```\n\(rules.joined())```\n"))
  }

  @Test func `the timers of the guide run commands of the program`() throws {
    let recipes = ["crontab", "ini"].flatMap { Self.blocks($0, in: Self.guide) }.joined()
    let lines = recipes.matches(of: /\/aggregator (.+?)(?: >.*)?\n/).map { String($0.1) }
    #expect(lines.count == 2)
    for line in lines {
      let parsed = ArgumentParser(.standard).parse(line.split(separator: " ").map(String.init))
      #expect(parsed.command != nil && parsed.path == "sync", "\(line)")
      #expect(parsed.invocation.has(.olderThan) && parsed.invocation.has(.timeBudget))
    }
    #expect(recipes.contains("SuccessExitStatus=\(ExitCode.partial.rawValue)\n"))
  }

  @Test func `the command lines of the guide to APIs are valid`() async throws {
    // No response is a list, which is said after the options were read.
    let service = try LoopbackServer { request in
      request.header("Content-Type") == "application/x-www-form-urlencoded"
        ? .json(#"{"access_token": "a-token-for-a-test"}"#)
        : .json(#"{"lamp": "not a list"}"#)
    }
    let home = try TestHome()
    let names = ["SHOP", "PEOPLE", "INVOICES"].flatMap { name in
      ["ID", "SECRET", "REFRESH"].map { "\(name)_\($0)" }
    }
    let secrets = (names + ["GITHUB_TOKEN", "LAMPS_TOKEN", "TICKETS_PASSWORD"]).map {
      ($0, "a-key-for-a-test" as String?)
    }
    let lines = Self.blocks("sh", in: Self.apiGuide).flatMap { $0.split(separator: "\n") }
    let additions = lines.filter { $0.hasPrefix("aggregator sources add") && $0.contains("https") }
    #expect(additions.count >= 12)
    for line in additions {
      let local = String(line).replacing("https://", with: "\(service.baseURL)/")
      let words = try #require(Self.commandLine(local))
      let rate = words.contains("--rate") ? [] : ["--rate", "off"]
      let outcome = try await Binary.run(
        words + ["--dry-run"] + rate, environment: Dictionary(secrets) { $1 }, in: home.sandbox)
      #expect(outcome.status == 76, "\(line): \(outcome)")
    }
  }

  @Test func `the manifest of the guide to APIs is valid, and its keys are explained`() async throws
  {
    let manifest = try #require(Self.blocks("json", in: Self.apiGuide).first)
    let keys = manifest.matches(of: /\n  "([a-z]+)":/.anchorsMatchLineEndings()).map {
      String($0.1)
    }
    #expect(keys.count > 18)
    let table = Self.apiGuide.matches(of: /\n\| (`[a-z`, A-Z]+`) \|/).map(\.1).joined()
    for key in keys { #expect(table.contains("`\(key)`"), "\(key) is not explained") }

    let home = try TestHome()
    for (text, status) in [
      (manifest, Int32(77)), (manifest.replacing(#""id""#, with: #""ids""#), 78),
    ] {
      try text.write(
        to: home.sandbox.root.appending(path: "lamps.json"), atomically: true, encoding: .utf8)
      let outcome = try await home.run(
        "lamps list", ["AGGREGATOR_MANIFESTS": home.sandbox.root.path, "LAMPS_TOKEN": "a-key"])
      #expect(outcome.status == status, "\(outcome)")
    }
  }

  @Test func `the examples of the help work`() async throws {
    var examples: [String] = []
    CommandTree.standard.root.visit { examples += $0.command?.examples.map(\.arguments) ?? [] }
    #expect(examples.count > 20)
    for example in examples {
      let directory = try Sandbox()
      try directory.write("code,sold\nFR,7\n", to: "work/sales.csv")
      try await Self.expectToWork(
        #require(Self.commandLine("aggregator \(example)")), in: directory)
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
    #expect(Self.readme.contains("is \(test.count { $0 == "\n" }) lines long"))
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

  @Test func `its sources are sources of the program`() throws {
    let section = try #require(Self.readme.split(separator: "\n## Sources\n").dropFirst().first)
    let table = try #require(section.split(separator: "\n\n").first)
    let rows = table.matches(of: /\n\| `([a-z0-9]+)` \|/).map { String($0.1) }
    // A new source may go without a row until its author writes one.
    for (source, _) in FourServices.sources {
      #expect(rows.contains(source), "README.md, Sources: add a row \"| `\(source)` | …\"")
    }
    for row in rows {
      #expect(sourceNames.contains(row), "README.md, Sources: remove the row of \"\(row)\"")
    }
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
    return match.1.matches(of: /'([^']*)'|"([^"]*)"|([^ "']+)/).map {
      String($0.1 ?? $0.2 ?? $0.3 ?? "")
    }
  }

  /// Parses a command line and runs it, offline unless it requires the network.
  private static func expectToWork(_ words: [String], in sandbox: Sandbox? = nil) async throws {
    // They want a saved query; QueryCommandTests have some.
    let queries = ["query show", "query edit", "query rename", "query remove"]
    if queries.contains(words.prefix(2).joined(separator: " "))
      || ["euro", "named"].contains(words[0])
    {
      return
    }
    // These want an API; AddedSourceTests have one.
    let adding = [
      "sources add", "sources edit", "sources export", "sources remove", "sources rename",
      "issues list", "issues show",
    ]
    if adding.contains(words.prefix(2).joined(separator: " ")) { return }
    // They do not end by themselves; ServeCommandTests, BrowseTerminalTests and ServeGuideTests start them.
    if ["serve", "browse"].contains(words.first) { return }
    // They want a person at a terminal; PickerTests have one.
    if words.contains("pick") || ["show", "open"].contains(words.last) { return }
    // It wants a store in PostgreSQL; PostgresSQLTests run it.
    if words.starts(with: ["store", "init-sql-role"]) { return }
    let line = words.joined(separator: " ")
    let parsed = ArgumentParser(.standard).parse(words)
    let invocation = parsed.invocation
    guard case .run(let command) = try parsed.action.get() else {
      Issue.record("\(line) does not run anything")
      return
    }
    // They need records that were synced twice, and time: DiffTests and WatchTests run them.
    if words.dropFirst().first == "diff" || words.first == "watch" { return }
    // Bundled data has no images, and no image is bundled.
    if invocation.has(.noFallback) || words.contains("image") || invocation.has(.image) { return }
    // They need cached records, and files of another program; SingerTests have some.
    if words.first == "tap" || words.contains("singer") { return }
    // Recording and replaying depend on each other; RecordingTests run them.
    if words.contains("--record") || words.contains("--replay") { return }
    // It needs stores; StoreCopyCommandTests have some.
    if words.starts(with: ["store", "copy"]) { return }
    // It needs records of another scope; ScopeTests have some.
    if words.starts(with: ["store", "adopt"]) { return }
    // It needs a program; JQTests run it if it is installed.
    if invocation.has(.jq) { return }
    // Loading is asking the service, of which there is one here.
    let isAsking = ["load", "sync", "--sync", "check", "api"].contains(where: words.contains)
    let unserved = Set(sourceNames).subtracting(FourServices.sources.map(\.name))
    let isOfAll = words.first == "sync" && invocation.arguments.isEmpty
    if isAsking, isOfAll && !unserved.isEmpty || words.contains(where: unserved.contains) { return }
    let services = isAsking ? try FourServices() : nil
    let needsOffline =
      command.options.contains(.offline) && !invocation.has(.offline) && services == nil
    let settings: [String: String?] = services.map { $0.settings.mapValues(Optional.some) } ?? [:]
    let outcome = try await Binary.run(
      words + (needsOffline ? ["--offline"] : []),
      // Nothing that opens a browser by chance.
      environment: ["PATH": "/nowhere"].merging(settings) { $1 }, input: "a-key-for-a-test\n",
      in: sandbox)
    // What is told of bundled records is not told of all.
    let isPartial = (Option.summarizing + [.count, .condition, .order]).contains(
      where: invocation.has)
    // A line before may have synced what is exported or queried.
    let codes: [Int32?] =
      ["export", "sql"].contains(words.first) ? [0, 3] : [isPartial ? 3 : 0]
    #expect(codes.contains(outcome.status), "\(line): \(outcome)")
  }
}
