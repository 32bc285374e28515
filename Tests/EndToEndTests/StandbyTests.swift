import AggregatorFakeServices
import AggregatorKit
import AggregatorPostgresServer
import AggregatorServer
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The program with `AGGREGATOR_STORE_READS`: proxies count what the primary and the standby send.
@Suite(.requiresPostgres, .timeLimit(.minutes(10))) struct StandbyTests {
  private struct Stage {
    let database: PostgresDatabase
    let standby: PostgresServer
    let toPrimary: PostgresProxy
    let toStandby: PostgresProxy
    /// The home of a machine that reads at the standby.
    let home: TestHome
    /// That of another machine, which writes.
    let other: TestHome

    /// The bytes that the servers sent while `body` ran.
    func sent(
      _ body: () async throws -> Void
    ) async throws -> (primary: Int, standby: Int) {
      toPrimary.inject(nil)
      toStandby.inject(nil)
      try await body()
      return (toPrimary.bytes(from: .server), toStandby.bytes(from: .server))
    }

    func catchUp() async throws { try await standby.catchUp(with: database.server) }
  }

  /// More than what a program asks a server that it does not read records from.
  private static let records = 20_000

  private func withStage(_ body: (Stage) async throws -> Void) async throws {
    let server = try await PostgresServer()
    try await withDatabase(on: server) { database in
      let standby = try await server.standby()
      let services = try FourServices()
      let settings = services.settings.merging([
        "AGGREGATOR_STORE": database.uri, "COMIC_VINE_RATE": "off",
      ]) { $1 }
      let (toPrimary, toStandby) = (
        try PostgresProxy(before: server), try PostgresProxy(before: standby)
      )
      let home = try TestHome(
        settings.merging([
          "AGGREGATOR_STORE": database.uri(port: toPrimary.port),
          "AGGREGATOR_STORE_READS": database.at(standby).uri(port: toStandby.port),
        ]) { $1 })
      let stage = Stage(
        database: database, standby: standby, toPrimary: toPrimary, toStandby: toStandby,
        home: home, other: try TestHome(settings))
      #expect(try await stage.other.run("heroes sync").status == 0)
      try await stage.catchUp()
      try await body(stage)
    }
  }

  @Test func `lists, searches and records are read at the standby, and next is not`() async throws {
    try await withStage { stage in
      for line in [
        "heroes list --all --offline --json", "heroes search a --all --offline --json",
        "heroes list --all --offline --where id>0 --json",
      ] {
        let sent = try await stage.sent {
          let outcome = try await stage.home.run(line)
          #expect(outcome.status == 0, "\(outcome)")
        }
        #expect(sent.standby > Self.records && sent.primary < Self.records, "\(line): \(sent)")
      }
      #expect(try await stage.home.run("heroes show 1443 --offline").status == 0)
      let listed = try await stage.home.run("heroes list --limit 100 --offline --explain")
      #expect(
        listed.errors.contains("explain: cached data: reads at postgresql://"), "\(listed.errors)")
      let sent = try await stage.sent {
        let outcome = try await stage.home.run("heroes next --limit 100 --json")
        #expect(outcome.status == 0, "\(outcome)")
      }
      #expect(sent.standby == 0 && sent.primary > Self.records, "\(sent)")
    }
  }

  @Test func `a sync is whole while the standby stands still`() async throws {
    try await withStage { stage in
      try await stage.standby.run("SELECT pg_wal_replay_pause()")
      #expect(try await stage.other.run("store clear heroes --yes").status == 0)
      let sync = try await stage.home.run(
        "heroes sync --full --fields added,changed,unchanged --tsv")
      #expect(sync.lines == ["257\t0\t0"], "\(sync)")
      let again = try await stage.home.run(
        "heroes sync --full --fields added,changed,unchanged --tsv")
      #expect(again.lines == ["0\t0\t257"], "\(again)")
      #expect(try await stage.home.run("heroes delete 1443 --yes").status == 0)
      #expect(try await stage.home.run("heroes delete 1443 --yes").errors.contains("already"))
    }
  }

  @Test func `the primary answers for a standby that is stopped`() async throws {
    try await withStage { stage in
      try await stage.standby.stop()
      let outcome = try await stage.home.run("heroes list --all --offline --tsv")
      #expect(outcome.status == 0 && outcome.lines.count == 257, "\(outcome)")
      #expect(!outcome.errors.contains("cannot read at the standby"), "\(outcome.errors)")
      let verbose = try await stage.home.run("heroes list --all --offline --tsv --verbose")
      let lines = verbose.errors.split(separator: "\n").filter {
        $0.contains("cannot read at the standby")
      }
      #expect(lines.count == 1, "\(verbose.errors)")
      let status = try await stage.home.run("store status")
      #expect(
        status.errors.contains("cannot read at the standby postgresql://"), "\(status.errors)")
      #expect(try await stage.home.run("doctor --offline").status == 3)
      try await stage.standby.start()
      try await stage.catchUp()
      #expect(try await stage.home.run("store status").errors.contains("\nreads at postgresql://"))
      let doctor = try await stage.home.run("doctor --offline")
      #expect(doctor.status == 0 && doctor.output.contains("reads at postgresql://"), "\(doctor)")
    }
  }

  @Test func `other servers are refused`() async throws {
    try await withStage { stage in
      let primary = ["AGGREGATOR_STORE_READS": stage.database.uri as String?]
      for line in ["heroes list --offline", "doctor --offline"] {
        let outcome = try await stage.home.run(line, primary)
        #expect(outcome.status == 78, "\(outcome)")
        #expect(
          (outcome.errors + outcome.output).contains("it is a primary, not a standby"), "\(outcome)"
        )
      }
      // It is not the standby of another store.
      let file = stage.home.sandbox.work.appending(path: "data.db").path
      #expect(
        try await stage.home.run("countries list --offline --store \(file)", primary).status == 0)
      let invalid = try await stage.home.run(
        "heroes list --offline", ["AGGREGATOR_STORE_READS": "/srv/x"])
      #expect(invalid.status == 78, "\(invalid)")
      #expect(invalid.errors.contains("AGGREGATOR_STORE_READS"), "\(invalid)")
      // The default store, and that of the settings, is a file.
      for store in [nil, file] as [String?] {
        let outcome = try await stage.other.run(
          "countries list --offline",
          ["AGGREGATOR_STORE": store, "AGGREGATOR_STORE_READS": "postgresql://b/db"])
        #expect(outcome.status == 78, "\(outcome)")
        #expect(
          outcome.errors
            == "error: environment: AGGREGATOR_STORE_READS names standbys, but the store is a file\n"
            + "hint: set AGGREGATOR_STORE to the URL of their database, or unset AGGREGATOR_STORE_READS\n"
        )
      }
      let list = "postgresql://me:s3cret@a/db,postgresql://b/db"
      let shown = try await stage.home.run(
        "config get AGGREGATOR_STORE_READS", ["AGGREGATOR_STORE_READS": list])
      #expect(shown.output == "postgresql://me@a/db,postgresql://b/db\n", "\(shown)")
      #expect(try await stage.other.run("config set AGGREGATOR_STORE_READS /srv/x").status == 64)
      #expect(
        try await stage.other.run("config set AGGREGATOR_STORE_READS postgresql://b/db").status == 0
      )
    }
  }

  @Test(.enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
  func `serve reads at the standby, shows what it deletes, and goes on without it`() async throws {
    try await withStage { stage in
      let server = try await ServingProgram(
        "--source heroes", environment: stage.home.environment, in: stage.home.sandbox)
      let path = "/api/v1/heroes?limit=100&cache=offline"
      let sent = try await stage.sent {
        let reply = try await server.get(path)
        #expect(reply.status == 200)
        #expect(try reply.json()["items"]?.array?.count == 100)
      }
      #expect(sent.standby > Self.records && sent.primary < Self.records, "\(sent)")
      try await stage.standby.run("SELECT pg_wal_replay_pause()")
      #expect(try await server.send("DELETE", "/api/v1/heroes/1443").status == 204)
      #expect(try await server.get("/api/v1/heroes/1443?cache=offline").status == 404)
      try await stage.standby.kill()
      let reply = try await server.get(path)
      #expect(reply.status == 200)
      #expect(try reply.json()["items"]?.array?.count == 100)
      try await server.stop()
    }
  }
}
