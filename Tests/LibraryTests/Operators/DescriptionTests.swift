import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite
struct DescriptionTests {
  @Test func `a chain describes itself, one operator per line`() throws {
    let clock = ManualClock()
    let source = ScriptedSource(over: notebook(3))
      .respectingRetryAfter(clock: clock)
      .rateLimited(
        by: Rate(.init(1, per: .seconds(1)), .init(200, per: .seconds(3600))), clock: clock
      )
      .circuitBreaker(clock: clock)
      .retry(clock: clock)
      .timeout(.seconds(15), clock: clock)
      .coalesced()
      .sliced(upstream: 100, as: "notes", clock: clock)
      .searchingLocally(upTo: 500, by: 100, as: "notes", text: Note.text)
      .fallback(to: UnavailableSource(.because(.offline)))
      .fallback(to: notebook(3))
      .observed(by: .silent, as: "notes")
    #expect(
      "\(source)" == """
        scripted
          .respectingRetryAfter()
          .rateLimited(by: 1/s 200/h)
          .circuitBreaker(5 failures, 30 s)
          .retry(3)
          .timeout(15 s)
          .coalesced()
          .sliced(upstream: 100)
          .searchingLocally(upTo: 500)
          .fallback(to: unavailable: a test says offline)
          .fallback(to: notes.bundled)
          .observed()
        """)
  }
}
