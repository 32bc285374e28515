import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting

/// Every verb of an added source.
@Suite struct AddedVerbTests {
  private let home: TestHome
  private let lamps: FakeLamps

  init() throws {
    home = try TestHome()
    lamps = try FakeLamps()
  }

  private func complete(_ line: String) async throws -> [String] {
    try await Binary.run(
      ["__complete", "fish", "--line", "aggregator \(line)"], in: home.sandbox
    ).lines
  }

  @Test func `search uses the parameter of the service, or searches locally`() async throws {
    #expect(try await home.add(lamps, "--search q").status == 0)
    let count = lamps.server.requests.count
    #expect(
      try await home.column("id", "lamps search 2 --all") == [
        "2", "12", "20", "21", "22", "23", "24", "25",
      ])
    #expect(lamps.server.requests.dropFirst(count).allSatisfy { $0.query["q"] == "2" })

    #expect(try await home.add(lamps, "--replace").status == 0)
    let local = lamps.server.requests.count
    #expect(try await home.column("id", "lamps search 24") == ["24"])
    #expect(lamps.server.requests.dropFirst(local).allSatisfy { $0.query["q"] == nil })
  }

  @Test func `--probe finds the search, and says what else it tried`() async throws {
    let added = try await home.add(lamps, "--probe")
    #expect(added.status == 0, "\(added)")
    let lines = added.output.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("search  q ") }, "\(added)")
    // Every path has the list.
    #expect(
      lines.contains { $0.hasPrefix("item    – ") && $0.hasSuffix("tried \(lamps.url)/{id}") })
    let manifest = try home.sandbox.text(of: home.manifestPath("lamps.json"))
    #expect(manifest.contains(#""search": "q""#) && !manifest.contains("item"), "\(manifest)")
    let count = lamps.server.requests.count
    #expect(try await home.column("id", "lamps search 25") == ["25"])
    #expect(lamps.server.requests.dropFirst(count).allSatisfy { $0.query["q"] == "25" })
  }

  @Test func `a source without web pages gets them by the command that open prints`() async throws {
    let file = try home.sandbox.write(
      #"[{"id":1,"at":"https://a.example/1"},{"id":2}]"#, to: "n.json")
    #expect(try await home.run("sources add notes \(file.path) --yes").status == 0)
    let refused = try await home.run("notes open 1 --print-url")
    #expect(
      refused.errors == """
        error: notes have no web pages
        hint: name the field with its URL
        hint: aggregator sources edit notes --link FIELD

        """)
    #expect(try await home.run("sources edit notes --link at").status == 0)
    #expect(try await home.run("notes open 1 --print-url").output == "https://a.example/1\n")
  }

  @Test func `options of edit are those of add, and send no request`() async throws {
    #expect(try await home.add(lamps).status == 0)
    let count = lamps.server.requests.count
    let edited = try await home.run(
      "sources edit lamps --rate 2/s --fresh 1h --timeout 20s --search q", ["EDITOR": "false"])
    #expect(edited.status == 0 && edited.errors.hasPrefix("Changed "), "\(edited)")
    let text = try home.sandbox.text(of: home.manifestPath("lamps.json"))
    let manifest = try #require(JSON(reading: Data(text.utf8)))
    #expect(manifest["rate"] == "2/s" && manifest["timeout"] == "20s", "\(text)")
    #expect(manifest["search"] == "q" && manifest["fresh"] != nil, "\(text)")
    #expect(manifest["page"] != nil && manifest["paging"] == "proved", "\(text)")
    // The default is not written.
    #expect(try await home.run("sources edit lamps --rate 5/s").status == 0)
    #expect(try !home.sandbox.text(of: home.manifestPath("lamps.json")).contains("rate"))
    let same = try await home.run("sources edit lamps --rate 5/s --search q")
    #expect(same.errors == "Nothing changed\n", "\(same)")
    let wrong = try await home.run("sources edit lamps --rate fast")
    #expect(wrong.status == 64 && wrong.errors.hasPrefix("error: --rate "), "\(wrong)")
    #expect(lamps.server.requests.count == count)
    #expect(try await home.column("id", "lamps search 25") == ["25"])
    #expect(lamps.server.requests.last?.query["q"] == "25")
  }

  @Test func `a header field of edit keeps its secret out of the manifest`() async throws {
    #expect(try await home.add(lamps).status == 0)
    func edit(_ value: String, _ variables: [String: String?] = [:]) async throws -> Outcome {
      try await Binary.run(
        ["sources", "edit", "lamps", "--header", "X-Api-Key: \(value)"],
        environment: variables.merging(["EDITOR": "false"]) { $1 }, in: home.sandbox)
    }
    func sent(_ variables: [String: String?] = [:]) async throws -> String? {
      #expect(try await home.run("lamps list -L 1 --refresh", variables).status == 0)
      return lamps.server.requests.last?.header("X-Api-Key")
    }
    let edited = try await edit(FakeLamps.key)
    #expect(edited.status == 0 && edited.errors.contains("Set LAMPS_X_API_KEY in "), "\(edited)")
    #expect(
      edited.errors.hasSuffix("Verify it with: aggregator sources check lamps\n"), "\(edited)")
    let text = try home.sandbox.text(of: home.manifestPath("lamps.json"))
    #expect(text.contains("${LAMPS_X_API_KEY}") && !text.contains(FakeLamps.key), "\(text)")
    #expect(try await sent() == FakeLamps.key)
    // Another value, with the manifest as it is.
    lamps.accept("hunter3hunter3")
    let other = try await edit("hunter3hunter3")
    #expect(other.status == 0 && !other.errors.contains("Nothing changed"), "\(other)")
    #expect(try await sent() == "hunter3hunter3")
    // One of the environment is not saved.
    let variables: [String: String?] = ["LAMP_KEY": FakeLamps.key]
    let named = try await edit("${LAMP_KEY}", variables)
    #expect(named.status == 0 && named.errors.contains("LAMP_KEY is not saved"), "\(named)")
    #expect(try await sent(variables) == FakeLamps.key)
  }

  @Test func `show, open, delete and restore`() async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps list --all").status == 0)
    #expect(try await home.column("name", "lamps show 17") == ["lamp 17"])
    #expect(try await home.run("lamps show 99").status == 1)
    #expect(
      try await home.run("lamps open 3 --print-url").output == "https://lamps.example/3\n")
    let deleted = try await home.run("lamps delete 3 --yes")
    #expect(deleted.errors == "Deleted 1 lamp. Undo: aggregator lamps restore 3\n")
    #expect(try await home.column("id", "lamps list --all").count == 24)
    #expect(try await home.column("id", "lamps list --deleted") == ["3"])
    #expect(try await home.run("lamps restore 3").status == 0)
    #expect(try await home.column("id", "lamps list --all").count == 25)
  }

  @Test func `a record that is not cached is looked up before it is deleted`() async throws {
    #expect(try await home.add(lamps).status == 0)
    let count = lamps.server.requests.count
    let offline = try await home.run("lamps delete 17 --yes --offline")
    #expect(offline.status == 69, "\(offline)")
    #expect(
      offline.errors.hasSuffix("(offline mode)\nhint: retry without --offline\n"), "\(offline)")
    #expect(lamps.server.requests.count == count)
    let deleted = try await home.run("lamps delete 17 --yes")
    #expect(deleted.errors == "Deleted 1 lamp. Undo: aggregator lamps restore 17\n")
    #expect(try await home.column("name", "lamps list --deleted") == ["lamp 17"])
    let unknown = try await home.run("lamps delete 99 --yes")
    #expect(unknown.status == 1, "\(unknown)")
    #expect(unknown.errors.hasPrefix("error: lamp 99 not found\n"), "\(unknown)")
  }

  @Test func `a record that a complete sync has not stored is denied for the cache alone`()
    async throws
  {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    let count = lamps.server.requests.count
    let words = "lamp 99 not found among the 25 records cached"
    let shown = try await home.run("lamps show 99")
    #expect(shown.status == 1 && shown.errors.hasPrefix("error: lamps: \(words) "), "\(shown)")
    #expect(shown.errors.contains("; the service was not asked\n"), "\(shown)")
    #expect(shown.errors.hasSuffix("hint: aggregator lamps show 99 --refresh\n"), "\(shown)")
    let offline = try await home.run("lamps show 99 --offline")
    #expect(offline.status == 1, "\(offline)")
    #expect(offline.errors.hasPrefix("error: lamps: \(words) "), "\(offline)")
    let deleted = try await home.run("lamps delete 99 --yes")
    #expect(deleted.status == 1 && deleted.errors.contains(words), "\(deleted)")
    #expect(lamps.server.requests.count == count)
    let asked = try await home.run("lamps show 99 --refresh")
    #expect(asked.status == 1, "\(asked)")
    #expect(asked.errors.hasPrefix("error: lamps: lamp 99 not found\n"), "\(asked)")
    #expect(try await home.run("doctor lamps").output.contains("first page answered in"))
  }

  @Test func `a search of the list goes on after matches that are deleted`() async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps delete 2 12 20 --yes").status == 0)
    let found = try await home.run("lamps search 2 --limit 2 --fields id --tsv")
    #expect(found.lines == ["21", "22"], "\(found)")
    let ofAll = try await home.run("search 2 --source lamps --limit 2 --fields id --tsv")
    #expect(ofAll.lines == ["21", "22"], "\(ofAll)")
  }

  @Test func `hints quote an ID that a shell would split`() async throws {
    lamps.behave { _ in
      .json(#"{"lamps": [{"id": "a/b 3", "name": "one"}, {"id": "it's", "name": "two"}]}"#)
    }
    #expect(try await home.add(lamps, "--single").status == 0)
    #expect(try await home.run("lamps list").status == 0)
    for (id, word) in [("a/b 3", "'a/b 3'"), ("it's", #"'it'\''s'"#)] {
      func run(_ verb: String, _ options: String...) async throws -> String {
        try await Binary.run(["lamps", verb, id] + options, in: home.sandbox).errors
      }
      #expect(try await run("open").hasSuffix("sources edit lamps --link FIELD\n"))
      #expect(try await run("image").hasSuffix("hint: aggregator lamps show \(word)\n"))
      #expect(
        try await run("delete", "--yes")
          == "Deleted 1 lamp. Undo: aggregator lamps restore \(word)\n")
      #expect(try await run("show").hasSuffix("hint: aggregator lamps restore \(word)\n"))
    }
    #expect(try await home.run("lamps restore --all").status == 0)
    let named = try await home.run("lamps delete one --yes")
    #expect(named.errors.hasSuffix("hint: the ID of one is 'a/b 3'\n"), "\(named)")
    // A word that would be an option, and one that is not printed as it is, are left out.
    for id in ["-x y", "a\u{1B}b"] {
      let outcome = try await Binary.run(["lamps", "image", "--", id], in: home.sandbox)
      #expect(outcome.errors.hasSuffix("hint: aggregator lamps show ID\n"), "\(outcome)")
    }
  }

  @Test func `a sync that ends at the depth of the service says so, and offers no other`()
    async throws
  {
    #expect(try await home.add(lamps).status == 0)
    let filter = "lamps list --where name~lamp --limit 1"
    lamps.behave { $0 > 2 ? .json(#"{"error": "too deep"}"#, status: 400) : nil }
    let refused = try await home.run("lamps sync")
    #expect(refused.status == 3, "\(refused)")
    #expect(
      refused.errors == """
        warning: lamps: records may be missing, and none counts as removed: the service refused the page after 20 \
        of 25 records (400): if it never sends more, set "deepest" to 20
        hint: aggregator sources edit lamps

        """)
    let gap = "20 of 25 lamps are cached: the service lists no more than 20"
    let listed = try await home.run(filter)
    #expect(listed.errors.contains(gap) && !listed.errors.contains("lamps sync"), "\(listed)")
    let asked = try await Binary.run(["sql", "SELECT count(*) FROM lamps"], in: home.sandbox)
    #expect(asked.status == 3 && asked.errors == "warning: lamps: \(gap)\n", "\(asked)")

    let editor = try home.sandbox.write(
      "#!/bin/sh\nsed -i 's/{/{\"deepest\": 20, /' \"$1\"\n", to: "bin/editor")
    try home.sandbox.makeExecutable(editor)
    #expect(try await home.run("sources edit lamps", ["EDITOR": editor.path]).status == 0)
    let pages = lamps.pages.count
    let cut = try await home.run("lamps sync")
    #expect(
      cut.errors.contains("the service sends at most 20 records of a list, as \"deepest\" says"),
      "\(cut)")
    #expect(cut.status == 3 && lamps.pages.count == pages + 2, "\(lamps.pages)")

    // Once the service sends all, so does a sync.
    lamps.behave { _ in nil }
    #expect(try await home.add(lamps, "--replace").status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    #expect(try await !home.run(filter).errors.contains("limited"))
  }

  @Test func `next continues, also offline`() async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.column("id", "lamps next -L 7") == (1...7).map(String.init))
    #expect(try await home.column("id", "lamps next -L 7") == (8...14).map(String.init))
    #expect(try await home.run("lamps sync").status == 0)
    lamps.server.stop()
    #expect(try await home.column("id", "lamps next -L 7 --offline") == (15...21).map(String.init))
    #expect(try await home.column("id", "lamps next -L 7") == (22...25).map(String.init))
    #expect(try await home.run("lamps next").status == 1)
  }

  @Test func `a killed sync resumes at the next page`() async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { $0 == 3 ? .stalled : nil }
    let count = lamps.server.requests.count
    let run = try home.start("lamps sync --timeout 10m")
    _ = await lamps.server.requests(atLeast: count + 3)
    run.child.send(SIGKILL)
    #expect(try await run.outcome().ending == .signal(SIGKILL))
    lamps.behave { _ in nil }
    let killed = lamps.pages.count
    let rest = try await home.run("lamps sync")
    #expect(rest.status == 0, "\(rest)")
    #expect(try home.file.ids(of: "lamps").count == 25)
    #expect(try home.file.faults() == [])
    let pages = Array(lamps.pages.dropFirst(killed))
    #expect(!pages.contains("1") && pages.contains("3"), "\(pages)")
  }

  @Test func `SQL and completions know the fields`() async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps list --all").status == 0)
    let words = ["sql", #"SELECT id, "maker.name" FROM lamps WHERE name = 'lamp 7'"#]
    #expect(try await Binary.run(words, in: home.sandbox).lines == ["7\tLumen"])
    #expect(try await complete("lam").map { $0.prefix(5) } == ["lamps"])
    let verbs = try await complete("lamps ").map { $0.split(separator: "\t")[0] }
    #expect(Set(verbs).isSuperset(of: ["list", "next", "search", "show", "sync", "open"]))
    let fields = try await complete("lamps list --fields ").map { $0.split(separator: "\t")[0] }
    #expect(Set(fields).isSuperset(of: ["id", "name", "maker.name"]), "\(fields)")
    #expect(try await complete("lamps show 2").contains("25\tlamp 25"))
    for verb in ["show", "edit", "remove", "check"] {
      #expect(
        try await complete("sources \(verb) lam").map { $0.prefix(5) } == ["lamps"], "\(verb)")
    }
    #expect(
      try await complete("sources add x http://x --al").first?.hasPrefix("--allow-host") == true)
    let help = try await home.run("help lamps list")
    #expect(help.status == 0)
    #expect(help.output.contains("List lamps."))
  }

  @Test func `a check says that a member was renamed`() async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    let sound = try await home.run("sources check lamps")
    #expect(sound.status == 0 && !sound.errors.contains("renamed"), "\(sound)")
    lamps.behave {
      .json(FakeLamps.page($0).replacing("\"name\": \"lamp", with: "\"title\": \"lamp"))
    }
    let renamed = try await home.run("sources check lamps")
    #expect(
      renamed.errors.contains("warning: lamps: name is empty in all ")
        && renamed.errors.contains(" records: has the service renamed it?"), "\(renamed)")
  }

  @Test func `the failure of the last sync is named until a sync has none`() async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { $0 > 2 ? .status(403, "no") : nil }
    #expect(try await home.run("lamps sync").status == 3)
    let failed = try await home.run("sources check lamps --fields status --tsv")
    #expect(failed.status == 3 && failed.lines == ["incomplete"], "\(failed)")
    #expect(failed.errors.hasPrefix("warning: lamps: the last sync failed: "), "\(failed)")
    let found = try await home.run("doctor lamps")
    #expect(found.status == 3 && found.output.contains(" ms; the last sync failed: "), "\(found)")
    #expect(found.output.contains("aggregator lamps sync --verbose"), "\(found)")
    lamps.behave { _ in nil }
    #expect(try await home.run("lamps sync").status == 0)
    let sound = try await home.run("sources check lamps --fields status --tsv")
    #expect(sound.status == 0 && sound.lines == ["ok"], "\(sound)")
    #expect(try await home.run("doctor lamps").status == 0)
  }

  @Test func `the failure of a sync in a pause leaves out the request that led to it`() async throws
  {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { _ in .status(429, "slow down", headers: [("Retry-After", "3600")]) }
    #expect(try await home.run("lamps list --refresh --no-fallback").status == 75)
    let sync = try await home.run("lamps sync")
    #expect(sync.status == 75 && sync.errors.contains(", after GET /"), "\(sync)")
    let check = try await home.run("sources check lamps")
    let words = "warning: lamps: the last sync failed: rate limited by the service\n"
    #expect(check.errors.contains(words), "\(check)")
  }

  @Test func `a total that becomes smaller between the runs of a sync has changed`() async throws {
    let count = Mutex(300)
    let service = try LoopbackServer { request in
      let (total, query) = (count.withLock(\.self), request.query)
      let skip = query["offset"].flatMap { Int($0) } ?? 0
      let rows = (0..<total).dropFirst(skip).prefix(50).map { row in
        #"{"id": \#(301 - total + row), "name": "lamp"}"#
      }
      return .json(#"{"total": \#(total), "items": [\#(rows.joined(separator: ","))]}"#)
    }
    let url = "\(service.baseURL)/stock?limit=50&offset=0"
    let added = try await home.run("sources add stock \(url) --rate off")
    #expect(added.status == 0, "\(added)")
    let none = try await home.run("stock list --where id=1 --offline")
    #expect(
      none.errors == "error: stock: no cached records of stock\nhint: aggregator stock sync\n",
      "\(none)")
    let first = try await home.run("stock sync --max-pages 3")
    #expect(
      first.errors == "150 of 300 records of stock · more: aggregator stock sync\n", "\(first)")
    count.withLock { $0 = 295 }
    let second = try await home.run("stock sync")
    #expect(
      second.status == 3
        && second.errors.contains(": the total changed from 300 to 295 while the pages were read")
        && !second.errors.contains("the service reports"), "\(second)")
    // The next one reads pages of one total.
    let third = try await home.run("stock sync")
    #expect(third.status == 0 && third.errors.isEmpty, "\(third)")
  }

  @Test func `--laws checks the laws with few requests`() async throws {
    #expect(try await home.add(lamps).status == 0)
    let count = lamps.server.requests.count
    let held = try await home.run("sources check lamps --laws --fields law,verdict,found --tsv")
    #expect(held.status == 0, "\(held)")
    for law in ["ids-unique", "pagination-stable", "pagination-ends", "record-round-trip"] {
      #expect(held.lines.contains("\(law)\tpass\t"), "\(law): \(held)")
    }
    #expect(held.lines.contains("search-uses-words\tnot applicable\tthere is no search"), "\(held)")
    let requests = lamps.server.requests.count - count
    #expect(held.errors == "lamps: \(requests) of at most 60 requests\n")
    #expect(1...60 ~= requests)

    // Pages of a fixed size, of which the last is known only by the empty one after it.
    let long = try FakeLamps()
    long.behave { .json(FakeLamps.page($0, of: Array(1...57))) }
    let added = try await home.run("sources add many \(long.url) --rate off --yes")
    #expect(added.status == 0, "\(added)")
    let before = long.server.requests.count
    let whole = try await home.run("sources check many --laws --fields law,verdict --tsv")
    #expect(whole.status == 0, "\(whole)")
    for law in ["pagination-ends", "list-complete"] {
      #expect(whole.lines.contains("\(law)\tpass"), "\(law): \(whole)")
    }
    #expect(long.pages.dropFirst(before).count { $0 == "6" } >= 3, "\(long.pages)")
    long.behave { .json(FakeLamps.page($0, of: Array(1...200))) }
    let cut = try await home.run("sources check many --laws --fields law,found --tsv")
    let reason = "the first 80 records were read, and the end was not reached within the bound"
    #expect(cut.lines.contains("pagination-ends\t\(reason)"), "\(cut)")

    lamps.behave { number in
      number == 2 ? .json(FakeLamps.page(2).replacing("\"id\": 11,", with: "\"id\": 10,")) : nil
    }
    let violated = try await home.run("sources check lamps --laws --json")
    #expect(violated.status == 3, "\(violated)")
    #expect(violated.output.contains(#""law":"ids-unique","verdict":"fail""#), "\(violated)")
    #expect(violated.output.contains(#"page 3 repeats \"10\" of page 2"#), "\(violated)")

    lamps.behave { _ in .status(500, "no") }
    #expect(try await home.run("sources check lamps --laws").status == 3)
  }

  @Test func `a recording replays without the service`() async throws {
    #expect(try await home.add(lamps).status == 0)
    let recorded = try await home.run("lamps list --all --record tape")
    #expect(recorded.status == 0, "\(recorded)")
    lamps.server.stop()
    let replayed = try await home.run("lamps list --all --replay tape")
    #expect(replayed.status == 0, "\(replayed)")
    #expect(replayed.lines == recorded.lines)
    #expect(replayed.lines.count == 25)
  }

  @Test func `--explain and a search across sources`() async throws {
    #expect(try await home.add(lamps).status == 0)
    let explained = try await home.run("lamps list --explain")
    #expect(explained.errors.contains("explain: plan: GET \(lamps.url)"), "\(explained)")
    let again = try await home.run("lamps list --explain --offline")
    #expect(again.errors.contains("no request"), "\(again)")
    #expect(try await home.run("lamps list --all").status == 0)
    let found = try await home.run(
      "search 17 --source lamps,countries --offline --fields source,id --tsv")
    #expect(found.lines.contains("lamps\t17"), "\(found)")
    lamps.server.stop()
    #expect(try await home.column("id", "lamps list -L 10").count == 10)
  }
}
