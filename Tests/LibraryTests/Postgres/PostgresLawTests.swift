import AggregatorKit
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorSourceTesting
import Testing

/// Two stores on one database stand for two machines.
@Suite(.requiresPostgres, .timeLimit(.minutes(10)))
struct PostgresLawTests {
  @Test(arguments: [PostgresDatabase.Characters.all, .ascii])
  func `keeps the promises of a store`(characters: PostgresDatabase.Characters) async throws {
    try await withDatabase(.init(characters: characters)) { database in
      let address = try PostgresAddress(database.uri)
      await expectStoreLaws { PostgresStore(at: address) }
    }
  }

  @Test func `keeps them without an index`() async throws {
    try await withDatabase(.init(allowsExtensions: false)) { database in
      let address = try PostgresAddress(database.uri)
      await expectStoreLaws { PostgresStore(at: address) }
    }
  }

  @Test(.requiresPgBouncer) func `keeps them behind a connection pool`() async throws {
    try await withDatabase { database in
      let pool = try await PgBouncer(before: database)
      let address = try PostgresAddress(database.uri(port: pool.port))
      await expectStoreLaws { PostgresStore(at: address) }
      withExtendedLifetime(pool) {}
    }
  }
}
