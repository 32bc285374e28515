public import AggregatorCore
public import AggregatorStore
public import Observation

/// A list that a view binds to: it loads pages of a source as the view needs them.
///
/// ```swift
/// List(list.records) { hero in
///   Text(hero.name).onAppear { list.loadMoreIfNeeded(after: hero) }
/// }
/// .task { await list.load() }
/// .refreshable { await list.refresh() }
/// ```
///
/// Records have distinct IDs: one that a later page repeats is left out. Pages without new records are passed over; if
/// the source makes no progress, the list fails with `noProgress`. A failure loses nothing that is there, and
/// a later answer to an earlier request changes nothing.
///
/// A list that follows a store takes over its changes, by whatever screen or process they were made, in their places and
/// without a request: what is deleted leaves it, what is restored returns, and what has changed is replaced. What
/// it cannot take over by itself, such as a new record, sets ``isOutdated``.
///
/// A load ends early if the task that began it is cancelled, or if the list is released. Pages are decoded and searched
/// for duplicates off the main actor.
@Observable @MainActor
public final class PagedList<Item: SourceRecord> {
  /// The part of the list that is loaded or failed to load.
  public enum Load: Sendable {
    /// The first page, also of a refresh.
    case first
    /// The page after the last.
    case more
  }

  /// The state of the last load.
  public enum State: Equatable, Sendable {
    /// Nothing is loading, and there is more to load.
    case idle
    case loading(Load)
    case failed(Load, SourceError)
    /// All records are there.
    case ended
  }

  /// The most pages that a refresh loads at once.
  private static var maxRefreshedPages: Int { 25 }

  private struct RunningLoad {
    let load: Load
    let policy: CachePolicy
    let number: Int
    let task: Task<Bool, Never>
  }

  public internal(set) var records = PagedRecords<Item>()

  /// The total number of matching records; `nil` if it is unknown.
  public internal(set) var total: Int?

  /// The provenance of the least current page, so that a badge promises no more than is true of all records; `nil`
  /// before the first page.
  ///
  /// Bundled data is less current than cached data, and cached data less than live; of two pages with the same origin
  /// the one fetched earlier counts.
  public private(set) var provenance: Provenance?

  /// The warnings of all pages, each once.
  public private(set) var warnings: [Warning] = []

  /// The rows of all pages that could not be read.
  public private(set) var unreadable = UnreadableRows.none

  /// True if the store has changes that are not in the list, which ``refresh()`` shows.
  public internal(set) var isOutdated = false

  /// True if the source has more records, or nothing was loaded yet.
  public private(set) var hasMore = true

  private var isLoaded = false
  private var loading: Load?
  private var failure: (load: Load, policy: CachePolicy, error: SourceError)?

  let query: SearchQuery?
  let deletion: RecordDeletion<Item>?
  private let source: any DataSource<Item>
  private let pageSize: Int
  private let showsCachedFirst: Bool
  private let cachePolicy: CachePolicy

  @ObservationIgnored private var loader: PageLoader<Item>?
  /// The running load, which is not a child of a view's task, because others may wait for it too.
  @ObservationIgnored private var running: RunningLoad?
  @ObservationIgnored private var lastNumber = 0
  /// The IDs of the last records, to tell quickly if a record is near the end.
  @ObservationIgnored private var tail: Set<RecordKey> = []
  @ObservationIgnored private var lastAppeared: Item.ID?
  @ObservationIgnored var changes = RecordChanges<Item>()
  @ObservationIgnored var following: Task<Void, Never>?
  /// The changes of the store that wait for a load to end.
  @ObservationIgnored var pendingChanges: [RecordFollower<Item>.Change] = []
  private let follower: RecordFollower<Item>?

