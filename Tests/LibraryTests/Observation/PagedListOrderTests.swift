import AggregatorKit
import AggregatorObservation
import AggregatorSourceTesting
import Testing

/// Failures, refreshes, cancellation and the order of answers.
@MainActor @Suite(.timeLimit(.minutes(10)))
struct PagedListOrderTests {
  @Test func `retries the first page`() async {
    let notes = Notes()
    let list = PagedList(notes.source)
    notes.fault.set(.timedOut)
    await list.load()
    #expect(list.stateText == "failed first timedOut" && list.error?.code == .timedOut)
    notes.fault.set(nil)
    await list.retry()
    #expect(list.ids == Array(1...20) && list.error == nil)
    await list.retry()
    #expect(notes.source.callCount == 2)
  }

  @Test func `retries the next page with the same request`() async {
    let notes = Notes()
    let list = PagedList(notes.source)
    await list.load()
    notes.fault.set(.serverError)
    await list.loadMore()
    #expect(list.ids == Array(1...20) && list.stateText == "failed more serverError")
    list.loadMoreIfNeeded(after: Note(20))
    #expect(!list.isLoading, "a row that appears must not repeat a failed request")
    notes.fault.set(nil)
    await list.retry()
    #expect(list.ids == Array(1...40) && list.stateText == "idle")
    let requests = notes.source.requests
    #expect(requests.count == 3 && requests[1] == requests[2])
  }

  @Test func `starts over after an outdated cursor`() async {
    let list = PagedList(
      ScriptedSource<Note>(pages: [
        .success(.notes(1...2, next: .place(2))), .failure(.because(.invalidCursor)),
        .success(.notes(1...3)),
      ]))
    await list.load()
    await list.loadMore()
    #expect(list.stateText == "failed more invalidCursor")
    await list.retry()
    #expect(list.ids == [1, 2, 3])
  }

  @Test func `refreshes from the service, in the length that was scrolled to`() async {
    let gate = Gate()
    let notes = Notes()
    let source = ScriptedSource<Note> { request throws(SourceError) in
      if request.cachePolicy.refreshes { try await gate.pass() }
      return try await notes.source.page(request)
    }
    let list = PagedList(source)
    await list.load()
    await list.loadMore()
    let refreshing = Task { await list.refresh() }
    await gate.holds(1)
    #expect(list.records.count == 40 && list.stateText == "loading first")
    gate.open()
    await refreshing.value
    #expect(list.ids == Array(1...40) && list.stateText == "idle")
    let refreshed = source.requests.suffix(2)
    #expect(refreshed.first == PageRequest(limit: 20, cachePolicy: .reload))
    #expect(refreshed.map(\.cachePolicy.refreshes) == [true, true])
    await list.loadMore()
    #expect(list.ids == Array(1...50))
  }

  @Test func `loses nothing if a refresh fails`() async {
    let notes = Notes()
    let list = PagedList(notes.source)
    await list.load()
    await list.loadMore()
    notes.fault.set(.unreachable)
    await list.refresh()
    #expect(list.records.count == 40 && list.stateText == "failed first unreachable")
    #expect(list.provenance?.origin == .live && list.total == 50)
    notes.fault.set(nil)
    await list.loadMore()
    #expect(list.ids == Array(1...50) && list.stateText == "ended")
  }

  @Test func `repeats a failed refresh as a refresh`() async {
    let notes = Notes()
    let list = PagedList(notes.source)
    await list.load()
    notes.fault.set(.unreachable)
    await list.refresh()
    notes.fault.set(nil)
    await list.retry()
    #expect(list.stateText == "idle")
    #expect(notes.source.requests.map(\.cachePolicy) == [.normal, .reload, .reload])
  }

  /// The source does not care about cancellation, so that the older answer comes last.
  @Test func `ignores an older answer after a newer one`() async {
    let (older, newer) = (Gate(), Gate())
    let source = ScriptedSource<Note> { request in
      if request.cursor != nil { await Task { try? await older.pass() }.value }
      if request.cachePolicy.refreshes { await Task { try? await newer.pass() }.value }
      return paged(request, count: request.cachePolicy.refreshes ? 15 : 50)
    }
    let list = PagedList(source)
    await list.load()
    let more = Task { await list.loadMore() }
    await older.holds(1)
    let refresh = Task { await list.refresh() }
    await newer.holds(1)
    newer.open()
    await refresh.value
    #expect(list.ids == Array(1...15) && list.stateText == "ended")
    older.open()
    await more.value
    #expect(list.ids == Array(1...15) && list.stateText == "ended")
    #expect(source.callCount == 3)
  }

