import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorCopy

/// Copies between files; `PostgresCopyTests` copies between a file and a database.
@Suite(.timeLimit(.minutes(10)))
struct StoreCopyTests {
  private let directory: StoreDirectory
  private let original: SQLiteStore

  init() async throws {
    directory = try StoreDirectory()
    original = directory.store()
    try await original.fillForCopy()
  }

  private func target(_ name: String = "copy") -> SQLiteStore {
    directory.store(at: "\(directory.root)/\(name)/store.sqlite")
  }

  private func copy(
    from source: (any CopyableStore)? = nil, to target: some CopyableStore,
    named name: String = "a",
    rows: Int = 20, bytes: Int = 4 << 20
  ) async throws(SourceError) -> StoreCopy.Result {
    func run(_ source: some CopyableStore) async throws(SourceError) -> StoreCopy.Result {
      try await StoreCopy(
        from: .init(source, at: name), to: .init(target, at: "b"),
        atMost: CopyLimit(rows: rows, bytes: bytes)
      ).run()
    }
    return if let source { try await run(source) } else { try await run(original) }
  }

  private func expectSame(
    _ copy: SQLiteStore, sourceLocation location: SourceLocation = #_sourceLocation
  ) async throws {
    let (found, expected) = (try await copy.contents(), try await original.contents())
    #expect(found == expected, sourceLocation: location)
    #expect(try await copy.copyMark() == nil, sourceLocation: location)
    #expect(try await copy.inconsistencies() == [], sourceLocation: location)
    #expect(try await copy.isIndexSound(), sourceLocation: location)
  }

