import AggregatorKit
import AggregatorObservation
import AggregatorSourceTesting
import Synchronization
import Testing

@MainActor @Suite(.timeLimit(.minutes(10)))
struct PagedListTests {
  @Test func `loads the first page once`() async {
    let notes = Notes()
    let list = PagedList(notes.source)
    #expect(list.stateText == "idle" && list.records.isEmpty && !list.isEmpty)
    #expect(notes.source.callCount == 0)
    await list.load()
    await list.load()
    #expect(list.ids == Array(1...20))
    #expect(list.total == 50 && list.provenance?.origin == .live)
    #expect(list.stateText == "idle" && list.hasMore)
    #expect(notes.source.requests == [PageRequest(limit: 20)])
  }

  @Test func `tells a view of each change`() async throws {
    let gate = Gate()
    let list = PagedList(Notes(held: gate).source)
    var told = changes { _ = list.isLoading }
    let loading = Task { await list.load() }
    await gate.holds(1)
    #expect(list.stateText == "loading first" && told.value == 1)
    told = changes { _ = list.records.count }
    let others = [changes { _ = list.total }, changes { _ = list.provenance?.origin }]
    gate.open()
    await loading.value
    #expect(told.value == 1 && others.allSatisfy { $0.value == 1 })
    told = changes { _ = list.records.count }
    await list.loadMore()
    #expect(told.value == 1)
  }

  @Test func `loads more until the end`() async {
    let notes = Notes()
    let list = PagedList(notes.source, pageSize: 30)
    await list.loadMore()
    #expect(list.ids == Array(1...30))
    await list.loadMore()
    await list.loadMore()
    #expect(list.ids == Array(1...50))
    #expect(list.stateText == "ended" && !list.hasMore && !list.isEmpty)
    #expect(notes.source.callCount == 2)
  }

  @Test func `passes a query and a policy on`() async throws {
    let notes = Notes()
    let query = try SearchQuery("note")
    let list = PagedList(notes.source, matching: query, pageSize: 7, cachePolicy: .offline)
    await list.load()
    await list.refresh()
    let request = PageRequest(matching: query, limit: 7, cachePolicy: .offline)
    #expect(notes.source.requests == [request, request])
  }

  @Test func `the next load has the policy that was set last`() async {
    let notes = Notes()
    let list = PagedList(notes.source, pageSize: 5)
    await list.load()
    let told = changes { _ = list.cachePolicy }
    list.cachePolicy = .offline
    #expect(told.value == 1 && !list.isLoading)
    await list.loadMore()
    await list.refresh()
    notes.fault.set(.unreachable)
    await list.refresh()
    list.cachePolicy = .noFallback
    notes.fault.set(nil)
    await list.retry()
    #expect(list.error == nil)
    // A refresh of ten records has two pages.
    let policies = notes.source.requests.map(\.cachePolicy)
    #expect(policies.first == .normal && policies.suffix(2) == [.liveOnly, .noFallback])
    #expect(policies.dropFirst().dropLast(2) == [.offline, .offline, .offline, .offline])
  }

  @Test func `is empty only when nothing is left to load`() async {
    let list = PagedList(ScriptedSource<Note>(pages: [.success(.notes([]))]))
    #expect(!list.isEmpty)
    await list.load()
    #expect(list.isEmpty && list.stateText == "ended")
  }

  // MARK: - Near the end

  @Test func `loads more only near the end, and once`() async {
    let gate = Gate()
    let notes = Notes()
    let source = ScriptedSource<Note> { request throws(SourceError) in
      if request.cursor != nil { try await gate.pass() }
      return try await notes.source.page(request)
    }
    let list = PagedList(source)
    await list.load()
    list.loadMoreIfNeeded(after: Note(10))
    #expect(!list.isLoading)
    for id in 11...20 { list.loadMoreIfNeeded(after: Note(id)) }
    #expect(list.stateText == "loading more")
    gate.open()
    await until { !list.isLoading }
    #expect(list.ids == Array(1...40))
    #expect(source.callCount == 2)
  }

