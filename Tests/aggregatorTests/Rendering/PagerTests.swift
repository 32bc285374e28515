import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Listings that are longer than the screen, on a terminal of 24 rows.
@Suite(.timeLimit(.minutes(10))) struct PagerTests {
  private let terminal: PseudoTerminal
  private let sandbox: Sandbox
  /// A pager that marks its lines.
  private let marker: String

  init() throws {
    terminal = try PseudoTerminal()
    terminal.widen(to: 80, rows: 24)
    sandbox = try Sandbox()
    marker = try Self.program("exec sed -u 's/^/> /'", named: "marker", in: sandbox)
  }

  private static func program(
    _ text: String, named name: String, in sandbox: Sandbox
  ) throws -> String {
    let file = try sandbox.write("#!/bin/sh\n\(text)\n", to: "bin/\(name)")
    try sandbox.makeExecutable(file)
    return file.path
  }

  /// Starts a command line with all three descriptors on the terminal.
  private func start(_ line: String, _ variables: [String: String?]) throws -> Binary.Run {
    try Binary.start(
      line, environment: ["TERM": "xterm"].merging(variables) { $1 },
      terminal: terminal.descriptor, in: sandbox, output: .descriptor(terminal.descriptor),
      isMerged: true)
  }

  /// Reads what is left once the program has ended.
  private func rest() async -> String {
    var bytes: [UInt8] = []
    while case let more = await terminal.shown(within: 100), !more.isEmpty { bytes += more }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: ["countries list --offline -L 30", "countries list --offline -L 30 --json"])
  func `a listing longer than the screen is paged, and notes follow`(line: String) async throws {
    let run = try start(line, ["PAGER": marker])
    let screen = try await terminal.read(until: "30 of 250 countries")
    #expect(try await run.outcome().status == 0)
    // On a busy machine there is progress before the first line.
    let lines = screen.replacing(/\r?[^\r\n]*\u{1B}\[K/, with: "").split(separator: "\r\n")
    let paged = lines.prefix { $0.hasPrefix("> ") }
    #expect(paged.count >= 24 && paged.contains { $0.contains("Afghanistan") }, "\(screen)")
    #expect(paged.contains { $0.contains("Bahamas") })
    #expect(lines.dropFirst(paged.count).first?.contains("30 of 250 countries") == true)
    // Pagers show cursor movements as text.
    #expect(!paged.contains { $0.contains(/\u{1B}\[[0-9]+G/) })
  }

  @Test func `every screen of the pager begins with the head of the table`() async throws {
    let run = try start("countries list --offline -L 60", ["PAGER": marker])
    let screen = try await terminal.read(until: "60 of 250 countries")
    #expect(try await run.outcome().status == 0)
    let lines = screen.replacing(/\u{1B}\[[0-9]+m/, with: "").split(separator: "\r\n")
      .filter { $0.hasPrefix("> ") }
    let heads = lines.indices.filter { lines[$0].hasPrefix("> Code  Name") }
    #expect(heads == [0, 23, 46] && lines.count == 63, "\(screen)")
  }

  @Test(arguments: [(24, 1), (23, 2), (22, 2)] as [(UInt16, Int)])
  func `a table that fits without its notes ends with the names of its columns`(
    rows: UInt16, heads: Int
  ) async throws {
    terminal.widen(to: 80, rows: rows)
    // The table has 21 lines, two of notes follow.
    let run = try start("countries list --offline", ["PAGER": marker, "NO_COLOR": "1"])
    var screen = try await terminal.read(until: "(offline mode)")
    #expect(try await run.outcome().status == 0)
    screen += await rest()
    let lines = screen.replacing(/\r?[^\r\n]*\u{1B}\[K/, with: "").split(separator: "\r\n")
    let places = lines.indices.filter { lines[$0].hasPrefix("Code  Name") }
    #expect(places == [0, 21].prefix(heads).map(\.self), "\(screen)")
    #expect(lines.last?.hasPrefix("warning:") == true && !screen.contains("> "), "\(screen)")
  }

  @Test(arguments: [("590", false), ("643", true)])
  func `less pins the head if it can`(version: String, pins: Bool) async throws {
    let text = """
      if [ "$1" = --version ]; then echo "less \(version) (GNU regular expressions)"; exit; fi
      echo "less $@"; exec cat
      """
    let less = try Self.program(text, named: "less", in: sandbox)
    let run = try start("countries list --offline -L 60", ["PAGER": less])
    let screen = try await terminal.read(until: "60 of 250 countries")
    #expect(try await run.outcome().status == 0)
    let lines = screen.split(separator: "\r\n")
    #expect(lines.first == (pins ? "less --header=1" : "less "), "\(screen)")
    #expect(lines.count { $0.hasPrefix("\u{1B}[1mCode") } == (pins ? 1 : 3), "\(screen)")
  }

  static let unpaged: [(String, [String: String?])] = [
    ("countries list --offline -L 30 --no-pager", [:]),
    ("countries list --offline -L 30", ["AGGREGATOR_PAGER": ""]),
    ("countries list --offline -L 30", ["AGGREGATOR_PAGER": "cat"]),
    ("countries list --offline -L 30", ["AGGREGATOR_PAGER": "no-such-pager -x"]),
    ("countries list --offline -L 30", ["TERM": "dumb"]),
    ("countries list --offline -L 5", [:]),
  ]

  @Test(arguments: unpaged.indices)
  func `other output is not paged`(index: Int) async throws {
    let (line, variables) = Self.unpaged[index]
    let run = try start(line, ["PAGER": marker].merging(variables) { $1 })
    let screen = try await terminal.read(until: " of 250 countries")
    #expect(try await run.outcome().status == 0)
    #expect(screen.contains("Afghanistan") && !screen.contains("> "), "\(screen)")
  }

  @Test func `the pager of the program precedes that of others, and may be a shell command`()
    async throws
  {
    let run = try start(
      "countries list --offline -L 30", ["AGGREGATOR_PAGER": "sed -u 's/^/<< /'", "PAGER": marker])
    let screen = try await terminal.read(until: "30 of 250 countries")
    #expect(try await run.outcome().status == 0)
    #expect(screen.hasPrefix("<< ") && !screen.contains("> "), "\(screen)")
  }

  @Test func `the first records show before the last arrive, without progress over them`()
    async throws
  {
    let service = try FakeComicVine()
    service.fail(with: .stalled, after: 1)
    let run = try start(
      "heroes list --all --timeout 10m", service.settings.merging(["PAGER": marker]) { $1 })
    var screen = try await terminal.read(until: "> ")
    // Longer than it takes progress to show.
    while case let more = await terminal.shown(within: 600), !more.isEmpty {
      screen += String(decoding: more, as: UTF8.self)
    }
    run.child.send(SIGINT)
    #expect(try await run.outcome().ending == .signal(SIGINT))
    screen += await rest()
    let start = try #require(screen.range(of: "> "))
    #expect(!screen[start.lowerBound...].contains("Fetching"), "\(screen)")
    #expect(!screen.contains("error:"))
  }

  @Test func `a reader who quits the pager ends the command and its requests`() async throws {
    let service = try FakeComicVine()
    service.fail(with: .stalled, after: 1)
    let quitter = try Self.program("exec head -n 2", named: "quitter", in: sandbox)
    let run = try start(
      "heroes list --all --timeout 10m", service.settings.merging(["PAGER": quitter]) { $1 })
    _ = try await terminal.read(until: "\n")
    #expect(try await run.outcome().ending == .exit(0))
    let left = await rest()
    #expect(!left.contains(/error|warning/))
    #expect(service.requests.count <= 3)
  }

  @Test func `a reader who quits the pager is told how old the records are`() async throws {
    let service = try FakeComicVine()
    let whole = try await Binary.run(
      "heroes list --all", environment: service.settings, in: sandbox)
    #expect(whole.status == 0, "\(whole)")
    let quitter = try Self.program("exec head -n 2", named: "quitter", in: sandbox)
    let run = try start(
      "heroes list --all --offline", service.settings.merging(["PAGER": quitter]) { $1 })
    try await terminal.read(until: "note: cached, fetched ")
    #expect(try await run.outcome().ending == .exit(0))
  }

  @Test func `an error in the middle follows the records`() async throws {
    let service = try FakeComicVine()
    service.fail(with: .status(500), after: 1)
    let run = try start(
      "heroes list --all --no-fallback",
      service.settings.merging(["PAGER": marker]) { $1 })
    let screen = try await terminal.read(until: "warning:")
    #expect(try await run.outcome().status == 3)
    let last = try #require(screen.range(of: "> ", options: .backwards))
    let warning = try #require(screen.range(of: "warning:"))
    #expect(last.upperBound < warning.lowerBound, "\(screen)")
  }

  @Test func `the session continues after the page that was shown`() async throws {
    let first = try start("countries list --offline -L 30", ["PAGER": marker])
    _ = try await terminal.read(until: "30 of 250 countries")
    #expect(try await first.outcome().status == 0)
    let second = try start("countries next --offline", ["PAGER": marker])
    let screen = try await terminal.read(until: " of 250 countries")
    #expect(try await second.outcome().status == 0)
    #expect(screen.contains("Brazil") && !screen.contains("Afghanistan"), "\(screen)")
  }

  @Test(arguments: ["countries", "heroes", "products"], [40, 80, 120, 200] as [UInt16])
  func `the first page looks right at every width`(source: String, width: UInt16) async throws {
    terminal.widen(to: width, rows: 60)
    let run = try start("\(source) search s --offline -L 6", ["PAGER": marker])
    // At the narrowest width the last line is broken.
    var screen = try await terminal.read(until: "sample")
    #expect(try await run.outcome().status == 0)
    screen += await rest()
    // On a busy machine it takes long enough for a line of progress, which is erased.
    screen = screen.replacing("\r\n", with: "\n").replacing(/\r[^\r\n]*?\u{1B}\[K/, with: "")
    let grid = TerminalGrid(screen)
    #expect(grid.refused.isEmpty && grid.width <= Int(width))
    try expectGolden("Screens/\(source)-\(width)", grid.lines.map { "\($0)\n" }.joined())
  }

  static let less = "/usr/bin/less"

  @Test(.enabled("\(less) is not installed") { FileManager.default.fileExists(atPath: less) })
  func `Ctrl-C in less stops the requests, and q leaves a sane terminal`() async throws {
    let service = try FakeComicVine()
    service.fail(with: .stalled, after: 1)
    let variables = ["HOME": sandbox.home.path, "PATH": "/usr/bin:/bin", "TERM": "xterm"]
    let child = try Child(
      [
        "/usr/bin/setsid", "-c", "-w", try Binary.path, "heroes", "list", "--all", "--timeout",
        "10m",
      ],
      environment: service.settings.merging(variables) { $1 }, directory: sandbox.work.path,
      descriptors: [terminal.descriptor, terminal.descriptor, terminal.descriptor])
    async let ending = child.ending()
    _ = try await terminal.read(until: "Publisher")
    _ = await service.requests(atLeast: 2)
    terminal.type("\u{3}")
    // Before that, `q` could be what ends the command.
    await service.idle()
    // less drops the keys that were typed before it has noticed the signal.
    let typing = terminal.keepTyping("q")
    #expect(await ending == .signal(SIGINT))
    await typing.end()
    #expect(terminal.showsTyping)
    let left = await rest()
    #expect(!left.contains("error"))
  }
}
