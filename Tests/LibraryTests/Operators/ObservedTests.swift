import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ObservedTests {
  let clock = ManualClock()
  let journal = Journal()

  @Test func `reports requests and answers`() async throws {
    let source = notebook(5).observed(by: journal.observer, as: "notes")
    _ = try await source.page(PageRequest(limit: 2))
    _ = try await source.page(PageRequest(matching: try SearchQuery("note 4")))
    _ = try await source.item(3)
    await #expect(throws: SourceError.self) { try await source.item(9) }
    #expect(
      journal.events == [
        "asked list", "answered list bundled 2", "asked search", "answered search bundled 1",
        "asked show 3", "answered show 3 bundled 1", "asked show 9", "failed show 9 notFound",
      ])
  }

  @Test(arguments: [false, true])
  func `reports waits and fallbacks underneath, also of shared calls`(isShared: Bool) async throws {
    let failing = ScriptedSource<Note>(pages: [
      .failure(.because(.timedOut)), .failure(.because(.unreachable)),
    ])
    let retried = failing.retry(clock: clock, random: { 0 })
    let shared: any DataSource<Note> = isShared ? retried.coalesced() : retried
    let source = shared.fallback(to: notebook(5)).observed(by: journal.observer, as: "notes")
    _ = try await source.page(PageRequest())
    #expect(
      journal.events == [
        "asked list", "waiting 0.0 seconds: a test says timedOut", "retrying timedOut",
        "fell back unreachable", "answered list bundled 5",
      ])
  }

  @Test func `reports nothing outside a call`() async throws {
    let failing = ScriptedSource<Note>(pages: [.failure(.because(.unreachable))])
    let source = failing.observed(by: journal.observer, as: "notes").fallback(to: notebook(5))
    _ = try await source.page(PageRequest())
    #expect(journal.events == ["asked list", "failed list unreachable"])
  }

  @Test func `reports a cancelled call`() async {
    let gate = Gate()
    let source = ScriptedSource(over: notebook(5), held: gate)
      .observed(by: journal.observer, as: "notes")
    let call = Task { await source.failure() }
    await gate.holds(1)
    call.cancel()
    #expect(await call.value?.code == .cancelled)
    #expect(journal.events == ["asked list", "failed list cancelled"])
  }
}
