import AggregatorKit
import AggregatorSourceTesting
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorQueries

/// What a search across sources reads of a source that takes too long.
@Suite(.timeLimit(.minutes(10)))
struct LocalWhenLateTests {
  private struct Note: SourceRecord {
    let id: Int
  }

  private let clock = ManualClock()

  private static func notes(_ ids: [Int]) -> BundledSource<Note> {
    BundledSource(
      "notes", items: ids.map(Note.init), fields: [Field("id", "ID", \.id, about: "The number.")])
  }

  private func late(else local: (any DataSource<Note>)?) async -> Result<Page<Note>, SourceError> {
    let gate = Gate()
    let base = ScriptedSource(over: Self.notes([1, 2, 3]), held: gate)
    let source = base.timeout(.seconds(10), clock: clock, else: local)
    async let result = Result { () async throws(SourceError) in
      try await source.page(PageRequest(limit: 2))
    }
    await gate.holds(1)
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(10))
    return await result
  }

  @Test func `local data answer after the time, with the reason`() async throws {
    let page = try await late(else: Self.notes([7, 8, 9])).get()
    #expect(page.records.map(\.id) == [7, 8])
    #expect(page.provenance.reason?.code == .timedOut)
    #expect(page.next != nil)
  }

  @Test func `without local data the time is what failed`() async throws {
    #expect(await late(else: nil).failure?.code == .timedOut)
    let empty = ScriptedSource<Note>(pages: [.failure(SourceError(.nothingCached, "nothing"))])
    #expect(await late(else: empty).failure?.code == .timedOut)
  }

  @Test func `an answer in time, and another error, are passed on`() async throws {
    let local = Self.notes([7])
    let source = Self.notes([1, 2, 3]).timeout(.seconds(10), clock: clock, else: local)
    #expect(try await source.page(PageRequest()).records.map(\.id) == [1, 2, 3])
    let failing = ScriptedSource<Note>(pages: [.failure(SourceError(.rejected, "no"))])
    let error = await Result { () async throws(SourceError) in
      try await failing.timeout(.seconds(10), clock: clock, else: local).page(PageRequest())
    }
    #expect(error.failure?.code == .rejected)
  }
}
