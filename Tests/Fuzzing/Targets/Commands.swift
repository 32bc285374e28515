import AggregatorCommand
import AggregatorKit
import CountriesSource
import HeroesSource
import ProductsSource
import UsersSource

/// What is typed: command lines, and lines that are still being typed.
extension FuzzTarget {
  static let commands = [arguments, typedLine, completion, duration]

  private static let tree = CommandTree(
    "aggregator", plugins: [CountriesPlugin(), HeroesPlugin(), ProductsPlugin(), UsersPlugin()])

  private static let lines = [
    "heroes search spider --limit 5 --json", "countries deal --seed 4", "users load 20 -qv",
    "search war -L5 --source=heroes,users --fields id,name", "sql 'select 1' --csv",
    "heroes image 1443 -o - --size small --timeout 10s", "store clear heroes --deleted",
    "config set COUNTRIES_URL http://h", "help heroes list", "products delete a b -- -c",
  ]

  private static let tokens = [
    "--", "-", "--limit", "--json", "--all", "--format", "=", "-L", "-q", "-h", "--help",
    "--version",
    "heroes", "users", "list", "next", "--fields", "--timeout", "--session", "--cursor", "\n", "\n",
    "'", "\"", "\\", "$'", ",",
  ]

  /// A word a line.
  private static let arguments = FuzzTarget(
    "arguments", texts: lines.map { $0.replacing(" ", with: "\n") }, tokens: tokens
  ) { text in
    let words = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if case .failure(let error) = ArgumentParser(tree).parse(words).action {
      try expect(!error.message.isEmpty, "a failure without a message")
    }
  }

  private static let typedLine = FuzzTarget("typed-line", texts: lines, tokens: tokens) { text in
    for shell in Shell.allCases {
      let line = TypedLine("aggregator \(text)", in: shell)
      try expect(line.words.first == "aggregator" || line.words.isEmpty, "the program is lost")
      try expect(line.last.unicodeScalars.starts(with: line.kept.unicodeScalars), "kept is no part")
    }
    // What bash is told to write is read as what was meant.
    let word = String(text.unicodeScalars.filter { !$0.isInvisible })
    let read = TypedLine("aggregator " + BashWord.writing(word, inside: nil), in: .bash)
    try expect(
      read.last == word && read.quote == nil && read.words == ["aggregator"],
      "'\(word)' is written so that it reads as '\(read.last)'")
  }

  private static let completion = FuzzTarget(
    "completion", texts: lines, tokens: tokens, cost: .medium
  ) { text in
    for shell in Shell.allCases {
      let arguments = [shell.rawValue, "--line", "aggregator \(text)"]
      let variables = ["HOME": "/nonexistent", "AGGREGATOR_HOME": "/nonexistent/a"]
      guard let answer = CompletionAnswer(arguments, tree, variables: variables) else {
        throw BrokenPromise("\(shell) gets no answer")
      }
      for line in answer.text.split(separator: "\n") {
        let bad = line.unicodeScalars.first { $0.isInvisible && $0 != "\t" }
        try expect(bad == nil, "an offer with U+\(String(bad?.value ?? 0, radix: 16))")
      }
    }
  }

  private static let duration = FuzzTarget(
    "duration", texts: ["500ms", "10s", "1.5m", "24h"], tokens: ["ms", "s", "m", "h", "."]
  ) { text in
    if let duration = Duration(typed: text) {
      try expect(duration > .zero && duration <= .seconds(86_400), "\(duration)")
    }
    if SessionName.isSession(text) {
      try expect(text.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != 0x2F }, "a session is a path")
    }
  }
}
