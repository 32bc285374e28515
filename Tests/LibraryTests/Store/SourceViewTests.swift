import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorKit
@testable import AggregatorSQLite
@testable import AggregatorStore

/// The views of sources in the store's file, for other programs.
@Suite struct SourceViewTests {
  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  private struct Thing: Codable, Sendable {}

  private static func field(_ name: String, _ kind: FieldKind = .text) -> Field<Thing> {
    Field(name, name, kind, about: "A value.") { _ in .null }
  }

  private static let id = field("id").stored(at: "id")
  private static let text = field("text").stored(at: "text")

  private func store(
    _ views: [SourceView], keepingOthers: Bool = false
  ) -> SQLiteStore {
    SQLiteStore(at: directory.path, showing: SourceViews(keepingOthers: keepingOthers) { views })
  }

  private func views() throws -> [String] {
    try directory.database().texts(
      "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")
  }

  private let things = SourceView("things", [id, text])

  @Test func `a source is a view without deleted records, also of sources without any`()
    async throws
  {
    let store = store([things, SourceView("others", [Self.id])])
    try await store.save(["a", "b", "c"].map { StoreEntry($0) })
    _ = try await store.delete(["b"], of: "things", at: .day())
    let database = try directory.database()
    #expect(
      try database.texts("SELECT id || ': ' || text FROM things") == [
        "a: text of a", "c: text of c",
      ])
    #expect(try database.texts("SELECT id FROM others") == [])
    try await store.save([StoreEntry("x")], of: "others")
    #expect(try database.texts("SELECT id FROM others") == ["x"])
    #expect(try database.texts("SELECT count(*) FROM things") == ["2"])
    try database.execute("UPDATE records SET removed_upstream = 1 WHERE id = 'c'")
    #expect(try database.texts("SELECT id FROM things") == ["a"])
  }

  @Test func `computed values are null where the fields are`() async throws {
    try await store([ComputedSample.view]).save(ComputedSample.entries)
    #expect(
      try directory.database().texts(ComputedSample.query(of: "things")) == ComputedSample.texts)
  }

  @Test func `views work in a file that is attached`() async throws {
    try await store([things]).save([StoreEntry("a")])
    let other = try RawDatabase(":memory:")
    try other.execute("ATTACH '\(directory.path)' AS store")
    #expect(try other.texts("SELECT id FROM store.things") == ["a"])
  }

  @Test func `a store without views gets them at the next write, not by reading`() async throws {
    try await directory.store().save([StoreEntry("a")])
    let store = store([things])
    #expect(try await store.ids() == ["a"])
    #expect(try views() == [])
    try await store.save([StoreEntry("a")])
    #expect(try views() == ["things"])
  }

  @Test func `views are written only if they differ`() async throws {
    func version() throws -> [String] { try directory.database().texts("PRAGMA schema_version") }
    try await store([things]).save([StoreEntry("a")])
    let first = try version()
    let store = store([things])
    try await store.save([StoreEntry("b")])
    try await store.save([StoreEntry("b")])
    #expect(try version() == first)
    try await self.store([SourceView("things", [Self.id])]).save([StoreEntry("b")])
    #expect(try version() != first)
    #expect(throws: (any Error).self) { try directory.database().texts("SELECT text FROM things") }
    #expect(try directory.database().texts("SELECT id FROM things") == ["a", "b"])
  }

  @Test func `the view of a removed source goes, unless others are kept`() async throws {
    let other = SourceView("others", [Self.id])
    try await store([things, other]).save([StoreEntry("a")])
    try await store([things], keepingOthers: true).save([StoreEntry("b")])
    #expect(try views() == ["others", "things"])
    try await store([things]).save([StoreEntry("c")])
    #expect(try views() == ["things"])
    // A store that knows of no views leaves them alone.
    try await directory.store().save([StoreEntry("d")])
    #expect(try views() == ["things"])
  }

  @Test func `tables and views of other programs stay`() async throws {
    try await directory.store().save([StoreEntry("a")])
    let database = try directory.database()
    try database.execute("CREATE TABLE Things (mine); CREATE VIEW mine AS SELECT 1 AS one")
    try await store([things, SourceView("mine", [Self.id])]).save([StoreEntry("b")])
    #expect(try database.texts("SELECT count(*) FROM things") == ["0"])
    try await store([]).save([StoreEntry("c")])
    #expect(try database.texts("SELECT one FROM mine") == ["1"])
    try database.execute("DROP TABLE Things")
    try await store([things]).save([StoreEntry("d")])
    #expect(try database.texts("SELECT count(*) FROM things") == ["4"])
  }

  @Test(arguments: ["records", "sources", "search", "shared"])
  func `a source may have the name of a table of the store`(name: String) async throws {
    let store = store([SourceView(name, [Self.id])])
    try await store.save([StoreEntry("a")], of: name)
    #expect(try directory.database().texts("SELECT id FROM source_\(name)") == ["a"])
    #expect(try directory.database().isSound())
  }

  @Test func `names of tables are known`() async throws {
    try await directory.store().save([StoreEntry("a")])
    let names = try directory.database().texts(
      "SELECT name FROM sqlite_schema WHERE type = 'table'")
    #expect(Set(names.filter { !$0.contains("_") }) == SQLiteSchema.tables)
  }

  @Test(arguments: [
    #"x"; DROP TABLE records; --"#, "a'b", "a\0b", "ä ö", "select", "", "a.b", "*", "json",
    "position",
  ])
  func `a name is data, whatever it contains`(name: String) async throws {
    let fields = [
      Self.id, Self.field(name).stored(at: "text"),
      Self.field("computed").computed(as: .joined([.member("mark"), .text("'1")])),
      Self.field("only in Swift"),
    ]
    try await store([SourceView("things", fields)]).save([StoreEntry("a")])
    let database = try directory.database()
    #expect(try database.texts("SELECT \(name.sqlName) FROM things") == ["text of a"])
    #expect(
      try database.texts("SELECT name FROM pragma_table_info('things')")
        == ["id", name.replacing("\0", with: "\u{2400}"), "computed"])
    #expect(try database.texts("SELECT computed FROM things") == ["0'1"])
  }
}
