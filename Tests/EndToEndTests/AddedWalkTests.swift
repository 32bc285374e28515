import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting

/// Listings of added sources, and adding them, while the service misbehaves.
@Suite struct AddedWalkTests {
  private let home: TestHome
  private let lamps: FakeLamps

  init() throws {
    home = try TestHome()
    lamps = try FakeLamps()
  }

  /// Lists all records in two formats; the exit codes, IDs and messages agree.
  private func list(
    _ options: String = "--all --no-fallback --refresh"
  ) async throws -> (ids: [String], outcome: Outcome) {
    let outcome = try await home.run("lamps list --json \(options)")
    guard !outcome.output.isEmpty else { return ([], outcome) }
    struct Document: Decodable {
      struct Item: Decodable { let id: Int }
      struct Message: Decodable {
        let code: String
        let message: String
      }
      let schema: String
      let items: [Item]
      let warnings: [Message]
    }
    let document = try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
    #expect(document.schema == "aggregator/1")
    #expect(outcome.status != 3 || !document.warnings.isEmpty, "\(outcome)")
    return (document.items.map { "\($0.id)" }, outcome)
  }

  @Test func `the way to all records leads to all of them`() async throws {
    let service = try LoopbackServer { request in
      let skip = request.query["skip"].flatMap { Int($0) } ?? 0
      let rows = (0..<55).dropFirst(skip).prefix(2).map { #"{"id": \#($0), "name": "n \#($0)"}"# }
      return .json(#"{"total": 55, "skip": \#(skip), "rows": [\#(rows.joined(separator: ","))]}"#)
    }
    let url = "\(service.baseURL)/bolts?limit=2&skip=0"
    #expect(try await home.run("sources add bolts \(url) --rate off").status == 0)
    func hint(_ options: String = "") async throws -> String? {
      let outcome = try await home.run("bolts list --limit 2 \(options)")
      return outcome.errors.split(separator: "\n").first?.split(separator: " · all: ").last
        .map(String.init)
    }
    #expect(try await hint() == "--all --max-pages 0")
    #expect(try await home.column("id", "bolts list --all").count == 50)
    #expect(try await home.column("id", "bolts list --all --max-pages 0").count == 55)
    #expect(try await home.run("bolts sync").status == 0)
    #expect(try await hint("--refresh") == "--offline --all")
    #expect(try await home.column("id", "bolts list --offline --all").count == 55)
    // Cached records take no pages of the service.
    #expect(try await hint("--offline") == "--all")
  }

  private static let first = (1...10).map(String.init)

  struct Failure: Sendable, CustomTestStringConvertible {
    let reply: LoopbackReply
    /// The exit code without any record.
    let code: Int32
    /// A part of the message.
    let word: String
    var testDescription: String { word }
  }

  static let failures = [
    Failure(reply: .html(title: "Oops"), code: 76, word: "HTML"),
    Failure(
      reply: .status(429, "slow down", headers: [("Retry-After", "3600")]), code: 75,
      word: "rate limited"),
    Failure(reply: .status(403, "no"), code: 69, word: "403"),
    Failure(reply: .json(#"{"lamps": 7}"#), code: 76, word: "list"),
  ]

  @Test(arguments: failures)
  func `a failure after the first page is a partial result`(failure: Failure) async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { $0 == 2 ? failure.reply : nil }
    let partial = try await list()
    #expect(partial.outcome.status == 3, "\(partial.outcome)")
    #expect(partial.ids == Self.first)
    #expect(partial.outcome.errors.contains(failure.word), "\(partial.outcome)")
  }

  @Test(arguments: failures.filter { $0.code != 75 })
  func `a list goes on in the copy of a complete sync`(failure: Failure) async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    #expect(try await home.run("lamps delete 3 --yes").status == 0)
    let rest = (1...25).filter { $0 != 3 }.map(String.init)
    lamps.behave { $0 > 1 ? failure.reply : nil }
    for options in ["--all", "--all --refresh", "--limit 5000 --refresh"] {
      let (ids, outcome) = try await list(options)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(ids == rest, "\(options)")
      #expect(outcome.errors.contains("cached, fetched"), "\(outcome)")
      #expect(outcome.errors.contains(failure.word), "\(outcome)")
    }
    let part = try await list("--limit 15 --refresh")
    #expect(part.ids == Array(rest.prefix(15)))
    let cursor = try #require(part.outcome.errors.firstMatch(of: /--cursor (\S+)/)?.output.1)
    #expect(try await list("--limit 100 --cursor \(cursor)").ids == Array(rest.dropFirst(15)))
    let count = try await home.run("lamps list --count --all --refresh")
    #expect(count.status == 0 && count.output == "24\n", "\(count)")
    let strict = try await list().outcome
    #expect(strict.status == 3, "\(strict)")
    #expect(strict.errors.contains("are cached: read them with --offline --all"), "\(strict)")
  }

  @Test(arguments: failures.filter { $0.code != 75 })
  func `an answer of a part of the records that stands in for the service is never whole`(
    failure: Failure
  ) async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { $0 == 3 ? failure.reply : nil }
    #expect(try await home.run("lamps sync").status != 0)
    // Neither the service nor its cached pages have the second ten.
    lamps.behave { _ in failure.reply }
    for options in ["--all", "--all --refresh", "--all --offline"] {
      let (ids, outcome) = try await list(options)
      #expect(ids == (1...20).map(String.init), "\(options): \(outcome)")
      #expect(outcome.status == 3, "\(options): \(outcome)")
      #expect(outcome.errors.contains("limited to cached records: 20 of 25"), "\(outcome)")
      #expect(outcome.errors.contains("hint: aggregator lamps sync"), "\(outcome)")
    }
    struct Document: Decodable {
      struct Page: Decodable {
        let count: Int
        let total: Int?
      }
      let page: Page
    }
    for command in [
      "lamps search lamp --limit 5", "lamps search lamp --all", "lamps search lamp --all --offline",
      "search lamp --source lamps --limit 50",
    ] {
      let found = try await home.run("\(command) --json")
      #expect(found.status == 3, "\(command): \(found)")
      #expect(found.errors.contains("limited to cached records: 20 of 25"), "\(found)")
      let page = try JSONDecoder().decode(Document.self, from: Data(found.output.utf8)).page
      #expect(page.total == nil, "\(command): \(found)")
    }
    // So is one that finds nothing among them.
    for command in ["lamps search zzz", "lamps search zzz --offline", "search zzz --source lamps"] {
      let none = try await home.run("\(command) --json")
      #expect(none.status == 3, "\(command): \(none)")
      #expect(none.errors.hasPrefix("No lamps match \"zzz\""), "\(command): \(none)")
      #expect(none.errors.contains("limited to cached records: 20 of 25"), "\(none)")
      #expect(
        none.errors.contains("lamps: cached, fetched ") != command.hasSuffix("--offline"),
        "\(none)")
      let page = try JSONDecoder().decode(Document.self, from: Data(none.output.utf8)).page
      #expect(page.count == 0 && page.total == nil, "\(command): \(none)")
    }
  }

