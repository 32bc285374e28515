import AggregatorFakeServices
import AggregatorPostgresServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `store copy`, with the built program.
@Suite struct StoreCopyCommandTests {
  private let services: FourServices
  private let home: TestHome

  init() async throws {
    services = try FourServices()
    home = try TestHome(services.settings)
    #expect(try await home.run("heroes sync").status == 0)
    #expect(try await home.run("countries list").status == 0)
    #expect(try await home.run("heroes delete 1253 --yes").status == 0)
  }

  private var copy: StoredFile {
    StoredFile(path: home.sandbox.root.appending(path: "work/copy.sqlite").path)
  }

  @Test func `copies a file, and says how to use it`() async throws {
    let outcome = try await home.run(
      "store copy \(home.file.path) copy.sqlite --fields table,rows,equal")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.lines.contains("records\t506\ttrue"), "\(outcome)")
    #expect(outcome.lines.count == 10 && outcome.lines.allSatisfy { $0.hasSuffix("\ttrue") })
    #expect(
      outcome.errors.hasSuffix(
        "\nTo use it: aggregator config set AGGREGATOR_STORE \(copy.path)\n"), "\(outcome)")
    #expect(try copy.faults() == [])
    #expect(try copy.records() == home.file.records())
    // The same command again finds nothing to do.
    let repeated = try await home.run(
      "store copy \(home.file.path) copy.sqlite --fields table,rows,equal")
    #expect(repeated.status == 0, "\(repeated)")
    #expect(repeated.output == outcome.output)
    let variables: [String: String?] = ["AGGREGATOR_STORE": copy.path]
    for line in [
      "heroes list --deleted --offline", "heroes search spider --offline", "store status --tsv",
      "sql SELECT",
    ] {
      let (found, expected) = (try await home.run(line, variables), try await home.run(line))
      #expect(found.output == expected.output, "\(line)")
      #expect(found.status == expected.status, "\(line)")
    }
    // The sync that the original has completed is known.
    let sync = try await home.run("heroes sync", variables)
    #expect(sync.lines == ["heroes\t0\t0\t257\t0\t3\ttrue"], "\(sync)")

    let again = try await home.run("store copy \(home.file.path) copy.sqlite")
    #expect(again.status == 64)
    #expect(
      again.errors == """
        error: the store at \(copy.path) is not empty
        hint: name a new file or an empty database

        """)
  }

  @Test(arguments: [
    ("", "missing argument: FROM"), ("a.sqlite", "missing argument: TO"),
    ("a.sqlite b.sqlite c.sqlite", "unexpected argument \"c.sqlite\""),
    ("a.sqlite ./a.sqlite", "FROM and TO are the same store"),
    ("a.sqlite work/../a.sqlite", "FROM and TO are the same store"),
    ("a.sqlite b.sqlite --store /tmp/c.sqlite", "--store cannot be used with store copy"),
    ("mysql://me:M4rk3d@host/db b.sqlite", "invalid value for FROM: "),
    ("a.sqlite ~/b.sqlite", "invalid value \"~/b.sqlite\" for TO: "),
    ("a.sqlite b.sqlite", "there is no store at "),
  ])
  func `refuses bad arguments`(arguments: String, words: String) async throws {
    let outcome = try await home.run("store copy \(arguments)")
    #expect(outcome.status == 64, "\(outcome)")
    #expect(outcome.errors.hasPrefix("error: \(words)"), "\(outcome)")
    #expect(!outcome.errors.contains("M4rk3d"))
    #expect(try home.sandbox.files(under: "work").isEmpty)
  }

  @Test func `a file of another program stays`() async throws {
    let file = try home.sandbox.write("songs of another program", to: "work/songs.db")
    for line in ["\(home.file.path) songs.db", "songs.db copy.sqlite"] {
      let outcome = try await home.run("store copy \(line)")
      #expect(outcome.status == 74, "\(outcome)")
      #expect(
        outcome.errors.hasPrefix("error: \(file.path) is not a database\nhint: "), "\(outcome)")
    }
    #expect(try home.sandbox.text(of: "work/songs.db") == "songs of another program")
  }

  /// `AGGREGATOR_SOAK=1 Scripts/test --filter StoreCopyCommandTests` does 100 rounds.
  @Test func `killed at any moment, it continues`() async throws {
    let line = "store copy \(home.file.path) copy.sqlite"
    for round in Soak.rounds(6) {
      let run = try home.start(line)
      for _ in 0..<Int.random(in: 0..<20000) { sched_yield() }
      run.child.send(SIGKILL)
      _ = try await run.outcome()
      // It may have been killed after the end, or before the first transaction.
      let rest = try await home.run(line)
      #expect(rest.status == 0, "round \(round): \(rest)")
      #expect(try copy.records() == home.file.records(), "round \(round)")
      #expect(try copy.faults() == [], "round \(round)")
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: copy.path + suffix)
      }
    }
  }

  @Test func `an unfinished copy says how to finish it`() async throws {
    #expect(try await home.run("store copy \(home.file.path) copy.sqlite").status == 0)
    try copy.mark(unfinished: "/srv/it's.sqlite")
    let status = try await home.run("store status", ["AGGREGATOR_STORE": copy.path])
    #expect(status.status == 0)
    #expect(
      status.errors.contains(
        """
        warning: this store is an unfinished copy of /srv/it's.sqlite
        hint: aggregator store copy '/srv/it'\\''s.sqlite' \(copy.path)
        """), "\(status)")
    let other = try await home.run("store copy \(home.file.path) copy.sqlite")
    #expect(other.status == 64)
    #expect(
      other.errors.hasPrefix("error: the store at \(copy.path) is an unfinished copy of /srv/"))
  }

  @Test(.requiresPostgres) func `moves to PostgreSQL and back`() async throws {
    try await withDatabase(.init(password: "M4rk3d")) { database in
      let variables: [String: String?] = ["AGGREGATOR_STORE_PASSWORD": "M4rk3d"]
      let there = try await home.run("store copy \(home.file.path) \(database.uri)", variables)
      #expect(there.status == 0, "\(there)")
      #expect(
        there.errors.hasSuffix(
          "\nTo use it: aggregator config set AGGREGATOR_STORE \(database.uri)\n"))
      let back = try await home.run(
        "store copy \(database.uri(password: "M4rk3d")) copy.sqlite", variables)
      #expect(back.status == 0, "\(back)")
      #expect(back.output == there.output)
      #expect(
        back.errors.hasPrefix(
          "warning: FROM has a password, which other users can see in the process list\n"))
      #expect(!(there.errors + back.errors + back.output).contains("M4rk3d"))
      #expect(try copy.records() == home.file.records())
      #expect(try copy.faults() == [])
    }
  }

  @Test func `completes paths`() async throws {
    for line in ["store copy ", "store copy a.sqlite "] {
      let outcome = try await Binary.run(
        ["__complete", "zsh", "--line", "aggregator \(line)"], in: home.sandbox)
      let option = try await Binary.run(
        ["__complete", "zsh", "--line", "aggregator store --store "], in: home.sandbox)
      #expect(outcome.output == option.output && !outcome.output.isEmpty, "\(outcome)")
    }
    let full = try await Binary.run(
      ["__complete", "zsh", "--line", "aggregator store copy a b "], in: home.sandbox)
    #expect(!full.output.contains("sqlite"), "\(full)")
  }
}
