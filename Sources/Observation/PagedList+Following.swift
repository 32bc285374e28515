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
    case .unknown: isOutdated = true
    case .records(let changed, let removed): take(changed, removed)
    }
  }

  func takePendingChanges() {
    let pending = pendingChanges
    pendingChanges = []
    for change in pending { take(change) }
  }

  private func take(_ changed: [RecordFollower<Item>.ChangedRecord], _ removed: [Item.ID]) {
    // A record that this list is deleting or restoring has its last state from here.
    let changed = changed.filter { !changes.isInProgress($0.record.id) }
    let removed = removed.filter { !changes.isInProgress($0) }
    let known = records.indices(of: changed.map(\.record.id))
    var (new, isChanged, isMissing) = (records, false, false)
    // Before any other record moves.
    for change in changed {
      guard let index = known[change.record.key], new[index] != change.record else { continue }
      new.replace(at: index, with: change.record)
      isChanged = true
    }
    for change in changed where known[change.record.key] == nil {
      guard let index = changes.removed.take(change.record.id)?.index else {
        isMissing = isMissing || change.isMatch
        continue
      }
      new.insert(change.record, at: index)
      changes.putBack.insert(change.record.key)
      total = total.map { $0 + 1 }
      isChanged = true
    }
    for index in new.indices(of: removed).values.sorted(by: >) {
      changes.removed.insert(new.remove(at: index), from: index)
      total = total.map { $0 - 1 }
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
    case records([ChangedRecord], removed: [Item.ID])
    /// Too much has changed, or the store cannot say what.
    case unknown
  }

  private let records: RecordStore<Item>
  private let query: SearchQuery?
  private var notifications: AsyncStream<Void>?
  /// The state of the store after the last change; `nil` if it had no records.
  private var mark: RecordMark?

  init(_ records: RecordStore<Item>, matching query: SearchQuery?) {
    self.records = records
    self.query = query
  }

  /// Begins to listen; a change after its return is not missed.
  func start() async {
    guard notifications == nil else { return }
    notifications = await records.store.changeNotifications(of: records.source)
    // After a failure the first change is read as that of an empty store.
    mark = try? await currentMark()
  }

  /// Reports each change, until the task is cancelled or the store can tell no more.
  func run(_ report: @Sendable (Change) async -> Void) async {
    guard let notifications else { return }
    for await _ in notifications {
      if let change = await change() { await report(change) }
    }
  }

  private func currentMark() async throws(SourceError) -> RecordMark? {
    try await records.store.update(of: records.source, since: nil)?.mark
  }

  private func change() async -> Change? {
    do throws(SourceError) {
      guard let mark else { return try await beginning() }
      guard let update = try await records.store.update(of: records.source, since: mark) else {
        self.mark = try await currentMark()
        return .unknown
      }
      self.mark = update.mark
      return change(update.records, update.removed)
    } catch {
      // The next change also brings this one, but there may be none.
      return .unknown
    }
  }

  /// The first records of a store that had none.
  private func beginning() async throws(SourceError) -> Change? {
    guard let new = try await currentMark() else { return nil }
    let slice = try await records.store.records(
      of: records.source, matching: [], after: 0, limit: RecordUpdate.limit)
    // Records that were deleted meanwhile are not in the slice.
    let deletions = try await records.store.deletions(
      of: records.source, after: nil, limit: RecordUpdate.limit)
    mark = new
    guard !slice.hasMore, deletions.count < RecordUpdate.limit else { return .unknown }
    return change(slice.records, deletions.map(\.id))
  }

  private func change(_ changed: [StoredRecord], _ removed: [String]) -> Change? {
    let items = records.decoded(changed).records.map { item in
      ChangedRecord(
        record: item, isMatch: query.map { records.matches(item, $0.words) } ?? true)
    }
    guard !items.isEmpty || !removed.isEmpty else { return nil }
    return .records(items, removed: removed.compactMap { Item.ID($0) })
  }
}
