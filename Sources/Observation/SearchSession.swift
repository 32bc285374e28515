public import AggregatorCore
public import AggregatorFoundation
public import AggregatorStore
public import Observation

/// A list with a search field: ``list`` has all records, or those that match ``text``.
///
/// ```swift
/// List(session.list.records) { hero in Text(hero.name) }
///   .searchable(text: $session.text)
///   .task { await session.list.load() }
/// ```
///
/// A search begins when the typing pauses. The old list stays until the first page of the new one has arrived or failed,
/// and a superseded search is cancelled. The same words send no second request, and neither does clearing the field:
/// ``all`` still has its records.
@Observable @MainActor
public final class SearchSession<Item: SourceRecord> {
  /// The list of all records.
  public let all: PagedList<Item>

  /// The list to show: ``all``, or the results of the last search, whose failure is its ``PagedList/state``.
  public private(set) var list: PagedList<Item>

  /// True from typing until ``list`` has the results.
  public private(set) var isSearching = false

  /// The text of the search field; blank for all records.
  public var text = "" {
    didSet { search() }
  }

  /// The ``PagedList/cachePolicy`` of all lists, also of searches to come.
  public var cachePolicy: CachePolicy {
    get { all.cachePolicy }
    set {
      all.cachePolicy = newValue
      list.cachePolicy = newValue
    }
  }

  /// True while ``all`` waits for the end of a search to be loaded anew.
  @ObservationIgnored private var refreshesAll = false
  /// The search that is shown or on its way.
  @ObservationIgnored private var query: SearchQuery?
  @ObservationIgnored private var searching: Task<Void, Never>?
  private let makeResults: (SearchQuery) -> PagedList<Item>
  private let pause: Duration
  private let clock: any Clock<Duration>

  /// Creates a session, which sends no request before its list is loaded or text is typed.
  ///
  /// The parameters of the lists are those of ``PagedList``. A record that is deleted in ``list`` leaves ``all`` too, and
  /// `list.undoDelete()` brings it back, also after the search has changed or ended.
  ///
  /// - Parameters:
  ///   - pause: The time after the last letter when a search begins.
  ///   - clock: Measures this pause, and nothing else.
  ///   - agingClock: Wakes the lists when their ``PagedList/age`` grows.
  ///   - now: The date up to which the age is counted.
  public init(
    _ source: any DataSource<Item>, pageSize: Int = 20, showsCachedFirst: Bool = false,
    cachePolicy: CachePolicy = .normal, deletion: RecordDeletion<Item>? = nil,
    following recordStore: RecordStore<Item>? = nil,
    debounce pause: Duration = .milliseconds(300), clock: any Clock<Duration> = ContinuousClock(),
    agingClock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    let all = PagedList(
      source, pageSize: pageSize, showsCachedFirst: showsCachedFirst, cachePolicy: cachePolicy,
      deletion: deletion, following: recordStore, clock: agingClock, now: now)
    let deletionInBoth = all.deletion.map { _ in
      RecordDeletion<Item> { id throws(SourceError) in
        try await all.delete(id)
      } restore: { id throws(SourceError) in
        try await all.undoDelete(id)
      }
    }
    makeResults = { query in
      let results = PagedList(
        source, matching: query, pageSize: pageSize, showsCachedFirst: showsCachedFirst,
        cachePolicy: all.cachePolicy, deletion: deletionInBoth, following: recordStore,
        clock: agingClock, now: now)
      results.lastDeletion = all.lastDeletion
      return results
    }
    self.all = all
    list = all
    self.pause = pause
    self.clock = clock
  }

  deinit { searching?.cancel() }

  /// Refreshes ``list``, and ``all`` once it is shown again: for pull-to-refresh and when the network is back.
  public func refresh() async {
    refreshesAll = list !== all
    await list.refresh()
  }

  private func showAll() {
    list = all
    guard refreshesAll else { return }
    refreshesAll = false
    // Unstructured, because typing has no task.
    Task { [all] in await all.refresh() }
  }

  private func search() {
    let query = try? SearchQuery(text)
    guard query != self.query else { return }
    self.query = query
    searching?.cancel()
    searching = nil
    isSearching = false
    guard query != list.query else { return }
    guard let query else { return showAll() }
    isSearching = true
    // Unstructured, because typing has no task. It retains the session only to show the results.
    searching = Task { [weak self, clock, pause] in
      guard (try? await clock.sleep(for: pause)) != nil, let results = self?.makeResults(query)
      else { return }
      await results.load()
      guard !Task.isCancelled, let self else { return }
      // It may have been set since.
      results.cachePolicy = cachePolicy
      list = results
      isSearching = false
    }
  }
}
