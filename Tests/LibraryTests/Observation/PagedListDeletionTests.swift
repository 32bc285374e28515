import AggregatorKit
import AggregatorObservation
import AggregatorSourceTesting
import Synchronization
import Testing

@MainActor @Suite(.timeLimit(.minutes(10)))
struct PagedListDeletionTests {
  /// Notes the calls, which fail if a test says so, and wait at a gate.
  private final class Calls: Sendable {
    let fault = Fault()
    let log = Mutex<[String]>([])
    let gate: Gate?

    init(held gate: Gate? = nil) { self.gate = gate }

    var deletion: RecordDeletion<Note> {
      RecordDeletion { [self] id throws(SourceError) in
        try await call("delete \(id)")
      } restore: { [self] id throws(SourceError) in
        try await call("restore \(id)")
      }
    }

    private func call(_ text: String) async throws(SourceError) {
      try await gate?.pass()
      log.withLock { $0.append(text) }
      try fault.strike()
    }
  }

  private func list(_ calls: Calls, of source: (any DataSource<Note>)? = nil) async -> PagedList<
    Note
  > {
    let list = PagedList(source ?? Notes().source, pageSize: 5, deletion: calls.deletion)
    await list.load()
    return list
  }

  private func failure(_ call: () async throws(SourceError) -> Void) async -> SourceError.Code? {
    do { try await call() } catch { return error.code }
    return nil
  }

  @Test func `removes a record at once, and puts it back in its place`() async throws {
    let gate = Gate()
    let calls = Calls(held: gate)
    let source = ScriptedSource<Note> { request in
      var page = paged(request, count: 50)
      if request.cursor != nil { page.total = nil }
      return page
    }
    let list = await list(calls, of: source)
    let told = changes { _ = list.records.count }
    let deleting = Task { try await list.delete(2) }
    await gate.holds(1)
    #expect(list.ids == [1, 3, 4, 5] && list.total == 49 && told.value == 1)
    gate.open()
    try await deleting.value
    try await list.delete(4)
    try await list.delete(3)
    #expect(list.ids == [1, 5] && list.total == 47)
    await list.loadMore()
    try await list.undoDelete(3)
    #expect(list.ids == [1, 3] + Array(5...10) && list.total == 48)
    try await list.undoDelete(4)
    try await list.undoDelete(2)
    #expect(list.ids == Array(1...10) && list.total == 50)
    let expected = ["delete 2", "delete 4", "delete 3", "restore 3", "restore 4", "restore 2"]
    #expect(calls.log.withLock(\.self) == expected)
  }

