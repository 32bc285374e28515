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
  }
}
