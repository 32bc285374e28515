import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorSQLite

/// `export`: all cached records of a source in a file.
@Suite struct ExportTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private func run(
    _ line: String, _ environment: [String: String?] = [:]
  ) async throws -> Outcome {
    try await Binary.run(line, environment: environment, in: sandbox)
  }

  private func text(_ name: String) throws -> String { try sandbox.text(of: "work/\(name)") }

  @Test func `the ending of the name is the format`() async throws {
    for ending in ["csv", "tsv", "ndjson", "json", "db"] {
      let outcome = try await run("export countries -o list.\(ending)")
      // Bundled records may not be all.
      #expect(outcome.status == 3, "\(outcome)")
      #expect(outcome.errors.contains("bundled sample data"), "\(outcome)")
      #expect(outcome.output == "")
      #expect(outcome.errors.hasSuffix("Saved list.\(ending) (250 countries)\n"), "\(outcome)")
    }
    let csv = try text("list.csv").split(separator: "\r\n")
    #expect(csv.count == 251)
    #expect(csv.first?.hasPrefix("code,name,") == true)
    #expect(try text("list.tsv").split(separator: "\n").count == 250)
    let lines = try text("list.ndjson").split(separator: "\n")
    #expect(lines.count == 250)
    #expect(lines.first?.hasPrefix(#"{"code":"AF","name":"Afghanistan","#) == true)
    #expect(try text("list.json").contains(#""verb": "export""#))

    var file = try Connection(
      sandbox.root.appending(path: "work/list.db").path, busyTimeout: .zero)
    let capitals = try file.rows("SELECT capital FROM countries WHERE code = ?1", "CW") {
      $0.text(0)
    }
    #expect(capitals == ["Willemstad"])
    #expect(try file.rows("PRAGMA integrity_check") { $0.text(0) } == ["ok"])
    #expect(try sandbox.files(under: "work").count == 5)
    for ending in ["csv", "db"] {
      let outcome = try await run("export countries -o list.\(ending)")
      #expect(outcome.errors.hasSuffix("Replaced list.\(ending) (250 countries)\n"), "\(outcome)")
    }
  }

  @Test func `an existing file is not replaced with --no-clobber`() async throws {
    for ending in ["csv", "db"] {
      let line = "export countries -o list.\(ending) --no-clobber"
      #expect(try await run(line).errors.contains("Saved list.\(ending)"))
      let file = sandbox.root.appending(path: "work/list.\(ending)")
      let bytes = try Data(contentsOf: file)
      let outcome = try await run("\(line) --fields code")
      #expect(outcome.status == 74 && outcome.output == "", "\(outcome)")
      #expect(
        outcome.errors == """
          error: cannot write to list.\(ending): File exists
          hint: name another file, or leave out --no-clobber

          """)
      #expect(try Data(contentsOf: file) == bytes)
      #expect(try sandbox.files(under: "work").count == (ending == "csv" ? 1 : 2))
    }
    let printed = try await run("export countries -o - --format csv --no-clobber")
    #expect(printed.output == (try text("list.csv")), "\(printed)")
    #expect(try await run("export countries --format singer --no-clobber").status == 64)
  }

  @Test func `a file of TSV without a header says so, and with one it can be attached`()
    async throws
  {
    let note = "list.tsv has no header; for sql --attach, export it with --headers"
    #expect(try await run("export countries -o list.tsv").errors.contains(note))
    for option in ["--no-headers", "--headers"] {
      let outcome = try await run("export countries -o list.tsv \(option)")
      #expect(!outcome.errors.contains(note), "\(outcome)")
    }
    let count = try await Binary.run(
      ["sql", "SELECT count(*) FROM list", "--attach", "list.tsv", "--tsv"], in: sandbox)
    #expect(count.output == "250\n", "\(count)")
  }

  @Test func `files are compressed by their names, and - is standard output`() async throws {
    for format in ["csv", "ndjson"] {
      #expect(try await run("export countries -o list.\(format)").status == 3)
      #expect(try await run("export countries -o list.\(format).gz").status == 3)
      let unpacked = try await Binary.run(
        [String](), in: sandbox, by: ["/bin/sh", "-c", "gzip -cd list.\(format).gz"])
      #expect(unpacked.output == (try text("list.\(format)")) && !unpacked.output.isEmpty)
      // The size is that of the last member, so there is one.
      let listed = try await Binary.run(
        [String](), in: sandbox, by: ["/bin/sh", "-c", "gzip -l list.\(format).gz"])
      #expect(listed.output.contains(" \(unpacked.output.utf8.count) "), "\(listed)")
      let printed = try await run("export countries -o - --format \(format)")
      #expect(printed.status == 3 && printed.output == unpacked.output)
      #expect(!printed.errors.contains("Saved"), "\(printed)")
    }
    #expect(try await run("export countries -o list.md").status == 3)
    #expect(try text("list.md").hasPrefix("| Code | Name |"))
  }

  @Test func `conditions and an order select what is exported`() async throws {
    let condition = "region=EU and capital>=V"
    let selected = ["--where", condition, "--sort", "-capital", "--fields", "code"]
    let exported = try await Binary.run(
      ["export", "countries", "-o", "list.csv"] + selected, in: sandbox)
    #expect(exported.status == 3, "\(exported)")
    let listed = try await Binary.run(
      ["countries", "list", "--csv", "--offline"] + selected, in: sandbox)
    #expect(try text("list.csv") == listed.output && listed.output.contains("VA"), "\(listed)")
    let wrong = try await run("export countries -o list.csv --where nmae=x")
    #expect(wrong.status == 64 && wrong.errors.contains("Did you mean \"name\"?"), "\(wrong)")
    let singer = try await run("export countries --format singer --where name=x")
    #expect(singer.status == 64 && singer.errors.contains("--where"), "\(singer)")
  }

  @Test func `cached records are exported, and missing ones are named or synced`() async throws {
    let service = try FakeComicVine()
    let settings = service.settings.mapValues(Optional.some)
    #expect(try await run("heroes list -L 2", settings).status == 0)
    let part = try await run("export heroes -o heroes.csv --fields id,name", settings)
    #expect(part.status == 3)
    #expect(try text("heroes.csv").split(separator: "\r\n").count == 3)
    #expect(part.errors.contains("limited to cached records: 2 of "), "\(part)")
    #expect(part.errors.contains("hint: aggregator heroes sync\n"), "\(part)")
    let all = try await run("export heroes --sync -o heroes.csv", settings)
    #expect(all.status == 0, "\(all)")
    let total = try await run("heroes list --count --offline", settings).output
    let count = try text("heroes.csv").split(separator: "\r\n").count
    #expect("\(count - 1)\n" == total)
    #expect(count > 50)
    #expect(!all.errors.contains("limited"), "\(all)")
  }

  @Test(arguments: [
    ("export heroes -o x.xls", 64, "unknown format of \"x.xls\""),
    ("export heroes -o x.csv.bz2", 64, "unknown format of \"x.csv.bz2\""),
    ("export heroes -o -", 64, "the format of standard output is not known"),
    ("export heroes -o - --format table", 64, "the format of standard output is not known"),
    ("export heroes -o x.db.gz", 64, "unknown format of \"x.db.gz\""),
    ("export heroes", 64, "missing option --output"),
    ("export nothing -o x.csv", 64, "unknown source \"nothing\""),
    ("export heroes -o x.json --csv-raw", 64, "--csv-raw requires a .csv file"),
    ("export heroes -o missing/x.csv", 74, "cannot write to missing/x.csv: No such file"),
    ("export heroes -o directory.csv", 74, "cannot write to directory.csv: Is a directory"),
  ])
  func `a mistake changes nothing`(line: String, status: Int32, words: String) async throws {
    let directory = sandbox.root.appending(path: "work/directory.csv")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let outcome = try await run(line)
    #expect(outcome.status == status, "\(outcome)")
    #expect(outcome.errors.hasPrefix("error: \(words)"), "\(outcome)")
    #expect(try sandbox.files(under: "work") == ["directory.csv"])
  }

  @Test func `the hint names all endings of files`() async throws {
    let errors = try await run("export heroes -o x.csv.bz2").errors
    #expect(errors.contains("or .md, also followed by .gz, or in .db or .parquet"), "\(errors)")
  }

  @Test func `a missing directory has the command that creates it`() async throws {
    let outcome = try await run("export heroes -o new/deep/x.csv")
    #expect(outcome.status == 74, "\(outcome)")
    #expect(
      outcome.errors.hasSuffix("hint: create the directory: mkdir -p new/deep\n"), "\(outcome)")
    // It is there, but takes no files.
    let refused = try await run("export heroes -o /proc/x.csv")
    #expect(refused.status == 74 && !refused.errors.contains("mkdir"), "\(refused)")
  }

  @Test func `a device is refused for what it is`() async throws {
    let outcome = try await run("export countries -o /dev/null --format csv")
    #expect(outcome.status == 74)
    #expect(outcome.errors == "error: cannot write to /dev/null: not a regular file\n")
  }

  @Test func `a failure leaves the file that was there`() async throws {
    try sandbox.write("mine", to: "work/x.parquet")
    let script = try sandbox.write("#!/bin/sh\necho no >&2\nexit 1\n", to: "bin/duckdb")
    try sandbox.makeExecutable(script)
    let path = "\(sandbox.root.appending(path: "bin").path):/usr/bin:/bin"
    let failed = try await run("export heroes -o x.parquet", ["PATH": path])
    #expect(failed.status == 69)
    #expect(failed.errors.contains("error: duckdb could not write the file"), "\(failed)")
    let missing = try await run("export heroes -o x.parquet", ["PATH": "/nowhere"])
    #expect(missing.status == 69)
    #expect(missing.errors.contains("requires duckdb, which is not installed\nhint: "))
    #expect(try text("x.parquet") == "mine")
    #expect(try sandbox.files(under: "work") == ["x.parquet"])
  }

  private static let duckDB = Repository.program(named: "duckdb")

  @Test(.enabled(if: duckDB != nil, "requires duckdb"))
  func `duckdb writes and reads Parquet`() async throws {
    let program = try #require(Self.duckDB)
    let directory = URL(filePath: program).deletingLastPathComponent().path
    let path = ["PATH": "\(directory):/usr/bin:/bin"]
    #expect(try await run("export heroes -o it's.parquet", path).status == 3)
    let query = "SELECT count(*), typeof(any_value(powers)) FROM 'it''s.parquet'"
    #expect(try sandbox.rows(of: query, by: program) == "107,VARCHAR[]\n")
  }
}
