import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting

/// `aggregator sources add`: a source for a JSON API, without compiling.
@Suite struct AddedSourceTests {
  private let home: TestHome
  private let service: LoopbackServer

  init() throws {
    home = try TestHome()
    service = try LoopbackServer { request in
      guard request.header("X-Api-Key") ?? "hunter2hunter2" == "hunter2hunter2" else {
        return .json(#"{"error": "who are you?"}"#, status: 401)
      }
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = (1...25).dropFirst((page - 1) * 10).prefix(10).map {
        #"{"id": \#($0), "name": "lamp \#($0)", "maker": {"name": "Lumen"}}"#
      }
      return .json(#"{"page": \#(page), "total": 25, "lamps": [\#(rows.joined(separator: ","))]}"#)
    }
  }

  private var url: String { "\(service.baseURL)/lamps" }

  private func folder() -> URL {
    home.sandbox.root.appending(path: "home/.config/aggregator/sources")
  }

  @Test func `an added source has what every source has`() async throws {
    let added = try await home.run("sources add lamps \(url) --rate off")
    #expect(added.status == 0, "\(added)")
    #expect(
      added.lines == [
        "rows    lamps      10 objects, 3 keys in common",
        "paging  page is 1  page 2 fetched: 10 new rows, none repeated",
        "id      id         unique in all 20 rows",
        "total   total      25 records",
        "fields  name, maker.name",
        "saved   \(folder().appending(path: "lamps.json").path)",
        "next    aggregator lamps list",
      ])
    let none = try await home.run("lamps list --offline")
    #expect(none.status == 69, "\(none)")
    #expect(
      none.errors == "error: lamps: nothing is cached (offline mode)\nhint: aggregator lamps sync\n"
    )
    #expect(
      try await home.run("lamps list -L 2").lines == ["1\tlamp 1\tLumen", "2\tlamp 2\tLumen"])
    #expect(try await home.column("id", "lamps list --all") == (1...25).map(String.init))
    #expect(try await home.run("lamps sync").status == 0)
    let count = service.requests.count
    #expect(try await home.column("id", "lamps list --all --offline").count == 25)
    #expect(try await home.column("name", "lamps search 17 --offline") == ["lamp 17"])
    #expect(try await home.column("name", "lamps show 17 --offline") == ["lamp 17"])
    let query = "sql SELECT \"maker.name\", count(*) FROM lamps"
    #expect(try await home.run(query).lines == ["Lumen\t25"])
    #expect(service.requests.count == count)
    #expect(try await home.column("name", "sources").contains("lamps"))

