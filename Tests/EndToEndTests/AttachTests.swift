import AggregatorFiles
import AggregatorKit
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorSQLite

/// `sql --attach`: queries of files beside the store.
@Suite struct AttachTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  private func sql(_ query: String, _ options: String...) async throws -> Outcome {
    try await Binary.run(
      ["sql", query, "--csv"] + options, environment: home.environment, in: home.sandbox)
  }

  /// Queries a file with these contents.
  private func table(_ contents: String, _ query: String, name: String = "t.csv") async throws
    -> Outcome
  {
    try home.sandbox.write(contents, to: "work/\(name)")
    return try await sql(query, "--attach", name)
  }

  /// Makes a database in the working directory.
  private func database(_ name: String, _ statements: StaticString) throws -> String {
    let path = home.sandbox.work.appending(path: name).path
    try Connection(path, busyTimeout: .zero, flags: 6).execute(statements)
    return path
  }

  @Test func `a CSV file is a table, which can be joined with sources`() async throws {
    let views = SourceViews { [] }
    _ = try await SQLiteStore(at: home.file.path, showing: views).save(
      StoreBatch([
        StoreEntry(id: "FR", json: Data(#"{"code":"FR","name":"France"}"#.utf8)) {
          FoldedText("")
        } mergedWithStored: { _ in
          nil
        }
      ]), of: "countries", at: Date(timeIntervalSince1970: 0))
    let outcome = try await table(
      "code,sold\nFR,7\nFR,10\nXX,1\n",
      "SELECT c.name, sum(s.sold) AS sold FROM countries c JOIN sales s USING (code)",
      name: "sales.csv")
    #expect(outcome.output == "name,sold\r\nFrance,17\r\n", "\(outcome)")
    // The cache has one country.
    #expect(outcome.status == 3)
    // No more than reading it once, and nothing is left behind.
    #expect(try home.sandbox.files(under: "work") == ["sales.csv"])
  }

  @Test(arguments: ["a;b\n1,5;2\n", "a\tb\n1,5\t2\n", "a,b\n\"1,5\",2\n"])
  func `the first line shows what separates the values of a CSV file`(text: String) async throws {
    let outcome = try await table(text, "SELECT a, b + 1 AS more FROM t")
    #expect(outcome.output == "a,more\r\n\"1,5\",3\r\n", "\(outcome)")
  }

  @Test func `numbers are numbers if all of a column are`() async throws {
    let outcome = try await table(
      """
      whole,real,zip,mixed,big,none,empty,neg
      1,2.5,01234,7,12345678901234567890,,"",-3
      20,1e3,99999,x,1,,"",-0.5

      """,
      """
      SELECT typeof(whole), typeof(real), typeof(zip), typeof(mixed), typeof(big), typeof(none),
        typeof(empty), typeof(neg), max(whole), max(real), zip FROM t
      """)
    #expect(
      outcome.output.contains("\r\ninteger,real,text,text,text,null,text,real,20,1000.0,99999\r\n"),
      "\(outcome)")
  }

  static let texts: [(String, String)] = [
    ("a,b\r\n1,x\r\n\r\n2,y", "1,x;2,y"),
    ("\u{FEFF}a,b\n\"1\",\"x, \"\"y\"\"\nz\"\n", "1,\"x, \"\"y\"\"\nz\""),
    ("\"a\",b\n1,in \"quotes\"\n", "1,\"in \"\"quotes\"\"\""),
    ("a,b\n1,\"\"\n2,\n", "1,;2,"),
    ("a,b\n1,日本\n", "1,日本"),
    ("a,b\n", ""),
    ("a,b\n\"1\",\"x\"\r\n", "1,x"),
  ]

  @Test(arguments: texts)
  func `reads RFC 4180, and the line breaks of Windows`(text: String, rows: String) async throws {
    let outcome = try await table(text, "SELECT a, b FROM t")
    #expect(outcome.status == 0, "\(outcome)")
    let expected = ["a,b"] + rows.split(separator: ";").map(String.init)
    #expect(outcome.output == expected.map { "\($0)\r\n" }.joined())
  }

  static let mistakes: [(String, String)] = [
    ("a,b\n1,2\n3\n", "t.csv:3: 1 value, but the first line names 2 columns"),
    ("a,b\n\"1\n\n\",2\n3,4,5\n", "t.csv:5: 3 values, but the first line names 2 columns"),
    ("a\n\"x\n", "t.csv:2: a quote is not closed"),
    ("a\n\"x\"y\n", "t.csv:2: text after a closing quote"),
    ("", "t.csv:1: the first line must name the columns"),
    ("a\n\(String(repeating: "x", count: 1_100_000))\n", "t.csv:2: a value is larger than 1 MB"),
    (String(repeating: "x,", count: 200) + "y\n", "t.csv:1: 201 columns (maximum 200)"),
  ]

  @Test(arguments: mistakes.indices)
  func `a mistake in a file names its line`(index: Int) async throws {
    let (text, message) = Self.mistakes[index]
    let outcome = try await table(text, "SELECT 1")
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasPrefix("error: \(message)\n"), "\(outcome.errors.prefix(300))")
  }

  @Test func `text in another encoding says how to convert it`() async throws {
    let file = home.sandbox.work.appending(path: "t.csv")
    try Data([0x61, 0x0A, 0xE9, 0x0A]).write(to: file)
    let outcome = try await sql("SELECT 1", "--attach", "t.csv")
    #expect(outcome.status == 64)
    #expect(
      outcome.errors.hasPrefix("error: t.csv:2: invalid UTF-8\nhint: convert it"), "\(outcome)")
  }

  @Test func `names of columns and files are data`() async throws {
    let name = #"x"; DROP TABLE records; --.csv"#
    let outcome = try await table(
      "id,ID,,\"a\"\"b\"\n1,2,3,4\n", #"SELECT * FROM "x""; DROP TABLE records; --""#, name: name)
    #expect(outcome.output == "id,ID_2,column_3,\"a\"\"b\"\r\n1,2,3,4\r\n", "\(outcome)")
    let named = try await sql("SELECT id FROM y", "--attach", "y=\(name)")
    #expect(named.output == "id\r\n1\r\n", "\(named)")
  }

  @Test func `a named pipe is read within the time limit`() async throws {
    let path = home.sandbox.work.appending(path: "t.csv").path
    #expect(mkfifo(path, 0o600) == 0)
    let late =
      "error: the query timed out reading \"t.csv\"\nhint: allow more time with --timeout\n"
    let withoutWriter = try await sql("SELECT 1", "--attach", "t.csv", "--timeout", "200ms")
    #expect(withoutWriter.status == 75 && withoutWriter.errors == late, "\(withoutWriter)")
    let silent = try OpenFile(path, O_RDWR)
    let waiting = try await sql("SELECT 1", "--attach", "t.csv", "--timeout", "200ms")
    #expect(waiting.status == 75 && waiting.errors == late, "\(waiting)")
    _ = consume silent
    // Not the same one: a process that another test is starting may still have that open, and end it.
    let other = home.sandbox.work.appending(path: "u.csv").path
    #expect(mkfifo(other, 0o600) == 0)
    // It waits for the program.
    Thread.detachNewThread {
      guard let writer = try? OpenFile(other, O_WRONLY) else { return }
      _ = write(writer.descriptor, "a\n1\n", 4)
    }
    let read = try await sql("SELECT a + 1 AS b FROM u", "--attach", "u.csv", "--timeout", "10m")
    #expect(read.output == "b\r\n2\r\n", "\(read)")
  }

  @Test func `tab-separated values have no commas`() async throws {
    let outcome = try await table("a\tb\n1,5\tx\n", "SELECT * FROM t", name: "t.tsv")
    #expect(outcome.output == "a,b\r\n\"1,5\",x\r\n", "\(outcome)")
  }

  @Test func `a file of TSV has the values that were written to it`() async throws {
    let values = [
      "a": "'می' || char(8204) || 'خواهم'", "b": "'\"x\" y' || char(9, 10, 92)", "c": #"'C:\temp'"#,
    ].sorted { $0.key < $1.key }
    let columns = values.map { "\($0.value) AS \($0.key)" }.joined(separator: ", ")
    let written = try await Binary.run(
      ["sql", "SELECT \(columns)", "--tsv", "--headers"], environment: home.environment,
      in: home.sandbox)
    #expect(
      written.output == "a\tb\tc\nمی\u{200C}خواهم\t\\x22x\" y\\t\\n\\\\\tC:\\\\temp\n", "\(written)"
    )
    let same = values.map { "\($0.key) = \($0.value) AS \($0.key)" }.joined(separator: ", ")
    let outcome = try await table(written.output, "SELECT \(same) FROM t", name: "t.tsv")
    #expect(outcome.output == "a,b,c\r\n1,1,1\r\n", "\(outcome)")
  }

  @Test func `a database is read under its name, and never written`() async throws {
    let path = try database(
      "shop.db",
      "CREATE TABLE orders (id, code); INSERT INTO orders VALUES (1, 'FR'); CREATE TABLE records (x)"
    )
    let before = try Data(contentsOf: URL(filePath: path))
    for query in ["SELECT id FROM shop.orders", "SELECT id FROM orders"] {
      let outcome = try await sql(query, "--attach", "shop.db")
      #expect(outcome.output == "id\r\n1\r\n", "\(outcome)")
    }
    #expect(
      try await sql("SELECT count(*) AS n FROM shop.records", "--attach", "shop.db").output
        == "n\r\n0\r\n")
    #expect(
      try await sql("SELECT id FROM s.orders", "--attach", "s=\(path)").output == "id\r\n1\r\n")
    for query in [
      "INSERT INTO shop.orders VALUES (2, 'DE')", "DROP TABLE shop.orders", "ATTACH 'x.db' AS x",
      "ATTACH ':memory:' AS m", "DETACH shop", "SELECT * FROM shop.sqlite_schema",
      "SELECT count(*) FROM shop.sqlite_master", "PRAGMA shop.user_version = 7",
      "VACUUM shop INTO 'copy.db'", "CREATE TEMP VIEW v AS SELECT 1",
    ] {
      let outcome = try await sql(query, "--attach", "shop.db")
      #expect(outcome.status == 64, "\(query): \(outcome)")
    }
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
    #expect(try home.sandbox.files(under: "work") == ["shop.db"])
  }

  @Test(arguments: ["tombstones", "Records", "shared"])
  func `a file cannot have the name of a table of the store`(name: String) async throws {
    try home.sandbox.write("id\n1\n", to: "work/x.csv")
    let outcome = try await sql("SELECT count(*) FROM main.\(name)", "--attach", "\(name)=x.csv")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("the name is taken"), "\(outcome)")
  }

  @Test func `a view of a hostile database calls no function of the program`() async throws {
    _ = try database(
      "evil.db",
      "CREATE VIEW v AS SELECT load_extension('x'); CREATE VIEW w AS SELECT * FROM missing; CREATE TABLE \"a\"\"b\" (c)"
    )
    #expect(try await sql("SELECT * FROM evil.v", "--attach", "evil.db").status == 64)
    #expect(try await sql("SELECT * FROM evil.w", "--attach", "evil.db").status == 64)
    #expect(try await sql(#"SELECT c FROM "a""b""#, "--attach", "evil.db").status == 0)
  }

  @Test func `a file that cannot be attached is reported`() async throws {
    try home.sandbox.write("id\n1\n", to: "work/countries.csv")
    try home.sandbox.write("no database", to: "work/x.db")
    try home.sandbox.write("", to: "work/x.txt")
    let taken =
      "error: cannot attach \"countries.csv\" as \"countries\": the name is taken\n"
      + "hint: choose another name with --attach NAME=FILE\n"
    for (word, message) in [
      ("countries.csv", taken),
      ("main=x.db", "error: cannot attach \"x.db\" as \"main\": the name"),
      ("none.csv", "error: cannot read \"none.csv\": No such file"),
      ("none.db", "error: cannot read \"none.db\": No such file"),
      ("x.db", "error: cannot attach \"x.db\": not an SQLite database"),
      ("x.txt", "error: cannot attach \"x.txt\": must be a .csv, .tsv, .sqlite or .db file"),
    ] {
      let outcome = try await sql("SELECT 1", "--attach", word)
      #expect(outcome.status == (word.hasPrefix("none") ? 74 : 64), "\(outcome)")
      #expect(outcome.errors.hasPrefix(message), "\(outcome)")
    }
    let twice = try await sql(
      "SELECT 1", "--attach", "a=countries.csv", "--attach", "A=countries.csv")
    #expect(twice.errors.contains("the name is taken"), "\(twice)")
    let typo = try await sql("SELECT * FROM sale", "--attach", "sales=countries.csv")
    #expect(typo.errors.contains("Did you mean \"sales\"?"), "\(typo)")
    #expect(typo.errors.contains("users, sales\n"), "\(typo)")
  }
}
