import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting

/// Sources with one list for each record of another source, for each day or for each value.
@Suite struct EachCommandTests {
  private let home: TestHome
  private let server: LoopbackServer

  init() throws {
    home = try TestHome()
    server = try LoopbackServer { request in
      switch request.path {
      case "/repos":
        .json(
          JSON.array(["a", "b", "empty", "closed"].map { ["full_name": .string("org/\($0)")] }).text
        )
      case "/repos/org/closed/issues": .json(#"{"message": "not yours"}"#, status: 403)
      case "/repos/org/a/issues", "/repos/org/b/issues", "/days/2024-01-01", "/of/alpha":
        .json(#"[{"id": 1, "title": "bug \#(request.path)"}, {"id": 2, "title": "wish"}]"#)
      case "/repos/org/a/issues/1": .json(#"{"id": 1, "title": "bug", "body": "long"}"#)
      case "/repos/org/a/issues/2": .json(#"{"id": 2, "title": "wish"}"#)
      default: .json("[]")
      }
    }
  }

  private func add(_ name: String, _ path: String, _ options: String = "") async throws -> Outcome {
    try await home.run(
      "sources add \(name) \(server.baseURL)/\(path) --rate off --single \(options)")
  }

  @Test func `the issues of each repository are a source`() async throws {
    let issues = "repos/{repos.full_name}/issues"
    #expect(try await add("repos", "repos", "--id full_name").status == 0)
    let added = try await add("issues", issues, "--item \(server.baseURL)/\(issues)/{id}")
    #expect(added.status == 0, "\(added)")
    #expect(
      added.lines.first?.split(separator: " ").joined(separator: " ")
        == "each {repos.full_name} tried org/a (2 rows) and org/b (2 rows)",
      "\(added)")

    let list = try await home.run("issues list --all --fields id,repos.full_name,title --tsv")
    #expect(
      list.lines == [
        "org%2Fa/1\torg/a\tbug /repos/org/a/issues", "org%2Fa/2\torg/a\twish",
        "org%2Fb/1\torg/b\tbug /repos/org/b/issues", "org%2Fb/2\torg/b\twish",
      ], "\(list)")
    #expect(list.status == 3 && list.errors.contains("org/closed: "), "\(list)")
    #expect(try await home.column("id", "issues search wish") == ["org%2Fa/2", "org%2Fb/2"])
    let shown = try await home.run("issues show org%2Fa/1 --refresh --json")
    #expect(shown.status == 0 && shown.output.contains("org/a"), "\(shown)")
    #expect(server.requests.last?.path == "/repos/org/a/issues/1")
    let manifest = try await home.run("sources show issues --fields manifest --tsv")
    #expect(
      manifest.output.contains("/{repos.full_name}/issues\",\"each\":\"repos\""), "\(manifest)")

    let exported = try await home.run("sources export issues --swift")
    #expect(exported.status != 0 && exported.errors.contains("cannot be exported"), "\(exported)")
    #expect(try await home.run("sources remove repos --yes").status == 0)
    let orphan = try await home.run("issues list --refresh")
    #expect(orphan.errors.contains("there is no such source"), "\(orphan)")
  }

  @Test func `sync of all sources begins with the parents`() async throws {
    #expect(try await add("repos", "repos", "--id full_name").status == 0)
    #expect(try await add("issues", "repos/{repos.full_name}/issues").status == 0)
    #expect(try await home.run("repos sync").status == 0)
    let outcome = try await home.run("sync issues repos --fields source,status --tsv")
    #expect(outcome.lines == ["repos\tcomplete", "issues\tincomplete"], "\(outcome)")
  }

  /// `kill -9` while the twentieth of 35 lists is read: the rest follows, and at most the lists in flight twice.
  @Test(arguments: [1, 4])
  func `a sync goes on where it was killed, and parents join in SQL`(jobs: Int) async throws {
    let stalls = Mutex(true)
    let server = try LoopbackServer { request in
      let names = (0..<35).map { "r\($0)" }
      let path = request.path.split(separator: "/").map(String.init)
      switch path.count {
      case 1: return .json(JSON.array(names.map { ["full_name": .string("org/\($0)")] }).text)
      default:
        let number = names.firstIndex(of: path[2]) ?? 0
        if number == 7 { return .json(#"{"message": "not yours"}"#, status: 403) }
        if number == 20, stalls.withLock(\.self) { return .stalled }
        let issues = number % 7 == 3 ? [] : (0..<number).map { ["id": JSON.integer($0)] as JSON }
        return .json(JSON.array(issues).text)
      }
    }
    func add(_ name: String, _ path: String, _ id: String) async throws {
      let added = try await home.run(
        "sources add \(name) \(server.baseURL)/\(path) --rate off --single --id \(id)")
      #expect(added.status == 0, "\(added)")
    }
    try await add("repos", "repos", "full_name")
    try await add("issues", "repos/{repos.full_name}/issues", "id")
    let run = try home.start("issues sync --timeout 10m --jobs \(jobs)")
    var count = 1
    while await !server.requests(atLeast: count).contains(where: { $0.path.contains("r20") }) {
      count += 1
    }
    run.child.send(SIGKILL)
    #expect(try await run.outcome().ending == .signal(SIGKILL))
    stalls.withLock { $0 = false }

    let rest = try await home.run("issues sync --jobs \(jobs) --json")
    #expect(rest.status == 3, "\(rest)")
    #expect(
      rest.output.contains(
        /org\/r7: 127\.0\.0\.1:\d+ refused the request \(403\): \\"not yours\\"/),
      "\(rest)")
    #expect(rest.output.contains(#""complete":false"#), "\(rest)")
    let paths = server.requests.map(\.path).filter { $0.hasSuffix("/issues") }
    let again = paths.count - Set(paths).count
    // Two requests of `sources add`, and the lists that were in flight.
    #expect(again <= 2 + 2 * jobs, "\(paths)")
    let query = """
      SELECT count(*), count(DISTINCT r.full_name) FROM issues i
      JOIN repos r ON r.full_name = i."repos.full_name"
      """
    let join = try await Binary.run(
      ["sql", query], environment: home.environment, in: home.sandbox)
    let counts = (0..<35).filter { $0 % 7 != 3 && $0 != 7 }
    #expect(join.lines == ["\(counts.reduce(0, +))\t\(counts.count - 1)"], "\(join)")
    #expect(try home.file.faults() == [])
  }

  @Test func `days and values are named by --each`() async throws {
    #expect(try await add("days", "days/{date}", "--each 2024-01-01").status == 0)
    #expect(try await home.column("id", "days list -L 2") == ["2024-01-01/1", "2024-01-01/2"])
    let values = try await add("values", "of/{value}", "--each alpha,beta --json")
    #expect(
      values.status == 0 && values.output.contains(#""each":{"values":["alpha","beta"]}"#),
      "\(values)")
    #expect(try await home.column("id", "values list --all") == ["alpha/1", "alpha/2"])
  }

  @Test(arguments: [
    ("x/{date}", "", "{date} needs the first day"), ("x/{value}", "", "{value} needs the values"),
    ("x/{date}", "--each 2024-02-30", "must be a day"),
    ("x/{date}", "--each a,b", "{date} needs the first day"),
    ("x/{repos.id}", "--each a", "--each cannot be used with {repos.id}"),
    ("x/{repos.id}", "", "there is no such source"),
    ("x", "--each a", "--each needs {date} or {value} in the URL"),
    ("x/{value}", "--each a --openapi api.json", "--openapi and --each cannot be used together"),
  ])
  func `a wrong use says what is missing`(path: String, options: String, words: String)
    async throws
  {
    let outcome = try await add("x", path, options)
    #expect(outcome.status == 64 && outcome.errors.contains(words), "\(outcome)")
  }

  @Test func `a description does not take a placeholder`() async throws {
    let outcome = try await home.run(
      "sources add x \(server.baseURL)/{repos.id} --openapi api.json")
    #expect(outcome.status == 64, "\(outcome)")
    #expect(outcome.errors.contains("the URL cannot have {repos.id} with --openapi"), "\(outcome)")
  }
}
