import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting

/// `--where`, `--sort` and `--count`.
@Suite struct SelectionTests {
  private let services: FourServices
  private let home: TestHome

  init() throws {
    services = try FourServices()
    home = try TestHome(services.settings)
  }

  /// Runs a command line whose words are separated by `|`.
  private func run(_ line: String, _ variables: [String: String?] = [:]) async throws -> Outcome {
    try await Binary.run(
      line.split(separator: "|").map(String.init),
      environment: home.environment.merging(variables) { $1 }, in: home.sandbox)
  }

  private static let spiders = FakeCharacter.cast.filter { $0.name.hasPrefix("Spider") }

  @Test func `selects cached records, and says how many of all they are`() async throws {
    #expect(try await home.run("heroes list -L 40").status == 0)
    let requests = services.requestCount()
    let outcome = try await run("heroes|list|--where|id>0|-L3")
    // Others may match, too.
    #expect(outcome.status == 3)
    #expect(outcome.ids == FakeCharacter.cast.prefix(3).map(\.id))
    let lines = outcome.errorLines
    let words = "3 matching heroes so far · more: --cursor "
    #expect(lines.first?.hasPrefix(words) == true, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("note: cached, fetched ") })
    #expect(
      lines.suffix(2) == [
        "warning: heroes: limited to cached records: 40 of 257 heroes are cached",
        "hint: aggregator heroes sync",
      ])
    for line in ["heroes|list|--where|id>0|--json", "heroes|list|--sort|-id|--json"] {
      let json = try await run(line)
      #expect(json.status == 3, "\(json)")
      #expect(try json.envelope().warnings.map(\.code) == ["incomplete"])
      #expect(try json.envelope().page.total == nil)
    }
    let search = "search|spider|--where|id>0|--source|heroes"
    #expect(try await run(search).status == 3)
    let session = "--session|part"
    #expect(try await run("heroes|list|--sort|-id|-L3|\(session)").status == 3)
    #expect(try await run("heroes|next|\(session)").status == 3)
    #expect(services.requestCount() == requests)

