import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorCore
@testable import AggregatorSync
@testable import DeclaredSource

/// Syncs notice which members of the rows appear, vanish or change their kind.
@Suite(.timeLimit(.minutes(10))) struct RowSchemaTests {
  private static func schema(_ rows: JSON...) -> RowSchema {
    var reader = RowSchema.Reader()
    for row in rows { reader.add(row) }
    return reader.schema
  }

  @Test func `has the kinds of each member`() {
    let schema = Self.schema(
      ["id": 1, "name": "a", "tags": [], "ok": true, "at": nil],
      ["id": 2, "name": "b", "tags": [], "ok": true, "at": nil],
      ["id": "3", "name": nil, "price": .number(1.5), "maker": ["name": "m"]], 7)
    #expect(
      schema.members == [
        "id": [.text, .number], "name": [.text], "tags": [.list], "ok": [.boolean], "at": [],
        "price": [.number], "maker": [.object], "maker.name": [.text],
      ])
  }

  @Test func `names what appeared, vanished and changed`() {
    let old = Self.schema(["id": 1, "vat": 2, "price": 3, "note": nil])
    let new = Self.schema(["id": 1, "price": "3", "note": "x", "discount": 1])
    let changes = new.changes(since: old, all: true)
    #expect(
      changes.map(\.text) == [
        "rows have a new member \"discount\" (number)",
        "the member \"price\" is text now, and was number",
        "rows no longer have the member \"vat\"",
      ])
    // Of some rows, nothing is known to be gone.
    #expect(new.changes(since: old, all: false).map(\.member) == ["discount", "price"])
    let both = Self.schema(["id": 1, "price": "3"], ["id": 1, "price": 3])
    #expect(both.changes(since: Self.schema(["id": 1, "price": 3]), all: false).count == 1)
    #expect(Self.schema(["id": 1, "price": 3]).changes(since: both, all: false).isEmpty)
    #expect(Self.schema(["id": 1, "price": 3]).changes(since: both, all: true).count == 1)
  }

  @Test func `very many members are not all looked at`() {
    let wide = JSON.object((0..<5000).map { JSON.Member("key\($0)", 1) })
    let schema = Self.schema(wide)
    #expect(schema.members.count == 1000)
    #expect(
      schema.changes(since: Self.schema(["gone": 1]), all: true).allSatisfy {
        $0.kind == .appeared
      })
  }

  private static func texts(_ new: RowSchema, _ old: RowSchema, all: Bool = true) -> [String] {
    new.changes(since: old, all: all).map(\.text)
  }

  @Test func `members of objects have paths`() throws {
    let row: JSON = [
      "a.b": ["c \"d\"": 1], "*": ["$": true],
      "one": ["two": ["three": ["four": ["five": 5]]]],
    ]
    let members = Self.schema(row).members
    #expect(
      Set(members.keys) == [
        #""a.b""#, #""a.b"."c \"d\"""#, #""*""#, #""*"."$""#, "one", "one.two", "one.two.three",
        "one.two.three.four",
      ])
    for path in members.keys {
      #expect(try #require(JSONPath(path)).value(in: row) != nil, "\(path)")
    }
  }

  @Test func `an object that appears or vanishes is one change`() {
    let flat = Self.schema(["id": 1, "owner": nil])
    let deep = Self.schema(["id": 1, "owner": ["login": "a", "plan": ["name": "b"]]])
    let bare = Self.schema(["id": 1])
    #expect(Self.texts(deep, bare) == [#"rows have a new member "owner" (object)"#])
    #expect(Self.texts(bare, deep) == [#"rows no longer have the member "owner""#])
    #expect(Self.texts(deep, flat).isEmpty)
    #expect(Self.texts(flat, deep).isEmpty)
    let text = Self.schema(["id": 1, "owner": "a"])
    #expect(Self.texts(text, deep) == [#"the member "owner" is text now, and was object"#])
    let other = Self.schema(["id": 1, "owner": ["login": 1, "plan": ["price": 2]]])
    #expect(
      Self.texts(other, deep) == [
        #"the member "owner.login" is number now, and was text"#,
        #"rows no longer have the member "owner.plan.name""#,
        #"rows have a new member "owner.plan.price" (number)"#,
      ])
    #expect(Self.texts(other, deep, all: false).count == 2)
  }

  private static func map(_ keys: some Sequence<String>, _ value: JSON = 1) -> JSON {
    ["id": 1, "prices": .object(keys.map { JSON.Member($0, value) })]
  }

  @Test func `an object with keys for names is one member`() {
    let names = (0..<300).map { "key\($0)" }
    let map = Self.schema(Self.map(names))
    #expect(map.members == ["id": [.number], "prices": [.object], "prices.*": [.number]])
    // In whatever order, and on whatever page, they are read.
    var pages = RowSchema()
    for start in stride(from: 0, to: 300, by: 50) {
      pages.add(Self.schema(Self.map(names[start..<start + 50])))
    }
    #expect(pages == map)
    var late = Self.schema(Self.map(names.prefix(5), ["x": 1]))
    late.add(map)
    #expect(
      late.members == ["id": [.number], "prices": [.object], "prices.*": [.number, .object]])
    for key in ["2026-11-25", "7", "1f3b", String(repeating: "long", count: 30)] {
      #expect(Self.schema(Self.map(["a", key])).members.count == 3)
    }
    // Nor are they reported while there are few of them, or when there are too many at last.
    let few = Self.schema(Self.map(names.prefix(60)))
    #expect(few.members.count == 62)
    #expect(Self.texts(map, few).isEmpty)
    #expect(Self.texts(few, map).isEmpty)
    #expect(Self.texts(Self.schema(Self.map(names.suffix(60))), few).isEmpty)
    #expect(
      Self.texts(Self.schema(Self.map(names, "1 EUR")), map)
        == [#"the member "prices.*" is text now, and was number"#])
  }

  @Test func `objects with many names do not fill the checkpoint`() throws {
    let names = (0..<90).map { "name\($0)" }
    let inner = JSON.object(names.map { JSON.Member($0, 1) })
    let wide = JSON.object(names.map { JSON.Member($0, inner) })
    var schema = Self.schema(wide)
    #expect(schema.members.count == 1000)
    #expect(names.allSatisfy { schema.members[$0] != nil })
    schema.add(Self.schema(["more": 1]))
    #expect(schema.members.count == 1000)
    // Which ones were left out is not known.
    #expect(Self.texts(Self.schema(["other": 1]), schema).isEmpty)
  }

  @Test func `what an earlier version has stored leads to no false report`() throws {
    let stored = #"{"m":{"a.b":["text"],"id":["number"],"owner":["object"],"vat":["number"]}}"#
    var old = try JSONDecoder().decode(RowSchema.self, from: Data(stored.utf8))
    let new = Self.schema(["id": "1", "a.b": "x", "owner": ["login": "a"]])
    #expect(Self.texts(new, old) == [#"the member "id" is text now, and was number"#])
    old.add(new)
    #expect(Self.texts(new, old).allSatisfy { !$0.hasPrefix("rows") })
    let again = try JSONDecoder().decode(RowSchema.self, from: JSONEncoder().encode(new))
    #expect(again == new)
    #expect(Self.texts(Self.schema(["id": "1", "a.b": "x"]), again).count == 1)
  }

  // MARK: - Syncs

  private final class Rows: Sendable {
    private let rows: Mutex<[JSON]>
    init(_ rows: [JSON]) { self.rows = Mutex(rows) }
    func set(_ new: [JSON]) { rows.withLock { $0 = new } }
    func reply(_ request: LoopbackRequest) -> LoopbackReply {
      let since = request.query["since"] ?? ""
      let listed = rows.withLock { rows in
        rows.filter { $0["at"].map { $0.text.dropFirst().dropLast() >= since } ?? true }
      }
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      return .json(JSON.array(Array(listed.dropFirst((page - 1) * 2).prefix(2))).text)
    }
  }

  @Test(arguments: [false, true])
  func `full syncs see all changes, incremental ones what rows show`(
    isIncremental: Bool
  ) async throws {
    func row(_ id: Int, _ more: JSON = [:]) -> JSON {
      let at = "2026-11-0\(id)T00:00:00Z"
      return .object([.init("id", .integer(id)), .init("at", .string(at))] + more.members)
    }
    let rows = Rows([row(1, ["vat": 1]), row(2, ["vat": 2]), row(3)])
    let server = try LoopbackServer { rows.reply($0) }
    let since = #", "since": {"parameter": "since", "field": "at"}"#
    let text = """
      {"url": "\(server.baseURL)/rows", "rows": "$", "id": "id", "page": "page=1",
       "paging": "proved", "rate": "off"\(isIncremental ? since : "")}
      """
    let plugin = DeclaredPlugin("rows", try Manifest(reading: Data(text.utf8)))
    let store = InMemoryStore()
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: HTTPTransport(), store: store,
      now: { Date(timeIntervalSince1970: 1_795_200_000) })
    func sync() async throws -> SyncResult {
      let result = try await plugin.sync(into: store, in: environment)
        .run(upTo: nil, jobs: 1, waits: false) { _ in }
      #expect(result.isComplete && result.failure == nil)
      return result
    }
    #expect(try await sync().schemaChanges.isEmpty)
    #expect(try await sync().schemaChanges.isEmpty)
    // The member of the first rows is gone, and the last one has another.
    rows.set([row(1), row(2), row(3, ["discount": "none"])])
    let changes = try await sync()
    #expect(changes.kind == (isIncremental ? .incremental : .full))
    #expect(
      changes.schemaChanges.map(\.member) == (isIncremental ? ["discount"] : ["discount", "vat"]))
    #expect(try await sync().schemaChanges.isEmpty)
    rows.set([row(1), row(2), row(3, ["discount": 5])])
    #expect(
      try await sync().schemaChanges.map(\.text)
        == ["the member \"discount\" is number now, and was text"])
    let history = try #require(try await plugin.recordStore(in: store).schemaHistory())
    #expect(history.entries.count == (isIncremental ? 2 : 3))
  }
}