  @Test(arguments: [(1, 4 << 20), (7, 4 << 20), (2000, 1), (2000, 4 << 20)])
  func `copies everything, in chunks of any size`(rows: Int, bytes: Int) async throws {
    let copied = target()
    let result = try await copy(to: copied, rows: rows, bytes: bytes)
    #expect(result.isComplete)
    #expect(!result.hasChanged)
    // No table is empty, so that each can fail.
    #expect(result.tables.allSatisfy { $0.rows > 0 }, "\(result.tables)")
    #expect(result.tables.map(\.name) == CopyTable.all.map(\.name))
    try await expectSame(copied)
    for query in ["large", "text é", "日本", "n1", "😀", "\u{1}"] {
      let (found, expected) = (try await copied.ids(query), try await original.ids(query))
      #expect(found == expected)
      #expect(query == "n1" || !found.isEmpty, "\(query)")
    }
    // Cursors, checkpoints and the history go on.
    let status = try await copied.status(of: "things")
    #expect(try await original.status(of: "things") == status)
    #expect(try await copied.checkpoint("part \u{1}", of: "other\0\u{1}") == "at \0 é")
    #expect(try await copied.page("k\0ey \u{1}", of: "things")?.records.count == 2)
    try await copied.save([StoreEntry("new")])
    #expect(
      try await copied.record("new", of: "things")?.position == status.lastPosition + 1)
    #expect(try await copied.inconsistencies() == [])
  }

  @Test func `knows all columns of all tables`() async throws {
    let database = try directory.database()
    let tables = try database.texts(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search%'")
    #expect(Set(CopyTable.all.map(\.name)) == Set(tables))
    for table in CopyTable.all {
      let columns = try database.texts("SELECT name FROM pragma_table_info('\(table.name)')")
      #expect(Set(table.columns.map(\.name)) == Set(columns))
    }
  }

  // MARK: - Interruptions

  private static let failure = SourceError(.storage, "stopped")

  @Test func `continues after the last transaction, wherever it was stopped`() async throws {
    let whole = WatchedCopy(target("whole"))
    _ = try await copy(to: whole)
    #expect(whole.writes > 10)
    for number in 1...whole.writes {
      for isWritten in [false, true] {
        let name = "\(number) \(isWritten)"
        let stop = { @Sendable (write: Int) throws(SourceError) in
          if write == number { throw Self.failure }
        }
        let store = target(name)
        let stopped = isWritten ? WatchedCopy(store, after: stop) : WatchedCopy(store, before: stop)
        await #expect(throws: SourceError.self) { try await copy(to: stopped) }

        // A complete copy is not continued.
        let isComplete = number == whole.writes && isWritten
        if !isComplete {
          #expect(try await (store.copyMark() == nil) == (number == 1 && !isWritten))
          let rest = WatchedCopy(target(name))
          #expect(try await copy(to: rest).isComplete, "\(name)")
          let written = isWritten ? number : number - 1
          #expect(rest.writes == whole.writes - written, "\(name)")
        }
        try await expectSame(target(name))
      }
    }
  }

  @Test func `two processes that copy into the same store do no harm`() async throws {
    let second = target()
    let first = WatchedCopy(target()) { number throws(SourceError) in
      if number == 4 { _ = try await copy(to: second) }
    }
    let error = await #expect(throws: SourceError.self) { try await copy(to: first) }
    #expect(error?.code == .busy)
    try await expectSame(target())
  }

  // MARK: - Changes

  @Test func `copies what changes meanwhile`() async throws {
    var number = 2
    while true {
      let store = target("\(number)")
      let changing = WatchedCopy(store) { [original, number] write throws(SourceError) in
        guard write == number else { return }
        try await original.save([StoreEntry("n\(number)"), StoreEntry("plain", mark: number + 1)])
        _ = try await original.delete(["d\(number)"], of: "things", at: .day(10))
        if number.isMultiple(of: 3) {
          // The same IDs at other positions.
          let ids = ["nul\0", "é", "big"]
          try await original.clear("things", forgetsDeleted: true)
          try await original.save(ids.reversed().map { StoreEntry($0) })
        }
      }
      let result = try await copy(to: changing)
      // The last write completes the copy; what changes then is not part of it.
      guard changing.writes > number else { break }
      #expect(result.isComplete, "\(number)")
      #expect(result.hasChanged, "\(number)")
      try await expectSame(store)
      number += 1
    }
    #expect(number > 10)
  }

  @Test func `is unfinished while the original keeps changing`() async throws {
    let store = target()
    let changing = WatchedCopy(
      store,
      after: { [original] number throws(SourceError) in
        try await original.save([StoreEntry("n\(number)")])
      })
    let result = try await copy(to: changing)
    #expect(!result.isComplete)
    #expect(result.tables.filter { !$0.isEqual }.map(\.name).contains("records"))
    #expect(try await store.copyMark().flatMap { CopyMark($0) }?.origin == "a")
    #expect(try await copy(to: store).isComplete)
    try await expectSame(store)
  }

  // MARK: - Refusals

  @Test func `refuses a store that has other data`() async throws {
    func expectRefusal(
      _ words: String, from source: (any CopyableStore)? = nil, to target: SQLiteStore,
      named name: String = "a", sourceLocation location: SourceLocation = #_sourceLocation
    ) async {
      let error = await #expect(throws: SourceError.self, sourceLocation: location) {
        try await copy(from: source, to: target, named: name)
      }
      #expect(error?.code == .invalidRequest, sourceLocation: location)
      #expect(error?.message == words, sourceLocation: location)
      #expect(error?.remedy != nil, sourceLocation: location)
    }
    let other = target("other")
    try await other.change("key") { _ in "value" }
    let contents = try await other.contents()
    await expectRefusal("the store at b is not empty", to: other)
    #expect(try await other.contents() == contents)

    let missing = directory.store(at: "\(directory.root)/missing/store.sqlite")
    await expectRefusal("there is no store at a", from: missing, to: target())
    #expect(!FileManager.default.fileExists(atPath: missing.path))

    let unfinished = target("unfinished")
    let stopped = WatchedCopy(
      unfinished,
      after: { number throws(SourceError) in
        if number == 3 { throw Self.failure }
      })
    await #expect(throws: SourceError.self) { try await copy(to: stopped) }
    await expectRefusal(
      "the store at b is an unfinished copy of a", to: unfinished, named: "elsewhere")
    await expectRefusal(
      "the store at a is an unfinished copy of a", from: unfinished, to: target("last"))
  }

  // MARK: - Checksums

  @Test func `a checksum is that of all values and their kinds`() {
    func checksum(_ rows: [CopyRow]) -> String {
      var checksum = CopyChecksum()
      checksum.add(rows)
      return checksum.text
    }
    // The test vectors of the draft.
    for (text, expected) in [
      ("", "6c62272e07bb014262b821756295c58d"), ("a", "d228cb696f1a8caf78912b704e4a8964"),
      ("foobar", "343e1662793c64bf6f0d3597ba446f18"),
    ] {
      var checksum = CopyChecksum()
      Data(text.utf8).withUnsafeBytes { checksum.add($0) }
      #expect(checksum.text == expected)
    }
    func text(_ text: String) -> CopyValue { .text(Data(text.utf8)) }
    let rows: [[CopyRow]] = [
      [], [[.null]], [[.integer(0)]], [[.integer(-1)]], [[text("")]], [[text("0")]],
      [[text("a"), text("bc")]], [[text("ab"), text("c")]], [[text("é")]], [[text("e\u{301}")]],
    ]
    #expect(Set(rows.map(checksum)).count == rows.count)
  }
}
