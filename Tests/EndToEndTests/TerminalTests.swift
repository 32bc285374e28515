import Testing

@testable import AggregatorProgramTesting

/// The output on a terminal.
@Suite struct TerminalTests {
  @Test(arguments: [100, 56, 30])
  func `the code of a country is at the right edge at any width`(width: Int) async throws {
    let outcome = try await Binary.run(
      "countries search united --offline --format cards",
      environment: ["AGGREGATOR_FORCE_TTY": "\(width)", "TERM": "dumb"])
    #expect(outcome.output == Self.united[width])
  }

  static let united = [
    100: """
    United Arab Emirates, AS                                                                          AE
      Abu Dhabi
    United Kingdom, EU                                                                                GB
      London
    United States, NA                                                                                 US
      Washington
    United States Minor Outlying Islands, OC                                                          UM
    Tanzania, United Republic of, AF                                                                  TZ
      Dodoma

    """,
    56: """
    United Arab Emirates, AS                              AE
      Abu Dhabi
    United Kingdom, EU                                    GB
      London
    United States, NA                                     US
      Washington
    United States Minor Outlying Islands, OC              UM
    Tanzania, United Republic of, AF                      TZ
      Dodoma

    """,
    30: """
    United Arab Emirates, AS    AE
      Abu Dhabi
    United Kingdom, EU          GB
      London
    United States, NA           US
      Washington
    United States Minor         UM
    Outlying Islands, OC
    Tanzania, United Republic   TZ
    of, AF
      Dodoma

    """,
  ]

  /// Settings for colour, and `true` if they enable it.
  static let colors: [(option: String, environment: [String: String?], isColored: Bool)] = [
    ("", [:], false),
    ("--color always", [:], true),
    ("", ["AGGREGATOR_FORCE_TTY": "80"], true),
    ("--color never", ["AGGREGATOR_FORCE_TTY": "80"], false),
    ("", ["AGGREGATOR_FORCE_TTY": "80", "NO_COLOR": "1"], false),
    ("--color auto", ["AGGREGATOR_FORCE_TTY": "80", "NO_COLOR": ""], true),
    ("--color always", ["AGGREGATOR_FORCE_TTY": "80", "NO_COLOR": "1"], true),
    ("", ["AGGREGATOR_FORCE_TTY": "80", "TERM": "dumb"], false),
  ]

  @Test(arguments: colors.indices)
  func `only terminals that want colour get it`(index: Int) async throws {
    let (option, environment, isColored) = Self.colors[index]
    let outcome = try await Binary.run(
      "heroes list --format table \(option)", environment: environment)
    #expect(outcome.output.contains("\u{1B}[1m") == isColored)
    #expect(outcome.errors.contains("\u{1B}[33mwarning:\u{1B}[0m") == isColored)
    // A slow run says that it is at work, and wipes the line.
    let messages = outcome.errors.replacing("\u{1B}[K", with: "")
    #expect(messages.contains("\u{1B}") == isColored)
    // Nor does the cursor move.
    #expect(outcome.output.contains("\u{1B}") == isColored)
  }

  @Test(arguments: [
    ("--color always heroes lst", true), ("--color=always --nonsense", true),
    ("heroes lst --color always", true), ("--nonsense --color always", false),
    ("--color never heroes lst", false), ("heroes lst", false),
  ])
  func `an error is coloured if the option precedes it`(
    line: String, isColored: Bool
  ) async throws {
    let outcome = try await Binary.run(line)
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("\u{1B}[31merror:\u{1B}[0m ") == isColored, "\(outcome)")
    // A slow run says that it is at work, and wipes the line.
    let messages = outcome.errors.replacing("\u{1B}[K", with: "")
    #expect(messages.contains("\u{1B}") == isColored)
  }

  @Test func `the first page shows how many records remain`() async throws {
    let outcome = try await Binary.run(
      "countries list --offline",
      environment: ["AGGREGATOR_FORCE_TTY": "80", "TERM": "dumb"])
    #expect(
      outcome.errors.hasPrefix(
        "20 of 250 countries · more: aggregator countries next · all: --all\n"))
  }
  @Test func `the second page shows its position, and --all the number of records`() async throws {
    let home = try TestHome(["AGGREGATOR_FORCE_TTY": "80", "TERM": "dumb"])
    let first = try await home.run("countries list --offline")
    #expect(first.errors.hasPrefix("20 of 250 countries · more: "))
    let second = try await home.run("countries next --offline")
    #expect(second.errors.hasPrefix("21–40 of 250 countries · more: "), "\(second.errors)")
    #expect(try await home.run("countries next --offline --back").errors.hasPrefix("20 of 250 "))
    let last = try await home.run("countries next --offline -L 300")
    #expect(last.errors.hasPrefix("21–250 of 250 countries\n"), "\(last.errors)")
    #expect(
      try await home.run("countries list --offline --all").errors.hasPrefix("250 countries\n"))
    let pipe = try await home.run(
      "countries list --offline --all", ["AGGREGATOR_FORCE_TTY": nil])
    #expect(!pipe.errors.contains("250 countries"))
  }

  @Test func `show and open take the beginning of an ID that a terminal shows`() async throws {
    let home = try TestHome(["AGGREGATOR_FORCE_TTY": "80", "TERM": "dumb"])
    let row = try #require(try await home.run("products list --offline").lines.dropFirst().first)
    let short = try #require(row.split(separator: " ").first)
    #expect(short.count == 8)
    let shown = try await home.run("products show \(short) --offline --fields id --tsv")
    #expect(shown.status == 0 && shown.output.hasPrefix(short), "\(shown)")
    #expect(shown.output.count == 37)
    let full = try await home.run("products list --offline --tsv -L 1")
    #expect(full.output.hasPrefix(shown.output.dropLast()))
    #expect(try await home.run("products open \(short) --offline --print-url").status == 0)
  }

  @Test func `a wide result of SQL is written as cards`() async throws {
    let home = try TestHome(["AGGREGATOR_FORCE_TTY": "60", "TERM": "dumb"])
    let columns = (1...8).map { "'value number \($0)' AS column\($0)" }.joined(separator: ", ")
    let cards = try await Binary.run(
      ["sql", "SELECT \(columns)"], environment: home.environment, in: home.sandbox)
    #expect(cards.lines == (1...8).map { "column\($0)  value number \($0)" }, "\(cards)")
    let table = try await Binary.run(
      ["sql", "SELECT 'a' AS x, 'b' AS y"], environment: home.environment, in: home.sandbox)
    #expect(table.lines == ["x  y", "a  b"])
  }
}
