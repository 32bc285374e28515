import AggregatorFakeServices
import Foundation
import Testing

/// `tap`, as Meltano and people run it.
@Suite(.timeLimit(.minutes(10))) struct TapTests {
  private static func streams(_ outcome: ExportHome.Outcome) throws -> [String: [String: Any]] {
    let catalog = try Message.object(try #require(outcome.lines.first))
    var found: [String: [String: Any]] = [:]
    for case let stream as [String: Any] in catalog["streams"] as? [Any] ?? [] {
      found[Message.text(stream["tap_stream_id"])] = stream
    }
    return found
  }

  @Test func `the catalog has a stream for each source`() async throws {
    let home = try await ExportHome()
    let all = try await home.run("tap --discover")
    #expect(all.status == 0, "\(all)")
    let streams = try Self.streams(all)
    #expect(streams.keys.sorted() == ["countries", "heroes", "products", "things", "users"])
    #expect(streams["countries"]?["key_properties"] as? [String] == ["code"])
    #expect(streams["users"]?["key_properties"] as? [String] == ["email"])

    try home.write(#"{"sources": ["things"]}"#, to: "tap.json")
    #expect(
      try await Self.streams(home.run("tap --config tap.json --discover")).keys.sorted() == [
        "things"
      ])
    // It selects all of it.
    try await home.sync()
    #expect(try await home.shell("$AGGREGATOR tap --discover >catalog.json").status == 0)
    let sent = try await home.run("tap --catalog catalog.json --config tap.json")
    var target = TableTarget()
    try target.read(sent.lines)
    #expect(try await target.rows() == home.cached())
  }

  @Test func `each source is a stream, and a bookmark of the state`() async throws {
    let service = try FakeProducts()
    let home = try await ExportHome(ExportHome.things(1...5), service.settings)
    try home.write(#"{"sources": ["things", "products"], "sync": true}"#, to: "tap.json")
    let first = try await home.run("tap --config tap.json")
    #expect(first.status == 0, "\(first)")
    var target = TableTarget()
    try target.read(first.lines)
    #expect(target.counts["STATE"] == 2)
    #expect(try await target.rows() == home.cached())
    #expect(try await target.rows("products") == home.cached("products"))
    let bookmarks = target.state?["bookmarks"] as? [String: Any]
    #expect(bookmarks?.keys.sorted() == ["products", "things"])

    try home.write(Message.text(target.state), to: "state.json")
    home.serve(ExportHome.things(2...5))
    let second = try await home.run("tap --config tap.json --state state.json")
    try target.read(second.lines)
    #expect(target.counts["RECORD"] == 1 && target.deletions == 1, "\(second)")
    #expect(try await target.rows() == home.cached())
  }

  @Test func `a catalog selects streams and fields, and others keep their bookmarks`() async throws
  {
    let home = try await ExportHome()
    try await home.sync()
    let mine = #"{"bookmarks": {"other": {"x": [1]}, "heroes": null}, "mine": true}"#
    try home.write(mine, to: "state.json")
    func catalog(_ metadata: String, _ rest: String = "") throws {
      try home.write(
        """
        {"streams": [{"tap_stream_id": "things", "stream": "things"\(rest), "metadata": [\(metadata)]},
          {"tap_stream_id": "heroes", "metadata": [{"breadcrumb": [], "metadata": {"selected": false}}]}]}
        """, to: "catalog.json")
    }
    try catalog(
      """
      {"breadcrumb": [], "metadata": {"selected": true}},
      {"breadcrumb": ["properties", "name"], "metadata": {"selected": false}},
      {"breadcrumb": ["properties", "id"], "metadata": {"selected": false, "inclusion": "automatic"}},
      {"breadcrumb": ["properties", "price"], "metadata": {"inclusion": "available", "selected-by-default": true}}
      """)
    for option in ["--catalog", "--properties"] {
      let outcome = try await home.run("tap \(option) catalog.json --state state.json")
      #expect(outcome.status == 0, "\(outcome)")
      var target = TableTarget()
      try target.read(outcome.lines)
      #expect(target.tables.keys.sorted() == ["things"])
      #expect(
        target.tables["things"]?["t1"]?.record.keys.sorted() == ["_sdc_deleted_at", "id", "price"])
      let bookmarks = target.state?["bookmarks"] as? [String: Any]
      #expect(Message.text(bookmarks?["other"]) == #"{"x":[1]}"#)
      #expect(target.state?["mine"] as? Bool == true)
    }
    // Nothing is selected; as in old catalogs; without metadata.
    for (metadata, rest, count) in [
      (#"{"breadcrumb": [], "metadata": {"inclusion": "available"}}"#, "", 0),
      (#"{"breadcrumb": [], "metadata": {"inclusion": "unsupported", "selected": true}}"#, "", 0),
      ("", #", "selected": false"#, 0), ("", #", "schema": {"selected": true}"#, 5), ("", "", 5),
    ] {
      try catalog(metadata, rest)
      let outcome = try await home.run("tap --catalog catalog.json")
      #expect(outcome.status == 0, "\(outcome)")
      #expect(outcome.lines.count { $0.contains("RECORD") } == count, "\(metadata) \(rest)")
    }
  }

  @Test func `a service that is down leaves the cached records, which are sent`() async throws {
    let home = try await ExportHome()
    try await home.sync()
    home.fail()
    try home.write(#"{"sources": ["countries", "things"], "sync": true}"#, to: "tap.json")
    let outcome = try await home.run("tap --config tap.json")
    #expect(outcome.status == 3, "\(outcome)")
    #expect(outcome.errors.contains("error: "), "\(outcome)")
    #expect(outcome.errors.contains("countries: no records are cached"), "\(outcome)")
    var target = TableTarget()
    try target.read(outcome.lines)
    #expect(try await target.rows() == home.cached())
  }

  static let mistakes = [
    (
      "config", #"{"source": ["things"]}"#, 78,
      "unknown member \"source\"\nhint: did you mean \"sources\"?"
    ),
    ("config", #"{"sources": "things"}"#, 78, "\"sources\" must be a list of names"),
    ("config", #"{"sources": [1]}"#, 78, "\"sources\" must be a list of names"),
    ("config", #"{"sync": "yes"}"#, 78, "\"sync\" must be true or false"),
    ("config", "[]", 78, "it is not a JSON object"),
    (
      "config", #"{"sources": ["thing"]}"#, 64,
      "unknown source \"thing\"\n\nDid you mean \"things\"?"
    ),
    ("config", "{\"sync\0\": true}", 78, "it is not JSON"),
    ("state", "{\"bookmarks\"", 64, "it is not JSON"),
    ("state", "\0", 64, "it is not JSON"),
    ("state", #"{"bookmarks": []}"#, 64, "\"bookmarks\" is not an object"),
    (
      "state", #"{"bookmarks": {"things": 1}}"#, 64,
      "the bookmark of \"things\" is not one of this program"
    ),
    (
      "state", #"{"bookmarks": {"things": {"replication_key": "x"}}}"#, 64,
      "the bookmark of \"things\""
    ),
    (
      "state", #"{"bookmarks": {"things": {"version": 9007199254740993, "activated": true}}}"#, 64,
      "the bookmark of \"things\""
    ),
    ("state", String(repeating: "[", count: 100_000), 64, "it is not JSON"),
    ("catalog", #"{"streams": {}}"#, 64, "\"streams\" is not a list"),
    ("catalog", #"{"streams": [1]}"#, 64, "a stream has no \"tap_stream_id\""),
    (
      "catalog", #"{"streams": [{"tap_stream_id": "things", "metadata": {}}]}"#, 64,
      "the metadata of \"things\" is invalid"
    ),
    (
      "catalog",
      #"{"streams": [{"stream": "things", "metadata": [{"breadcrumb": [], "metadata": {"selected": "yes"}}]}]}"#,
      64, "the metadata of \"things\" is invalid"
    ),
  ]

  @Test(arguments: mistakes.indices)
  func `an invalid file is an error, and nothing is sent`(index: Int) async throws {
    let (option, text, status, words) = Self.mistakes[index]
    let home = try await ExportHome()
    try await home.sync()
    try home.write(text, to: "file.json")
    let outcome = try await home.run("tap --\(option) file.json")
    #expect(outcome.status == Int32(status), "\(outcome)")
    #expect(outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.errors.contains(words), "\(outcome)")
  }

  @Test func `files that cannot be read are errors`() async throws {
    let home = try await ExportHome()
    for line in ["tap --state missing", "tap --catalog .", "tap --config missing"] {
      let outcome = try await home.run(line)
      #expect([64, 74].contains(outcome.status), "\(outcome)")
      #expect(outcome.output.isEmpty && outcome.errors.hasPrefix("error: "), "\(outcome)")
    }
    #expect(try await home.run("tap --catalog x --properties x").status == 64)
    #expect(try await home.run("export things --format singer -o x.csv").status == 64)
    #expect(try await home.run("export things -o x.csv --state x").status == 64)
    #expect(try await home.run("things list --format singer").status == 64)
  }

  @Test func `a million streams are read`() async throws {
    let home = try await ExportHome()
    try await home.sync()
    let names = (1...1_000_000).map { "s\($0)" }
    try home.write(
      #"{"bookmarks": {"# + names.map { "\"\($0)\":{}" }.joined(separator: ",") + "}}",
      to: "state.json")
    let outcome = try await home.run("export things --format singer --state state.json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.last?.contains("\"s1000000\":{}") == true)
    try home.write(
      #"{"streams": ["# + names.map { "{\"stream\":\"\($0)\"}" }.joined(separator: ",") + "]}",
      to: "catalog.json")
    let tap = try await home.run("tap --catalog catalog.json --quiet")
    #expect(tap.status == 3, "\(tap.errors.prefix(500))")
    let large = String(repeating: " ", count: 65 << 20)
    try home.write(large, to: "state.json")
    let refused = try await home.run("tap --state state.json")
    #expect(refused.status == 64 && refused.errors.contains("larger than 64 MB"), "\(refused)")
  }

  @Test func `the state of a target is its last line`() async throws {
    let home = try await ExportHome()
    try await home.sync()
    let first = try await home.run("export things --format singer")
    let state = Message.text(try Message.object(first.lines.last ?? "")["value"])
    try home.write("{}\n\(state)\n\n", to: "state.json")
    #expect(try await home.run("export things --format singer --state state.json").lines.count == 1)
    try home.write(" \n", to: "state.json")
    #expect(try await home.run("export things --format singer --state state.json").lines.count == 8)
  }
}
