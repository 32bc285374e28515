import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorKit
@testable import AggregatorSQLite
@testable import AggregatorStore

/// Lists in records as tables of a query, and as views for other programs.
@Suite struct NestedTableTests {
  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  private static let views = SQLView.all(
    of: "baskets", NestedSample.fields, NestedSample.tables)

  private func store() async throws -> SQLiteStore {
    let store = SQLiteStore(
      at: directory.path, showing: SourceViews { Self.views.map(\.source) })
    try await store.save(NestedSample.entries, of: "baskets")
    return store
  }

  private func rows(_ text: String, in store: SQLiteStore) async throws -> [[SQLValue]] {
    let query = try await store.query(text, over: Self.views, within: .seconds(600))
    var rows: [[SQLValue]] = []
    while let page = try await query.page(within: .seconds(600)) { rows += page }
    return rows
  }

  @Test func `each element is a row, whatever it is`() async throws {
    let store = try await store()
    let query = try await store.query(
      "SELECT * FROM baskets_lines", over: Self.views, within: .seconds(600))
    #expect(
      await query.columns == ["baskets.id", "position", "sku", "count", "a\"'b", "first"])
    #expect(await query.sources == ["baskets"])
    // A text ends at NUL, as in every view.
    let lines = try await rows("SELECT * FROM baskets_lines ORDER BY 1, 2", in: store)
    #expect(
      lines == [
        [
          .integer(1), .integer(0), .text("x'\""), .integer(10), .text(#"{"c":[1]}"#), .text("t"),
        ],
        [.integer(1), .integer(1), .null, .integer(9), .null, .null],
        [.integer(3), .integer(0), .null, .null, .null, .null],
        [.integer(5), .integer(0), .null, .null, .null, .null],
        [.integer(5), .integer(1), .null, .null, .null, .null],
        [.integer(5), .integer(2), .null, .null, .null, .null],
        [.integer(5), .integer(3), .null, .null, .null, .null],
        [.integer(5), .integer(4), .text("5"), .integer(8), .null, .null],
      ])
    #expect(
      try await rows(
        "SELECT value, _row FROM baskets_all ORDER BY \"baskets.id\", position", in: store)
        == [
          [.integer(1), .integer(1)], [.text("[2]"), .text("[2]")],
          [.text("[3]"), .text(#""[3]""#)], [.text(#"{"no":"list"}"#), .text(#"{"no":"list"}"#)],
          [.null, .null], [.integer(1), .text("true")],
          [.number(2.5), .number(2.5)], [.text("a'b"), .text(#""a'b""#)],
          [.text(#"{"x":null}"#), .text(#"{"x":null}"#)],
        ])
    // Numbers compare as numbers.
    #expect(
      try await rows("SELECT count FROM baskets_lines WHERE count < 10 ORDER BY count", in: store)
        == [[.integer(8)], [.integer(9)]])
    #expect(
      try await rows(
        "SELECT b.id, count(l.position) FROM baskets b LEFT JOIN baskets_lines l "
          + "ON l.\"baskets.id\" = b.id GROUP BY 1 ORDER BY 1", in: store)
        == [(1, 2), (2, 0), (3, 1), (4, 0), (5, 5)].map { [.integer($0.0), .integer($0.1)] })
  }

  @Test func `views for other programs have the same rows`() async throws {
    let store = try await store()
    let file = try directory.database()
    for table in ["baskets_lines", "baskets_all"] {
      let count = "SELECT count(*) FROM \(table)"
      #expect(
        try await rows(count, in: store) == [[.integer(Int(file.texts(count)[0]) ?? -1)]])
    }
    #expect(try file.texts("SELECT sku FROM baskets_lines WHERE count = 8") == ["5"])
    _ = try await store.delete(["5"], of: "baskets", at: .day())
    #expect(try file.texts("SELECT count(*) FROM baskets_lines") == ["3"])
    #expect(try await rows("SELECT count(*) FROM baskets_lines", in: store) == [[.integer(3)]])
    try file.execute("UPDATE records SET removed_upstream = 1 WHERE id = '1'")
    #expect(try file.texts("SELECT count(*) FROM baskets_lines") == ["1"])
    #expect(try await rows("SELECT count(*) FROM baskets_lines", in: store) == [[.integer(1)]])
  }

  @Test func `a join takes linear time`() async throws {
    let store = directory.store()
    let count = 4000
    try await store.save(
      (1...count).map { id in
        StoreEntry(
          id: "\(id)",
          json: Data(#"{"id":\#(id),"lines":[{"count":1},{"count":2}]}"#.utf8)
        ) { FoldedText("") }
      }, of: "baskets")
    let query = try await store.query(
      "SELECT count(*) FROM baskets b JOIN baskets_lines l ON l.\"baskets.id\" = b.id",
      over: Self.views, within: .seconds(600))
    #expect(try await query.page(within: .seconds(600)) == [[.integer(2 * count)]])
    // Each record by an index, not by reading all elements.
    let file = try directory.database()
    try await SQLiteStore(
      at: directory.path, showing: SourceViews { Self.views.map(\.source) }
    ).save([NestedSample.entries[0]], of: "baskets")
    let plan = try file.texts(
      "EXPLAIN QUERY PLAN SELECT b.id FROM baskets b JOIN baskets_lines l ON l.\"baskets.id\" = b.id",
      column: 3)
    #expect(
      plan.contains { $0.contains("AUTOMATIC") && $0.contains("INDEX (baskets.id=?)") }, "\(plan)")
  }

  @Test func `records and elements that are too large are left out, with their lists`() async throws
  {
    let store = try await store()
    let large = String(repeating: "x", count: 2 << 20)
    let deep = String(repeating: "[", count: 900) + String(repeating: "]", count: 900)
    try await store.save(
      [
        StoreEntry(
          id: "6", json: Data(#"{"id":6,"lines":[{"sku":"\#(large)"},{"sku":"b"}]}"#.utf8)
        ) { FoldedText("") },
        StoreEntry(id: "7", json: Data(#"{"id":7,"lines":[{"sku":\#(deep)}]}"#.utf8)) {
          FoldedText("")
        },
      ], of: "baskets")
    let query = try await store.query(
      "SELECT sku FROM baskets_lines WHERE \"baskets.id\" > 5", over: Self.views,
      within: .seconds(600))
    #expect(try await query.page(within: .seconds(600)) == [[.text(deep)]])
    #expect(await query.tooLarge == ["baskets": 1])
  }

  @Test func `rows of an export are those of the table`() throws {
    let basket = NestedSample.Basket(
      id: 3, lines: [.init(sku: "a", count: 1), .init(sku: nil, count: 2)])
    let table = NestedSample.tables[0]
    let fields = table.fields(of: "baskets", NestedSample.fields)
    #expect(fields.map(\.name) == ["baskets.id", "position", "sku", "count", "a\"'b", "first"])
    #expect(fields.map(\.kind) == [.integer, .integer, .text, .integer, .any, .any])
    let rows = table.rows(of: basket, NestedSample.fields).map { row in fields.map { $0[row] } }
    #expect(rows == [[3, 0, "a", 1, .null, .null], [3, 1, .null, 2, .null, .null]])
  }

  @Test(arguments: ["records", "search"])
  func `a source with the name of a table has tables, too`(name: String) async throws {
    let views = SourceView.all(of: name, NestedSample.fields, NestedSample.tables)
    let table = NestedTable<NestedSample.Basket>(
      "data", at: "lines", fields: [Field(\NestedSample.Line.sku)], elements: \.lines)
    let store = SQLiteStore(
      at: directory.path,
      showing: SourceViews { views + [SourceView(name, NestedSample.fields, table)] })
    try await store.save(NestedSample.entries, of: name)
    let file = try directory.database()
    for view in ["lines", "data"] {
      #expect(try file.texts("SELECT count(*) FROM source_\(name)_\(view)") == ["8"])
    }
    #expect(try file.isSound())
  }
}
