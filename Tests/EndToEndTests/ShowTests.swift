import AggregatorFakeServices
import AggregatorKit
import AggregatorPlugins
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `show` and `open`.
@Suite struct ShowTests {
  @Test func `IDs with the same failure are reported together`() async throws {
    let none = try await Binary.run("heroes show 999999998 999999999 abc")
    #expect(none.status == 77)
    #expect(none.output == "")
    #expect(
      none.errors == """
        error: heroes: COMIC_VINE_API_KEY is not set (IDs 999999998, 999999999)
        hint: get a key at https://comicvine.gamespot.com/api
        hint: aggregator config set COMIC_VINE_API_KEY
        error: heroes: hero "abc" is neither cached nor bundled (COMIC_VINE_API_KEY is not set)
        hint: aggregator heroes search abc

        """)

    let part = try await Binary.run("heroes show 999999998 1443 999999999 --fields name")
    #expect(part.status == 3)
    #expect(part.output == "Spider-Man\n")
    #expect(
      part.errors == """
        warning: heroes: COMIC_VINE_API_KEY is not set (IDs 999999998, 999999999)
        hint: get a key at https://comicvine.gamespot.com/api
        hint: aggregator config set COMIC_VINE_API_KEY
        warning: heroes: showing bundled sample data

        """)
  }

  @Test func `IDs are read from standard input, the first column of each line`() async throws {
    let line = "countries show - --offline --fields code --tsv"
    let shown = try await Binary.run(line, input: "FR\r\n\n  DE \nIT\tItaly\tEU\nFR")
    #expect(shown.output == "FR\nDE\nIT\nFR\n")
    #expect(shown.status == 0)
    let listed = try await Binary.run("countries list -L 3 --offline --fields code,name")
    let all = try await Binary.run(line, input: listed.output)
    #expect(all.output == listed.lines.map { "\($0.prefix(2))\n" }.joined())
  }

  @Test func `an unknown ID among several on standard input is reported beside the others`()
    async throws
  {
    let part = try await Binary.run(
      "countries show - --offline --fields code --tsv", input: "FR\nXX\nDE\n")
    #expect(part.output == "FR\nDE\n")
    #expect(part.status == 3)
    #expect(part.errors.contains("country XX"), "\(part)")
    let none = try await Binary.run("countries show - --offline", input: "XX\nXY\n")
    #expect(none.output == "")
    #expect(none.status == 69)
    #expect(none.errors.contains("XX") && none.errors.contains("XY"), "\(none)")
    let line = try await Binary.run("heroes show - --offline", input: "1 2 3\n")
    #expect(line.errors.hasSuffix(", or one per line on standard input\n"), "\(line)")
  }

  @Test(arguments: ["show", "open", "image", "delete", "restore"], ["", "\n \r\n\t\n"])
  func `standard input without an ID exits 64`(verb: String, input: String) async throws {
    let outcome = try await Binary.run("heroes \(verb) -", input: input)
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(
      outcome.errors == """
        error: standard input contains no ID
        hint: pass one ID per line: aggregator heroes \(verb) - < ids.txt

        """)
  }

  @Test func `several pages are opened from standard input, but not very many`() async throws {
    let line = "heroes open - --print-url --offline"
    let opened = try await Binary.run(line, input: "1443\n999999999\n1453\n")
    #expect(opened.lines.count == 2)
    #expect(opened.lines.allSatisfy { $0.hasPrefix("https://comicvine.gamespot.com/") })
    #expect(opened.status == 3)
    #expect(opened.errors.contains("999999999"), "\(opened)")
    let many = try await Binary.run(line, input: (1...21).map { "\($0)\n" }.joined())
    #expect(many.status == 64)
    #expect(many.errors.contains("more than 20 pages to open; nothing was opened"))
  }

  @Test(arguments: ["open", "image -o x"])
  func `an invalid ID exits 64`(verb: String) async throws {
    let outcome = try await Binary.run("heroes \(verb) abc --offline")
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(
      outcome.errors == """
        error: heroes: invalid hero ID "abc": must be a number
        hint: aggregator heroes search abc

        """)
  }

  @Test(arguments: [
    "heroes show 1443,1440 --offline", "heroes delete 1443,1440 --yes",
    "countries show FR,DE --offline",
  ])
  func `IDs with commas between them are several`(line: String) async throws {
    let outcome = try await Binary.run(line)
    #expect(outcome.status != 0)
    #expect(
      outcome.errors.hasSuffix(
        "hint: pass each ID as an argument of its own, or one per line on standard input\n"),
      "\(outcome)")
  }

  @Test func `a hero is found in the bundle while the service is down`() async throws {
    let outcome = try await Binary.run("heroes show 1443 --json")
    #expect(outcome.status == 0)
    #expect(try outcome.envelope().items.map(\.name) == ["Spider-Man"])
    #expect(try outcome.envelope().provenance?.reason == "missingKey")
  }

  @Test func `a name is suggested where none is found`() async throws {
    let outcome = try await Binary.run("heroes show batmn --offline")
    #expect(outcome.status == 69, "\(outcome)")
    #expect(outcome.errors.contains(#"Did you mean "batman"?"#), "\(outcome)")
    // "spider" and "captain" are near, but are words of several names.
    for word in ["qqqqqq", "spidr", "captan"] {
      let unknown = try await Binary.run("heroes show \(word) --offline")
      #expect(!unknown.errors.contains("Did you mean"), "\(unknown)")
      #expect(unknown.errors.contains("hint: aggregator heroes search \(word)\n"), "\(unknown)")
    }
  }

  @Test func `a URL is printed for scripts`() async throws {
    let service = try FakeComicVine()
    let outcome = try await Binary.run(
      "heroes open 1253 --print-url", environment: service.settings)
    #expect(outcome.status == 0)
    #expect(outcome.output == "https://comicvine.example/character/4005-1253/\n")
    #expect(outcome.errors == "")
  }

  @Test func `without a browser, the error names the URL`() async throws {
    let sandbox = try Sandbox()
    let outcome = try await Binary.run(
      "heroes open 1443 --offline", environment: ["PATH": sandbox.work.path], in: sandbox)
    #expect(outcome.status == 69)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasPrefix("error: no browser found ("))
    #expect(
      outcome.errors.hasSuffix(
        "\nhint: open https://comicvine.gamespot.com/spider-man/4005-1443/ yourself\n"))
  }

  #if os(Linux)
    @Test(arguments: [0, 4])
    func `the browser receives the URL`(status: Int32) async throws {
      let sandbox = try Sandbox()
      let opener = try sandbox.write(
        "#!/bin/sh\nprintf '%s|' \"$@\" >../opened\nexit \(status)\n", to: "bin/xdg-open")
      try sandbox.makeExecutable(opener)
      let outcome = try await Binary.run(
        "heroes open 1443 --offline",
        environment: ["PATH": opener.deletingLastPathComponent().path], in: sandbox)
      #expect(outcome.status == (status == 0 ? 0 : 69))
      #expect(outcome.errors.contains("xdg-open failed with status 4\n") == (status == 4))
      #expect(
        try sandbox.text(of: "opened") == "https://comicvine.gamespot.com/spider-man/4005-1443/|")
    }
  #endif

  @Test(arguments: [
    "javascript:alert(1)", "file:///etc/passwd", "--help", "//x", "http://", "",
    "https://user:pw@x.example/",
  ])
  func `opens only web URLs`(link: String) async throws {
    let service = try FakeServer(
      .json(
        #"{"error":"OK","status_code":1,"results":{"id":1,"name":"X","site_detail_url":"\#(link)"}}"#
      ))
    let outcome = try await Binary.run("heroes open 1 --print-url", environment: service.settings)
    #expect(outcome.status == 1)
    #expect(outcome.output == "")
    #expect(outcome.errors == "error: hero 1 has no web page\n")
  }

  @Test(arguments: AggregatorPlugins.plugins.map(\.name))
  func `show begins with the columns of list`(source: String) async throws {
    let plugin = try #require(AggregatorPlugins.plugins.first { $0.name == source })
    let id = try await firstID(of: plugin)
    for format in ["tsv", "csv"] {
      func lastLine(_ line: String) async throws -> String {
        let outcome = try await Binary.run("\(source) \(line) --offline --\(format)")
        return String(try #require(outcome.output.split(whereSeparator: \.isNewline).last))
      }
      let (row, card) = (try await lastLine("list -L1"), try await lastLine("show \(id)"))
      #expect(card.hasPrefix(row), "\(card)")
    }
  }

  private func firstID(of plugin: some Plugin) async throws -> String {
    let page = try await plugin.bundled.page(PageRequest(limit: 1))
    return try #require(page.records.first).id.description
  }

  @Test func `on a terminal a long biography comes last and is shortened, unless --full is given`()
    async throws
  {
    let biography = (1...1834).map { "<p>Line \($0)</p>" }.joined()
    let service = try FakeServer(
      .json(
        #"{"error":"OK","status_code":1,"results":{"id":1,"name":"X","deck":"In short.","#
          + #""description":"\#(biography)","site_detail_url":"https://x.example/1"}}"#))
    let terminal = ["AGGREGATOR_FORCE_TTY": "80", "TERM": "dumb"]
    let environment = service.settings.merging(terminal) { $1 }
    let short = try await Binary.run("heroes show 1", environment: environment)
    #expect(short.lines.count < 20)
    #expect(short.lines.prefix(3).contains { $0.hasSuffix("In short.") })
    #expect(short.lines.last?.hasSuffix(" more lines: --full") == true, "\(short)")
    let link = try #require(short.lines.firstIndex { $0.hasSuffix("https://x.example/1") })
    #expect(short.lines[link + 1].contains("Line 1"))
    let full = try await Binary.run("heroes show 1 --full", environment: environment)
    #expect(full.lines.last?.hasSuffix("Line 1834") == true)
    let piped = try await Binary.run(
      "heroes show 1 --format table", environment: service.settings)
    #expect(piped.output == full.output)
  }

  @Test func `a deal is a random country, and the same for the same seed`() async throws {
    let service = try FakeCountries()
    let deals = try await [7, 7, 8].asyncMap { seed in
      try await Binary.run(
        "countries deal --seed \(seed) --format table", environment: service.settings)
    }
    #expect(deals.allSatisfy { $0.status == 0 && $0.errors == "Random country\n" })
    #expect(deals[0].output == deals[1].output)
    #expect(deals[0].output != deals[2].output)
    let unseeded = try await Binary.run("countries deal --offline --tsv")
    #expect(unseeded.lines.count == 1)
    #expect(unseeded.errors.hasPrefix("warning: countries: showing bundled sample data"))
  }

  @Test func `sources are listed and explained`() async throws {
    let list = try await Binary.run("sources")
    #expect(list.status == 0)
    let names = list.lines.map { String($0.prefix { $0 != "\t" }) }
    #expect(names == sourceNames)
    let shown = try await Binary.run(
      "sources show heroes --fields chain --json", environment: ["COMIC_VINE_API_KEY": "x1y2z3w4"])
    for operation in [
      "RESTSource(", ".rateLimited(", ".circuitBreaker(", ".retry(", ".timeout(",
      ".coalesced()", ".onlineOnly()", ".fallback(to: heroes.bundled)", ".observed()",
    ] {
      #expect(shown.output.contains(operation), "\(operation)")
    }
    let hasty = try await Binary.run("sources show countries --timeout 2 --fields chain")
    #expect(hasty.output.contains(".timeout(2 s)"))
    #expect(hasty.output.contains(".searchingLocally("))
    // The chain is the same whatever may answer.
    let refused = try await Binary.run("sources show countries --no-fallback")
    #expect(refused.status == 64)
  }
}

extension Sequence {
  /// One after the other.
  fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows
    -> [Value]
  {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}
