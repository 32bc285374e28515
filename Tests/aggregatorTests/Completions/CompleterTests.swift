import AggregatorKit
import AggregatorQueries
import Testing

@testable import AggregatorArguments
@testable import AggregatorProgramTesting

/// Completions at each position of a command line.
@Suite struct CompleterTests {
  /// Three heroes, one of them deleted, and two with unsafe IDs.
  static var context: Completer.CompletionContext {
    Completer.CompletionContext { source, beginning, areDeleted in
      let ids = areDeleted ? ["1455"] : ["1443", "1453", "-7", "a\u{1B}[31mb", "a\u{202E}b"]
      return (source == "heroes" ? ids : []).filter { $0.hasPrefix(beginning) }.map {
        Candidate($0)
      }
    } sessions: {
      ["default", "mine"]
    } values: { source, field, _ in
      switch (source, field) {
      case ("countries", "region"): ["AF", "EU", "NA and SA"]
      case ("countries", "name"): ["São Tomé", "5", "today", "\"x\"", "/x"]
      default: []
      }
    } statistics: { source, field in
      source == "countries" && field == "capital" ? ["count", "first", "last", "empty"] : []
    }
  }

  private func offer(_ line: String) -> Completer.Offer {
    Completer(.standard, Self.context).offer(TypedLine("aggregator \(line)", in: .zsh))
  }

  private func words(_ line: String) -> [String]? {
    guard case .words(let candidates, _) = offer(line) else { return nil }
    return candidates.map(\.word)
  }

