import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import AggregatorTerminal
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `SOURCE diff`: the differences from an earlier state of the cached records.
@Suite struct DiffTests {
  private let home: TestHome
  private let products: FakeProducts

  init() throws {
    products = try FakeProducts()
    home = try TestHome(products.settings)
  }

  private func service(
    _ numbers: some Sequence<Int>, titles: [Int: JSON] = [:]
  ) throws -> FakeProducts {
    try FakeProducts(numbers.map { FakeProduct($0, titles[$0] ?? .string("Thing \($0)")) })
  }

  private func sync(_ service: FakeProducts) async throws {
    products.become(service)
    let outcome = try await home.run("products sync")
    #expect(outcome.status == 0, "\(outcome)")
  }

  /// Things 1 to 20; then 3 is missing, 5 has another title, and 21 is new.
  private func syncTwice() async throws {
    try await sync(service(1...20))
    try await sync(service((1...21).filter { $0 != 3 }, titles: [5: "New 5"]))
  }

  @Test func `prints one line for each record on a terminal`() async throws {
    try await syncTwice()
    let terminal = ["AGGREGATOR_FORCE_TTY": "100", "NO_COLOR": "1"]
    let outcome = try await home.run("products diff", terminal)
    #expect(outcome.status == 0)
    #expect(
      Set(outcome.lines) == [
        "+ Thing 21 (\(FakeProduct.id(21)))",
        "~ New 5 (\(FakeProduct.id(5))): title Thing 5 → New 5",
        "− Thing 3 (\(FakeProduct.id(3)))",
      ], "\(outcome)")
    #expect(outcome.errors.hasPrefix("1 added, 1 changed, 1 removed since 20"), "\(outcome)")

