import AggregatorCore
import AggregatorStore

extension PagedList {
  /// Takes over the changes of the store from now on, until the list is released.
  func follow(_ follower: RecordFollower<Item>) {
    guard following == nil else { return }
    following = Task { [weak self] in
      await follower.run { [weak self] change in await self?.take(change) }
    }
  }

  /// Takes over a change, after the end of a running load, whose page may include it.
  func take(_ change: RecordFollower<Item>.Change) {
    guard !isLoading, cachedLoad == nil else { return pendingChanges.append(change) }
    switch change {
    case .unknown(let load): if load == loadCount { isOutdated = true }
    case .records(let changed, let removed, let restored, let number):
      // A record that this list has deleted or restored since has its last state from here.
      take(
        changed.filter { !changes.isNewer($0.record.id, than: number) },
        removed.filter { !changes.isNewer($0, than: number) },
        restored.filter { !changes.isNewer($0, than: number) })
    }
  }

  /// Notes that a first page was loaded, which shows all changes up to a state of the store: the follower reads those since
  /// then.
  func loaded(since state: RecordFollower<Item>.State) {
    loadCount += 1
    Task { [follower, loadCount] in await follower?.noteLoad(loadCount, since: state) }
  }

  func takePendingChanges() {
    let pending = pendingChanges
    pendingChanges = []
    for change in pending { take(change) }
  }

  private func take(
    _ changed: [RecordFollower<Item>.ChangedRecord], _ removed: [Item.ID], _ restored: [Item.ID]
  ) {
    let known = records.indices(of: changed.map(\.record.id) + restored)
    var (new, isChanged, isMissing) = (records, false, false)
    // Before any other record moves.
    for change in changed {
      guard let index = known[change.record.key], new[index] != change.record else { continue }
      new.replace(at: index, with: change.record)
      isChanged = true
    }
    var returned: [RecordKey: Item] = [:]
    for change in changed {
      let key = change.record.key
      guard known[key] == nil else { continue }
      if changes.removed.contains(key) {
        returned[key] = change.record
      } else {
        isMissing = isMissing || change.isMatch
      }
    }
    // The store has no records of these, so they return as they were.
    let unstored = Set(restored.map { RecordKey($0) }).subtracting(known.keys)
    let returning = Set(returned.keys).union(unstored.filter { changes.removed.contains($0) })
    isMissing = isMissing || !unstored.isSubset(of: returning)
    if let last = lastDeleted?.key {
      let isRestored = unstored.contains(last) || changed.contains { $0.record.key == last }
      if returning.contains(last) || deletesInStore && isRestored { lastDeleted = nil }
    }
    let back = changes.removed.take(returning)
    for (earlier, index) in back {
      new.insert(returned[earlier.key] ?? earlier, at: index)
      changes.putBack.insert(earlier.key)
    }
    let indices = new.indices(of: removed).values.sorted()
    let gone = indices.map { (record: new[$0], index: $0) }
    for index in indices.reversed() { _ = new.remove(at: index) }
    changes.removed.insert(gone)
    if !back.isEmpty || !gone.isEmpty {
      total = total.map { $0 + back.count - gone.count }
      isChanged = true
    }
    // Before the end, the record may be on a page that was not loaded yet.
    if isMissing, !hasMore || new.isEmpty { isOutdated = true }
    guard isChanged else { return }
    records = new
    recordsChanged()
  }
}

