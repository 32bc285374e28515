import AggregatorKit
import AggregatorSourceTesting
import Foundation

@testable import AggregatorQueries

/// Damaged store files, and SQL queries.
extension FuzzTarget {
  static let store = [storeBytes, storeCells, sql]

  /// A recipe for damage: two bytes for the position, one for the kind and one for the value of
  /// each change.
  private static let storeBytes = FuzzTarget(
    "store-bytes", samples: [[0, 30, 0, 1], [9, 9, 1, 255, 40, 0, 2, 7], [128, 0, 3, 0]],
    cost: .high
  ) { recipe in
    var bytes = try await StoreSample.shared.value.bytes
    for start in stride(from: 0, to: min(recipe.count, 256) - 3, by: 4) where !bytes.isEmpty {
      let change = Array(recipe[start..<start + 4])
      let scale = Int(change[0]) << 8 | Int(change[1])
      // Headers matter most, so every other change is on the first page or at the start of one.
      let offset =
        switch change[2] & 3 {
        case 0: scale % min(bytes.count, 200)
        case 1: scale % max(1, bytes.count / 4096) * 4096 + scale % 64
        default: scale * bytes.count >> 16
        }
      guard offset < bytes.count else { continue }
      switch change[2] >> 2 {
      case 0..<28: bytes[offset] = change[3]
      case 28..<48: bytes[offset] ^= 1 << (change[3] & 7)
      case 48..<62:
        bytes.replaceSubrange(offset..<min(offset + 64, bytes.count), with: [change[3]])
      default: bytes.removeSubrange(offset...)
      }
    }
    try await use(bytes, recipe)
  }