  @Test func `undoes the last deletion, once`() async throws {
    let calls = Calls()
    let list = await list(calls)
    try await list.undoDelete()
    #expect(calls.log.withLock(\.isEmpty) && list.lastDeleted == nil)
    try await list.delete(2)
    try await list.delete(4)
    #expect(list.lastDeleted?.id == 4)
    try await list.undoDelete(2)
    #expect(list.lastDeleted?.id == 4)
    try await list.undoDelete()
    try await list.undoDelete()
    #expect(list.ids == Array(1...5) && list.lastDeleted == nil)
    #expect(
      calls.log.withLock(\.self) == ["delete 2", "delete 4", "restore 2", "restore 4"])
  }

  @Test func `puts a record back if it cannot be deleted`() async {
    let calls = Calls()
    let list = await list(calls)
    calls.fault.set(.storage)
    let told = changes { _ = list.records.count }
    #expect(await failure { () throws(SourceError) in try await list.delete(3) } == .storage)
    #expect(told.value == 1)
    #expect(list.ids == Array(1...5) && list.total == 50 && list.lastDeleted == nil)
  }

  @Test func `removes a record again if it cannot be restored`() async throws {
    let calls = Calls()
    let list = await list(calls)
    try await list.delete(3)
    calls.fault.set(.busy)
    #expect(await failure { () throws(SourceError) in try await list.undoDelete(3) } == .busy)
    #expect(list.ids == [1, 2, 4, 5] && list.total == 49 && list.lastDeleted?.id == 3)
    calls.fault.set(nil)
    try await list.undoDelete()
    #expect(list.ids == Array(1...5) && list.total == 50)
  }

  @Test func `undoes a deletion that is still in progress after it`() async throws {
    let gate = Gate()
    let calls = Calls(held: gate)
    let list = await list(calls)
    let deleting = Task { try await list.delete(3) }
    await gate.holds(1)
    let undoing = Task { try await list.undoDelete(3) }
    await until { list.records.count == 5 }
    #expect(gate.count == 1, "the second call waits for the first")
    gate.open()
    try await deleting.value
    try await undoing.value
    #expect(list.ids == Array(1...5))
    #expect(calls.log.withLock(\.self) == ["delete 3", "restore 3"])
  }

  /// Both calls fail, and the first failure must not undo the second change.
  @Test func `keeps the latest change if an earlier one fails`() async {
    let gate = Gate()
    let calls = Calls(held: gate)
    let list = await list(calls)
    calls.fault.set(.storage)
    let deleting = Task { try? await list.delete(3) }
    await gate.holds(1)
    let undoing = Task { try? await list.undoDelete(3) }
    await until { list.records.count == 5 }
    let again = Task { try? await list.delete(3) }
    await until { list.records.count == 4 }
    gate.open()
    _ = await (deleting.value, undoing.value)
    #expect(list.ids == [1, 2, 4, 5] || calls.log.withLock(\.count) == 3)
    _ = await again.value
    #expect(list.ids == Array(1...5))
  }

  @Test func `carries a deletion out when its view has gone`() async throws {
    let gate = Gate()
    let calls = Calls(held: gate)
    let list = await list(calls)
    let deleting = Task { try await list.delete(3) }
    await gate.holds(1)
    deleting.cancel()
    gate.open()
    try await deleting.value
    #expect(calls.log.withLock(\.self) == ["delete 3"])
    #expect(list.ids == [1, 2, 4, 5])
  }

  @Test func `cannot delete without being given how`() async {
    let list = PagedList(Notes().source)
    await list.load()
    #expect(await failure { () throws(SourceError) in try await list.delete(1) } == .unsupported)
    #expect(list.ids == Array(1...20))
  }

  // MARK: - With pages on their way

  @Test func `does not bring a deleted record back by a page from before`() async throws {
    let gate = Gate()
    let source = ScriptedSource<Note> { request throws(SourceError) in
      if request.cachePolicy.refreshes { try await gate.pass() }
      return paged(request, count: 50)
    }
    let calls = Calls()
    let list = await list(calls, of: source)
    let refreshing = Task { await list.refresh() }
    await gate.holds(1)
    try await list.delete(2)
    gate.open()
    await refreshing.value
    #expect(list.ids == [1, 3, 4, 5] && list.total == 49)
    try await list.undoDelete(2)
    #expect(list.ids == Array(1...5) && list.total == 50)
  }

  @Test func `undoes a deletion after a refresh, and shows the record once`() async throws {
    let hides = Mutex(true)
    let source = ScriptedSource<Note> { request in
      var page = paged(request, count: 50)
      if hides.withLock(\.self) { page.records.removeAll { $0.id == 5 } }
      return page
    }
    let calls = Calls()
    hides.withLock { $0 = false }
    let list = await list(calls, of: source)
    try await list.delete(5)
    hides.withLock { $0 = true }
    await list.refresh()
    #expect(list.ids == Array(1...4))
    try await list.undoDelete(5)
    #expect(list.ids == Array(1...5))
    hides.withLock { $0 = false }
    await list.refresh()
    #expect(list.ids == Array(1...5))
    await list.loadMore()
    #expect(list.ids == Array(1...10))
  }

  @Test func `shows a record that was restored elsewhere`() async throws {
    let list = await list(Calls())
    try await list.delete(2)
    await list.refresh()
    #expect(list.ids == Array(1...5) && list.total == 50)
  }

  @Test func `deletes in a store`() async throws {
    let store = InMemoryStore()
    let recordStore = RecordStore("notes", in: store, text: Note.text)
    let source = notebook(30).hidingDeleted(in: recordStore)
    let list = PagedList(source, pageSize: 5, deletion: RecordDeletion(in: recordStore))
    await list.load()
    try await list.delete(2)
    #expect(try await store.deleted(among: ["1", "2"], of: "notes") == ["2"])
    await list.refresh()
    #expect(list.ids == [1, 3, 4, 5])
    try await list.undoDelete(2)
    #expect(list.ids == Array(1...5))
    #expect(try await store.deleted(among: ["2"], of: "notes").isEmpty)
  }
}