  @Test func `a list does not go on in a copy without new records of the service`() async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    lamps.behave {
      $0 == 1 ? .json(FakeLamps.page(1, of: Array(1...30))) : .status(403, "no")
    }
    for options in ["--all --refresh", "--limit 5000 --refresh"] {
      let (ids, outcome) = try await list(options)
      #expect(outcome.status == 3 && ids.starts(with: Self.first), "\(outcome)")
    }
    let count = try await home.run("lamps list --count --all --refresh")
    #expect(count.status == 3, "\(count)")
  }

  @Test func `no value is suggested for records of which a part was not read`() async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { $0 > 1 ? .status(403, "no") : nil }
    let words = ["lamps", "list", "--count", "--all", "--where", "name=Lamp 1"]
    let count = try await Binary.run(words, in: home.sandbox)
    #expect(count.status == 3 && count.output == "0\n", "\(count)")
    #expect(!count.errors.contains("Did you mean"), "\(count)")
    lamps.behave { _ in nil }
    let all = try await Binary.run(words, in: home.sandbox)
    #expect(all.errors.contains("No matching lamps. Did you mean \"lamp 1\"?\n"), "\(all)")
  }

  @Test func `--count believes a total only if nothing contradicts it`() async throws {
    #expect(try await home.add(lamps).status == 0)
    func count() async throws -> Outcome {
      try await home.run("lamps list --count --all --no-fallback --refresh")
    }
    let before = lamps.pages.count
    #expect(try await count().output == "25\n")
    #expect(lamps.pages.dropFirst(before).contains("3"))
    // Seven rows where ten were asked for, and none after them.
    @Sendable func page(_ number: Int) -> LoopbackReply {
      .json(
        FakeLamps.page(number, of: Array(1...7)).replacing("\"total\": 7", with: "\"total\": 250"))
    }
    lamps.behave { page($0) }
    let short = try await count()
    #expect(short.status == 3 && short.output == "7\n", "\(short)")
    #expect(
      short.errors == "warning: lamps: the service reports 250 records but sent 7\n", "\(short)")
    // The total of a list is known to be wrong once its end was seen.
    lamps.behave { number in
      .json(FakeLamps.page(number).replacing("\"total\": 25", with: "\"total\": 250"))
    }
    let known = try await count()
    #expect(known.status == 3 && known.output == "25\n", "\(known)")
  }

  @Test func `a number that was not counted says so, unless it is known to be wrong`() async throws
  {
    #expect(try await home.add(lamps).status == 0)
    // Of more pages than are read.
    lamps.behave { number in
      .json(FakeLamps.page(number).replacing("\"total\": 25", with: "\"total\": 999"))
    }
    let reported = try await home.run("lamps list --count --all --refresh")
    #expect(reported.status == 0 && reported.output == "999\n", "\(reported)")
    let note = "note: the service reports this number: --max-pages 0 counts the records"
    #expect(reported.errors.contains(note), "\(reported)")
    for options in ["--max-pages 0", ""] {
      let counted = try await home.run("lamps list --count --all --refresh \(options)")
      #expect(counted.status == 3 && counted.output == "25\n", "\(options): \(counted)")
      #expect(counted.errors.contains("reports 999 records but sent 25"), "\(options): \(counted)")
    }
  }

  @Test func `a number of cached pages is that of their records`() async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { $0 > 2 ? .status(403, "no") : nil }
    #expect(try await list("--all --refresh").outcome.status == 3)
    lamps.behave { _ in .status(403, "no") }
    for (options, reason) in [
      ("--offline", "the cached pages end here (offline mode)"), ("--refresh", "403"),
    ] {
      let count = try await home.run("lamps list --count --all \(options)")
      #expect(count.status == 3 && count.output == "20\n", "\(count)")
      #expect(count.errors.contains(reason), "\(count)")
    }
  }

  @Test func `an offline list has the records of an interrupted sync, too`() async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await list("--limit 5 --refresh").outcome.status == 0)
    lamps.behave { $0 > 2 ? .status(403, "no") : nil }
    #expect(try await home.run("lamps sync").status == 3)
    for options in ["--offline --all", "--offline --limit 22"] {
      let (ids, outcome) = try await list(options)
      #expect(outcome.status == 3 && ids == (1...20).map(\.description), "\(outcome)")
      #expect(
        outcome.errors.contains("limited to cached records: 20 of 25 lamps are cached"),
        "\(outcome)")
    }
    for options in ["--all", ""] {
      let count = try await home.run("lamps list --count --offline \(options)")
      #expect(count.status == 3 && count.output == "20\n", "\(options): \(count)")
    }
  }

  @Test(arguments: failures)
  func `a failure of the first page has its own code`(failure: Failure) async throws {
    lamps.behave { _ in failure.reply }
    let added = try await home.add(lamps)
    #expect(added.status == failure.code, "\(added)")
    #expect(added.errors.contains(failure.word), "\(added)")
    // A pause that the service has asked for is kept.
    let isPause = failure.code == 75
    #expect(try home.sandbox.files(under: "home").isEmpty == !isPause)

    lamps.behave { _ in nil }
    if isPause { #expect(try await home.add(lamps).status == 75) }
    #expect(try await home.add(lamps, isPause ? "--refresh" : "").status == 0)
    lamps.behave { _ in failure.reply }
    let listed = try await list()
    #expect(listed.outcome.status == failure.code, "\(listed.outcome)")
    #expect(listed.outcome.errors.contains(failure.word), "\(listed.outcome)")
    #expect(listed.ids.isEmpty)
  }

  @Test func `pages that repeat end the listing`() async throws {
    #expect(try await home.add(lamps).status == 0)
    // The parameter of the page is ignored from now on.
    lamps.behave { _ in .json(FakeLamps.page(1)) }
    let ignored = try await list()
    #expect(ignored.outcome.status == 3, "\(ignored.outcome)")
    #expect(ignored.ids == Self.first)
    #expect(lamps.pages.count <= 10)
  }

  @Test func `a cycle of pages ends the listing`() async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { .json(FakeLamps.page(2 - $0 % 2)) }
    let cycle = try await list()
    #expect(cycle.outcome.status == 3, "\(cycle.outcome)")
    #expect(cycle.ids == (1...20).map(\.description), "\(cycle.ids)")
    #expect(lamps.pages.count <= 15)
  }

  @Test func `a total that is not reached is a partial result`() async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { number in
      .json(FakeLamps.page(number).replacing("\"total\": 25", with: "\"total\": 99"))
    }
    let short = try await list()
    #expect(short.outcome.status == 3, "\(short.outcome)")
    #expect(short.ids.count == 25)
    #expect(short.outcome.errors.contains("reports 99 records but sent 25"), "\(short.outcome)")
  }

  @Test func `a total that is too low is no total`() async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { number in
      .json(FakeLamps.page(number).replacing("\"total\": 25", with: "\"total\": 12"))
    }
    let words = "warning: lamps: the service reports 12 records but sent more\n"
    for (options, count) in [("--limit 20", 20), ("--all", 25)] {
      let (ids, low) = try await list("\(options) --no-fallback --refresh")
      #expect(low.status == 0 && ids.count == count, "\(low)")
      #expect(low.output.contains(#""page": {"count":\#(count),"total":null,"#), "\(low)")
      #expect(low.errors.components(separatedBy: words).count == 2, "\(low)")
      #expect(!low.errors.contains("of 12"), "\(low)")
    }
    let (_, few) = try await list("--limit 5 --no-fallback --refresh")
    #expect(few.output.contains(#""page": {"count":5,"total":12,"#), "\(few)")
    #expect(!few.errors.contains(words), "\(few)")
    // Then the store knows better.
    #expect(try await home.run("lamps sync").status == 0)
    for (options, total) in [("--refresh", "null"), ("", "25"), ("--offline", "25")] {
      let (_, first) = try await list("--limit 5 \(options)")
      #expect(first.output.contains(#""page": {"count":5,"total":\#(total),"#), "\(first)")
    }
    // The service has more again than it was known to have.
    lamps.behave { number in
      .json(FakeLamps.page(number).replacing("\"total\": 25", with: "\"total\": 26"))
    }
    let (_, more) = try await list("--limit 5 --refresh")
    #expect(more.output.contains(#""page": {"count":5,"total":26,"#), "\(more)")
  }

  @Test func `an ID on two pages of a paging that is not proved is synced once and said`()
    async throws
  {
    let service = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let ids = page > 5 ? [] : Array((page * 8 - 7)...(page * 8 + 2))
      let rows = ids.map { #"{"id": \#($0), "name": "thing \#($0)"}"# }
      return .json(#"{"things": [\#(rows.joined(separator: ","))]}"#)
    }
    let manifest = """
      {"url": "\(service.baseURL)/things", "rows": "things", "id": "id", "fields": ["name"], "page": "page=1", "paging": "unproved"}
      """
    try home.sandbox.write(manifest, to: home.manifestPath("things.json"))
    for (added, unchanged) in [(42, 0), (0, 42)] {
      let synced = try await home.run(
        "things sync --ndjson --fields added,changed,unchanged,complete")
      let counts = #"{"added":\#(added),"changed":0,"unchanged":\#(unchanged),"complete":false}"#
      #expect(synced.output == "\(counts)\n", "\(synced)")
      let words = "warning: things: 8 rows had the ID of an earlier one: others may be missing\n"
      #expect(synced.status == 3 && synced.errors.contains(words), "\(synced)")
    }
  }

  @Test func `an ID on two pages is listed once and said`() async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { number in
      number == 2 ? .json(FakeLamps.page(2).replacing("\"id\": 11,", with: "\"id\": 10,")) : nil
    }
    let repeated = try await list()
    #expect(repeated.outcome.status == 3, "\(repeated.outcome)")
    #expect(repeated.ids.count == 24)
    #expect(Set(repeated.ids).count == 24)
    #expect(repeated.outcome.errors.contains("1 record came again on another page"))
  }

  @Test func `a next link to another host ends the listing`() async throws {
    let strange = Switch()
    let service = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let next =
        page == 2 && strange.isOn ? "http://localhost:1/x" : "/x?page=\(page + 1)"
      return .json(
        page > 3
          ? #"{"next": null, "things": []}"#
          : #"{"next": "\#(next)", "things": [{"id": \#(page * 2)}, {"id": \#(page * 2 + 1)}]}"#)
    }
    let line = "sources add lamps \(service.baseURL)/x --rate off"
    let added = try await home.run(line)
    #expect(added.status == 0, "\(added)")
    strange.isOn = true
    let partial = try await list()
    #expect(partial.outcome.status == 3, "\(partial.outcome)")
    #expect(partial.ids.starts(with: ["2", "3"]))
    #expect(partial.outcome.errors.contains("another host"), "\(partial.outcome)")
  }

  @Test func `a rate limit while the paging is proved adds nothing`() async throws {
    lamps.behave { $0 == 2 ? .status(429, "slow down") : nil }
    let added = try await home.add(lamps, "--yes")
    #expect(added.status == 75, "\(added)")
    #expect(try home.sandbox.files(under: "home").isEmpty)
    lamps.behave { $0 == 2 ? .html(title: "Oops") : nil }
    let html = try await home.add(lamps)
    #expect(html.status == 3, "\(html)")
    #expect(try home.sandbox.files(under: "home").isEmpty)
  }
}

/// Shared by the test and its service.
private final class Switch: Sendable {
  private let state = Mutex(false)
  var isOn: Bool {
    get { state.withLock(\.self) }
    set { state.withLock { $0 = newValue } }
  }
}
