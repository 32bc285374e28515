public import AggregatorCore

extension PagedList {
  /// Removes a record at once, and then deletes it.
  ///
  /// If that fails, the record returns to its place, and the error is thrown. The deletion is carried out
  /// even if the task is cancelled or the list is released: the record has already left the screen.
  ///
  /// - Throws: `SourceError`; its code is `unsupported` if the list was made without a `deletion`.
  public func delete(_ id: Item.ID) async throws(SourceError) {
    let deletion = try requiredDeletion()
    remove(id)
    try await change(id, deletion.delete) { putBack(id) }
  }

  /// Puts a deleted record back in its place at once, and then restores it.
  ///
  /// If that fails, the record is removed again, and the error is thrown. A record that was not deleted in this list
  /// is restored too, but appears only when its page is loaded again.
  ///
  /// - Throws: `SourceError`; its code is `unsupported` if the list was made without a `deletion`.
  public func undoDelete(_ id: Item.ID) async throws(SourceError) {
    let deletion = try requiredDeletion()
    putBack(id)
    try await change(id, deletion.restore) { remove(id) }
  }

  private func requiredDeletion() throws(SourceError) -> RecordDeletion<Item> {
    guard let deletion else {
      throw SourceError(.unsupported, "the list cannot delete records")
    }
    return deletion
  }

  private func remove(_ id: Item.ID) {
    guard let index = records.index(of: id) else { return }
    changes.removed.insert(records.remove(at: index), from: index)
    total = total.map { $0 - 1 }
    recordsChanged()
  }

  private func putBack(_ id: Item.ID) {
    guard let (record, index) = changes.removed.take(id) else { return }
    records.insert(record, at: index)
    changes.putBack.insert(RecordKey(id))
    total = total.map { $0 + 1 }
    recordsChanged()
  }

  /// Makes the call after all earlier ones, and takes the change back if it fails, unless another has followed.
  private func change(
    _ id: Item.ID, _ call: @escaping RecordDeletion<Item>.Call, takingBack takeBack: () -> Void
  ) async throws(SourceError) {
    let number = changes.begin(id)
    // Unstructured, because a deletion outlives the view; it ends with its call.
    let task = Task { @concurrent [earlier = changes.last] in
      _ = await earlier?.value
      return await Result { () async throws(SourceError) in try await call(id) }
    }
    changes.last = task
    let result = await task.value
    let isLatest = changes.end(id, number)
    if case .failure = result, isLatest { takeBack() }
    try result.get()
  }
}

/// The deletions of a list, in progress and done.
struct RecordChanges<Item: Record> {
  var removed = RemovedRecords<Item>()
  /// The records that are in the list although its loader may not have met them.
  var putBack: Set<RecordKey> = []
  /// The last call, after which the next one begins.
  var last: Task<Result<Void, SourceError>, Never>?

  /// The number of changes that have begun or ended.
  private(set) var count = 0
  private var inProgress = 0
  private var latest: [Item.ID: Int] = [:]

  mutating func begin(_ id: Item.ID) -> Int {
    count += 1
    inProgress += 1
    latest[id] = count
    return count
  }

  /// - Returns: true if no other change of this record has begun since.
  mutating func end(_ id: Item.ID, _ number: Int) -> Bool {
    count += 1
    inProgress -= 1
    guard latest[id] == number else { return false }
    latest[id] = nil
    return true
  }

  /// True if a page that was requested at this ``count`` may be from before a change.
  func overlap(_ start: Int) -> Bool { inProgress > 0 || count != start }

  /// The records of a batch that are to be shown.
  ///
  /// An outdated page still has deleted records. Any other is right: what it has was restored elsewhere.
  mutating func remaining(of batch: PageBatch<Item>, isOutdated: Bool) -> [Item] {
    if !isOutdated { removed.forget(batch.records) }
    if batch.isFirst { putBack = [] }
    let records = batch.records.filter { !removed.contains($0.id) && !putBack.contains($0.key) }
    if batch.isFirst { removed.fit(records.count) }
    return records
  }
}
