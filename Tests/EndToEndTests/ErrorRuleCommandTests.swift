import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Errors and quotas of added sources, in the program.
@Suite struct ErrorRuleCommandTests {
  private let home: TestHome
  private let lamps: FakeLamps

  init() throws {
    home = try TestHome()
    lamps = try FakeLamps()
  }

  /// Adds the source and gives its manifest some rules.
  private func add(_ rules: String) async throws {
    #expect(try await home.add(lamps).status == 0)
    let path = "home/.config/aggregator/sources/lamps.json"
    let text = try home.sandbox.text(of: path)
    try home.sandbox.write(
      text.replacing("\"rows\"", with: "\"errors\": \(rules), \"rows\""), to: path)
  }

  @Test func `a rule makes a refusal the end of a list, which is then complete`() async throws {
    try await add(#"[{"status": 422, "path": "error.code", "equals": "too_deep", "then": "end"}]"#)
    lamps.behave { $0 == 3 ? .json(#"{"error": {"code": "too_deep"}}"#, status: 422) : nil }
    let sync = try await home.run("lamps sync --json")
    #expect(sync.status == 0 && sync.output.contains("\"complete\":true"), "\(sync)")
    let list = try await home.run("lamps list --all --refresh --ndjson")
    #expect(list.status == 0 && list.output.split(separator: "\n").count == 20, "\(list)")
    #expect(
      list.errors.contains("25 records, but a rule for errors ends its list after 20"), "\(list)")
  }

  @Test func `errors beside rows are said, and exit with 3`() async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { number in
      guard number == 2 else { return nil }
      return .json(
        "{\"errors\": [{\"message\": \"a shard is down\"}], \(FakeLamps.page(2).dropFirst())")
    }
    let list = try await home.run("lamps list --all --refresh --ndjson")
    #expect(list.status == 3 && list.errors.contains("a shard is down"), "\(list)")
    #expect(list.output.split(separator: "\n").count == 25)
    let search = try await home.run("lamps search zzyzxq --refresh")
    #expect(search.errors.contains("No lamps match \"zzyzxq\"\n"), "\(search)")
    let sync = try await home.run("lamps sync --json")
    #expect(sync.status == 3 && sync.output.contains("\"complete\":false"), "\(sync)")
    #expect(sync.errors.contains("a shard is down"), "\(sync)")
  }

  @Test func `a rule makes a response a rate limit, which --wait waits for`() async throws {
    try await add(#"[{"path": "busy", "message": "why", "then": "wait"}]"#)
    let refusals = Counter()
    lamps.behave { number in
      guard number == 2, refusals.value < 2 else { return nil }
      refusals.add()
      return .status(
        200, #"{"busy": true, "why": "counting lamps"}"#, headers: [("Retry-After", "16")])
    }
    let sync = try await home.run("lamps sync")
    #expect(
      sync.status == 75 && sync.errors.contains(#"asks to wait: "counting lamps""#), "\(sync)")
    #expect(sync.errors.contains("--wait"), "\(sync)")
    #expect(refusals.value == 1)
  }

  @Test func `a quota without anything left holds for the next process`() async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.behave { number in
      .status(200, FakeLamps.page(number), headers: [("RateLimit", #""p";r=0;t=3600"#)])
    }
    let first = try await home.run("lamps list --limit 10 --refresh --no-fallback")
    #expect(first.status == 0, "\(first)")
    let count = lamps.pages.count
    let second = try await home.run("api lamps ?page=2")
    #expect(
      second.status == 75 && second.errors.contains("rate limited by the service "), "\(second)")
    #expect(second.errors.contains(", after GET /"), "\(second)")
    #expect(second.errors.contains("hint: retry in "), "\(second)")
    #expect(second.errors.hasSuffix("; --refresh retries now\n"), "\(second)")
    #expect(lamps.pages.count == count)
    // One request that a person insists on, and none after it.
    #expect(try await home.run("api lamps ?page=2 --refresh").status == 0)
    #expect(lamps.pages.count == count + 1)
    #expect(try await home.run("api lamps ?page=2").status == 75)
  }

  @Test(arguments: [
    (
      #"{"errors": [{"id": 1, "message": "unknown field"}, {"id": 2, "message": "x"}]}"#,
      "unknown field"
    ),
    (#"{"data": null, "errors": [{"id": 1, "message": "not allowed"}]}"#, "not allowed"),
    (#"{"ok": false, "error": "no_such_channel", "messages": []}"#, "no_such_channel"),
    (
      #"{"error": {"details": [{"id": 1, "why": "a"}, {"id": 2, "why": "b"}], "message": "bad"}}"#,
      "bad"
    ),
  ])
  func `sources add takes no errors for rows`(body: String, words: String) async throws {
    lamps.behave { _ in .json(body) }
    let added = try await home.add(lamps)
    #expect(added.status == 69, "\(added)")
    #expect(added.errors.contains("reports an error: \"\(words)\""), "\(added)")
    #expect(try home.sandbox.files(under: "home").isEmpty)
  }

  @Test func `sources add leaves a service alone that has no quota left`() async throws {
    lamps.behave { number in
      .status(200, FakeLamps.page(number), headers: [("RateLimit", #""p";r=0;t=3600"#)])
    }
    let added = try await home.add(lamps)
    #expect(added.status == 75, "\(added)")
    #expect(lamps.pages.count == 1)
  }

  @Test func `a wrong rule names its line and key`() async throws {
    try await add("[\n{\"status\": 422,\n\"then\": \"skip\"}]")
    let list = try await home.run("lamps list")
    #expect(list.status == 78, "\(list)")
    #expect(
      list.errors.contains("line 5: \"skip\" leaves out one of the lists of \"each\""), "\(list)")
  }
}
