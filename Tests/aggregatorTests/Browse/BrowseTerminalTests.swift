import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorBrowse
@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

/// `browse` on a terminal.
@Suite(.timeLimit(.minutes(10)))
struct BrowseTerminalTests {
  private let terminal: PseudoTerminal
  private let home: TestHome

  init() throws {
    terminal = try PseudoTerminal()
    terminal.widen(to: 80, rows: 24)
    home = try TestHome()
  }

  static let enter = "\u{1B}[?1049h"
  static let leave = "\u{1B}[?1049l"

  private func start(
    _ line: String = "browse countries --offline", _ variables: [String: String?] = [:]
  ) throws -> Binary.Run {
    let variables: [String: String?] = [
      "TERM": "xterm", "LC_ALL": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no",
    ].merging(variables) { $1 }
    return try Binary.start(
      line, environment: variables, terminal: terminal.descriptor, in: home.sandbox,
      output: .descriptor(terminal.descriptor), isMerged: true)
  }

  /// The ways to end it.
  static let ends: [(key: String?, signal: Int32?, ending: Child.Ending)] = [
    ("q", nil, .exit(0)), (nil, SIGTERM, .signal(SIGTERM)), (nil, SIGHUP, .signal(SIGHUP)),
    (nil, SIGINT, .signal(SIGINT)), (nil, SIGQUIT, .signal(SIGQUIT)),
    (nil, SIGSEGV, .signal(SIGSEGV)), (nil, SIGABRT, .signal(SIGABRT)),
    (nil, SIGILL, .signal(SIGILL)), (nil, SIGBUS, .signal(SIGBUS)), (nil, SIGFPE, .signal(SIGFPE)),
    (nil, SIGUSR1, .signal(SIGUSR1)), (nil, SIGALRM, .signal(SIGALRM)),
    (nil, SIGXCPU, .signal(SIGXCPU)),
  ]

  @Test(arguments: 0..<ends.count)
  func `every end leaves the terminal as it was`(number: Int) async throws {
    let (key, signal, ending) = Self.ends[number]
    let modes = terminal.modes
    let run = try start()
    try await terminal.read(until: Self.enter, "Afghanistan")
    #expect(terminal.modes != modes)
    if let key { terminal.type(key) }
    if let signal { run.child.send(signal) }
    let end = try await terminal.read(until: Self.leave)
    // The cursor, wrapping, the mouse and pasting, too.
    for mode in ["25h", "7h", "1000l", "1006l", "2004l"] {
      #expect(end.contains("\u{1B}[?\(mode)"), "\(mode)")
    }
    #expect(try await run.outcome().ending == ending)
    #expect(terminal.modes == modes)
    #expect(await terminal.shown(within: 0).isEmpty)
  }

  @Test func `a terminal that goes away ends it`() async throws {
    // Its own, which is closed.
    let other = try PseudoTerminal()
    other.widen(to: 80, rows: 24)
    let run = try Binary.start(
      "browse countries --offline", environment: ["TERM": "xterm", "LC_ALL": "C.UTF-8"],
      terminal: other.descriptor, in: home.sandbox, output: .descriptor(other.descriptor))
    try await other.read(until: "Afghanistan")
    run.child.send(SIGHUP)
    #expect(try await run.outcome().ending == .signal(SIGHUP))
  }

