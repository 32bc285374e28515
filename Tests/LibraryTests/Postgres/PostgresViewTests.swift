import AggregatorPostgresServer
import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorKit
@testable import AggregatorPostgres
@testable import AggregatorStore

/// The views of sources in a database, for other programs.
@Suite(.requiresPostgres) struct PostgresViewTests {
  private struct Thing: Codable, Sendable {}

  private static func field(_ name: String, _ kind: FieldKind = .text) -> Field<Thing> {
    Field(name, name, kind, about: "A value.") { _ in .null }.stored(at: name)
  }

  private let id = field("id")
  private let things = SourceView("things", [field("id"), field("text")])

  private func store(
    _ views: [SourceView], keepingOthers: Bool = false,
    in database: AggregatorPostgresServer.PostgresDatabase
  ) throws -> PostgresStore {
    PostgresStore(
      at: try PostgresAddress(database.uri),
      showing: SourceViews(keepingOthers: keepingOthers) { views })
  }

  private func views(in database: AggregatorPostgresServer.PostgresDatabase) async throws
    -> [String]
  {
    try await database.texts(
      "SELECT viewname FROM pg_views WHERE schemaname = 'aggregator' ORDER BY viewname")
  }

  @Test func `a source is a view without deleted and removed records`() async throws {
    try await withDatabase { database in
      let store = try store([things, SourceView("others", [id])], in: database)
      try await store.save(["a", "b", "c"].map { StoreEntry($0) })
      _ = try await store.delete(["b"], of: "things", at: .day())
      let query = "SELECT id || ': ' || text FROM aggregator.things ORDER BY id"
      #expect(try await database.texts(query) == ["a: text of a", "c: text of c"])
      #expect(try await database.texts("SELECT id FROM aggregator.others") == [])
      try await store.save([StoreEntry("x")], of: "others")
      #expect(try await database.texts("SELECT id FROM aggregator.others") == ["x"])
      try await database.run(
        "UPDATE aggregator_store.records SET removed_upstream = 1 WHERE id = 'c'")
      #expect(try await database.texts("SELECT id FROM aggregator.things") == ["a"])
    }
  }