  /// Values that this program never writes, in an intact file.
  private static let storeCells = FuzzTarget("store-cells", samples: [[1], [2]], cost: .high) {
    recipe in
    let directory = try ScratchDirectory()
    try await StoreSample.shared.value.bytes.write(to: URL(filePath: directory.path))
    var random = SeededGenerator(recipe.reduce(7) { $0 &* 31 &+ UInt64($1) })
    do {
      let database = try Database(directory.path)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        database.execute(spoiling(&random))
      }
      database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }
    try await use(Data(contentsOf: URL(filePath: directory.path)), recipe)
  }

  private static let columns: [(table: String, integers: [String], texts: [String])] = [
    ("sources", ["number", "last", "records", "removed_upstream", "last_fetched"], ["name"]),
    (
      "records", ["position", "source", "saved", "first_seen", "removed_upstream"],
      ["id", "folded", "json", "json", "json"]
    ),
    ("tombstones", ["source", "deleted"], ["id"]),
    ("pages", ["number", "source", "fetched"], ["key", "positions", "page", "page"]),
    ("checkpoints", ["source"], ["name", "value", "value"]),
    ("shared", [], ["key", "value", "value", "value"]),
    ("seen", ["number", "source"], ["reconciliation", "positions"]),
  ]

  private static func spoiling(_ random: inout SeededGenerator) -> String {
    guard let (table, integers, texts) = columns.randomElement(using: &random),
      let column = (integers + texts).randomElement(using: &random)
    else { return "" }
    let some = ["1", "random() % 3 = 0", "1"].randomElement(using: &random) ?? "1"
    if integers.contains(column) {
      let value = Hostile.integers.randomElement(using: &random) ?? 0
      let sum = Bool.random(using: &random) ? "\(value)" : "\(column) + \(value)"
      return "UPDATE OR IGNORE \(table) SET \(column) = \(sum) WHERE \(some)"
    }
    let path =
      ["$", "$[0]", "$.a", "$.id", "$.total", "$.until", "$.times[0]", "$.position"]
      .randomElement(using: &random) ?? "$"
    let value =
      switch Int.random(in: 0..<4, using: &random) {
      case 0: "CAST(x'\(Data(Hostile.text(&random).utf8).hex)' AS TEXT)"
      case 1:
        "CAST(x'\(Data((Hostile.json.randomElement(using: &random) ?? "").utf8).hex)' AS TEXT)"
      case 2:
        "json_set(\(column), '\(path)', \(Hostile.integers.randomElement(using: &random) ?? 0))"
      // Digits in a list of numbers.
      default:
        "replace(\(column), '\(Int.random(in: 0...9, using: &random))', '\(Hostile.number(&random))')"
      }
    return "UPDATE OR IGNORE \(table) SET \(column) = \(value) WHERE \(some)"
  }

  /// Uses the store in every way.
  ///
  /// The result must be an answer or a `SourceError`.
  private static func use(_ bytes: Data, _ recipe: [UInt8]) async throws {
    let directory = try ScratchDirectory()
    try bytes.write(to: URL(filePath: directory.path))
    let store = SQLiteStore(at: directory.path, busyTimeout: .milliseconds(100))
    // One source per case, for more cases.
    let plugins = StoreSample.plugins
    let plugin = plugins[Int(recipe.reduce(0, &+)) % plugins.count]
    try await use(store, by: plugin)
    _ = try? await store.inconsistencies()
    _ = try? await store.clear("heroes", forgetsDeleted: false)
  }

  private static func use<P: Plugin>(_ store: SQLiteStore, by plugin: P) async throws {
    let environment = StoreSample.environment(of: plugin, store)
    for cachePolicy in [CachePolicy.offline, .normal, .reload] {
      let source = try plugin.source(in: environment).cachePolicy(cachePolicy)
      var next: PageCursor?
      for _ in 0..<3 {
        do throws(SourceError) {
          let page = try await source.page(PageRequest(after: next, limit: 3))
          for record in page.records { _ = plugin.fields.searchableText(of: record) }
          _ = page.provenance.fetchedAt?.iso8601
          next = page.next
        } catch {
          try expectHarmless(error)
          break
        }
        if next == nil { break }
      }
      _ = try? await source.page(PageRequest(matching: try SearchQuery("a"), limit: 3))
      if let id = P.Item.ID(plugin.example.id) { _ = try? await source.item(id) }
    }
    let syncing = try plugin.sync(into: store, in: environment)
    _ = await syncing.run(upTo: 2, jobs: 1, waits: false) { _ in }
    _ = store.readWithoutWaiting(plugin.name, idsFrom: "", areDeleted: false, atMost: 5)
    _ = try? await store.status(of: plugin.name)
    _ = try? await store.delete(["x"], of: plugin.name, at: Date(timeIntervalSince1970: 1))
    _ = try? await store.restore(nil, of: plugin.name)
    _ = try? await query("SELECT * FROM \(plugin.name)", of: store)
  }

  private static func query(_ text: String, of store: SQLiteStore) async throws(SourceError) -> Int
  {
    let views = StoreSample.plugins.flatMap { SQLView.all(of: $0) }
    let query = try await store.query(text, over: views, within: .seconds(2))
    var count = 0
    for _ in 0..<3 {
      guard let rows = try await query.page(within: .seconds(2)) else { break }
      count += rows.count
    }
    return count
  }

  /// A read-only store for queries, shared by all cases.
  private struct Library: Sendable {
    let store: SQLiteStore
    let directory: ScratchDirectory
  }

  private static let library = Task {
    let directory = try ScratchDirectory()
    try await StoreSample.shared.value.bytes.write(to: URL(filePath: directory.path))
    return Library(store: SQLiteStore(at: directory.path), directory: directory)
  }

  private static let sql = FuzzTarget(
    "sql",
    texts: [
      "select name, publisher from heroes where name like 'a%' order by 1 limit 3",
      "with t as (select email from users) select count(*), max(email) from t group by 1",
      "select json_extract(name, '$.a') from products union all select code from countries",
      "select u.email from users u join heroes h on h.name > u.email where h.id in (1, 2.5, x'00')",
    ],
    tokens: [
      "select ", "from ", "heroes", "users", "records", "main.", "temp.", "sqlite_schema", "*", ";",
      "--", "/*", "*/", "pragma ", "attach ", "insert ", "delete ", "drop ", "vacuum", "explain ",
      "load_extension(", "json_each(", "recursive ", "union ", "cast(", "zeroblob(", "printf('%d'",
      "count(", "glob ", "?1", ":a", "x'", "''", "\"", "`", "[", "]", "values ", "(1)", "null",
    ], cost: .medium
  ) { text in
    let store = try await library.value.store
    do throws(SourceError) { _ = try await query(text, of: store) } catch {
      let known: [SourceError.Code] = [.invalidRequest, .timedOut]
      try expect(known.contains(error.code), "\(error.code): \(error.message)")
    }
    let count = try await query("select * from heroes", of: store)
    try expect(count > 0, "the heroes are gone")
  }
}

extension Data {
  fileprivate var hex: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
