import Foundation
import Testing

@testable import AggregatorArguments
@testable import AggregatorProgramTesting

/// The real shells, with typed input.
@Suite struct ShellTests {
  /// Ids that would do harm if they were anything but text.
  static let hostile = [
    "a$(touch pwned)", "b;touch pwned;", "c`touch pwned`", "d|touch pwned&", "e\ntouch pwned",
    "f'$(touch pwned)'", "g\"$(touch pwned)\"", "h\\$(touch pwned)", "i!!", "j*", "k{a,b}",
    "l it's \"so\"", "m@x.example", "n:o=p,q", "r#s", "t~/u", "v日本 é", "w<x>y", "z%$HOME",
  ]

  @Test(.enabled(if: Shell.missing.isEmpty, "not installed: \(Shell.missing)"))
  func `all shells are installed`() { #expect(Shell.installed.count == 3) }

  @Test(arguments: Shell.installed, ["", "'", "\""])
  func `IDs are completed literally and run nothing`(
    shell: Shell, quote: String
  ) async throws {
    let home = try await PopulatedHome(
      Dictionary(uniqueKeysWithValues: Self.hostile.map { ($0, "Lamp") }))
    let terminal = try await ShellAtTerminal(shell, in: home)
    var expected: [String] = []
    for id in Self.hostile where !id.contains("\n") {
      expected += ["products", "show", id]
      try await terminal.run("aggregator products show \(quote)\(id.prefix(1))\t")
    }
    #expect(try terminal.typed() == expected)
    #expect(try home.household.sandbox.files(under: "work") == ["typed"])
  }

  /// The typed text, and the resulting arguments.
  static let lines: [(keys: String, arguments: String)] = [
    ("her\tli\t--js\t", "heroes list --json"),
    ("heroes list --format=j\t", "heroes list --format=json"),
    ("heroes list --format j\t", "heroes list --format json"),
    ("heroes list --col\talw\t", "heroes list --color always"),
    ("countries list --fields name,cap\t", "countries list --fields name,capital"),
    ("conf\tset COMIC_VINE_RAT\t2/s", "config set COMIC_VINE_RATE 2/s"),
    ("heroes list --config mi\t", "heroes list --config mine.xcconfig"),
    ("heroes list --config=mi\t", "heroes list --config=mine.xcconfig"),
    ("heroes list --config 'my \t", "heroes list --config my own"),
    ("heroes list --record ta\t", "heroes list --record tape"),
    ("heroes list --record=ta\t", "heroes list --record=tape"),
    ("products show jane@\t", "products show jane@x.example"),
    ("products show urn:a\t", "products show urn:a:b"),
    ("help exit\t", "help exit-codes"), ("completions fi\t", "completions fish"),
  ]

  @Test(arguments: Shell.installed)
  func `completes words, options, values and files`(shell: Shell) async throws {
    let home = try await PopulatedHome(["jane@x.example": "Jane", "urn:a:b": "Name"])
    for file in ["mine.xcconfig", "my own", "tape/0001.http", "tap.txt"] {
      try home.household.sandbox.write("", to: "work/\(file)")
    }
    let terminal = try await ShellAtTerminal(shell, in: home)
    for (keys, arguments) in Self.lines {
      try await terminal.run("aggregator \(keys)")
      let typed = try terminal.typed().joined(separator: " ")
      // Zsh takes back the slash that it has added to a directory.
      #expect(typed.hasSuffix(arguments) || typed.hasSuffix("\(arguments)/"), "\(keys)")
    }
  }

  @Test(arguments: Shell.installed)
  func `completes saved queries, their arguments, and values`(shell: Shell) async throws {
    let home = try await PopulatedHome([
      "a1": "Big $(touch pwned) sofa", "a2": "Big $(touch pwned) sofa", "b1": "Lamp", "b2": "Lamp",
    ])
    try home.household.sandbox.write(
      "goods = products list --limit 3\nitem = products show $1\n",
      to: "home/.config/aggregator/queries")
    let terminal = try await ShellAtTerminal(shell, in: home)
    for (keys, arguments) in [
      ("goo\t--js\t", "goods --json"), ("query show go\t", "query show goods"),
      ("item b1 --off\t", "item b1 --offline"),
      ("goods --where title=La\t", "goods --where title=Lamp"),
      (
        "products list --where title=B\t", "products list --where title=Big $(touch pwned) sofa"
      ),
    ] {
      try await terminal.run("aggregator \(keys)")
      let typed = try terminal.typed().joined(separator: " ")
      #expect(typed.hasSuffix(arguments), "\(keys)")
    }
    #expect(try home.household.sandbox.files(under: "work") == ["typed"])
  }

  @Test(arguments: Shell.installed)
  func `values with spaces are completed inside the quote that was typed`(
    shell: Shell
  ) async throws {
    let home = try await PopulatedHome([
      "a1": "Big red sofa", "a2": "Big red sofa", "b1": "Lamp", "b2": "Lamp",
      "c1": "it's $(touch pwned)", "c2": "it's $(touch pwned)",
    ])
    let terminal = try await ShellAtTerminal(shell, in: home)
    var lines = [
      ("'title=Big r\t", "title=Big red sofa"), (#"title=Big\ r"# + "\t", "title=Big red sofa"),
      ("'title in (Lamp, Big \t)'", "title in (Lamp, Big red sofa)"),
    ]
    if shell == .bash {
      // It closes the quote after the only completion, unless there seem to be two.
      lines += [("'title=Lamp and ti\t=x'", "title=Lamp and title=x")]
    }
    if shell == .fish {
      // It ends the word after the only completion, so that there are several.
      lines += [("ti\t=x", "title=x"), ("'title=Lamp and ti\t=x'", "title=Lamp and title=x")]
    }
    if shell == .zsh {
      // It rewrites a word with a quote inside, unless it is told not to; a quote that is open takes no backslash.
      lines += [
        (#"--where='title=Lamp and ti\#t=x' \'"#, #"--where=title=Lamp and title=x '"#),
        (#"--where="title=Lamp and ti\#t=x" \'"#, #"--where=title=Lamp and title=x '"#),
        (#"--where='title=it\#t"#, "--where=title=it's $(touch pwned)"),
        (#"--where="title=it\#t"#, "--where=title=it's $(touch pwned)"),
      ]
    }
    for (keys, arguments) in lines {
      let option = keys.hasPrefix("--") ? "" : "--where "
      try await terminal.run("aggregator products list \(option)\(keys)")
      let typed = try terminal.typed().joined(separator: " ")
      #expect(typed.hasSuffix(arguments), "\(keys)")
    }
    #expect(try home.household.sandbox.files(under: "work") == ["typed"])
  }

  @Test(arguments: Shell.installed)
  func `a name with spaces is completed in quotes, as it is typed or not`(shell: Shell) async throws
  {
    let home = try await PopulatedHome([:])
    try home.household.sandbox.write("id,Order no\n1,5\n", to: "work/orders.csv")
    #expect(try await home.household.run("sources add orders orders.csv").status == 0)
    let terminal = try await ShellAtTerminal(shell, in: home)
    // Fish adds a space, and ends the word.
    let end = shell == .fish ? " " : "=5"
    var words = ["--where order\t\(end)", "--where Or\t\(end)", "--where=ord\t\(end)"]
    if shell != .fish { words += ["--where '\"o\t\(end)'", "--where 'or\t\(end)'"] }
    if shell == .zsh { words.append("--where='or\t\(end)'") }
    for keys in words {
      try await terminal.run("aggregator orders list \(keys)")
      let typed = try terminal.typed().suffix(2).joined(separator: " ")
        .replacing("=\"", with: " \"")
      #expect(typed.hasSuffix("--where \"Order no\"\(shell == .fish ? "" : end)"), "\(keys)")
    }
  }

  @Test(
    .enabled(if: Shell.fish.path != nil, "fish is not installed"),
    arguments: [
      ("products show ", ["a1\tLamp"]), ("nonsense ", []), ("products list --config=x", []),
      ("products list --record ", ["tape/"]), ("products list --config=t", ["--config=tape/"]),
      ("products list --config=./ta", ["--config=./tape/"]),
    ])
  func `fish offers matches, and nothing without a match`(
    line: String, words: [String]
  ) async throws {
    let home = try await PopulatedHome(["a1": "Lamp"])
    try home.household.sandbox.write("", to: "work/tape/0001.http")
    try home.household.sandbox.write("", to: "work/mine")
    let programs = URL(filePath: try Binary.path).deletingLastPathComponent().path
    let script = "aggregator completions fish | source; complete -C 'aggregator \(line)'"
    let outcome = try await Binary.run(
      [String](), environment: ["PATH": "\(programs):/usr/bin:/bin"], in: home.household.sandbox,
      by: [try #require(Shell.fish.path), "-c", script])
    #expect(outcome.output == words.map { "\($0)\n" }.joined())
    #expect(outcome.errors == "")
  }

  @Test(arguments: Shell.installed)
  func `shows the candidates with their descriptions`(shell: Shell) async throws {
    let terminal = try await ShellAtTerminal(
      shell, in: try await PopulatedHome(["a1": "Lamp", "a2": "Sofa"]))
    // The first key completes the common prefix.
    try await terminal.type(
      "aggregator products show \t\t\t", until: shell == .bash ? "a2" : "Sofa")
  }

  // MARK: - The key that picks a record

  @Test(arguments: Shell.installed)
  func `a key picks a record and inserts its ID, which runs nothing`(shell: Shell) async throws {
    let ids = Self.hostile
    let titles = ids.indices.map { "Title\(Character(Unicode.Scalar(UInt8(0x41 + $0))))" }
    let home = try await PopulatedHome(Dictionary(uniqueKeysWithValues: zip(ids, titles)))
    let terminal = try await ShellAtTerminal(shell, in: home, hasWidget: true)
    var expected: [String] = []
    for (id, title) in zip(ids, titles) where !id.contains("\n") {
      expected += ["products", "show", id]
      try await terminal.pick("aggregator products show ", title)
    }
    #expect(try terminal.typed() == expected)
    #expect(try home.household.sandbox.files(under: "work") == ["typed"])
  }

  @Test(arguments: Shell.installed)
  func `a word that is typed is the first query, and leaving changes nothing`(
    shell: Shell
  ) async throws {
    let home = try await PopulatedHome(["a1": "Lamp", "b2": "Sofa", "c 3": "Chair"])
    let terminal = try await ShellAtTerminal(shell, in: home, hasWidget: true)
    // After the verb, without a space, and in place of a word; what follows the cursor stays.
    try await terminal.pick("aggregator products show", "Sofa")
    try await terminal.pick("true | aggregator products show cha", "")
    try await terminal.pick("aggregator --quiet products show a1 --json ", "Chair")
    try await terminal.pick("aggregator products show --json", "Lamp")
    try await terminal.leave("aggregator products show a1 ")
    // Without a source, the key does nothing.
    try await terminal.run("aggregator nowhere \u{1B}i x")
    #expect(
      try terminal.typed().joined(separator: " ") == """
        products show b2 products show c 3 --quiet products show a1 --json c 3 \
        products show --json a1 products show a1 nowhere x
        """)
  }
}
