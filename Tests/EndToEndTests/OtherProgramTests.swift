import AggregatorKit
import AggregatorPlugins
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorSQLite
@testable import AggregatorStore
@testable import AggregatorTerminal

/// The store, opened by other programs.
@Suite struct OtherProgramTests {
  static let sqlite3 = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"]
    .first(where: FileManager.default.isExecutableFile)

  /// `Scripts/install tests` installs it.
  static let datasette = [Repository.root.appending(path: ".build/python/bin/datasette").path]
    .first(where: FileManager.default.isExecutableFile)

  private let home: TestHome
  private let lamps: FakeLamps

  init() throws {
    home = try TestHome()
    lamps = try FakeLamps()
  }

  /// Runs a program with arguments, which are not words of a shell.
  private func run(_ program: String?, _ arguments: String...) async throws -> Outcome {
    let program = try #require(program)
    // The program of these tests is the last argument, which is taken for the name of the shell.
    let words = ([program] + arguments).map { "'\($0.replacing("'", with: #"'\''"#))'" }
    return try await Binary.run(
      [String](), in: home.sandbox, by: ["/bin/sh", "-c", words.joined(separator: " ")])
  }

  private func rows(_ query: String) async throws -> [JSON] {
    let outcome = try await run(Self.sqlite3, "-readonly", "-json", home.file.path, query)
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    guard case .array(let rows)? = JSON(reading: Data(outcome.output.utf8)) else { return [] }
    return rows
  }

  @Test(
    .enabled(if: sqlite3 != nil, "sqlite3 is not installed"),
    arguments: AggregatorPlugins.plugins.map(\.name))
  func `a view has every field of its source`(name: String) async throws {
    let plugin = try #require(AggregatorPlugins.plugins.first { $0.name == name })
    try await compare(plugin)
  }

  private func compare<P: Plugin>(_ plugin: P) async throws {
    let views = SourceViews { [SourceView(plugin.name, plugin.fields)] }
    let store = SQLiteStore(at: home.file.path, showing: views)
    let items = try await plugin.bundled.page(PageRequest(limit: 500)).records
    _ = try await plugin.recordStore(in: store).save(items, at: Date())
    func values() -> [JSON] { items.map { plugin.fields.object(of: $0) } }
    let before = values()
    let rows = try await rows("SELECT * FROM \"\(plugin.name)\"")
    #expect(rows.count == items.count && rows.count > 2)
    // An age may change at midnight.
    for (row, known) in zip(rows, zip(before, values())) {
      #expect([known.0, known.1].map(\.asInSQL).contains(row.asInSQL), "\(row.text)")
    }
  }

  @Test(.enabled(if: sqlite3 != nil, "sqlite3 is not installed"))
  func `a declared source is a view, whatever its names and values`() async throws {
    let row = #"""
      {"id": 1, "tags": [{"name": "a\"b", "n": 4.5, "ok": true}, {"name": null}, {"n": 2, "ok": [1, {"x": "y"}]}],
       "a.b": "dot", "q\"uote": "quote", "7": "seven", "list": ["[1]", "zero"], "text": "{", "none": null,
       "deep": {"0": {"*": {"x": false}}}, "é": 1e3}
      """#
    lamps.behave { _ in .json("{\"lamps\": [\(row), {\"id\": 2}], \"total\": 2}") }
    let paths = [
      "tags", "tags.*.name", "tags.*.n", "tags.*.ok", "tags.0.name", "tags.2.ok.1.x", #""a.b""#,
      #""q\"uote""#, "7", "list.0", "list.1", "list.9", "text", "text.x", "text.*", "none",
      "none.*", #"deep.0."*".x"#, "deep.*.*", "é", "list.*", "list.0.*", "id.x",
    ]
    var fields = paths.enumerated().map { index, path in
      JSON.object([.init("name", .string("f\(index)")), .init("path", .string(path))])
    }
    fields.append(
      JSON.object([
        .init("name", .string(#"x"; DROP TABLE records; --"#)), .init("path", .string("id")),
      ]))
    try home.sandbox.write(
      """
      {"url": "\(lamps.server.baseURL)/lamps", "rows": "lamps", "id": "id", "fields":
      \(JSON.array(fields).text)}
      """, to: "home/.config/aggregator/sources/records.json")
    #expect(try await home.run("records sync").status == 0)
    let own = try await home.run("sql SELECT * FROM records --json")
    #expect(own.status == 0, "\(own)")
    guard case .array(let known)? = JSON(reading: Data(own.output.utf8))?["items"] else {
      Issue.record("\(own)")
      return
    }
    let found = try await rows("SELECT * FROM source_records")
    #expect(found.map(\.asInSQL) == known.map(\.asInSQL))
    #expect(found.count == 2)
    #expect(try home.file.faults() == [])

    #expect(try await home.run("sources remove records --yes").status == 0)
    #expect(try await home.run("countries delete FR --yes").status == 0)
    let gone = try await run(Self.sqlite3, home.file.path, "SELECT * FROM source_records")
    #expect(gone.errors.contains("no such table"), "\(gone)")
  }

  @Test(.enabled(if: datasette != nil, "datasette is not installed"))
  func `datasette shows the sources`() async throws {
    let plugin = try #require(AggregatorPlugins.plugins.first { $0.name == "countries" })
    try await compare(plugin)
    let outcome = try await run(
      Self.datasette, home.file.path, "--get",
      "/store/countries.json?_shape=array&_size=2&_sort=code&code__gt=F")
    #expect(outcome.status == 0, "\(outcome)")
    guard case .array(let rows)? = JSON(reading: Data(outcome.output.utf8)) else {
      Issue.record("\(outcome)")
      return
    }
    #expect(rows.map { $0["code"] } == [.string("FI"), .string("FJ")])
  }
}

extension JSON {
  /// The value as SQL has it: lists and objects are texts, which are read again, and Booleans are 1 and 0.
  fileprivate var asInSQL: JSON {
    switch self {
    case .object(let members):
      .object(members.map { .init($0.name, $0.value.plain) }.sorted { $0.name < $1.name })
    default: plain
    }
  }

  private var plain: JSON {
    switch self {
    case .array, .object: canonical
    case .bool(let bool): .integer(bool ? 1 : 0)
    case .number(let number): Int(exactly: number).map(JSON.integer) ?? self
    case .string(let text) where text.hasPrefix("[") || text.hasPrefix("{"):
      JSON(reading: Data(text.utf8))?.canonical ?? self
    default: self
    }
  }
}
