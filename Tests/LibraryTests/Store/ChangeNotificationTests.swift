import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ChangeNotificationTests {
  private let directory: StoreDirectory
  private let clock = ManualClock()

  init() throws { directory = try StoreDirectory() }

  /// A store that listens, and that only this test makes poll.
  private func listening(history: HistoryLimit = .standard) -> SQLiteStore {
    SQLiteStore(at: directory.path, history: history, clock: clock)
  }

  /// Lets those who listen examine the file once.
  private func poll(listeners: Int = 1) async {
    await clock.sleepers(atLeast: listeners)
    clock.advance(by: .milliseconds(500))
    await clock.sleepers(atLeast: listeners)
  }

  /// The number of elements that wait in a stream, which ends.
  private func buffered(_ stream: AsyncStream<Void>) async -> Int {
    let count = await stream.bufferedCount()
    while clock.sleeperCount > 0 { await Task.yield() }
    return count
  }

  @Test func `a store in memory notifies at once, and once for many changes`() async throws {
    let store = InMemoryStore()
    try await store.save([StoreEntry("before")])
    let unchanged = await store.changeNotifications(of: "things")
    try await store.save([StoreEntry("before")], at: 1)
    _ = try await store.delete([], of: "things", at: .day())
    _ = try await store.restore(["before"], of: "things")
    try await store.save([StoreEntry("a")], of: "others")
    #expect(await unchanged.bufferedCount() == 0)
    let changed = await store.changeNotifications(of: "things")
    for id in ["a", "b", "c"] { try await store.save([StoreEntry(id)]) }
    #expect(await changed.bufferedCount() == 1)
  }

  @Test func `a file notifies once for many changes, by any process`() async throws {
    try await directory.store().save([StoreEntry("before")])
    let store = listening()
    let stream = await store.changeNotifications(of: "things")
    try await store.save([StoreEntry("own")])
    try await directory.store().save([StoreEntry("other")])
    await poll()
    try await directory.store().save([StoreEntry("later")])
    await poll()
    await poll()
    #expect(await buffered(stream) == 1)
  }

  @Test(arguments: [HistoryLimit.standard, .off])
  func `a file tells changes from others, with a history and without`(
    history: HistoryLimit
  ) async throws {
    let other = SQLiteStore(at: directory.path, history: history)
    try await other.save([StoreEntry("a")])
    _ = try await other.delete(["gone"], of: "things", at: .day())
    let store = listening(history: history)
    let unchanged = await store.changeNotifications(of: "things")
    let page = PageMetadata(next: nil, total: 1, endpoint: nil)
    let fetched = StoreBatch(
      [StoreEntry("a")], page: ("page", page), update: CheckpointUpdate("at", from: nil, to: "1"))
    _ = try await other.save(fetched, of: "things", at: .day(1))
    try await other.save([StoreEntry("a")], of: "others")
    try await other.clearHistory(of: "things")
    await poll()
    #expect(await buffered(unchanged) == 0)
    for mark in 1...2 {
      let changed = await store.changeNotifications(of: "things")
      try await other.save([StoreEntry("a", mark: mark)], at: Double(mark))
      await poll()
      #expect(await buffered(changed) == 1)
    }
    // As many deletions as before.
    let changed = await store.changeNotifications(of: "things")
    _ = try await other.delete(["a"], of: "things", at: .day())
    _ = try await other.restore(["gone"], of: "things")
    await poll()
    #expect(await buffered(changed) == 1)
  }

  @Test func `a file may be missing, created, moved and replaced`() async throws {
    let store = listening()
    var stream = await store.changeNotifications(of: "things")
    await poll()
    try await directory.store().save([StoreEntry("a")], of: "others")
    await poll()
    #expect(await buffered(stream) == 0)
    stream = await store.changeNotifications(of: "things")
    try await directory.store().save([StoreEntry("a")])
    await poll()
    #expect(await buffered(stream) == 1)
    stream = await store.changeNotifications(of: "things")
    for name in directory.names {
      try FileManager.default.moveItem(
        atPath: "\(directory.root)/state/\(name)", toPath: "\(directory.root)/\(name)")
    }
    await poll()
    #expect(await buffered(stream) == 1)
    try await directory.store().save([StoreEntry("a")])
    stream = await store.changeNotifications(of: "things")
    for name in directory.names {
      try FileManager.default.removeItem(atPath: "\(directory.root)/state/\(name)")
    }
    // As many records as before, in another file.
    try await directory.store().save([StoreEntry("b")])
    await poll()
    #expect(await buffered(stream) == 1)
    #expect(directory.warnings.isEmpty)
  }

  @Test func `a file that could not be read may have changed`() async throws {
    try FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true)
    let stream = await listening().changeNotifications(of: "things")
    await poll()
    try FileManager.default.removeItem(atPath: directory.path)
    await poll()
    #expect(await buffered(stream) == 1)
  }

  @Test func `nothing polls while nobody listens`() async throws {
    let store = listening()
    try await store.save([StoreEntry("a")])
    #expect(clock.sleeperCount == 0)
    var stream: AsyncStream<Void>? = await store.changeNotifications(of: "things")
    await clock.sleepers(atLeast: 1)
    // Dropped without having been read.
    stream = nil
    _ = stream
    while clock.sleeperCount > 0 { await Task.yield() }
    let reading = Task { for await _ in await store.changeNotifications(of: "things") {} }
    await clock.sleepers(atLeast: 1)
    reading.cancel()
    await reading.value
    while clock.sleeperCount > 0 { await Task.yield() }
  }

  @Test func `a scoped store notifies as its base`() async throws {
    let base = InMemoryStore()
    let store = ScopedStore(base) { _ in StoreScope(records: "1") }
    try await store.save([StoreEntry("a")])
    let stream = await store.changeNotifications(of: "things")
    #expect(try await store.delete(["a"], of: "things", at: .day()) == ["a"])
    #expect(await buffered(stream) == 1)
  }
}
