import AggregatorKit
import AggregatorObservation
import AggregatorSourceTesting
import Testing

@MainActor @Suite(.timeLimit(.minutes(10)))
struct SearchSessionTests {
  private let clock = ManualClock()

  private func session(
    _ source: any DataSource<Note>, deletion: RecordDeletion<Note>? = nil
  ) -> SearchSession<Note> {
    SearchSession(source, deletion: deletion, clock: clock)
  }

  /// Types a text and waits until the pause after it is over.
  private func type(_ text: String, in session: SearchSession<Note>) async {
    session.text = text
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(300))
  }

  @Test func `searches when typing pauses`() async throws {
    let source = ScriptedSource(over: notebook(50))
    let session = session(source)
    await session.list.load()
    let told = changes { _ = session.isSearching }
    session.text = "note 3"
    #expect(session.isSearching && told.value == 1)
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(299))
    #expect(source.callCount == 1 && session.list === session.all)
    let shown = changes { _ = session.list.records.count }
    clock.advance(by: .milliseconds(1))
    await until { !session.isSearching }
    #expect(shown.value == 1)
    #expect(session.list.ids == [3] + Array(30...39) + [13, 23, 43])
    #expect(
      source.requests == [
        PageRequest(limit: 20), PageRequest(matching: try SearchQuery("note 3"), limit: 20),
      ])
  }

  @Test func `a refresh during a search refreshes the full list when it is shown again`() async {
    let source = ScriptedSource(over: notebook(50))
    let session = session(source)
    await session.list.load()
    await type("note 3", in: session)
    await until { !session.isSearching }
    #expect(source.callCount == 2)
    await session.refresh()
    #expect(source.requests.map { $0.query?.text } == [nil, "note 3", "note 3"])
    session.text = ""
    await until { !session.all.isLoading && source.callCount == 4 }
    #expect(source.requests.last == PageRequest(limit: 20, cachePolicy: .reload))
    await session.refresh()
    #expect(source.callCount == 5)
    await type("note 3", in: session)
    await until { !session.isSearching }
    session.text = ""
    #expect(session.list === session.all && !session.all.isLoading)
    #expect(source.callCount == 6, "it was refreshed since")
  }

  @Test func `pages through results`() async throws {
    let session = session(notebook(50))
    await type("note", in: session)
    await until { !session.isSearching }
    #expect(session.list.ids == Array(1...20))
    await session.list.loadMore()
    await session.list.loadMore()
    #expect(session.list.records.count == 50 && session.list.stateText == "ended")
  }

  @Test func `does not search for superseded text`() async throws {
    let source = ScriptedSource(over: notebook(50))
    let session = session(source)
    for text in ["n", "no", "note 7"] {
      session.text = text
      // Its pause has begun when it is the only one, with all of its time to go.
      while clock.sleeperCount != 1 || clock.untilNextWake != .milliseconds(300) {
        await Task.yield()
      }
      clock.advance(by: .milliseconds(text == "note 7" ? 300 : 299))
    }
    await until { !session.isSearching }
    #expect(source.requests.map(\.query?.text) == ["note 7"])
    #expect(session.list.ids == [7, 17, 27, 37, 47])
  }

  @Test func `cancels a superseded search`() async throws {
    let gate = Gate()
    let notes = notebook(50)
    let source = ScriptedSource<Note> { request throws(SourceError) in
      if request.query?.text == "old" { try await gate.pass() }
      return try await notes.page(request)
    }
    let session = session(source)
    await type("old", in: session)
    await gate.holds(1)
    session.text = "note 7"
    await source.ends(atLeast: 1)
    #expect(source.cancellations == 1)
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(300))
    await until { !session.isSearching }
    #expect(session.list.ids == [7, 17, 27, 37, 47])
  }

  /// The source does not care about cancellation, so that the older answer comes last.
  @Test func `never shows an older answer after a newer one`() async throws {
    let gate = Gate()
    let source = ScriptedSource<Note> { request in
      guard request.query?.text == "old" else { return .notes(1...3) }
      await Task { try? await gate.pass() }.value
      return .notes(7...9)
    }
    let session = session(source)
    await type("old", in: session)
    await gate.holds(1)
    await type("new", in: session)
    await until { !session.isSearching }
    gate.open()
    await source.ends(atLeast: 2)
    await type("newest", in: session)
    await until { !session.isSearching }
    #expect(session.list.ids == [1, 2, 3])
  }

  @Test func `sends no request for the same words`() async throws {
    let source = ScriptedSource(over: notebook(50))
    let session = session(source)
    await type("note 7", in: session)
    await until { !session.isSearching }
    let results = session.list
    for text in ["note 7 ", " note  7", "note 7"] {
      session.text = text
      #expect(!session.isSearching && session.list === results)
    }
    // On and back again, within the pause.
    session.text = "note 70"
    #expect(session.isSearching)
    session.text = "note 7"
    #expect(!session.isSearching && session.list === results)
    clock.advance(by: .seconds(1))
    #expect(source.callCount == 1)
  }

  @Test func `keeps a pending search for the same words`() async throws {
    let session = session(notebook(50))
    session.text = "note 7"
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(299))
    session.text = "note 7 "
    #expect(session.isSearching)
    clock.advance(by: .milliseconds(1))
    await until { !session.isSearching }
    #expect(session.list.records.count == 5)
  }

  @Test(arguments: ["", "  ", "\n"])
  func `returns to all records without a request`(text: String) async throws {
    let source = ScriptedSource(over: notebook(50))
    let session = session(source)
    await session.list.load()
    await session.list.loadMore()
    await type("note 7", in: session)
    await until { !session.isSearching }
    let told = changes { _ = session.list.records.count }
    session.text = text
    #expect(told.value == 1 && !session.isSearching)
    #expect(session.list.ids == Array(1...40))
    #expect(source.callCount == 3)
  }

  @Test func `ends a pending search when the field is cleared`() async throws {
    let gate = Gate()
    let source = ScriptedSource(over: notebook(50), held: gate)
    let session = session(source)
    await type("note 7", in: session)
    await gate.holds(1)
    session.text = ""
    #expect(!session.isSearching)
    await source.ends(atLeast: 1)
    #expect(source.cancellations == 1 && session.list === session.all)
  }

  @Test func `shows a failure, and retries`() async throws {
    let notes = Notes()
    let session = session(notes.source)
    await session.list.load()
    notes.fault.set(.unreachable)
    await type("note", in: session)
    await until { !session.isSearching }
    #expect(session.list.stateText == "failed first unreachable" && session.list.records.isEmpty)
    #expect(session.all.records.count == 20)
    notes.fault.set(nil)
    await session.list.retry()
    #expect(session.list.ids == Array(1...20))
  }

  @Test func `deletes results from all records too`() async throws {
    let store = InMemoryStore()
    let recordStore = RecordStore("notes", in: store, text: Note.text)
    let source = notebook(20).hidingDeleted(in: recordStore)
    let session = session(source, deletion: RecordDeletion(in: recordStore))
    await session.list.load()
    await type("note 7", in: session)
    await until { !session.isSearching }
    try await session.list.delete(7)
    #expect(session.list.ids == [17] && session.all.records.count == 19)
    #expect(try await store.deleted(among: ["7"], of: "notes") == ["7"])
    try await session.list.undoDelete(7)
    #expect(session.list.ids == [7, 17] && session.all.ids == Array(1...20))
  }

  @Test func `undoes a deletion in the results, also after they have gone`() async throws {
    let recordStore = RecordStore("notes", in: InMemoryStore(), text: Note.text)
    let source = notebook(50).hidingDeleted(in: recordStore)
    let session = session(source, deletion: RecordDeletion(in: recordStore))
    await session.list.load()
    await type("note 47", in: session)
    await until { !session.isSearching }
    let told = changes { _ = session.list.lastDeleted }
    try await session.list.delete(47)
    #expect(session.list.ids.isEmpty && told.value == 1)
    // The first page of all records does not have it.
    #expect(session.list.lastDeleted?.id == 47)
    try await session.list.undoDelete()
    #expect(session.list.ids == [47] && session.list.lastDeleted == nil)
    try await session.list.delete(47)
    session.text = ""
    #expect(session.list === session.all && session.list.lastDeleted?.id == 47)
    try await session.list.undoDelete()
    #expect(session.list.lastDeleted == nil)
    #expect(try await recordStore.deleted(among: [47]).isEmpty)
  }

  @Test func `undoes a deletion among all records while results are shown`() async throws {
    let recordStore = RecordStore("notes", in: InMemoryStore(), text: Note.text)
    let source = notebook(20).hidingDeleted(in: recordStore)
    let session = session(source, deletion: RecordDeletion(in: recordStore))
    await session.list.load()
    try await session.list.delete(3)
    await type("note 7", in: session)
    await until { !session.isSearching }
    #expect(session.list !== session.all && session.list.lastDeleted?.id == 3)
    try await session.list.undoDelete()
    #expect(session.list.lastDeleted == nil && session.all.ids == Array(1...20))
  }

  @Test func `can undo a deletion whose restoration has failed`() async throws {
    let fault = Fault()
    let session = session(
      notebook(20),
      deletion: RecordDeletion { _ throws(SourceError) in
        try fault.strike()
      } restore: { _ throws(SourceError) in
        try fault.strike()
      })
    await session.list.load()
    await type("note 7", in: session)
    await until { !session.isSearching }
    fault.set(.busy)
    try? await session.list.delete(7)
    #expect(session.list.ids == [7, 17] && session.list.lastDeleted == nil)
    fault.set(nil)
    try await session.list.delete(7)
    fault.set(.busy)
    try? await session.list.undoDelete()
    #expect(session.list.ids == [17] && session.list.lastDeleted?.id == 7)
    #expect(session.all.records.count == 19)
    fault.set(nil)
    try await session.list.undoDelete()
    #expect(session.list.ids == [7, 17] && session.all.records.count == 20)
  }

  @Test func `loads its lists once more when a source below its operators is replaced`() async {
    let source = ReplaceableSource(notebook(10))
    let session = session(source.filter(as: "notes") { _ in true })
    await session.list.load()
    await type("note 1", in: session)
    await until { !session.isSearching }
    #expect(session.list.ids == [1, 10])
    source.replace(with: notebook(12))
    await until { session.list.ids == [1, 10, 11, 12] && session.all.records.count == 12 }
  }

  @Test func `all lists have the policy that was set last`() async throws {
    let source = ScriptedSource(over: notebook(50))
    let session = session(source)
    await session.list.load()
    session.text = "note 7"
    session.cachePolicy = .offline
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(300))
    await until { !session.isSearching }
    #expect(session.list.cachePolicy == .offline && session.all.cachePolicy == .offline)
    #expect(source.requests.map(\.cachePolicy) == [.normal, .offline])
    session.cachePolicy = .noFallback
    await type("note 8", in: session)
    await until { !session.isSearching }
    session.text = ""
    await session.list.loadMore()
    #expect(source.requests.suffix(2).map(\.cachePolicy) == [.noFallback, .noFallback])
  }

  @Test func `the lists have a clock for their age`() async throws {
    let aging = ManualClock()
    let source = ScriptedSource<Note> { request in
      var page = paged(request, count: 3)
      page.provenance = Provenance(.cached, fetchedAt: .day(1))
      return page
    }
    let session = SearchSession(
      source, clock: clock, agingClock: aging, now: { aging.date(startingAt: .day(1)) })
    await session.list.load()
    await type("note", in: session)
    await until { !session.isSearching }
    #expect(session.all.age == .zero && session.list.age == .zero && session.list !== session.all)
    await aging.sleepers(atLeast: 2)
    aging.advance(by: .seconds(60))
    await until { session.all.age == .seconds(60) && session.list.age == .seconds(60) }
  }

  @Test func `is released with its search in flight, which ends`() async {
    let gate = Gate()
    let source = ScriptedSource(over: notebook(50), held: gate)
    var session: SearchSession<Note>? = session(source)
    weak let released = session
    if let session { await type("note", in: session) }
    await gate.holds(1)
    #expect(released != nil)
    session = nil
    #expect(released == nil)
    await source.ends(atLeast: 1)
    #expect(source.cancellations == 1)
  }
}
