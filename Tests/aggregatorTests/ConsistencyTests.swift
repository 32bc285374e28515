import AggregatorKit
import Foundation
import Testing

@testable import AggregatorArguments
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal

/// Rules for all commands, including future ones.
@Suite struct ConsistencyTests {
  private static let tree = CommandTree.standard

  /// The nodes that run something.
  static let paths: [String] = {
    var paths: [String] = []
    tree.root.visit { if $0.command != nil { paths.append($0.path) } }
    return paths
  }()

  private func node(_ path: String) -> CommandTree.Node { Self.tree.find(path.words).node }

  private func command(_ path: String) throws -> Command { try #require(node(path).command) }

  /// The options that the parser accepts after each path, which are many to try.
  private static let accepted: [String: Set<Option>] = {
    var accepted: [String: Set<Option>] = [:]
    tree.root.visit { node in
      accepted[node.path] = Set(tree.options.filter { accepts(node.path.words + $0.sample) })
    }
    return accepted
  }()

  /// `true` if the parser accepts a command line.
  private static func accepts(_ words: [String]) -> Bool {
    if case .success = ArgumentParser(tree).parse(words).action { true } else { false }
  }

  /// The words that are offered after a line.
  private func offered(_ line: String) -> [String] {
    let memory = Completer.CompletionContext(
      ids: { _, _, _ in [] }, sessions: { [] }, values: { _, _, _ in [] })
    let line = TypedLine("aggregator \(line)", in: .bash)
    guard case .words(let candidates, _) = Completer(Self.tree, memory).offer(line) else {
      return []
    }
    return candidates.map(\.word)
  }

  @Test(arguments: paths)
  func `the options offered are those that the parser accepts`(path: String) {
    let node = node(path)
    // Options accepted before a further word are accepted with that word.
    var accepted: Set<Option> = []
    node.visit { accepted.formUnion(Self.accepted[$0.path] ?? []) }
    // `--version` is accepted everywhere, but offered only on an empty line.
    if !path.isEmpty { accepted.remove(.version) }
    #expect(Set(offered("\(path) --")) == Set(accepted.map(\.spelling)))
  }

  @Test(arguments: paths)
  func `the words offered are those that the parser accepts`(path: String) throws {
    let children = Set(node(path).children.map(\.word))
    let words = offered("\(path) ").filter { !$0.hasPrefix("-") }
    #expect(children.isSubset(of: words))
    for word in words { #expect(Self.accepts(path.words + [word]), "\(path) \(word)") }
    guard try !command(path).takesArguments else { return }
    #expect(children == Set(words))
    var others: Set<String> = []
    Self.tree.root.visit { others.insert($0.word) }
    // `sources help` is accepted, but not offered.
    for word in others.subtracting(children).subtracting(["help"]) where !word.isEmpty {
      #expect(!Self.accepts(path.words + [word]), "\(path) \(word)")
    }
  }

  @Test(arguments: paths)
  func `the values offered are those that the parser accepts`(path: String) throws {
    for option in try command(path).options where option != .help {
      let words = path.words
      switch option.value {
      case .choice(let choices):
        #expect(offered("\(path) \(option.spelling) ") == choices)
        for choice in choices { #expect(Self.accepts(words + [option.spelling, choice])) }
        #expect(!Self.accepts(words + [option.spelling, "nonsense"]))
      case .list where option == .fields:
        let names = try command(path).fields.map(\.id)
        #expect(Set(offered("\(path) --fields ")).isSuperset(of: names + ["help"]))
      default: break
      }
    }
  }

  @Test func `an option has the same syntax everywhere`() {
    var options: Set<Option> = []
    for path in Self.paths { options.formUnion(node(path).command?.options ?? []) }
    #expect(options.count > 30)
    for (name, same) in Dictionary(grouping: options, by: \.name) where same.count > 1 {
      Issue.record("--\(name) is \(same.map(\.synopsis))")
    }
    let lettered = Dictionary(grouping: options.filter { $0.letter != nil }, by: \.letter)
    for (letter, same) in lettered where same.count > 1 {
      Issue.record("-\(letter ?? "?") means \(same.map(\.name))")
    }
  }

  @Test(arguments: paths)
  func `every command that shows records has every format and field`(path: String) throws {
    let command = try command(path)
    let output = command.options.filter(Option.formatting.contains)
    // What was found out about a source is one document, and the name of an exported file its format.
    // A response is printed as it is.
    // A manifest is changed, and its fields are those of records.
    guard !output.isEmpty, !["sources add", "sources edit", "export", "api"].contains(path) else {
      // Without records to print, they are those of conditions.
      #expect(command.fields.isEmpty || command.options.contains(.condition))
      return
    }
    // A query names its own columns.
    let isQuery = path == "sql"
    // A document has an end.
    let missing: Set<Option> = path == "watch" ? [.json, .jq] : isQuery ? [.fields] : []
    #expect(Set(output) == Set(Option.formatting).subtracting(missing))
    #expect(command.fields.isEmpty == isQuery)
  }

  @Test(arguments: paths)
  func `every destructive command has --dry-run and --yes`(path: String) throws {
    // Adding asks only if the paging is not proved.
    let destroys = ["delete", "clear", "purge", "remove", "add"].contains(path.words.last)
    for option in [Option.yes, .dryRun] {
      // Instead of creating a role, it prints how an administrator does.
      let prints = path == "store init-sql-role" && option == .dryRun
      #expect(
        try command(path).options.contains(option) == (destroys || prints), "\(option.spelling)")
    }
  }

  @Test(arguments: paths)
  func `every command has examples of its own`(path: String) throws {
    let command = try command(path)
    // A verb that the source does not support has none.
    let isPossible = !node(path).summary.hasPrefix("Not available")
    #expect(command.examples.isEmpty != isPossible)
    for example in command.examples {
      #expect(!example.about.isEmpty)
      let words = TypedLine("\(example.arguments) ", in: .bash).words
      let found = Self.tree.find(words.filter { !$0.hasPrefix("-") }).node.path
      // The examples of the root are those of other commands.
      if path.isEmpty {
        #expect(!found.isEmpty)
        continue
      }
      // `store` is `store status`.
      #expect("\(path) ".hasPrefix("\(found) "))
    }
  }

  /// Some options mean something else to one command.
  static let wording: [(path: String, option: Option, about: String)] = [
    ("heroes list", .all, "list all records (up to --max-pages)"),
    ("heroes restore", .all, "restore all deleted records"),
    ("sql", .timeout, "time limit of the query (default 30s)"),
    ("search", .timeout, "time limit per source (default 10s)"),
    ("search", .limit, "maximum number of records per source (default 5)"),
    ("users sync", .maxPages, "stop after N pages (required)"),
  ]

  @Test(arguments: wording.indices)
  func `an option is described as it works for the command`(index: Int) throws {
    let (path, option, about) = Self.wording[index]
    let options = try command(path).options
    #expect(options.first { $0 == option }?.about == about)
    // The manual page describes a verb of every source once.
    guard path != "users sync" else { return }
    let page = ManualPage(Self.tree).source.replacing("\\-", with: "-")
    #expect(page.contains(about))
  }

  @Test func `every option is in a group of the help`() {
    for option in Self.tree.options {
      let isCommon = Option.common.contains(option) || option == .version
      #expect(isCommon == (option.group == .general), "\(option.spelling)")
    }
    for option in Self.tree.options where option.about.contains("also several") {
      #expect(!option.isSingle, "\(option.spelling)")
    }
    for path in Self.paths {
      let groups = Dictionary(
        grouping: node(path).command?.options ?? [], by: \.group)
      #expect(groups[.general]?.count == (path.isEmpty ? 10 : 9), "\(path)")
    }
  }

  @Test(arguments: [
    ("countries", "country"), ("heroes", "hero"), ("products", "product"), ("users", "user"),
    ("movies", "movie"), ("boxes", "box"), ("classes", "class"), ("people", "person"),
    ("goods", "item"), ("data", "data"), ("ies", "ie"), ("glass", "glass"), ("status", "status"),
    ("s", ""), ("", ""),
  ])
  func `the singular of a source's name is derived`(plural: String, singular: String) {
    #expect(RecordNoun(plural).singular == singular)
  }

  @Test(arguments: [
    ("heroes", 1, "hero"), ("heroes", 0, "heroes"), ("series", 1, "series"),
    ("series", 2, "series"), ("keyed", 1, "record of keyed"), ("keyed", 500, "records of keyed"),
  ])
  func `records whose source is not a plural are called records`(
    name: String, count: Int, word: String
  ) {
    #expect(RecordNoun(name).word(for: count) == word)
    #expect(RecordNoun(name).one == (word.contains(" of ") ? "record" : RecordNoun(name).singular))
    #expect(RecordNoun(name).count(count) == "\(count) \(word)")
  }

  @Test(arguments: [
    (
      "heroes",
      [
        "List heroes", "Search heroes", "Pick a hero on the screen and print its ID",
        "Open a hero's page in the browser",
      ]
    ),
    (
      "weather",
      [
        "List records of weather", "Search records of weather",
        "Pick a record of weather on the screen and print its ID",
        "Open a record's page in the browser",
      ]
    ),
  ])
  func `the verbs of a source read well whatever its name is`(name: String, summaries: [String]) {
    let verbs: [StandardVerb] = [.list, .search, .pick, .open]
    #expect(verbs.map { $0.summary(RecordNoun(name)) } == summaries)
  }

  @Test func `the names of sources, commands and topics are distinct`() {
    let words = Self.tree.root.children.map(\.word) + HelpTopic.allCases.map(\.rawValue)
    #expect(Set(words).count == words.count)
  }

  /// The exit code of every code of a failure.
  static let exitCodes: [(SourceError.Code, ExitCode)] = [
    (.cancelled, .interrupted), (.invalidRequest, .usage), (.invalidCursor, .usage),
    (.notFound, .notFound), (.unsupported, .notFound), (.invalidSettings, .settings),
    (.offline, .unavailable), (.unreachable, .unavailable), (.connectionLost, .unavailable),
    (.rejected, .unavailable), (.serverError, .unavailable), (.circuitOpen, .unavailable),
    (.nothingCached, .unavailable), (.notRecorded, .unavailable), (.timedOut, .tryLater),
    (.rateLimited, .tryLater), (.busy, .tryLater), (.missingKey, .key), (.invalidKey, .key),
    (.malformed, .notUnderstood), (.tooLarge, .notUnderstood), (.noProgress, .partial),
    (.storage, .io), (.unusableStore, .io),
  ]

  @Test func `every failure has one exit code`() throws {
    let file = try Repository.text(of: "Sources/Core/SourceError.swift")
    let names = file.matches(of: /public static let (\w+) = Code\(/).map { String($0.1) }
    #expect(names.sorted() == Self.exitCodes.map(\.0.description).sorted())
    for (code, exitCode) in Self.exitCodes {
      for error in [
        SourceError(code, "x"), SourceError(code, "y", remedy: "z", cause: CancellationError()),
      ] {
        #expect(ExitCode(error) == exitCode)
      }
    }
  }
}

extension String {
  fileprivate var words: [String] { split(separator: " ").map(String.init) }
}

extension Option {
  /// This option as it may be typed.
  fileprivate var sample: [String] {
    switch value {
    case nil: [spelling]
    case .span: [spelling, "1h"]
    case .count(let range): [spelling, "\(range.lowerBound)"]
    case .duration: [spelling, "1s"]
    case .size: [spelling, "1g"]
    case .choice(let words): [spelling, words[0]]
    case .store: [spelling, "/x"]
    case .list, .text, .session, .file, .directory: [spelling, "x"]
    }
  }
}