    #expect(try await home.run("heroes sync").status == 0)
    let whole = try await run("heroes|list|--sort|-id|-L3|--json")
    #expect(whole.status == 0, "\(whole)")
    #expect(try whole.envelope().page.total == 257)
    #expect(try await run(search).status == 0)
    let complete = try await run("heroes|list|--where|name~spider|--count")
    #expect(complete.output == "\(Self.spiders.count)\n")
    #expect(!complete.errors.contains("warning"), "\(complete)")
    // A search that matches nothing in the cache does not fall back to sample data.
    let none = try await run("heroes|search|spider|--where|name=Hulk")
    #expect(none.status == 0)
    #expect(none.output == "")
    #expect(none.errorLines.first == "No matching heroes for \"spider\"")
    #expect(!none.errors.contains("bundled"))
  }

  @Test func `selects from the whole result with --all`() async throws {
    let outcome = try await run("heroes|list|--all|--where|name~SPIDER|--sort|-id")
    #expect(outcome.status == 0)
    let ids = Self.spiders.map(\.id).sorted(by: >)
    #expect(outcome.ids == ids)
    #expect(outcome.errors == "")
    let json = try await run("heroes|list|--all|--where|name~spider|--json").envelope()
    #expect(json.page.total == Self.spiders.count)
    #expect(json.page.count == Self.spiders.count)
    #expect(json.page.next == nil)
    let search = try await run("heroes|search|spider|--all|--where|name~woman")
    #expect(search.ids == Self.spiders.filter { $0.name.contains("Woman") }.map(\.id))

    // The end of the pages is not the end of the list.
    let capped = try await run("heroes|list|--all|--max-pages|1|--where|name~spider")
    #expect(capped.status == 3)
    #expect(
      capped.errorLines.suffix(2) == [
        "warning: heroes: stopped after 1 page",
        "hint: set a higher --max-pages, or read the complete copy with --offline --all",
      ])
    let first = try await TestHome(services.settings).run(
      "heroes list --all --max-pages 1 --where name~spider")
    #expect(first.errorLines.last == "hint: set a higher --max-pages", "\(first)")
    let counted = try await TestHome(services.settings).run(
      "heroes list --all --max-pages 1 --where name~spider --count")
    #expect(counted.status == 3)
    #expect(
      counted.errorLines.suffix(2) == [
        "warning: heroes: stopped after 1 page: the number is of what was read, and there may be more",
        "hint: read all pages with --max-pages 0",
      ], "\(counted)")
    let cursor = try await run("heroes|list|--all|--cursor|c1.a|--sort|id")
    #expect(cursor.status == 64)
    #expect(cursor.errors.hasPrefix("error: --cursor cannot be used with --all and --sort\n"))
  }

  @Test func `counts cached records, or all that the service sends`() async throws {
    let empty = try await run("heroes|list|--count")
    #expect(empty.status == 3)
    #expect(
      empty.errors == """
        warning: heroes: showing bundled sample data (no cached heroes; the service was not asked)
        hint: aggregator heroes sync

        """)
    let all = try await run("heroes|list|--count|--all")
    #expect(all.output == "257\n")
    #expect(services.requestCount() > 1)
    #expect(try await run("products|list|--count|--all").output == "\(FakeProduct.catalog.count)\n")
    #expect(try await run("heroes|search|spider|--count|--all").output == "16\n")
    let json = try await run("heroes|list|--count|--where|name~spider|--all|--json")
    #expect(json.output.contains(#"    {"count":\#(Self.spiders.count)}"#))
    #expect(try await run("heroes|list|--count|--all|--csv").output == "count\r\n257\r\n")
    #expect(try await run("heroes|list|--count|--all|--ndjson").output == "{\"count\":257}\n")
    let terminal = try await run("heroes|list|--count|--all", NextTests.terminal)
    #expect(terminal.output == "257\n")
    #expect(try await run("heroes|list|--count|--limit|3").status == 64)
  }

  @Test func `a sync that has not ended knows how many records there are`() async throws {
    #expect(try await home.run("heroes sync --max-pages 1").status == 3)
    let cached = try await home.run("heroes list --sort -id -L 1")
    #expect(cached.status == 3, "\(cached)")
    #expect(cached.errors.contains(" of 257 heroes are cached\n"), "\(cached)")
    // Deleted ones are in neither number, as in the counts of lists.
    let ids = try await home.column("id", "heroes list --offline -L 2").joined(separator: " ")
    let count = try await home.column("id", "heroes list --offline --all").count
    #expect(try await home.run("heroes delete \(ids) --yes").status == 0)
    let fewer = try await home.run("heroes list --sort -id -L 1")
    let words = " \(count - 2) of 255 heroes are cached\n"
    #expect(fewer.errors.contains(words), "\(fewer)")
  }

  @Test func `without a key, the hint is the way to set it instead of a sync that needs it`()
    async throws
  {
    #expect(try await home.run("heroes list -L 2").status == 0)
    let cached = try await run("heroes|list|--sort|name", ["COMIC_VINE_API_KEY": nil])
    #expect(cached.errors.contains("limited to cached records"), "\(cached)")
    #expect(cached.errors.contains("hint: aggregator config set COMIC_VINE_API_KEY\n"))
    #expect(!cached.errors.contains("heroes sync"), "\(cached)")
    let other = try TestHome(services.settings)
    for line in ["heroes list --count", "heroes list --sort name", "heroes search a --sort name"] {
      let outcome = try await other.run(line, ["COMIC_VINE_API_KEY": nil])
      #expect(outcome.errors.contains("(COMIC_VINE_API_KEY is not set)"), "\(line): \(outcome)")
      #expect(
        outcome.errors.hasSuffix("hint: aggregator config set COMIC_VINE_API_KEY\n"),
        "\(line): \(outcome)")
    }
  }

  @Test func `pages continue with the same conditions and order`() async throws {
    #expect(try await home.run("heroes sync").status == 0)
    let sorted = Self.spiders.map(\.id).sorted(by: >)
    let first = try await run("heroes|list|--where|name~spider|--sort|-id|-L3|--json").envelope()
    let cursor = try #require(first.page.next)
    let line = "heroes|list|--where|name~spider|--sort|-id|-L3|--cursor|\(cursor)"
    #expect(try await run(line).ids == sorted[3..<6].map(\.self))
    // The last record shown is deleted: the page starts where it was.
    #expect(try await run("heroes|delete|\(sorted[0])|--yes").status == 0)
    #expect(try await run(line).ids == sorted[3..<6].map(\.self))
    for other in ["name~spider|--sort|id", "name~man|--sort|-id", "name~spider"] {
      let foreign = try await run("heroes|list|--where|\(other)|--cursor|\(cursor)")
      #expect(foreign.status == 64, "\(other)")
      #expect(foreign.errors.contains("belongs to a different source or query"))
    }
    #expect(try await run("heroes|list|--cursor|\(cursor)").status == 64)
    #expect(
      try await run("heroes|search|spider|--where|name~spider|--sort|-id|--cursor|\(cursor)").status
        == 64)

    #expect(try await run("heroes|restore|\(sorted[0])").status == 0)
    let session = "--session|mine"
    #expect(
      try await run("heroes|list|--where|name~spider|--sort|-id|-L5|\(session)").ids
        == sorted[..<5].map(\.self))
    #expect(try await run("heroes|next|-L5|\(session)").ids == sorted[5..<10].map(\.self))
    #expect(try await run("heroes|next|--back|\(session)").ids == sorted[..<5].map(\.self))
    #expect(try await run("heroes|next|-L50|\(session)").ids == sorted[5...].map(\.self))
    let end = try await run("heroes|next|\(session)")
    #expect(end.status == 1)
    #expect(
      end.errors
        == "End of list. Start over: aggregator heroes next --reset \(session.replacing("|", with: " "))\n"
    )
    #expect(try await run("heroes|next|--reset|-L2|\(session)").ids == sorted[..<2].map(\.self))

    // Everything was shown.
    #expect(try await run("heroes|list|--all|--where|name~spider|\(session)").status == 0)
    #expect(try await run("heroes|next|\(session)").status == 1)
  }

  @Test func `sorts in every format, missing values last`() async throws {
    #expect(try await home.run("countries sync").status == 0)
    let capitals = try await run("countries|list|--all|--sort|-capital|--fields|capital|--tsv")
      .output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    let missing = capitals.drop { !$0.isEmpty }
    #expect(!missing.isEmpty && missing.allSatisfy(\.isEmpty))
    #expect(capitals.first?.hasPrefix("Z") == true)
    let names = try await home.column("name", "countries list --all --sort region,-name")
    let regions = try await home.column("region", "countries list --all --sort region,-name")
    #expect(regions == regions.sorted { $0.lowercased() < $1.lowercased() })
    #expect(zip(names, names.dropFirst()).filter { $0 < $1 }.count < 20)
    for format in ["--json", "--ndjson", "--csv", "--tsv", "--format|table"] {
      let outcome = try await run("countries|list|--where|region=EU|--sort|-name|-L1|\(format)")
      #expect(outcome.output.contains("United Kingdom"), "\(format): \(outcome)")
    }
  }

  @Test(arguments: [
    "--where|region=EU", "--sort|-name", "--count", "--group-by|region", "--distinct|region",
    "--all|--count", "--all|--where|region=EU",
  ])
  func `what claims to be of all records is partial if they are bundled`(options: String)
    async throws
  {
    let outcome = try await run("countries|list|--offline|--json|\(options)")
    #expect(outcome.status == 3, "\(outcome)")
    #expect(outcome.errors.contains("showing bundled sample data"), "\(outcome)")
    if options.contains("--where") || options.contains("--sort") {
      #expect(try outcome.envelope().page.total == nil, "\(outcome)")
    }
    // A list shows what there is.
    #expect(try await run("countries|list|--offline").status == 0)
    #expect(try await run("countries|search|france|--offline").status == 0)
    #expect(try await run("countries|sync").status == 0)
    #expect(try await run("countries|list|--offline|--json|\(options)").status == 0)
  }

  @Test func `says how many of all bundled records a part of them is`() async throws {
    let all = try await run("countries|list|--offline|--count").output.trimmingCharacters(
      in: .whitespacesAndNewlines)
    let some = try await run("countries|list|--offline|--where|region=EU|--count").output
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let filtered = try await run("countries|list|--offline|--where|region=EU|-L3")
    #expect(filtered.errors.hasPrefix("3 of \(some) matching countries · more: "), "\(filtered)")
    #expect(filtered.errors.contains("showing bundled sample data"), "\(filtered)")
    let sorted = try await run("countries|list|--offline|--sort|-name|-L3")
    #expect(sorted.errors.hasPrefix("3 of \(all) countries · more: "), "\(sorted)")
  }

  @Test func `selects deleted records`() async throws {
    #expect(try await run("countries|list|--all").status == 0)
    #expect(try await run("countries|delete|FR|DE|CN|--yes").status == 0)
    let outcome = try await run(
      "countries|list|--deleted|--where|region=EU|--sort|-code|--fields|code")
    #expect(outcome.output == "FR\nDE\n")
    #expect(try await run("countries|list|--deleted|--count").output == "3\n")
    #expect(try await run("countries|list|--where|code=FR|--count").output == "0\n")
  }

  @Test func `suggests the value that is near to one that no record has`() async throws {
    #expect(try await run("countries|sync").status == 0)
    let outcome = try await run("countries|list|--where|name=Frnace")
    #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
    #expect(outcome.errors.contains(". Did you mean \"France\"?\n"), "\(outcome)")
    for line in ["list|--count", "list|--all|--refresh", "list|--count|--all|--refresh"] {
      let outcome = try await run("countries|\(line)|--where|name=france")
      #expect(outcome.status == 0, "\(outcome)")
      #expect(
        outcome.errors.contains("No matching countries. Did you mean \"France\"?\n"), "\(outcome)")
    }
    for line in [
      "countries|list|--where|region=Europe", "countries|list|--count|--where|region=Europe",
    ] {
      let few = try await run(line)
      #expect(
        few.errors.contains("No matching countries. Values of region: AF, AN, AS, "), "\(few)")
    }
    let export = try await run("export|countries|--where|name=FRANCE|--format|csv|-o|-")
    #expect(export.errors.contains(". Did you mean \"France\"?\n"), "\(export)")
  }

  @Test func `says that a field is not in lists`() async throws {
    #expect(try await home.run("heroes list -L 3").status == 0)
    let outcome = try await run("heroes|list|--where|powers~flight")
    #expect(
      outcome.errors.contains(
        "warning: heroes: lists do not include \"powers\": unknown for 3 records\n"), "\(outcome)")
    let all = try await run("heroes|list|--all|--where|powers!=")
    #expect(all.errors.contains("lists do not include \"powers\": unknown for 257 of 257 heroes"))
  }

  @Test func `tells of a field of all cached records`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let bundled = try await home.run("countries list --group-by region --tsv --offline")
    #expect(bundled.status == 3 && bundled.errors.contains("bundled"), "\(bundled)")
    #expect(try await home.run("countries sync").status == 0)
    let counted = try await home.run("countries list --count")
    let groups = try await home.run("countries list --group-by region --tsv")
    #expect(groups.status == 0 && !groups.errors.contains("warning"), "\(groups)")
    let counts = groups.output.split(separator: "\n").compactMap {
      Int($0.split(separator: "\t").last ?? "")
    }
    #expect("\(counts.reduce(0, +))\n" == counted.output && counts.count > 4)
    #expect(counts == counts.sorted(by: >))
    let smallest = try await home.run(
      "countries list --group-by region --sort count --limit 1 --tsv")
    #expect(smallest.output.contains("\t\(counts.min() ?? 0)\n"), "\(smallest)")
    let named = try await home.run("countries list --group-by region --sort -region --tsv")
    #expect(
      named.lines == groups.lines.sorted { $0.lowercased() > $1.lowercased() }, "\(named)")
    let largest = try await home.run("countries list --group-by region --limit 3 --tsv")
    #expect(largest.status == 0, "\(largest)")
    #expect(largest.lines == Array(groups.lines.prefix(3)), "\(largest)")
    #expect(largest.errors.contains("3 of \(counts.count) groups"), "\(largest)")
    let document = try await home.run("countries list --group-by region --limit 3 --json")
    #expect(document.output.contains(#""count":3,"total":\#(counts.count)"#), "\(document)")
    let names = try await home.run("countries search france --distinct name --csv")
    #expect(names.output.hasPrefix("name\r\n") && names.output.contains("France\r\n"), "\(names)")
    let regions = try await home.run("countries list --distinct region --count")
    let listed = try await home.run("countries list --distinct region --tsv")
    #expect(
      regions.status == 0 && listed.lines.count > 4
        && regions.output == "\(listed.lines.count)\n", "\(regions)")
    let sorted = try await home.run("countries list --distinct region --sort -count,+region --tsv")
    let regionsByCount = groups.lines.map { String($0.prefix { $0 != "\t" }) }
    #expect(sorted.lines == regionsByCount.filter { !$0.isEmpty }, "\(sorted)")
    let first = try await home.run("countries list --distinct region --limit 2 --tsv")
    #expect(
      first.lines == Array(listed.lines.prefix(2))
        && first.errors.contains("2 of \(listed.lines.count) values · all: without --limit"),
      "\(first)")
    let some = try await home.run(
      "countries list --where region=EU --distinct region --count --ndjson")
    #expect(some.output == #"{"count":1}"# + "\n", "\(some)")
    let stats = try await home.run(
      "countries list --where region=EU --stats name --json --offline")
    #expect(
      stats.output.contains(#""empty":0"#) && stats.output.contains(#""first":""#), "\(stats)")
    for line in ["--stats regionn", "--stats name --count", "--stats name --limit 3"] {
      #expect(try await home.run("countries list \(line)").status == 64)
    }
  }

  @Test func `counts the records of combinations, and measures groups`() async throws {
    let rows = [
      #"{"id": 1, "created_at": "2026-01-05", "kind": "a", "size": "s", "price": 1, "count": "x", "tags": ["p", "q"]}"#,
      #"{"id": 2, "created_at": "2026-04-05", "kind": "b", "size": "s", "price": 2.5, "count": "x"}"#,
      #"{"id": 3, "created_at": "2026-05-05", "kind": "a", "size": "s", "price": 2, "count": "y"}"#,
      #"{"id": 4, "created_at": "2026-06-01", "kind": "a", "size": null, "price": "n/a", "count": "y"}"#,
    ]
    let service = try LoopbackServer { _ in .json("[\(rows.joined(separator: ","))]") }
    let home = try TestHome()
    let added = try await home.run("sources add notes \(service.baseURL)/notes --rate off --single")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.run("notes sync").status == 0)
    let tags = try await home.run("notes list --group-by tags --csv")
    #expect(tags.output == "tags,count\r\n,3\r\np,1\r\nq,1\r\n", "\(tags)")
    let note = "note: a record counts once for each of its tags\n"
    #expect(tags.errors.contains(note), "\(tags)")
    let pairs = try await home.run("notes list --group-by kind,size --csv")
    #expect(!pairs.errors.contains(note), "\(pairs)")
    #expect(pairs.output == "kind,size,count\r\na,s,2\r\na,,1\r\nb,s,1\r\n", "\(pairs)")
    let repeated = try await home.run("notes list --group-by kind --group-by size --csv --limit 1")
    #expect(repeated.output == "kind,size,count\r\na,s,2\r\n", "\(repeated)")
    #expect(repeated.errors.contains("1 of 3 groups"), "\(repeated)")
    // A field may have the name of the number.
    let named = try await home.run("notes list --group-by kind,count --ndjson --limit 1")
    #expect(named.output == #"{"kind":"a","count":"y","count_2":2}"# + "\n", "\(named)")
    let sorted = try await home.run("notes list --group-by kind,size --sort -kind,size --csv")
    #expect(sorted.output == "kind,size,count\r\nb,s,1\r\na,s,2\r\na,,1\r\n", "\(sorted)")
    let byMean = try await home.run(
      "notes list --group-by kind --stats price --sort -mean --ndjson --limit 1")
    #expect(byMean.output.hasPrefix(#"{"kind":"b","#), "\(byMean)")
    let alone = try await home.run("notes list --stats price --sort price")
    #expect(alone.status == 64 && alone.errors.contains("--stats and --sort"), "\(alone)")
    let stats = try await home.run("notes list --group-by kind --stats price --ndjson --limit 1")
    #expect(
      stats.output == #"{"kind":"a","count":3,"min":1,"max":2,"mean":1.5,"median":1.5,"sum":3,"#
        + #""distinct":3,"others":1,"empty":0}"# + "\n", "\(stats)")
    let chosen = try await home.run(
      "notes list --group-by kind --stats price --fields value,mean --csv")
    #expect(chosen.status == 64 && chosen.errors.contains("available fields: kind,"), "\(chosen)")
    let grouped = try await home.run("notes list --group-by kind --stats price --fields mean --csv")
    #expect(grouped.output == "kind,mean\r\na,1.5\r\nb,2.5\r\n", "\(grouped)")
    // A card without the line of its group would look like the end of the one before it.
    let cards = try await home.run(
      "notes list --group-by size --stats price", ["AGGREGATOR_FORCE_TTY": "30", "TERM": "dumb"])
    #expect(cards.output.contains("size\n  –\nCount\n  1\n"), "\(cards)")
    #expect(!cards.output.contains("Min\n  –"), "\(cards)")
    // Shells offer the statistics that the values have.
    let offered = try await Binary.run(
      ["__complete", "zsh", "--line", "aggregator notes list --stats price --fields "],
      environment: home.environment, in: home.sandbox)
    #expect(
      offered.lines.filter { !$0.hasPrefix("\t") } == [
        "count", "min", "max", "mean", "median", "sum", "distinct", "others", "empty",
      ], "\(offered)")
    // The columns do not depend on the values.
    let heads = ["price", "kind", "created_at"].map { "notes list --stats \($0) --csv" }
    for line in heads + ["notes list --where kind=none --stats price --csv"] {
      let head = "count,first,last,earliest,latest,min,max,mean,median,sum,distinct,others,empty"
      let outcome = try await home.run(line)
      #expect(outcome.output.hasPrefix("\(head)\r\n"), "\(line): \(outcome)")
    }
    let means = try await home.run("notes list --stats price --fields mean,max --csv")
    #expect(means.output == "mean,max\r\n\(5.5 / 3),2.5\r\n", "\(means)")
    // A person reads fewer digits, also in a card.
    for width in ["30", "100"] {
      let shown = try await home.run(
        "notes list --stats price", ["AGGREGATOR_FORCE_TTY": width, "TERM": "dumb"])
      #expect(shown.output.contains("1.833333") && !shown.output.contains("1.8333333"), "\(shown)")
    }
    let piped = try await home.run("notes list --stats price --format table")
    #expect(piped.output.contains("1.833333") && !piped.output.contains("1.8333333"), "\(piped)")
    // The number of values is not that of records.
    let ofValues = "note: \"count\" is that of values; \"empty\" counts records without one\n"
    let sizes = try await home.run("notes list --group-by kind --stats size")
    #expect(sizes.errors.contains(ofValues) && !stats.errors.contains(ofValues), "\(sizes)")
    // A narrow table leaves out what says least.
    for (width, head) in [
      (80, "kind Count Min Max Mean Median Sum Distinct Others Empty"),
      (60, "kind Count Min Max Mean Median Sum Distinct Others"),
    ] {
      let table = try await home.run(
        "notes list --group-by kind --stats price",
        ["AGGREGATOR_FORCE_TTY": "\(width)", "TERM": "dumb"])
      let words = table.lines.first?.split(separator: " ").joined(separator: " ")
      #expect(table.lines.count == 3 && words == head, "\(table)")
    }
    // The key is whole.
    let key = try await home.run(
      "notes list --group-by created_at:quarter --stats price",
      ["AGGREGATOR_FORCE_TTY": "64", "TERM": "dumb"])
    #expect(
      key.lines.first == "created_at (quarter)  Count  Min  Max  Mean  Median  Sum", "\(key)")
  }

  @Test func `a table has the same columns for all pages of a service`() async throws {
    let service = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = ((page * 10 - 9)...(page * 10)).map { id in
        #"{"id": \#(id), "title": "Item \#(id)\#(page > 1 ? " with a longer title, which is cut" : "")", "#
          + #""created_at": "2024-11-11T10:00:\#(10 + id)Z", "state": "closed", "owner": "someone"}"#
      }
      let link = [("Link", "</things?page=\(page + 1)>; rel=\"next\"")]
      return .json("[\(rows.joined(separator: ","))]", headers: page < 3 ? link : [])
    }
    let home = try TestHome()
    let added = try await home.run("sources add things \(service.baseURL)/things --rate off")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.run("things sync").status == 0)
    let table = try await home.run(
      "things list", ["AGGREGATOR_FORCE_TTY": "70", "TERM": "dumb"])
    let rows = table.lines.filter { $0.contains("2024-11-11 10:00 ") }
    #expect(rows.count == 20 && table.lines.count { $0.hasPrefix("ID") } == 1, "\(table)")
    let one = try await home.run("things list --limit 1")
    #expect(one.errors.contains("1 of 30 things · more"), "\(one)")
    let short = try await home.run("things list --limit 1 --format md")
    let long = try await home.run("things list --limit 1 --format markdown")
    #expect(short.output == long.output && short.output.hasPrefix("| "), "\(short)")
    for (ending, format) in [("yml", "yaml"), ("jsonl", "ndjson")] {
      let short = try await home.run("things list --limit 1 --format \(ending)")
      let long = try await home.run("things list --limit 1 --format \(format)")
      #expect(short.output == long.output && short.status == 0, "\(short)")
    }
  }

  @Test func `a list that is cached whole has a total, also without a sync`() async throws {
    // The last page is full, and one without records follows.
    let service = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let ids = page < 4 ? Array((page * 10 - 9)...(page * 10)) : []
      let rows = ids.map { #"{"id": \#($0), "title": "Item \#($0)"}"# }
      let link = [("Link", "</things?page=\(page + 1)>; rel=\"next\"")]
      return .json("[\(rows.joined(separator: ","))]", headers: page < 4 ? link : [])
    }
    let home = try TestHome()
    let added = try await home.run("sources add things \(service.baseURL)/things --rate off")
    #expect(added.status == 0, "\(added)")
    let part = try await home.run("things list --limit 2")
    #expect(part.errors.contains("2 things · more"), "\(part)")
    #expect(try await home.run("things list --all").lines.count == 30)
    let whole = try await home.run("things list --limit 2")
    #expect(whole.errors.contains("2 of 30 things · more"), "\(whole)")
    let json = try await home.run("things list --limit 2 --json")
    #expect(json.output.contains(#""page": {"count":2,"total":30,"next":""#), "\(json)")
    let all = try await home.run("things list --limit 30 --offline --json")
    #expect(all.output.contains(#""page": {"count":30,"total":30,"next":null}"#), "\(all)")
    #expect(!all.errors.contains("more"), "\(all)")
  }

  @Test func `records that a service has replaced since a sync are not counted`() async throws {
    let last = Mutex(3)
    let service = try LoopbackServer { _ in
      let rows = [1, 2, last.withLock(\.self)].map { #"{"id": \#($0), "title": "Item \#($0)"}"# }
      return .json("[\(rows.joined(separator: ","))]")
    }
    let home = try TestHome()
    let added = try await home.run("sources add things \(service.baseURL)/things --rate off")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.run("things sync").status == 0)
    let before = try await home.run("things list --limit 1 --refresh --json")
    #expect(before.output.contains(#""page": {"count":1,"total":3,"next":""#), "\(before)")
    last.withLock { $0 = 4 }
    for line in ["things list --limit 1 --json --refresh", "things list --limit 1 --json"] {
      let after = try await home.run(line)
      #expect(after.output.contains(#""page": {"count":1,"total":null,"next":""#), "\(after)")
    }
  }

  @Test func `groups dates by years, months, weeks and days in UTC`() async throws {
    let dates = [
      "2026-01-31T23:30:00Z", "2026-02-01", "2026-02-28T22:00:00-05:00", "2026-02", "unknown",
    ]
    let rows = dates.enumerated().map { #"{"id": \#($0 + 1), "at": "\#($1)", "kind": "a"}"# }
    let service = try LoopbackServer { _ in .json("[\(rows.joined(separator: ","))]") }
    let home = try TestHome()
    let added = try await home.run("sources add notes \(service.baseURL)/notes --rate off --single")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.run("notes sync").status == 0)
    for (unit, groups) in [
      ("year", ["2026,4", "unknown,1"]), ("quarter", ["2026-Q1,4", "unknown,1"]),
      ("month", ["2026-02,2", "2026-01,1", "2026-03,1"]),
      ("week", ["2026-01-26,2", "2026-02-23,1", "2026-02,1"]),
      ("day", ["2026-01-31,1", "2026-02-01,1", "2026-03-01,1", "2026-02,1"]),
    ] {
      let outcome = try await home.run("notes list --group-by at:\(unit) --csv")
      #expect(outcome.output.hasPrefix("at:\(unit),count\r\n"), "\(outcome)")
      for group in groups { #expect(outcome.output.contains("\n\(group)\r\n"), "\(outcome)") }
    }
    let months = try await home.run("notes list --group-by at:month --csv")
    let ordered = "at:month,count\r\n2026-01,1\r\n2026-02,2\r\n2026-03,1\r\n"
    #expect(months.output.hasPrefix(ordered), "\(months)")
    let largest = try await home.run("notes list --group-by at:month --sort -count --csv")
    #expect(largest.output.hasPrefix("at:month,count\r\n2026-02,2\r\n"), "\(largest)")
    let pairs = try await home.run(
      "notes list --group-by kind,at:month --sort -at:month --ndjson --where id=3")
    #expect(pairs.output == #"{"kind":"a","at:month":"2026-03","count":1}"# + "\n", "\(pairs)")
    let unknown = try await home.run("notes list --group-by at:moth")
    #expect(
      unknown.status == 64
        && unknown.errors == """
          error: unknown unit "moth" of dates

          Did you mean "at:month"?
          hint: use one of year, quarter, month, week, day

          """,
      "\(unknown)")
    let wrong = try await home.run("notes list --group-by kind:month")
    #expect(wrong.status == 64 && wrong.errors.contains("\"kind:month\" is a date"), "\(wrong)")
  }

  static let mistakes: [(arguments: String, errors: String)] = [
    (
      "--where|publsher=Marvel",
      """
      unknown field "publsher"

      Did you mean "publisher"?
      hint: available fields: id, name, realName, publisher, powers, teams, aliases, firstAppearance, \
      summary, biography, image, link
      """
    ),
    (
      "--where|publisher",
      """
      invalid condition "publisher": no operator (character 10)
      hint: write FIELD=VALUE with one of = != ~ < <= > >=, or FIELD in (A, B), or publisher=yes if it is true or false
      """
    ),
    (
      "--where|id<ten",
      """
      invalid value "ten" for field "id": must be a number
      hint: such as id>10
      """
    ),
    (
      "--where|powers<ten",
      """
      < cannot be used with the list field "powers"
      hint: use =, != or ~
      """
    ),
    (
      "--where|name==Hulk",
      """
      invalid condition "name==Hulk": unknown operator (character 6)
      hint: write name=Hulk; quote a value like "=5"
      """
    ),
    (
      "--where|name='Hulk",
      """
      invalid condition "name='Hulk": a quote is missing (character 6)
      hint: aggregator help filters
      """
    ),
    (
      "--where|name<",
      """
      missing value after "name<"
      hint: write name= for records without a value, name!= for all others
      """
    ),
    (
      "--sort|name desc",
      """
      unknown field "name desc"

      Did you mean "-name"?
      hint: a dash before a field is for descending order
      """
    ),
    (
      "--sort|-nam",
      """
      unknown field "nam"

      Did you mean "name"?
      hint: available fields: id, name, realName, publisher, powers, teams, aliases, firstAppearance, \
      summary, biography, image, link
      """
    ),
    (
      "--sort|id|--refresh",
      """
      --refresh cannot be used: --where, --sort and --count read cached records
      hint: --all reads all records of the service
      """
    ),
  ]

  @Test(arguments: mistakes.indices)
  func `names the mistake`(index: Int) async throws {
    let (arguments, errors) = Self.mistakes[index]
    let outcome = try await run("heroes|list|\(arguments)")
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors == "error: \(errors)\n")
  }
}
