import AggregatorFiles
import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorKit
@testable import AggregatorSQLite
@testable import AggregatorStore

/// SQL queries of the store, which can only read.
@Suite struct SQLQueryTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore
  private let views: [SQLView]

  init() async throws {
    directory = try StoreDirectory()
    store = directory.store()
    let notes = NotesPlugin(service: notebook(1))
    views = SQLView.all(of: notes.name, notes.fields, notes.tables)
  }

  /// Stores notes 1 to `count`.
  private func fill(_ count: Int = 3) async throws {
    let recordStore = RecordStore<Note>("notes", in: store, text: Note.text)
    _ = try await recordStore.save((1...count).map { Note($0) }, at: .day())
  }

  private func rows(
    _ text: String, within time: Duration = .seconds(10)
  ) async throws(SourceError) -> [[SQLValue]] {
    let query = try await store.query(text, over: views, within: time)
    var rows: [[SQLValue]] = []
    while let page = try await query.page(within: time) {
      rows += page
      #expect(page.count <= 200)
    }
    #expect(try await query.page(within: .seconds(10)) == nil)
    return rows
  }

  private func failure(_ text: String, within time: Duration = .seconds(2)) async -> SourceError? {
    do throws(SourceError) {
      let query = try await store.query(text, over: views, within: time)
      let end = ContinuousClock.now + time
      while try await query.page(within: end - .now) != nil {}
      return nil
    } catch {
      return error
    }
  }

  @Test func `a record larger than 1 MB is left out, and the others are found`() async throws {
    let recordStore = RecordStore<Note>("notes", in: store, text: Note.text)
    let large = Note(2, String(repeating: "large ", count: 300_000))
    _ = try await recordStore.save([Note(1), large, Note(3)], at: .day())
    for condition in ["", "WHERE title LIKE 'note%'", "WHERE title > 'n' ORDER BY title"] {
      let query = try await store.query(
        "SELECT id FROM notes \(condition)", over: views, within: .seconds(10))
      #expect(
        try await query.page(within: .seconds(10)) == [[.integer(1)], [.integer(3)]], "\(condition)"
      )
      #expect(await query.tooLarge == ["notes": 1])
    }
    #expect(try await rows("SELECT count(*) FROM NOTES") == [[.integer(2)]])
    // It is only looked for where it matters.
    let other = try await store.query("SELECT 1", over: views, within: .seconds(10))
    #expect(await other.tooLarge.isEmpty)
    _ = try await store.delete(["2"], of: "notes", at: .day())
    let without = try await store.query("SELECT id FROM notes", over: views, within: .seconds(10))
    #expect(await without.tooLarge.isEmpty)
  }

  @Test func `a query that needs too much memory fails alone`() async throws {
    try await fill()
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    let sorted = endless + "SELECT i || hex(zeroblob(5000)) AS x FROM n ORDER BY x"
    async let failure = failure(sorted, within: .seconds(500))
    // SQLite takes more for this than a query may use.
    let other = try Connection(":memory:", busyTimeout: .zero, flags: 6)
    try other.execute("CREATE TABLE large (x); PRAGMA cache_size = -200000")
    for _ in 0..<8 { try other.execute("INSERT INTO large VALUES (randomblob(10000000))") }
    #expect(try await rows("SELECT count(*) FROM notes") == [[.integer(3)]])
    #expect(await failure?.message == "the query needs too much memory")
    try other.execute("INSERT INTO large VALUES (randomblob(10000000))")
  }

  @Test func `the time limit includes the wait for a lock and the opening of the store`()
    async throws
  {
    try await fill()
    let lock = try OpenFile(directory: "\(directory.root)/state")
    #expect(try lock.lock(.exclusive, within: .zero))
    let other = directory.store(busyTimeout: .milliseconds(300))
    let waiting = Task { [views] in
      do throws(SourceError) {
        _ = try await other.query("SELECT 1 FROM notes", over: views, within: .milliseconds(300))
        return SourceError?.none
      } catch {
        return error
      }
    }
    #expect(await waiting.value?.code == .busy)
    lock.unlock()
    #expect(await failure("SELECT 1", within: .zero)?.code == .timedOut)
  }

  @Test func `a damaged store is not a mistake in the query`() async throws {
    try await fill()
    try directory.database().execute("DROP TABLE tombstones")
    let error = await failure("SELECT * FROM notes")
    #expect(error?.code == .storage, "\(String(describing: error))")
  }

  @Test func `a source is a table of its fields, without deleted records`() async throws {
    try await fill()
    _ = try await store.delete(["2", "7"], of: "notes", at: .day())
    #expect(
      try await rows("SELECT * FROM notes") == [
        [.integer(1), .text("note 1")], [.integer(3), .text("note 3")],
      ])
    let query = try await store.query(
      "SELECT id, title AS t FROM notes;", over: views, within: .seconds(9))
    #expect(await query.columns == ["id", "t"])
  }

  @Test func `a query that groups reads the columns that it names, and all of a star`() async throws
  {
    try await fill()
    for columns in ["title, count(*)", "title, sum(id*1)", "\"title\", id * 1"] {
      #expect(try await rows("SELECT \(columns) FROM notes GROUP BY title").count == 3)
    }
    let names = views[0].columns
    for star in ["*", "DISTINCT *", "n.*", "1 AS one, *", "n . *", "/* all */ *", "--\n*"] {
      let query = try await store.query(
        "SELECT \(star) FROM notes n GROUP BY id", over: views, within: .seconds(9))
      #expect(await query.columns.filter { $0 != "one" } == names, "\(star)")
    }
    let recordStore = RecordStore<Note>("notes", in: store, text: Note.text)
    _ = try await recordStore.save((1...3).map { Note($0, "same") }, at: .day())
    #expect(
      try await rows("SELECT title, count(*) FROM notes NATURAL JOIN notes b GROUP BY title") == [
        [.text("same"), .integer(3)]
      ])
  }

  @Test func `texts with escapes in JSON are columns, also in a query that may only read`()
    async throws
  {
    let texts = ["a\u{1}b", "\"\\\n\t", "é😀\u{7F}", "\u{1F}{\"id\":9}"]
    let recordStore = RecordStore<Note>("notes", in: store, text: Note.text)
    _ = try await recordStore.save(
      texts.enumerated().map { Note($0.offset, $0.element) }, at: .day())
    #expect(try await rows("SELECT title FROM notes") == texts.map { [.text($0)] })
    #expect(
      try await rows("SELECT title FROM notes GROUP BY id ORDER BY id") == texts.map { [.text($0)] }
    )
  }

  @Test func `sorting for groups takes the values of records, not the records`() async throws {
    // Of 80 MB, more than a query may take.
    let recordStore = RecordStore<Note>("notes", in: store) { _ in FoldedText("") }
    let padding = String(repeating: "x", count: 400_000)
    _ = try await recordStore.save((1...200).map { Note($0, "\(padding)\($0)") }, at: .day())
    #expect(try await rows("SELECT id, count(*) FROM notes GROUP BY id").count == 200)
    #expect(
      try await rows("SELECT row_number() OVER (ORDER BY id) FROM notes").count == 200)
  }

  /// A record with fields of every kind, one of them computed.
  private struct Sample: SourceRecord {
    let id: String
    var weight: Double?
    var isGood = true
    var tags = ["a", "b"]

    static let fields: [Field<Sample>] = [
      Field("id", "ID", \.id, about: "The ID."),
      Field("weight", "Weight", \.weight, about: "A number."),
      Field("isGood", "Good", \.isGood, about: "A Boolean."),
      Field("tags", "Tags", \.tags, about: "A list."),
      Field("half", "Half", .number, about: "Computed.") { ($0.weight.map { $0 / 2 }).json },
      Field("label", "Label", .text, about: "Computed.") { .string("<\($0.id)>") },
      Field("words", "Words", .list, about: "Computed.") { [.string($0.id), "é"] },
      Field("isHeavy", "Heavy", .bool, about: "Computed.") { (($0.weight ?? 0) > 3).json },
    ]
  }

  @Test func `numbers stay numbers, and computed fields are columns`() async throws {
    let samples = RecordStore<Sample>("samples", in: store) { FoldedText($0.id) }
    _ = try await samples.save(
      [Sample(id: "a", weight: 4), Sample(id: "b", weight: 2.5), Sample(id: "c")], at: .day())
    let views = [SQLView("samples", Sample.fields)]
    func rows(_ text: String) async throws -> [[SQLValue]] {
      let query = try await store.query(text, over: views, within: .seconds(9))
      return try await query.page(within: .seconds(10)) ?? []
    }
    #expect(
      try await rows("SELECT weight, typeof(weight), weight / 3 * 3 FROM samples") == [
        [.number(4), .text("real"), .number(4)], [.number(2.5), .text("real"), .number(2.5)],
        [.null, .text("null"), .null],
      ])
    #expect(
      try await rows("SELECT half, typeof(half), label, words, isHeavy FROM samples") == [
        [
          .number(2), .text("real"), .text("<a>"), .text(#"["a","é"]"#), .integer(1),
        ],
        [
          .number(1.25), .text("real"), .text("<b>"), .text(#"["b","é"]"#), .integer(0),
        ],
        [.null, .text("null"), .text("<c>"), .text(#"["c","é"]"#), .integer(0)],
      ])
    #expect(
      try await rows("SELECT * FROM samples WHERE half > 1 ORDER BY label").map(\.first) == [
        .text("a"), .text("b"),
      ])
    let query = try await store.query(
      "SELECT * FROM samples", over: views, within: .seconds(9))
    #expect(await query.columns == Sample.fields.map(\.name))
  }

  @Test(arguments: [
    ("SELECT 1", []), ("SELECT count(*) FROM notes", ["notes"]),
    ("SELECT id FROM notes WHERE id > 3", ["notes"]),
    ("WITH x AS (SELECT id FROM notes) SELECT count(*) FROM x", ["notes"]),
    ("WITH notes AS (SELECT 1 AS id) SELECT count(*) FROM notes", []),
    ("WITH notes AS (SELECT 1 AS id) SELECT id FROM notes", []),
  ])
  func `a query names the sources that it reads`(text: String, names: [String]) async throws {
    for count in [0, 3] {
      if count > 0 { try await fill(count) }
      let query = try await store.query(text, over: views, within: .seconds(9))
      #expect(await query.sources == names, "\(count) notes")
    }
  }

  @Test func `without a store, tables are empty and none is created`() async throws {
    #expect(try await rows("SELECT id, title FROM notes") == [])
    #expect(try await rows("SELECT count(*) FROM notes") == [[.integer(0)]])
    #expect(directory.names == [])
  }

  @Test func `many rows come page by page, each once`() async throws {
    try await fill(450)
    #expect(try await rows("SELECT id FROM notes").count == 450)
    #expect(try await rows("SELECT a.id FROM notes a, notes b").count == 202_500)
  }

  @Test(arguments: [
    ("SELECT 1, 2.5, 'é', NULL, x'00ff'", "1 2.5 é - 00FF"),
    ("WITH x AS (SELECT 1 a) SELECT count(*) FROM x", "1"),
    ("SELECT sum(value) FROM json_each('[1,2]')", "3"),
    (
      "SELECT n FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 3) SELECT n FROM c) WHERE n > 2",
      "3"
    ),
    ("/* a */ ;; SELECT 1 -- b\n ; ; -- c", "1"),
    ("VALUES (7)", "7"),
    ("SELECT row_number() OVER () FROM notes LIMIT 1", "1"),
    (
      "SELECT count(*) FROM notes a LEFT JOIN notes b USING (id) WHERE EXISTS (SELECT 1 FROM notes)",
      "3"
    ),
  ])
  func `runs statements that read`(text: String, row: String) async throws {
    try await fill()
    let found = try await rows(text).first?.map { value in
      if case .text(let text) = value { text } else { value == .null ? "-" : value.json.text }
    }
    #expect(found?.joined(separator: " ") == row)
  }

  @Test(arguments: [
    "PRAGMA writable_schema = 1", "PRAGMA query_only = 0", "PRAGMA user_version",
    "ATTACH 'other.sqlite' AS other", "ATTACH ':memory:' AS m", "DETACH main",
    "VACUUM", "VACUUM INTO 'copy.sqlite'", "REINDEX", "ANALYZE", "BEGIN", "COMMIT", "ROLLBACK",
    "SAVEPOINT a", "EXPLAIN BEGIN", "EXPLAIN SELECT json FROM records",
    "EXPLAIN QUERY PLAN DELETE FROM main.tombstones", "EXPLAIN VACUUM",
    "EXPLAIN PRAGMA query_only = 0",
    "CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)", "CREATE TEMP VIEW v AS SELECT 1",
    "CREATE VIRTUAL TABLE t USING fts5 (a)", "CREATE TABLE t AS SELECT 1",
    "DROP VIEW notes", "DROP TABLE records", "ALTER TABLE records RENAME TO r",
    "INSERT INTO notes VALUES (9, 'x')", "INSERT INTO main.records DEFAULT VALUES",
    "UPDATE main.records SET json = '{}'", "DELETE FROM main.tombstones",
    "WITH x AS (SELECT 1) DELETE FROM main.records RETURNING id",
    "DELETE FROM main.records RETURNING *", "REPLACE INTO main.shared VALUES ('a', 'b')",
    "SELECT load_extension('x.so')", "SELECT readfile('/etc/passwd')",
    "SELECT writefile('x', 'y')", "SELECT edit('x')", "SELECT fts3_tokenizer('simple')",
    "SELECT * FROM main.records", "SELECT json FROM records", "SELECT count(*) FROM records",
    "SELECT 1 FROM tombstones", "SELECT * FROM checkpoints", "SELECT value FROM shared",
    "SELECT * FROM search", "SELECT rowid FROM search WHERE search MATCH 'note'",
    "SELECT count(*) FROM search_data", "SELECT * FROM search_content",
    "SELECT * FROM sqlite_schema", "SELECT sql FROM sqlite_temp_master",
    "SELECT count(*) FROM sqlite_master", "SELECT count(*) FROM sqlite_temp_schema",
    "SELECT * FROM pragma_table_info('records')", "SELECT count(*) FROM pragma_database_list",
    "SELECT * FROM dbstat", "SELECT sql FROM sqlite_stmt", "SELECT count(*) FROM dbstat",
    "WITH notes AS (SELECT * FROM main.records) SELECT json FROM notes",
    "WITH notes AS (SELECT * FROM main.records) SELECT count(json) FROM notes",
    "SELECT (SELECT json FROM main.records) FROM notes",
    "SELECT * FROM notes JOIN main.tombstones t ON t.id = notes.id",
    "SELECT 1; SELECT 2", "SELECT 1; DROP TABLE records", "SELECT 1; x", "", " -- nothing", ";",
    "SELECT 1\0; DROP TABLE records", "SELECT ?1", "SELECT :a",
    "SELECT zeroblob(1000000000)", "SELECT randomblob(1000000000)",
    "SELECT hex(zeroblob(1000000000))", "SELECT hex(zeroblob(900000))",
    "SELECT replace(hex(zeroblob(500000)), '0', 'xxxxxxxxxxxx')",
    "SELECT json_group_array(hex(zeroblob(1000))) FROM notes a, notes b, notes c, notes d, notes e, notes f, notes g, notes h",
    "SELECT \(String(repeating: "(", count: 500))1\(String(repeating: ")", count: 500))",
    "SELECT \(String(repeating: "-", count: 1)) \(String(repeating: "+ ", count: 500))1",
    "SELECT 1\(String(repeating: " UNION ALL SELECT 1", count: 200))",
    "SELECT '\(String(repeating: "x", count: 200_000))'",
    "SELECT \(String(repeating: "1,", count: 500))1",
    "SELECT json_extract('[', '$')",
  ])
  func `rejects statements that do not only read, without side effects`(text: String) async throws {
    try await fill()
    let before = try directory.bytes()
    let names = directory.names.filter { !$0.hasSuffix("-shm") }
    let error = try #require(await failure(text))
    #expect(error.code == .invalidRequest, "\(error)")
    #expect(try directory.bytes() == before)
    let left = directory.names.filter { !$0.hasSuffix("-shm") }
    #expect(left == names)
    #expect(try await rows("SELECT count(*) FROM notes") == [[.integer(3)]])
    #expect(directory.warnings == [])
  }

  @Test(arguments: [
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT group_concat(n) FROM c",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT 1 FROM c WHERE n < 0",
    "WITH j AS (SELECT value v FROM json_each('[1,2,3,4,5,6,7,8,9]')) SELECT count(*) FROM j a, j b, j c, j d, j e, j f, j g, j h, j i, j k",
  ])
  func `endless queries time out`(text: String) async throws {
    try await fill(1)
    let error = try #require(await failure(text, within: .milliseconds(150)))
    #expect(error.code == .timedOut)
  }

  @Test func `each page has the time that is left`() async throws {
    let query = try await store.query(
      "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 300) SELECT n FROM c",
      over: views, within: .seconds(600))
    #expect(try await query.page(within: .seconds(600))?.count == 200)
    let error = await #expect(throws: SourceError.self) { _ = try await query.page(within: .zero) }
    #expect(error?.code == .timedOut)
    #expect(try await query.page(within: .seconds(600))?.count == 100)
    // At the end no time is needed.
    #expect(try await query.page(within: .zero) == nil)
  }

  @Test func `the plan of a query is shown`() async throws {
    try await fill()
    for (words, columns) in [
      ("explain query plan", ["id", "parent", "notused", "detail"]),
      ("EXPLAIN", ["addr", "opcode", "p1", "p2", "p3", "p4", "p5", "comment"]),
    ] {
      let query = try await store.query(
        "\(words) SELECT title FROM notes", over: views, within: .seconds(60))
      #expect(await query.columns == columns)
      #expect(await query.sources == ["notes"])
      #expect(try await query.page(within: .seconds(60))?.isEmpty == false)
    }
    let error = await failure("EXPLAIN QUERY PLAN SELECT nonsense FROM notes")
    #expect(error?.message == "no such column: nonsense (character 27)")
  }

  @Test(arguments: [
    ("PRAGMA table_info(notes)", "only SELECT is allowed", "sql .schema notes"),
    (
      "use things;", "near \"use\": syntax error (character 1)",
      "there is one database; its tables: notes"
    ),
    ("PRAGMA user_version", "only SELECT is allowed", "the database is read-only; use SELECT"),
  ])
  func `a statement of other programs has a remedy`(
    text: String, message: String, remedy: String
  ) async throws {
    let error = await failure(text)
    #expect(error?.message == message)
    #expect(error?.remedy?.text == remedy)
  }

  @Test func `a text and a name with a hyphen need quotes`() async throws {
    try await fill()
    let text = "use single quotes for a text: 'caf'"
    for condition in ["title = caf", #"title = "caf""#, "title LIKE caf"] {
      let error = await failure("SELECT * FROM notes WHERE \(condition)")
      #expect(error?.remedy?.text == text, "\(condition): \(String(describing: error))")
    }
    #expect(await failure("SELECT caf FROM notes")?.remedy == nil)
    let plugin = NotesPlugin(service: notebook(1))
    let views = SQLView.all(of: "my-notes", plugin.fields, plugin.tables)
    func remedy(_ text: String) async -> String? {
      let error = await #expect(throws: SourceError.self) {
        _ = try await store.query(text, over: views, within: .seconds(60))
      }
      return error?.remedy?.text
    }
    #expect(await remedy("SELECT count(*) FROM my-notes") == "quote the name: \"my-notes\"")
    #expect(await remedy(#"SELECT * FROM "my-notes" x y"#) == nil)
  }

  @Test func `REGEXP takes the patterns of the program, whose time is limited`() async throws {
    try await fill()
    func rows(
      _ text: String, within time: Duration = .seconds(60)
    ) async throws(SourceError) -> [[SQLValue]]? {
      var statement = SQLStatement(text)
      statement.patterns = { pattern throws(SourceError) in
        guard pattern != "(" else {
          throw SourceError(.invalidRequest, "unclosed", remedy: "close it")
        }
        return { value, isOver in
          guard pattern == "endless" else { return value.cell.hasPrefix(pattern) }
          while !isOver() {}
          return nil
        }
      }
      let query = try await store.query(statement, over: views, and: [], within: time)
      return try await query.page(within: time)
    }
    #expect(
      try await rows("SELECT id FROM notes WHERE id REGEXP '2' OR id REGEXP '3'")
        == [[.integer(2)], [.integer(3)]])
    #expect(
      try await rows("SELECT NULL REGEXP 'a', 'a' REGEXP NULL, regexp('', '')")
        == [[.null, .null, .integer(1)]])
    let mistake = await #expect(throws: SourceError.self) {
      try await rows("SELECT 'a' REGEXP '('")
    }
    #expect(mistake?.message == "unclosed" && mistake?.remedy?.text == "close it")
    let late = await #expect(throws: SourceError.self) {
      try await rows("SELECT 'a' REGEXP 'endless'", within: .milliseconds(200))
    }
    #expect(late?.code == .timedOut)
    #expect(await failure("SELECT regexp('a', 'a')")?.message.contains("no such function") == true)
  }

  @Test func `a cancelled task ends its query`() async throws {
    try await fill(1)
    let query = try await store.query(
      "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
      over: views, within: .seconds(60))
    let task = Task { () async -> SourceError? in
      do throws(SourceError) {
        while try await query.page(within: .seconds(60)) != nil {}
        return nil
      } catch {
        return error
      }
    }
    task.cancel()
    #expect(await task.value?.code == .cancelled)
  }

  @Test(arguments: [
    ("SELEC 1", #"near "SELEC": syntax error (character 1)"#, "SELECT" as String?),
    ("notes", #"near "notes": syntax error (character 1)"#, "SELECT * FROM notes"),
    ("SELECT 'é' FORM notes x y", #"near "notes": syntax error (character 17)"#, "FROM"),
    ("SELECT * FORM notes", #"near "FORM": syntax error (character 10)"#, "FROM"),
    ("SELECT * FROM notes wher id = 1", #"near "id": syntax error (character 26)"#, "WHERE"),
    ("SELECT * FROM notes grop BY id", #"near "BY": syntax error (character 26)"#, "GROUP"),
    ("SELECT * FROM notes ordr BY id", #"near "BY": syntax error (character 26)"#, "ORDER"),
    ("SELECT * FROM notes limt 3", #"near "3": syntax error (character 26)"#, "LIMIT"),
    ("SELECT * FROM notes n limt 3", #"near "limt": syntax error (character 23)"#, "LIMIT"),
    ("SELECT id x y FROM notes", #"near "y": syntax error (character 13)"#, nil),
    ("SELECT * FROM nots", "no such table: nots", "notes"),
    ("SELECT titel FROM notes", "no such column: titel (character 8)", "title"),
    ("SELECT n.titel FROM notes n", "no such column: n.titel (character 8)", "title"),
    (#"SELECT "titel" FROM notes"#, "no such column: titel (character 8)", "title"),
    ("SELECT * FROM records", "no such table: records", nil),
    ("SELECT count(*) FROM pages", "no such table: pages", nil),
    ("DROP TABLE records", "only SELECT is allowed", nil),
  ])
  func `an error names its position and the nearest name`(
    text: String, message: String, nearest: String?
  ) async throws {
    try await fill()
    let error = try #require(await failure(text))
    #expect(error.message == message)
    #expect((error.cause as? SQLMistake)?.nearest == nearest)
  }
}
