import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorObservation

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
    var repeated = requests[1]
    repeated.cachePolicy.refreshes = true
    #expect(requests.count == 3 && requests[2] == repeated)
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
    // The tap is for one page: those after it keep to an open circuit breaker.
    #expect(refreshed.map(\.cachePolicy.refreshes) == [true, false])
    await list.loadMore()
    #expect(list.ids == Array(1...50) && source.requests.last?.cachePolicy == .normal)
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
    await list.loadMore()
    notes.fault.set(.unreachable)
    await list.refresh()
    notes.fault.set(nil)
    await list.retry()
    #expect(list.records.count == 40 && list.stateText == "idle")
    #expect(
      notes.source.requests.map(\.cachePolicy) == [.normal, .normal, .reload, .reload, .normal])
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

  /// Notes of which the first are cached, page by page, and a service that has 50.
  private func source(
    held gate: Gate, onlyRefreshes: Bool = false, cached count: Int, _ fault: Fault = Fault()
  ) -> ScriptedSource<Note> {
    ScriptedSource { request throws(SourceError) in
      if request.cachePolicy.mayAskService {
        if !onlyRefreshes || request.cachePolicy.refreshes { try await gate.pass() }
        try fault.strike()
        return paged(request, count: 50)
      }
      guard request.cursor?.place ?? 1 <= count else { throw .because(.nothingCached) }
      var page = paged(request, count: 50)
      page.provenance = Provenance(.cached, fetchedAt: .day(1))
        .because(SourceError(.offline, "offline mode"))
      return page
    }
  }

  @Test func `goes on with cached records while the service is slow, and keeps the length`() async {
    let gate = Gate()
    let source = source(held: gate, cached: 15)
    let list = PagedList(source, pageSize: 5, showsCachedFirst: true)
    let loading = Task { await list.load() }
    await until { !list.records.isEmpty }
    list.loadMoreIfNeeded(after: Note(5))
    await until { list.records.count == 10 }
    for _ in 0..<3 { await list.loadMore() }
    // There is no more in the cache.
    #expect(list.ids == Array(1...15) && list.provenance?.origin == .cached)
    #expect(list.stateText == "loading first" && list.hasMore)
    gate.open()
    await loading.value
    #expect(list.ids == Array(1...15) && list.provenance?.origin == .live)
    #expect(list.stateText == "idle")
    await list.loadMore()
    #expect(list.ids == Array(1...20))
  }

  @Test func `goes on after cached records if the service has failed meanwhile`() async {
    let (gate, fault) = (Gate(), Fault())
    let source = source(held: gate, cached: 10, fault)
    let list = PagedList(source, pageSize: 5, showsCachedFirst: true)
    let loading = Task { await list.load() }
    await until { !list.records.isEmpty }
    await list.loadMore()
    fault.set(.unreachable)
    gate.open()
    await loading.value
    #expect(list.ids == Array(1...10) && list.stateText == "failed first unreachable")
    fault.set(nil)
    await list.loadMore()
    #expect(list.ids == Array(1...15))
  }

  @Test func `keeps the length of cached records also if it is loaded a second time`() async {
    let (gate, fault) = (Gate(), Fault())
    let source = source(held: gate, cached: 15, fault)
    let list = PagedList(source, pageSize: 5, showsCachedFirst: true)
    let loading = Task { await list.load() }
    await until { !list.records.isEmpty }
    for _ in 0..<2 { await list.loadMore() }
    // The view goes away, and comes back.
    loading.cancel()
    await loading.value
    fault.set(.unreachable)
    gate.open()
    await list.load()
    #expect(list.ids == Array(1...15) && list.stateText == "failed first unreachable")
    fault.set(nil)
    await list.retry()
    #expect(list.ids == Array(1...15) && list.provenance?.origin == .live)
  }

  @Test func `goes on with cached records while it is refreshed`() async {
    let gate = Gate()
    let source = source(held: gate, onlyRefreshes: true, cached: 30)
    let list = PagedList(source, pageSize: 5)
    await list.load()
    let refresh = Task { await list.refresh() }
    await until { list.isLoading }
    for _ in 0..<2 { await list.loadMore() }
    #expect(list.ids == Array(1...15) && list.stateText == "loading first")
    gate.open()
    await refresh.value
    #expect(list.ids == Array(1...15) && list.provenance?.origin == .live)
  }

  @Test func `tells its age, which grows by itself`() async {
    let clock = ManualClock()
    let list = PagedList(
      source(held: Gate(), cached: 50), cachePolicy: .offline, clock: clock,
      now: { clock.date(startingAt: .day(1)) })
    #expect(list.age == nil)
    await list.load()
    #expect(list.age == .zero)
    for (seconds, age) in [
      (59.0, 0.0), (1, 60), (3539, 3540), (1, 3600), (3599, 3600), (1, 7200), (79_199, 82_800),
      (1, 86_400), (86_399, 86_400), (1, 172_800),
    ] {
      await clock.sleepers(atLeast: 1)
      clock.advance(by: .seconds(seconds))
      await until { list.age == .seconds(age) }
    }
  }

  // MARK: - Another generation

  @Test func `a list that the service changes meanwhile is loaded anew, and says so`() async {
    let calls = Counter()
    let source = ScriptedSource<Note> { request in
      calls.add()
      // After the first page, a record comes at the beginning.
      let all = (calls.value == 1 ? [] : [100]) + Array(1...50)
      let start = request.cursor?.place ?? 0
      let end = start + request.limit
      var page = Page.notes(all[start..<end], next: .place(end))
      if calls.value == 2 { page.warnings = [Warning(.mixedGenerations, "changed")] }
      return page
    }
    let list = PagedList(source, pageSize: 5)
    await list.load()
    await list.loadMore()
    // No row that is shown is gone meanwhile.
    #expect(list.ids.starts(with: 1...5))
    await until { !list.isLoading }
    #expect(list.ids == [100] + Array(1...9))
    #expect(list.warnings.map(\.code) == [.reloaded])
    #expect(calls.value == 4 && list.stateText == "idle")
    await list.loadMore()
    #expect(list.ids == [100] + Array(1...14) && !list.isOutdated)
  }

  @Test func `a list that changes all the time is loaded anew once, and keeps its records`() async {
    let fault = Fault()
    let source = ScriptedSource<Note> { request throws(SourceError) in
      if request.cachePolicy.refreshes { try fault.strike() }
      var page = paged(request, count: 50)
      if request.cursor != nil { page.warnings = [Warning(.mixedGenerations, "changed")] }
      return page
    }
    let list = PagedList(source, pageSize: 5)
    await list.load()
    fault.set(.unreachable)
    await list.loadMore()
    await until { !list.isLoading }
    #expect(list.ids == Array(1...10) && list.stateText == "failed first unreachable")
    #expect(list.warnings.map(\.code) == [.mixedGenerations])
    fault.set(nil)
    await list.retry()
    #expect(list.ids == Array(1...10))
    let count = source.callCount
    await list.refresh()
    await list.loadMore()
    await until { !list.isLoading }
    #expect(source.callCount < count + 8)
  }

  // MARK: - Why the service was not asked

  @Test func `cached records name no reason while the service is asked`() async {
    let (gate, fault) = (Gate(), Fault())
    let list = PagedList(
      source(held: gate, cached: 15, fault), pageSize: 5, showsCachedFirst: true)
    let loading = Task { await list.load() }
    await until { !list.records.isEmpty }
    await list.loadMore()
    #expect(list.provenance?.origin == .cached && list.provenance?.reason == nil)
    loading.cancel()
    await loading.value
    #expect(list.provenance?.reason == nil)
  }

  @Test func `a retry asks the service again for which local data stands in`() async {
    let isWell = Mutex(false)
    let source = ScriptedSource<Note> { request throws(SourceError) in
      var page = paged(request, count: 5)
      if !isWell.withLock(\.self) {
        page.provenance = Provenance(.bundled).because(SourceError(.unreachable, "no network"))
      }
      return page
    }
    let list = PagedList(source, pageSize: 5)
    await list.load()
    #expect(list.stateText == "ended" && list.provenance?.reason?.code == .unreachable)
    isWell.withLock { $0 = true }
    await list.retry()
    #expect(list.provenance?.reason == nil && source.requests.last?.cachePolicy == .reload)
    await list.retry()
    #expect(source.callCount == 2)
  }

  @Test func `each retry asks a service whose circuit breaker is open`() async {
    let (gate, fault) = (Gate(), Fault())
    gate.open()
    fault.set(.unreachable)
    let service = source(held: gate, cached: 0, fault)
    let list = PagedList(
      service.circuitBreaker(BreakerPolicy(failures: 1, pause: .seconds(1000))), pageSize: 5,
      cachePolicy: .noFallback)
    await list.load()
    for _ in 0..<2 {
      await list.retry()
      #expect(list.stateText == "failed first unreachable")
    }
    fault.set(nil)
    await list.retry()
    #expect(list.ids == Array(1...5))
  }

  @Test func `a tap passes an open circuit breaker with one request, whatever the length`() async {
    let service = ScriptedSource<Note> { _ throws(SourceError) in throw .because(.unreachable) }
    let guarded = service.circuitBreaker(BreakerPolicy(failures: 1, pause: .seconds(1000)))
    let source = ScriptedSource<Note> { request in
      do throws(SourceError) { return try await guarded.page(request) } catch {
        var page = paged(request, count: 50)
        page.provenance = Provenance(.cached, fetchedAt: .day(1)).because(error)
        return page
      }
    }
    let list = PagedList(source, pageSize: 5)
    await list.load()
    for _ in 0..<2 { await list.loadMore() }
    #expect(list.ids == Array(1...15) && service.callCount == 1)
    await list.refresh()
    #expect(list.ids == Array(1...15) && service.callCount == 2)
    await list.loadMore()
    #expect(list.ids == Array(1...20) && service.callCount == 2)
    await list.retry()
    #expect(list.ids == Array(1...20) && service.callCount == 3)
  }

  // MARK: - Another source

  @Test func `loads once more when its source is replaced`() async {
    let (old, gate) = (Notes(3), Gate())
    let source = ReplaceableSource(old.source)
    let list = PagedList(source)
    await list.load()
    #expect(list.ids == [1, 2, 3])
    let new = Notes(5, held: gate)
    source.replace(with: new.source)
    await gate.holds(1)
    // The old records stay until the new ones are there.
    #expect(list.ids == [1, 2, 3] && list.stateText == "loading first")
    gate.open()
    await until { list.records.count == 5 }
    #expect(old.source.callCount == 1 && new.source.callCount == 1)
    // Also if what it has is fresh: the new key may be wrong.
    #expect(new.source.requests.last?.cachePolicy == .reload)
  }

  @Test func `loads once more when a source below an operator is replaced`() async {
    let (old, other) = (Notes(3), Notes(0))
    let source = ReplaceableSource(old.source)
    let search = SearchSession(source.coalesced().merging(other.source, as: "both"))
    await search.list.load()
    #expect(search.list.ids == [1, 2, 3])
    // Also a second time, and one that lies below the new source.
    let inner = ReplaceableSource(Notes(5).source)
    source.replace(with: inner)
    await until { search.list.records.count == 5 }
    inner.replace(with: Notes(7).source)
    await until { search.list.records.count == 7 }
    #expect(old.source.callCount == 1)
  }

  @Test func `is released while it waits for another source`() async {
    let source = ReplaceableSource(Notes(3).source)
    var list: PagedList<Note>? = PagedList(source)
    weak let released = list
    await list?.load()
    list = nil
    #expect(released == nil)
  }

  @Test func `asks no other source for the page after one of the old`() async {
    let (old, new) = (Notes(), Notes())
    let source = ReplaceableSource(old.source)
    let list = PagedList(source, pageSize: 5)
    await list.load()
    new.fault.set(.unreachable)
    source.replace(with: new.source)
    await until { list.stateText == "failed first unreachable" }
    await list.loadMore()
    #expect(list.ids == Array(1...5) && list.stateText == "failed first unreachable")
    #expect(new.source.requests.allSatisfy { $0.cursor == nil })
    new.fault.set(nil)
    await list.retry()
    #expect(list.ids == Array(1...5) && list.stateText == "idle")
  }
}
