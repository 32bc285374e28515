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
    let (key, now) = (Key(source: source.name, query: query), ContinuousClock.now)
    let hasRoom = searches.withLock { searches in
      searches = searches.filter { now - $0.value.start < Self.lifetime }
      guard searches[key] == nil else { return true }
      guard searches.count < Self.maxSearches else { return false }
      let task = Task {
        let answer = await search()
        self.searches.withLock { $0[key]?.answer = answer }
      }
      searches[key] = Search(start: now, task: task)
      return true
    }
    guard hasRoom else { return await search() }
    while true {
      if let answer = taken(key) { return answer }
      guard ContinuousClock.now - now < Self.wait else { return nil }
      guard (try? await Task.sleep(for: Self.interval)) != nil else {
        searches.withLock { $0.removeValue(forKey: key) }?.task.cancel()
        return nil
      }
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
