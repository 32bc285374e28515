import Testing

@testable import AggregatorProgramTesting

/// The uses of `--fields`.
@Suite struct FieldsTests {
  @Test(arguments: [
    ("countries list", "code"), ("heroes search", "realName"), ("heroes show", "biography"),
    ("countries deal", "capital"), ("config", "origin"), ("config list", "origin"),
    ("sources", "summary"), ("sources show", "chain"),
  ])
  func `every command that shows records lists their fields`(line: String, field: String)
    async throws
  {
    let outcome = try await Binary.run("\(line) --fields help")
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
    #expect(outcome.lines.contains { $0.hasPrefix("\(field)\t") }, "\(outcome)")
  }

  @Test func `fields are listed in every format`() async throws {
    let outcome = try await Binary.run("heroes list --fields help --ndjson")
    #expect(
      outcome.lines.first == #"{"name":"id","kind":"integer","about":"Comic Vine ID."}"#)
  }

  @Test(arguments: [
    ("--tsv", "Kabul\tAF\nTirana\tAL\n"),
    ("--csv", "capital,code\r\nKabul,AF\r\nTirana,AL\r\n"),
    (
      "--ndjson",
      #"{"capital":"Kabul","code":"AF"}"# + "\n" + #"{"capital":"Tirana","code":"AL"}"# + "\n"
    ),
    ("--format table", "Capital  Code\nKabul    AF\nTirana   AL\n"),
  ])
  func `fields are in the requested order`(format: String, text: String)
    async throws
  {
    let outcome = try await Binary.run(
      "countries list --offline -L2 --fields capital,code \(format)")
    #expect(outcome.output == text)
    let json = try await Binary.run(
      "countries list --offline -L2 --fields=capital,code,capital --json")
    #expect(json.output.contains(#"    {"capital":"Kabul","code":"AF"},"#))
  }

  @Test func `a table names the fields that it leaves out, for programs too, unless quiet`()
    async throws
  {
    let table = "heroes list --offline -L2 --format table"
    let note = " more fields: powers, "
    #expect(try await Binary.run(table).errors.contains(note))
    for options in ["-q", "--fields name"] {
      #expect(try await !Binary.run("\(table) \(options)").errors.contains(note), "\(options)")
    }
    #expect(try await !Binary.run("heroes list --offline -L2").errors.contains(note))
    // A narrow terminal wraps it between words.
    let narrow = try await Binary.run(
      table, environment: ["AGGREGATOR_FORCE_TTY": "40", "TERM": "dumb"])
    let lines = narrow.errorLines.filter { !$0.isEmpty }
    #expect(lines.allSatisfy { $0.count <= 40 }, "\(narrow)")
    #expect(
      lines.joined(separator: " ").contains(
        "powers, teams, aliases, … (--fields '*' shows all)"), "\(narrow)")
  }

  @Test func `a field may be named by its head, in any case`() async throws {
    let outcome = try await Binary.run("countries list --offline -L1 --fields CODE,Capital --json")
    #expect(outcome.output.contains(#"{"code":"AF","capital":"Kabul"}"#), "\(outcome)")
  }

  @Test(arguments: [
    ("list --where REGION=EU --count", "list --where region=EU --count"),
    (
      "list --where not(Region=EU) --sort -NAME,+CODE -L3",
      "list --where region!=EU --sort -name,code -L3"
    ),
    ("list --group-by Region --sort -COUNT --json", "list --group-by region --sort -count --json"),
    ("list --group-by REGION --stats Name --json", "list --group-by region --stats name --json"),
    ("list --distinct Region --json", "list --distinct region --json"),
    ("list --stats Code", "list --stats code"),
    ("search paris --where CAPITAL=Paris", "search paris --where capital=Paris"),
  ])
  func `options of selections and summaries take the same names`(
    typed: String, line: String
  ) async throws {
    let outcome = try await Binary.run("countries \(typed) --offline")
    let expected = try await Binary.run("countries \(line) --offline")
    #expect(!expected.output.isEmpty && outcome.output == expected.output, "\(outcome)")
  }

  @Test(arguments: [
    ("*,-CAPITAL,-code", "name,region"), ("capital,*,-code", "capital,name,region"),
    ("*,name", "code,name,region,capital"), ("-name,*", "code,region,capital"),
  ])
  func `an asterisk beside other names is for all fields without those after a dash`(
    list: String, names: String
  ) async throws {
    let line = ["countries", "list", "--offline", "-L2", "--json", "--fields"]
    let outcome = try await Binary.run(line + [list])
    let named = try await Binary.run(line + [names])
    #expect(outcome.status == named.status && outcome.output == named.output, "\(outcome)")
    let groups = ["countries", "list", "--offline", "--group-by", "region", "--fields"]
    let counts = try await Binary.run(groups + ["*,-REGION"])
    #expect(try await Binary.run(groups + ["count"]).output == counts.output, "\(counts)")
    let unknown = try await Binary.run(line + ["*,-nothing"])
    #expect(unknown.errors.hasPrefix("error: unknown field \"-nothing\""), "\(unknown)")
  }

  @Test func `a search of all sources takes the names of fields in any case`() async throws {
    let search = try await Binary.run("search paris --where CAPITAL=Paris --sort -NAME --offline")
    #expect(search.output.contains("France"), "\(search)")
  }

  @Test func `an unknown field is an error that lists the others`() async throws {
    let outcome = try await Binary.run("countries list --offline --fields name,capitol")
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(
      outcome.errors == """
        error: unknown field "capitol"

        Did you mean "capital"?
        hint: available fields: code, name, region, capital

        """)
    #expect(try await Binary.run("countries list --fields ,").status == 64)
    let empty = try await Binary.run("countries list --fields code,,name")
    #expect(empty.status == 64 && empty.errors.contains("Did you mean \"code,name\"?"), "\(empty)")
  }

  @Test func `an asterisk is for all fields, which CSV has anyway`() async throws {
    let csv = try await Binary.run("heroes list --offline -L1 --csv")
    #expect(csv.output.hasPrefix("id,name,realName,publisher,powers,teams,aliases,"), "\(csv)")
    let all = try await Binary.run(["heroes", "list", "--offline", "-L1", "--csv", "--fields", "*"])
    #expect(all.output == csv.output && all.status == 0, "\(all)")
    let grouped = try await Binary.run(["heroes", "list", "--offline", "--group-by", "*"])
    #expect(grouped.errors.hasPrefix("error: unknown field \"*\"\n"), "\(grouped)")
  }
}