  @Test func `filters as one types, opens, deletes and restores`() async throws {
    let run = try start()
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    terminal.type("/fran")
    await terminal.wait(for: "▌FR    France", on: &screen)
    #expect(screen.text.contains("Paris"))
    terminal.type("\r\r")
    await terminal.wait(for: "Esc back", on: &screen)
    terminal.type("\u{1B}")
    await terminal.wait(for: "/ filter", on: &screen)
    terminal.type("d")
    await terminal.wait(for: "Deleted \"France\"", on: &screen)
    #expect(try await home.column("code", "countries list --offline --deleted") == ["FR"])
    terminal.type("u")
    await terminal.wait(for: "Restored \"France\"", on: &screen)
    #expect(try await home.column("code", "countries list --offline --deleted").isEmpty)
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `Tab completes fields in conditions, and tables in SQL`() async throws {
    let run = try start()
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    terminal.type("fnot reg\t")
    await terminal.wait(for: "where not region", on: &screen)
    terminal.type("\u{1B}")
    await terminal.wait(for: "/ filter", on: &screen)
    terminal.type(":select * from countri\t")
    await terminal.wait(for: ":select * from countries", on: &screen)
    terminal.type("\u{1B}")
    await terminal.wait(for: "/ filter", on: &screen)
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `a condition tells what it selects while it is typed`() async throws {
    let run = try start()
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    terminal.type("fregion=EU")
    await terminal.wait(for: " 53 records", on: &screen)
    terminal.type("\u{15}region=eU")
    await terminal.wait(for: "no records, near: EU", on: &screen)
    terminal.type("\u{15}region=EUR")
    await terminal.wait(for: "no records, near: EU", on: &screen)
    terminal.type("\u{15}regoin=EU")
    await terminal.wait(for: #"Did you mean "region"?"#, on: &screen)
    #expect(screen.text.contains("countries 1/250"))
    // What Tab completes is not wrong yet.
    terminal.type("\u{15}nam")
    await terminal.wait(for: "unfinished: Tab completes", on: &screen)
    terminal.type("\u{15}region=EU and name=Ghana and region=AF")
    await terminal.wait(for: "no records that meet all conditions", on: &screen)
    terminal.type("\u{1B}")
    await terminal.wait(for: "/ filter", on: &screen)
    terminal.type("/Ghana\r")
    await terminal.wait(for: "countries 1/1", on: &screen)
    terminal.type("fregion=EU")
    await terminal.wait(
      for: #"no records with the filter "Ghana"; without it, 53 records"#, on: &screen)
    terminal.type("\u{1B}")
    await terminal.wait(for: "/ filter", on: &screen)
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `Ctrl-C leaves a condition that is typed, and not the program`() async throws {
    let run = try start()
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    terminal.type("fregion=EU")
    await terminal.wait(for: " 53 records", on: &screen)
    terminal.type("\u{3}")
    await terminal.wait(for: "/ filter", on: &screen)
    #expect(screen.text.contains("countries 1/250"))
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `sums of a query are rounded as by sql`() async throws {
    let run = try start()
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    terminal.type(":select 1 AS n, 0.1 + 0.2 AS total UNION ALL SELECT 2, 1.25\r")
    await terminal.wait(for: "0.30", on: &screen)
    #expect(!screen.text.contains("0.300000"), "\(screen.text)")
    terminal.type("\u{1B}")
    await terminal.wait(for: "f where", on: &screen)
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `counts the values of a field, and filters by one`() async throws {
    let run = try start()
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    terminal.type("F")
    await terminal.wait(for: "Count values of", on: &screen)
    terminal.type("regi\r")
    await terminal.wait(for: "values of Region 1/7", on: &screen)
    terminal.type("\r")
    await terminal.wait(for: #"where region="AF""#, on: &screen)
    // Its own condition does not narrow the values of a field.
    terminal.type("Fregi\r")
    await terminal.wait(for: "values of Region 1/7", on: &screen)
    terminal.type("\u{1B}")
    await terminal.wait(for: "f where", on: &screen)
    terminal.type("f\u{15}code=FR\r")
    await terminal.wait(for: "countries 1/1", on: &screen)
    terminal.type("Fregi\r")
    await terminal.wait(for: "Region: every record has the same value, EU", on: &screen)
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `writes the list or the marked records to a file`() async throws {
    let run = try start()
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    terminal.type("fcapital=Kingston\r")
    await terminal.wait(for: "countries 1/2", on: &screen)
    terminal.type("w\u{15}list.csv\r")
    // Bundled records are samples.
    await terminal.wait(for: "Wrote 2 records to list.csv · only bundled sample data", on: &screen)
    let first = try home.sandbox.text(of: "work/list.csv")
    #expect(first.split(whereSeparator: \.isNewline).map { $0.prefix(3) } == ["cod", "JM,", "NF,"])
    terminal.type(" w\u{15}list.csv\r")
    await terminal.wait(for: "list.csv exists", on: &screen)
    #expect(try home.sandbox.text(of: "work/list.csv") == first)
    terminal.type("\r")
    await terminal.wait(for: "Wrote 1 record to list.csv", on: &screen)
    let second = try home.sandbox.text(of: "work/list.csv")
    #expect(second.split(whereSeparator: \.isNewline).count == 2)
    for name in ["list.csv.gz", "list.db"] {
      terminal.type("w\u{15}\(name)\r")
      await terminal.wait(for: "Wrote 1 record to \(name)", on: &screen)
    }
    let packed = home.sandbox.root.appending(path: "work/list.csv.gz")
    #expect(try Data(contentsOf: packed).starts(with: [0x1F, 0x8B]))
    let attached = try await Binary.run(
      ["sql", "--attach", "d=list.db", "SELECT name FROM d.countries"], in: home.sandbox)
    #expect(attached.output.contains("Jamaica"), "\(attached)")
    terminal.type("w\u{15}list.xyz\r")
    await terminal.wait(for: "unknown format", on: &screen)
    terminal.type("\u{1B}")
    await terminal.wait(for: "/ filter", on: &screen)
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `a query without end is shown, and Esc stops it`() async throws {
    // Half a minute may pass on a busy machine.
    let run = try start("browse countries --offline --timeout 1h")
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    terminal.type(":WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) ")
    terminal.type("SELECT count(*) FROM c\r")
    // Any second: a busy machine may skip one.
    await terminal.wait(for: " s · Esc stops", on: &screen)
    terminal.type("\u{1B}")
    await terminal.wait(for: "Stopped", on: &screen)
    terminal.type(":SELECT 6 * 7 AS answer\r")
    await terminal.wait(for: "▌    42", on: &screen)
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `conditions are recalled in later sessions`() async throws {
    for keys in ["fregion=EU\r", "f\u{1B}[A\r"] {
      let run = try start()
      var screen = EmulatedScreen()
      await terminal.wait(for: "Afghanistan", on: &screen)
      terminal.type(keys)
      await terminal.wait(for: " where region=EU", on: &screen)
      await terminal.wait(for: "/ filter", on: &screen)
      terminal.type("q")
      #expect(try await run.outcome().ending == .exit(0))
      let file = "home/.local/state/aggregator/browse_conditions"
      #expect(try home.sandbox.text(of: file) == "region=EU\n")
      #expect(try home.sandbox.permissions(of: file) == 0o600)
    }
  }

  @Test func `statements are recalled in later sessions, and in the console`() async throws {
    let file = "home/.local/state/aggregator/sql_history"
    try home.sandbox.write("SELECT 6 AS six;\n.tables\nquit\n", to: file)
    for keys in [":\u{1B}[A\u{7F} , 42 AS answer\r", ":\u{1B}[A\r"] {
      let run = try start("browse countries --offline")
      var screen = EmulatedScreen()
      await terminal.wait(for: "Afghanistan", on: &screen)
      terminal.type(keys)
      await terminal.wait(for: "42", on: &screen)
      terminal.type("q")
      #expect(try await run.outcome().ending == .exit(0))
      #expect(
        try home.sandbox.text(of: file)
          == "SELECT 6 AS six;\n.tables\nquit\nSELECT 6 AS six , 42 AS answer;\n")
    }
  }

  @Test func `columns of earlier versions are read, and kept as JSON in one line of each source`()
    async throws
  {
    let file = "home/.local/state/aggregator/browse_columns"
    try home.sandbox.write("countries name,code\nheroes id\ncountries name,capital\n", to: file)
    let run = try start()
    var screen = EmulatedScreen()
    await terminal.wait(for: "│ Name  ", on: &screen)
    terminal.type("c")
    await terminal.wait(for: "Space show or hide", on: &screen)
    terminal.type(" \r")
    await terminal.wait(for: "/ filter", on: &screen)
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
    #expect(
      try home.sandbox.text(of: file)
        == "heroes id\n" + #"countries ["code","name","capital"]"# + "\n")
  }

  @Test func `names of columns with commas, and very many of them, are kept`() throws {
    let directory = home.sandbox.root.path
    let names = ["a,b", "c\nd", "[e]", "日本"] + (0..<2000).map { "Column with the number \($0)" }
    for kept in [names, ["a"], names] {
      var history = try LineHistory(named: "columns", in: directory)
      try history.add(EffectRunner.line("notes", kept), replacing: "notes ")
    }
    let lines = try LineHistory(named: "columns", in: directory).lines
    #expect(lines.count == 1)
    let kept = try #require(EffectRunner.columns(in: lines.first ?? ""))
    #expect(kept.source == "notes" && kept.names == names)
    #expect(EffectRunner.columns(in: "notes ")?.names == [])
    #expect(EffectRunner.columns(in: "notes [a],b")?.names == ["[a]", "b"])
  }

  @Test func `the newest lines stay where there is no room for all`() throws {
    let lines = (0..<40).map { "\($0) " + String(repeating: "x", count: 250_000) }
    var history = try LineHistory(named: "lines", in: home.sandbox.root.path)
    for line in lines { try history.add(line) }
    let kept = try LineHistory(named: "lines", in: home.sandbox.root.path).lines
    #expect(kept.count > 20 && kept == Array(lines.suffix(kept.count)))
  }

  @Test func `a query and a condition on the command line come first`() async throws {
    let run = try start("browse countries land --where region=EU --sort -name --offline")
    var screen = EmulatedScreen()
    let text = await terminal.wait(for: "Åland", on: &screen)
    #expect(text.contains("/land where region=EU"))
    #expect(text.contains("Name▼"))
    #expect(text.contains("Switzerland"))
    #expect(!text.contains("Thailand"))
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `a new size is drawn`() async throws {
    let run = try start()
    try await terminal.read(until: "Sources", "Afghanistan")
    terminal.widen(to: 40, rows: 12)
    run.child.send(SIGWINCH)
    // Without the sources, the title is at the left edge.
    try await terminal.read(until: "\u{1B}[2J", "\u{1B}[1;2H\u{1B}[0;1mcountries")
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `a service that does not answer holds up nothing`() async throws {
    let server = try LoopbackServer { _ in .stalled(after: Data("[".utf8), of: 100) }
    defer { server.stop() }
    let run = try start("browse countries", ["COUNTRIES_URL": "\(server.baseURL)/countries.json"])
    // The request is open, and keys work.
    _ = await server.requests(atLeast: 1)
    var screen = EmulatedScreen()
    await terminal.wait(for: "Fetching…", on: &screen)
    await terminal.wait(for: "Afghanistan", on: &screen)
    terminal.type("/zimb")
    await terminal.wait(for: "Harare", on: &screen)
    terminal.type("\u{1B}")
    await terminal.wait(for: "Afghanistan", on: &screen)
    #expect(screen.text.contains("Fetching…"))
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `messages of the program follow when it has ended`() async throws {
    let run = try start("browse countries --offline --verbose")
    try await terminal.read(until: "Afghanistan")
    terminal.type("q")
    try await terminal.read(until: Self.leave)
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `copies through the terminal`() async throws {
    let run = try start()
    try await terminal.read(until: "Afghanistan")
    terminal.type("y")
    try await terminal.read(until: "\u{1B}]52;c;\(Data("AF".utf8).base64EncodedString())\u{7}")
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `answers a query in SQL, and a mistake can be mended`() async throws {
    let run = try start()
    try await terminal.read(until: "Afghanistan")
    terminal.type(":SELECT 6*7 AS answr\r")
    try await terminal.read(until: "42")
    terminal.type(":\u{15}SELECT nam FROM countries\r")
    try await terminal.read(until: "no such column: nam")
    terminal.type("\u{1B}")
    try await terminal.read(until: "quit")
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `numbers of an added source are aligned as in its list`() async throws {
    let server = try LoopbackServer { _ in
      .json(
        #"{"goods":[{"id":"a","name":"Lamp","price":175.6,"ratio":0.14285714285714285},{"id":"b","name":"Desk","price":1612.34}]}"#
      )
    }
    defer { server.stop() }
    let added = try await home.run("sources add goods \(server.baseURL)/goods --rate off")
    try #require(added.status == 0, "\(added)")
    _ = try await home.run("goods list")
    for line in ["browse goods", "goods pick", "browse goods --where price>1"] {
      let run = try start("\(line) --offline")
      var screen = EmulatedScreen()
      await terminal.wait(for: "Desk  1612.34", on: &screen)
      #expect(screen.text.contains("Lamp   175.60"), "\(line): \(screen.text)")
      // The record has at most 15 digits, as a table.
      #expect(screen.text.contains("0.142857142857143"), "\(line): \(screen.text)")
      terminal.type(line.contains("pick") ? "\u{1B}" : "q")
      _ = try await run.outcome()
    }
  }

  /// A service with a list of 12 goods, by offsets.
  private func goods() throws -> LoopbackServer {
    try LoopbackServer { request in
      let start = request.query["offset"].flatMap { Int($0) } ?? 0
      let end = min(12, start + (request.query["limit"].flatMap { Int($0) } ?? 2))
      let rows = (start..<max(start, end)).map { #"{"id":"g\#($0)","name":"Good \#($0)"}"# }
      return .json(#"{"count":12,"results":[\#(rows.joined(separator: ","))]}"#)
    }
  }

  private func add(_ server: LoopbackServer) async throws {
    let added = try await home.run(
      "sources add goods \(server.baseURL)/goods --offset-param offset=0 --page-size limit=2 --rate off"
    )
    try #require(added.status == 0, "\(added)")
  }

  @Test func `a file in JSON has the origin of its list, and what this lacks`() async throws {
    let server = try goods()
    defer { server.stop() }
    try await add(server)
    _ = try await home.run("goods list --limit 8")
    let run = try start("browse goods --offline")
    var screen = EmulatedScreen()
    await terminal.wait(for: "goods 1/8", on: &screen)
    func written(_ name: String, after keys: String) async throws -> JSON {
      terminal.type("\(keys)w\u{15}\(name)\r")
      await terminal.wait(for: "to \(name)", on: &screen)
      return try #require(JSON(reading: Data(home.sandbox.text(of: "work/\(name)").utf8)))
    }
    let list = try await written("list.json", after: "")
    _ = try await home.run("export goods -o export.json")
    let export = try #require(
      JSON(reading: Data(home.sandbox.text(of: "work/export.json").utf8)))
    #expect(list["provenance"]?["origin"] == "cached", "\(list)")
    #expect(list["provenance"] == export["provenance"])
    #expect(list["warnings"] == export["warnings"] && list["warnings"] != .array([]), "\(list)")
    // A choice of records is all of it.
    let marked = try await written("marked.json", after: " ")
    #expect(marked["provenance"] == export["provenance"], "\(marked)")
    #expect(marked["warnings"] == .array([]), "\(marked)")
    terminal.type(":SELECT count(*) AS n FROM goods\r")
    await terminal.wait(for: "SQL 1/1", on: &screen)
    let answer = try await written("answer.json", after: "")
    #expect(answer["provenance"] == .null, "\(answer)")
    #expect(answer["warnings"]?.array?.first?["source"] == "goods", "\(answer)")
    terminal.type("q")
    _ = try await run.outcome()
  }

  @Test func `the next page is the first one with records that are not cached`() async throws {
    let server = try goods()
    defer { server.stop() }
    try await add(server)
    _ = try await home.run("goods list --limit 8")
    let run = try start("browse goods")
    var screen = EmulatedScreen()
    await terminal.wait(for: "goods 1/8 of 12", on: &screen)
    await terminal.wait(for: " 8+ ", on: &screen)
    terminal.type("n")
    await terminal.wait(for: "goods: 2 new (1 page)", on: &screen)
    await terminal.wait(for: "goods 1/10 of 12", on: &screen)
    terminal.type("S")
    await terminal.wait(for: "goods 1/12 ", on: &screen)
    terminal.type("n")
    await terminal.wait(for: "No more: ", on: &screen)
    // Nor does a search ask for what a complete sync would have stored.
    let count = await server.requests(atLeast: 0).count
    terminal.type("/xyzzy")
    await terminal.wait(for: "All records are cached: nothing matches", on: &screen)
    terminal.type("\r")
    await terminal.wait(for: "No goods match", on: &screen)
    await terminal.wait(for: "/ filter", on: &screen)
    #expect(!screen.text.contains("not refreshed"))
    terminal.type("\u{1B}")
    await terminal.wait(for: "goods 1/12 ", on: &screen)
    terminal.type("Fid\r")
    await terminal.wait(for: "ID: nearly every record has a value of its own", on: &screen)
    #expect(!screen.text.contains("have the same"))
    terminal.type("q")
    #expect(await server.requests(atLeast: 0).count == count)
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `a store that cannot be created is named, and records are shown without it`()
    async throws
  {
    let server = try goods()
    defer { server.stop() }
    try await add(server)
    let file = try home.sandbox.write("mine", to: "file").path
    let run = try start("browse goods", ["AGGREGATOR_STORE": "\(file)/x.sqlite"])
    var screen = EmulatedScreen()
    await terminal.wait(for: "cannot create", on: &screen)
    await terminal.wait(for: "goods 1/", on: &screen)
    await terminal.wait(for: "Good 1", on: &screen)
    // No record is deleted, and more can be read.
    terminal.type("dn")
    await terminal.wait(for: "goods 1/4 of 12", on: &screen)
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
    #expect(try home.sandbox.text(of: "file") == "mine")
  }

  @Test func `a store that cannot be read does not hide bundled records`() async throws {
    let file = try home.sandbox.write("mine", to: "file").path
    let run = try start("browse countries --offline", ["AGGREGATOR_STORE": file])
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    // One word of "is not a database; …": where its line ends depends on the path before it.
    await terminal.wait(for: "database;", on: &screen)
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
    #expect(try home.sandbox.text(of: "file") == "mine")
  }

  @Test func `a field of no source that was named is one of the source that is shown`()
    async throws
  {
    let run = try start("browse --offline --where price>5")
    _ = try await terminal.read(until: #"countries: unknown field "price""#)
    #expect(try await run.outcome().ending == .exit(64))
  }

  @Test func `a mistake in a condition names the field that was meant`() async throws {
    let run = try start()
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    terminal.type("fregoin=EU\r")
    await terminal.wait(for: #"unknown field "regoin". Did you mean "region"?"#, on: &screen)
    #expect(screen.text.contains("where regoin=EU"))
    #expect(screen.text.contains("Afghanistan"))
    terminal.type("\u{15}region\r")
    await terminal.wait(for: "Write FIELD=VALUE", on: &screen)
    terminal.type("\u{15}region=EU\r")
    await terminal.wait(for: "countries 1/53", on: &screen)
    terminal.type("q")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setsid")))
  func `Ctrl-Z gives the terminal back to the shell, and fg takes it again`() async throws {
    let modes = terminal.modes
    let program = try Binary.path
    // A shell with job control, and the terminal that controls it.
    let shell = try Child(
      ["/usr/bin/setsid", "-c", "-w", "/bin/bash", "--norc", "--noprofile", "-i"],
      environment: [
        "HOME": home.sandbox.home.path, "PATH": "/usr/bin:/bin", "TERM": "xterm",
        "LC_ALL": "C.UTF-8", "PS1": "ready> ",
      ], directory: home.sandbox.work.path,
      descriptors: [terminal.descriptor, terminal.descriptor, terminal.descriptor])
    try await terminal.read(until: "ready> ")
    terminal.type("stty -g > before; '\(program)' browse countries --offline\n")
    try await terminal.read(until: Self.enter, "Afghanistan")
    terminal.type("\u{1A}")
    try await terminal.read(until: Self.leave, "Stopped", "ready> ")
    terminal.type("stty -g > stopped; bg\n")
    try await terminal.read(until: "ready> ")
    // It runs in the background, and draws nothing.
    terminal.type("echo a''b\n")
    let background = try await terminal.read(until: "ab\r\n", "ready> ")
    #expect(!background.contains(Self.enter))
    terminal.type("fg\n")
    try await terminal.read(until: Self.enter, "Afghanistan")
    terminal.type("q")
    try await terminal.read(until: Self.leave, "ready> ")
    terminal.type("stty -g > after; exit\n")
    #expect(await shell.ending() == .exit(0))
    let before = try home.sandbox.text(of: "work/before")
    #expect(try home.sandbox.text(of: "work/stopped") == before)
    #expect(try home.sandbox.text(of: "work/after") == before)
    #expect(terminal.modes == modes)
  }

  // MARK: - Without a terminal

  @Test func `without a terminal it says so`() async throws {
    let outcome = try await Binary.run("browse countries")
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors.contains("browse requires a terminal: standard input is not one"))
    let run = try Binary.start("browse", terminal: terminal.descriptor, in: home.sandbox)
    let piped = try await run.outcome()
    #expect(piped.status == 64)
    #expect(piped.errors.contains("standard output is not one"))
  }

  @Test func `a terminal without a cursor is refused`() async throws {
    let run = try start("browse", ["TERM": "dumb"])
    try await terminal.read(until: "\"dumb\"")
    #expect(try await run.outcome().status == 64)
  }

  @Test(arguments: [
    "browse nowhere", "browse countries --no-input", "browse countries --sort nope",
  ])
  func `what cannot be shown is refused before anything is drawn`(line: String) async throws {
    let run = try start(line)
    let screen = try await terminal.read(until: "error:")
    #expect(!screen.contains(Self.enter))
    #expect(try await run.outcome().status == 64)
  }
}
