import AggregatorKit
import AggregatorSQLite
import AggregatorSourceTesting
import Dispatch
import Testing

struct StoreReadersTests {
  @Test(.timeLimit(.minutes(10)))
  func `a read does not wait for another one`() async throws {
    let directory = try StoreDirectory()
    let store = directory.store()
    try await store.save([StoreEntry("a")])
    let hasBegun = Counter()
    let mayEnd = DispatchSemaphore(value: 0)
    async let long = store.read { _ throws(SQLiteFailure) in
      hasBegun.add()
      mayEnd.wait()
      return true
    }
    await hasBegun.reaches(1)
    #expect(try await store.ids() == ["a"])
    mayEnd.signal()
    #expect(try await long == true)
  }
}
