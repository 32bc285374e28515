import Testing

/// The output on a terminal.
@Suite struct TerminalTests {
  @Test(arguments: [100, 56, 30])
  func `the code of a country is at the right edge at any width`(width: Int) async throws {
    let outcome = try await Binary.run(
      "countries search united --offline",
      environment: ["AGGREGATOR_FORCE_TTY": "\(width)", "TERM": "dumb"])
    #expect(outcome.output == Self.united[width])
  }

  static let united = [
    100: """
    Tanzania, United Republic of, AF                                                                  TZ
      Dodoma
    United Arab Emirates, AS                                                                          AE
      Abu Dhabi
    United Kingdom, EU                                                                                GB
      London
    United States, NA                                                                                 US
      Washington
    United States Minor Outlying Islands, OC                                                          UM

    """,
    56: """
    Tanzania, United Republic of, AF                      TZ
      Dodoma
    United Arab Emirates, AS                              AE
      Abu Dhabi
    United Kingdom, EU                                    GB
      London
    United States, NA                                     US
      Washington
    United States Minor Outlying Islands, OC              UM

    """,
    30: """
    Tanzania, United Republic   TZ
    of, AF
      Dodoma
    United Arab Emirates, AS    AE
      Abu Dhabi
    United Kingdom, EU          GB
      London
    United States, NA           US
      Washington
    United States Minor         UM
    Outlying Islands, OC

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
    #expect(outcome.errors.contains("\u{1B}") == isColored)
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
    #expect(outcome.errors.contains("\u{1B}") == isColored)
  }

  @Test func `the first page shows how many records remain`() async throws {
    let outcome = try await Binary.run(
      "countries list --offline",
      environment: ["AGGREGATOR_FORCE_TTY": "80", "TERM": "dumb"])
    #expect(
      outcome.errors.hasPrefix(
        "20 of 250 countries · more: aggregator countries next · all: --all\n"))
  }
}
