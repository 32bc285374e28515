import Foundation
import Testing

/// Command lines that make no sense, and what is said of them.
@Suite struct UsageTests {
  static let mistakes: [(line: String, errors: String)] = [
    (
      "heros list",
      "unknown source or command 'heros'\n\nDid you mean 'heroes'?\nhint: aggregator help"
    ),
    (
      "heroes serach spider",
      "unknown verb 'serach' of heroes\n\nDid you mean 'heroes search'?\nhint: aggregator help heroes"
    ),
    (
      "list heroes $(x)",
      "unknown source or command 'list'\n\nDid you mean 'heroes list '$(x)''?\nhint: aggregator help"
    ),
    (
      "list heroes",
      "unknown source or command 'list'\n\nDid you mean 'heroes list'?\nhint: aggregator help"
    ),
    (
      "show heroes 1443",
      "unknown source or command 'show'\n\nDid you mean 'heroes show 1443'?\nhint: aggregator help"
    ),
    (
      "sources heroes",
      "'sources' has no 'heroes'\n\nDid you mean 'sources show heroes'?\nhint: aggregator help sources"
    ),
    (
      "list spider",
      "'list' needs a source before it\nhint: the sources are countries, heroes, products, users"
    ),
    (
      "--versoin",
      "unknown option '--versoin'\n\nDid you mean '--version'?\nhint: aggregator help options"
    ),
    (
      "heroes fly",
      "unknown verb 'fly' of heroes\nhint: heroes can list, next, search, show, sync, delete, restore, open, image"
    ),
    (
      "heroes list spider",
      "'heroes list' takes no 'spider'\n\nDid you mean 'heroes search spider'?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --limt 5",
      "unknown option '--limt'\n\nDid you mean '--limit'?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --li 5",
      "unknown option '--li'\n\nDid you mean '--limit'?\nhint: aggregator help heroes list"
    ),
    ("heroes list --re", "unknown option '--re'\nhint: aggregator help heroes list"),
    (
      "heroes show -1",
      "unknown option '-1'\nhint: what begins with a dash and is no option goes after --"
    ),
    ("heroes list -x", "unknown option '-x'\nhint: aggregator help heroes list"),
    (
      "heroes list --seed 4",
      "'heroes list' takes no --seed; 'countries deal' does\nhint: aggregator help heroes list"
    ),
    (
      "heroes show 1 --limit 5",
      "'heroes show' takes no --limit; list, next and search do\nhint: aggregator help heroes show"
    ),
    ("--limit 5", "--limit needs a source or a command\nhint: aggregator help"),
    ("heroes list --limit", "--limit wants a value: -L, --limit N"),
    ("heroes list --quiet=yes", "--quiet takes no value, but was given 'yes'"),
    ("heroes list -q=yes", "--quiet takes no value, but was given '=yes'"),
    ("heroes list --limit 0", "--limit wants a whole number from 1 to 1000000000, not '0'"),
    ("heroes list --limit -1", "--limit wants a whole number from 1 to 1000000000, not '-1'"),
    ("heroes list -L-1", "--limit wants a whole number from 1 to 1000000000, not '-1'"),
    ("heroes list --limit=", "--limit wants a whole number from 1 to 1000000000, not ''"),
    ("heroes list --limit abc", "--limit wants a whole number from 1 to 1000000000, not 'abc'"),
    (
      "heroes list --limit 9999999999999999999999",
      "--limit wants a whole number from 1 to 1000000000, not '9999999999999999999999'"
    ),
    ("heroes list --timeout 5", "--timeout wants a time such as 500ms, 10s or 2m, not '5'"),
    ("heroes list --timeout 0s", "--timeout wants a time such as 500ms, 10s or 2m, not '0s'"),
    (
      "heroes list --format yaml", "--format wants one of table, tsv, csv, json, ndjson, not 'yaml'"
    ),
    (
      "heroes list --format jsn",
      "--format wants one of table, tsv, csv, json, ndjson, not 'jsn'\n\nDid you mean '--format json'?"
    ),
    (
      "heroes list --json --csv",
      "--json and --csv exclude each other\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --json --format csv",
      "--json and --format csv exclude each other\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --csv-raw --json",
      "--csv-raw is for --csv\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --all --limit 5",
      "--limit and --all exclude each other\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --offline --refresh",
      "--offline and --refresh exclude each other\nhint: aggregator help heroes list"
    ),
    ("heroes search", "what to look for is missing\nhint: aggregator heroes search WORD…"),
    (
      "heroes next spider",
      "'heroes next' takes no query: it goes on with the last one\nhint: aggregator heroes search spider"
    ),
    (
      "heroes next --back --peek",
      "--back and --peek exclude each other\nhint: aggregator help heroes next"
    ),
    (
      "heroes next --cursor x",
      "'heroes next' takes no --cursor; list and search do\nhint: aggregator help heroes next"
    ),
    (
      "heroes list --session ../x",
      "'../x' is no name for a session\n"
        + "hint: a name has up to 64 of A-Z a-z 0-9 . _ -, and begins with none of . -"
    ),
    ("heroes show", "an ID is missing\nhint: aggregator heroes show 1443"),
    (
      "heroes open",
      "an ID is missing\nhint: aggregator help heroes open"
    ),
    (
      "heroes open 1443 1453",
      "'1453' is one word too many\nhint: aggregator help heroes open"
    ),
    ("countries open FR", "countries have no web pages\nhint: aggregator countries show FR"),
    (
      "countries deal --seed -1",
      "--seed wants a whole number from 0 to 9223372036854775807, not '-1'"
    ),
    (
      "sources show heros",
      "there is no source 'heros'\n\nDid you mean 'heroes'?\n"
        + "hint: the sources are countries, heroes, products, users"
    ),
    (
      "help serach",
      "unknown source or command 'serach'\n\nDid you mean 'search'?\nhint: aggregator help"
    ),
    (
      "help exit-code",
      "unknown source or command 'exit-code'\n\nDid you mean 'help exit-codes'?\nhint: aggregator help"
    ),
    (
      "heroes restore 1443 --yes",
      "'heroes restore' takes no --yes; delete does\nhint: aggregator help heroes restore"
    ),
    (
      "config get COMIC_VINE_RATE --json",
      "'config get' takes no --json; list does\nhint: aggregator help config get"
    ),
    (
      "heroes ls",
      "unknown verb 'ls' of heroes\n\nDid you mean 'heroes list'?\n"
        + "hint: aggregator help heroes"
    ),
    (
      "get heroes 1443",
      "unknown source or command 'get'\n\nDid you mean 'heroes show 1443'?\nhint: aggregator help"
    ),
    (
      "serach heroes spider",
      "unknown source or command 'serach'\n\nDid you mean 'heroes search spider'?\nhint: aggregator help"
    ),
    (
      "find spider",
      "unknown source or command 'find'\n\nDid you mean 'search'?\nhint: aggregator help"
    ),
    (
      "ls",
      "unknown source or command 'ls'\n\nDid you mean 'SOURCE list'?\n"
        + "hint: the sources are countries, heroes, products, users"
    ),
    (
      "users pull",
      "unknown verb 'pull' of users\n\nDid you mean 'users sync'?\n"
        + "hint: aggregator help users"
    ),
    (
      "config remove COMIC_VINE_RATE",
      "'config' has no 'remove'\n\nDid you mean 'config unset'?\nhint: aggregator help config"
    ),
    (
      "sources list",
      "'sources' has no 'list'\n\nDid you mean 'sources'?\nhint: aggregator help sources"
    ),
    (
      "completions tcsh",
      "'completions' has no 'tcsh'\nhint: completions has bash, zsh, fish"
    ),
    (
      "completions bsh",
      "'completions' has no 'bsh'\n\nDid you mean 'completions bash'?\nhint: aggregator help completions"
    ),
    (
      "version",
      "unknown source or command 'version'\n\nDid you mean '--version'?\nhint: aggregator help"
    ),
    (
      "exit-codes",
      "unknown source or command 'exit-codes'\n\nDid you mean 'help exit-codes'?\nhint: aggregator help"
    ),
    (
      "config get COMIC_VINE_APIKEY",
      "there is no setting 'COMIC_VINE_APIKEY'\n\nDid you mean 'COMIC_VINE_API_KEY'?\nhint: aggregator config list"
    ),
  ]

