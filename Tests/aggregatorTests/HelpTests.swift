import AggregatorKit
import Testing

@testable import AggregatorArguments
@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

@Suite struct HelpTests {
  static let nodes: [String] = {
    var paths: [String] = []
    CommandTree.standard.root.visit { paths.append($0.path) }
    return paths
  }()

  @Test(arguments: nodes)
  func `every command has a help text in lines that fit`(path: String) async throws {
    for width in [80, 40] {
      let outcome = try await Binary.run("\(path) --help", environment: ["COLUMNS": "\(width)"])
      #expect(outcome.status == 0)
      #expect(outcome.errors == "")
      #expect(outcome.output.hasSuffix("\n") && !outcome.output.hasSuffix("\n\n"))
      #expect(outcome.output.contains("Usage:\n  aggregator \(path)"))
      for line in outcome.output.split(separator: "\n") where line.displayWidth > width {
        // A word of a command is not divided, so that it can be pasted.
        let words = line.matches(of: /(?:'[^']*'|"[^"]*"|[^\s'"\\])+/).count
        if words > 1 { Issue.record("\(line.displayWidth) cells of \(width): \(line)") }
      }
    }
  }

  @Test func `an example that is longer than a line can be pasted`() async throws {
    let help = try await Binary.run("help sources add", environment: ["COLUMNS": "60"]).output
    #expect(
      help.contains(
        """
          aggregator sources add shop https://shop.example/orders \\
            --oauth-token-url https://shop.example/token
        """), "\(help)")
  }

  @Test(arguments: HelpTopic.allCases.filter { $0 != .man })
  func `every topic has a help text in lines that fit`(topic: HelpTopic) async throws {
    for width in [80, 40] {
      let outcome = try await Binary.run(
        "help \(topic.rawValue)", environment: ["COLUMNS": "\(width)"])
      #expect(outcome.status == 0)
      #expect(outcome.output.hasSuffix("\n") && !outcome.output.hasSuffix("\n\n"))
      for line in outcome.output.split(separator: "\n") where line.displayWidth > width {
        Issue.record("\(line.displayWidth) cells of \(width): \(line)")
      }
    }
  }

  @Test(arguments: [
    "-h heroes list --nonsense", "heroes list --limit 0 -h", "heroes list foo bar --help",
    "heroes list --limit --help", "heroes list --limit -h", "heroes list -qh --nonsense",
  ])
  func `help takes precedence over errors`(line: String) async throws {
    let outcome = try await Binary.run(line)
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
    #expect(outcome.output.contains("aggregator heroes list [OPTION…]"))
  }

