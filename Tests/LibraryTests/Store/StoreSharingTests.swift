import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// Two stores on one file stand for two processes: they share nothing but the file.
@Suite(.timeLimit(.minutes(10)))
struct StoreSharingTests {
  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  @Test func `changes a shared text`() async throws {
    let store = directory.store()
    let seen = Mutex<String?>(nil)
    func change(to new: String?) async throws -> String? {
      // It may be called more than once; the last call counts.
      try await store.change("key") { old in
        seen.withLock { $0 = old }
        return new
      }
      return seen.withLock(\.self)
    }
    #expect(try await change(to: "1") == nil)
    #expect(try await change(to: nil) == "1")
    #expect(try await change(to: "2") == "1")
    #expect(try await change(to: "2") == "2")
    #expect(try await change(to: "") == "2")
    #expect(try await change(to: nil) == "")
    try await store.change("another") { old in
      #expect(old == nil)
      return nil
    }
  }

  @Test func `loses no change of concurrent tasks and processes`() async throws {
    let stores = (0..<4).map { _ in directory.store() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          try await stores[number % 4].change("count") { String((Int($0 ?? "0") ?? 0) + 1) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try directory.database().texts("SELECT value FROM shared") == ["200"])
  }

  @Test func `loses nothing when two processes save at the same time`() async throws {
    let stores = [directory.store(), directory.store()]
    try await withThrowingTaskGroup(of: StoreChanges.self) { group in
      for number in 0..<120 {
        let ids = (0..<20).map { number / 2 * 20 + $0 }
        group.addTask {
          try await stores[number % 2].save(ids.map { StoreEntry("\($0)", "text \($0)") })
        }
      }
      let changes = try await group.reduce(into: []) { $0.append($1) }
      #expect(changes.reduce(0) { $0 + $1.added.count } == 1200)
      #expect(changes.reduce(0) { $0 + $1.unchanged } == 1200)
    }
    let ids = Set((0..<1200).map(\.description))
    for store in stores { #expect(try await Set(store.ids()) == ids) }
    #expect(try await stores[0].ids("text 777") == ["777"])
    #expect(try directory.database().isSound())
    #expect(directory.warnings.isEmpty)
  }

  @Test(arguments: 0..<10)
  func `is created once by concurrent processes`(round: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<6 {
        let store = directory.store()
        group.addTask {
          try await store.save([StoreEntry("\(number)")])
          #expect(try await store.ids().contains("\(number)"))
        }
      }
      try await group.waitForAll()
    }
    #expect(try await directory.store().ids().count == 6)
    #expect(directory.warnings.isEmpty)
    #expect(try directory.database().isSound())
  }

  @Test func `only the first of many writes waits for a process that has stopped`() async throws {
    let store = directory.store(busyTimeout: .seconds(1))
    try await store.save([StoreEntry("a")])
    let other = try directory.database()
    try other.execute("BEGIN IMMEDIATE; DELETE FROM records")
    let begin = ContinuousClock.now
    for _ in 0..<60 {
      await #expect(throws: SourceError.self) { try await store.save([StoreEntry("b")]) }
    }
    #expect(ContinuousClock.now - begin < .seconds(30))
    try other.execute("ROLLBACK")
    try await store.save([StoreEntry("b")])
    #expect(try await store.ids() == ["a", "b"])
  }

  @Test func `fails to write after the busy timeout, and can still read`() async throws {
    let store = directory.store(busyTimeout: .milliseconds(50))
    try await store.save([StoreEntry("a")])
    let other = try directory.database()
    try other.execute("BEGIN IMMEDIATE; DELETE FROM records")
    let error = await #expect(throws: SourceError.self) { try await store.save([StoreEntry("b")]) }
    #expect(error?.code == .busy)
    #expect(error?.message == "\(store.path) is locked by another process")
    #expect(error?.isTransient == false)
    await #expect(throws: SourceError.self) { try await store.change("key") { _ in "x" } }
    // A call that changes nothing does not wait.
    try await store.change("key") { _ in nil }
    await #expect(throws: SourceError.self) {
      try await store.delete(["a"], of: "things", at: .day())
    }
    #expect(try await store.ids("text") == ["a"])
    try other.execute("ROLLBACK")
    try await store.save([StoreEntry("b")])
    #expect(try await store.ids() == ["a", "b"])
  }

  @Test func `stops waiting when it is cancelled`() async throws {
    let store = directory.store(busyTimeout: .seconds(30))
    try await store.save([StoreEntry("a")])
    let other = try directory.database()
    try other.execute("BEGIN IMMEDIATE")
    let task = Task {
      await Result { () async throws(SourceError) in try await store.save([StoreEntry("b")]) }
    }
    task.cancel()
    let result = await task.value
    let error = #expect(throws: SourceError.self) { try result.get() }
    #expect(error?.code == .cancelled)
    try other.execute("ROLLBACK")
    #expect(try await store.ids() == ["a"])
  }

  @Test func `waits for another process without blocking other tasks`() async throws {
    let store = directory.store(busyTimeout: .seconds(600))
    try await store.save([StoreEntry("a")])
    let other = try directory.database()
    try other.execute("BEGIN IMMEDIATE")
    let isSaved = Counter()
    // More of them than the pool has threads.
    async let saved: Void = withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        let store = directory.store(busyTimeout: .seconds(600))
        group.addTask {
          try await store.save([StoreEntry("\(number)")])
          isSaved.add()
        }
      }
      try await group.waitForAll()
    }
    // Waiting blocks no thread of the pool: otherwise these tasks would not end.
    for _ in 0..<500 { await Task { await Task.yield() }.value }
    #expect(isSaved.value == 0)
    try other.execute("COMMIT")
    try await saved
    #expect(try await store.ids().count == 9)
  }

  @Test func `sees immediately what another process saved`() async throws {
    let (one, other) = (directory.store(), directory.store())
    for number in 0..<20 {
      try await one.save([StoreEntry("\(number)")])
      #expect(try await other.ids().count == number + 1)
      _ = try await other.delete(["\(number)"], of: "things", at: .day())
      #expect(try await one.deleted(among: ["\(number)"], of: "things").count == 1)
      _ = try await one.restore(nil, of: "things")
    }
  }
}