  /// Creates an empty list, which sends no request before ``load()``.
  ///
  /// A page has up to `pageSize` records, 1 or more. With `showsCachedFirst` the first page comes from cached or bundled
  /// data at once, and is replaced by the one that `cachePolicy` gives. ``delete(_:)`` needs a `deletion`, or the store
  /// that the list is `following`.
  public init(
    _ source: any DataSource<Item>, matching query: SearchQuery? = nil, pageSize: Int = 20,
    showsCachedFirst: Bool = false, cachePolicy: CachePolicy = .normal,
    deletion: RecordDeletion<Item>? = nil, following recordStore: RecordStore<Item>? = nil
  ) {
    precondition(pageSize > 0, "a page of \(pageSize) records")
    self.source = source
    self.query = query
    self.pageSize = pageSize
    self.showsCachedFirst = showsCachedFirst
    self.cachePolicy = cachePolicy
    self.deletion = deletion ?? recordStore.map { RecordDeletion(in: $0) }
    follower = recordStore.map { RecordFollower($0, matching: query) }
  }

  deinit {
    running?.task.cancel()
    following?.cancel()
  }

  public var state: State {
    if let loading { return .loading(loading) }
    if let failure { return .failed(failure.load, failure.error) }
    return hasMore ? .idle : .ended
  }

  public var isLoading: Bool { loading != nil }

  /// True if everything was loaded and there is no record.
  public var isEmpty: Bool {
    if case .ended = state { records.isEmpty } else { false }
  }

  /// The error of the last load, also while it is repeated; `nil` if it succeeded.
  public var error: SourceError? { failure?.error }

  /// Loads the first page, unless it was loaded before.
  public func load() async {
    while !isLoaded, !Task.isCancelled {
      if await finishes(.first, by: cachePolicy) { return }
    }
  }

  /// Loads the next page, or the first; does nothing at the end, and while the first page is loaded.
  public func loadMore() async {
    guard let loader else { return await load() }
    // Once a refresh has replaced the list, this page has no place in it.
    while loader === self.loader, hasMore, running?.load != .first, !Task.isCancelled {
      if await finishes(.more, by: cachePolicy) { return }
    }
  }

  /// Begins to load the next page if `item` is one of the last records: half a page before the end.
  ///
  /// A view calls it for each row that appears. The load goes on if the row disappears. After a failure, only
  /// ``retry()`` and ``loadMore()`` load more.
  public func loadMoreIfNeeded(after item: Item) {
    lastAppeared = item.id
    loadMoreIfNeeded()
  }

  /// Loads the first page from the service even if cached data is fresh, and replaces the list by it when it arrives.
  ///
  /// A list that was scrolled keeps its length, up to 25 pages, and further pages are then loaded alike, so that they fit. A
  /// running load is cancelled.
  public func refresh() async {
    let policy = cachePolicy.refreshing
    let length = min(records.count, Self.maxRefreshedPages * pageSize)
    repeat {
      if running?.policy != policy || running?.load != .first {
        // Its answer comes too late.
        running?.task.cancel()
        running = nil
        loading = nil
      }
      if await finishes(.first, by: policy, keeping: length) { return }
    } while !Task.isCancelled
  }

  /// Repeats the load that failed; does nothing if none did.
  ///
  /// If no later page can follow, after `noProgress` and `invalidCursor`, it refreshes the list. If the
  /// circuit breaker is open, the service is asked once nevertheless: a person wants to know.
  public func retry() async {
    guard let failure else { return }
    switch (failure.load, failure.error.code) {
    case (_, .noProgress), (_, .invalidCursor): await refresh()
    case (let load, .circuitOpen): _ = await finishes(load, by: failure.policy, insisting: true)
    case (.first, _): _ = await finishes(.first, by: failure.policy)
    case (.more, _): await loadMore()
    }
  }

  // MARK: - Loading

