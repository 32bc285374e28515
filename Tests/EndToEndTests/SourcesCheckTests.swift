import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `sources check`: the health of each source, with remedies.
@Suite struct SourcesCheckTests {
  private static let fields = "--fields source,status,key,records,origin,exitCode --tsv"

  @Test func `reports healthy services with one request each`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let names = FourServices.sources.map(\.name).joined(separator: " ")
    let outcome = try await home.run("sources check \(names) \(Self.fields)")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(
      outcome.lines == [
        "countries\tok\tnot needed\t0\tlive\t0", "heroes\tok\tset\t0\tlive\t0",
        "products\tok\tnot needed\t0\tlive\t0", "users\tok\tnot needed\t0\tlive\t0",
      ])
    #expect(outcome.errors == "")
    #expect(services.requestCount() == 4)
    let laws = try await home.run("sources check heroes --fields laws --json")
    #expect(laws.output.contains("field-kinds: holds"))
    #expect(laws.output.contains("field-stored: holds"))
    let latency = try await home.run("sources check users --fields milliseconds --tsv")
    #expect(try #require(latency.lines.first.flatMap { Int($0) }) >= 0)
  }

  @Test func `prints one line for each source, marked as the terminal allows`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    services.products.stop()
    let line = "sources check products users --timeout 20s --format table"
    let table = try await home.run(line, ["LC_ALL": "en_US.UTF-8"])
    #expect(table.status == 69, "\(table)")
    #expect(table.lines.count == 2, "\(table)")
    #expect(table.lines.first?.hasPrefix("✗ products  failed  bundled") == true, "\(table)")
    let users = try #require(table.lines.last)
    #expect(try #/✓ users +[0-9.]+ m?s  live/#.wholeMatch(in: users) != nil, "\(table)")
    #expect(table.errors.contains("warning: products: "))
    let ascii = try await home.run(line)
    #expect(ascii.lines.map(\.first) == ["x", "+"], "\(ascii)")
    let colored = try await home.run("\(line) --color always")
    #expect(colored.output.hasPrefix("\u{1B}[31mx\u{1B}[0m"), "\(colored)")
    let cards = try await home.run("\(line) --verbose")
    #expect(cards.output.contains("Exit code"), "\(cards)")
    let narrow = try await home.run(line, ["COLUMNS": "20"])
    #expect(narrow.lines.allSatisfy { $0.count <= 20 }, "\(narrow)")
  }

  @Test func `checks all sources unless some are named`() async throws {
    let outcome = try await TestHome().run("sources check --fields source --tsv")
    #expect(outcome.lines == sourceNames)
  }

  @Test func `reports each problem and exits with the worst code`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    #expect(try await home.run("products list").status == 0)
    services.countries.stop()
    services.products.fail(with: .stalled)
    services.users.fail(with: .html(title: "Maintenance"))
    let lines: [(variables: [String: String?], sources: String, code: Int32, rows: [String])] = [
      ([:], "countries", 69, ["countries\tfailed\tnot needed\t0\tbundled\t69"]),
      ([:], "products", 75, ["products\tfailed\tnot needed\t20\tcached\t75"]),
      ([:], "users", 76, ["users\tfailed\tnot needed\t0\tbundled\t76"]),
      (
        ["COMIC_VINE_API_KEY": "wrong"], "heroes", 77, ["heroes\tfailed\tset\t0\tbundled\t77"]
      ),
      (
        ["COMIC_VINE_API_KEY": nil], "countries heroes", 77,
        [
          "countries\tfailed\tnot needed\t0\tbundled\t69",
          "heroes\tfailed\tmissing\t0\tbundled\t77",
        ]
      ),
      (
        [:], "heroes countries", 69,
        ["heroes\tok\tset\t0\tlive\t0", "countries\tfailed\tnot needed\t0\tbundled\t69"]
      ),
    ]
    for (variables, sources, code, rows) in lines {
      // Products never answer.
      let time = sources == "products" ? "2s" : "60s"
      let outcome = try await home.run(
        "sources check \(sources) --timeout \(time) \(Self.fields)", variables)
      #expect(outcome.status == code, "\(sources): \(outcome)")
      #expect(outcome.lines == rows, "\(sources): \(outcome)")
      #expect(outcome.errors.contains("warning: "), "\(outcome)")
    }
  }

  @Test func `rows of the page that cannot be read are reported`() async throws {
    let server = try LoopbackServer { _ in
      .json(#"{"lamps": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"name": "c"}]}"#)
    }
    let home = try TestHome()
    _ = try await home.run("sources add lamps \(server.baseURL)/lamps --id id --single --rate off")
    let outcome = try await home.run("sources check lamps --fields source,status,exitCode --tsv")
    #expect(outcome.status == 3 && outcome.lines == ["lamps\tincomplete\t3"], "\(outcome)")
    #expect(outcome.errors == "warning: lamps: 1 row could not be read\n", "\(outcome)")
  }

  @Test func `shows no secret and rejects an unknown source`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    for format in ["--json", "--tsv", "--format table --verbose"] {
      let outcome = try await home.run("sources check heroes \(format)")
      #expect(outcome.output.contains("COMIC_VINE_API_KEY = set (…"), "\(outcome)")
      #expect(!outcome.output.contains(FakeComicVine.key))
    }
    let wrong = try await home.run("sources check heros")
    #expect(wrong.status == 64)
    #expect(wrong.errors.contains("Did you mean \"heroes\"?"))
  }

  @Test func `a failing source without bundled data has no origin`() async throws {
    let home = try TestHome()
    try home.sandbox.write("{\"url\": 7}", to: home.manifestPath("broken.json"))
    let outcome = try await home.run("sources check broken --fields source,status,origin --tsv")
    #expect(outcome.status == 78, "\(outcome)")
    #expect(outcome.lines == ["broken\tfailed\t"])
    let table = try await home.run("sources check broken --format table")
    #expect(table.lines == ["x broken  failed"], "\(table)")
  }
}
