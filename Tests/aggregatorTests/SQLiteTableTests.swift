import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorBrowse
@testable import AggregatorProgramTesting
@testable import AggregatorSQL

/// The tables of exported databases.
@Suite struct SQLiteTableTests {
  // It is removed with the last reference.
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private func tables(
    _ rows: [(id: String, object: JSON)], _ names: [String]
  ) throws -> (schema: String, rows: [String]) {
    let path = sandbox.root.appending(path: "list.db").path
    try Data().write(to: URL(filePath: path))
    let file = try SQLiteFile(path)
    let fields = names.map { name in
      Field<BrowsedRow>(name, name, .any, about: "") { $0.object[name] ?? .null }
    }
    let table = try SQLiteTable("list", in: file, columns: fields)
    try table.insert(
      rows.map { id, object in
        var row = BrowsedRow(id: id, name: id, cells: [], card: [])
        row.object = object
        return row
      })
    try table.finish()
    try file.finish()
    var connection = try Connection(path, busyTimeout: .zero)
    let schema = try connection.rows("SELECT sql FROM sqlite_schema WHERE name = 'list'") {
      $0.text(0) ?? ""
    }
    let ids = try connection.rows("SELECT quote(id) FROM list ORDER BY rowid") { $0.text(0) ?? "" }
    return (try #require(schema.first), ids)
  }

  @Test func `columns have the types of all their values, and the ID is the key`() throws {
    let names = ["id", "name", "price", "big", "open", "mixed", "tags", "none"]
    let (schema, ids) = try tables(
      [
        (
          "9",
          [
            "id": 9, "name": "007", "price": 2, "big": 9_007_199_254_740_993, "open": true,
            "mixed": 5, "tags": ["a"],
          ]
        ),
        (
          "3", ["id": 3, "name": "x", "price": .number(2.5), "big": 1, "open": false, "mixed": "x"]
        ),
      ], names)
    #expect(
      schema == #"CREATE TABLE "list" ("id" INT NOT NULL PRIMARY KEY, "name" TEXT, "#
        + #""price" REAL, "big" INTEGER, "open" INTEGER, "mixed" , "tags" TEXT, "none" )"#)
    // In their order, which may be that of --sort.
    #expect(ids == ["9", "3"])
  }

  @Test func `no row is lost to an ID that is repeated or missing`() throws {
    let (schema, ids) = try tables(
      [("a", ["id": "a"]), ("b", ["id": "b"]), ("a", ["id": "a"])], ["id"])
    #expect(schema == #"CREATE TABLE "list" ("id" TEXT)"#)
    #expect(ids == ["'a'", "'b'", "'a'"])
    let missing = try tables([("a", ["id": "a"]), ("", ["id": .null])], ["id"])
    #expect(missing.schema == #"CREATE TABLE "list" ("id" TEXT)"#)
    #expect(missing.rows == ["'a'", "NULL"])
    let none = try tables([], ["id"])
    #expect(none.schema == #"CREATE TABLE "list" ("id" )"#)
  }
}
