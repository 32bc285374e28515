import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Answers from the store: while it is fresh, when the service is down, and with `--offline`.
@Suite struct OfflineStoreTests {
  private let services: FourServices
  private let home: TestHome

  init() throws {
    services = try FourServices()
    home = try TestHome(services.settings)
  }

  /// The members that all envelopes have.
  private struct Answer: Decodable {
    let provenance: Envelope.Provenance?
    let warnings: [Envelope.Warning]
  }

  private func answer(_ outcome: Outcome) throws -> Answer {
    try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
  }

  private func date(_ text: String?) -> Date? {
    text.flatMap { try? Date($0, strategy: .iso8601) }
  }

  @Test(arguments: FourServices.sources.indices)
  func `repeats a listing from the store, with its age and the reason`(index: Int)
    async throws
  {
    let (source, id) = FourServices.sources[index]
    let isLocalFirst = source == "users"
    let live = try await home.run("\(source) list --json")
    #expect(try answer(live).provenance?.origin == "live")
    let ids = try await home.column(id, "\(source) list")
    #expect(ids.count == 20)
    try home.file.age(byDays: 30)
    services.stop()

    let again = try await home.run("\(source) list --json")
    #expect(again.status == 0)
    let stored = try answer(again)
    #expect(stored.provenance?.origin == "cached")
    #expect(stored.provenance?.reason == (isLocalFirst ? nil : "unreachable"))
    let fetched = try #require(date(try answer(live).provenance?.fetchedAt))
    let saved = try #require(date(stored.provenance?.fetchedAt))
    // It is as old as the oldest of it, which may have come some requests earlier or later.
    #expect(-3600..<3600 ~= fetched.timeIntervalSince(saved) - 30 * 86_400)
    #expect(stored.warnings.map(\.code) == (isLocalFirst ? [] : ["cached"]))
    #expect(
      again.errors.contains(
        isLocalFirst
          ? "note: cached, fetched 30 days ago\n"
          : "warning: \(source): cached, fetched 30 days ago (cannot connect to "),
      "\(again)")
    #expect(try await home.column(id, "\(source) list") == ids)
    #expect(try await home.run("\(source) list --no-fallback").status == (isLocalFirst ? 0 : 69))

