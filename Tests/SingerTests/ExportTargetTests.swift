import AggregatorPostgresServer
import Foundation
import Testing

/// Programs of others, each in an environment of its own.
///
/// `Scripts/install singer` installs them.
enum PythonProgram {
  private static let folder = "/tmp/aggregator-python-\(getuid())"

  /// The path of a program; one in a folder that others may write to is none.
  static func path(of name: String, in environment: String? = nil) -> String {
    "\(folder)/\(environment ?? name)/bin/\(name)"
  }

  static func has(_ name: String) -> Bool {
    let owner = try? FileManager.default.attributesOfItem(atPath: folder)[.ownerAccountID]
    return owner as? Int == Int(getuid())
      && FileManager.default.isExecutableFile(atPath: path(of: name))
  }
}

/// `export` and `tap` with targets that nobody here wrote.
@Suite(.timeLimit(.minutes(10))) struct ExportTargetTests {
  private static let awkward = [
    #"{"id": "a", "name": "größe 日本 \" ' \\ \n ,", "price": 1e3, "tags": ["x", "y"], "ok": true}"#,
    #"{"id": "b/ü", "name": null, "price": -0.5, "tags": [], "ok": false}"#,
    #"{"id": "c", "name": "", "price": 12345678901234567, "tags": null, "ok": null}"#,
  ]

  @Test(.enabled(if: PythonProgram.has("target-jsonl"), "target-jsonl is not installed"))
  func `target-jsonl writes the records and the state`() async throws {
    let home = try await ExportHome(Self.awkward)
    try await home.sync()
    try home.write(#"{"do_timestamp_file": false}"#, to: "target.json")
    let target = PythonProgram.path(of: "target-jsonl")
    func load(_ option: String) async throws -> ExportHome.Outcome {
      let outcome = try await home.shell(
        "set -e; \"$AGGREGATOR\" export things --format singer \(option) >messages; "
          + "\(target) -c target.json <messages")
      #expect(outcome.status == 0, "\(outcome)")
      return outcome
    }
    let first = try await load("")
    let lines = try String(contentsOf: home.root.appending(path: "things.jsonl"), encoding: .utf8)
      .split(separator: "\n")
    var found: [String: String] = [:]
    for line in lines {
      let record = try Message.object(String(line)).filter { $0.key != "_sdc_deleted_at" }
      found[Message.text(record["id"])] = Message.text(record)
    }
    #expect(try await found == home.cached())
    // Its output is the next state.
    try home.write(first.output, to: "state.json")
    let second = try await home.run("export things --format singer --state state.json")
    #expect(second.lines.count == 1, "\(second)")
  }

  @Test(.enabled(if: PythonProgram.has("target-duckdb"), "target-duckdb is not installed"))
  func `target-duckdb has what the cache has`() async throws {
    let home = try await ExportHome(Self.awkward)
    try await home.sync()
    try home.write(
      """
      {"filepath": "\(home.path("things.duckdb"))", "default_target_schema": "main",
        "hard_delete": true, "add_metadata_columns": true}
      """, to: "target.json")
    let target = PythonProgram.path(of: "target-duckdb")
    let python = PythonProgram.path(of: "python", in: "target-duckdb")
    try home.write("", to: "state.json")
    func load() async throws -> String {
      let outcome = try await home.shell(
        """
        set -e; "$AGGREGATOR" export things --format singer --state state.json >messages
        \(target) -c target.json <messages >state.new; mv state.new state.json
        \(python) -c 'import duckdb
        database = duckdb.connect("things.duckdb")
        for row in database.sql("select id, name, price, tags, ok from things order by id").fetchall(): print(row)'
        """)
      #expect(outcome.status == 0, "\(outcome)")
      return outcome.output
    }
    let first = try await load()
    #expect(first.contains("größe 日本"), "\(first)")
    #expect(first.split(separator: "\n").count == 3)
    #expect(try await home.run("things delete a --yes").status == 0)
    home.serve([Self.awkward[0], Self.awkward[1].replacing("null", with: #""named""#)])
    try await home.sync()
    #expect(try await load() == "('b/ü', 'named', -0.5, '[]', False)\n")
    #expect(try await home.run("things restore a").status == 0)
    #expect(try await load().split(separator: "\n").count == 2)
    // Everything again: what is gone meanwhile goes, too.
    #expect(try await home.run("store clear things --yes").status == 0)
    try await home.sync()
    #expect(try await load().split(separator: "\n").count == 2)
  }

  private static let hasPostgres =
    PostgresServer.isAvailable && PythonProgram.has("target-postgres")

  @Test(.enabled(if: hasPostgres, "target-postgres or PostgreSQL is not installed"))
  func `target-postgres has what the cache has, also after a new version`() async throws {
    let home = try await ExportHome(Self.awkward + ExportHome.things(1...3))
    try await home.sync()
    try await withDatabase { database in
      try home.write(
        """
        {"sqlalchemy_url": "\(database.uri.replacing("postgresql://", with: "postgresql+psycopg://"))",
          "default_target_schema": "public", "hard_delete": true, "activate_version": true,
          "add_record_metadata": true}
        """, to: "target.json")
      let target = PythonProgram.path(of: "target-postgres")
      try home.write("", to: "state.json")
      func load() async throws -> Set<String> {
        let outcome = try await home.shell(
          """
          set -e; "$AGGREGATOR" export things --format singer --state state.json >messages
          \(target) --config target.json <messages >state.new; mv state.new state.json
          """)
        #expect(outcome.status == 0, "\(outcome)")
        return Set(
          try await database.texts(
            "SELECT id || ' ' || coalesce(name, '-') FROM things WHERE _sdc_deleted_at IS NULL"))
      }
      func expected() async throws -> Set<String> {
        Set(
          try await home.cached().map { id, record in
            "\(id) \(try Message.object(record)["name"] as? String ?? "-")"
          })
      }
      #expect(try await load() == expected())
      #expect(try await home.run("things delete t1 --yes").status == 0)
      home.serve(Self.awkward + [ExportHome.thing("t2", "changed"), ExportHome.thing("t4", "new")])
      try await home.sync()
      #expect(try await load() == expected())
      #expect(try await home.run("store clear things --yes").status == 0)
      home.serve([ExportHome.thing("t4", "alone")])
      try await home.sync()
      #expect(try await load() == ["t4 alone"])
    }
  }

  @Test(.enabled(if: PythonProgram.has("meltano"), "meltano is not installed"))
  func `Meltano runs the tap, and keeps its state`() async throws {
    let home = try await ExportHome()
    let names = ["tap-aggregator", "target-jsonl"]
    try home.write(
      "#!/bin/sh\nexec \"$AGGREGATOR\" tap \"$@\"\n", to: names[0])
    try home.write(
      "#!/bin/sh\nexec \(PythonProgram.path(of: "target-jsonl")) \"$@\"\n", to: names[1])
    try home.write(
      """
      default_environment: dev
      environments: [{name: dev}]
      send_anonymous_usage_stats: false
      plugins:
        extractors:
        - name: tap-aggregator
          namespace: tap_aggregator
          executable: ./tap-aggregator
          capabilities: [catalog, discover, state]
          settings:
          - name: sources
            kind: array
          - name: sync
            kind: boolean
          config: {sources: [things], sync: true}
          select: ["things.id", "things.name"]
        loaders:
        - name: target-jsonl
          namespace: target_jsonl
          executable: ./target-jsonl
          settings:
          - name: do_timestamp_file
            kind: boolean
          config: {do_timestamp_file: false}
      """, to: "meltano.yml")
    let meltano = PythonProgram.path(of: "meltano")
    func load() async throws -> [String] {
      let outcome = try await home.shell(
        "chmod +x \(names.joined(separator: " ")); \(meltano) run tap-aggregator target-jsonl")
      #expect(outcome.status == 0, "\(outcome)")
      let file = home.root.appending(path: "things.jsonl")
      let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
      try? FileManager.default.removeItem(at: file)
      return text.split(separator: "\n").map(String.init)
    }
    #expect(try await load().count == 5)
    home.serve(ExportHome.things(1...4) + [ExportHome.thing("t5", "changed")])
    #expect(
      try await load() == [#"{"id": "t5", "name": "changed", "_sdc_deleted_at": null}"#])
    #expect(try await load() == [])
  }
}
