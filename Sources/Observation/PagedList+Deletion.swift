public import AggregatorCore
public import AggregatorFoundation
public import AggregatorStore
import Observation

extension PagedList {
  /// Removes a record at once, and then deletes it; it is ``lastDeleted`` then.
  ///
  /// If that fails, the record returns to its place, and the error is thrown. The deletion is carried out
  /// even if the task is cancelled or the list is released: the record has already left the screen.
  ///
  /// - Throws: `SourceError`; its code is `unsupported` if the list was made without a `deletion`.
  public func delete(_ id: Item.ID) async throws(SourceError) {
    let deletion = try requiredDeletion()
    // The results of a search have noted a record that the full list may not have.
    if lastDeleted?.key != RecordKey(id) {
      lastDeleted = records.index(of: id).map { records[$0] }
    }
    remove(id)
    try await change(id, deletion.delete, isDeletion: true) {
      putBack(id)
      if lastDeleted?.key == RecordKey(id) { lastDeleted = nil }
    }
  }

  /// Restores the record that was deleted last; does nothing if there is none, or if it was restored.
  ///
  /// - Throws: `SourceError`, see ``undoDelete(_:)``.
  public func undoDelete() async throws(SourceError) {
    if let lastDeleted { try await undoDelete(lastDeleted.id) }
  }

  /// Puts a deleted record back in its place at once, and then restores it.
  ///
  /// If that fails, the record is removed again, and the error is thrown. A record that was not deleted in this list
  /// is restored too, but appears only when its page is loaded again.
  ///
  /// - Throws: `SourceError`; its code is `unsupported` if the list was made without a `deletion`.
  public func undoDelete(_ id: Item.ID) async throws(SourceError) {
    let deletion = try requiredDeletion()
    let undone = lastDeleted.flatMap { $0.key == RecordKey(id) ? $0 : nil }
    if undone != nil { lastDeleted = nil }
    putBack(id)
    try await change(id, deletion.restore, isDeletion: false) {
      remove(id)
      lastDeleted = undone ?? lastDeleted
    }
  }

  private func requiredDeletion() throws(SourceError) -> RecordDeletion<Item> {
    guard let deletion else {
      throw SourceError(.unsupported, "the list cannot delete records")
    }
    return deletion
  }

  private func remove(_ id: Item.ID) {
    guard let index = records.index(of: id) else { return }
    changes.removed.insert([(records.remove(at: index), index)])
    total = total.map { $0 - 1 }
    recordsChanged()
  }

  private func putBack(_ id: Item.ID) {
    guard let (record, index) = changes.removed.take([RecordKey(id)]).first else { return }
    records.insert(record, at: index)
    changes.putBack.insert(RecordKey(id))
    total = total.map { $0 + 1 }
    recordsChanged()
  }

  /// Makes the call after all earlier ones, and takes the change back if it fails, unless another has followed.
  private func change(
    _ id: Item.ID, _ call: @escaping RecordDeletion<Item>.Call, isDeletion: Bool,
    takingBack takeBack: () -> Void
  ) async throws(SourceError) {
    let number = changes.begin(id)
    // Unstructured, because a deletion outlives the view; it ends with its call.
    let noting = deletesInStore ? follower : nil
    let task = Task { @concurrent [earlier = changes.last, follower] in
      _ = await earlier?.value
      let result = await Result { () async throws(SourceError) in try await call(id) }
      if let noting {
        let isDone = (try? result.get()) != nil
        await noting.note(number, id, isDeleted: isDeletion == isDone)
      } else {
        await follower?.note(number)
      }
      return result
    }
    changes.last = task
    let result = await task.value
    let isLatest = changes.end(id, number)
    if case .failure = result, isLatest { takeBack() }
    try result.get()
  }
}

/// The record that was deleted last in one of several lists.
@Observable @MainActor
final class LastDeletion<Item: SourceRecord> {
  var record: Item?
}

struct RecordChanges<Item: SourceRecord> {
  var removed = RemovedRecords<Item>()
  /// The records that are in the list although its loader may not have met them.
  var putBack: Set<RecordKey> = []
  /// The last call, after which the next one begins.
  var last: Task<Result<Void, SourceError>, Never>?

