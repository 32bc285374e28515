import AggregatorPostgresServer
import Foundation
import Testing

/// The servers that other tests rely on.
@Suite struct PostgresServerTests {
  @Test(.requiresPostgres)
  func databasesAreSeparateAndTheirOwnersAreOrdinary() async throws {
    try await withDatabase { first in
      try await withDatabase { second in
        #expect(first.server === second.server)
        try await first.run(
          "CREATE TABLE words (word text)", "INSERT INTO words VALUES ('ä|b\n c')")
        #expect(try await first.texts("SELECT word FROM words") == ["ä|b\n c"])
        #expect(try await second.texts("SELECT to_regclass('words') IS NULL") == ["t"])
        let role = try await second.run(
          "SELECT rolsuper, rolcreatedb FROM pg_roles WHERE rolname = '\(second.name)'")
        #expect(role == [["f", "f"]])
      }
    }
  }

  @Test(.requiresPostgres)
  func databasesDifferInLettersAndExtensions() async throws {
    let query = "SELECT lower('Ä')"
    let lowered = try await withDatabase { try await $0.texts(query) }
    #expect(lowered == ["ä"])
    try await withDatabase(.init(characters: .ascii, allowsExtensions: false)) { database in
      let lowered = try await database.texts(query)
      #expect(lowered == ["Ä"])
      await #expect(throws: (any Error).self) {
        try await database.run("CREATE EXTENSION pg_trgm")
      }
    }
  }

  @Test(.requiresPostgres)
  func aServerKeepsItsDataWhenItIsStoppedOrKilled() async throws {
    let server = try await PostgresServer(settings: ["max_connections": "20"])
    #expect(try await server.run("SHOW max_connections") == [["20"]])
    try await server.run("CREATE TABLE words (word text)", "INSERT INTO words VALUES ('one')")
    try await server.kill()
    await #expect(throws: (any Error).self) { try await server.run("SELECT 1") }
    try await server.start()
    #expect(try await server.run("SELECT word FROM words") == [["one"]])
    try await server.restart()
    #expect(try await server.run("SELECT word FROM words") == [["one"]])
  }

  @Test(.requiresPostgres)
  func aStandbyFollowsAndRefusesToWrite() async throws {
    let server = try await PostgresServer()
    let standby = try await server.standby()
    try await server.run("CREATE TABLE words (word text)", "INSERT INTO words VALUES ('one')")
    try await standby.catchUp(with: server)
    #expect(try await standby.run("SELECT word FROM words") == [["one"]])
    await #expect(throws: (any Error).self) { try await standby.run("DELETE FROM words") }
  }

  @Test(.requiresSmallDisk)
  func aSmallDiskIsFullSoonAndTheServerGoesOn() async throws {
    let server = try await PostgresServer(diskMegabytes: 16)
    try await withDatabase(.init(isOnSmallDisk: true), on: server) { database in
      try await database.run("CREATE TABLE words (word text)")
      let error = await #expect(throws: (any Error).self) {
        try await database.run(
          "INSERT INTO words SELECT repeat(md5(n::text), 20) FROM generate_series(1, 30000) n")
      }
      #expect("\(error, default: "")".contains("No space left on device"))
    }
    let rows = try await server.run("SELECT 1")
    #expect(rows == [["1"]])
  }

  @Test(.requiresPgBouncer)
  func pgBouncerGivesClientsTheServersConnectionsInTurns() async throws {
    try await withDatabase { database in
      let bouncer = try await PgBouncer(before: database, connections: 1)
      let uri = database.uri(port: bouncer.port)
      let first = try await database.server.run(["SELECT pg_backend_pid()"], at: uri)
      let second = try await database.server.run(["SELECT pg_backend_pid()"], at: uri)
      #expect(first == second)
    }
  }

  @Test(.requiresPostgres)
  func aProxyCutsHoldsAndForwards() async throws {
    try await withDatabase { database in
      let proxy = try PostgresProxy(before: database.server)
      let uri = database.uri(port: proxy.port)
      let query = ["SELECT repeat('a', 100000)"]
      let whole = try await database.server.run(query, at: uri)
      #expect(whole.first?.first?.count == 100_000)
      proxy.inject(.cut(after: 50_000, from: .server))
      await #expect(throws: (any Error).self) {
        try await database.server.run(query, at: uri)
      }
      #expect(proxy.faultsInjected == 1)
      proxy.inject(.hold(after: 50_000, from: .server))
      async let held = database.server.run(query, at: uri)
      while proxy.faultsInjected < 2 { await Task.yield() }
      proxy.inject(nil)
      let released = try await held
      #expect(released.first?.first?.count == 100_000)
    }
  }

  @Test(.requiresPostgres)
  func aPasswordIsRequiredWhereOneIsSet() async throws {
    try await withDatabase(.init(password: "it's secret")) { database in
      await #expect(throws: (any Error).self) {
        try await database.server.run(
          ["SELECT 1"], at: database.uri(parameters: "connect_timeout=10"))
      }
      let uri = database.uri(password: "it's%20secret")
      let rows = try await database.server.run(["SELECT 1"], at: uri)
      #expect(rows == [["1"]])
    }
  }
}
