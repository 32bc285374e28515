import AggregatorKit
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorSQLite
import AggregatorSourceTesting
import AggregatorStore
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorSelection

/// A filter selects the same records of either store, with and without an index.
@Suite(.timeLimit(.minutes(10))) struct SelectionStoresTests {
  private struct Thing: SourceRecord {
    var id: Int
    var text: String?
    var number: Double?
    var list: [String] = []
    var date: String?
  }

  private static let fields: [Field<Thing>] = [
    Field("id", "ID", \.id, about: ""), Field("text", "Text", \.text, about: ""),
    Field("number", "Number", \.number, about: ""), Field("list", "List", \.list, about: ""),
    Field("date", "Date", \.date, about: ""),
  ]

  /// The time 2026-03-01T10:00:00Z.
  private static let now = Date(timeIntervalSince1970: 1_772_359_200)

  private typealias Sample = (text: String, matches: @Sendable (Thing) -> Bool)

  private static let conditions: [Sample] = [
    ("id in 10..30", { 10...30 ~= $0.id }), ("id in (1, 2, 3)", { 1...3 ~= $0.id }),
    ("text=Éclair", { $0.text == "Éclair" }),
    ("text~ecl", { ["Éclair", "eclair"].contains($0.text) }),
    ("text~/^.clair$/i", { ["Éclair", "eclair"].contains($0.text) }),
    ("text not in (x, y z)", { !["x", "y z"].contains($0.text) }),
    ("text=''", { $0.text == nil }), ("number>1.5", { ($0.number ?? 0) > 1.5 }),
    ("number!=2", { $0.number != 2 }), ("list=b", { $0.list.contains("b") }),
    ("date>=yesterday", { ["2026-02-28", "2026-03-01T09:00:00Z"].contains($0.date) }),
    ("date in 2025..2026-01", { ["2025-12-31", "2026-01-31"].contains($0.date) }),
    ("date<2h ago", { $0.date != nil && $0.date != "2026-03-01T09:00:00Z" }),
  ]

  private static func filter(depth: Int, _ random: inout SeededGenerator) -> Sample {
    guard depth > 0, Int.random(in: 0..<5, using: &random) > 0 else {
      return conditions.randomElement(using: &random) ?? conditions[0]
    }
    let first = filter(depth: depth - 1, &random)
    let second = filter(depth: depth - 1, &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return ("not (\(first.text))", { !first.matches($0) })
    case 1:
      return (
        "(\(first.text)) and (\(second.text))", { first.matches($0) && second.matches($0) }
      )
    default:
      return ("(\(first.text) or \(second.text))", { first.matches($0) || second.matches($0) })
    }
  }

  private func expectTheSame(in store: any SourceStore, seed: UInt64) async throws {
    var random = SeededGenerator(seed)
    let things = (0..<50).map { id in
      Thing(
        id: id, text: [nil, "Éclair", "eclair", "x", "y z"].randomElement(using: &random) ?? nil,
        number: [nil, 1, 2, 2.5].randomElement(using: &random) ?? nil,
        list: ["a", "b"].filter { _ in Bool.random(using: &random) },
        date: [
          nil, "2025-12-31", "2026-01-31", "2026-02-28", "2026-03-01T09:00:00Z",
        ].randomElement(using: &random) ?? nil)
    }
    let records = RecordStore<Thing>("things", in: store) { Self.fields.searchableText(of: $0) }
    _ = try await records.save(things, at: Self.now)
    let index = RecordIndex(records, Self.fields) { _ in false }
    for _ in 0..<40 {
      let sample = Self.filter(depth: 3, &random)
      let selection = try Selection(
        SelectionText(conditions: [sample.text], order: "-id"), Self.fields, at: Self.now)
      let selected = SelectedSource("things", of: records.records, selection, mayBeEmpty: true) {
        _ in false
      }
      let expected = things.filter(sample.matches).map(\.id).reversed()
      let sources: [any DataSource<Thing>] = [selected, IndexedSource(index, selected)]
      for source in sources {
        let page = try await source.page(PageRequest(limit: 100))
        #expect(page.records.map(\.id) == Array(expected), "\(sample.text)")
      }
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `of SQLite`(seed: UInt64) async throws {
    let sandbox = try Sandbox()
    let store = SQLiteStore(at: sandbox.home.appending(path: "store.sqlite"))
    try await expectTheSame(in: store, seed: seed)
  }

  @Test(.requiresPostgres) func `of PostgreSQL`() async throws {
    try await withDatabase { database in
      let store = PostgresStore(at: try PostgresAddress(database.uri))
      try await expectTheSame(in: store, seed: 9)
    }
  }
}