    let narrow = try await home.run(
      "products diff", ["AGGREGATOR_FORCE_TTY": "30", "NO_COLOR": "1"])
    #expect(narrow.lines.allSatisfy { $0.displayWidth <= 38 }, "\(narrow)")
    #expect(
      narrow.lines.allSatisfy { line in ["+ ", "~ ", "− ", "  "].contains { line.hasPrefix($0) } })
    let colored = try await home.run(
      "products diff --color always", ["AGGREGATOR_FORCE_TTY": "100"])
    #expect(colored.output.contains("\u{1B}[33m~\u{1B}[0m New 5"), "\(colored)")
  }

  @Test func `every format has the same changes`() async throws {
    try await syncTwice()
    let expected: Set = [
      "added \(FakeProduct.id(21))", "changed \(FakeProduct.id(5))",
      "removed \(FakeProduct.id(3))",
    ]
    let tsv = try await home.run("products diff --fields change,id --tsv")
    #expect(Set(tsv.lines.map { $0.replacing("\t", with: " ") }) == expected)
    let csv = try await home.run("products diff --fields change,id --csv")
    let rows = csv.output.split(separator: "\r\n").map { String($0).replacing(",", with: " ") }
    #expect(rows.first == "change id" && Set(rows.dropFirst()) == expected)
    let ndjson = try await home.run("products diff --fields change,id --ndjson")
    #expect(
      Set(ndjson.lines) == [
        #"{"change":"added","id":"\#(FakeProduct.id(21))"}"#,
        #"{"change":"changed","id":"\#(FakeProduct.id(5))"}"#,
        #"{"change":"removed","id":"\#(FakeProduct.id(3))"}"#,
      ])
    let json = try await home.run("products diff --json --fields change")
    #expect(
      json.output.contains(#""source": "products""#) && json.output.contains(#""verb": "diff""#))
    #expect(json.output.contains(#""page": {"count":3,"total":3,"next":null}"#), "\(json)")
    let table = try await home.run(
      "products diff --fields change,name", ["AGGREGATOR_FORCE_TTY": "80", "NO_COLOR": "1"])
    #expect(table.lines.count == 4 && table.lines[0].hasPrefix("Change"), "\(table)")
  }

  @Test func `JSON has the values before and after`() async throws {
    try await syncTwice()
    let outcome = try await home.run("products diff --ndjson")
    let changed = try #require(outcome.lines.first { $0.contains(#""change":"changed""#) })
    #expect(
      changed.contains(
        #""name":"New 5","fields":["title"],"before":{"title":"Thing 5"},"after":{"title":"New 5"},"record":{"id":"#
      ),
      "\(changed)")
    let added = try #require(outcome.lines.first { $0.contains(#""change":"added""#) })
    #expect(added.contains(#""fields":[],"before":null,"after":null,"record":{"id":"#), "\(added)")
    let removed = try #require(outcome.lines.first { $0.contains(#""change":"removed""#) })
    #expect(
      removed.contains(#""after":null,"record":{"#) && removed.contains(#""title":"Thing 3""#),
      "\(removed)")
  }

  @Test func `the exit code tells of differences only on request`() async throws {
    try await syncTwice()
    #expect(try await home.run("products diff").status == 0)
    #expect(try await home.run("products diff --exit-code").status == 1)
    // As before: nothing has changed since.
    try await sync(service((1...21).filter { $0 != 3 }, titles: [5: "New 5"]))
    let none = try await home.run("products diff --exit-code")
    #expect(none.status == 0)
    #expect(none.output == "")
    #expect(none.errors.hasPrefix("No differences since 20"), "\(none)")
  }

  @Test func `--limit bounds the changes`() async throws {
    try await syncTwice()
    let outcome = try await home.run("products diff --limit 2 --ndjson")
    #expect(outcome.lines.count == 2)
    // The numbers are of all changes.
    #expect(
      outcome.errors.hasPrefix("1 added, 1 changed, 1 removed since ")
        && outcome.errors.hasSuffix(" · 2 of 3 changes shown · more: without --limit\n"),
      "\(outcome)")
    let json = try await home.run("products diff --limit 2 --json --fields change")
    #expect(json.output.contains(#""page": {"count":2,"total":3,"next":null}"#), "\(json)")
    let all = try await home.run("products diff --limit 3 --ndjson")
    #expect(all.lines.count == 3 && !all.errors.contains("more"), "\(all)")
  }

  @Test func `compares with a date, a span and a word`() async throws {
    try await syncTwice()
    // All is newer, and what was removed was never there.
    for start in ["2000-01-01", "2001", "yesterday", "1w", "2020-02-03T04:05"] {
      let outcome = try await home.run("products diff --since \(start) --fields change --tsv")
      #expect(outcome.lines == Array(repeating: "added", count: 20), "\(start): \(outcome)")
      #expect(outcome.errors.contains("warning: products: the history begins 20"), "\(outcome)")
    }
  }

  @Test(arguments: [
    ("nonsense", "must be sync, today, yesterday, a date"), ("3x", "must be sync"),
    ("9999-01-01", "is in the future"), ("-1h", "must be sync"),
  ])
  func `refuses another start`(text: String, reason: String) async throws {
    let outcome = try await home.run("products diff --since \(text)")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains(reason), "\(outcome)")
  }

  @Test func `names the remedy if there is nothing to compare with`() async throws {
    let never = try await home.run("products diff --exit-code")
    #expect(never.status == 69)
    #expect(
      never.errors
        == "error: products: nothing is cached, so there is nothing to compare with\n"
        + "hint: aggregator products sync\n")
    #expect(try home.sandbox.files(under: "home").isEmpty)
    products.become(try service(1...20))
    #expect(try await home.run("products list --limit 5").status == 0)
    let unsynced = try await home.run("products diff")
    #expect(unsynced.status == 69)
    #expect(
      unsynced.errors.contains(
        "products: no sync is known yet: there is nothing to compare with"), "\(unsynced)")
    #expect(try await home.run("products diff --since 1h").lines.count == 5)
    let off = try await home.run(
      "products diff", ["AGGREGATOR_HISTORY": "off"])
    #expect(off.status == 69)
    #expect(off.errors.contains("no history is kept (AGGREGATOR_HISTORY is off)"), "\(off)")
    let invalid = try await home.run("products diff", ["AGGREGATOR_HISTORY": "for ever"])
    #expect(invalid.status == 78)
    #expect(
      invalid.errors.contains(
        #"invalid value "for ever" for AGGREGATOR_HISTORY: must be an age"#), "\(invalid)")
  }

  @Test func `a change that a listing finds counts too, and deleted records do not`() async throws {
    try await sync(service(1...20))
    products.become(try service(1...20, titles: [1: "New 1", 2: "New 2"]))
    #expect(try await home.run("products list --refresh --limit 5").status == 0)
    #expect(try await home.run("products delete \(FakeProduct.id(2)) --yes").status == 0)
    let outcome = try await home.run("products diff --fields change,name --tsv")
    #expect(outcome.lines == ["changed\tNew 1"], "\(outcome)")
  }

  @Test func `a sync that may have missed records is compared with as any other`() async throws {
    try await sync(service(1...20))
    try await sync(service(1...20, titles: [5: "New 5"]))
    products.become(try service(1...20, titles: [5: "New 5", 7: "New 7"]))
    #expect(try await home.run("products list --refresh --limit 10").status == 0)
    products.become(try service([]))
    #expect(try await home.run("products sync").status == 3)
    let last = try await home.run("products diff --fields change,name --tsv")
    #expect(last.lines == ["changed\tNew 7"], "\(last)")
    try await sync(service(1...20, titles: [6: "New 6", 7: "New 7"]))
    let next = try await home.run("products diff --fields change,name --tsv")
    #expect(Set(next.lines) == ["changed\tThing 5", "changed\tNew 6"], "\(next)")
  }

  @Test func `nothing is denied after a sync that has not come to its end`() async throws {
    let lamps = try FakeLamps()
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    #expect(try await home.run("lamps diff --exit-code").status == 0)
    lamps.behave { $0 == 2 ? .json(#"{"lamps": 7}"#) : nil }
    #expect(try await home.run("lamps sync").status != 0)
    for line in ["lamps diff", "lamps diff --exit-code"] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 3 && outcome.output.isEmpty, "\(outcome)")
      #expect(outcome.errors.hasPrefix("No known differences since 20"), "\(outcome)")
      #expect(
        outcome.errors.contains(
          "warning: lamps: limited to cached records: later changes are not known, because the last sync failed: "
        )
          && outcome.errors.hasSuffix("\nhint: aggregator lamps sync\n"), "\(outcome)")
    }
    let json = try await home.run("lamps diff --json")
    #expect(json.output.contains(#""page": {"count":0,"total":null,"next":null}"#), "\(json)")
    #expect(json.output.contains("the last sync failed: "), "\(json)")
    // What has changed is known to have.
    let name = #""name": "lamp 1""#
    let page = FakeLamps.page(1).replacing(name, with: #""name": "torch""#)
    lamps.behave { $0 == 1 ? .json(page) : $0 == 2 ? .json(#"{"lamps": 7}"#) : nil }
    #expect(try await home.run("lamps list --refresh --limit 10").status == 0)
    let changed = try await home.run("lamps diff --exit-code")
    #expect(changed.status == 1 && changed.errors.contains("limited to"), "\(changed)")
    lamps.behave { _ in nil }
    _ = try await home.run("lamps sync")
    #expect(try await home.run("lamps sync").status == 0)
    #expect(try await home.run("lamps diff").status == 0)
  }

  @Test func `counts what has changed back, and does not list it`() async throws {
    try await sync(service(1...20))
    try await sync(service(1...20))
    products.become(try service(1...20, titles: [1: "New 1"]))
    #expect(try await home.run("products list --refresh --limit 5").status == 0)
    try await sync(service(1...20))
    let outcome = try await home.run("products diff --exit-code")
    #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
    #expect(outcome.errors.hasPrefix("No differences since 20"), "\(outcome)")
    #expect(outcome.errors.hasSuffix(" · 1 changed and changed back\n"), "\(outcome)")
  }

  @Test func `counts what has changed only in values that are not among the fields`() async throws {
    let service = try LoopbackServer(
      replies: [1, 3].map { .json(#"[{"id": 1, "name": "a", "hits": \#($0)}]"#) })
    let manifest = """
      {"url": "\(service.baseURL)/things", "rows": "$", "id": "id", "paging": "single", "fields": ["name"]}
      """
    try home.sandbox.write(manifest, to: home.manifestPath("things.json"))
    for counts in ["1\t0", "0\t1"] {
      let synced = try await home.run("things sync --tsv --fields added,changed")
      #expect(synced.status == 0 && synced.lines.last == counts, "\(synced)")
    }
    let outcome = try await home.run("things diff --exit-code")
    #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
    #expect(
      outcome.errors.hasSuffix(" · 1 changed only in values that are not among the fields\n"),
      "\(outcome)")
  }

  @Test(arguments: [false, true])
  func `a first sync adds nothing, also to what a list had cached before`(isListed: Bool)
    async throws
  {
    products.become(try service(1...20))
    if isListed { #expect(try await home.run("products list --limit 5").status == 0) }
    try await sync(service(1...20))
    let outcome = try await home.run("products diff --exit-code")
    #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
    #expect(
      outcome.errors == "First sync: 20 records; later syncs show what has changed\n",
      "\(outcome)")
    products.become(try service(1...20, titles: [1: "New 1"]))
    #expect(try await home.run("products list --refresh --limit 5").status == 0)
    let changed = try await home.run("products diff --fields change,name --tsv")
    #expect(changed.lines == ["changed\tNew 1"], "\(changed)")
  }

  @Test func `details that are fetched are no change`() async throws {
    let heroes = try FakeComicVine()
    let there = heroes.settings.mapValues(Optional.some)
    #expect(try await home.run("heroes sync", there).status == 0)
    #expect(try await home.run("heroes show 1443", there).status == 0)
    let outcome = try await home.run("heroes diff --exit-code", there)
    #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
  }

  @Test func `text of a service is harmless`() async throws {
    try await sync(service(1...20))
    try await sync(service(1...20, titles: [5: "a\u{1B}[31m\nb"]))
    let outcome = try await home.run(
      "products diff", ["AGGREGATOR_FORCE_TTY": "200", "NO_COLOR": "1"])
    #expect(outcome.lines == ["~ a␛[31m b (00000000): title Thing 5 → a␛[31m b"])
  }

  @Test func `a long text is shown where it differs`() async throws {
    let text = String(repeating: "word ", count: 40)
    try await sync(service(1...20, titles: [5: .string("\(text)one")]))
    try await sync(service(1...20, titles: [5: .string("\(text)two")]))
    let outcome = try await home.run(
      "products diff", ["AGGREGATOR_FORCE_TTY": "400", "NO_COLOR": "1"])
    #expect(outcome.output.hasSuffix(": title …d word word one → …d word word two\n"), "\(outcome)")
  }

  @Test func `the store shows its changes, and forgets them on request`() async throws {
    try await syncTwice()
    func count() async throws -> String? {
      try await home.run("store status --fields source,changes --tsv").lines
        .first { $0.hasPrefix("products") }
    }
    #expect(try await count() == "products\t2")
    let dry = try await home.run("store clear products --history --dry-run")
    #expect(dry.errors == "Would remove 2 changes of products\n")
    let cleared = try await home.run("store clear products --history --yes")
    #expect(cleared.errors == "Removed 2 changes of products\n")
    #expect(try await count() == "products\t0")
    #expect(try await home.run("products list --offline --count").lines == ["20"])
    let diff = try await home.run("products diff --since 1h")
    #expect(diff.status == 69 && diff.errors.contains("no history yet"), "\(diff)")
    #expect(try await home.run("store clear nothing --history --yes").status == 64)
    #expect(try await home.run("store clear products --history --forget-deleted").status == 64)
    #expect(try home.file.faults() == [])
  }

  @Test func `says since when changes are known`() async throws {
    let limit: [String: String?] = ["AGGREGATOR_HISTORY": "1"]
    try await sync(service(1...20))
    for titles: [Int: JSON] in [[5: "A", 6: "A"], [5: "B", 6: "B"]] {
      products.become(try service(1...20, titles: titles))
      #expect(try await home.run("products sync", limit).status == 0)
    }
    let outcome = try await home.run("products diff --json")
    #expect(outcome.errors.contains("warning: products: the history begins 20"), "\(outcome)")
    #expect(outcome.output.contains(#""code":"historyTrimmed""#))
  }
}