  /// The rows on the screen stay there, and do not appear again.
  @Test func `goes on while the row that appeared last is near the end`() async {
    let source = ScriptedSource<Note> { request in
      let first = request.cursor?.place ?? 1
      return .notes(first...(first + 4), next: .place(first + 5))
    }
    let list = PagedList(source)
    await list.load()
    list.loadMoreIfNeeded(after: Note(5))
    await until { list.records.count >= 15 && !list.isLoading }
    #expect(list.ids == Array(1...15))
  }

  @Test func `goes on after a refresh that superseded it`() async {
    let gate = Gate()
    let source = ScriptedSource<Note> { request throws(SourceError) in
      if request.cursor != nil { try await gate.pass() }
      return paged(request, count: 50)
    }
    let list = PagedList(source)
    await list.load()
    list.loadMoreIfNeeded(after: Note(20))
    await gate.holds(1)
    await list.refresh()
    #expect(list.stateText == "loading more")
    gate.open()
    await until { !list.isLoading }
    #expect(list.ids == Array(1...40))
  }

  // MARK: - Pages of all kinds

  @Test func `leaves out records that came before`() async {
    let list = PagedList(
      ScriptedSource<Note>(pages: [
        .success(.notes([1, 2, 2], next: .place(2))), .success(.notes([2, 3, 1, 4])),
      ]))
    await list.load()
    await list.loadMore()
    #expect(list.ids == [1, 2, 3, 4])
  }

  @Test func `passes over pages without new records`() async {
    let list = PagedList(
      ScriptedSource<Note>(pages: [
        .success(.notes([], next: .place(2))), .success(.notes([1], next: .place(3))),
        .success(.notes([1], next: .place(4))), .success(.notes([], next: .place(5), hidden: 3)),
        .success(.notes([2])),
      ]))
    await list.load()
    #expect(list.ids == [1])
    await list.loadMore()
    #expect(list.ids == [1, 2] && list.stateText == "ended")
  }

  @Test func `fails if pages make no progress, and keeps its records`() async {
    let fault = Mutex(true)
    let source = ScriptedSource<Note> { request in
      guard fault.withLock(\.self) else { return .notes(1...3) }
      let place = request.cursor?.place ?? 0
      return .notes(1...2, next: .place(place + 1))
    }
    let list = PagedList(source)
    await list.load()
    await list.loadMore()
    #expect(list.ids == [1, 2] && list.stateText == "failed more noProgress" && !list.hasMore)
    let count = source.callCount
    await list.loadMore()
    #expect(source.callCount == count)
    fault.withLock { $0 = false }
    await list.retry()
    #expect(list.ids == [1, 2, 3] && list.stateText == "ended")
  }

  @Test func `keeps its records if a refresh makes no progress`() async {
    let count = Counter()
    let source = ScriptedSource<Note> { _ in
      count.add()
      return count.value == 1 ? .notes(1...2) : .notes([], next: .place(1))
    }
    let list = PagedList(source)
    await list.load()
    await list.refresh()
    #expect(list.ids == [1, 2] && list.stateText == "failed first noProgress")
  }

