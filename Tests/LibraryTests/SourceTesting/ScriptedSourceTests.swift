import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ScriptedSourceTests {
  @Test func `returns scripted answers and records requests`() async throws {
    let source = ScriptedSource<Note>(pages: [
      .success(.notes(1...2)), .failure(.because(.timedOut)),
    ])
    #expect(try await source.page(PageRequest(limit: 5)).records.map(\.id) == [1, 2])
    #expect(await source.failure()?.code == .timedOut)
    #expect(await source.failure()?.code == .malformed)
    await #expect(throws: SourceError.self) { try await source.item(7) }
    #expect(source.requests.map(\.limit) == [5, 20, 20])
    #expect(source.ids == [7])
    #expect(source.callCount == 4)
  }

  @Test func `forwards the answers of another source`() async throws {
    let source = ScriptedSource(over: notebook(9))
    #expect(try await source.everyID(limit: 4) == Array(1...9))
    #expect(try await source.item(7).item.id == 7)
    let ahead = source.cursor(skipping: 4, from: PageRequest(limit: 4))
    #expect(ahead != nil)
    #expect(source.requests[1].cursor == ahead)
  }

  @Test func `counts calls in flight and cancelled ones`() async {
    let gate = Gate()
    let source = ScriptedSource(over: notebook(9), held: gate)
    let calls = (0..<3).map { _ in Task { await source.failure() } }
    await source.calls(atLeast: 3)
    #expect((source.inFlight, source.mostInFlight) == (3, 3))
    calls[0].cancel()
    #expect(await calls[0].value?.code == .cancelled)
    #expect((source.inFlight, source.cancellations) == (2, 1))
    gate.open()
    await source.ends(atLeast: 3)
    #expect((source.inFlight, source.mostInFlight, source.cancellations) == (0, 3, 1))
  }
}
