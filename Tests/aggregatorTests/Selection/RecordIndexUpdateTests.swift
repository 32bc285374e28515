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

/// An index that is told what has changed is the same as one that has read everything.
@Suite(.timeLimit(.minutes(10))) struct RecordIndexUpdateTests {
  struct Thing: SourceRecord {
    var id: Int
    var text: String?
    var number: Int?
  }

  private static let fields: [Field<Thing>] = [
    Field("id", "ID", \.id, about: ""),
    Field("text", "Text", \.text, about: "", isSearchable: true),
    Field("number", "Number", \.number, about: ""),
  ]

  private static func records(in store: any SourceStore) -> RecordStore<Thing> {
    RecordStore("things", in: store) { fields.searchableText(of: $0) }
  }

  private static func index(in store: any SourceStore) -> RecordIndex<Thing> {
    RecordIndex(records(in: store), fields) { $0.number == nil }
  }

  /// The ways in which the records of a source change.
  private enum Change: CaseIterable {
    case save, replaceUnrecorded, becomeUnreadable, delete, restore, restoreAll, removeUpstream
    case clear, clearHistory, switchSource

    /// True if a store cannot tell what it has changed, so that everything is read again.
    var isUntold: Bool { [.clear, .clearHistory].contains(self) }

    func make(
      in store: any SourceStore, _ random: inout SeededGenerator, at date: Date
    ) async throws {
      let ids = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        Int.random(in: 0..<60, using: &random)
      }
      let (texts, source) = (ids.map(String.init), "things")
      let things = ids.map { id in
        Thing(
          id: id, text: ["a", "b", nil].randomElement(using: &random) ?? nil,
          number: [1, 2, nil].randomElement(using: &random) ?? nil)
      }
      func entries(isChange: Bool) throws -> [StoreEntry] {
        try things.map { thing in
          StoreEntry(
            id: "\(thing.id)", json: try JSONEncoder().encode(thing),
            text: { fields.searchableText(of: thing) }, isChange: { _ in isChange })
        }
      }
      switch self {
      case .save:
        _ = try await store.save(StoreBatch(entries(isChange: true)), of: source, at: date)
      case .replaceUnrecorded:
        _ = try await store.save(StoreBatch(entries(isChange: false)), of: source, at: date)
      case .becomeUnreadable:
        let entry = StoreEntry(id: texts[0], json: Data("[]".utf8), text: { FoldedText("") })
        _ = try await store.save(StoreBatch([entry]), of: source, at: date)
      case .delete: _ = try await store.delete(texts, of: source, at: date)
      case .restore: _ = try await store.restore(texts, of: source)
      case .restoreAll: _ = try await store.restore(nil, of: source)
      case .removeUpstream:
        let seen = (0..<60).filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
        let known = try await store.records(of: source, matching: [], after: 0, limit: 100)
        let kept = known.records.filter { seen.contains(Int($0.position & 63)) }
        let entries = kept.compactMap { record in
          (try? JSONDecoder().decode(Thing.self, from: record.json)).map {
            StoreEntry(id: "\($0.id)", json: record.json, text: { FoldedText("") })
          }
        }
        let reconciliation = Reconciliation(
          begins: true, completion: .init(lastPosition: .max, minRecordCount: 0))
        _ = try await store.save(
          StoreBatch(
            entries,
            update: CheckpointUpdate("sync", from: nil, to: nil, reconciliation: reconciliation)),
          of: source, at: date)
      case .clear: try await store.clear(source, forgetsDeleted: Bool.random(using: &random))
      case .clearHistory: try await store.clearHistory(of: source)
      case .switchSource:
        // The records of another source take its place and, before long, give it back.
        let database = store.capabilities.database
        try await database?.switchScope(of: source, keepingAs: "kept", to: "other")
        if Bool.random(using: &random) {
          try await database?.switchScope(of: source, keepingAs: "other", to: "kept")
        }
      }
    }
  }

  /// What a table says, without the numbers of the store.
  private struct Content: Equatable {
    let positions: [Int64]
    let lacksDetails: [Bool]
    let unreadable: Int
    let oldest: Date?
    let codes: [[UInt32]?]
    let values: [[JSON]?]

    init?(_ table: RecordTable?) {
      guard let table else { return nil }
      positions = table.positions
      lacksDetails = table.lacksDetails
      unreadable = table.unreadable.count
      oldest = table.oldest
      codes = fields.map { table.columns[$0.name]?.codes }
      values = fields.map { table.columns[$0.name]?.values }
    }
  }

  private func check(
    _ store: any SourceStore, changedIn other: any SourceStore, seed: UInt64, steps: Int = 120
  ) async throws -> Int {
    var random = SeededGenerator(seed)
    let index = Self.index(in: store)
    // Most changes are those of every day.
    let usual: [Change] = [.save, .save, .replaceUnrecorded, .delete, .restore, .removeUpstream]
    var untold = 0
    for step in 0..<steps {
      let change =
        Int.random(in: 0..<5, using: &random) > 0
        ? usual.randomElement(using: &random) : Change.allCases.randomElement(using: &random)
      let date = Date(timeIntervalSince1970: Double(1_700_000_000 + step / 3))
      try await change?.make(in: other, &random, at: date)
      if change?.isUntold == true { untold += 1 }
      // Several changes between two looks are one update.
      guard Int.random(in: 0..<3, using: &random) > 0 || step == steps - 1 else { continue }
      let told = Content(try await index.table(of: Self.fields))
      let read = Content(try await Self.index(in: store).table(of: Self.fields))
      #expect(told == read, "seed \(seed), step \(step), \(change.map { "\($0)" } ?? "")")
    }
    let readings = try await index.table(of: Self.fields)?.readings ?? 0
    return readings - untold
  }

  @Test(arguments: 0..<8)
  func `after any changes of an SQLite store`(seed: UInt64) async throws {
    let sandbox = try Sandbox()
    let file = sandbox.home.appending(path: "store.sqlite")
    let limits = [HistoryLimit.standard, .off, HistoryLimit(age: .seconds(3600), count: 5)]
    let limit = limits[Int(seed % 3)]
    let readings = try await check(
      SQLiteStore(at: file, history: limit), changedIn: SQLiteStore(at: file, history: limit),
      seed: seed)
    // With a history hardly anything is read twice: other sources take its place now and then.
    if limit == .standard { #expect(readings < 25, "\(readings)") }
  }

  @Test(.requiresPostgres, arguments: 0..<4)
  func `after any changes of a store in PostgreSQL`(seed: UInt64) async throws {
    try await withDatabase { database in
      let stores = try (0..<2).map { _ in PostgresStore(at: try PostgresAddress(database.uri)) }
      let readings = try await check(stores[0], changedIn: stores[1], seed: seed)
      #expect(readings < 25, "\(readings)")
    }
  }

  @Test func `while records change`() async throws {
    let sandbox = try Sandbox()
    let file = sandbox.home.appending(path: "store.sqlite")
    let (store, other) = (SQLiteStore(at: file), SQLiteStore(at: file))
    let index = Self.index(in: store)
    let writing = Task {
      var random = SeededGenerator(11)
      for step in 0..<300 {
        let changes: [Change] = [.save, .replaceUnrecorded, .delete, .restore]
        try await changes.randomElement(using: &random)?.make(
          in: other, &random, at: Date(timeIntervalSince1970: Double(1_700_000_000 + step)))
      }
    }
    let reading = Task {
      while !Task.isCancelled { _ = try await index.table(of: Self.fields) }
    }
    try await writing.value
    reading.cancel()
    _ = await reading.result
    let told = Content(try await index.table(of: Self.fields))
    let read = Content(try await Self.index(in: store).table(of: Self.fields))
    #expect(told == read)
    #expect(told != nil)
  }

  @Test func `what many need at once is read once`() async throws {
    let sandbox = try Sandbox()
    let store = SQLiteStore(at: sandbox.home.appending(path: "store.sqlite"))
    let index = Self.index(in: store)
    var random = SeededGenerator(5)
    for round in 1...20 {
      try await Change.save.make(
        in: store, &random, at: Date(timeIntervalSince1970: Double(1_700_000_000 + round)))
      try await withThrowingTaskGroup { group in
        for _ in 0..<16 {
          group.addTask { try await index.table(of: Self.fields)?.positions }
        }
        let positions = try await group.reduce(into: Set()) { $0.insert($1) }
        #expect(positions.count == 1)
      }
      #expect(await index.begun == round)
    }
  }

  @Test func `what no list needs is not read after a sync, and goes`() async throws {
    let sandbox = try Sandbox()
    let store = SQLiteStore(at: sandbox.home.appending(path: "store.sqlite"))
    let index = Self.index(in: store)
    var random = SeededGenerator(7)
    func sync(_ round: Int) async throws {
      try await Change.save.make(
        in: store, &random, at: Date(timeIntervalSince1970: Double(1_700_000_000 + round)))
      try await index.renew()
    }
    try await sync(1)
    #expect(await index.begun == 0)
    _ = try await index.table(of: Self.fields)
    try await sync(2)
    _ = try await index.table(of: Self.fields)
    // The sync has read what it has changed.
    #expect(await index.begun == 2)
    try await sync(3)
    try await sync(4)
    #expect(await index.begun == 3)
    #expect(await index.table == nil)
  }

  @Test func `other details of a record are noticed`() async throws {
    let sandbox = try Sandbox()
    let store = SQLiteStore(at: sandbox.home.appending(path: "store.sqlite"))
    func save(_ number: Int?) async throws {
      let thing = Thing(id: 1, text: "a", number: number)
      let entry = StoreEntry(
        id: "1", json: try JSONEncoder().encode(thing), text: { FoldedText("a") },
        isChange: { _ in false })
      _ = try await store.save(StoreBatch([entry]), of: "things", at: Date())
    }
    try await save(nil)
    let index = Self.index(in: store)
    #expect(try await index.table(of: Self.fields)?.lacksDetails == [true])
    try await save(7)
    let table = try await index.table(of: Self.fields)
    #expect(table?.lacksDetails == [false])
    #expect(table?.columns["number"]?.values == [7])
    #expect(table?.readings == 1)
  }
}