  static let offers: [(line: String, words: [String])] = [
    ("hero", ["heroes"]), ("heroes l", ["list"]),
    ("config ", ["list", "get", "set", "unset", "path"]),
    ("heroes show ", ["1443", "1453"]), ("heroes show 144", ["1443"]),
    ("heroes show 1443 ", ["1453"]), ("heroes show -- ", ["1443", "1453", "-7"]),
    ("heroes open 1443 x", []), ("heroes restore ", ["1455"]),
    ("heroes delete 14", ["1443", "1453"]),
    ("users show ", []), ("heroes search ", []), ("heroes search -- --f", []),
    ("--seed 4 ", ["countries"]), ("--seed 4 countries ", ["deal"]), ("heroes --yes ", ["delete"]),
    (
      "heroes list --format ",
      ["table", "cards", "markdown", "tsv", "csv", "json", "ndjson", "yaml"]
    ),
    ("heroes list --format=t", ["--format=table", "--format=tsv"]),
    ("heroes list --color a", ["auto", "always"]), ("heroes list --session m", ["mine"]),
    ("heroes list --session=", ["--session=default", "--session=mine"]),
    ("countries list --fields ", ["code", "name", "region", "capital", "help"]),
    ("countries list --fields name,c", ["name,code", "name,capital"]),
    (
      "countries list --fields=name,code,",
      ["--fields=name,code,region", "--fields=name,code,capital"]
    ),
    ("countries list --where ", ["code", "name", "region", "capital"]),
    ("countries list --where=ca", ["--where=capital"]),
    ("countries list --where 'na", ["name"]), ("countries list --where=NA", ["--where=name"]),
    ("countries list --where capital=", []),
    ("countries list --where 'code=FR or not (na", ["code=FR or not (name"]),
    (
      "countries list --where 'region=EU and name",
      ["=", "!=", "~", "<", "<=", ">", ">="].map { "region=EU and name\($0)" }
    ),
    (
      "countries list --where region=",
      ["region=AF", "region=EU", #"region="NA and SA""#]
    ),
    ("countries list --where=region=E", ["--where=region=EU"]),
    ("countries list --where region!=E", ["region!=EU"]),
    ("countries list --where 'code=FR or (region~E", ["code=FR or (region~EU"]),
    (
      "countries list --where 'region in (AF, E", ["region in (AF, EU)", "region in (AF, EU,"]
    ),
    (
      "countries list --where 'region not in (",
      [
        "region not in (AF", "region not in (EU", #"region not in ("NA and SA""#,
      ]
    ),
    (
      "countries list --where name=",
      ["name=São Tomé", "name=5", #"name="today""#, #"name="\"x\"""#, "name=/x"]
    ), ("countries list --where name~/", []),
    ("countries list --where 'name=São T", ["name=São Tomé"]),
    (#"countries list --where name=São\ T"#, ["name=São Tomé"]),
    ("countries list --where 'code=F R and name=São ", ["code=F R and name=São Tomé"]),
    (
      "countries list --where 'region=\"NA and S", ["region=\"NA and SA\""]
    ),
    ("countries list --where 'region=\"E", ["region=\"EU\""]),
    ("countries list --where 'name~\"/", [#"name~"/x""#]),
    ("export countries --where region=", []), ("heroes list --where id=", []),
    ("countries list --sort -n", ["-name"]),
    ("countries list --sort -name,c", ["-name,code", "-name,capital"]),
    ("countries list --group-by region --sort ", ["region", "count"]),
    ("countries list --group-by region --sort -", ["-region", "-count"]),
    ("countries list --group-by region --stats name --sort m", ["min", "max", "mean", "median"]),
    ("countries list --stats name --fields m", ["min", "max", "mean", "median"]),
    ("countries list --stats capital --fields ", ["count", "first", "last", "empty"]),
    ("countries list --stats name --fields=min,me", ["--fields=min,mean", "--fields=min,median"]),
    ("countries list --group-by region --fields ", ["region", "count"]),
    ("countries list --group-by region,code --fields ", ["region", "code", "count"]),
    (
      "countries list --group-by region --stats name --fields ",
      [
        "region", "count", "first", "last", "earliest", "latest", "min", "max", "mean", "median",
        "sum", "distinct", "others", "empty",
      ]
    ),
    ("countries list --distinct region --fields ", ["region"]),
    ("countries list --template '{name}: {c", ["{name}: {code}", "{name}: {capital}"]),
    ("countries list --template '{name}", []),
    (
      "countries list --sort=name,-",
      ["--sort=name,-code", "--sort=name,-region", "--sort=name,-capital"]
    ),
    ("countries list --group-by re", ["region"]),
    ("countries list --group-by region:q", ["region:quarter"]),
    (
      "countries list --group-by=code,region:",
      ["year", "quarter", "month", "week", "day"].map { "--group-by=code,region:\($0)" }
    ),
    ("heroes list --since ", []), ("heroes diff --since t", ["today"]),
    ("sql 'SELECT * FROM cou", ["SELECT * FROM countries"]),
    (
      "sql \"select * from countries where ca", ["select * from countries where capital"]
    ),
    ("sql select code from cou", ["countries"]), ("sql --timeout 1s \"sel", ["select"]),
    ("heroes list --json --jq", ["--jq"]), ("heroes list --ndjson --jq", ["--jq"]),
    ("heroes list --csv --jq", []),
    ("sources show hero", ["heroes"]),
    ("sources check heroes ", sourceNames.filter { $0 != "heroes" }),
    ("search x --source hero", ["heroes"]),
    ("search x --source=heroes,user", ["--source=heroes,users"]),
    ("store clear user", ["users"]), ("store clear users h", []),
    ("config get COMIC_VINE_R", ["COMIC_VINE_RATE"]),
    ("config set COMIC_VINE_RATE ", ["1/s 200/h", "off"]), ("config set COMIC_VINE_API_KEY x", []),
    ("completions ", ["bash", "zsh", "fish"]), ("help exit", ["exit-codes"]),
    ("help heroes se", ["search"]), ("help heroes search ", []),
    ("heroes list --offl", ["--offline"]), ("heroes list --offline --offl", []),
    ("heroes list --offline --ref", []),
    ("heroes list --json --c", ["--count", "--cursor", "--config", "--color"]),
    ("heroes list --csv --csv", ["--csv-raw"]), ("heroes list --format csv --csv", ["--csv-raw"]),
    ("heroes list --format json --csv", []), ("heroes next --back --pe", []),
    ("heroes list --all --li", []), ("heroes list --limit $N --pe", []),
    ("heroes list --timeout ", []),
    ("heroes list --limit", ["--limit"]), ("heroes list --limit $N --al", []),
    ("heroes list --limit $N --off", ["--offline"]), ("heroes list --nonsense --off", []),
    ("heroes list -qv --off", ["--offline"]), ("heroes list -q --qu", []),
    ("heroes list --quiet=", []), ("heroes show 1 --limit=", []), ("nonsense ", []),
    ("heroes nonsense ", []), ("--vers", ["--version"]), ("heroes --vers", []),
    ("list her", ["heroes"]), ("show heroes 144", ["1443"]), ("deal ", ["countries"]),
    ("--seed 4 list ", []), ("list --off", []), ("lst ", []),
  ]

  @Test(arguments: offers.indices)
  func `offers exactly the valid completions`(index: Int) {
    let (line, words) = Self.offers[index]
    #expect(self.words(line) == words, "\(line)")
  }

  @Test func `offers options if no argument can follow`() throws {
    let options = try #require(words("heroes list "))
    #expect(options.contains("--limit") && options.allSatisfy { $0.hasPrefix("--") })
    #expect(words("heroes open 1443 ")?.contains("--print-url") == true)
    #expect(words("heroes list -- ") == [])
  }

  @Test func `completes names of fields that need quotes, also without them`() {
    let fields = [Field<Int>("Customer Name", "Customer", .text, about: "") { _ in .null }]
    let completer = ConditionCompleter(fields.map { FieldEntry($0) }) { _, _ in ["Ann", "Bob"] }
    for (typed, completions) in [
      ("Cu", [#""Customer Name""#]), (#"not "Customer N"#, [#"not "Customer Name""#]),
      ("customer n", [#""Customer Name""#]), (#"not ("cu"#, [#"not ("Customer Name""#]), ("x", []),
      (#""Customer Name"=A"#, [#""Customer Name"=Ann"#]),
      (#""Customer Name" in (B"#, [#""Customer Name" in (Bob)"#, #""Customer Name" in (Bob,"#]),
    ] {
      #expect(completer.completions(of: typed) == completions, "\(typed)")
    }
    #expect(completer.completions(of: #""Customer Name""#).contains(#""Customer Name"="#))
  }

  @Test func `leaves files and directories to the shell`() {
    #expect(offer("heroes list --config ") == .file)
    #expect(offer("heroes list --config=x") == .file)
    #expect(offer("sources add things ") == .file)
    #expect(offer("heroes list --record ") == .directory)
    #expect(offer("heroes list --replay=./") == .directory)
    #expect(offer("config set AGGREGATOR_HOME ") == .directory)
  }

  @Test func `offers nothing before the program's name is complete`() {
    #expect(Completer(.standard, Self.context).offer(TypedLine("aggreg", in: .bash)) == .words([]))
  }
}
