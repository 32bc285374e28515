public import AggregatorCore

/// The records of a ``PagedList``: a collection with integer indices, as `List` and `ForEach` take it.
///
/// `Array(records)` copies it into an array. The records are kept in chunks, because a view holds a copy while the next
/// page is appended: an array would copy all of its records then.
public struct PagedRecords<Item: SourceRecord>: RandomAccessCollection, Sendable {
  private static var chunkSize: Int { 256 }

  private var chunks: [[Item]] = []
  private var starts: [Int] = []
  /// The hash values of the IDs, by which a record is found without reading the others.
  private var hashes: [[Int]] = []

  public private(set) var count = 0

  init(_ records: [Item] = []) { append(records) }

  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  public subscript(index: Int) -> Item {
    let chunk = chunk(of: index)
    return chunks[chunk][index - starts[chunk]]
  }

  /// The index of the record with this ID; takes time in proportion to the number of records.
  func index(of id: Item.ID) -> Int? {
    let key = RecordKey(id)
    let hash = id.hashValue
    for chunk in hashes.indices {
      var rest = hashes[chunk][...]
      while let offset = rest.firstIndex(of: hash) {
        // IDs that are equal to Swift may differ in their bytes.
        if chunks[chunk][offset].key == key { return starts[chunk] + offset }
        rest = rest[(offset + 1)...]
      }
    }
    return nil
  }

  /// The indices of those of these records that are there, in one pass if there are many.
  func indices(of ids: [Item.ID]) -> [RecordKey: Int] {
    var found: [RecordKey: Int] = [:]
    guard ids.count > 8 else {
      for id in ids { found[RecordKey(id)] = index(of: id) }
      return found
    }
    let wanted = Set(ids.map(RecordKey.init))
    let wantedHashes = Set(ids.map(\.hashValue))
    for chunk in hashes.indices {
      for (offset, hash) in hashes[chunk].enumerated() where wantedHashes.contains(hash) {
        let key = chunks[chunk][offset].key
        if wanted.contains(key) { found[key] = starts[chunk] + offset }
      }
    }
    return found
  }

  mutating func append(_ records: [Item]) {
    var rest = records[...]
    while !rest.isEmpty {
      if chunks.last.map({ $0.count >= Self.chunkSize }) ?? true {
        chunks.append([])
        hashes.append([])
        starts.append(count)
      }
      let last = chunks.count - 1
      let part = rest.prefix(Self.chunkSize - chunks[last].count)
      chunks[last].append(contentsOf: part)
      hashes[last].append(contentsOf: part.map(\.id.hashValue))
      rest = rest.dropFirst(part.count)
      count += part.count
    }
  }

  mutating func insert(_ record: Item, at index: Int) {
    guard index < count else { return append([record]) }
    let chunk = chunk(of: index)
    chunks[chunk].insert(record, at: index - starts[chunk])
    hashes[chunk].insert(record.id.hashValue, at: index - starts[chunk])
    shift(after: chunk, by: 1)
    if chunks[chunk].count > 2 * Self.chunkSize { split(chunk) }
  }

  /// Divides a chunk, so that the next record to be inserted into it does not move thousands.
  private mutating func split(_ chunk: Int) {
    let size = Self.chunkSize
    chunks.insert(Array(chunks[chunk][size...]), at: chunk + 1)
    hashes.insert(Array(hashes[chunk][size...]), at: chunk + 1)
    starts.insert(starts[chunk] + size, at: chunk + 1)
    chunks[chunk].removeSubrange(size...)
    hashes[chunk].removeSubrange(size...)
  }

  /// Replaces a record by one with the same ID.
  mutating func replace(at index: Int, with record: Item) {
    let chunk = chunk(of: index)
    chunks[chunk][index - starts[chunk]] = record
  }

  mutating func remove(at index: Int) -> Item {
    let chunk = chunk(of: index)
    let record = chunks[chunk].remove(at: index - starts[chunk])
    hashes[chunk].remove(at: index - starts[chunk])
    shift(after: chunk, by: -1)
    if chunks[chunk].isEmpty {
      chunks.remove(at: chunk)
      hashes.remove(at: chunk)
      starts.remove(at: chunk)
    }
    return record
  }

  private mutating func shift(after chunk: Int, by change: Int) {
    for later in chunks.indices.dropFirst(chunk + 1) { starts[later] += change }
    count += change
  }

  /// The chunk with this index, found by bisection.
  private func chunk(of index: Int) -> Int {
    precondition(indices.contains(index), "index \(index) of \(count) records")
    var low = 0
    var high = starts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= index { low = middle } else { high = middle }
    }
    return low
  }
}

extension PagedRecords: Equatable {
  public static func == (left: PagedRecords, right: PagedRecords) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }
}
