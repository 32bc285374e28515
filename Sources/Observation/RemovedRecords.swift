import AggregatorCore

/// The records removed from a list, with the places to which they return.
struct RemovedRecords<Item: Record> {
  private struct Entry {
    let record: Item
    /// The index at which the record is inserted again.
    var index: Int
  }

  /// The removed records in the order of the list, also those with the same index.
  private var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  func contains(_ id: Item.ID) -> Bool { entries.contains { $0.record.key == RecordKey(id) } }

  /// Adds the record that was at this index.
  mutating func insert(_ record: Item, from index: Int) {
    let place = entries.firstIndex { $0.index > index } ?? entries.endIndex
    for later in place..<entries.endIndex { entries[later].index -= 1 }
    entries.insert(Entry(record: record, index: index), at: place)
  }

  /// The record and the index at which it is to be inserted now; `nil` if it was not removed.
  mutating func take(_ id: Item.ID) -> (record: Item, index: Int)? {
    guard let place = entries.firstIndex(where: { $0.record.key == RecordKey(id) }) else {
      return nil
    }
    let entry = entries.remove(at: place)
    for later in place..<entries.endIndex { entries[later].index += 1 }
    return (entry.record, entry.index)
  }

  /// Removes the records that the list has again.
  mutating func forget(_ records: [Item]) {
    guard !entries.isEmpty else { return }
    let ids = Set(records.map(\.key))
    entries.removeAll { ids.contains($0.record.key) }
  }

  /// Adapts the places to another list with `count` records.
  mutating func fit(_ count: Int) {
    for place in entries.indices { entries[place].index = min(entries[place].index, count) }
  }
}
