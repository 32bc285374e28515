import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The progress line, which is erased at the end.
@Suite(.timeLimit(.minutes(10))) struct ProgressTests {
  private static let erasure = "\r\u{1B}[K"

  /// Starts a command on a terminal, and reads its output until that contains some text.
  private func start(
    _ line: String, in home: TestHome, _ variables: [String: String?] = [:], until words: String
  ) async throws -> (run: Binary.Run, pipe: ProgramPipe, written: String) {
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      line,
      environment: home.environment.merging(["AGGREGATOR_FORCE_TTY": "60"]) { $1 }
        .merging(variables) { $1 },
      in: home.sandbox, output: .descriptor(pipe.writeEnd), isMerged: true)
    pipe.close(pipe.writeEnd)
    return (run, pipe, try await pipe.text(until: words))
  }

  private func rest(of pipe: ProgramPipe) async -> String {
    var rest = ""
    while case let bytes = await pipe.firstBytes(atMost: 4096), !bytes.isEmpty {
      rest += String(decoding: bytes, as: UTF8.self)
    }
    return rest
  }

  @Test(arguments: [
    ("heroes list", "Fetching heroes…"), ("heroes sync", "Fetching heroes…"),
    ("heroes show 1443", "Fetching heroes…"), ("heroes list --all", "Fetching heroes…"),
  ])
  func `shows progress, and erases it on Ctrl-C`(
    line: String, words: String
  ) async throws {
    let service = try FakeComicVine()
    service.fail(with: .stalled)
    let home = try TestHome(service.settings)
    let (run, pipe, written) = try await start("\(line) --timeout 10m", in: home, until: words)
    #expect(written.hasPrefix("\r\(words)"), "\(written)")
    run.child.send(SIGINT)
    #expect(try await run.outcome().ending == .signal(SIGINT))
    let all = written + (await rest(of: pipe))
    // After the last erasure there is only permanent output.
    let last = try #require(all.range(of: Self.erasure, options: .backwards))
    let left = all[last.upperBound...]
    #expect(!left.contains("Fetching") && !left.contains("/s"), "\(all)")
    // What a pager would hold back is not counted.
    #expect(
      line.hasSuffix("--all")
        ? left.contains("Interrupted; records may be missing")
        : left == "" || left.contains("Interrupted; progress saved"), "\(all)")
  }

  @Test(arguments: [("--tsv", "written"), ("--count", "read")])
  func `Ctrl-C in a list of all pages says how many records were written or read`(
    option: String, word: String
  ) async throws {
    let service = try FakeComicVine()
    service.fail(with: .stalled)
    let home = try TestHome(service.settings)
    let run = try home.start("heroes list --all \(option) --timeout 10m")
    _ = await service.requests(atLeast: 1)
    run.child.send(SIGINT)
    let outcome = try await run.outcome()
    #expect(outcome.ending == .signal(SIGINT))
    #expect(
      outcome.errors == "Interrupted; 0 heroes \(word), others may be missing\n", "\(outcome)")
  }

  @Test func `Ctrl-C completes a document of JSON, which says that records may be missing`()
    async throws
  {
    let service = try FakeComicVine()
    service.fail(with: .stalled, after: 2)
    let home = try TestHome(service.settings)
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      "heroes list --all --json --timeout 10m",
      environment: home.environment.merging(["COMIC_VINE_PAGE_SIZE": "5"]) { $1 },
      in: home.sandbox, output: .descriptor(pipe.writeEnd))
    pipe.close(pipe.writeEnd)
    var written = try await pipe.text(until: "{\"id\"")
    run.child.send(SIGINT)
    #expect(try await run.outcome().ending == .signal(SIGINT))
    written += await rest(of: pipe)
    let document = try JSONDecoder().decode(JSON.self, from: Data(written.utf8))
    let count = document["items"]?.array?.count ?? 0
    #expect(count > 0 && document["page"]?["count"] == .integer(count), "\(written)")
    #expect(document["warnings"]?.array?.map { $0["code"] } == ["incomplete"], "\(written)")
  }

  @Test func `names the host that is awaited`() async throws {
    let service = try FakeComicVine()
    service.fail(with: .stalled)
    let home = try TestHome(service.settings)
    let (run, pipe, _) = try await start(
      "heroes list --timeout 10m", in: home,
      until: "Fetching heroes… · waiting for 127.0.0.1")
    run.child.send(SIGINT)
    #expect(try await run.outcome().ending == .signal(SIGINT))
    _ = await rest(of: pipe)
  }

  @Test func `shows the share of a known total`() async throws {
    let service = try FakeComicVine()
    service.fail(with: .stalled, after: 2)
    let home = try TestHome(service.settings)
    let (run, pipe, written) = try await start(
      "heroes sync --timeout 10m", in: home, ["COMIC_VINE_PAGE_SIZE": "5"], until: "%")
    #expect(written.contains(try Regex(#"heroes: #*\.* [0-9]+%"#)), "\(written)")
    run.child.send(SIGINT)
    #expect(try await run.outcome().ending == .signal(SIGINT))
    _ = await rest(of: pipe)
  }

  @Test func `erases the line before the answer`() async throws {
    let service = try FakeComicVine()
    service.fail(with: .stalled)
    let home = try TestHome(service.settings)
    let (run, pipe, written) = try await start(
      "heroes list -L 1 --timeout 5s", in: home, until: "Fetching")
    let all = written + (await rest(of: pipe))
    #expect(try await run.outcome().status == 0)
    let answer = try #require(all.range(of: "Name"))
    let last = try #require(all.range(of: Self.erasure, options: .backwards))
    #expect(last.upperBound <= answer.lowerBound, "\(all)")
  }

  @Test(
    arguments: [
      ("--quiet", [:]), ("", ["TERM": "dumb"]), ("", ["AGGREGATOR_FORCE_TTY": nil]),
    ] as [(String, [String: String?])])
  func `shows nothing if quiet or not on a terminal`(
    option: String, variables: [String: String?]
  ) async throws {
    let service = try FakeComicVine()
    service.fail(with: .stalled)
    let home = try TestHome(service.settings)
    let line = "heroes list -L 1 --timeout 1s \(option)"
    let outcome = try await Binary.run(
      line,
      environment: home.environment.merging(["AGGREGATOR_FORCE_TTY": "60"]) { $1 }
        .merging(variables) { $1 },
      in: home.sandbox, isMerged: true)
    #expect(outcome.status == 0)
    #expect(!outcome.output.contains("Fetching") && !outcome.output.contains("\r"), "\(outcome)")
  }

  @Test func `shows progress for SQL queries`() async throws {
    let home = try TestHome()
    let line =
      "sql WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c"
    let (run, pipe, _) = try await start(
      "\(line) --timeout 10m", in: home, until: "Running query…")
    run.child.send(SIGTERM)
    #expect(try await run.outcome().ending == .signal(SIGTERM))
    #expect((await rest(of: pipe)).hasSuffix(Self.erasure))
  }
}