/// Reads what changes in the records of a source, off the main actor.
actor RecordFollower<Item: SourceRecord> {
  struct ChangedRecord: Sendable {
    let record: Item
    /// True if the record matches the query of the list.
    let isMatch: Bool
  }

  enum Change: Sendable {
    /// The records of `restored` are not in the store. `after` is the number of the last change by the list itself that it
    /// takes into account.
    case records([ChangedRecord], removed: [Item.ID], restored: [Item.ID], after: Int)
    /// Too much has changed, or the store cannot say what. The number is that of the last load which it takes into account:
    /// a later one shows the change.
    case unknown(Int)
  }

  /// The state of the store at one time.
  struct State: Sendable {
    /// `nil` if it had no records.
    let mark: RecordMark?
  }

  private let records: RecordStore<Item>
  private let query: SearchQuery?
  private let (wakes, waking) = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private var listening: Task<Void, Never>?
  /// The state of the store after the last change; `nil` if it had no records.
  private var mark: RecordMark?
  /// Where the list shows something else than the mark because it deleted or restored records itself: whether it does
  /// not show the record at a position.
  private var own: [Int64: Bool] = [:]
  /// The same of records that are not in the store, such as bundled ones.
  private var ownUnstored: [RecordKey: Bool] = [:]
  /// The number of the last change by the list itself.
  private var lastOwn = 0
  /// The number of the last load of a first page, and the state of the store before it until that was taken as the mark.
  private var lastLoad = 0
  private var loaded: State?

  init(_ records: RecordStore<Item>, matching query: SearchQuery?) {
    self.records = records
    self.query = query
  }

  /// Begins to listen; a change after its return is not missed.
  func start() async {
    guard listening == nil else { return }
    let notifications = await records.store.changeNotifications(of: records.source)
    guard listening == nil else { return }
    listening = Task { [waking] in
      for await _ in notifications { waking.yield() }
      waking.finish()
    }
    // After a failure the first change is read as that of an empty store.
    mark = try? await currentMark()
  }

  deinit { listening?.cancel() }

  /// Reports each change, until the task is cancelled or the store can tell no more.
  func run(_ report: @Sendable (Change) async -> Void) async {
    for await _ in wakes {
      if let change = await change() { await report(change) }
    }
  }

  /// Notes that a change by the list itself has ended.
  func note(_ number: Int) { lastOwn = number }

  /// Notes that a deletion or restoration in the store by the list itself has ended, after which the list shows the record or
  /// not: what differs from that was done by others since.
  func note(_ number: Int, _ id: Item.ID, isDeleted: Bool) async {
    do throws(SourceError) {
      if let record = try await records.store.record(id.description, of: records.source) {
        own[record.position] = isDeleted
      } else {
        ownUnstored[RecordKey(id)] = isDeleted
      }
    } catch {
      // Then only what others do at the same time is missed.
    }
    lastOwn = number
    waking.yield()
  }

  /// Notes that the list shows all changes up to a state.
  func noteLoad(_ number: Int, since state: State) {
    guard number > lastLoad else { return }
    (lastLoad, loaded) = (number, state)
    waking.yield()
  }

  /// The present state; `nil` after a failure.
  func state() async -> State? {
    do throws(SourceError) { return State(mark: try await currentMark()) } catch { return nil }
  }

  private func currentMark() async throws(SourceError) -> RecordMark? {
    try await records.store.update(of: records.source, since: nil)?.mark
  }

  private func change() async -> Change? {
    if let loaded {
      mark = loaded.mark
      self.loaded = nil
    }
    let load = lastLoad
    do throws(SourceError) {
      guard var shown = mark else { return try await beginning() }
      for (position, isDeleted) in own {
        if isDeleted { shown.deleted.insert(position) } else { shown.deleted.remove(position) }
      }
      for (id, isDeleted) in ownUnstored {
        if isDeleted { shown.unstored.insert(id) } else { shown.unstored.remove(id) }
      }
      (own, ownUnstored) = ([:], [:])
      let number = lastOwn
      guard let update = try await records.store.update(of: records.source, since: shown) else {
        mark = try await currentMark()
        // A store without records and deletions has no mark: the last deletion of a bundled record was undone.
        guard mark == nil, shown.isWithoutRecords else { return .unknown(load) }
        return change([], [], restored: shown.unstored.map(\.text), after: number)
      }
      mark = update.mark
      return change(update.records, update.removed, restored: update.restored, after: number)
    } catch {
      // The next change also brings this one, but there may be none.
      return .unknown(load)
    }
  }

  /// The first records of a store that had none.
  private func beginning() async throws(SourceError) -> Change? {
    let (number, load) = (lastOwn, lastLoad)
    guard let new = try await currentMark() else { return nil }
    let slice = try await records.store.records(
      of: records.source, matching: [], after: 0, limit: RecordUpdate.limit)
    // Records that were deleted meanwhile are not in the slice.
    let deletions = try await records.store.deletions(
      of: records.source, after: nil, limit: RecordUpdate.limit)
    mark = new
    guard !slice.hasMore, deletions.count < RecordUpdate.limit else {
      return .unknown(load)
    }
    return change(slice.records, deletions.map(\.id), after: number)
  }

  private func change(
    _ changed: [StoredRecord], _ removed: [String], restored: [String] = [], after number: Int
  ) -> Change? {
    let items = records.decoded(changed).records.map { item in
      ChangedRecord(
        record: item, isMatch: query.map { records.matches(item, $0.words) } ?? true)
    }
    guard !items.isEmpty || !removed.isEmpty || !restored.isEmpty else { return nil }
    return .records(
      items, removed: removed.compactMap { Item.ID($0) },
      restored: restored.compactMap { Item.ID($0) }, after: number)
  }
}