  /// Waits for the running load, or for one that it starts; false if that was cancelled.
  private func finishes(
    _ load: Load, by policy: CachePolicy, keeping length: Int = 0, insisting: Bool = false
  ) async -> Bool {
    if let running { return await running.task.value }
    let task = start(load, by: policy, keeping: length, insisting: insisting)
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// The task retains the list only while it takes over records, so that releasing the list ends the load.
  private func start(
    _ load: Load, by policy: CachePolicy, keeping length: Int = 0, insisting: Bool = false
  ) -> Task<Bool, Never> {
    var loader = PageLoader(source, matching: query, size: pageSize, cachePolicy: policy)
    if load == .more, let current = self.loader { loader = current }
    let showsCachedFirst =
      load == .first && showsCachedFirst && !policy.refreshes && !insisting
    let retryPolicy = insisting ? policy.refreshing : nil
    let start = changes.count
    lastNumber += 1
    let number = lastNumber
    let task = Task { [weak self, loader, follower] in
      if let follower {
        await follower.start()
        self?.follow(follower)
      }
      let show: @Sendable @MainActor (RecordBatch<Item>) -> Void = { [weak self] batch in
        guard self?.running?.number == number else { return }
        self?.take(batch, from: loader, startedAt: start)
      }
      let result = await Result { () async throws(SourceError) in
        showsCachedFirst
          ? try await loader.first(showing: show)
          : try await loader.next(atLeast: length, by: retryPolicy)
      }
      return self?.finish(result, of: number, from: loader, startedAt: start) ?? false
    }
    running = RunningLoad(load: load, policy: policy, number: number, task: task)
    loading = load
    return task
  }

  private func finish(
    _ result: Result<RecordBatch<Item>?, SourceError>, of number: Int,
    from loader: PageLoader<Item>, startedAt start: Int
  ) -> Bool {
    let isCurrent = running?.number == number
    // The next page of this list stays, even if a refresh has begun since: the loader has moved on.
    if case .success(let batch?) = result, isCurrent || loader === self.loader {
      take(batch, from: loader, startedAt: start)
    }
    guard isCurrent, let ended = running else { return false }
    running = nil
    loading = nil
    takePendingChanges()
    switch result {
    case .failure(.cancelled) where Task.isCancelled: return false
    case .failure(let error):
      failure = (ended.load, ended.policy, error)
    case .success(let batch):
      if ended.load == .first { isLoaded = true }
      failure = batch?.failure.map { (ended.load, ended.policy, $0) }
      loadMoreIfNeeded()
    }
    return true
  }

  private func take(_ batch: RecordBatch<Item>, from loader: PageLoader<Item>, startedAt start: Int)
  {
    self.loader = loader
    let isOverlapped = changes.overlap(start)
    let new = changes.remaining(of: batch, isOutdated: isOverlapped)
    if batch.isFirst {
      records = PagedRecords(new)
      provenance = batch.provenance
      warnings = []
      isOutdated = false
      unreadable = batch.unreadable
    } else {
      records.append(new)
      provenance = provenance.leastCurrent(batch.provenance)
      unreadable = unreadable + batch.unreadable
    }
    for warning in batch.warnings where !warnings.contains(warning) { warnings.append(warning) }
    // A total from before a deletion, or from during one, may count its record or not.
    if !isOverlapped || total == nil { total = batch.total ?? (batch.isFirst ? nil : total) }
    hasMore = batch.hasMore
    recordsChanged()
  }

  func recordsChanged() { tail = Set(records.suffix(max(pageSize / 2, 1)).map(\.key)) }

  /// Loads more if the row that appeared last is near the end, also after each load, as rows appear once.
  private func loadMoreIfNeeded() {
    guard running == nil, loader != nil, hasMore, let lastAppeared,
      tail.contains(RecordKey(lastAppeared))
    else { return }
    if case .more = failure?.load { return }
    _ = start(.more, by: cachePolicy)
  }
}

extension CachePolicy {
  /// This policy, but asking the service even if cached data is fresh or it has failed, if it may be asked at all.
  fileprivate var refreshing: CachePolicy {
    var policy = self
    policy.refreshes = mayAskService
    return policy
  }
}
