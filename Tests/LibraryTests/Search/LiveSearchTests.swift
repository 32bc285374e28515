import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct LiveSearchTests {
  private let clock = ManualClock()
  private let texts: AsyncStream<String>
  private let field: AsyncStream<String>.Continuation

  init() { (texts, field) = AsyncStream.makeStream() }

  private func results(
    of source: some DataSource<Note>
  ) -> some AsyncSequence<SearchAnswer<Note>, Never> & Sendable {
    source.results(of: texts, limit: 50, clock: clock)
  }

  /// Types a text and waits until the pause after it is over.
  private func type(_ text: String) async {
    field.yield(text)
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(300))
  }

  @Test func `searches when typing pauses`() async throws {
    let base = ScriptedSource(over: notebook(30))
    var answers = results(of: base).makeAsyncIterator()
    field.yield("note 1")
    await clock.sleepers(atLeast: 1)
    #expect(clock.untilNextWake == .milliseconds(300))
    clock.advance(by: .milliseconds(299))
    #expect(base.callCount == 0)
    clock.advance(by: .milliseconds(1))
    let answer = try #require(await answers.next(isolation: nil))
    #expect(answer.text == "note 1")
    #expect(try answer.result.get().records.map(\.id) == [1] + Array(10...19) + [21])
    #expect(base.requests == [PageRequest(matching: try Query("note 1"), limit: 50)])
  }

  @Test func `does not search for superseded text`() async throws {
    let base = ScriptedSource(over: notebook(30))
    var answers = results(of: base).makeAsyncIterator()
    for text in ["n", "no", "note 3"] {
      field.yield(text)
      // Its pause has begun when it is the only one, with all of its time to go.
      while clock.sleeperCount != 1 || clock.untilNextWake != .milliseconds(300) {
        await Task.yield()
      }
      clock.advance(by: .milliseconds(text == "note 3" ? 300 : 299))
    }
    #expect(await answers.next(isolation: nil)?.text == "note 3")
    #expect(base.requests.map(\.query?.text) == ["note 3"])
  }

  @Test(arguments: ["", "  ", "\n"])
  func `lists everything for blank text`(text: String) async throws {
    let base = ScriptedSource(over: notebook(30))
    var answers = results(of: base).makeAsyncIterator()
    await type(text)
    let answer = try #require(await answers.next(isolation: nil))
    #expect(answer.text == text)
    #expect(try answer.result.get().records.count == 30)
    #expect(base.requests == [PageRequest(limit: 50)])
  }

  @Test func `cancels outdated searches`() async throws {
    let gate = Gate()
    let notes = notebook(30)
    let base = ScriptedSource<Note> { request throws(SourceError) in
      if request.query?.text == "old" { try await gate.pass() }
      return try await notes.page(request)
    }
    var answers = results(of: base).makeAsyncIterator()
    await type("old")
    await gate.holds(1)
    field.yield("new")
    await base.ends(atLeast: 1)
    #expect(base.cancellations == 1)
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(300))
    #expect(await answers.next(isolation: nil)?.text == "new")
  }

  @Test func `never returns an older answer after a newer one`() async throws {
    let gates = ["old": Gate(), "new": Gate()]
    // A source that does not care about cancellation, so that its answers come in the wrong order.
    let base = ScriptedSource<Note> { request throws(SourceError) in
      let gate = gates[request.query?.text ?? ""]
      await Task { try? await gate?.pass() }.value
      return .notes(1...1)
    }
    var answers = results(of: base).makeAsyncIterator()
    await type("old")
    await gates["old"]?.holds(1)
    await type("new")
    await gates["new"]?.holds(1)
    gates["new"]?.open()
    #expect(await answers.next(isolation: nil)?.text == "new")
    gates["old"]?.open()
    await base.ends(atLeast: 2)
    await type("newest")
    #expect(await answers.next(isolation: nil)?.text == "newest")
  }

  @Test func `ends after the last answer`() async throws {
    let gate = Gate()
    var answers = results(of: ScriptedSource(over: notebook(30), held: gate)).makeAsyncIterator()
    field.yield("note")
    field.finish()
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(300))
    await gate.holds(1)
    gate.open()
    #expect(await answers.next(isolation: nil)?.text == "note")
    #expect(await answers.next(isolation: nil) == nil)
  }

  @Test func `ends immediately without input`() async {
    field.finish()
    var answers = results(of: notebook(3)).makeAsyncIterator()
    #expect(await answers.next(isolation: nil) == nil)
  }

  @Test func `continues after a failure`() async throws {
    let base = ScriptedSource<Note>(pages: [
      .failure(.because(.unreachable)), .success(.notes(1...3)),
    ])
    var answers = results(of: base).makeAsyncIterator()
    await type("a")
    let failed = try #require(await answers.next(isolation: nil))
    #expect(throws: SourceError.self) { try failed.result.get() }
    await type("b")
    let answered = try #require(await answers.next(isolation: nil))
    #expect(answered.text == "b")
    #expect(try answered.result.get().records.count == 3)
  }

  @Test func `cancels its calls when its consumer ends`() async {
    let gate = Gate()
    let base = ScriptedSource(over: notebook(30), held: gate)
    let answers = results(of: base)
    let listening = Task {
      var count = 0
      for await _ in answers { count += 1 }
      return count
    }
    await type("note")
    await gate.holds(1)
    listening.cancel()
    #expect(await listening.value == 0)
    await base.ends(atLeast: 1)
    #expect(base.cancellations == 1)
  }

  @Test func `ends its pause when its consumer ends`() async {
    let base = ScriptedSource(over: notebook(30))
    let ended = Counter()
    field.onTermination = { _ in ended.add() }
    let answers = results(of: base)
    let listening = Task { for await _ in answers {} }
    field.yield("note")
    await clock.sleepers(atLeast: 1)
    listening.cancel()
    await listening.value
    await ended.reaches(1)
    clock.advance(by: .seconds(1))
    #expect(base.callCount == 0)
  }
}
