import AggregatorCopy
import AggregatorKit
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorSourceTesting
import AggregatorStore
import Foundation
import Testing

/// Copies between files and databases.
@Suite(.requiresPostgres, .timeLimit(.minutes(10)))
struct PostgresCopyTests {
  private func store(in database: PostgresDatabase) throws -> PostgresStore {
    PostgresStore(at: try PostgresAddress(database.uri))
  }

  private func copy(
    from original: some CopyableStore, to copy: some CopyableStore, rows: Int = 20
  ) async throws(SourceError) -> StoreCopy.Result {
    try await StoreCopy(
      from: .init(original, at: "a"), to: .init(copy, at: "b"), atMost: CopyLimit(rows: rows)
    ).run()
  }

  @Test(arguments: [7, 2000])
  func `a file, two databases and another file are the same`(rows: Int) async throws {
    let directory = try StoreDirectory()
    let file = directory.store()
    let other = directory.store(at: "\(directory.root)/other/store.sqlite")
    try await file.fillForCopy()
    try await withDatabase { one in
      try await withDatabase(.init(characters: .ascii)) { two in
        let stores: [any SourceStore & CopyableStore] = [
          file, try store(in: one), try store(in: two), other,
        ]
        var checksums: [[String]] = []
        for (from, to) in zip(stores, stores.dropFirst()) {
          let result = try await copy(from: from, to: to, rows: rows)
          #expect(result.isComplete && !result.hasChanged)
          checksums.append(result.tables.map(\.checksum))
        }
        #expect(Set(checksums).count == 1)
        let contents = try await file.contents()
        #expect(contents.allSatisfy { !$0.isEmpty })
        for store in stores.dropFirst() {
          #expect(try await store.contents() == contents)
          for query in ["large", "text é", "日本", "n1", "😀", "\u{1}"] {
            let (found, expected) = (try await store.ids(query), try await file.ids(query))
            #expect(found == expected, "\(query)")
          }
        }
        #expect(try await other.inconsistencies() == [])
        #expect(try await other.isIndexSound())
      }
    }
  }

  @Test func `a copied store gives new numbers`() async throws {
    let directory = try StoreDirectory()
    let file = directory.store()
    try await file.fillForCopy()
    try await withDatabase { database in
      let copied = try store(in: database)
      _ = try await copy(from: file, to: copied)
      let page = PageMetadata(next: nil, total: nil, endpoint: nil)
      for key in ["one", "two"] {
        let update = CheckpointUpdate(
          key, from: nil, to: "x", reconciliation: Reconciliation(begins: true))
        _ = try await copied.save(
          StoreBatch([StoreEntry(key)], page: (key, page), update: update, completesSync: true),
          of: "things", at: .day(20))
      }
      let last = try await file.status(of: "things").lastPosition
      #expect(try await copied.record("two", of: "things")?.position == last + 2)
      for table in ["pages", "seen", "syncs"] {
        let numbers = try await database.texts(
          "SELECT number FROM aggregator_store.\(table) ORDER BY number")
        #expect(numbers == (1...numbers.count).map(String.init) || table == "syncs", "\(numbers)")
      }
    }
  }

  @Test func `continues after the last transaction, wherever it was stopped`() async throws {
    let directory = try StoreDirectory()
    let file = directory.store()
    try await file.fillForCopy()
    let contents = try await file.contents()
    for number in [1, 2, 5, 9, 14] {
      for isWritten in [false, true] {
        try await withDatabase { database in
          let stop = { @Sendable (write: Int) throws(SourceError) in
            if write == number { throw SourceError(.storage, "stopped") }
          }
          let copied = try store(in: database)
          let stopped =
            isWritten ? WatchedCopy(copied, after: stop) : WatchedCopy(copied, before: stop)
          await #expect(throws: SourceError.self) { try await copy(from: file, to: stopped) }
          #expect(try await copy(from: file, to: try store(in: database)).isComplete)
          #expect(try await copied.contents() == contents)
          #expect(try await copied.copyMark() == nil)
        }
      }
    }
  }

  @Test func `copies what changes meanwhile, and survives a lost connection`() async throws {
    try await withDatabase { one in
      try await withDatabase { two in
        let (original, copied) = (try store(in: one), try store(in: two))
        try await original.fillForCopy()
        let changing = WatchedCopy(copied) { number throws(SourceError) in
          try? await two.disconnectAll()
          guard number == 6 else { return }
          try await original.clear("things", forgetsDeleted: false)
          try await original.save(["é", "big", "nul\0"].map { StoreEntry($0) })
        }
        let result = try await copy(from: original, to: changing)
        #expect(result.isComplete && result.hasChanged)
        let (found, expected) = (try await copied.contents(), try await original.contents())
        #expect(found == expected)
      }
    }
  }

  @Test func `reads a store that did not exist when it was read first`() async throws {
    try await withDatabase { database in
      let store = try store(in: database)
      #expect(try await store.ids() == [])
      try await store.save([StoreEntry("a")])
      #expect(try await store.ids() == ["a"])
    }
  }
}
