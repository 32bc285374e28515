import AggregatorFakeServices
import AggregatorKit
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The destinations of records and messages, and failures to write them.
@Suite struct OutputTests {
  @Test func `CSV says that values are not as they were because of spreadsheets`() async throws {
    let query = "SELECT '=1+1' AS \"@a\", '+49 30' AS b, -3 AS c, '''' AS d"
    let line = ["sql", query, "--csv"]
    let safe = try await Binary.run(line)
    #expect(safe.output == "'@a,b,c,d\r\n'=1+1,'+49 30,-3,'\r\n", "\(safe)")
    #expect(
      safe.errors.contains(
        "note: a ' precedes 3 values, which spreadsheets would run as formulas; --csv-raw leaves it out\n"
      ),
      "\(safe)")
    let raw = try await Binary.run(line + ["--csv-raw"])
    #expect(raw.output == "@a,b,c,d\r\n=1+1,+49 30,-3,'\r\n", "\(raw)")
    #expect(!raw.errors.contains("formula"), "\(raw)")
    let quiet = try await Binary.run(line + ["--quiet"])
    #expect(!quiet.errors.contains("formula") && quiet.output == safe.output, "\(quiet)")
  }

  @Test func `a closed pipe is not a failure`() async throws {
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      "heroes list --all --offline --json", output: .descriptor(pipe.writeEnd))
    pipe.close(pipe.writeEnd)
    // More than a pipe holds is still to come.
    #expect(await pipe.firstBytes() == Array("{".utf8))
    pipe.close(pipe.readEnd)
    let outcome = try await run.outcome()
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
  }

  @Test(arguments: [
    "countries list --offline", "countries show FR --offline --json", "--version", "help",
    "config path",
    "countries deal --offline --csv", "heroes open 1443 --offline --print-url",
  ])
  func `a full disk exits 74`(line: String) async throws {
    guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
    let outcome = try await Binary.run(line, output: .file("/dev/full"))
    #expect(outcome.status == 74)
    #expect(
      outcome.errors.contains("error: cannot write to standard output: No space left on device\n"))
  }

  @Test(
    arguments: [
      ("countries show FR --fields code,name --tsv --headers", "code\tname\nFR\tFrance\n"),
      ("countries show FR --fields code,name --headers", "code\tname\nFR\tFrance\n"),
      ("countries list --limit 1 --fields code --format tsv --headers", "code\nAF\n"),
      ("countries search FR --limit 1 --fields code --tsv --headers", "code\nFR\n"),
      ("countries show FR --fields code,name --csv --no-headers", "FR,France\r\n"),
      ("countries show FR --fields code,name --csv --headers", "code,name\r\nFR,France\r\n"),
      ("countries show FR --fields code,name --tsv --no-headers", "FR\tFrance\n"),
      ("export countries -o - --format tsv --headers --fields code", nil),
    ] as [(String, String?)])
  func `CSV and TSV have a header, or none`(line: String, text: String?) async throws {
    let isExport = line.hasPrefix("export")
    let outcome = try await Binary.run(line + (isExport ? "" : " --offline"))
    #expect(outcome.status == (isExport ? 3 : 0), "\(outcome)")
    if let text { #expect(outcome.output == text) }
    if isExport { #expect(outcome.lines.prefix(2) == ["code", "AF"]) }
  }

  @Test func `queries in SQL have a header, too`() async throws {
    for (options, text) in [
      (["--tsv", "--headers"], "a\tb c\n1\t2\n"), (["--csv", "--no-headers"], "1,2\r\n"),
    ] {
      let outcome = try await Binary.run(["sql", "SELECT 1 AS a, 2 AS \"b c\""] + options)
      #expect(outcome.output == text, "\(outcome)")
    }
  }

  @Test(arguments: [
    ("countries list --json --headers", "--headers requires --csv or --tsv"),
    ("countries list --json --no-headers", "--no-headers requires --csv or --tsv"),
    (
      "countries list --csv --headers --no-headers",
      "--headers and --no-headers cannot be used together"
    ),
    ("export countries -o x.json --headers", "--headers requires a .csv or .tsv file"),
  ])
  func `a header is of CSV and TSV`(line: String, error: String) async throws {
    let outcome = try await Binary.run(line)
    #expect(outcome.status == 64 && outcome.errors.hasPrefix("error: \(error)"), "\(outcome)")
  }

  @Test func `a closed standard output exits 74, and nothing is sent to the service`()
    async throws
  {
    let service = try FakeComicVine()
    let outcome = try await Binary.run(
      "heroes list --limit 3", environment: service.settings, output: .closed)
    #expect(outcome.status == 74)
    #expect(service.requests.count == 1)
    #expect(outcome.errors.hasPrefix("error: cannot write to standard output: Bad file descriptor"))
  }

  @Test func `in a pipe records are tab-separated cells without a header`() async throws {
    let outcome = try await Binary.run("countries list --offline --limit 2")
    #expect(outcome.output == "AF\tAfghanistan\tAS\tKabul\nAL\tAlbania\tEU\tTirana\n")
    #expect(try await Binary.run("countries list --offline -L2 --tsv").output == outcome.output)
  }

  @Test func `CSV has a header and CRLF line ends`() async throws {
    let outcome = try await Binary.run("countries show AF BO --offline --csv")
    #expect(
      outcome.output == "code,name,region,capital\r\n"
        + "AF,Afghanistan,AS,Kabul\r\n"
        + "BO,\"Bolivia, Plurinational State of\",SA,Sucre\r\n", "\(outcome.output)")
  }

  @Test func `ndjson has one object per line`() async throws {
    let outcome = try await Binary.run("countries list --offline --limit 2 --ndjson")
    #expect(
      outcome.output == """
        {"code":"AF","name":"Afghanistan","region":"AS","capital":"Kabul"}
        {"code":"AL","name":"Albania","region":"EU","capital":"Tirana"}

        """)
  }

  @Test(arguments: [
    "countries list --offline", "countries search new --offline", "countries show FR --offline",
    "countries next --offline",
    "countries deal --offline", "heroes list", "sources", "config list", "sources show heroes",
  ])
  func `JSON is one document with these keys in this order`(line: String) async throws {
    let outcome = try await Binary.run("\(line) --json")
    #expect(outcome.status == 0)
    let document = try JSONDecoder().decode([String: Keys].self, from: Data(outcome.output.utf8))
    let keys = ["schema", "source", "verb", "query", "items", "page", "provenance", "warnings"]
    #expect(Set(document.keys) == Set(keys))
    #expect(Self.order(of: keys, in: outcome.output, indentation: "\n  "))
    #expect(document["page"]?.names == ["count", "total", "next"])
    #expect(Self.order(of: ["count", "total", "next"], in: outcome.output))
    if let provenance = document["provenance"]?.names, !provenance.isEmpty {
      #expect(provenance == ["origin", "fetchedAt", "reason", "endpoint"])
      #expect(Self.order(of: ["origin", "fetchedAt", "reason", "endpoint"], in: outcome.output))
    }
    #expect(outcome.output.hasSuffix("}\n"))
    #expect(outcome.output.contains("\"schema\": \"aggregator/1\""))
  }

  @Test func `--quiet hides notes and warnings but no errors`() async throws {
    for option in ["--quiet", "-q"] {
      let quiet = try await Binary.run("heroes list \(option)")
      #expect(quiet.status == 0)
      #expect(quiet.lines.count == 20)
      #expect(quiet.errors == "")
      let failed = try await Binary.run("heroes list --no-fallback \(option)")
      #expect(failed.status == 77)
      #expect(failed.errors.hasPrefix("error: heroes: COMIC_VINE_API_KEY is not set\n"))
    }
  }

  @Test func `--verbose prints one line per request, without the key`() async throws {
    let service = try FakeComicVine()
    let outcome = try await Binary.run("heroes list --all -v", environment: service.settings)
    #expect(outcome.status == 0)
    #expect(outcome.errorLines.count == 3)
    for line in outcome.errorLines {
      #expect(line.contains(/^200, [0-9]+ bytes in [^:]+: http:/), "\(line)")
      #expect(line.contains("\(service.url.absoluteString)/characters/?api_key="))
    }
    #expect(!outcome.errors.contains(FakeComicVine.key))
  }

  /// The names of an object's members; nothing of anything else.
  private struct Keys: Decodable {
    let names: Set<String>

    private struct Name: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init?(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      names = Set((try? decoder.container(keyedBy: Name.self))?.allKeys.map(\.stringValue) ?? [])
    }
  }

  /// `true` if keys are in this order, each at its first occurrence.
  private static func order(
    of keys: [String], in text: String, indentation: String = ""
  ) -> Bool {
    let places = keys.map { text.range(of: "\(indentation)\"\($0)\":")?.lowerBound }
    let found = places.compactMap(\.self)
    return found.count == keys.count && found == found.sorted()
  }
}