  @Test(arguments: mistakes.indices)
  func `a wrong command line is 64, and is explained`(index: Int) async throws {
    let mistake = Self.mistakes[index]
    let outcome = try await Binary.run(mistake.line)
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors == "error: \(mistake.errors)\n", "\(mistake.line)")
    #expect(outcome.errorLines.count <= 6)
  }

  @Test(arguments: [" ", "\t", "\n"])
  func `a blank query is 64`(query: String) async throws {
    let outcome = try await Binary.run(["heroes", "search", query])
    #expect(outcome.status == 64)
    #expect(
      outcome.errors == "error: empty query\nhint: specify at least one word\n")
  }

  @Test(arguments: ["--limit 2", "--limit=2", "-L2", "-L 2", "-L=2", "--limit 7 -L 2"])
  func `an option's value is written in any of these ways`(option: String) async throws {
    for line in ["countries list --offline \(option)", "\(option) countries --offline list"] {
      let outcome = try await Binary.run(line)
      #expect(outcome.status == 0, "\(line): \(outcome)")
      #expect(outcome.lines.count == 2)
    }
  }

  @Test func `letters may share a dash`() async throws {
    let outcome = try await Binary.run("countries list --offline -qL2")
    #expect(outcome.lines.count == 2)
    #expect(outcome.errors == "")
    #expect(try await Binary.run("countries list -qh").output.hasPrefix("Show countries"))
  }

  @Test func `words of a query are joined by spaces`() async throws {
    let outcome = try await Binary.run("countries search --offline new --json zealand")
    let envelope = try outcome.envelope()
    #expect(envelope.query == "new zealand")
    #expect(envelope.items.map(\.code) == ["NZ"])
  }

  @Test(arguments: [
    "garbage", "unreachable.cMg.oyatise5b", "nonsense.cMg.oyatise5a", "Ω", "-1", ".", "a.b.c.d",
    String(repeating: "a", count: 513),
  ])
  func `a damaged or foreign cursor is 64, never a silent start over`(cursor: String) async throws {
    for source in ["countries list", "heroes list", "countries search new"] {
      let outcome = try await Binary.run("\(source) --offline --cursor \(cursor)")
      #expect(outcome.status == 64, "\(source): \(outcome)")
      #expect(outcome.output == "")
      #expect(outcome.errors.contains("cursor"))
    }
  }

  @Test func `the cursor of one listing is no other's`() async throws {
    let page = try await Binary.run("countries search new --offline -L1 --json").envelope()
    let cursor = try #require(page.page.next)
    #expect(try await Binary.run("countries search new --cursor \(cursor)").status == 0)
    for line in ["countries list", "countries search island", "heroes search new"] {
      let outcome = try await Binary.run("\(line) --cursor \(cursor)")
      #expect(outcome.status == 64)
      #expect(outcome.errors.contains("belongs to a different source or query"))
    }
  }
}
