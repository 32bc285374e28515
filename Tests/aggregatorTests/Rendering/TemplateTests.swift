import AggregatorKit
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

/// `--template`, and the formats `markdown` and `yaml`.
@Suite struct TemplateTests {
  @Test func `a line is written for each record`() async throws {
    let line = ["countries", "show", "FR", "CW", "--offline", "--template"]
    let outcome = try await Binary.run(line + [#"\{{name}\}\t{ capital }\\{name}"#])
    #expect(
      outcome.output == "{France}\tParis\\France\n{Curaçao}\tWillemstad\\Curaçao\n", "\(outcome)")
    let search = try await Binary.run([
      "search", "paris", "--offline", "--template", "{source}:{id}",
    ])
    #expect(search.lines.contains("countries:FR"), "\(search)")
    let sql = try await Binary.run([
      "sql", "SELECT code AS c, 1 AS n FROM countries ORDER BY 1 LIMIT 1", "--template", "{n}{c}",
    ])
    #expect(sql.output == "1AD\n", "\(sql)")
    let list = ["countries", "list", "--offline", "--group-by", "region"]
    let groups = try await Binary.run(list + ["--template", "{region}={count}"])
    let rows = try await Binary.run(list)
    #expect(groups.lines.contains("EU=53"), "\(groups)")
    #expect(groups.lines == rows.lines.map { $0.replacing("\t", with: "=") })
    let unknown = try await Binary.run(list + ["--template", "{name}"])
    #expect(unknown.errors.contains("available fields: region, count"), "\(unknown)")
    let sources = try await Binary.run(["sources", "--template", "{name}"])
    #expect(sources.lines.contains("heroes"))
  }

  @Test func `a field may be named by its head, in any case`() async throws {
    let list = [
      "countries", "list", "--offline", "-L1", "--template", "{NAME|upper} {name} {Code:>4}",
    ]
    #expect(try await Binary.run(list).output == "AFGHANISTAN Afghanistan   AF\n")
    let sql = ["sql", "SELECT 1 AS \"First Name\"", "--template", "{first name}{First Name}"]
    #expect(try await Binary.run(sql).output == "11\n")
  }

  @Test func `a record is one line, whatever its values are`() async throws {
    let sql = "SELECT 1 AS n, 'a' || char(13, 10) || 'b' || char(10) || 'c' AS t"
    let outcome = try await Binary.run(["sql", sql, "--template", "{n}: {t}"])
    #expect(outcome.output == "1: a b c\n", "\(outcome)")
  }

  @Test func `control characters are pictures in a pipe, and other characters stay`() async throws {
    let text = "'a' || char(27) || '[31m' || char(8, 7, 0, 9) || 'b|' || char(0x202E, 0x9B) || 'é'"
    let sql = ["sql", "SELECT \(text) AS t"]
    let line = try await Binary.run(sql + ["--template", "{t}"])
    #expect(line.output == "a␛[31m␈␇␀ b|\u{202E}\u{FFFD}é\n", "\(line)")
    let table = try await Binary.run(sql + ["--format", "markdown"])
    #expect(table.output == "| t |\n| --- |\n| a␛\\[31m␈␇␀ b\\|\u{FFFD}é |\n", "\(table)")
  }

  @Test func `a form of a column in SQL applies to the values that it fits`() async throws {
    let none = ["sql", "SELECT 1.5 AS n WHERE 1 = 0", "--template", "{n:.2f}"]
    let empty = try await Binary.run(none)
    #expect(empty.status == 0 && empty.output == "", "\(empty)")
    let mixed = try await Binary.run(["sql", "VALUES ('a'), (1.5)", "--template", "{column1:.2f}"])
    #expect(mixed.output == "a\n1.50\n", "\(mixed)")
  }

  @Test func `a day has no time in a template, and a year no day`() async throws {
    let values = #"SELECT '2026-02-03' AS a, '2026' AS b, '2026-02-03T04:05:06Z' AS c"#
    let outcome = try await Binary.run([
      "sql", values, "--template", "{a:%d.%m.%Y} {a:%H:%M} {b:%Y-%m-%d} {c:%d.%m. %H:%M}",
    ])
    #expect(outcome.output == "03.02.2026 2026-02-03 2026 03.02. 04:05\n", "\(outcome)")
  }

  @Test(arguments: [
    ("{nmae}", "unknown field \"nmae\""),
    ("{name", "invalid value for --template: the \"{\" at character 1 is not closed"),
    (#"{name}\x"#, #"invalid value for --template: "\x" at character 7 is no escape"#),
    (
      "ab{name:8d}",
      #"invalid value for --template: "{name:8d}" at character 3 has an invalid form"#
    ),
    ("{name:%Q}", #"invalid value for --template: "{name:%Q}" at character 1 has"#),
    ("{name:05,}", #"invalid value for --template: "{name:05,}" at character 1 has"#),
    ("{name|title}", #"invalid value for --template: "{name|title}" at character 1 has"#),
    ("{nmae:<20}", "unknown field \"nmae\""),
    (
      "{name:.2f}",
      #"invalid value for --template: values of "name" are no numbers, but of kind text"#
    ),
    (
      "{Name:,}",
      #"invalid value for --template: values of "Name" are no numbers, but of kind text"#
    ),
    ("name", "invalid value for --template: it names no field"),
    ("{{.name}}", "invalid value for --template: a field is in single braces"),
  ])
  func `a mistake is explained`(template: String, words: String) async throws {
    let outcome = try await Binary.run(["countries", "list", "--offline", "--template", template])
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
    #expect(outcome.errors.hasPrefix("error: \(words)"), "\(outcome)")
    if template == "{nmae}" { #expect(outcome.errors.contains("capital"), "\(outcome)") }
  }

  @Test(arguments: [
    ("[{realName:<6}]", "[Yes   ]"), ("[{realName:6}]", "[Yes   ]"),
    ("[{realName:>6}]", "[   Yes]"),
    ("[{realName:^6}]", "[ Yes  ]"), ("[{realName:2}]", "[Yes]"), ("[{realName:>4.2}]", "[  Ye]"),
    ("[{realName|upper:-x}{realName|lower}]", "[YESyes]"), ("[{issues:4}]", "[   3]"),
    ("[{issues:<6.2}]", "[3.00  ]"), ("[{issues:.0f}]", "[3]"), ("[{realName:.1f}]", "[Yes]"),
    ("[{ realName | upper }]", "[YES]"), ("[{publisher:.2}]", "[日]"),
    ("[{publisher:>4.3}]", "[  日]"),
    ("[{empty:-none}{realName:-none}]", "[noneYes]"), ("[{empty|upper:>6.2:-none}]", "[  none]"),
    ("[{empty:-a:b|c d}]", "[a:b|c d]"), ("[{empty:3}]", "[   ]"),
    ("[{price:>8.2f}]", "[    2.67]"),
    ("[{issues:05}]", "[00003]"), ("[{debt:010.1f}]", "[-0001234.5]"),
    ("[{realName:05}]", "[Yes  ]"), ("[{code:05}{code:3}]", "[0004242 ]"),
    ("[{pubDate:%d.%m.%Y %H:%M}]", "[02.01.2023 15:00]"),
    ("[{debt:,}]", "[-1,234.5]"), ("[{debt:>12,.2f}]", "[   -1,234.50]"), ("[{issues:,}]", "[3]"),
    ("[{added:%d.%m.%Y %H:%M}]", "[05.02.2026 07:08]"), ("[{added|upper:%b %j:-x}]", "[FEB 036]"),
    ("[{realName:%Y}{empty:%Y:-none}]", "[Yesnone]"),
    ("[{price:.3}{price}]", "[2.6752.675]"), ("[{price:}]", "[2.675]"),
    ("{mixed}", #"[1,{"y":0}]"#),
  ])
  func `a value has the form after its name`(template: String, line: String) throws {
    var listing = Listing.heroes
    listing.fields += [
      Field("empty", "Empty", .text, about: "") { _ in "" },
      Field("price", "Price", .number, about: "") { _ in .number(2.675) },
      Field("debt", "Debt", .number, about: "") { _ in .number(-1234.5) },
      Field("added", "Added", .text, about: "") { _ in "2026-02-05T09:08:00+02:00" },
      Field("code", "Code", .text, about: "") { _ in "42" },
      Field("mixed", "Mixed", .list, about: "") { _ in [1, ["y": 0]] },
      Field("pubDate", "Date", .text, about: "") { _ in "Mon, 02 Jan 2023 10:00:00 EST" },
    ]
    listing.template = try RecordTemplate(template)
    let hero = Hero(id: 7, name: "a", realName: "Yes", publisher: "日本", issues: 3)
    #expect(rendered([[hero]], as: .tsv, listing, on: .plain(80)) == "\(line)\n")
  }

  private func text(_ format: Format, _ template: String? = nil, onTerminal: Bool = false) throws
    -> String
  {
    var listing = Listing.heroes
    listing.template = try template.map { try RecordTemplate($0) }
    let hero = Hero(
      id: 7, name: "a|b\u{1B}[31m *<b>*", realName: "Yes", publisher: "1: #x", issues: 3)
    let layout =
      onTerminal
      ? TerminalLayout(width: 80, isTerminal: true, hasColor: true, isRead: true) : .plain(80)
    return rendered([[hero]], as: format, listing, on: layout)
  }

  @Test func `values do not reach a terminal as commands`() throws {
    #expect(try text(.tsv, "{name}") == "a|b␛[31m *<b>*\n")
    #expect(try text(.tsv, "{name}", onTerminal: true) == "a|b␛[31m *<b>*\n")
  }

  @Test func `a table of Markdown has no markup of its values`() throws {
    let lines = try text(.markdown, onTerminal: true).split(separator: "\n")
    #expect(lines[0] == "| ID | Name | Real name | Publisher | Issues | Powers | Biography |")
    #expect(lines[1] == "| ---: | --- | --- | --- | ---: | --- | --- |")
    #expect(lines[2] == #"| 7 | a\|b␛\[31m \*&lt;b&gt;\* | Yes | 1: #x | 3 |  |  |"#)
  }

  @Test func `nothing in Markdown changes the order of what follows it, and CSV is as it is`() {
    let hero = Hero(id: 7, name: "a\u{202E}b\u{2066}c", realName: "Yes", publisher: nil)
    let markdown = rendered([[hero]], as: .markdown, .heroes, on: .plain(80))
    #expect(markdown.contains("| abc |"), "\(markdown)")
    let csv = rendered([[hero]], as: .csv, .heroes, on: .plain(80))
    #expect(csv.unicodeScalars.contains { $0 == "\u{202E}" }, "\(csv)")
  }

  @Test func `Markdown aligns numbers of any field`() {
    var listing = Listing.heroes
    let issues: [Int: JSON] = [1: .integer(12), 2: .null, 3: .string("none")]
    listing.fields = [
      Hero.fields[0], Field("issues", "Issues", .any, about: "") { issues[$0.id] ?? .null },
    ]
    func rule(_ ids: [Int]) -> Substring? {
      let pages = [[], ids.map { Hero(id: $0) }]
      return rendered(pages, as: .markdown, listing, on: .plain(80)).split(separator: "\n").last {
        $0.contains("---")
      }
    }
    #expect(rule([1, 2]) == "| ---: | ---: |")
    #expect(rule([1, 3]) == "| ---: | --- |")
    #expect(rule([]) == "| ---: | --- |")
  }

  @Test func `YAML has quotes where words would be something else`() throws {
    let yaml = try text(.yaml)
    #expect(
      yaml.hasPrefix("- id: 7\n  name: \"a|b\\u001b[31m *<b>*\"\n  realName: \"Yes\"\n"), "\(yaml)")
    #expect(yaml.contains("\n  publisher: \"1: #x\"\n"))
    let listing = Listing.heroes
    #expect(rendered([[]], as: .yaml, listing, on: .plain(80)) == "[]\n")
  }
}
