import AggregatorFakeServices
import AggregatorKit
import AggregatorPostgresServer
import Foundation
import Testing

/// `export --format singer`, judged by a strict reader of the protocol and by a table that it fills.
@Suite(.timeLimit(.minutes(10))) struct ExportTests {
  @Test func `all records are sent, and then only what has changed`() async throws {
    let home = try await ExportHome()
    try await home.sync()
    var target = TableTarget()
    try await home.export(to: &target)
    #expect(
      target.counts == ["SCHEMA": 1, "RECORD": 5, "ACTIVATE_VERSION": 1, "STATE": 1])
    let state = Message.text(target.state)

    let unchanged = try await home.export(to: &target)
    #expect(unchanged.lines.count == 1, "\(unchanged)")
    #expect(Message.text(target.state) == state)

    home.serve(
      [ExportHome.thing("t2", "other"), ExportHome.thing("t9", "new")] + ExportHome.things(3...5))
    try await home.sync()
    try await home.export(to: &target)
    #expect(target.counts == ["SCHEMA": 1, "RECORD": 3, "STATE": 1])
    #expect(target.deletions == 1)

    // It comes back.
    home.serve(ExportHome.things(1...5))
    try await home.sync()
    try await home.export(to: &target)
    #expect(target.counts["RECORD"] == 3 && target.deletions == 1)
  }

  @Test func `deleted records are sent as deleted, and restored ones again`() async throws {
    let home = try await ExportHome()
    try await home.sync()
    var target = TableTarget()
    try await home.export(to: &target)
    #expect(try await home.run("things delete t1 t2 --yes").status == 0)
    let deleted = try await home.export(to: &target)
    #expect(target.deletions == 2 && target.counts["RECORD"] == 2)
    #expect(deleted.errors.contains("sent 2 things, 2 of them deleted"), "\(deleted)")
    #expect(try await home.run("things restore t1").status == 0)
    try await home.export(to: &target)
    #expect(target.deletions == 0 && target.counts["RECORD"] == 1)

    // Removed upstream while it is deleted, restored, and there again.
    home.serve(ExportHome.things(3...5))
    try await home.sync()
    try await home.export(to: &target)
    #expect(try await home.run("things restore t2").status == 0)
    try await home.export(to: &target)
    home.serve(ExportHome.things(1...5))
    try await home.sync()
    try await home.export(to: &target)
    #expect(target.rows().count == 5)
    #expect(try await home.export(to: &target).lines.count == 1)
  }

  @Test func `a record that is deleted and removed upstream at once is sent as deleted`()
    async throws
  {
    let home = try await ExportHome()
    try await home.sync()
    var target = TableTarget()
    try await home.export(to: &target)
    #expect(try await home.run("things delete t1 --yes").status == 0)
    home.serve(ExportHome.things(2...5))
    try await home.sync()
    try await home.export(to: &target)
    #expect(target.deletions == 1)
  }

  @Test func `everything is sent again if the history does not reach back to the state`()
    async throws
  {
    let home = try await ExportHome(ExportHome.things(1...5), ["AGGREGATOR_HISTORY": "90d 2"])
    try await home.sync()
    var target = TableTarget()
    try await home.export(to: &target)
    let version = target.tables["things"]?["t5"]?.version ?? 0
    home.serve((2...5).map { ExportHome.thing("t\($0)", "changed") })
    try await home.sync()
    let again = try await home.export(to: &target)
    #expect(target.counts == ["SCHEMA": 1, "RECORD": 4, "ACTIVATE_VERSION": 1, "STATE": 1])
    #expect(again.errors.contains("everything is sent again, because the history"), "\(again)")
    #expect(target.tables["things"]?["t5"]?.version ?? 0 > version)
    #expect(try await home.export(to: &target).lines.count == 1)
  }

  @Test func `without a history everything is sent each time`() async throws {
    let home = try await ExportHome(ExportHome.things(1...5), ["AGGREGATOR_HISTORY": "off"])
    try await home.sync()
    var target = TableTarget()
    try await home.export(to: &target)
    home.serve(ExportHome.things(2...6))
    try await home.sync()
    for _ in 1...2 {
      let again = try await home.export(to: &target)
      #expect(target.counts["RECORD"] == 5 && target.counts["ACTIVATE_VERSION"] == 1)
      #expect(again.errors.contains("because no history of changes is kept"), "\(again)")
    }
  }

  @Test func `the state of another store, or of cleared records, sends everything again`()
    async throws
  {
    let (home, other) = (try await ExportHome(), try await ExportHome())
    var target = TableTarget()
    for home in [home, other] {
      try await home.sync()
      home.serve(ExportHome.things(2...6))
      try await home.sync()
    }
    try await home.export(to: &target)
    let moved = try await other.export(to: &target)
    #expect(moved.errors.contains("because the state is of another store"), "\(moved)")
    #expect(target.counts["RECORD"] == 5 && target.counts["ACTIVATE_VERSION"] == 1)

    try await home.export(to: &target)
    #expect(target.counts["RECORD"] == 5)
    #expect(try await home.run("store clear things --yes").status == 0)
    home.serve(ExportHome.things(3...4))
    try await home.sync()
    try await home.export(to: &target)
    #expect(target.counts["RECORD"] == 2 && target.counts["ACTIVATE_VERSION"] == 1)
  }

  @Test func `a store restored from a backup does not know the states made since`() async throws {
    let home = try await ExportHome()
    try await home.sync()
    var target = TableTarget()
    try await home.export(to: &target)
    let store = ".local/share/aggregator"
    #expect(try await home.shell("cp -a \(store) backup").status == 0)
    home.serve([ExportHome.thing("t1", "lost")] + ExportHome.things(2...5))
    try await home.sync()
    try await home.export(to: &target)
    #expect(try await home.shell("rm -r \(store) && mv backup \(store)").status == 0)
    // As many changes as before the backup was restored, but others.
    home.serve(ExportHome.things(1...4) + [ExportHome.thing("t5", "other")])
    try await home.sync()
    try await home.export(to: &target)
    #expect(target.counts["ACTIVATE_VERSION"] == 1)
  }

  @Test func `a field that is sent for the first time is sent of all records`() async throws {
    let home = try await ExportHome()
    try await home.sync()
    var target = TableTarget()
    for (fields, count) in [("id,name", 5), ("name", 0), ("id,name,price", 5), ("id", 0)] {
      let option = target.state == nil ? "" : "--state state.json"
      let outcome = try await home.run("export things --format singer --fields \(fields) \(option)")
      try target.read(outcome.lines)
      #expect(target.counts["RECORD"] ?? 0 == count, "\(fields) \(outcome)")
      try home.write(Message.text(target.state), to: "state.json")
    }
    #expect(try await target.rows() == home.cached())
  }

  @Test func `details that only a single record has are sent, too`() async throws {
    let service = try FakeComicVine()
    let home = try await ExportHome(ExportHome.things(1...1), service.settings)
    #expect(try await home.run("heroes sync").status == 0)
    let first = try await home.run("export heroes --format singer")
    #expect(first.status == 0, "\(first)")
    var target = TableTarget()
    try target.read(first.lines)
    let id = try #require(target.tables["heroes"]?.keys.sorted().first)
    #expect(target.tables["heroes"]?[id]?.record["powers"] is NSNull)
    #expect(try await home.run("heroes show \(id)").status == 0)
    try home.write(Message.text(target.state), to: "state.json")
    let second = try await home.run("export heroes --format singer --state state.json")
    try target.read(second.lines)
    #expect(target.counts["RECORD"] == 1, "\(second)")
    #expect(try await target.rows("heroes") == home.cached("heroes"))
    #expect(target.tables["heroes"]?[id]?.record["powers"] is [Any])
  }

  @Test func `an incomplete cache is said, and nothing counts as gone until it is complete`()
    async throws
  {
    let service = try FakeComicVine()
    let home = try await ExportHome(ExportHome.things(1...1), service.settings)
    #expect(try await home.run("heroes list -L 3").status == 0)
    let part = try await home.run("export heroes --format singer")
    #expect(part.status == 3, "\(part)")
    #expect(part.errors.contains("limited to cached records: 3 of "), "\(part)")
    var target = TableTarget()
    try target.read(part.lines)
    #expect(target.counts == ["SCHEMA": 1, "RECORD": 3, "STATE": 1])
    try home.write(Message.text(target.state), to: "state.json")
    let all = try await home.run("export heroes --sync --format singer --state state.json")
    #expect(all.status == 0, "\(all)")
    try target.read(all.lines)
    #expect(target.counts["ACTIVATE_VERSION"] == 1)
    #expect(try await target.rows("heroes") == home.cached("heroes"))
  }

  @Test func `the ID of a source is the key, whatever its name`() async throws {
    let service = try FakeCountries()
    let home = try await ExportHome(ExportHome.things(1...1), service.settings)
    #expect(try await home.run("countries sync").status == 0)
    let outcome = try await home.run("export countries --format singer --fields name")
    let schema = try Message(try #require(outcome.lines.first))
    guard case .schema(_, let schema, let keys) = schema else {
      Issue.record("\(outcome)")
      return
    }
    #expect(keys == ["code"])
    let names = (schema["properties"] as? [String: Any])?.keys.sorted()
    #expect(names == ["_sdc_deleted_at", "code", "name"])
    var target = TableTarget()
    try target.read(outcome.lines)
    #expect(target.rows("countries").count > 200)
  }

  @Test func `a schema names the kinds that values have, and keeps them`() async throws {
    let rows = [
      #"{"id": 1, "tags": ["a"], "size": 1, "note": null}"#,
      #"{"id": 2, "tags": [], "size": 2.5, "note": {"a": 1}}"#,
    ]
    let home = try await ExportHome(rows)
    try await home.sync()
    var target = TableTarget()
    func types() async throws -> [String: [String]] {
      let line = try #require(try await home.export(to: &target).lines.first)
      guard case .schema(_, let schema, _) = try Message(line) else { return [:] }
      let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
      return properties.compactMapValues { $0["type"] as? [String] }
    }
    let first = try await types()
    #expect(first["tags"] == ["array", "null"] && first["size"] == ["number", "null"])
    home.serve([#"{"id": 1, "size": "big"}"#, #"{"id": 2, "size": null}"#])
    try await home.sync()
    let second = try await types()
    #expect(second["tags"] == ["array", "null"])
    #expect(second["size"] == ["string", "number", "null"])
  }

  @Test func `the target always has what the cache has, whatever happened`() async throws {
    let home = try await ExportHome(ExportHome.things(1...8), ["AGGREGATOR_HISTORY": "90d 12"])
    try await Self.change(home, steps: 40)
  }

  @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
  func `so it has if the store is in PostgreSQL`() async throws {
    try await withDatabase { database in
      let variables = ["AGGREGATOR_HISTORY": "90d 12", "AGGREGATOR_STORE": database.uri]
      try await Self.change(try await ExportHome(ExportHome.things(1...8), variables), steps: 20)
    }
  }

  /// Changes, removes, deletes and restores records at random, and exports them to a target that sometimes loses what it
  /// was sent.
  private static func change(_ home: ExportHome, steps: Int) async throws {
    try await home.sync()
    var generator = SeededGenerator(7)
    var rows = Set(1...8)
    var names: [Int: String] = [:]
    var target = TableTarget()
    var older = target
    for step in 1...steps {
      let number = Int.random(in: 1...10, using: &generator)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0, 1: rows.insert(number)
      case 2: rows.remove(number)
      case 3, 4: names[number] = "name \(step)"
      case 5: _ = try await home.run("things delete t\(number) --yes")
      case 6: _ = try await home.run("things restore --all")
      default: target = older
      }
      home.serve(rows.sorted().map { ExportHome.thing("t\($0)", names[$0] ?? "thing") })
      if step % 3 > 0 { try await home.sync() }
      if step % 5 == 0 { older = target }
      if step % 2 == 0 { try await home.export(to: &target) }
    }
  }
}
