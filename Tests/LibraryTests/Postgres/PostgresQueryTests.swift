import AggregatorPostgresServer
import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorKit
@testable import AggregatorPostgres
@testable import AggregatorStore

/// Queries of people in PostgreSQL: limits, errors and hostile ones.
@Suite(.requiresPostgres) struct PostgresQueryTests {
  private struct Thing: SourceRecord {
    let id: String
    let text: String
    let camelCase: Bool
  }

  private static let fields: [Field<Thing>] = [
    Field("id", "ID", \.id, about: "The ID."), Field("text", "Text", \.text, about: "A text."),
    Field("camelCase", "Case", \.camelCase, about: "A flag."),
  ]
  private let views = [SQLView("things", fields)]

  /// A database with three records.
  private func withStore(
    _ body: (PostgresStore, AggregatorPostgresServer.PostgresDatabase) async throws -> Void
  ) async throws {
    try await withDatabase { database in
      let views = views
      let store = PostgresStore(
        at: try PostgresAddress(database.uri), showing: SourceViews { views.map(\.source) })
      try await store.save(
        ["a", "b", "c"].map { id in
          StoreEntry(
            id: id, json: Data(#"{"id":"\#(id)","text":"text of \#(id)","camelCase":true}"#.utf8)
          ) { FoldedText("") }
        })
      try await body(store, database)
    }
  }

  private static let values: [String: SQLValue] = [
    "n": .integer(2), "x": .text("it's; DROP"), "none": .null, "r": .number(1.5),
    "id": .text("1"), "yes": .bool(true),
  ]

  private func bound(_ text: String, in store: PostgresStore) async throws -> [[SQLValue]] {
    let query = try await store.query(
      SQLStatement(text, Self.values), over: views, and: [], within: .seconds(600))
    return try await query.page(within: .seconds(600)) ?? []
  }

  @Test func `parameters are bound as what the query needs`() async throws {
    let cases: [(String, [[SQLValue]])] = [
      ("SELECT 1 WHERE 2 = :n AND 1 < :n", [[.integer(1)]]),
      ("SELECT :x, :x || 'y'", [[.text("it's; DROP"), .text("it's; DROPy")]]),
      ("SELECT :n::int + 1, :r::numeric", [[.integer(3), .number(1.5)]]),
      ("SELECT :none::text, NOT :yes", [[.null, .bool(false)]]),
      // Neither in quotes, nor in comments, nor in casts.
      (
        #"SELECT ':no', E'\':no', $$:no$$, $a$:no$ $a$, 1::int AS ":no" /* :no /* :no */ :no */ -- :no"#,
        [[.text(":no"), .text("':no"), .text(":no"), .text(":no$ "), .integer(1)]]
      ),
    ]
    try await withStore { store, _ in
      for (text, rows) in cases {
        let found = try await bound(text, in: store)
        #expect(found == rows, "\(text)")
      }
      let missing = await failure(ofBound: "SELECT :absent", in: store)
      #expect(missing == "the parameter :absent has no value")
      // The place of a mistake is that in the text.
      let typo = await failure(ofBound: "SELECT :none, txt FROM things", in: store)
      #expect(typo == "column \"txt\" does not exist (character 15)")
    }
  }

  private func failure(ofBound text: String, in store: PostgresStore) async -> String? {
    do {
      _ = try await bound(text, in: store)
      return nil
    } catch {
      return (error as? SourceError)?.message
    }
  }

  private func rows(
    _ text: String, in store: PostgresStore, as role: PostgresAddress? = nil,
    within time: Duration = .seconds(600)
  ) async throws(SourceError) -> [[SQLValue]] {
    let end = ContinuousClock.now + time
    let query = try await store.query(
      SQLStatement(text), over: views, at: role, within: time)
    var rows: [[SQLValue]] = []
    while let page = try await query.page(within: end - .now) { rows += page }
    return rows
  }

  private func failure(
    _ text: String, in store: PostgresStore, as role: PostgresAddress? = nil,
    within time: Duration = .seconds(600)
  ) async -> SourceError? {
    do throws(SourceError) {
      let rows = try await rows(text, in: store, as: role, within: time)
      Issue.record("\(text) returned \(rows.count) rows")
      return nil
    } catch {
      return error
    }
  }

  @Test func `rows have the values and the names of the fields`() async throws {
    try await withStore { store, _ in
      let query = try await store.query(
        "SELECT *, camelCase AS other FROM Things ORDER BY id DESC -- all", over: views,
        within: .seconds(600))
      #expect(await query.columns == ["id", "text", "camelCase", "other"])
      #expect(await query.sources == ["things"])
      let page = try await query.page(within: .seconds(600))
      #expect(page?.map { $0[0] } == [.text("c"), .text("b"), .text("a")])
      #expect(page?[0].dropFirst() == [.text("text of c"), .bool(true), .bool(true)])
      #expect(try await query.page(within: .seconds(600)) == nil)
      #expect(try await store.query("VALUES (1)", over: views, within: .seconds(600)).sources == [])
    }
  }

  @Test func `a query that does not name _row is without it`() async throws {
    try await withStore { store, _ in
      let whole = #"{"id":"a","text":"text of a","camelCase":true}"#
      let shown: [SQLValue] = [.text("a"), .text("text of a"), .bool(true)]
      #expect(try await rows("SELECT * FROM things WHERE id = 'a'", in: store) == [shown])
      #expect(
        try await rows("SELECT *, _row AS x FROM things WHERE id = 'a'", in: store)
          == [shown + [.text(whole), .text(whole)]])
      #expect(
        try await rows("SELECT _ROW::json ->> 'text' FROM things ORDER BY id LIMIT 1", in: store)
          == [[.text("text of a")]])
      // Its size counts only if it is asked for.
      let text = String(repeating: "x", count: 600_000)
      try await store.save([
        StoreEntry(id: "d", json: Data(#"{"id":"d","text":"\#(text)"}"#.utf8)) { FoldedText("") }
      ])
      #expect(try await rows("SELECT * FROM things WHERE id = 'd'", in: store).count == 1)
      let large = await failure("SELECT *, _row FROM things WHERE id = 'd'", in: store)
      #expect(large?.message == "a row of the result is larger than 1 MB")
    }
  }

  @Test func `values keep their types and their digits`() async throws {
    try await withStore { store, _ in
      let found = try await rows(
        #"""
        SELECT NULL, false, 1::smallint, 9223372036854775807, 0.5::real, 1e300::float8, 'NaN'::float8,
          0.25::numeric, 9223372036854775808, 0.1234567890123456789, 'ä', '\xab01'::bytea, ARRAY[1, 2],
          '{"a": [1]}'::json, '2026-01-31 12:00:00'::timestamp, row(1, 'x'), repeat('y', 3), '',
          1 AS a, 2 AS a;
        """#, in: store)
      #expect(
        found == [
          [
            .null, .bool(false), .integer(1), .integer(.max), .number(0.5), .number(1e300),
            .text("NaN"), .number(0.25), .text("9223372036854775808"),
            .text("0.1234567890123456789"), .text("ä"), .text("AB01"), .text("{1,2}"),
            .text(#"{"a": [1]}"#), .text("2026-01-31 12:00:00"), .text("(1,x)"), .text("yyy"),
            .text(""), .integer(1), .integer(2),
          ]
        ])
    }
  }

  @Test func `many rows come in pages, all of one state`() async throws {
    try await withStore { store, _ in
      let query = try await store.query(
        "SELECT n, (SELECT count(*) FROM things) FROM generate_series(1, 1000) n", over: views,
        within: .seconds(600))
      var pages = [try await query.page(within: .seconds(600)) ?? []]
      _ = try await store.delete(["a"], of: "things", at: .day())
      while let page = try await query.page(within: .seconds(600)) { pages.append(page) }
      #expect(pages.count > 4 && pages.allSatisfy { $0.count <= 200 })
      let all = pages.flatMap(\.self)
      #expect(all.map { $0[0] } == (1...1000).map { .integer($0) })
      #expect(all.allSatisfy { $0[1] == .integer(3) })
      // Large rows come few at a time.
      let large = try await store.query(
        "SELECT repeat('x', 500000) FROM generate_series(1, 60)", over: views, within: .seconds(600)
      )
      var counts: [Int] = []
      while let page = try await large.page(within: .seconds(600)) { counts.append(page.count) }
      #expect(counts.reduce(0, +) == 60 && counts.dropFirst().allSatisfy { $0 == 1 })
    }
  }

  @Test(arguments: ["EXPLAIN", "explain query plan"])
  func `the plan of a query is shown, which does not run`(words: String) async throws {
    try await withStore { store, _ in
      let query = try await store.query(
        SQLStatement("\(words) SELECT pg_sleep(:n) FROM things;", ["n": .integer(3600)]),
        over: views,
        and: [], within: .seconds(600))
      #expect(await query.columns == ["QUERY PLAN"])
      #expect(await query.sources == ["things"])
      #expect(try await query.page(within: .seconds(600))?.isEmpty == false)
      #expect(try await query.page(within: .seconds(600)) == nil)
      let error = await failure("\(words) SELECT txt FROM things", in: store)
      #expect(
        error?.message == "column \"txt\" does not exist (character \(words.count + 9))")
    }
  }

  @Test func `mistakes are explained`() async throws {
    try await withStore { store, _ in
      func message(_ text: String) async -> (String?, String?) {
        let error = await failure(text, in: store)
        #expect(error?.code == .invalidRequest, "\(text): \(String(describing: error))")
        return (error?.message, (error?.cause as? SQLMistake)?.nearest)
      }
      #expect(
        await message("SELECT 'ä😀', txt FROM things") == (
          "column \"txt\" does not exist (character 14)", "text"
        ))
      #expect(
        await message("SELECT * FROM thing") == (
          "relation \"thing\" does not exist (character 15)", "things"
        ))
      #expect(await message("SELEC 1").0 == "syntax error at or near \"SELEC\" (character 1)")
      #expect(await message("SELECT 1 +").0 == "syntax error at end of input (character 11)")
      #expect(await message("SELECT 1; SELECT 2").0 == "only one statement is allowed")
      #expect(await message("SELECT 1; -- x").0 == "a comment follows the semicolon: remove it")
      #expect(await message("SELECT 1) q; --").0 == "syntax error at or near \")\" (character 9)")
      #expect(await message("  \n").0 == "the query is empty")
      #expect(await message("SELECT").0 == "the query has no columns")
      #expect(await message("SELECT 1\0").0 == "the query contains a NUL character")
      #expect(await message("SELECT $1").0 == "parameters such as $1 are not allowed")
      #expect(await message("SELECT 1 / 0").0 == "division by zero")
      #expect(
        await message("SELECT '\(String(repeating: "x", count: 100_000))'").0
          == "the query is too large (maximum 100 kB)")
      #expect(
        await message("SELECT repeat('x', 1048577)").0 == "a row of the result is larger than 1 MB")
      #expect(
        await message(
          "SELECT 1, (SELECT string_agg(repeat('x', 100000), '') FROM generate_series(1, 11))"
        ).0 == "a row of the result is larger than 1 MB")
    }
  }

  @Test(arguments: [
    "INSERT INTO aggregator_store.meta VALUES (9)", "UPDATE things SET id = 1",
    " delete from things",
    "DROP VIEW things", "COPY (SELECT 1) TO PROGRAM 'true'", "COMMIT",
    "EXPLAIN DELETE FROM things", "EXPLAIN ANALYZE SELECT 1", "EXPLAIN(ANALYZE) SELECT 1",
    "SET role x",
    "SHOW role", "DO $$BEGIN END$$", "CALL x()", "LISTEN x", "PREPARE TRANSACTION 'x'",
    "WITH d AS (DELETE FROM aggregator_store.records RETURNING 1) SELECT * FROM d",
    "SELECT 1 FROM aggregator_store.records FOR UPDATE",
    "SELECT nextval('aggregator_store.pages_number_seq')",
  ])
  func `only SELECT is allowed`(text: String) async throws {
    try await withStore { store, database in
      let error = await failure(text, in: store)
      #expect(error?.message == "only SELECT is allowed", "\(text): \(String(describing: error))")
      let count = try await database.texts("SELECT count(*) FROM aggregator_store.records")
      #expect(count == ["3"])
    }
  }

  /// Queries that a transaction that only reads, or the role, refuses.
  @Test(arguments: [
    "SELECT set_config('transaction_read_only', 'off', true)",
    "SELECT set_config('role', 'postgres', false)",
    "SELECT set_config('session_authorization', 'postgres', false)",
    "SELECT query_to_xml('DELETE FROM aggregator_store.records', true, true, '')",
    "SELECT query_to_xml('COMMIT', true, true, '')",
    "SELECT query_to_xml('COPY (SELECT 1) TO PROGRAM ''true''', true, true, '')",
    "SELECT pg_read_file('/etc/hostname')", "SELECT pg_ls_dir('/')",
    "SELECT lo_export(1, '/tmp/x')", "SELECT lo_import('/etc/hostname')",
    "SELECT pg_reload_conf()", "SELECT pg_create_physical_replication_slot('x', true)",
    "SELECT rolpassword FROM pg_authid", "SELECT * INTO t FROM things",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres' LIMIT 1",
    "SELECT setval('aggregator_store.pages_number_seq', 1)",
  ])
  func `a hostile query is refused`(text: String) async throws {
    try await withStore { store, database in
      let error = await failure(text, in: store)
      #expect(error?.code == .invalidRequest, "\(text): \(String(describing: error))")
      let count = try await database.texts("SELECT count(*) FROM aggregator_store.records")
      #expect(count == ["3"])
      #expect(try await database.texts("SELECT count(*) FROM pg_replication_slots") == ["0"])
    }
  }

  @Test func `nothing of a query stays`() async throws {
    try await withStore { store, database in
      // Those that a transaction that only reads allows in some versions are undone with it.
      for text in [
        "SELECT lo_create(0)", "SELECT lo_from_bytea(0, 'x')", "SELECT pg_notify('x', 'y')",
        "SELECT pg_advisory_lock(7)", "SELECT set_config('search_path', 'aggregator_store', false)",
      ] {
        do throws(SourceError) { _ = try await rows(text, in: store) } catch {
          #expect(error.code == .invalidRequest, "\(text): \(error)")
        }
        #expect(try await rows("SELECT count(*) FROM things", in: store) == [[.integer(3)]])
      }
      #expect(try await database.texts("SELECT count(*) FROM pg_largeobject_metadata") == ["0"])
      // Not `pg_locks`: a connection ends a moment after its client.
      let free = try await database.texts("SELECT pg_advisory_lock(7) IS NOT NULL")
      #expect(free == ["t"])
    }
  }

  @Test func `a query cannot extend its time`() async throws {
    try await withStore { store, database in
      for text in [
        "SELECT pg_sleep(3600)",
        "SELECT set_config('statement_timeout', '0', false), pg_sleep(3600)",
        "SELECT set_config('statement_timeout', '0', true), pg_sleep(0.002) FROM generate_series(1, 1000000)",
      ] {
        let error = await failure(text, in: store, within: .milliseconds(500))
        #expect(error?.code == .timedOut, "\(text): \(String(describing: error))")
      }
      try await untilIdle(database)
    }
  }

  @Test func `each page has the time that is left`() async throws {
    try await withStore { store, _ in
      let query = try await store.query(
        "SELECT * FROM generate_series(1, 1000)", over: views, within: .seconds(600))
      #expect(try await query.page(within: .seconds(600)) != nil)
      let error = await #expect(throws: SourceError.self) {
        _ = try await query.page(within: .zero)
      }
      #expect(error?.code == .timedOut)
    }
  }

  @Test func `a cancelled query ends on the server, too`() async throws {
    try await withStore { store, database in
      let views = views
      let task = Task {
        let query = try await store.query(
          "SELECT set_config('statement_timeout', '0', true), pg_sleep(3600)", over: views,
          within: .seconds(3600))
        return try await query.page(within: .seconds(3600))
      }
      while try await running(in: database) == 0 { try await Task.sleep(for: .milliseconds(10)) }
      task.cancel()
      let error = await #expect(throws: SourceError.self) { _ = try await task.value }
      #expect(error?.code == .cancelled)
      try await untilIdle(database)
    }
  }

  /// The number of queries that sleep.
  private func running(in database: AggregatorPostgresServer.PostgresDatabase) async throws -> Int {
    let texts = try await database.texts(
      """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = '\(database.name)' AND wait_event = 'PgSleep'
      """)
    return texts.first.flatMap { Int($0) } ?? 0
  }

  private func untilIdle(_ database: AggregatorPostgresServer.PostgresDatabase) async throws {
    while try await running(in: database) > 0 { try await Task.sleep(for: .milliseconds(10)) }
  }

  // MARK: - Roles

  @Test func `a role that could escape is refused, also by membership`() async throws {
    try await withStore { store, database in
      let superuser = try PostgresAddress(database.uri(role: "postgres"))
      #expect(
        await failure("SELECT 1", in: store, as: superuser)?.message
          == "sql is refused for this role: postgres is a superuser")
      let role = "\(database.name)_role"
      let address = try PostgresAddress(database.uri(role: role))
      for group in [
        "pg_execute_server_program", "pg_read_server_files", "pg_write_server_files", "postgres",
      ] {
        // Not inherited: `set_config('role', …)` gets there all the same.
        try await database.run(
          "CREATE ROLE \(role)_group NOINHERIT", "CREATE ROLE \(role) LOGIN NOINHERIT",
          "GRANT \(group) TO \(role)_group", "GRANT \(role)_group TO \(role)")
        let error = await failure("SELECT 1", in: store, as: address)
        #expect(error?.code == .invalidSettings)
        #expect(
          error?.message == "sql is refused for this role: \(role) is a member of \(group)")
        try await database.run("DROP ROLE \(role)_group", "DROP ROLE \(role)")
      }
      try await database.run("CREATE ROLE \(role) LOGIN REPLICATION")
      #expect(
        await failure("SELECT 1", in: store, as: address)?.message
          == "sql is refused for this role: \(role) is a replication role")
      try await database.run("DROP ROLE \(role)")
    }
  }

  @Test func `a role for queries reads the views, also later ones, and nothing else`() async throws
  {
    try await withStore { store, database in
      let name = "\(database.name) \"reader\""
      let address = try PostgresAddress(
        database.uri(role: name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""))
      let owner = store
      let admin = PostgresStore(at: try PostgresAddress(database.uri(role: "postgres")))
      let role = try await admin.sqlRole(name)
      #expect(role.statements.count == 4)
      try await admin.create(role)
      try await admin.create(admin.sqlRole(name))
      #expect(
        try await rows("SELECT count(*) FROM things", in: owner, as: address) == [[.integer(3)]])
      for text in [
        "SELECT * FROM aggregator_store.records",
        "SELECT set_config('role', '\(database.name)', true)",
        "SELECT * FROM aggregator_store.shared",
      ] {
        let error = await failure(text, in: owner, as: address)
        #expect(error?.code == .invalidRequest, "\(text): \(String(describing: error))")
      }
      // The view is dropped and created again.
      let views = [
        SourceView("things", Array(Self.fields.prefix(1))), SourceView("more", Self.fields),
      ]
      try await PostgresStore(at: owner.address, showing: SourceViews { views })
        .save([StoreEntry("d")])
      #expect(
        try await rows(
          "SELECT count(*), (SELECT count(*) FROM more) FROM things", in: owner, as: address)
          == [[.integer(4), .integer(0)]])
      for name in [database.name, "postgres"] {
        await #expect(throws: SourceError.self) { _ = try await owner.sqlRole(name) }
      }
      let error = await #expect(throws: SourceError.self) {
        try await owner.create(owner.sqlRole("\(database.name)_other"))
      }
      #expect(error?.missingRight != nil)
      try await database.run("DROP OWNED BY \(name.postgresName)", "DROP ROLE \(name.postgresName)")
    }
  }

  @Test func `views that are missing are made by the first query`() async throws {
    try await withDatabase { database in
      let views = views
      let store = PostgresStore(
        at: try PostgresAddress(database.uri), showing: SourceViews { views.map(\.source) })
      #expect(try await rows("SELECT count(*) FROM things", in: store) == [[.integer(0)]])
    }
  }

  @Test func `an unreachable server is an error of the store`() async throws {
    try await withDatabase { database in
      let store = PostgresStore(at: try PostgresAddress(database.uri(port: 1)))
      #expect(await failure("SELECT 1", in: store)?.code == .storage)
    }
  }
}
