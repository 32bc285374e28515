import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `next`: the page after the one shown last.
@Suite struct NextTests {
  private let service: FakeComicVine
  private let sandbox: Sandbox

  init() throws {
    service = try FakeComicVine()
    sandbox = try Sandbox()
  }

  static let cast = FakeCharacter.cast.map(\.id)
  static let terminal: [String: String?] = ["AGGREGATOR_FORCE_TTY": "100", "TERM": "dumb"]
  private static let place = "home/.local/state/aggregator/positions/default/heroes.json"

  /// Runs a line about heroes, by default with `--tsv`.
  private func heroes(
    _ line: String, _ environment: [String: String?] = [:], output: Binary.Sink = .captured
  ) async throws -> Outcome {
    let variables = service.settings.mapValues(Optional.some).merging(environment) { $1 }
    let format = line.contains("--json") ? "" : " --tsv"
    return try await Binary.run(
      "heroes \(line)\(format)", environment: variables, in: sandbox, output: output)
  }

  @Test func `next three times returns three consecutive pages`() async throws {
    var ids: [Int] = []
    for range in ["30", "31–60", "61–90"] {
      let outcome = try await heroes("next --limit 30")
      #expect(outcome.status == 0)
      let note = ids.isEmpty ? "" : "note: continues the default session: a list\n"
      #expect(outcome.errors == "\(note)\(range) of 257 heroes · more: aggregator heroes next\n")
      ids += outcome.ids
    }
    #expect(ids == Array(Self.cast.prefix(90)))
    // As many as before.
    #expect(try await heroes("next").ids == Self.cast[90..<120].map(\.self))
    #expect(try sandbox.permissions(of: Self.place) == 0o600)
    #expect(try sandbox.permissions(of: "home/.local/state/aggregator/positions/default") == 0o700)
  }

  @Test func `continues after a listing on a terminal, not in a script`() async throws {
    let seen = try await heroes("list --limit 5", Self.terminal)
    #expect(seen.errors == "5 of 257 heroes · more: aggregator heroes next · all: --all\n")
    let script = try await heroes("search spider --limit 2")
    #expect(script.errors.hasPrefix("2 of 16 heroes · more: --cursor "))
    #expect(try await heroes("next --limit 5").ids == Self.cast[5..<10].map(\.self))
  }

  @Test func `a script reads which session it continues, and a terminal shows it`() async throws {
    let note = "note: continues the default session: a search for \"spider\"\n"
    _ = try await heroes("search spider --limit 2", Self.terminal)
    #expect(try await heroes("next").errors.hasPrefix(note))
    #expect(try await heroes("next --back").errors.hasPrefix(note))
    for (line, variables) in [
      ("next", Self.terminal), ("next --quiet", [:]), ("next --reset", [:]),
      ("next --session mine", [:]), ("next --session mine", [:]),
    ] {
      let outcome = try await heroes(line, variables)
      #expect(outcome.status == 0 && !outcome.errors.contains("continues"), "\(outcome)")
    }
    let new = "note: the session is new, and begins with the first page\n"
    #expect(try await heroes("next --session other").errors.hasPrefix(new))
    #expect(try await heroes("next --session other").errors.contains("new") == false)
    #expect(try await heroes("next --reset --session third").errors.contains("new") == false)
  }

  @Test func `continues after a listing on a real terminal`() async throws {
    let terminal = try PseudoTerminal()
    let shown = try await heroes("list --limit 3", output: .descriptor(terminal.descriptor))
    #expect(shown.status == 0)
    #expect(try await heroes("next --limit 3").ids == Self.cast[3..<6].map(\.self))
  }

  @Test func `continues a search and prints its query`() async throws {
    let search = try await heroes("search spider --limit 10", Self.terminal)
    let next = try await heroes("next --json").envelope()
    #expect(next.verb == "next")
    #expect(next.query == "spider")
    #expect(next.items.count == 6)
    #expect(Set(next.items.compactMap(\.id)).isDisjoint(with: search.ids))
    #expect(next.items.allSatisfy { $0.name.hasPrefix("Spider-") })
  }

