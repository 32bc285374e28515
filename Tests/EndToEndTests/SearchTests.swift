import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `aggregator search`: all sources at once.
@Suite struct SearchTests {

  /// The envelope as a program reads it.
  private struct Document: Decodable {
    struct Item: Decodable {
      let source: String
      let name: String?
      let title: String?
    }

    struct Source: Decodable {
      struct Failure: Decodable {
        let code: String
        let message: String
      }
      let page: Envelope.Page
      let provenance: Envelope.Provenance?
      let error: Failure?
    }

    let source: String?
    let query: String?
    let items: [Item]
    let page: Envelope.Page
    let sources: [String: Source]
    let provenance: Envelope.Provenance?
    let warnings: [Envelope.Warning]
  }

  private func document(_ outcome: Outcome) throws -> Document {
    try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
  }

  @Test(arguments: [
    ("heroes search spidr", "No heroes match \"spidr\". Did you mean \"spider\"?\n"),
    (
      "heroes search Jesica Drew",
      "No heroes match \"Jesica Drew\". Did you mean \"jessica drew\"?\n"
    ),
    ("countries search frnace", "No countries match \"frnace\". Did you mean \"france\"?\n"),
    ("countries search cbua", "No countries match \"cbua\". Did you mean \"cuba\"?\n"),
    (
      "countries search \"africa south\"",
      "No countries match \"\"africa south\"\". Did you mean \"africa south\"?\n"
    ),
    ("heroes search zzyzxq", "No heroes match \"zzyzxq\"\n"),
    ("heroes search spider paris", "No heroes match \"spider paris\"\n"),
  ])
  func `a search without results suggests near words of local records`(
    line: String, note: String
  ) async throws {
    let outcome = try await Binary.run("\(line) --offline")
    #expect(outcome.status == 0)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasPrefix(note), "\(outcome.errors)")
  }