  @Test func `reports the least current page, all warnings and all unreadable rows`() async {
    let reason = SourceError.because(.timedOut)
    func page(_ id: Int, _ provenance: Provenance, _ warnings: [String]) -> Page<Note> {
      Page(
        [Note(id)], next: .place(id), provenance: provenance,
        unreadable: UnreadableRows(count: id, firstReason: "\(id)"),
        warnings: warnings.map { Warning(Warning.Code($0), $0) })
    }
    let list = PagedList(
      ScriptedSource(pages: [
        .success(page(1, Provenance(.live, fetchedAt: .day(3)), ["a"])),
        .success(page(2, Provenance(.cached, fetchedAt: .day(2), reason: reason), ["a", "b"])),
        .success(page(3, Provenance(.cached, fetchedAt: .day(1)), [])),
        .success(page(4, Provenance(.live, fetchedAt: .day(4)), [])),
        .success(page(5, Provenance(.bundled), [])),
      ]))
    var origins: [String] = []
    for _ in 1...5 {
      await list.loadMore()
      let provenance = list.provenance
      origins.append(
        "\(provenance?.origin.rawValue ?? "-") \(provenance?.reason?.code.description ?? "-")")
    }
    #expect(origins == ["live -", "cached timedOut", "cached -", "cached -", "bundled -"])
    #expect(list.warnings.map(\.code.description) == ["a", "b"])
    #expect(list.unreadable == UnreadableRows(count: 15, firstReason: "1"))
  }

  @Test func `asks its source off the main actor`() async throws {
    let calls = Mutex<[Bool]>([])
    let source = ScriptedSource<Note> { request in
      let isOnMainActor = #isolation === MainActor.shared
      calls.withLock { $0.append(isOnMainActor) }
      return paged(request, count: 50)
    }
    let list = PagedList(source, showsCachedFirst: true)
    await list.load()
    await list.loadMore()
    _ = try await source.page(PageRequest())
    // The last call is the test's own.
    #expect(calls.withLock(\.self) == [false, false, false, true])
  }

  @Test func `a refresh keeps the length that was scrolled to`() async throws {
    let notes = Notes()
    let list = PagedList(notes.source, pageSize: 5)
    await list.load()
    for _ in 0..<3 { await list.loadMore() }
    #expect(list.records.count == 20)
    let told = changes { _ = list.records.count }
    await list.refresh()
    // A view has nothing to draw again.
    #expect(list.ids == Array(1...20) && told.value == 0)
    await list.loadMore()
    #expect(list.ids == Array(1...25))
  }

  @Test func `a refresh whose second page fails keeps the list`() async throws {
    let count = Counter()
    let source = ScriptedSource<Note> { request throws(SourceError) in
      count.add()
      if count.value == 4 { throw SourceError.because(.unreachable) }
      return paged(request, count: 50)
    }
    let list = PagedList(source, pageSize: 5)
    await list.load()
    await list.loadMore()
    await list.refresh()
    #expect(list.ids == Array(1...10) && list.error?.code == .unreachable)
  }

  @Test func `a retry keeps to a pause that the service demands, and says how long it lasts`() async
  {
    let (clock, requests) = (ManualClock(), Counter())
    let source = ScriptedSource<Note> { request throws(SourceError) in
      requests.add()
      if requests.value == 1 {
        throw SourceError(.rateLimited, "no quota", retryAfter: .seconds(3000))
      }
      return paged(request, count: 50)
    }
    let list = PagedList(
      source.respectingRetryAfter(clock: clock).timeout(.seconds(15), clock: clock))
    await list.load()
    clock.advance(by: .seconds(600))
    await list.retry()
    #expect(list.error?.retryAfter == .seconds(2400) && requests.value == 1)
    clock.advance(by: .seconds(2400))
    await list.retry()
    #expect(list.error == nil && requests.value == 2)
  }

  /// Further pages keep to it again.
  @Test func `a retry passes an open circuit breaker once`() async throws {
    let policies = Mutex<[Bool]>([])
    let source = ScriptedSource<Note> { request throws(SourceError) in
      policies.withLock { $0.append(request.cachePolicy.refreshes) }
      if policies.withLock(\.count) == 2 { throw SourceError.because(.circuitOpen) }
      return paged(request, count: 50)
    }
    let list = PagedList(source, pageSize: 5)
    await list.load()
    await list.loadMore()
    #expect(list.error?.code == .circuitOpen)
    await list.retry()
    #expect(list.ids == Array(1...10) && list.error == nil)
    await list.loadMore()
    #expect(policies.withLock(\.self) == [false, false, true, false])
  }
}