  @Test func `shows the fields of the listing, unless others are given`() async throws {
    _ = try await heroes("list --limit 2 --fields name,id", Self.terminal)
    let names = FakeCharacter.cast.map { "\($0.name)\t\($0.id)" }
    #expect(try await heroes("next --limit 2").lines == Array(names[2..<4]))
    #expect(try await heroes("next --limit 2 --back").lines == Array(names[0..<2]))
    #expect(
      try await heroes("next --limit 2 --fields id").lines
        == FakeCharacter.cast[2..<4].map { "\($0.id)" })
    #expect(
      try await heroes("next --limit 2").lines == FakeCharacter.cast[4..<6].map { "\($0.id)" })
    #expect(
      try await heroes("next --reset --limit 1").lines == ["\(FakeCharacter.cast[0].id)"])
    // A file of another version, or one that was modified, may name fields that do not exist.
    let position = try sandbox.text(of: Self.place)
    try sandbox.write(
      position.replacing(#""fields":["id"]"#, with: #""fields":["strength","name"]"#),
      to: Self.place)
    #expect(
      try await heroes("next --limit 1").lines == [FakeCharacter.cast[1].name])
  }

  @Test func `sessions have separate positions`() async throws {
    _ = try await heroes("list --limit 4", Self.terminal)
    let other = try await heroes("list --limit 2 --session other.1_-")
    #expect(
      other.errors.hasPrefix(
        "2 of 257 heroes · more: aggregator heroes next --session other.1_- · all: --all\n"))
    #expect(
      try await heroes("next --limit 2 --session other.1_-").ids == Self.cast[2..<4].map(\.self))
    #expect(try await heroes("next --limit 2").ids == Self.cast[4..<6].map(\.self))
  }

  @Test(arguments: [
    ".", "..", "-x", ".x", "a/b", "a b", "é", "a\n", String(repeating: "a", count: 65),
  ])
  func `a session has a plain name`(name: String) async throws {
    for verb in ["next", "list", "search"] {
      let words = ["heroes", verb] + (verb == "search" ? ["x"] : []) + ["--session", name]
      let outcome = try await Binary.run(words, in: sandbox)
      #expect(outcome.status == 64, "\(outcome)")
      #expect(outcome.output == "")
    }
    #expect(try sandbox.files(under: "home").isEmpty)
  }

  @Test func `--peek moves nothing, --back shows the page before, --reset the first`() async throws
  {
    for expected in [0..<4, 4..<8] {
      let peeked = try await heroes("next --limit 4 --peek")
      #expect(peeked.ids == Self.cast[expected].map(\.self))
      #expect(peeked.errors.contains("position unchanged: aggregator heroes next shows this page"))
      #expect(try await heroes("next --limit 4").ids == peeked.ids)
    }
    #expect(try await heroes("next --limit 6").ids == Self.cast[8..<14].map(\.self))
    #expect(try await heroes("next --back").ids == Self.cast[4..<8].map(\.self))
    #expect(try await heroes("next --back").ids == Self.cast[0..<4].map(\.self))
    let first = try await heroes("next --back")
    #expect(first.status == 1)
    #expect(first.output == "")
    #expect(first.errors.hasPrefix("error: heroes: already at the first page\n"))
    #expect(try await heroes("next --limit 2").ids == Self.cast[4..<6].map(\.self))
    #expect(try await heroes("next --reset --limit 3").ids == Self.cast[0..<3].map(\.self))
    #expect(try await heroes("next --limit 3").ids == Self.cast[3..<6].map(\.self))
  }

  @Test func `without a position, --back fails, and --peek saves nothing`()
    async throws
  {
    let back = try await heroes("next --back")
    #expect(back.status == 1)
    #expect(
      back.errors == "error: heroes: no page has been shown yet\nhint: aggregator heroes next\n")
    #expect(try await heroes("next --peek").ids == Array(Self.cast.prefix(20)))
    #expect(throws: (any Error).self) { try sandbox.text(of: Self.place) }
  }

  @Test func `a search starts over as the same search`() async throws {
    let first = try await heroes("search spider --limit 5 --session s")
    _ = try await heroes("next --session s")
    #expect(try await heroes("next --reset --limit 5 --session s").ids == first.ids)
  }

  @Test(arguments: ["", "--json", "--peek"])
  func `at the end it prints nothing but how to start over`(option: String) async throws {
    _ = try await heroes("list --limit 250 --session s")
    #expect(try await heroes("next --session s").ids == Self.cast[250...].map(\.self))
    let before = service.requests.count
    let end = try await heroes("next --session s \(option)")
    #expect(end.status == 1)
    #expect(end.output == "")
    #expect(end.errors == "End of list. Start over: aggregator heroes next --reset --session s\n")
    #expect(service.requests.count == before)
    #expect(try await heroes("next --back --session s").ids == Array(Self.cast.prefix(250)))
  }

  @Test func `an empty last page is the end too`() async throws {
    let empty = try FakeServer { request in
      let isFirst = request.query["offset"] == "0"
      return .json(Self.rows(isFirst ? 0..<5 : 0..<0, total: 1000))
    }
    #expect(try await heroes("next --limit 5", empty.settings).ids == Array(0..<5))
    let end = try await heroes("next --limit 5 --json", empty.settings)
    #expect(end.status == 3)
    #expect(try end.envelope().items.isEmpty)
    #expect(
      end.errors.contains("warning: heroes: the service reports 1,000 records but sent 5\n"),
      "\(end)")
  }

  @Test func `rows that move between pages appear once, and pages are full`() async throws {
    let shifting = try FakeComicVine(quirks: [.shifting])
    let settings = shifting.settings.mapValues(Optional.some)
    var ids: [Int] = []
    for _ in 0..<3 { ids += try await heroes("next", settings).ids }
    #expect(ids == Array(Self.cast.prefix(60)))
  }

  @Test func `continues in the cached records if all are cached`() async throws {
    _ = try await heroes("list --limit 3", Self.terminal)
    // Of the others, only the service knows which are next.
    #expect(try await heroes("next --limit 3 --offline").status == 69)
    #expect(try await heroes("sync").status == 0)
    _ = try await heroes("list --limit 3", Self.terminal)
    let count = service.requests.count

    let offline = try await heroes("next --limit 3 --offline --json")
    #expect(offline.status == 0, "\(offline)")
    #expect(try offline.envelope().items.compactMap(\.id) == Self.cast[3..<6].map(\.self))
    #expect(try offline.envelope().provenance?.origin == "cached")
    #expect(try offline.envelope().provenance?.reason == "offline")
    #expect(service.requests.count == count)
    #expect(try await heroes("next --limit 3 --offline --no-fallback").status == 64)

    service.fail(with: ComicVineFault.unavailable.reply)
    let failing = try await heroes("next --limit 3")
    #expect(failing.status == 0, "\(failing)")
    #expect(failing.ids == Self.cast[6..<9].map(\.self))
    #expect(failing.errors.contains("warning: heroes: cached, fetched "), "\(failing)")
    #expect(try await heroes("next --no-fallback").status == 69)
    service.recover()

    // The service continues where the copy stopped, and the copy where the service did.
    #expect(try await heroes("next --limit 50 --refresh").ids == Self.cast[9..<59].map(\.self))
    #expect(
      try await heroes("next --limit 250 --offline").ids == Self.cast[59...].map(\.self))
    let end = try await heroes("next --offline")
    #expect(end.status == 1)
    #expect(end.errors == "End of list. Start over: aggregator heroes next --reset\n")

    // A list that begins in the cache stays there.
    #expect(try await heroes("next --reset --limit 3 --offline").ids == Array(Self.cast[..<3]))
    #expect(try await heroes("next --offline").ids == Self.cast[3..<6].map(\.self))
    #expect(try await heroes("next --back --offline").ids == Array(Self.cast[..<3]))
  }

  @Test func `continues a search in the cached records`() async throws {
    #expect(try await heroes("sync").status == 0)
    let first = try await heroes("search spider --limit 10", Self.terminal)
    let rest = try await heroes("next --limit 100 --offline")
    #expect(rest.status == 0, "\(rest)")
    let all = try await heroes("search spider --limit 100 --offline")
    #expect(Set(first.ids + rest.ids) == Set(all.ids))
    #expect(Set(first.ids).isDisjoint(with: rest.ids))
  }

  @Test func `skips a service's endless repetition and advances`()
    async throws
  {
    let stuck = try FakeServer { _ in .json(Self.rows(0..<20, total: 1_000_000)) }
    #expect(try await heroes("next", stuck.settings).ids == Array(0..<20))
    for calls in [11, 21] {
      let outcome = try await heroes("next", stuck.settings)
      #expect(outcome.status == 3, "\(outcome)")
      #expect(outcome.output == "")
      #expect(
        outcome.errors.contains(
          "warning: heroes: stopped: 10 consecutive pages had no new records\n"))
      #expect(stuck.requests.count == calls)
    }
  }

  @Test func `a failure midway shows nothing and keeps the position`() async throws {
    _ = try await heroes("next --limit 1")
    let broken = try FakeServer { request in
      request.query["offset"] == "1"
        ? .json(Self.rows(1..<101, total: 300)) : ComicVineFault.page.reply
    }
    let failed = try await heroes("next --limit 150", broken.settings)
    #expect(failed.status == 76)
    #expect(failed.output == "")
    #expect(broken.requests.count == 2)
    #expect(try await heroes("next --limit 150").ids == Self.cast[1..<151].map(\.self))
  }

  @Test func `pagination that began on bundled data continues there with a note`() async throws {
    let offline = try await heroes("next --limit 5 --offline --json").envelope()
    #expect(offline.provenance?.origin == "bundled")
    let next = try await heroes("next --limit 5")
    #expect(next.status == 0)
    #expect(service.requests.isEmpty)
    #expect(
      next.errors == """
        note: continues the default session: a list
        6–10 of 107 heroes · more: aggregator heroes next
        warning: heroes: showing bundled sample data (offline mode)
        hint: aggregator heroes next --reset

        """)
    let live = try await heroes("next --reset --limit 5")
    #expect(live.ids == Array(Self.cast.prefix(5)))
    #expect(live.errors == "5 of 257 heroes · more: aggregator heroes next\n")
  }

  @Test func `continues with and without --no-fallback`() async throws {
    _ = try await heroes("next --limit 2 --offline --session bundled")
    let refused = try await heroes("next --no-fallback --session bundled")
    #expect(refused.status == 69)
    #expect(refused.output == "")
    #expect(
      refused.errors
        == "error: heroes: cannot continue a listing of local data: fallback is disabled\n")
    #expect(service.requests.isEmpty)

    _ = try await heroes("next --limit 2")
    #expect(try await heroes("next --limit 2 --no-fallback").ids == Self.cast[2..<4].map(\.self))
    #expect(try await heroes("next --limit 2").ids == Self.cast[4..<6].map(\.self))
  }

  @Test func `fetches users after the last cached one`() async throws {
    let users = try FakeRandomUser()
    let settings = users.settings.mapValues(Optional.some)
    func emails(_ line: String) async throws -> (status: Int32?, lines: [String]) {
      let outcome = try await Binary.run(
        "users \(line) --fields email --tsv", environment: settings, in: sandbox)
      return (outcome.status, outcome.lines)
    }
    var seen = try await emails("list --all --session s").lines
    for _ in 0..<5 {
      let next = try await emails("next --limit 70 --session s")
      #expect(next.status == 0)
      #expect(next.lines.count == 70)
      seen += next.lines
    }
    #expect(Set(seen).count == seen.count)
    let rest = try await emails("next --limit 1000 --offline --session s")
    #expect(Set(seen).isDisjoint(with: rest.lines))
    let end = try await emails("next --offline --session s")
    #expect((end.status, end.lines) == (1, []))
    let more = try await emails("next --limit 70 --session s")
    #expect(more.lines.count == 70)
    #expect(Set(seen + rest.lines).isDisjoint(with: more.lines))
    let all = try await emails("list --all --offline").lines
    #expect(Array(all.prefix(seen.count + rest.lines.count)) == seen + rest.lines)
  }

  static func rows(_ ids: Range<Int>, total: Int) -> String {
    let rows = ids.map { #"{"id":\#($0),"name":"Hero \#($0)"}"# }.joined(separator: ",")
    return #"{"error":"OK","limit":100,"offset":0,"number_of_page_results":\#(ids.count),"#
      + #""number_of_total_results":\#(total),"status_code":1,"results":[\#(rows)]}"#
  }
}

extension Outcome {
  /// The numbers in the first column of tab-separated lines.
  var ids: [Int] { lines.compactMap { $0.split(separator: "\t").first.flatMap { Int($0) } } }
}
