public import AggregatorCore
public import AggregatorFoundation
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
/// it cannot take over by itself, such as a new record, sets ``isOutdated``. A list of a `ReplaceableSource`, or of operators
/// above one, loads once more when that is replaced.
///
/// If a page shows, by its total or other records, that the service has changed the list since its first page, so that
/// records may be missing or come twice, the list is loaded anew behind the records that are shown, which are then replaced;
/// ``warnings`` say so.
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

  /// The most full pages whose records a refresh loads at once.
  private static var maxRefreshedPages: Int { 25 }

  struct CachedLoad {
    fileprivate let loader: PageLoader<Item>
    fileprivate let task: Task<Void, Never>
  }

  private struct RunningLoad {
    let load: Load
    let policy: CachePolicy
    let number: Int
    let task: Task<Bool, Never>
    /// True if it was begun because a page was of another generation.
    var isAnew = false
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

  /// The age of the least current page; `nil` if it is unknown.
  ///
  /// It is rounded down to minutes, from an hour on to hours, and from a day on to days, and grows by itself, by the clock of
  /// the list.
  public private(set) var age: Duration?

  /// The warnings of all pages, each once.
  public private(set) var warnings: [Warning] = []

  /// The rows of all pages that could not be read.
  public private(set) var unreadable = UnreadableRows.none

  /// True if the store has changes that are not in the list, or if pages show that the service changes it again after it was
  /// loaded anew; ``refresh()`` shows them.
  ///
  /// While there is more to load, a new record does not set it: it may be on a page that is still to come, and in an endless
  /// list it always is, because new records come last. A refresh, which keeps the length of the list, would not show it.
  public internal(set) var isOutdated = false

  /// Controls whether loads use the network, cached data or a fallback; a switch "Offline" sets it while the list is open.
  ///
  /// It loads nothing by itself: the next load has it, be it of another page, a refresh or a retry, and a running load keeps its
  /// own. Online again, ``refresh()`` asks the service.
  public var cachePolicy: CachePolicy {
    get { currentPolicy }
    set {
      guard newValue != currentPolicy else { return }
      currentPolicy = newValue
      if failure != nil { failure?.policy = newValue }
    }
  }

  /// The record that was deleted last in this list, for "Undo"; `nil` once it is back, also if it was restored elsewhere.
  ///
  /// The lists of a ``SearchSession`` have it in common. Another list does not have it, even if it follows the same store: to
  /// undo in another screen, share the list, or pass the ID to ``undoDelete(_:)``.
  public internal(set) var lastDeleted: Item? {
    get { lastDeletion.record }
    set { lastDeletion.record = newValue }
  }

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
  private var currentPolicy: CachePolicy

  @ObservationIgnored private var loader: PageLoader<Item>?
  /// The running load, which is not a child of a view's task, because others may wait for it too.
  @ObservationIgnored private var running: RunningLoad?
  @ObservationIgnored private var lastNumber = 0
  /// The IDs of the last records, to tell quickly if a record is near the end.
  @ObservationIgnored private var tail: Set<RecordKey> = []
  @ObservationIgnored private var lastAppeared: Item.ID?
  @ObservationIgnored var changes = RecordChanges<Item>()
  @ObservationIgnored var lastDeletion = LastDeletion<Item>()
  @ObservationIgnored var following: Task<Void, Never>?
  /// The number of first pages since the list follows the store.
  @ObservationIgnored var loadCount = 0
  /// The changes of the store that wait for a load to end.
  @ObservationIgnored var pendingChanges: [RecordFollower<Item>.Change] = []
  let follower: RecordFollower<Item>?
  /// True if records are deleted in the store that the list follows.
  let deletesInStore: Bool
  /// The load of a cached page beside that of the first.
  @ObservationIgnored private(set) var cachedLoad: CachedLoad?
  @ObservationIgnored private var aging: Task<Void, Never>?
  @ObservationIgnored private let replacements = ReplacementObserver()
  @ObservationIgnored let prefetching = Prefetching<Item>()
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Date

  /// Creates an empty list, which sends no request before ``load()``.
  ///
  /// A page has up to `pageSize` records, 1 or more. With `showsCachedFirst` the first page comes from cached or bundled
  /// data at once, and is replaced by the one that `cachePolicy` gives. ``delete(_:)`` needs a `deletion`, or the store
  /// that the list is `following`.
  ///
  /// - Parameters:
  ///   - clock: Wakes the list when its ``age`` grows; a test gives it the clock that it advances.
  ///   - now: The date up to which the age is counted, and of deletions in the store that the list follows.
  public init(
    _ source: any DataSource<Item>, matching query: SearchQuery? = nil, pageSize: Int = 20,
    showsCachedFirst: Bool = false, cachePolicy: CachePolicy = .normal,
    deletion: RecordDeletion<Item>? = nil, following recordStore: RecordStore<Item>? = nil,
    clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    precondition(pageSize > 0, "a page of \(pageSize) records")
    LanguageObserver.start()
    self.source = source
    self.query = query
    self.pageSize = pageSize
    self.showsCachedFirst = showsCachedFirst
    currentPolicy = cachePolicy
    self.deletion = deletion ?? recordStore.map { RecordDeletion(in: $0, now: now) }
    deletesInStore = deletion == nil
    follower = recordStore.map { RecordFollower($0, matching: query) }
    self.clock = clock
    self.now = now
  }

  deinit {
    running?.task.cancel()
    cachedLoad?.task.cancel()
    following?.cancel()
    aging?.cancel()
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

  /// Loads the next page, or the first; does nothing at the end.
  ///
  /// A page may be shorter than `pageSize`: a source that reads the store first, such as that of users, sends the last stored
  /// records alone.
  ///
  /// While the first page is loaded, of which a cached one may be shown, or the list is refreshed, the next page is the cached
  /// one, if there is one.
  public func loadMore() async {
    guard let loader else { return await load() }
    // Once a refresh has replaced the list, this page has no place in it.
    while loader === self.loader, hasMore, !Task.isCancelled {
      if running?.load == .first {
        guard cachePolicy.mayFallBack else { return }
        await startCached(by: loader).value
        return
      }
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
  /// A list that was scrolled keeps its length, up to 25 times the page size: pages are loaded until as many records are there,
  /// more of them if some are short, and the last one is shown whole. The first page is requested also while the circuit
  /// breaker of the service is open; those after it keep to the breaker, and to the policy of the list. A running load is
  /// cancelled.
  public func refresh() async {
    let policy = cachePolicy.refreshing
    repeat {
      if running?.policy != policy || running?.load != .first {
        // Its answer comes too late.
        running?.task.cancel()
        running = nil
        loading = nil
      }
      if await finishes(.first, by: policy) { return }
    } while !Task.isCancelled
  }

  /// Repeats the load that failed; the service is asked even if its circuit breaker is open: a person wants to know.
  ///
  /// That holds for one page; those after it keep to the breaker. If no later page can follow, after `noProgress` and
  /// `invalidCursor`, it refreshes the list, and so it does if none failed, but local data stands in for a service that did:
  /// ``provenance`` has a reason then. Otherwise it does nothing.
  ///
  /// A pause that the service has demanded is kept, as is the rate limit: a short one is waited for, and in a longer one nothing is
  /// sent, and the error is `rateLimited` again. The `retryAfter` of ``error``, or else of the reason of ``provenance``, is the rest
  /// of the pause, counted from this call, for which a button "Try again" may be disabled; its `recoverySuggestion` says it in words.
  public func retry() async {
    guard let failure else {
      if provenance?.reason != nil { await refresh() }
      return
    }
    switch failure.error.code {
    case .noProgress, .invalidCursor: await refresh()
    default: _ = await finishes(failure.load, by: failure.policy, insisting: true)
    }
  }

  // MARK: - Loading

  private func reload() {
    running?.task.cancel()
    // Its cursors are those of the other source.
    (loader, cachedLoad, isLoaded) = (nil, nil, false)
    // Fresh data of the old one would tell nobody if the new key is right.
    _ = start(.first, by: cachePolicy.refreshing)
  }

  /// Waits for the running load, or for one that it starts; false if that was cancelled.
  private func finishes(
    _ load: Load, by policy: CachePolicy, insisting: Bool = false
  ) async -> Bool {
    if let running { return await running.task.value }
    let task = start(load, by: policy, insisting: insisting)
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// The task retains the list only while it takes over records, so that releasing the list ends the load.
  private func start(
    _ load: Load, by policy: CachePolicy, insisting: Bool = false
  ) -> Task<Bool, Never> {
    replacements.observe(source.replacements) { [weak self] in self?.reload() }
    var loader = PageLoader(source, matching: query, size: pageSize, cachePolicy: policy)
    if load == .more, let current = self.loader { loader = current }
    let showsCachedFirst =
      load == .first && showsCachedFirst && records.isEmpty && !policy.refreshes && !insisting
    let firstPolicy = insisting ? policy.refreshing : policy
    // A tap asks for one page. Those after it are of its generation: cached ones of an older one do not count as fresh.
    let laterPolicy = policy.with(refreshes: cachePolicy.refreshes)
    let start = changes.count
    let isFollowing = following != nil
    lastNumber += 1
    let number = lastNumber
    let task = Task { [weak self, loader, follower, cachedLoad] in
      // A loader loads one page after another.
      if load == .more { await cachedLoad?.task.value }
      if let follower {
        await follower.start()
        self?.follow(follower)
      }
      // Changes until then are on the page.
      let state = load == .first && isFollowing ? await follower?.state() : nil
      let show: @Sendable @MainActor (RecordBatch<Item>, PageLoader<Item>) -> Void = {
        [weak self] batch, following in
        guard self?.running?.number == number else { return }
        self?.take(batch, from: following, startedAt: start)
        self?.loadMoreIfNeeded()
      }
      let shown: @Sendable @MainActor () -> Int = { [weak self] in
        load == .more ? 0 : self?.keptLength ?? 0
      }
      let result = await Result { () async throws(SourceError) in
        showsCachedFirst
          ? try await loader.first(keeping: shown, showing: show)
          : try await loader.next(keeping: shown, by: firstPolicy, then: laterPolicy)
      }
      if case .success = result, let state, self?.running?.number == number {
        self?.loaded(since: state)
      }
      return self?.finish(result, of: number, from: loader, startedAt: start) ?? false
    }
    running = RunningLoad(load: load, policy: policy, number: number, task: task)
    loading = load
    return task
  }

  /// The number of records that a first page keeps, with pages that follow.
  private var keptLength: Int { min(records.count, Self.maxRefreshedPages * pageSize) }

  /// Loads the next page from local data while the first one is being loaded, and may take long.
  private func startCached(by loader: PageLoader<Item>) -> Task<Void, Never> {
    if let cachedLoad, cachedLoad.loader === loader { return cachedLoad.task }
    let start = changes.count
    let task = Task { [weak self] in
      let batch = await loader.nextCached()
      // Otherwise the first page has replaced the list.
      guard let self, loader === self.loader else { return }
      cachedLoad = nil
      if let batch { take(batch, from: loader, startedAt: start) }
      if !isLoading { takePendingChanges() }
      if batch != nil { loadMoreIfNeeded() }
    }
    cachedLoad = CachedLoad(loader: loader, task: task)
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
      if ended.load == .first {
        isLoaded = true
        if ended.isAnew {
          warnings.append(
            Warning(.reloaded, "the list has changed while it was read, and was loaded anew"))
        }
      }
      failure = batch?.failure.map { (ended.load, ended.policy, $0) }
      if ended.load == .more, batch?.isOfAnotherGeneration ?? false { loadAnew() }
      loadMoreIfNeeded()
    }
    return true
  }

  /// Loads the list of the present generation, once until it is refreshed: one that changes all the time would be loaded with
  /// each page.
  private func loadAnew() {
    guard !warnings.contains(where: { $0.code == .reloaded }), records.count == keptLength else {
      isOutdated = true
      return
    }
    // Fallbacks for the service are no newer than the shown records.
    var policy = cachePolicy.refreshing
    policy.mayFallBack = false
    _ = start(.first, by: policy)
    running?.isAnew = true
  }

  private func take(_ batch: RecordBatch<Item>, from loader: PageLoader<Item>, startedAt start: Int)
  {
    self.loader = loader
    let isOverlapped = changes.overlap(start)
    let removed = lastDeleted.map(\.key).flatMap { changes.removed.contains($0) ? $0 : nil }
    let new = changes.remaining(of: batch, isOutdated: isOverlapped)
    if let removed, !changes.removed.contains(removed) { lastDeleted = nil }
    if batch.isFirst {
      cachedLoad = nil
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
    beginAging()
  }

  /// Keeps ``age`` right from now on.
  private func beginAging() {
    aging?.cancel()
    guard let date = provenance?.fetchedAt else {
      age = nil
      return
    }
    let next = grow(since: date)
    aging = Task { [weak self, clock] in
      var next = next
      // In steps, for the clock may stand still while a device sleeps.
      while await Self.passes(min(next, .seconds(60)), on: clock) {
        guard let self else { return }
        next = grow(since: date)
      }
    }
  }

  /// Updates ``age``; returns the time until the next change.
  private func grow(since date: Date) -> Duration {
    let seconds = max(now().timeIntervalSince(date), 0)
    let unit: Double = seconds < 3600 ? 60 : seconds < 86_400 ? 3600 : 86_400
    let whole = (seconds / unit).rounded(.down) * unit
    let new = Duration.seconds(whole)
    if age != new { age = new }
    return .seconds(whole + unit - seconds)
  }

  private static func passes(_ time: Duration, on clock: some Clock<Duration>) async -> Bool {
    await clock.reaches(clock.now.advanced(by: time))
  }

  func recordsChanged() { tail = Set(records.suffix(max(pageSize / 2, 1)).map(\.key)) }

  /// Loads more if the row that appeared last is near the end, also after each load, as rows appear once.
  private func loadMoreIfNeeded() {
    guard let loader, hasMore, let lastAppeared, tail.contains(RecordKey(lastAppeared)) else {
      return
    }
    guard running?.load != .first else {
      if cachePolicy.mayFallBack { _ = startCached(by: loader) }
      return
    }
    guard running == nil else { return }
    if case .more = failure?.load { return }
    _ = start(.more, by: cachePolicy)
  }
}

extension CachePolicy {
  /// This policy, but asking the service even if cached data is fresh or it has failed, if it may be asked at all.
  var refreshing: CachePolicy { with(refreshes: mayAskService) }

  func with(refreshes: Bool) -> CachePolicy {
    var policy = self
    policy.refreshes = refreshes
    return policy
  }
}
