import AggregatorKit
import AggregatorSQLite
import Foundation
import Testing

/// The log of a store, which is copied into the file on another thread.
@Suite(.timeLimit(.minutes(10)))
struct CheckpointerTests {
  /// The pages of the log at which a copy begins; it is bounded by twice as many.
  private static let threshold = 50

  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  private func store() -> SQLiteStore {
    SQLiteStore(at: directory.path, checkpointing: Self.threshold)
  }

  /// Saves a record in a transaction that writes some ten pages.
  private func save(_ number: Int, in store: SQLiteStore) async throws {
    let json = #"{"id":"\#(number)","text":"\#(String(repeating: "x", count: 36_000))"}"#
    try await store.save([
      StoreEntry(id: "\(number)", json: Data(json.utf8)) { FoldedText("text of \(number)") }
    ])
  }

  private func ids(_ numbers: Range<Int>) -> [String] { numbers.map(String.init) }

  /// The size of the log in pages, each of which has a header.
  private func logLength() throws -> Int { try directory.bytes("store.sqlite-wal").count / 8216 }

  @Test func `stays bounded while records are saved`() async throws {
    let store = store()
    for number in 0..<300 {
      try await save(number, in: store)
      #expect(try logLength() < 4 * Self.threshold)
    }
    #expect(try directory.bytes().count > 300 * 36_000)
    #expect(try await store.ids() == ids(0..<300))
    #expect(try directory.database().isSound())
  }

  @Test func `stays bounded while two processes save records`() async throws {
    let stores = [store(), store()]
    for number in 0..<200 {
      try await save(number, in: stores[number % 2])
      #expect(try logLength() < 6 * Self.threshold)
    }
    #expect(try await stores[0].ids() == ids(0..<200))
    #expect(try directory.database().isSound())
  }

  @Test func `does not wait for a reader, and starts anew after it`() async throws {
    let store = store()
    try await save(0, in: store)
    let reader = try directory.database()
    try reader.execute("BEGIN; SELECT count(*) FROM records")
    for number in 1..<100 { try await save(number, in: store) }
    #expect(try reader.texts("SELECT count(*) FROM records") == ["1"])
    let length = try logLength()
    #expect(length > 4 * Self.threshold)
    try reader.execute("COMMIT")
    for number in 100..<200 { try await save(number, in: store) }
    // Otherwise it would be twice as long.
    #expect(try logLength() < length + 4 * Self.threshold)
    #expect(try await store.ids() == ids(0..<200))
  }

  @Test func `leaves no log when the store is closed`() async throws {
    do {
      let store = store()
      for number in 0..<40 { try await save(number, in: store) }
    }
    // A task may keep the store for a moment.
    while directory.names != ["store.sqlite"] { await Task.yield() }
    #expect(try await directory.store().ids() == ids(0..<40))
  }

  @Test func `copies nothing into the successor of a file that is moved`() async throws {
    let store = store()
    for number in 0..<40 {
      if number % 10 == 5 {
        for name in directory.names {
          try FileManager.default.removeItem(atPath: "\(directory.root)/state/\(name)")
        }
      }
      try await save(number, in: store)
    }
    #expect(try await store.ids() == ids(35..<40))
    #expect(try directory.database().isSound())
    #expect(directory.warnings.isEmpty)
  }
}
