import AggregatorFiles
import AggregatorKit
import Foundation
import Testing

/// The directory of the store, locked by another process that does not let go.
@Suite(.timeLimit(.minutes(10)))
struct StoreLockTests {
  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  /// The lock of another process, which also holds up readers of a file that was changed a moment ago.
  private func lock() throws -> OpenFile {
    let path = "\(directory.root)/state"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let file = try OpenFile(directory: path)
    #expect(try file.lock(.exclusive, within: .zero))
    if directory.names.contains("store.sqlite") { try directory.setModified(in: 86_400) }
    return file
  }

  @Test(arguments: [true, false])
  func `every call ends after the busy timeout`(exists: Bool) async throws {
    if exists { try await directory.store().save([StoreEntry("a")]) }
    let lock = try lock()
    let store = directory.store(busyTimeout: .milliseconds(50))
    let saving = await #expect(throws: SourceError.self) { try await store.save([StoreEntry("b")]) }
    #expect(saving?.code == .busy)
    #expect(saving?.message == "\(store.path) is locked by another process")
    if exists {
      let reading = await #expect(throws: SourceError.self) { try await store.ids() }
      #expect(reading?.code == .busy)
      let deleting = await #expect(throws: SourceError.self) {
        try await store.delete(["a"], of: "things", at: .day())
      }
      #expect(deleting?.code == .busy)
    }
    lock.unlock()
    try await store.save([StoreEntry("b")])
    #expect(try await store.ids() == (exists ? ["a", "b"] : ["b"]))
    #expect(directory.warnings.isEmpty)
  }

  @Test func `only the first call of many waits`() async throws {
    try await directory.store().save([StoreEntry("a")])
    let lock = try lock()
    let store = directory.store(busyTimeout: .seconds(1))
    let begin = ContinuousClock.now
    for _ in 0..<60 {
      await #expect(throws: SourceError.self) { try await store.ids() }
    }
    #expect(ContinuousClock.now - begin < .seconds(30))
    lock.unlock()
    #expect(try await store.ids() == ["a"])
  }

  @Test func `stops waiting when it is cancelled`() async throws {
    try await directory.store().save([StoreEntry("a")])
    let lock = try lock()
    let store = directory.store(busyTimeout: .seconds(600))
    let task = Task {
      await Result { () async throws(SourceError) in try await store.save([StoreEntry("b")]) }
    }
    task.cancel()
    let result = await task.value
    let error = #expect(throws: SourceError.self) { try result.get() }
    #expect(error?.code == .cancelled)
    lock.unlock()
    #expect(try await store.ids() == ["a"])
  }

  @Test func `a source does not answer without the deletions of a locked store`() async throws {
    let store = directory.store(busyTimeout: .milliseconds(50))
    _ = try await store.delete(["1"], of: "notes", at: .day())
    let lock = try lock()
    let other = directory.store(busyTimeout: .milliseconds(50))
    let recordStore = RecordStore<Note>("notes", in: other, text: Note.text)
    let source = notebook(5).cached(in: recordStore, freshFor: .seconds(60), now: { .day() })
      .fallback(to: recordStore.records).hidingDeleted(in: recordStore)
    let page = await #expect(throws: SourceError.self) {
      try await source.page(PageRequest(limit: 3))
    }
    #expect(page?.code == .busy)
    let item = await #expect(throws: SourceError.self) { try await source.item(1) }
    #expect(item?.code == .busy)
    lock.unlock()
    #expect(try await source.page(PageRequest(limit: 3)).records.map(\.id) == [2, 3])
  }
}