  /// The number of changes that have begun or ended.
  private(set) var count = 0
  private var inProgress = 0
  /// The number of the last change of each record.
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
    return latest[id] == number
  }

  /// True if a record was deleted or restored here after the change of this number, the last one that was noted.
  func isNewer(_ id: Item.ID, than number: Int) -> Bool { latest[id] ?? 0 > number }

  /// True if a page that was requested at this ``count`` may be from before a change.
  func overlap(_ start: Int) -> Bool { inProgress > 0 || count != start }

  /// The records of a batch that are to be shown.
  ///
  /// An outdated page still has deleted records. Any other is right: what it has was restored elsewhere.
  mutating func remaining(of batch: RecordBatch<Item>, isOutdated: Bool) -> [Item] {
    if !isOutdated { removed.forget(batch.records) }
    if batch.isFirst { putBack = [] }
    let records = batch.records.filter { record in
      guard !removed.isEmpty || !putBack.isEmpty else { return true }
      let key = record.key
      return !removed.contains(key) && !putBack.contains(key)
    }
    if batch.isFirst { removed.fit(records.count) }
    return records
  }
}

/// The calls by which a ``PagedList`` deletes records and restores them.
public struct RecordDeletion<Item: SourceRecord>: Sendable {
  public typealias Call = @Sendable (Item.ID) async throws(SourceError) -> Void

  let delete: Call
  let restore: Call

  /// Both calls run off the main actor, one after the other, in the order of the changes to the list.
  public init(delete: @escaping Call, restore: @escaping Call) {
    self.delete = delete
    self.restore = restore
  }

  /// Deletes records in a store, as the verb `delete` does; a chain with this store leaves them out.
  public init(
    in recordStore: RecordStore<Item>, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.init { id throws(SourceError) in
      try await recordStore.delete(id, at: now())
    } restore: { id throws(SourceError) in
      try await recordStore.restore(id)
    }
  }
}

/// The records that were removed from a list.
///
/// Others may remove thousands at once: no call searches all of them for each record.
struct RemovedRecords<Item: SourceRecord> {
  private struct Entry {
    let record: Item
    let key: RecordKey
    var index: Int

    func moved(by count: Int) -> Entry { Entry(record: record, key: key, index: index + count) }
  }

  /// The removed records in the order of the list, also those with the same index.
  private var entries: [Entry] = []
  private var keys: Set<RecordKey> = []

  var isEmpty: Bool { entries.isEmpty }

  func contains(_ key: RecordKey) -> Bool { keys.contains(key) }

  /// Adds the records that were at these indices of the list, which ascend.
  mutating func insert(_ removed: [(record: Item, index: Int)]) {
    var merged: [Entry] = []
    merged.reserveCapacity(entries.count + removed.count)
    var earlier = entries[...]
    for (count, (record, index)) in removed.enumerated() {
      while let entry = earlier.first, entry.index <= index {
        merged.append(earlier.removeFirst().moved(by: -count))
      }
      let key = record.key
      keys.insert(key)
      merged.append(Entry(record: record, key: key, index: index - count))
    }
    entries = merged + earlier.map { $0.moved(by: -removed.count) }
  }

  /// Takes out those of these records that were removed, with the indices at which they are to be inserted, one after the
  /// other.
  mutating func take(_ wanted: Set<RecordKey>) -> [(record: Item, index: Int)] {
    guard !keys.isDisjoint(with: wanted) else { return [] }
    var taken: [(record: Item, index: Int)] = []
    var rest: [Entry] = []
    for entry in entries {
      let moved = entry.moved(by: taken.count)
      if wanted.contains(entry.key) {
        taken.append((moved.record, moved.index))
      } else {
        rest.append(moved)
      }
    }
    entries = rest
    keys.subtract(wanted)
    return taken
  }

  /// Removes the records that the list has again.
  mutating func forget(_ records: [Item]) {
    guard !entries.isEmpty else { return }
    var known: Set<RecordKey> = []
    for record in records {
      let key = record.key
      if keys.contains(key) { known.insert(key) }
    }
    guard !known.isEmpty else { return }
    entries.removeAll { known.contains($0.key) }
    keys.subtract(known)
  }

  /// Adapts the places to another list with `count` records.
  mutating func fit(_ count: Int) {
    for place in entries.indices { entries[place].index = min(entries[place].index, count) }
  }
}