  @Test func `values have types, and odd ones are null`() async throws {
    try await withDatabase { database in
      let kinds: [(String, FieldKind)] = [
        ("text", .text), ("integer", .integer), ("number", .number), ("bool", .bool),
        ("list", .list), ("any", .any),
      ]
      let fields = kinds.map { Self.field($0.0, $0.1) }
      let store = try store([SourceView("things", [id] + fields)], in: database)
      // A record of each text, as the value of every field.
      let values = [
        #""a\u0000b\\u0000\\\u0000""#, #""é😀'\"""#, "7", "-9223372036854775808",
        "9223372036854775808", "1.5", "1e400", "1e-400", "-1e-320", "1e99999", "true", "null",
        #""12""#, #""x""#, #"["a","\u0000"]"#, #"{"a":1}"#,
      ]
      try await store.save(
        values.enumerated().map { index, value in
          let members = kinds.map { "\"\($0.0)\":\(value)" }.joined(separator: ",")
          return StoreEntry(id: "\(index)", json: Data(#"{"id":"\#(index)",\#(members)}"#.utf8)) {
            FoldedText("")
          }
        })
      let types = try await database.texts(
        """
        SELECT data_type FROM information_schema.columns WHERE table_name = 'things'
        ORDER BY ordinal_position
        """)
      #expect(
        types == ["text", "text", "bigint", "double precision", "boolean", "text", "text", "text"])
      func column(_ name: String) async throws -> [String] {
        try await database.texts(
          "SELECT coalesce(\(name.postgresName)::text, 'null') FROM aggregator.things ORDER BY id::int"
        )
      }
      #expect(
        try await column("text") == [
          #"a␀b\u0000\␀"#, #"é😀'""#, "7", "-9223372036854775808", "9223372036854775808", "1.5",
          "1e400", "1e-400", "-1e-320", "1e99999", "true", "null", "12", "x", #"["a","␀"]"#,
          #"{"a":1}"#,
        ])
      #expect(
        try await column("integer") == [
          "null", "null", "7", "-9223372036854775808", "null", "null", "null", "null", "null",
          "null", "null", "null", "12", "null", "null", "null",
        ])
      #expect(
        try await column("number") == [
          "null", "null", "7", "-9.223372036854776e+18", "9.223372036854776e+18", "1.5", "null",
          "0", "-1e-320", "null", "null", "null", "12", "null", "null", "null",
        ])
      #expect(Set(try await column("bool")) == ["true", "null"])
      #expect(try await column("any") == column("text"))
    }
  }

  @Test func `each element of a list is a row, whatever it is`() async throws {
    try await withDatabase { database in
      let tables = SourceView.all(of: "baskets", NestedSample.fields, NestedSample.tables)
      let store = try store(tables, in: database)
      try await store.save(NestedSample.entries, of: "baskets")
      #expect(try await views(in: database) == ["baskets", "baskets_all", "baskets_lines"])
      func lines() async throws -> [String] {
        try await database.texts(
          """
          SELECT concat_ws('|', "baskets.id", position, coalesce(sku, '-'), coalesce(count::text, '-'),
            coalesce("a""'b", '-'), coalesce(first, '-')) FROM aggregator.baskets_lines ORDER BY 1
          """)
      }
      let first = ["1|0|x'\"\u{2400}|10|{\"c\":[1]}|t", "1|1|-|9|-|-"]
      let last = [
        "3|0|-|-|-|-", "5|0|-|-|-|-", "5|1|-|-|-|-", "5|2|-|-|-|-", "5|3|-|-|-|-", "5|4|5|8|-|-",
      ]
      #expect(try await lines() == first + last)
      #expect(
        try await database.texts(
          """
          SELECT coalesce(value, '-') || '|' || _row FROM aggregator.baskets_all
          ORDER BY "baskets.id", position
          """)
          == [
            "1|1", "[2]|[2]", #"[3]|"[3]""#, #"{"no":"list"}|{"no":"list"}"#, "-|null", "true|true",
            "2.5|2.5", #"a'b|"a'b""#,
            #"{"x":null}|{"x":null}"#,
          ])
      #expect(
        try await database.texts(
          """
          SELECT data_type FROM information_schema.columns WHERE table_name = 'baskets_lines'
          ORDER BY ordinal_position
          """) == ["bigint", "bigint", "text", "bigint", "text", "text", "text"])
      #expect(
        try await database.texts(
          """
          SELECT b.id || ':' || count(l.position) FROM aggregator.baskets b
          LEFT JOIN aggregator.baskets_lines l ON l."baskets.id" = b.id GROUP BY b.id ORDER BY 1
          """) == ["1:2", "2:0", "3:1", "4:0", "5:5"])
      _ = try await store.delete(["5"], of: "baskets", at: .day())
      #expect(try await lines() == first + last.prefix(1))
      try await database.run(
        "UPDATE aggregator_store.records SET removed_upstream = 1 WHERE id = '1'")
      #expect(try await lines() == Array(last.prefix(1)))
    }
  }

  @Test func `IDs join, whatever they contain`() async throws {
    try await withDatabase { database in
      let table = NestedTable<Thing>(
        "parts", at: "parts",
        fields: [Field<JSON>("value", "value", .any, about: "All.") { $0 }.stored(at: "")]
      ) { _ in [] }
      let store = try store(
        [SourceView("things", [id]), SourceView("things", [id], table)], in: database)
      let ids = ["a\0b", "\u{1}", "\u{1}0", "\0\u{1}", "'\\", "é"]
      try await store.save(
        ids.map { id in
          let json = JSON.object([.init("id", .string(id)), .init("parts", [1])])
          return StoreEntry(id: id, json: Data(json.text.utf8)) { FoldedText("") }
        })
      #expect(
        try await database.texts(
          """
          SELECT count(*) FROM aggregator.things t
          JOIN aggregator.things_parts p ON p."things.id" = t.id
          """) == ["\(ids.count)"])
    }
  }

  @Test func `computed values are null where the fields are`() async throws {
    try await withDatabase { database in
      try await store([ComputedSample.view], in: database).save(ComputedSample.entries)
      #expect(
        try await database.texts(ComputedSample.query(of: "aggregator.things"))
          == ComputedSample.texts)
    }
  }

  @Test func `views are written only if they differ, and follow their sources`() async throws {
    try await withDatabase { database in
      func number() async throws -> [String] {
        try await database.texts("SELECT oid FROM pg_class WHERE relname = 'things'")
      }
      // A store without views leaves them alone, and one that has some makes them with the next write.
      let plain = PostgresStore(at: try PostgresAddress(database.uri))
      try await plain.save([StoreEntry("a")])
      #expect(try await views(in: database) == [])
      let others = SourceView("others", [id])
      try await store([things, others], in: database).save([StoreEntry("a")])
      let first = try await number()
      #expect(first.count == 1)
      try await store([things], keepingOthers: true, in: database).save([StoreEntry("b")])
      #expect(try await views(in: database) == ["others", "things"])
      #expect(try await number() == first)
      try await store([things], in: database).save([StoreEntry("c")])
      #expect(try await views(in: database) == ["things"])
      #expect(try await number() == first)
      try await store([SourceView("things", [id])], in: database).save([StoreEntry("d")])
      #expect(try await number() != first)
      await #expect(throws: (any Error).self) {
        try await database.run("SELECT text FROM aggregator.things")
      }
      try await plain.save([StoreEntry("e")])
      #expect(try await views(in: database) == ["things"])
    }
  }

  @Test func `views and tables of other programs stay`() async throws {
    try await withDatabase { database in
      try await PostgresStore(at: try PostgresAddress(database.uri)).save([StoreEntry("a")])
      try await database.run(
        "CREATE TABLE aggregator.things (mine int)",
        "CREATE VIEW aggregator.mine AS SELECT 1 AS one")
      try await store([things, SourceView("mine", [id])], in: database).save([StoreEntry("b")])
      #expect(try await database.texts("SELECT count(*) FROM aggregator.things") == ["0"])
      try await store([], in: database).save([StoreEntry("c")])
      #expect(try await database.texts("SELECT one FROM aggregator.mine") == ["1"])
      try await database.run("DROP TABLE aggregator.things")
      try await store([things], in: database).save([StoreEntry("d")])
      #expect(try await database.texts("SELECT count(*) FROM aggregator.things") == ["4"])
      // A view of somebody else keeps that of the source as it was.
      try await database.run("CREATE VIEW public.report AS SELECT text FROM aggregator.things")
      try await store([SourceView("things", [id])], in: database).save([StoreEntry("e")])
      #expect(try await database.texts("SELECT count(*) FROM public.report") == ["5"])
    }
  }

  @Test func `a view that the server refuses costs no record`() async throws {
    try await withDatabase { database in
      // More columns than a view can have.
      let bad = SourceView("bad", (0..<1700).map { Self.field("f\($0)") })
      let store = try store([bad, things], in: database)
      for id in ["a", "b"] { try await store.save([StoreEntry(id)]) }
      #expect(try await store.ids() == ["a", "b"])
      #expect(try await views(in: database) == ["things"])
      let first = try await database.texts("SELECT value FROM aggregator_store.shared")
      #expect(first.count == 1 && first.allSatisfy { $0.hasPrefix("things:") })
    }
  }

  @Test func `a reader of a view does not hold up a write`() async throws {
    try await withDatabase { database in
      try await store([things], in: database).save([StoreEntry("a")])
      let reader = try PostgresCursor.open(
        PostgresStatement("SELECT id FROM things"), at: PostgresAddress(database.uri),
        within: .seconds(600))
      #expect(reader.views == ["things"])
      let store = try store([SourceView("things", [id])], in: database)
      try await store.save([StoreEntry("b")])
      #expect(try await store.ids() == ["a", "b"])
      #expect(try await database.texts("SELECT text FROM aggregator.things").count == 2)
      // So that the cursor lives until here.
      #expect(reader.columns.map(\.name) == ["id"])
    }
  }

  @Test func `stores that write at once make each view once`() async throws {
    try await withDatabase { database in
      let stores = try (0..<4).map { _ in try store([things], in: database) }
      try await withThrowingTaskGroup { group in
        for (index, store) in stores.enumerated() {
          group.addTask { try await store.save([StoreEntry("\(index)")]) }
        }
        try await group.waitForAll()
      }
      try await stores[0].save([StoreEntry("x")])
      #expect(try await database.texts("SELECT count(*) FROM aggregator.things") == ["5"])
    }
  }

  private static let names = [
    #"x"; DROP TABLE aggregator_store.records; --"#, "a'b", #"a\b"#, #"\'"#, "a\0b", "ä ö",
    "select",
    "", "a.b", "*", "json", "records", "$1", "$$", "😀", "a:b", "a%20b", "Upper",
    String(repeating: "x", count: 64), String(repeating: "ä😀", count: 40), "pg_class", "tombstones",
  ]

  @Test func `names are data, whatever they contain`() async throws {
    try await withDatabase { database in
      let long = String(repeating: "x", count: 63)
      for name in Self.names {
        let fields = [
          id, Self.field(name).stored(at: "text"),
          Self.field("computed").stored(at: nil)
            .computed(as: .joined([.member("mark"), .text(#"'\1"#)])),
          Self.field("only in Swift").stored(at: nil), Self.field("\(long)1").stored(at: "mark"),
          Self.field("\(long)2").stored(at: "mark"),
        ]
        let view = SourceView(name, fields)
        let store = try store([view], in: database)
        try await store.save(
          [
            StoreEntry(
              id: name.isEmpty ? "x" : name, json: Data(#"{"id":"a","mark":0,"text":"t"}"#.utf8)
            ) {
              FoldedText("")
            }
          ], of: name)
        let table = "aggregator.\(view.postgresName.postgresName)"
        let column = name.foldedInPostgres.postgresName
        #expect(try await database.texts("SELECT \(column) FROM \(table)") == ["t"], "\(name)")
        #expect(try await database.texts("SELECT computed FROM \(table)") == [#"0'\1"#])
        // Only the last one is left.
        #expect(try await views(in: database) == [view.postgresName])
        let count = try await database.texts(
          "SELECT count(*) FROM pg_attribute WHERE attrelid = '\(table.replacing("'", with: "''"))'::regclass AND attnum > 0"
        )
        #expect(count == ["6"])
      }
      let records = try await database.texts("SELECT count(*) FROM aggregator_store.records")
      #expect(records == ["\(Self.names.count)"])
    }
  }
}