    let offline = try await home.run("\(source) list --offline --json")
    #expect(try answer(offline).provenance?.origin == "cached")
    #expect(try answer(offline).provenance?.reason == (isLocalFirst ? nil : "offline"))
    // Requested offline mode needs no warning.
    #expect(try answer(offline).warnings.isEmpty)
    #expect(offline.errors.contains("note: cached, fetched 30 days ago\n"), "\(offline)")
  }

  @Test func `all cached records are as old as the oldest page, whatever was fetched since`()
    async throws
  {
    #expect(try await home.run("heroes list -L 5").status == 0)
    try home.file.age(byDays: 30)
    #expect(try await home.run("heroes search spider -L 2").status == 0)
    let doctor = try await home.run("doctor --offline --json")
    #expect(doctor.output.contains("heroes are cached; oldest fetched 30 days ago"), "\(doctor)")
    let rows = try await Binary.run(
      ["sql", "SELECT count(*) AS n FROM heroes; SELECT max(id) AS id FROM heroes"],
      environment: home.environment.merging(NextTests.terminal) { $1 }, in: home.sandbox)
    // Once, not after each statement.
    let age = "note: heroes: cached, fetched 30 days ago"
    #expect(rows.errors.ranges(of: age).count == 1, "\(rows)")
  }

  @Test(arguments: FourServices.sources.indices)
  func `searches cached records for a new query`(index: Int) async throws {
    let (source, id) = FourServices.sources[index]
    _ = try await home.run("\(source) list")
    let title = source == "products" ? "title" : source == "users" ? "lastName" : "name"
    let rows = try await home.run("\(source) list --fields \(id),\(title) --tsv").lines
    let row = try #require(rows.map { $0.split(separator: "\t") }.first { $0.count == 2 })
    let (wanted, name) = (String(row[0]), String(row[1]))
    services.stop()
    for line in source == "users" ? ["--offline"] : ["--refresh", "--offline"] {
      let found = try await Binary.run(
        [source, "search", name, "--json", line], environment: home.environment, in: home.sandbox)
      // Of these, the first page was cached.
      #expect(found.status == (["heroes", "products"].contains(source) ? 3 : 0), "\(found)")
      #expect(try answer(found).provenance?.origin == "cached", "\(found)")
      #expect(found.output.contains(#""\#(id)":"#) && found.output.contains(wanted))
    }
  }

  @Test(arguments: ["countries", "heroes", "products"])
  func `does not request fresh data again without --refresh`(source: String) async throws {
    let first = try await home.run("\(source) list --limit 5")
    let count = services.requestCount(of: source)
    #expect(count == 1)
    // Immediately: fresh data would be stale after a wait in the queue of programs.
    let again = try await home.start("\(source) list --limit 5").outcome()
    #expect(again.output == first.output)
    #expect(again.errors.contains("note: cached, fetched "), "\(again)")
    #expect(services.requestCount(of: source) == count)
    let refreshed = try await home.run("\(source) list --limit 5 --refresh")
    #expect(refreshed.output == first.output)
    #expect(!refreshed.errors.contains("cached"))
    #expect(services.requestCount(of: source) == count + 1)
    try home.file.age(byDays: 30)
    #expect(try await home.run("\(source) list --limit 5").output == first.output)
    #expect(services.requestCount(of: source) == count + 2)
  }

  @Test func `falls back to the bundle if the store is empty`() async throws {
    services.stop()
    for (source, _) in FourServices.sources {
      let outcome = try await home.run("\(source) list --json")
      #expect(outcome.status == 0, "\(source): \(outcome)")
      let provenance = try answer(outcome).provenance
      #expect(provenance?.origin == "bundled", "\(source): \(outcome)")
      #expect(provenance?.reason == "unreachable", "\(source): \(outcome)")
    }
  }

  @Test func `another base URL does not use the cached pages`() async throws {
    func countries(_ code: String) throws -> LoopbackServer {
      let row = #"[{"code":"\#(code)","name":"Land \#(code)","region":"EU","capital":"C"}]"#
      return try LoopbackServer { _ in .json(row) }
    }
    let (one, two) = (try countries("AA"), try countries("BB"))
    for (server, code) in [(one, "AA"), (two, "BB"), (one, "AA"), (two, "BB")] {
      let listed = try await home.run(
        "countries list --fields code --tsv", ["COUNTRIES_URL": "\(server.baseURL)/c.json"])
      #expect(listed.lines == [code])
    }
    #expect((one.requests.count, two.requests.count) == (1, 1))

    let other = try FakeProducts([FakeProduct(100, "Newcomer")])
    let titles = try await home.column("title", "products list --limit 1")
    let changed = try await home.run(
      "products list --fields title --tsv", ["PRODUCTS_URL": other.url.absoluteString])
    #expect(changed.lines == ["Newcomer"])
    #expect(try await home.column("title", "products list --limit 1") == titles)
    #expect(other.requests.count == 2)
  }

  /// The commands that take `--offline`, and some that never use the network.
  private static let lines =
    FourServices.sources.flatMap { source, _ in
      ["list --all --json", "next", "search a", "show x"].map { "\(source) \($0) --offline" }
    } + [
      "countries deal --offline", "users load 5 --offline",
      "heroes open 1443 --print-url --offline",
      "countries delete AF --yes", "countries restore --all", "store status",
      "store clear users --yes",
      "sources show heroes", "config list",
    ]

  @Test func `--offline opens no connection in any verb`() async throws {
    let watch = Strace.isThere ? Strace.command(home.sandbox) : []
    if Strace.isThere {
      #expect(try await home.run("countries list", by: watch).status == 0)
      #expect(try !Strace.sockets(home.sandbox).isEmpty)
    }
    let count = services.requestCount()
    for line in Self.lines {
      #expect(try await home.run(line, by: watch).status != 70, "\(line)")
      if Strace.isThere { #expect(try Strace.sockets(home.sandbox) == [], "\(line)") }
    }
    #expect(services.requestCount() == count)
  }
}

/// Watches the calls to the system that have to do with the network, where the program for that is there.
private enum Strace {
  private static let path = "/usr/bin/strace"

  /// `true` if it is installed and permitted to trace.
  static var isThere: Bool { FileManager.default.isExecutableFile(atPath: path) }

  static func command(_ sandbox: Sandbox) -> [String] {
    [
      path, "-f", "-q", "--seccomp-bpf", "-e", "trace=%network", "-e", "signal=none", "-o",
      trace(sandbox).path,
    ]
  }

  /// The sockets that the last run made.
  static func sockets(_ sandbox: Sandbox) throws -> [String] {
    try String(contentsOf: trace(sandbox), encoding: .utf8).split(separator: "\n").map(String.init)
      // The names of users and groups may be looked up by a daemon here.
      .filter { $0.contains("socket(") && !$0.contains("AF_UNIX") }
  }

  private static func trace(_ sandbox: Sandbox) -> URL { sandbox.root.appending(path: "trace") }
}