  @Test(arguments: [
    ("heroes list -xh", "unknown option \"-xh\""), ("heroes list -qxh", "unknown option \"-xh\""),
    ("heroes list -hx", "unknown option \"-x\""), ("heroes list -ash", "unknown option \"-ash\""),
    ("heroes list -refresh", "Did you mean \"--refresh\"?"),
    ("heroes list -ih", "\"heroes list\" does not accept -i"),
    ("heroes search -dash", "put -- before arguments that begin with a dash"),
  ])
  func `letters that are not all options of the command are no help`(
    line: String, text: String
  ) async throws {
    let outcome = try await Binary.run(line)
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors.contains(text), "\(outcome)")
  }

  @Test(arguments: ["-hq", "-qhv", "-hL5", "-qhL 5"])
  func `h among options of the command is help`(letters: String) async throws {
    let outcome = try await Binary.run("heroes list \(letters)")
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("aggregator heroes list [OPTION…]"), "\(outcome)")
  }

  @Test func `after two dashes nothing is an option`() async throws {
    let outcome = try await Binary.run("heroes search --offline -- --help")
    #expect(outcome.status == 0)
    #expect(outcome.output == "")
    #expect(outcome.errors.contains("No heroes match \"--help\""))
  }

  @Test func `topics are listed, and may be words of their own`() async throws {
    let topics = try await Binary.run("help topics")
    #expect(topics.output.contains("\n  exit-codes "), "\(topics)")
    let codes = try await Binary.run("help exit codes")
    #expect(codes.status == 0)
    #expect(codes.output == (try await Binary.run("help exit-codes").output))
  }

  @Test(arguments: [
    ("template", "{name|upper:<20.10:-none}"), ("where", "Conditions:"), ("null", "name=, name!="),
    ("group-by", "Commands: list"), ("csv", "--csv"), ("paging", "--cursor"),
    ("3", "partial result"), ("partial", "partial result"), ("exit-code", "partial result"),
    ("bundled", "--no-fallback"),
    ("date", "added=2026-01"), ("Cache", "--offline"), ("cache", "Commands: sync, store."),
    ("pages", "--cursor"), ("sorting", "--sort"),
    ("keys", "COMIC_VINE_API_KEY"), ("key", "COMIC_VINE_API_KEY"), ("pager", "AGGREGATOR_PAGER"),
    ("retry", "try later"), ("timezone", "UTC"),
  ])
  func `words lead to what tells of them`(word: String, text: String) async throws {
    let outcome = try await Binary.run("help \(word)", environment: ["COLUMNS": "80"])
    #expect(outcome.status == 0 && outcome.output.contains(text), "\(outcome)")
  }

  @Test(arguments: ["color", "quiet", "verbose", "no-input"])
  func `options of all commands are shown without a list of commands`(word: String) async throws {
    let outcome = try await Binary.run("help \(word)")
    #expect(outcome.status == 0 && !outcome.output.contains("Commands: "), "\(outcome)")
  }

  @Test func `help and --help print the same`() async throws {
    let help = try await Binary.run("help heroes search")
    let option = try await Binary.run("heroes search --help")
    #expect(help.output == option.output)
  }

  @Test func `without arguments, prints an overview of sources, verbs and commands`() async throws {
    let outcome = try await Binary.run("")
    #expect(outcome.status == 0)
    for word in ["countries", "heroes", "list", "search QUERY…", "config", "sources"] {
      #expect(outcome.output.contains("\n  \(word) "), "\(word)")
    }
  }

  @Test(arguments: [
    ("completions", "aggregator completions SHELL …"), ("completions", "\nShells:\n  bash "),
    ("heroes restore", "aggregator heroes restore [ID… | - | --all] [OPTION…]"),
    ("config set", "\n  aggregator config set COUNTRIES_URL https://example.com/countries.json"),
    ("users load", "--refresh "), ("heroes list", "list all records (up to --max-pages)"),
    ("sql", "aggregator sql .help"), ("filters", "weeks"),
  ])
  func `the help names what the command takes`(path: String, words: String) async throws {
    #expect(try await Binary.run("help \(path)").output.contains(words))
  }

  @Test(arguments: [
    ("help list", "aggregator SOURCE list [OPTION…]"),
    ("list -h", "aggregator SOURCE list [OPTION…]"),
    ("list --nonsense -h", "aggregator SOURCE list [OPTION…]"),
    ("heroes --nonsense list -h", "aggregator heroes list [OPTION…]"),
    ("help query save", "aggregator query save NAME [OPTION…] -- WORDS…\n"),
    ("help deal", "aggregator countries deal [OPTION…]"),
    ("heroes help", "aggregator heroes VERB …"),
    ("heroes help list", "aggregator heroes list [OPTION…]"),
    ("sources help add", "aggregator sources add"),
    ("help diff countries", "aggregator countries diff [OPTION…]"),
    ("help countries watch", "aggregator watch SOURCE [OPTION…]"),
  ])
  func `help is found by the words that people try`(line: String, usage: String) async throws {
    let outcome = try await Binary.run(line)
    #expect(outcome.status == 0 && outcome.errors == "")
    #expect(outcome.output.contains("Usage:\n  \(usage)"), "\(outcome)")
  }

  @Test func `the condition among the examples of a list has an answer`() async throws {
    for source in sourceNames {
      let help = try await Binary.run("help \(source) list").output
      let condition = try #require(help.firstMatch(of: /--where (\S+) --sort/), "\(help)").1
      let list = try await Binary.run("\(source) list --offline --where \(condition)")
      #expect(list.status == 3 && !list.output.isEmpty, "\(list)")
    }
  }

  @Test func `on a terminal headings are bold, and names and examples in color`() async throws {
    let terminal: [String: String?] = ["AGGREGATOR_FORCE_TTY": "80"]
    let help = try await Binary.run("help countries list", environment: terminal).output
    #expect(help.contains("\u{1B}[1mUsage:\u{1B}[0m\n  \u{1B}[36maggregator countries list"))
    #expect(help.contains("\u{1B}[1mExamples:\u{1B}[0m\n  \u{1B}[36maggregator countries"))
    #expect(help.contains("\u{1B}[36m    --all"))
    let plain = try await Binary.run("help countries list").output
    #expect(help.replacing(/\u{1B}\[[0-9]+m/, with: "") == plain && !plain.contains("\u{1B}"))
    for variables in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
      let environment = terminal.merging(variables.mapValues(Optional.some)) { $1 }
      #expect(try await Binary.run("help countries list", environment: environment).output == plain)
    }
  }

  @Test func `load has no options that would keep it from the service`() async throws {
    for option in ["--offline", "--no-fallback"] {
      let outcome = try await Binary.run("users load \(option)")
      #expect(outcome.status == 64)
      #expect(outcome.errors.hasPrefix("error: \"users load\" does not accept \(option)"))
    }
  }

  @Test func `the version is a name and a number`() async throws {
    for line in ["--version", "-V", "heroes list --version"] {
      let outcome = try await Binary.run(line)
      #expect(outcome.status == 0)
      #expect(outcome.output == "aggregator \(Version.current)\n")
    }
  }
}