    #expect(try await home.run("sources remove lamps").status == 64)
    #expect(try await home.run("sources remove lamps --yes").status == 0)
    #expect(try await home.run("lamps list").status == 64)
  }

  @Test func `what is not proved is not saved without --yes, and said in every list`() async throws
  {
    let bare = try LoopbackServer { _ in
      .json(#"{"total": 99, "lamps": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}"#)
    }
    let refused = try await home.run("sources add lamps \(bare.baseURL)/x --rate off")
    #expect(refused.status == 3)
    #expect(refused.errors.contains("error: nothing was saved, because the paging is not proved\n"))
    #expect(!FileManager.default.fileExists(atPath: folder().path))
    let saved = try await home.run("sources add lamps \(bare.baseURL)/x --rate off --yes")
    #expect(saved.status == 3)
    let listed = try await home.run("lamps list")
    #expect(listed.lines.count == 2)
    #expect(listed.errors.contains("there may be further pages that are not read\n"), "\(listed)")
  }

  @Test func `a sync whose end is not proved says so once`() async throws {
    let bare = try LoopbackServer { _ in
      .json(#"{"lamps": [{"id": 1}, {"id": 2}], "links": {"next": "?page=2"}}"#)
    }
    let line = "sources add lamps \(bare.baseURL)/x --rate off --next links.nex --yes"
    #expect(try await home.run(line).status == 3)
    let words = "warning: lamps: there may be further pages that are not read"
    let synced = try await home.run("lamps sync --json")
    #expect(synced.status == 3, "\(synced)")
    #expect(synced.errors == "\(words), so no record counts as removed\n", "\(synced)")
    let checked = try await home.run("sources check lamps")
    #expect(checked.errors == "\(words)\n", "\(checked)")
  }

  @Test func `the first filter of a list that is one page fetches it, however many rows it has`()
    async throws
  {
    let rows = (1...10_001).map { #"{"id": \#($0), "kind": "k\#($0 % 7)"}"# }
    let whole = try LoopbackServer { _ in .json("[\(rows.joined(separator: ","))]") }
    #expect(
      try await home.run("sources add lamps \(whole.baseURL)/x --rate off --single").status == 0)
    let count = whole.requests.count
    let filtered = try await home.run("lamps list --where id=10001")
    #expect(filtered.status == 0 && filtered.lines == ["10001\tk5"], "\(filtered)")
    #expect(filtered.errors.contains("nothing was cached, so the list was fetched\n"))
    #expect(try await home.column("id", "lamps list --sort -id --limit 1") == ["10001"])
    #expect(whole.requests.count == count + 1)
  }

  @Test(arguments: ["--count", "--where id>0", "--sort id"])
  func `a selection says why the store has not taken the first page`(option: String) async throws {
    #expect(try await home.run("sources add lamps \(url) --rate off").status == 0)
    let path = "\(try home.sandbox.write("mine", to: "file").path)/x.sqlite"
    let outcome = try await home.run("lamps list \(option)", ["AGGREGATOR_STORE": path])
    #expect(outcome.status == 74 && outcome.output == "", "\(outcome)")
    #expect(outcome.errors.hasPrefix("error: lamps: cannot create \(path): "), "\(outcome)")
  }

  @Test func `a search of all sources reads the first page where nothing is cached`() async throws {
    #expect(try await home.run("sources add lamps \(url) --rate off").status == 0)
    let line = "search lamp --source lamps --where id>0"
    let count = service.requests.count
    let offline = try await home.run("\(line) --offline")
    #expect(offline.status == 69, "\(offline)")
    #expect(
      offline.errors
        == "error: lamps: no cached lamps match \"lamp\"\nhint: aggregator lamps sync\n")
    let refused = try await home.run("\(line) --refresh")
    #expect(
      refused.errors.hasSuffix("hint: aggregator lamps search lamp --where 'id>0' --all\n"),
      "\(refused)")
    #expect(service.requests.count == count)

    let found = try await home.run("\(line) --json")
    #expect(found.status == 3 && found.output.contains("\"lamp 5\""), "\(found)")
    #expect(found.output.contains("\"incomplete\""), "\(found)")
    #expect(
      found.errors.contains("lamps: nothing was cached, so its first page was fetched\n"),
      "\(found)")
    // The next page cannot be read with --all, either.
    #expect(try await home.run("lamps list --where id>0 --limit 2 --session s").lines.count == 2)
    let next = try await home.run("lamps next --session s --refresh")
    #expect(
      next.errors.hasSuffix("hint: aggregator lamps list --where 'id>0' --all\n"), "\(next)")
    #expect(service.requests.count == count + 1)
  }

  @Test func `a search says which records were searched, and leads from none to cached ones`()
    async throws
  {
    let server = try LoopbackServer { request in
      let names = ["lunar lamp", "kettle"]
      let rows = names.enumerated().filter { name in
        request.query["q"].map(name.element.contains) ?? true
      }
      let objects = rows.map { #"{"id": \#($0), "name": "\#($1)", "maker": "Bottega"}"# }
      return .json("[\(objects.joined(separator: ","))]")
    }
    defer { server.stop() }
    let line = "sources add lamps \(server.baseURL)/x --rate off --single --search q"
    #expect(try await home.run(line).status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    let note = "note: lamps: the service's search finds none; 2 cached records match\n"
    let hint = "hint: --offline searches the cached records\n"
    for search in ["lamps search Bottega", "search Bottega --source lamps"] {
      let none = try await home.run(search)
      #expect(none.status == 0 && none.lines.isEmpty, "\(none)")
      #expect(none.errors.contains(note + hint), "\(none)")
      let offline = try await home.run("\(search) --offline")
      #expect(offline.status == 0 && offline.lines.count >= 2, "\(offline)")
      #expect(offline.errors.contains("note: lamps: cached records were searched, "), "\(offline)")
    }
    let filtered = try await home.run("lamps search Bottega --where name~lamp")
    #expect(filtered.status == 0 && filtered.lines.count == 1, "\(filtered)")
    #expect(filtered.errors.contains("note: lamps: cached records were searched, "), "\(filtered)")
    let live = try await home.run("lamps search lunar")
    #expect(live.status == 0 && !live.errors.contains("cached records"), "\(live)")
  }

  @Test func `a filter of a list without records is answered, and fetches it once`() async throws {
    let rows = Mutex(#"[{"id": 1, "kind": "a"}]"#)
    let server = try LoopbackServer { _ in .json(rows.withLock(\.self)) }
    #expect(
      try await home.run("sources add lamps \(server.baseURL)/x --rate off --single").status == 0)
    rows.withLock { $0 = "[]" }
    let count = server.requests.count
    for isFirst in [true, false] {
      let filtered = try await home.run("lamps list --where kind=a")
      #expect(filtered.status == 0 && filtered.lines.isEmpty, "\(filtered)")
      #expect(filtered.errors.contains("was fetched") == isFirst, "\(filtered)")
    }
    #expect(server.requests.count == count + 1)
  }

  @Test func `what is wrong with a list and with its IDs is said`() async throws {
    let mixed = try LoopbackServer { request in
      .json(
        request.path == "/mixed"
          ? #"[{"id": 1}, {"id": 2}, "three", "four", "five", null]"#
          : request.path == "/ids"
            ? #"[{"id": 1}, {"id": 2}, {"id": 3}]"#
            : request.path == "/columns"
              ? #"{"columns": ["id", "n"], "rows": [[1, "a"], [2, "b"]]}"#
              : #"[{"id": 1, "n": 1}, {"id": 1, "n": 2}, {"id": 2, "n": 3}]"#)
    }
    let refused = try await home.run("sources add lamps \(mixed.baseURL)/mixed")
    #expect(
      refused.errors
        == "error: the response has no list of objects: element 2 of $ is \"three\"\n"
        + "hint: name the list with --rows PATH, or use the URL of a list\n", "\(refused)")
    let columns = try await home.run("sources add lamps \(mixed.baseURL)/columns")
    #expect(
      columns.errors
        == "error: the rows at rows are lists of values without names\n"
        + "hint: use a URL with objects (?_shape=objects of Datasette) or CSV; "
        + "or identify rows by a position: --rows rows --id 0\n", "\(columns)")
    let twice = try await home.run("sources add twice \(mixed.baseURL)/twice --rate off --single")
    #expect(
      twice.output.contains("id is 1 in more than one row; different in all rows: n\n"), "\(twice)")
    let ids = try await home.run("sources add lamps \(mixed.baseURL)/ids --rate off --single")
    #expect(ids.output.contains("records have nothing but the ID\n"), "\(ids)")
  }

  @Test func `what is not proved to be all is said by every answer from the store`() async throws {
    let bare = try LoopbackServer { _ in
      .json(#"{"lamps": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}"#)
    }
    let added = try await home.run("sources add lamps \(bare.baseURL)/x?n=2 --rate off --yes")
    #expect(added.status == 3, "\(added)")
    for line in ["lamps list --where id=1 --offline", "export lamps -o lamps.csv"] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 69, "\(line): \(outcome)")
      #expect(
        outcome.errors == "error: lamps: no cached lamps\nhint: aggregator lamps sync\n", "\(line)")
    }
    let first = try await home.run("lamps list --where id=1")
    #expect(first.status == 3 && first.lines == ["1\ta"], "\(first)")
    #expect(
      first.errors.contains("lamps: nothing was cached, so its first page was fetched\n"),
      "\(first)")
    #expect(try await home.run("lamps sync").status == 3)
    let words = "2 lamps are cached, possibly not all"
    for line in [
      "lamps list --all --offline", "lamps list --where id=1", "sql SELECT \"id\" FROM lamps",
      "export lamps -o lamps.csv",
    ] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 3, "\(line): \(outcome)")
      #expect(outcome.errors.contains(words), "\(line): \(outcome)")
    }
    // A sync that was asked for, and does not complete the source, is not a success.
    for line in ["sql SELECT \"id\" FROM lamps --sync", "export lamps -o lamps.csv --sync"] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 3, "\(line): \(outcome)")
      #expect(outcome.errors.contains("there may be further pages that are not read"), "\(outcome)")
      #expect(outcome.errors.contains(words), "\(line): \(outcome)")
    }
  }

  @Test func `no more records are cached than a total that has fallen`() async throws {
    let hasFallen = Mutex(false)
    let server = try LoopbackServer { request in
      // A row that cannot be read leaves open whether all are cached.
      guard !hasFallen.withLock(\.self) else {
        return .json(#"{"total": 3, "lamps": [{"id": 1, "name": "a"}, {"name": "b"}]}"#)
      }
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = (1...25).dropFirst((page - 1) * 10).prefix(10).map {
        #"{"id": \#($0), "name": "lamp \#($0)"}"#
      }
      return .json(#"{"total": 25, "lamps": [\#(rows.joined(separator: ","))]}"#)
    }
    #expect(
      try await home.run("sources add lamps \(server.baseURL)/lamps --rate off").status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    hasFallen.withLock { $0 = true }
    _ = try await home.run("lamps list --refresh")
    for line in ["lamps list --where id>0", "doctor lamps --offline"] {
      let outcome = try await home.run(line)
      let text = outcome.output + outcome.errors
      #expect(
        text.contains("25 lamps are cached, but the service reports 3"), "\(line): \(outcome)")
      #expect(!text.contains("25 of 3"), "\(line): \(outcome)")
    }
  }

  @Test func `what a sync has found is said wherever the cached records are counted`() async throws
  {
    enum State { case whole, short, broken }
    let state = Mutex(State.whole)
    let server = try LoopbackServer { request in
      let (now, page) = (state.withLock(\.self), request.query["page"].flatMap { Int($0) } ?? 1)
      if now == .broken, page > 1 { return .json("<html>") }
      let rows = (1...(now == .short ? 24 : 25)).dropFirst((page - 1) * 10).prefix(10).map {
        #"{"id": \#($0), "name": "lamp \#($0)"}"#
      }
      return .json(#"{"total": 25, "lamps": [\#(rows.joined(separator: ","))]}"#)
    }
    #expect(
      try await home.run("sources add lamps \(server.baseURL)/lamps --rate off").status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    #expect(
      try await home.run("doctor lamps --offline").output.contains("25 lamps cached, fetched"))
    state.withLock { $0 = .short }
    #expect(try await home.run("lamps sync").status == 3)
    let check = try await home.run("sources check lamps --fields status --tsv")
    #expect(check.status == 3 && check.lines == ["incomplete"], "\(check)")
    #expect(check.errors.contains("reports 25 records but sent 24"), "\(check)")
    state.withLock { $0 = .broken }
    let words = "25 lamps are cached, possibly not all: the service reports 25 records but sent 24"
    let count = try await home.run("lamps list --all --refresh --count")
    #expect(count.status == 3 && !count.errors.contains("all 25 lamps are cached"), "\(count)")
    for (line, status) in [
      ("lamps list --where id>0", 3), ("doctor lamps --offline", 3), ("sql SELECT 1 FROM lamps", 3),
    ] as [(String, Int32)] {
      let outcome = try await home.run(line)
      #expect(outcome.status == status, "\(line): \(outcome)")
      #expect((outcome.output + outcome.errors).contains(words), "\(line): \(outcome)")
      // Another one would be sent no more.
      #expect(
        !(outcome.output + outcome.errors).contains("aggregator lamps sync"), "\(line): \(outcome)")
    }
    state.withLock { $0 = .whole }
    #expect(try await home.run("lamps sync").status == 0)
    let outcome = try await home.run("lamps list --where id>0")
    #expect(outcome.status == 0 && !outcome.errors.contains("possibly"), "\(outcome)")
  }

  @Test func `no other sync is suggested after one whose pages repeat`() async throws {
    let server = try LoopbackServer { request in
      let page = min(request.query["page"].flatMap { Int($0) } ?? 1, 2)
      let rows = (1...20).dropFirst((page - 1) * 10).prefix(10).map {
        #"{"id": \#($0), "name": "lamp \#($0)"}"#
      }
      return .json(#"{"total": 200, "lamps": [\#(rows.joined(separator: ","))]}"#)
    }
    #expect(
      try await home.run("sources add lamps \(server.baseURL)/lamps --rate off").status == 0)
    for unchanged in [0, 20] {
      let sync = try await home.run("lamps sync --fields unchanged,pages --tsv")
      #expect(sync.status == 3 && sync.lines == ["\(unchanged)\t4"], "\(sync)")
      #expect(!sync.errors.contains("Resumed"), "\(sync)")
    }
    let words =
      "20 lamps are cached, possibly not all: pagination stopped: 3 consecutive pages had no new "
      + "records; the service reports 200 records"
    for line in ["lamps list --where id>0", "doctor lamps --offline"] {
      let outcome = try await home.run(line)
      let text = outcome.output + outcome.errors
      #expect(text.contains(words), "\(line): \(outcome)")
      #expect(!text.contains("aggregator lamps sync"), "\(line): \(outcome)")
    }
  }

  @Test func `a source that is added says if another one of its host limits it`() async throws {
    #expect(try await home.run("sources add lamps \(url) --rate 50/s").errors.isEmpty)
    let bulbs = try await home.run("sources add bulbs \(url) --rate off")
    #expect(
      bulbs.errors
        == "Requests of bulbs are limited to 50/s by lamps, a source of the same host: "
        + "the lowest rate holds for all\n", "\(bulbs)")
  }

  @Test func `a source without a rate of its own is added without words about others`() async throws
  {
    #expect(try await home.run("sources add lamps \(url) --rate 4/s").errors.isEmpty)
    #expect(try await home.run("sources add bulbs \(url)").errors.isEmpty)
  }

  @Test func `a redirect to a page names it, and what may be wanted there`() async throws {
    let login = try LoopbackServer { request in
      request.path == "/signin" ? .html(title: "Sign in") : .redirect(to: "/signin?to=/lamps")
    }
    let refused = try await home.run("sources add lamps \(login.baseURL)/lamps")
    #expect(refused.status == 76, "\(refused)")
    #expect(
      refused.errors == """
        error: 127.0.0.1:\(login.port) redirects to an HTML page, \(login.baseURL)/signin
        hint: if it wants a person to sign in, use -H 'Authorization: Bearer ${TOKEN}', --basic USER or --curl; \
        else look for the URL of the API in its documentation

        """)
  }

  @Test func `rows that are no objects are refused, and numbers by names are named`() async throws {
    let service = try LoopbackServer { request in
      .json(
        request.path == "/words"
          ? #"["a", "b"]"# : #"{"base": "EUR", "rates": {"USD": 1.1, "JPY": 160}}"#)
    }
    let add = "sources add words \(service.baseURL)/words --rows $ --single --rate off --id"
    let words = try await home.run("\(add) #")
    #expect(words.status == 76, "\(words)")
    #expect(
      words.errors.hasPrefix(
        "error: the list at \"$\" has no objects: its first element is \"a\"\nhint: "),
      "\(words)")
    // Texts identify themselves.
    #expect(try await home.run("\(add) $").status == 0)
    #expect(try await home.run("words list --fields id").lines == ["a", "b"])
    let hint = "\nhint: if each is a record, add --rows 'rates.{}'\n"
    let numbers = try await home.run("sources add rates \(service.baseURL)/rates")
    #expect(
      numbers.errors
        == "error: the response has no list of objects, but an object whose members are numbers: USD, JPY"
        + hint, "\(numbers)")
    let told = try await home.run("sources add rates \(service.baseURL)/rates --rows rates")
    #expect(told.errors == "error: there is no list at \"rates\"\(hint)", "\(told)")
    let added = try await home.run(
      "sources add rates \(service.baseURL)/rates --rows rates.{} --rate off")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.column("id", "rates list") == ["USD", "JPY"])
  }

  @Test func `a query of GraphQL without a cursor is told how to have one`() async throws {
    let service = try LoopbackServer { _ in
      .json(#"{"data": {"lamps": {"totalCount": 9, "nodes": [{"id": 1}, {"id": 2}]}}}"#)
    }
    let refused = try await Binary.run(
      [
        "sources", "add", "lamps", "\(service.baseURL)/graphql", "--rate", "off", "--body",
        #"{"query": "{lamps{nodes{id} totalCount}}"}"#,
      ], in: home.sandbox)
    #expect(refused.status == 3, "\(refused)")
    #expect(
      refused.errors.hasSuffix(
        "hint: let the query ask for pageInfo { endCursor hasNextPage }, and take a variable $after for the cursor; "
          + "or use --single or --yes\n"), "\(refused)")
  }

  @Test func `a service that cannot be reached is an error with a remedy`() async throws {
    let nowhere = try Binary.nowhere.get().baseURL
    let refused = try await home.run("sources add lamps \(nowhere)/lamps")
    #expect(refused.status == 69, "\(refused)")
    #expect(
      refused.errors.hasSuffix("\nhint: check that the service runs at this address\n"),
      "\(refused)")
  }

  @Test(arguments: [
    (
      #"{"total": 3, "lamps": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"name": "c"}]}"#,
      "1 row could not be read"
    ),
    ("id,name\n1,a\n2,b\n3,\"c\n", "the file is incomplete: line 4: a quote is not closed"),
    (
      "id,name\n1,a\n2\n3,\"c\n",
      "the file is incomplete: line 4: a quote is not closed; 1 row could not be read"
    ),
  ])
  func `no other sync is suggested after one of rows that cannot be read`(
    text: String, reason: String
  ) async throws {
    let type = text.hasPrefix("{") ? "application/json" : "text/csv"
    let server = try LoopbackServer { _ in
      .status(200, text, headers: [("Content-Type", type)])
    }
    let added = try await home.run(
      "sources add lamps \(server.baseURL)/lamps --id id --single --rate off")
    #expect(added.output.contains("aggregator lamps list"), "\(added)")
    #expect(try await home.run("lamps sync").status == 3)
    let lines = ["lamps list --where id>0", "lamps search zzz", "doctor lamps --offline"]
    // The list is fetched again, so that its page has the reason.
    for line in lines + ["lamps list --refresh"] + lines {
      let outcome = try await home.run(line)
      let text = outcome.output + outcome.errors
      // A list warns of each.
      for part in reason.components(separatedBy: "; ") {
        #expect(text.contains(part), "\(line): \(outcome)")
      }
      #expect(!text.contains("aggregator lamps sync"), "\(line): \(outcome)")
    }
    // The warning of a list names the row, or the line.
    let doctor = try await home.run("doctor lamps --offline")
    #expect(
      doctor.output.contains(
        "only its service can mend that; aggregator lamps list --all --refresh says where it is"),
      "\(doctor)")
  }

  @Test func `a list of one page is added, and read further when it has grown`() async throws {
    let count = Mutex(5)
    let service = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = (1...count.withLock(\.self)).dropFirst((page - 1) * 30).prefix(30).map {
        #"{"id": \#($0), "title": "issue \#($0)"}"#
      }
      return .json("[\(rows.joined(separator: ","))]")
    }
    let added = try await home.run("sources add issues \(service.baseURL)/issues --rate off")
    #expect(added.status == 0, "\(added)")
    #expect(
      added.lines.contains(
        "paging  by the parameter page  page 2 is empty, and page=1 brings page 1"),
      "\(added)")
    count.withLock { $0 = 70 }
    let sync = try await home.run("issues sync")
    #expect(sync.status == 0, "\(sync)")
    #expect(try home.file.ids(of: "issues").count == 70)
  }

  @Test func `an empty list is not added without an ID`() async throws {
    let empty = try LoopbackServer { _ in .json(#"{"items": [], "total": 0}"#) }
    let line = "sources add lamps \(empty.baseURL)/x --rate off"
    let refused = try await home.run(line)
    #expect(refused.status == 3)
    #expect(
      refused.errors == """
        error: nothing was saved, because the list is empty, and shows no ID
        hint: try again when it has records, or name its ID by --id and use --yes

        """)
    #expect(!FileManager.default.fileExists(atPath: folder().path))
    let unproved = try await home.run("\(line) --id id --yes")
    #expect(unproved.status == 3, "\(unproved)")
    let list = try await home.run("lamps list")
    #expect(list.status == 0 && !list.errors.contains("further pages"), "\(list)")
    let told = try await home.run("\(line) --id id --single --replace")
    #expect(told.status == 0, "\(told)")
    #expect(try await home.run("lamps list").status == 0)
  }

  @Test func `a paging that is told is not asked for, but what was seen of it is said`()
    async throws
  {
    let service = try LoopbackServer { request in
      let first = request.query["page"] == "2" ? 3 : 1
      return .json(#"{"lamps": [{"id": \#(first)}, {"id": 2}, {"id": \#(first + 3)}], "total": 9}"#)
    }
    for (parameter, seen) in [
      ("page", "page 2 repeats 1 of 3 rows"), ("pg", "pg changes nothing"),
    ] {
      let refused = try await home.run(
        "sources add lamps \(service.baseURL)/x --rate off --page-param \(parameter)=1")
      #expect(
        refused.errors == """
          warning: lamps: paging is not proved: \(seen)
          error: nothing was saved, because the paging is not proved
          hint: correct --page-param or leave it out, or use --yes

          """, "\(refused)")
    }
  }

  @Test func `a next page that is not there is said, with or without --yes`() async throws {
    let service = try LoopbackServer { _ in
      .json(#"{"lamps": [{"id": 1}, {"id": 2}], "links": {"next": "?page=2"}}"#)
    }
    let line = "sources add lamps \(service.baseURL)/x --rate off --next links.nex"
    let words =
      "warning: lamps: paging is not proved: \"links.nex\" has no value in this response; "
      + "this looks like it: links.next\n"
    let refused = try await home.run(line)
    #expect(refused.status == 3)
    #expect(refused.errors.hasPrefix(words), "\(refused)")
    #expect(refused.errors.contains("error: nothing was saved"), "\(refused)")
    let saved = try await home.run("\(line) --yes")
    #expect(saved.status == 3)
    #expect(
      saved.errors == words + "Saved nevertheless: lists warn that records may be missing\n")
    let wild = try await home.run("\(line).*.* --yes --replace")
    #expect(wild.status == 64)
    #expect(wild.errors.contains("--next must be a path to one link or token"), "\(wild)")
  }

  @Test func `an ID that no record has is a mistake on the command line`() async throws {
    let refused = try await home.run("sources add lamps \(url) --rate off --id nme")
    #expect(refused.status == 64)
    let words = """
      error: nothing was saved, because --id nme does not identify records

      Did you mean "--id name"?

      """
    #expect(refused.errors.contains(words), "\(refused)")
    #expect(!FileManager.default.fileExists(atPath: folder().path))
  }

  @Test(arguments: [(429, 75), (503, 69)] as [(Int, Int32)])
  func `a short pause of the service is waited for, and a long one says when to try again`(
    status: Int, code: Int32
  ) async throws {
    let requests = Mutex(0)
    let busy = try LoopbackServer { request in
      let count = requests.withLock { count in
        count += 1
        return count
      }
      if request.path == "/later" {
        return .status(status, "slow down", headers: [("Retry-After", "3600")])
      }
      guard count > 1 else {
        return .status(status, "slow down", headers: [("Retry-After", "1")])
      }
      return .json(#"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]"#)
    }
    let added = try await home.run("sources add lamps \(busy.baseURL)/soon --single --verbose")
    #expect(added.status == 0 && added.errors.contains("\"slow down\": waiting"), "\(added)")
    #expect(busy.requests.count == 2)
    let refused = try await home.run("sources add later \(busy.baseURL)/later --single")
    #expect(refused.status == code && refused.output == "", "\(refused)")
    #expect(refused.errors.contains("\nhint: retry in 60 min\n"), "\(refused)")
    #expect(busy.requests.count == 3)
  }

  @Test func `a pause is kept by adding the same list, and by all as soon as another one is told`()
    async throws
  {
    let busy = try LoopbackServer { request in
      guard !request.path.hasPrefix("/later") else {
        return .status(429, "slow down", headers: [("Retry-After", "3600")])
      }
      return .json(#"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]"#)
    }
    let line = "sources add lamps \(busy.baseURL)/soon --single"
    #expect(try await home.run("\(line) --dry-run").status == 0)
    #expect(!FileManager.default.fileExists(atPath: home.file.path))
    #expect(try await home.run(line).status == 0)
    let later = "sources add later \(busy.baseURL)/later --single"
    #expect(try await home.run(later).status == 75)
    func expectRefusals(of lines: [String], after path: String) async throws {
      let count = busy.requests.count
      for line in lines {
        let refused = try await home.run(line)
        #expect(refused.status == 75, "\(refused)")
        #expect(refused.errors.contains("rate limited by the service "), "\(refused)")
        #expect(
          refused.errors.contains(", after GET \(path)\nhint: retry in "), "\(refused)")
        if line.hasPrefix("sources") {
          #expect(refused.errors.hasSuffix("; --refresh retries now\n"), "\(refused)")
        }
      }
      #expect(busy.requests.count == count)
    }
    try await expectRefusals(of: [later], after: "/later")
    #expect(try await home.run("lamps sync").status == 0)
    #expect(try await home.run("sources add others \(busy.baseURL)/later2 --single").status == 75)
    let third = "sources add third \(busy.baseURL)/third --single"
    // The first of the two to end.
    try await expectRefusals(of: [third, "lamps sync"], after: "/later")
    let count = busy.requests.count
    let added = try await home.run("\(third) --refresh")
    #expect(added.status == 0 && added.errors == "", "\(added)")
    #expect(busy.requests.count == count + 1)
  }

  @Test func `a failure that may pass is tried again, and then says to try later`() async throws {
    let requests = Mutex(0)
    let busy = try LoopbackServer { request in
      let count = requests.withLock { count in
        count += 1
        return count
      }
      guard request.path == "/soon", count > 1 else { return .status(503, "busy") }
      return .json(#"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]"#)
    }
    let added = try await home.run("sources add lamps \(busy.baseURL)/soon --single")
    #expect(added.status == 0 && busy.requests.count == 2, "\(added)")
    let refused = try await home.run("sources add down \(busy.baseURL)/down --single")
    #expect(refused.status == 69 && busy.requests.count == 5, "\(refused)")
    #expect(refused.errors.hasSuffix("(503): \"busy\"\nhint: try again later\n"), "\(refused)")
  }

  @Test func `a list with a damaged row is added, and exits with 3 as its lists do`() async throws {
    let service = try LoopbackServer { _ in
      .json(#"{"data": [{"id": 1}, {"id": 2}, "x", {"id": 3}, {"id": 4}]}"#)
    }
    let added = try await home.run("sources add lamps \(service.baseURL)/x --rate off")
    #expect(added.status == 3, "\(added)")
    #expect(
      added.errors == "warning: lamps: 1 of 5 rows is not an object and cannot be read\n")
    let list = try await home.run("lamps list")
    #expect(list.status == 3 && list.lines.count == 4, "\(list)")
    #expect(list.errors.contains("lamps: 1 row could not be read (row 3: "), "\(list)")
  }

  @Test func `a total that is not there is said, and saved only with --yes`() async throws {
    let words =
      "warning: lamps: there is no number at \"foo\"; the number of all records may be at total\n"
    let line = "sources add lamps \(url) --rate off --total foo"
    let refused = try await home.run(line)
    #expect(refused.status == 64)
    #expect(
      refused.errors == words
        + """
        error: nothing was saved, because --total is not proved
        hint: correct it or leave it out, or use --yes

        """)
    #expect(!FileManager.default.fileExists(atPath: folder().path))
    let saved = try await home.run("\(line) --yes")
    #expect(saved.status == 3)
    #expect(saved.errors == words + "Saved nevertheless\n")
    #expect(try await home.run("lamps list -L 1").status == 0)
  }

  @Test func `a dry run saves nothing, and JSON has the evidence`() async throws {
    let outcome = try await home.run("sources add lamps \(url) --rate off --dry-run --json")
    #expect(outcome.status == 0)
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    #expect(document["schema"] as? String == "aggregator/1")
    #expect(document["proved"] as? Bool == true)
    #expect(document["requests"] as? Int == 2)
    #expect((document["manifest"] as? [String: Any])?["page"] as? String == "page=1")
    #expect(!FileManager.default.fileExists(atPath: folder().path))
  }

  @Test func `a secret is sent to its own host only, and never shown`() async throws {
    let secret: [String: String?] = ["LAMP_KEY": "hunter2hunter2"]
    let words = [
      "sources", "add", "lamps", url, "--rate", "off", "--header", "X-Api-Key: ${LAMP_KEY}",
    ]
    let missing = try await Binary.run(words, environment: home.environment, in: home.sandbox)
    #expect(missing.status == 77)
    #expect(missing.errors.contains("LAMP_KEY is not set"))
    let added = try await Binary.run(words, environment: secret, in: home.sandbox)
    #expect(added.status == 0, "\(added)")
    #expect(service.requests.last?.header("X-Api-Key") == "hunter2hunter2")
    let shown = try await home.run("lamps list -L 1 -v", secret)
    #expect(shown.status == 0)
    let manifest = try String(contentsOf: folder().appending(path: "lamps.json"), encoding: .utf8)
    for text in [added.output, added.errors, shown.output, shown.errors, manifest] {
      #expect(!text.contains("hunter2"))
    }

    // A manifest that somebody copied cannot send it elsewhere.
    let thief = try LoopbackServer { _ in .json("[]") }
    let copied = manifest.replacing("\(service.port)", with: "\(thief.port)")
    try copied.write(
      to: folder().appending(path: "copy.json"), atomically: true, encoding: .utf8)
    let stolen = try await home.run("copy list", secret)
    #expect(stolen.status != 0)
    #expect(stolen.errors.contains("LAMP_KEY may not be sent to 127.0.0.1:\(thief.port) yet"))
    #expect(thief.requests.isEmpty)
  }

  @Test func `mistakes name their remedy`() async throws {
    for (line, message) in [
      ("sources add Lamps \(url)", "invalid name \"Lamps\""),
      (
        "sources add heroes \(url)",
        "\"heroes\" is the name of a source, command or verb of aggregator"
      ),
      ("sources add sql \(url)", "\"sql\" is the name of a source, command or verb of aggregator"),
      (
        "sources add next \(url)", "\"next\" is the name of a source, command or verb of aggregator"
      ),
      ("sources add lamps ftp://x.example/", "invalid URL \"ftp://x.example/\""),
      ("sources add Lamps \(url)", "Did you mean \"lamps\"?"),
      ("sources add big_Lamps.csv \(url)", "Did you mean \"big-lamps-csv\"?"),
      ("sources add \(url) lamps", "Did you mean \"sources add lamps '\(url)'\"?"),
      ("sources add \(url)", "Did you mean \"sources add lamps '\(url)'\"?"),
      ("sources add http://x.example/heroes", "sources add heroes-2 'http://x.example/heroes'"),
      ("sources add lamps x.example/v1", "Did you mean \"https://x.example/v1\"?"),
      ("sources add lamps x.com", "Did you mean \"https://x.com\"?"),
      ("sources add lamps localhost:1/v1", "Did you mean \"http://localhost:1/v1\"?"),
      ("sources add lamps \(url) --rows a..b", "--rows must be a path"),
      ("sources add lamps", "missing argument: URL"),
      (
        "sources add lamps \(url) --header Authorization=abc",
        "invalid header field \"Authorization\""
      ),
    ] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 64, "\(line): \(outcome)")
      #expect(outcome.errors.contains(message), "\(line): \(outcome)")
    }
    #expect(try await home.run("sources remove nothing --yes").status == 1)
    #expect(service.requests.isEmpty)
  }

  @Test(arguments: [
    ("401", 77, "sign in with -H 'Authorization: Bearer ${TOKEN}', --basic USER or "),
    ("403", 69, "sign in with -H "), ("page", 76, "this is a web page: "),
    ("text", 76, "use a URL that sends JSON, CSV, "),
  ])
  func `a response that is no list says what is missing`(
    path: String, status: Int, hint: String
  ) async throws {
    let service = try LoopbackServer { request in
      switch request.path {
      case "/401", "/403": .status(Int(request.path.dropFirst()) ?? 500, "who are you?")
      case "/page": .html(title: "Sign in")
      default: .ok(Data("hello you".utf8), headers: [("Content-Type", "text/plain")])
      }
    }
    let line = "sources add lamps \(service.baseURL)/\(path) --rate off"
    let outcome = try await home.run(line)
    #expect(outcome.status == Int32(status), "\(outcome)")
    #expect(outcome.errors.contains("\nhint: \(hint)"), "\(outcome)")
    guard status != 76 else { return }
    let signed = try await Binary.run(
      line.split(separator: " ").map(String.init) + ["-H", "X-Api-Key: ${LAMP_KEY}"],
      environment: ["LAMP_KEY": "hunter2hunter2"], in: home.sandbox)
    #expect(signed.errors.contains("\nhint: check LAMP_KEY\n"), "\(signed)")
  }

  private func write(_ manifest: String) throws {
    try FileManager.default.createDirectory(at: folder(), withIntermediateDirectories: true)
    try manifest.write(
      to: folder().appending(path: "lamps.json"), atomically: true, encoding: .utf8)
  }

  @Test func `values keep their kinds in every format`() async throws {
    let service = try LoopbackServer { _ in
      .json(
        #"""
        [{"id": 1, "price": 4.0, "watts": 20, "lit": false, "tags": ["old", "a, b"], "size": {"w": 1}},
        {"id": 2, "price": 12.5, "watts": 5, "lit": true, "tags": [], "size": null}]
        """#)
    }
    try write(
      """
      {"url": "\(service.baseURL)/", "rows": "$", "id": "id", "paging": "single",
        "fields": ["price", "watts", "lit", "tags", "size", "tags.0"]}
      """)
    let json = try await home.run("lamps list --json --fields price,watts,lit,tags,size,tags.0")
    #expect(
      json.output.contains(
        #"{"price":4,"watts":20,"lit":false,"tags":["old","a, b"],"size":{"w":1},"tags.0":"old"}"#),
      "\(json)")
    #expect(
      try await home.run("lamps list --fields price,watts,lit,tags,size,tags.0").lines == [
        "4\t20\tfalse\told, \"a, b\"\t{\"w\":1}\told", "12.5\t5\ttrue\t\t\t",
      ])
    let kinds = ["price", "watts", "lit", "tags", "size", "tags.0"].map { "typeof(\"\($0)\")" }
    let typed = try await home.run("sql SELECT \(kinds.joined(separator: ", ")) FROM lamps")
    #expect(
      typed.lines == [
        "integer\tinteger\tinteger\ttext\ttext\ttext", "real\tinteger\tinteger\ttext\tnull\tnull",
      ])
    #expect(try await home.run("sql SELECT sum(price), sum(lit) FROM lamps").lines == ["16.5\t1"])
    // No manifest declares kinds, but the records have them.
    let schema = try await home.run("sql .schema lamps")
    #expect(
      schema.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        == "lamps: id integer, price number, watts integer, lit integer, tags text, size text, \"tags.0\" text",
      "\(schema)")
    #expect(schema.errors.contains("a sample: at most 1000 records of a table"), "\(schema)")
  }

  @Test func `a manifest with another ID begins with an empty store`() async throws {
    func manifest(_ id: String) -> String {
      #"{"url": "\#(url)", "rows": "lamps", "id": "\#(id)", "page": "page=1", "rate": "off"}"#
    }
    try write(manifest("id"))
    #expect(try await home.run("lamps sync").status == 0)
    #expect(try await home.run("lamps delete 3 --yes").status == 0)
    #expect(try await home.run("sql SELECT count(*) FROM lamps").lines == ["24"])

    try write(manifest("name"))
    #expect(try await home.run("sql SELECT count(*) FROM lamps").lines == ["0"])
    #expect(try await home.run("lamps list --deleted").lines == [])
    #expect(try await home.run("lamps show 17 --offline").status != 0)
    #expect(try await home.run("lamps search lamp --offline").lines == [])
    #expect(try await home.column("id", "lamps list --all").first == "lamp 1")
    #expect(try await home.column("id", "lamps list --all").count == 25)
  }

  @Test func `an incomplete manifest names the command that completes it`() async throws {
    try write(#"{"url": "\#(url)?key=${LAMP_KEY}"}"#)
    let outcome = try await home.run("lamps list", ["LAMP_KEY": "hunter2hunter2"])
    #expect(outcome.status == 78)
    #expect(
      outcome.errors == """
        error: lamps: the manifest is incomplete: it has no "rows"
        hint: aggregator sources add lamps '\(url)?key=${LAMP_KEY}' --replace

        """)
  }

  @Test func `a broken manifest is reported where it is used`() async throws {
    try FileManager.default.createDirectory(at: folder(), withIntermediateDirectories: true)
    try "{\n\"url\": 7}".write(
      to: folder().appending(path: "broken.json"), atomically: true, encoding: .utf8)
    let outcome = try await home.run("broken list")
    #expect(outcome.status == 78, "\(outcome)")
    #expect(outcome.errors.contains("broken.json: line 2: \"url\" must be a text"))
    #expect(try await home.run("countries list -L 1 --offline").status == 0)
  }

  @Test func `a list says, once, that whole numbers are rounded`() async throws {
    let rows = (0..<6).map { #"{"id": \#($0), "big": 1234567890123456789\#($0)}"# }
    let service = try LoopbackServer { request in
      let number = request.query["page"] ?? "1"
      let isSecond = number == "2"
      let page = isSecond ? rows[3..<6] : number == "1" ? rows[0..<3] : []
      let next = isSecond ? "null" : #""/things?page=2""#
      let items = page.joined(separator: ",")
      let text = #"{"items": [\#(items)], "next": \#(next), "version": 99999999999999999999}"#
      return .ok(Data(text.utf8), headers: [("Content-Type", "application/json")])
    }
    let words = "whole numbers beyond 64 bits are rounded to about 16 digits: \"big\""
    let added = try await home.run("sources add things \(service.baseURL)/things --rate off --yes")
    #expect(added.status == 0 && added.errors.contains(words), "\(added)")
    let outcome = try await home.run("things list --all --refresh")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.errors.components(separatedBy: words).count == 2, "\(outcome)")
    let document = try await home.run("things list --json")
    #expect(document.output.contains(#""code":"rounded""#), "\(document)")
  }

  @Test(arguments: [
    ("text/csv", "id,name\n1,Zo~\n2,Zo~\n3,Zo~\n"),
    (
      "application/json",
      #"[{"id": 1, "name": "Zo~"}, {"id": 2, "name": "Zo~"}, {"id": 3, "name": "Zo~"}]"#
    ),
  ])
  func `a sync says, once, that it has guessed the encoding`(
    type: String, text: String
  ) async throws {
    let rows = Data(text.utf8.map { $0 == UInt8(ascii: "~") ? 0xEB : $0 })
    let service = try LoopbackServer { _ in .ok(rows, headers: [("Content-Type", type)]) }
    let added = try await home.run("sources add names \(service.baseURL)/names --rate off --yes")
    #expect(added.status == 0 && added.errors.contains("read as Windows-1252"), "\(added)")
    for line in ["names list --all --refresh", "names sync"] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(
        outcome.errors.components(separatedBy: "read as Windows-1252").count == 2, "\(outcome)")
      #expect(outcome.errors.contains("warning: names: the text is not UTF-8"), "\(outcome)")
    }
    #expect(try await home.column("name", "names list --all --offline") == ["Zoë", "Zoë", "Zoë"])
  }
}