  @Test func `a search of all sources suggests a word if none has a match`() async throws {
    let outcome = try await Binary.run("search spidr --source heroes,countries --offline")
    #expect(
      outcome.errors.hasPrefix(
        "No countries or heroes match \"spidr\" in bundled sample data. Did you mean \"spider\"?\n"
      ),
      "\(outcome.errors)")
  }

  @Test func `a search without results names the sources of which only a part was searched`()
    async throws
  {
    let server = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = (1...25).dropFirst((page - 1) * 10).prefix(10).map {
        #"{"id": \#($0), "name": "lamp \#($0)"}"#
      }
      return .json(#"{"total": 25, "lamps": [\#(rows.joined(separator: ","))]}"#)
    }
    defer { server.stop() }
    let home = try TestHome()
    let added = try await home.run("sources add lamps \(server.baseURL)/lamps --rate off")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.run("lamps sync --max-pages 1").status == 3)
    let outcome = try await home.run("search zzyzxq --source lamps,countries --offline")
    let part = "only bundled sample data of countries, and a part of lamps"
    #expect(
      outcome.errors.hasPrefix("No countries or lamps match \"zzyzxq\" (\(part))\n"), "\(outcome)")
    #expect(outcome.errors.contains(" of 25 lamps are cached"), "\(outcome)")
  }

  @Test func `a filter names the sources that lack its field`() async throws {
    let line = "search man --where name~spider --sort -name --offline"
    let names = ["--source", "countries,heroes,users"]
    let outcome = try await Binary.run(
      line.split(separator: " ").map(String.init) + names + [
        "--where", "publisher=Marvel", "--json",
      ])
    // Bundled records may not be all.
    #expect(outcome.status == 3, "\(outcome)")
    let found = try document(outcome)
    #expect(!found.items.isEmpty && found.items.allSatisfy { $0.source == "heroes" })
    #expect(found.items.compactMap(\.name) == found.items.compactMap(\.name).sorted().reversed())
    let leftOut = found.warnings.filter { $0.code == "leftOut" }
    #expect(leftOut.map(\.source) == ["countries", "users"])
    #expect(leftOut.allSatisfy { $0.message == "left out: unknown field \"publisher\"" })
    let home = try TestHome()
    for (name, row) in [
      ("lamps", #"{"id": 1, "kind": "man"}"#), ("chairs", #"{"id": 1, "leg": "man"}"#),
    ] {
      try home.sandbox.write("[\(row)]", to: "work/\(name).json")
      #expect(try await home.run("sources add \(name) \(name).json").status == 0)
      #expect(try await home.run("\(name) sync").status == 0)
    }
    let search = "search man --where kind=man"
    #expect(try await home.run("\(search) --source lamps").status == 0)
    // One that is named is asked for.
    #expect(try await home.run("\(search) --source lamps,chairs").status == 3)
    for (filter, message) in [
      ("publsher=Marvel", "error: unknown field \"publsher\"\n\nDid you mean \"publisher\"?"),
      (
        "publisher=x and region=y",
        "error: no source has all of the fields \"publisher\", \"region\""
      ),
    ] {
      let outcome = try await Binary.run(["search", "man", "--where", filter, "--offline"])
      #expect(outcome.status == 64 && outcome.errors.hasPrefix(message), "\(outcome)")
    }
  }

  @Test func `the order of a search is that of the records of all sources together`() async throws {
    let line = "search an --sort name --offline --source countries,heroes --limit 5"
    let names = [
      "Afghanistan", "Alan Scott", "Åland Islands", "Albania", "American Samoa", "Andorra",
      "Aquaman", "Barry Allen", "Batman", "Beast",
    ]
    #expect(try await Binary.run("\(line) --fields name --tsv").lines == names)
    let rows = try await Binary.run("\(line) --tsv").lines
    #expect(rows.map { $0.split(separator: "\t")[2] } == names.map { $0[...] }, "\(rows)")
    let table = try await Binary.run(line, environment: ["AGGREGATOR_FORCE_TTY": "80"])
    #expect(
      table.errors.contains(
        "The records of each source are sorted; those of all together with --fields"), "\(table)")
  }

  @Test func `no records of a filter are not none of the search`() async throws {
    for (line, words) in [
      ("heroes search man --where publisher=none", "No matching heroes for \"man\"\n"),
      (
        "search man --where name=none --source countries,heroes",
        "No matching countries or heroes for \"man\" in bundled sample data\n"
      ),
    ] {
      let outcome = try await Binary.run("\(line) --offline")
      #expect(outcome.errors.hasPrefix(words), "\(outcome)")
    }
  }

  @Test func `counts the records of each source`() async throws {
    var (lines, total): ([String], Int) = ([], 0)
    for source in sourceNames {
      let count = try await Binary.run("\(source) search spider --count --offline").lines.first
      lines.append("\(source)\t\(count ?? "")")
      total += count.flatMap { Int($0) } ?? 0
    }
    let outcome = try await Binary.run("search spider --count --offline")
    // Bundled records may not be all.
    #expect(outcome.status == 3 && outcome.lines == lines, "\(outcome)")
    #expect(outcome.errors.contains("\(total) records counted\n"), "\(outcome)")
    let json = try await Binary.run(
      "search spider --count --source countries,heroes --offline --json")
    #expect(json.output.contains(#"{"source":"countries","count":0}"#), "\(json)")
    let page = try document(json).page
    #expect(page.count == 2 && page.total == nil, "\(json)")
    let filtered = try await Binary.run(
      ["search", "spider", "--count", "--where", "publisher=none", "--offline"])
    #expect(filtered.lines == ["heroes\t0"], "\(filtered)")
    #expect(try await Binary.run("search spider --count --limit 3").status == 64)
  }

  @Test func `groups and measures the records of all sources`() async throws {
    var counts: [(source: String, count: Int)] = []
    for source in ["countries", "heroes", "products", "users"] {
      let count = try await Binary.run("\(source) search an --count --offline").lines.first
      counts.append((source, count.flatMap { Int($0) } ?? 0))
    }
    let lines = counts.sorted { $0.count > $1.count }.map { "\($0.source)\t\($0.count)" }
    let line = "search an --source countries,heroes,products,users --offline"
    let groups = try await Binary.run("\(line) --group-by Source")
    // Bundled records may not be all.
    #expect(groups.status == 3 && groups.lines == lines, "\(groups)")
    #expect(groups.errors.contains("bundled sample data"), "\(groups)")
    let json = try document(try await Binary.run("\(line) --group-by source --limit 2 --json"))
    #expect(json.source == nil && json.query == "an")
    #expect(json.items.map(\.source) == ["countries", "heroes"])
    #expect(json.page.count == 2 && json.page.total == 4 && json.sources.count == 4)

    for (verb, source) in [
      ("--group-by region", "countries"), ("--stats age", "users"),
      ("--distinct publisher", "heroes"), ("--group-by country,gender --stats age", "users"),
    ] {
      let one = try await Binary.run("\(source) search an \(verb) --offline --ndjson")
      let all = try await Binary.run("\(line) \(verb) --ndjson")
      #expect(all.status == 3 && all.output == one.output && !one.output.isEmpty, "\(all)")
      #expect(all.errors.contains("left out: unknown field"), "\(all)")
    }
    for (options, message) in [
      ("--group-by publsher", "unknown field \"publsher\"\n\nDid you mean \"publisher\"?"),
      ("--stats age --fields publisher", "unknown field \"publisher\""),
      (
        "--group-by region,publisher",
        "no source has all of the fields \"publisher\", \"region\""
      ),
      (
        "--group-by region --where age>3",
        "no source has all of the fields \"age\", \"region\""
      ),
      ("--stats age --limit 3", "--stats and --limit cannot be used together"),
    ] {
      let outcome = try await Binary.run("\(line) \(options)")
      #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
      #expect(outcome.errors.hasPrefix("error: \(message)"), "\(outcome)")
    }
  }

  @Test func `of many sources without a match some are named`() async throws {
    let home = try TestHome()
    for index in 1...9 {
      try home.sandbox.write(#"[{"id": 1, "name": "lamp"}]"#, to: "work/\(index).json")
      let added = try await home.run("sources add shop\(index)x \(index).json")
      #expect(added.status == 0, "\(added)")
      #expect(try await home.run("shop\(index)x sync").status == 0)
    }
    let names = (1...9).map { "shop\($0)x" }
    for (sources, words) in [
      (["heroes"] + names.prefix(2), "heroes, records of shop1x or shop2x"),
      (
        ["countries", "heroes"] + names,
        "countries, heroes, records of shop1x, shop2x, shop3x, shop4x or 5 others"
      ),
    ] {
      let outcome = try await home.run(
        "search zzyzx --source \(sources.joined(separator: ",")) --offline")
      #expect(outcome.errors.contains("No \(words) match \"zzyzx\""), "\(outcome)")
    }
  }

  @Test func `searches all sources and labels each hit with its source`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let local = try document(try await home.run("search man --offline --json"))
    #expect(Set(local.sources.keys) == Set(sourceNames))
    let outcome = try await home.run("search man --source \(FourServices.names) --json")
    #expect(outcome.status == 0, "\(outcome)")
    let found = try document(outcome)
    #expect(found.source == nil && found.query == "man")
    #expect(found.items.map(\.source) == found.items.map(\.source).sorted())
    #expect(Set(found.items.map(\.source)).isSuperset(of: ["countries", "heroes"]))
    #expect(found.sources["heroes"]?.provenance?.origin == "live")
    #expect(found.sources["heroes"]?.page.count == 5)
    #expect(found.sources["users"]?.provenance?.origin == "cached")
    // The cached users have no hit, so they do not count.
    #expect(found.provenance?.origin == "live")
    // The services of several sources are not one.
    #expect(found.sources["heroes"]?.provenance?.endpoint != nil)
    #expect(found.provenance != nil && found.provenance?.endpoint == nil)
    #expect(found.page.count == found.items.count)
    // One request each: the first few of each are a page.
    #expect(services.requestCount(of: "heroes") == 1)
    #expect(services.requestCount(of: "users") == 1)
  }

  @Test func `comes in every format, with the sources in order`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let tsv = try await home.run("search man -L 2 --tsv")
    #expect(tsv.lines.count >= 4)
    #expect(tsv.lines.allSatisfy { $0.split(separator: "\t").count == 4 }, "\(tsv)")
    let lines = try await home.run("search man -L 2 --ndjson").lines
    #expect(lines.count == tsv.lines.count)
    #expect(lines.allSatisfy { $0.hasPrefix(#"{"source":""#) })
    let csv = try await home.run("search man -L 2 --csv --fields source,id,capital,realName")
    #expect(csv.output.hasPrefix("source,id,capital,realName\r\ncountries,"), "\(csv)")
    let table = try await home.run(
      "search man -L 2 --format table --source \(FourServices.names)")
    let headings = table.lines.filter { line in
      FourServices.sources.contains { line.hasPrefix($0.name) }
    }
    #expect(headings.prefix(2) == ["countries · cached", "heroes · cached"], "\(table)")
    let chosen = try await home.run(
      "search man -L 2 --format table --fields source,name --source \(FourServices.names)")
    #expect(chosen.lines.count { $0.hasPrefix("Source ") } == 1, "\(chosen)")
    #expect(chosen.lines.first?.hasSuffix("  Name") == true && chosen.lines.count >= 5)
    // A person sees of which source a record is.
    let unnamed = try await home.run(
      "search man -L 2 --format table --fields name --source \(FourServices.names)")
    #expect(unnamed.lines == chosen.lines)
    let fields = try await home.run("search x --fields help --tsv")
    #expect(fields.lines.count > 30)
  }

  @Test func `searches only the given sources`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let found = try document(try await home.run("search man --source heroes,users --json"))
    #expect(Set(found.sources.keys) == ["heroes", "users"])
    #expect(services.requestCount(of: "countries") == 0)
    let wrong = try await home.run("search man --source hero")
    #expect(wrong.status == 64)
    #expect(wrong.errors.contains("Did you mean \"heroes\"?"))
    for line in ["search", "search --limit 3", "search man --limit 0", "search man --limit 101"] {
      #expect(try await home.run(line).status == 64, "\(line)")
    }
  }

  @Test func `finds cached records in offline mode without a request`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    for source in ["countries", "heroes", "products"] {
      #expect(try await home.run("\(source) sync").status == 0)
    }
    let count = services.requestCount()
    let found = try document(try await home.run("search man --offline --json"))
    #expect(services.requestCount() == count)
    #expect(found.sources["heroes"]?.provenance?.origin == "cached")
    #expect(found.sources["countries"]?.provenance?.origin == "cached")
  }

  @Test func `says what the cache lacks if it is all that is searched`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    #expect(try await home.run("heroes list").status == 0)
    let offline = try document(
      try await home.run("search man --source heroes --offline --limit 100 --json"))
    #expect(offline.warnings.map(\.code).contains("incomplete"), "\(offline)")
    #expect(try await home.run("heroes sync").status == 0)
    let whole = try document(try await home.run("search man --source heroes --offline --json"))
    #expect(!whole.warnings.map(\.code).contains("incomplete"), "\(whole)")
  }

  /// A home where heroes stall, countries refuse, products fail and users are fine.
  private func badDay() async throws -> (services: FourServices, home: TestHome) {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    #expect(try await home.run("users load 50").status == 0)
    services.countries.stop()
    services.products.fail(with: .json("{}", status: 500))
    services.heroes.fail(with: .stalled)
    return (services, home)
  }

  @Test func `shows complete results while other sources stall`() async throws {
    let (services, home) = try await badDay()
    let someone = try #require(try home.file.ids(of: "users").first)
    let name = String(someone.prefix { $0 != "." && $0 != "@" })
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      "search \(name) --timeout 10m",
      environment: home.environment.merging([
        "AGGREGATOR_FORCE_TTY": "100", "TERM": "dumb",
      ]) { $1 }, in: home.sandbox, output: .descriptor(pipe.writeEnd))
    pipe.close(pipe.writeEnd)
    var shown = ""
    while !shown.contains(someone) {
      let bytes = await pipe.firstBytes(atMost: 4096)
      try #require(!bytes.isEmpty, "\(shown)")
      shown += String(decoding: bytes, as: UTF8.self)
    }
    // Meanwhile the stalled one keeps the rest waiting.
    _ = await services.heroes.requests(atLeast: 1)
    #expect(shown.contains("users · cached\n"), "\(shown)")
    run.child.send(SIGINT)
    #expect(try await run.outcome().ending == .signal(SIGINT))
  }

  @Test func `reports failed sources and ends at the deadline`() async throws {
    let (services, home) = try await badDay()
    defer { withExtendedLifetime(services) {} }
    let outcome = try await home.run("search an --timeout 15s --json")
    // Every source answered, if only with local data.
    #expect(outcome.status == 0, "\(outcome)")
    let found = try document(outcome)
    #expect(found.sources["heroes"]?.provenance?.origin == "bundled")
    #expect(found.sources["heroes"]?.provenance?.reason == "timedOut")
    #expect(found.sources["countries"]?.provenance?.reason == "unreachable")
    #expect(found.sources["products"]?.provenance?.reason == "serverError")
    #expect(found.sources["users"]?.provenance?.origin == "cached")
    for source in ["heroes", "countries", "products"] {
      #expect(
        outcome.errors.contains("warning: \(source): showing bundled sample data ("), "\(outcome)")
    }
  }

  @Test func `on a terminal, sources that could not be asked share a warning`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    services.countries.stop()
    services.products.fail(with: .json("{}", status: 500))
    let line = "search an --source countries,products"
    let shown = try await home.run(line, ["AGGREGATOR_FORCE_TTY": "100", "NO_COLOR": "1"])
    #expect(
      shown.errors.hasSuffix(
        "warning: countries, products: showing bundled sample data\n"
          + "hint: aggregator sources check\n"), "\(shown)")
    // What reads a pipe gets each reason.
    let piped = try await home.run(line)
    for source in ["countries", "products"] {
      #expect(
        piped.errors.contains("warning: \(source): showing bundled sample data ("), "\(piped)")
    }
  }

  @Test func `without a fallback, failed sources have no hits and are reported`() async throws {
    let (services, home) = try await badDay()
    defer { withExtendedLifetime(services) {} }
    let outcome = try await home.run("search an --timeout 15s --no-fallback --json")
    #expect(outcome.status == 3, "\(outcome)")
    let found = try document(outcome)
    #expect(Set(found.items.map(\.source)) == ["users"])
    #expect(found.sources["heroes"]?.error?.code == "timedOut")
    #expect(found.sources["countries"]?.error?.code == "unreachable")
    #expect(found.sources["products"]?.error?.code == "serverError")
    #expect(outcome.errors.contains("warning: heroes: no answer within 15 s"), "\(outcome)")
  }

  @Test func `sources that fail in the same way share a warning`() async throws {
    let home = try TestHome()
    for name in ["a", "b"] {
      try home.sandbox.write(
        #"{"url": "http://127.0.0.1:1/\#(name)", "rows": "$", "id": "id", "fields": ["name"]}"#,
        to: home.manifestPath("\(name).json"))
    }
    let outcome = try await home.run("search an --source a,countries,b --offline")
    #expect(outcome.status == 3 && !outcome.lines.isEmpty, "\(outcome)")
    #expect(outcome.errorLines.filter { $0.hasPrefix("warning: a, b: ") }.count == 1, "\(outcome)")
  }

  @Test func `if all sources fail, it fails with the first failure`() async throws {
    let home = try TestHome()
    let outcome = try await home.run("search an --no-fallback --source countries,products --json")
    #expect(outcome.status == 69, "\(outcome)")
    #expect(outcome.output == "")
    #expect(outcome.errors.contains("error: countries: cannot connect"), "\(outcome)")
    #expect(outcome.errors.contains("error: products: cannot connect"))
  }

  @Test func `sources without hits affect neither the origin nor the warnings`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let outcome = try await home.run("search spider --source \(FourServices.names) --json")
    #expect(outcome.status == 0, "\(outcome)")
    let found = try document(outcome)
    #expect(Set(found.items.map(\.source)) == ["heroes"])
    #expect(found.provenance?.origin == "live")
    #expect(found.provenance?.reason == nil)
    #expect(found.warnings.map(\.code) == ["cachedOnly"])
    #expect(!outcome.errors.contains("warning"), "\(outcome)")
    // Each source still reports its own.
    #expect(found.sources["users"]?.provenance?.origin == "cached")
    let alone = try await home.run("users search xyzzy12345")
    #expect(
      alone.errors.hasPrefix(
        "No users match \"xyzzy12345\"\nmore: aggregator users load\n"), "\(alone)")
  }

  @Test func `without a network, bundled hits are a success with warnings`() async throws {
    let home = try TestHome(["COMIC_VINE_API_KEY": "x1y2z3w4"])
    for line in ["search spider", "search spider --offline", "heroes search spider"] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(!outcome.lines.isEmpty)
      #expect(outcome.errors.contains("heroes: showing bundled sample data ("), "\(outcome)")
    }
    let outcome = try await home.run("search spider")
    // A source without a hit shows nothing, but its service could not be searched.
    #expect(
      outcome.errors.contains(/products, .*users.*: only bundled sample data was available \(/),
      "\(outcome)")
  }

  @Test func `no hits are not a failure`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let outcome = try await home.run("search xyzzy12345")
    #expect(outcome.status == 0)
    #expect(outcome.output == "")
    let names = sourceNames.dropLast().joined(separator: ", ") + " or \(sourceNames.last ?? "")"
    #expect(outcome.errors.contains("No \(names) match \"xyzzy12345\"\n"), "\(outcome)")
  }

  @Test func `a source's name as the first word gets a hint`() async throws {
    let outcome = try await TestHome().run("search heroes spider --offline")
    #expect(
      outcome.errors.hasPrefix("To search only heroes: aggregator heroes search spider\n"),
      "\(outcome)")
  }
}
