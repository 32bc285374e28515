import AggregatorKit
import AggregatorQueries
import Synchronization

/// Searches of sources that take longer than a page waits: the next request of the same page has their answers.
final class LateSearches: Sendable {
  private struct Key: Hashable {
    let source: String
    let query: ServedQuery
  }

  private struct Search {
    let start: ContinuousClock.Instant
    let task: Task<Void, Never>
    var answer: SourceListing?
    /// The number of requests that wait for the answer.
    var waiting = 1
  }

  /// The time that a page waits.
  private let wait: Duration
  private static let interval = Duration.milliseconds(5)
  /// The time for which an answer is kept, which is longer than that of a search.
  private static let lifetime = SearchOfSources.defaultTime * 3
  /// The most searches that go on without their pages.
  private static let maxSearches = 64

  private let searches = Mutex<[Key: Search]>([:])

  init(wait: Duration = .milliseconds(250)) { self.wait = wait }

  /// Ends the searches of a source, and drops their answers.
  func forget(_ source: String) {
    searches.withLock { searches in
      for (key, search) in searches where key.source == source {
        search.task.cancel()
        searches[key] = nil
      }
    }
  }

  /// Runs a search, unless it is running for an earlier request, and returns its answer; `nil` if that is late.
  ///
  /// Requests that wait at the same time have one answer. A late search goes on; one whose clients leave before that ends.
  func answer(
    from source: any ServedSource, to query: ServedQuery,
    _ search: @escaping @Sendable () async -> SourceListing
  ) async -> SourceListing? {
    let key = Key(source: source.name, query: query)
    guard let start = join(key, search) else { return await search() }
    let end = ContinuousClock.now + wait
    var joined = known(key, since: start)
    while let search = joined, search.answer == nil, ContinuousClock.now < end,
      (try? await Task.sleep(for: Self.interval)) != nil
    {
      joined = known(key, since: start)
    }
    leave(key, since: start, isOver: joined?.answer != nil || Task.isCancelled)
    return joined?.answer
  }

  /// The number of requests that wait.
  var waiting: Int { searches.withLock { $0.values.reduce(0) { $0 + $1.waiting } } }

  /// Runs a search, unless it is running or has its answer, and returns its start; `nil` without room for it.
  private func join(
    _ key: Key, _ search: @escaping @Sendable () async -> SourceListing
  ) -> ContinuousClock.Instant? {
    let now = ContinuousClock.now
    return searches.withLock { searches in
      searches = searches.filter { now - $0.value.start < Self.lifetime }
      if let known = searches[key] {
        searches[key]?.waiting += 1
        return known.start
      }
      guard searches.count < Self.maxSearches else { return nil }
      let task = Task {
        let answer = await search()
        // One that was ended must not answer for the next.
        self.searches.withLock { if $0[key]?.start == now { $0[key]?.answer = answer } }
      }
      searches[key] = Search(start: now, task: task)
      return now
    }
  }

  /// A search; `nil` after its source was forgotten.
  private func known(_ key: Key, since start: ContinuousClock.Instant) -> Search? {
    searches.withLock { $0[key]?.start == start ? $0[key] : nil }
  }

  /// Ends a search that has been answered, or whose client has left, unless another request waits for it.
  private func leave(_ key: Key, since start: ContinuousClock.Instant, isOver: Bool) {
    searches.withLock { searches in
      guard searches[key]?.start == start else { return }
      searches[key]?.waiting -= 1
      guard isOver, searches[key]?.waiting == 0 else { return }
      searches.removeValue(forKey: key)?.task.cancel()
    }
  }
}