  @Test func `loads a page again that a failed refresh superseded`() async {
    let gate = Gate()
    let source = ScriptedSource<Note> { request throws(SourceError) in
      if request.cachePolicy.refreshes { throw .because(.unreachable) }
      if request.cursor != nil { await Task { try? await gate.pass() }.value }
      return paged(request, count: 50)
    }
    let list = PagedList(source)
    await list.load()
    let more = Task { await list.loadMore() }
    await gate.holds(1)
    await list.refresh()
    #expect(list.stateText == "failed first unreachable")
    gate.open()
    await more.value
    #expect(list.ids == Array(1...40))
    await list.loadMore()
    #expect(list.ids == Array(1...50))
  }

  // MARK: - Cancellation

  @Test func `returns to its state when it is cancelled`() async {
    let gate = Gate()
    let notes = Notes(held: gate)
    let list = PagedList(notes.source)
    let loading = Task { await list.load() }
    await gate.holds(1)
    loading.cancel()
    await loading.value
    #expect(list.stateText == "idle" && list.error == nil && notes.source.cancellations == 1)
    gate.open()
    await list.load()
    #expect(list.ids == Array(1...20))
  }

  @Test(arguments: [false, true])
  func `loads for a second view if the first one goes away`(isRefresh: Bool) async {
    let gate = Gate()
    let notes = Notes(held: gate)
    let list = PagedList(notes.source)
    let first = Task { isRefresh ? await list.refresh() : await list.load() }
    await gate.holds(1)
    let started = Counter()
    let second = Task {
      started.add()
      isRefresh ? await list.refresh() : await list.load()
    }
    await started.reaches(1)
    #expect(notes.source.callCount == 1, "both wait for one request")
    first.cancel()
    await first.value
    gate.open()
    await second.value
    #expect(list.ids == Array(1...20) && notes.source.callCount == 2)
  }

  @Test func `reports a source that says it was cancelled`() async {
    let list = PagedList(ScriptedSource<Note>(pages: [.failure(.cancelled)]))
    await list.load()
    #expect(list.stateText == "failed first cancelled")
  }

  @Test func `is released with its load in flight, which ends`() async {
    let gate = Gate()
    let source = ScriptedSource<Note> { request throws(SourceError) in
      if request.cursor != nil { try await gate.pass() }
      return paged(request, count: 50)
    }
    var list: PagedList<Note>? = PagedList(source)
    weak let released = list
    await list?.load()
    list?.loadMoreIfNeeded(after: Note(20))
    await gate.holds(1)
    #expect(released != nil)
    list = nil
    #expect(released == nil)
    await source.ends(atLeast: 2)
    #expect(source.cancellations == 1)
  }

  @Test func `is released after its load was cancelled`() async {
    let gate = Gate()
    let source = Notes(held: gate).source
    var list: PagedList<Note>? = PagedList(source)
    weak let released = list
    let loading = Task { [list] in await list?.load() }
    await gate.holds(1)
    list = nil
    loading.cancel()
    await loading.value
    #expect(released == nil && source.cancellations == 1)
  }

  // MARK: - Cached data first

  /// Cached notes 1 and 2, and whatever the service gives.
  private func source(
    held gate: Gate? = nil, _ live: @escaping @Sendable () throws(SourceError) -> Page<Note>
  ) -> ScriptedSource<Note> {
    ScriptedSource { request throws(SourceError) in
      guard request.cachePolicy.mayAskService else {
        return Page(
          [Note(1), Note(2)], next: .place(3), provenance: Provenance(.cached, fetchedAt: .day(1)))
      }
      try await gate?.pass()
      if request.cursor != nil { return .notes([8, 9]) }
      return try live()
    }
  }

  @Test func `shows cached records first, then those of the service`() async {
    let gate = Gate()
    let list = PagedList(source(held: gate) { .notes(1...3) }, showsCachedFirst: true)
    let loading = Task { await list.load() }
    await until { !list.records.isEmpty }
    #expect(list.ids == [1, 2] && list.provenance?.origin == .cached)
    #expect(list.stateText == "loading first")
    gate.open()
    await loading.value
    #expect(list.ids == [1, 2, 3] && list.provenance?.origin == .live)
    #expect(list.stateText == "ended")
  }

  @Test func `keeps cached records if the service fails`() async {
    let source = source { () throws(SourceError) in throw .because(.unreachable) }
    let list = PagedList(source, showsCachedFirst: true)
    await list.load()
    #expect(list.ids == [1, 2] && list.stateText == "failed first unreachable")
    await list.loadMore()
    #expect(list.ids == [1, 2, 8, 9])
  }

  @Test func `asks the service again if it was cancelled after the cached records`() async {
    let gate = Gate()
    let list = PagedList(source(held: gate) { .notes(1...3) }, showsCachedFirst: true)
    let loading = Task { await list.load() }
    await gate.holds(1)
    loading.cancel()
    await loading.value
    #expect(list.ids == [1, 2] && list.stateText == "idle")
    gate.open()
    await list.load()
    #expect(list.ids == [1, 2, 3])
  }
}
