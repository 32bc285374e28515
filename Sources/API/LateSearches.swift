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
  }

  /// The time that a page waits.
  private static let wait = Duration.milliseconds(250)
  private static let interval = Duration.milliseconds(5)
  /// The time for which an answer is kept, which is longer than that of a search.
  private static let lifetime = SearchOfSources.defaultTime * 3
  /// The most searches that go on without their pages.
  private static let maxSearches = 64

  private let searches = Mutex<[Key: Search]>([:])

  /// Runs a search, unless it is running for an earlier request, and returns its answer; `nil` if that is late.
  ///
  /// A late search goes on; one whose client leaves before that ends.
  func answer(
    from source: any ServedSource, to query: ServedQuery,
    _ search: @escaping @Sendable () async -> SourceListing
  ) async -> SourceListing? {
    let (key, start) = (Key(source: source.name, query: query), ContinuousClock.now)
    while true {
      // Each time: another request of the page may have taken the answer, or have ended the search.
      guard begin(search, for: key) else { return await search() }
      if let answer = taken(key) { return answer }
      guard ContinuousClock.now - start < Self.wait else { return nil }
      guard (try? await Task.sleep(for: Self.interval)) != nil else {
        searches.withLock { $0.removeValue(forKey: key) }?.task.cancel()
        return nil
      }
    }
  }

  /// Runs a search, unless it is running or has its answer; false without room for it.
  private func begin(
    _ search: @escaping @Sendable () async -> SourceListing, for key: Key
  ) -> Bool {
    let now = ContinuousClock.now
    return searches.withLock { searches in
      searches = searches.filter { now - $0.value.start < Self.lifetime }
      guard searches[key] == nil else { return true }
      guard searches.count < Self.maxSearches else { return false }
      let task = Task {
        let answer = await search()
        // One that was ended must not answer for the next.
        self.searches.withLock { if $0[key]?.start == now { $0[key]?.answer = answer } }
      }
      searches[key] = Search(start: now, task: task)
      return true
    }
  }

  /// The answer of a search, which is then over; `nil` while there is none.
  private func taken(_ key: Key) -> SourceListing? {
    searches.withLock { searches in
      guard let answer = searches[key]?.answer else { return nil }
      searches[key] = nil
      return answer
    }
  }
}
