import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The picker of records for verbs without an ID, on a terminal.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setsid")))
struct PickerTests {
  private let terminal: PseudoTerminal
  private let home: TestHome

  private static let enter = BrowseTerminalTests.enter
  private static let leave = BrowseTerminalTests.leave

  init() throws {
    terminal = try PseudoTerminal()
    terminal.widen(to: 80, rows: 24)
    home = try TestHome()
  }

  /// Starts a shell script on the terminal, which controls it; `$0` is the program.
  private func start(_ script: String, _ variables: [String: String] = [:]) throws -> Child {
    try Child(
      ["/usr/bin/setsid", "-c", "-w", "/bin/sh", "-c", script, try Binary.path],
      environment: [
        "HOME": home.sandbox.home.path, "PATH": "/usr/bin:/bin", "TERM": "xterm",
        "LC_ALL": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no",
      ].merging(variables) { $1 }, directory: home.sandbox.work.path,
      descriptors: [terminal.descriptor, terminal.descriptor, terminal.descriptor])
  }

  private func text(_ file: String) throws -> String { try home.sandbox.text(of: "work/\(file)") }

  @Test func `show picks a record, and its output may go to a pipe`() async throws {
    let modes = terminal.modes
    let child = try start(#""$0" countries show --offline --json | cat > shown; echo done"#)
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    #expect(screen.text.contains("Enter picks · Tab marks · Esc leaves"))
    terminal.type("zimb")
    await terminal.wait(for: "▌ZW", on: &screen)
    #expect(screen.text.contains("> zimb"))
    #expect(screen.text.contains("Harare"))
    terminal.type("\r")
    try await terminal.read(until: Self.leave, "done")
    #expect(await child.ending() == .exit(0))
    #expect(try text("shown").contains(#""code":"ZW""#))
    #expect(try !text("shown").contains("\u{1B}"))
    #expect(terminal.modes == modes)
  }

  @Test(arguments: ["\u{1B}", "\u{3}", "\u{7}"])
  func `Escape, Ctrl-C and Ctrl-G leave without an answer`(key: String) async throws {
    let modes = terminal.modes
    let child = try start(#""$0" countries show --offline > shown; echo "code $?""#)
    try await terminal.read(until: Self.enter, "Afghanistan")
    terminal.type(key)
    try await terminal.read(until: Self.leave, "code 130")
    #expect(await child.ending() == .exit(0))
    #expect(try text("shown") == "")
    #expect(terminal.modes == modes)
  }

  @Test func `Tab marks several, which are shown in that order`() async throws {
    let child = try start(#""$0" countries show --offline --fields code --tsv > shown; echo done"#)
    var screen = EmulatedScreen()
    await terminal.wait(for: "Afghanistan", on: &screen)
    terminal.type("zimb")
    await terminal.wait(for: "▌ZW", on: &screen)
    terminal.type("\t\u{15}")
    await terminal.wait(for: "(1 marked)", on: &screen)
    terminal.type("franc")
    await terminal.wait(for: "Paris", on: &screen)
    terminal.type("\t")
    await terminal.wait(for: "(2 marked)", on: &screen)
    terminal.type("\r")
    try await terminal.read(until: Self.leave, "done")
    #expect(await child.ending() == .exit(0))
    #expect(try text("shown") == "ZW\nFR\n")
  }

  @Test func `on the screen itself the record follows the picker`() async throws {
    let run = try Binary.start(
      "countries show --offline", environment: ["TERM": "xterm", "LC_ALL": "C.UTF-8"],
      terminal: terminal.descriptor, in: home.sandbox, output: .descriptor(terminal.descriptor),
      isMerged: true)
    try await terminal.read(until: Self.enter, "Afghanistan")
    terminal.type("\r")
    try await terminal.read(until: Self.leave, "Kabul")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `delete asks as before`() async throws {
    let child = try start(
      #""$0" countries delete; echo "code $?"; "$0" countries list --deleted --tsv > deleted"#)
    try await terminal.read(until: Self.enter, "Afghanistan")
    terminal.type("\r")
    try await terminal.read(until: Self.leave, "Delete Afghanistan (AF)? [y/N] ")
    terminal.type("y\n")
    try await terminal.read(until: "Deleted 1 country", "code 0")
    #expect(await child.ending() == .exit(0))
    #expect(try text("deleted").hasPrefix("AF\tAfghanistan"))
  }

  @Test func `delete names the records that were marked`() async throws {
    let child = try start(#""$0" countries delete; echo "code $?""#)
    try await terminal.read(until: Self.enter, "Afghanistan")
    terminal.type("\t\t\r")
    try await terminal.read(until: Self.leave, "Delete 2 countries (AF, AL)? [y/N] ")
    terminal.type("n\n")
    try await terminal.read(until: "Nothing deleted", "code 0")
    #expect(await child.ending() == .exit(0))
  }

  @Test func `restore picks a deleted record`() async throws {
    let child = try start(
      #""$0" countries delete FR ZW --yes; "$0" countries restore; echo "code $?"; "$0" countries list --deleted --tsv > deleted; "$0" countries restore --all; "$0" countries restore; echo "code $?""#
    )
    var screen = EmulatedScreen()
    await terminal.wait(for: "deleted countries 1/2", on: &screen)
    #expect(screen.text.contains("France") && !screen.text.contains("Afghanistan"))
    terminal.type("zimb")
    await terminal.wait(for: "▌ZW", on: &screen)
    terminal.type("\r")
    try await terminal.read(
      until: Self.leave, "Restored 1 country", "code 0", "Restored 1 country",
      "No deleted countries", "code 0")
    #expect(await child.ending() == .exit(0))
    #expect(try text("deleted").hasPrefix("FR\t"))
  }

  @Test func `pick prints several IDs, of the records that meet a condition`() async throws {
    let child = try start(
      #""$0" countries pick -m --where region=AF --offline > ids; echo done"#)
    var screen = EmulatedScreen()
    await terminal.wait(for: "Algeria", on: &screen)
    #expect(screen.text.contains("where region=AF") && !screen.text.contains("Afghanistan"))
    // Only Africa has one that matches.
    terminal.type("zimb")
    await terminal.wait(for: "▌ZW", on: &screen)
    terminal.type("\t\u{15}")
    await terminal.wait(for: "(1 marked)", on: &screen)
    terminal.type("qqqq")
    await terminal.wait(for: "No countries match.", on: &screen)
    terminal.type("\u{15}alger")
    await terminal.wait(for: "▌DZ", on: &screen)
    terminal.type("\t\r")
    try await terminal.read(until: Self.leave, "done")
    #expect(await child.ending() == .exit(0))
    #expect(try text("ids") == "ZW\nDZ\n")
  }

  @Test func `open and pick take one record`() async throws {
    let child = try start(
      #""$0" heroes open --print-url --offline > url; "$0" heroes pick spider-man --offline > id; echo done"#
    )
    var screen = EmulatedScreen()
    await terminal.wait(for: "Enter picks · Esc leaves", on: &screen)
    terminal.type("spidrm")
    await terminal.wait(for: "Spider-Man", on: &screen)
    terminal.type("\r")
    // Its matched letters are marked one by one.
    try await terminal.read(until: Self.leave, Self.enter, "Enter picks")
    terminal.type("\r")
    try await terminal.read(until: Self.leave, "done")
    #expect(await child.ending() == .exit(0))
    #expect(try text("url").hasPrefix("https://comicvine.gamespot.com/"))
    #expect(try text("id") == "1443\n")
  }

  @Test func `a name of several records is the query of the picker`() async throws {
    let child = try start(
      #""$0" heroes show spider --offline --fields id --tsv > shown; echo "code $?"; "$0" heroes show spider-man --offline --fields name --tsv; "$0" heroes show spider --offline 2> errors; cat errors; "$0" heroes show spider --offline < /dev/null; echo done"#
    )
    var screen = EmulatedScreen()
    await terminal.wait(for: "> spider ", on: &screen)
    await terminal.wait(for: "Spider-Girl", on: &screen)
    terminal.type("-wo")
    await terminal.wait(for: "▌  1453", on: &screen)
    terminal.type("\r")
    try await terminal.read(
      until: Self.leave, "code 0", "Spider-Man", #"ambiguous hero "spider""#,
      #"ambiguous hero "spider""#, "done")
    #expect(await child.ending() == .exit(0))
    #expect(try text("shown") == "1453\n")
  }

  @Test(arguments: ["open spider --print-url", "delete spider", "image spider"])
  func `other verbs open it with the name, too`(line: String) async throws {
    let child = try start(
      #""$0" heroes \#(line); echo "code $?""#, ["COMIC_VINE_URL": "http://127.0.0.1:9"])
    var screen = EmulatedScreen()
    await terminal.wait(for: "> spider ", on: &screen)
    await terminal.wait(for: "Spider-Girl", on: &screen)
    guard line.contains("delete") else {
      terminal.type("\u{1B}")
      try await terminal.read(until: Self.leave, "code 130")
      #expect(await child.ending() == .exit(0))
      return
    }
    terminal.type("-wo")
    await terminal.wait(for: "▌  1453", on: &screen)
    terminal.type("\r")
    try await terminal.read(until: Self.leave, "Delete Spider-Woman (1453)? [y/N] ")
    terminal.type("n\n")
    try await terminal.read(until: "Nothing deleted", "code 0")
    #expect(await child.ending() == .exit(0))
  }

  @Test func `records that a query matches have an origin, too`() async throws {
    let child = try start(#""$0" countries pick zimb --offline > id; echo done"#)
    var screen = EmulatedScreen()
    await terminal.wait(for: "Offline · bundled sample data", on: &screen)
    await terminal.wait(for: "Showing bundled sample data", on: &screen)
    await terminal.wait(for: "▌ZW", on: &screen)
    terminal.type("\r")
    try await terminal.read(until: Self.leave, "done")
    #expect(await child.ending() == .exit(0))
    #expect(try text("id") == "ZW\n")
  }

  @Test func `a service that does not answer holds up nothing`() async throws {
    let server = try LoopbackServer { _ in .stalled(after: Data("[".utf8), of: 100) }
    defer { server.stop() }
    let child = try start(
      #""$0" countries pick > id; echo done"#,
      ["COUNTRIES_URL": "\(server.baseURL)/countries.json"])
    _ = await server.requests(atLeast: 1)
    var screen = EmulatedScreen()
    await terminal.wait(for: "Fetching…", on: &screen)
    terminal.type("harare")
    await terminal.wait(for: "▌ZW", on: &screen)
    terminal.type("\r")
    try await terminal.read(until: Self.leave, "done")
    #expect(await child.ending() == .exit(0))
    #expect(try text("id") == "ZW\n")
  }

  @Test func `what the service sends can be picked`() async throws {
    let server = try LoopbackServer { _ in
      .json(
        #"[{"name":"Atlantis","region":"OC","code":"XA","capital":"Poseidonis"}]"#)
    }
    defer { server.stop() }
    let child = try start(
      #""$0" countries pick > id; echo done"#,
      ["COUNTRIES_URL": "\(server.baseURL)/countries.json"])
    var screen = EmulatedScreen()
    terminal.type("atlan")
    await terminal.wait(for: "Poseidonis", on: &screen)
    terminal.type("\r")
    try await terminal.read(until: Self.leave, "done")
    #expect(await child.ending() == .exit(0))
    #expect(try text("id") == "XA\n")
  }

  @Test func `100 000 records are matched beside the keys`() async throws {
    let store = try await PopulatedHome(
      Dictionary(
        uniqueKeysWithValues: (0..<100_000).map { ("p\($0)", "Product number \($0)") }))
    let child = try Child(
      [
        "/usr/bin/setsid", "-c", "-w", "/bin/sh", "-c",
        #""$0" products pick --offline > id; echo done"#, try Binary.path,
      ],
      environment: [
        "HOME": store.household.sandbox.home.path, "PATH": "/usr/bin:/bin", "TERM": "xterm",
        "LC_ALL": "C.UTF-8",
      ], directory: store.household.sandbox.work.path,
      descriptors: [terminal.descriptor, terminal.descriptor, terminal.descriptor])
    var screen = EmulatedScreen()
    await terminal.wait(for: "Enter picks", on: &screen)
    // Typed at once; each key cancels the search for those before.
    terminal.type("prod num 99999")
    await terminal.wait(for: "> prod num 99999", on: &screen)
    await terminal.wait(for: "Product number 99999", on: &screen)
    terminal.type("\r")
    try await terminal.read(until: Self.leave, "done")
    #expect(await child.ending() == .exit(0))
    #expect(try store.household.sandbox.text(of: "work/id") == "p99999\n")
  }

  // MARK: - Without a terminal

  @Test(arguments: ["show", "open", "delete", "image", "restore"])
  func `without a terminal the error names standard input`(verb: String) async throws {
    let outcome = try await Binary.run("heroes \(verb)")
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors.contains("error: missing argument: ID"), "\(outcome)")
    #expect(outcome.errors.contains("aggregator heroes \(verb) -\n"), "\(outcome)")
  }

  @Test(arguments: [
    "countries show --no-input", "TERM=dumb countries show", "TERM=dumb countries pick",
    "countries pick --no-input", "countries pick --where nope=1", "countries show --fields nope",
    "countries show --json --csv",
  ])
  func `what cannot be picked or shown is refused before anything is drawn`(
    line: String
  ) async throws {
    let dumb = "TERM=dumb "
    let isDumb = line.hasPrefix(dumb)
    let run = try Binary.start(
      isDumb ? String(line.dropFirst(dumb.count)) : line,
      environment: ["TERM": isDumb ? "dumb" : "xterm", "LC_ALL": "C.UTF-8"],
      terminal: terminal.descriptor, in: home.sandbox, output: .descriptor(terminal.descriptor),
      isMerged: true)
    let shown = try await terminal.read(until: "error:", "\n")
    #expect(!shown.contains(Self.enter))
    #expect(try await run.outcome().status == 64)
  }

  @Test func `in the background nobody is asked`() async throws {
    let child = try start(#"set -m; "$0" countries show > shown 2> errors & wait; echo done"#)
    try await terminal.read(until: "done")
    #expect(await child.ending() == .exit(0))
    #expect(try text("errors").contains("missing argument: ID"))
  }
}
