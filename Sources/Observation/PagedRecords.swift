public import AggregatorCore

/// The records of a ``PagedList``: a collection with integer indices, as `List` and `ForEach` take it.
///
/// `Array(records)` copies it into an array. The records are kept in chunks, because a view holds a copy while the next
/// page is appended: an array would copy all of its records then.
public struct PagedRecords<Item: Record>: RandomAccessCollection, Sendable {
  private static var chunkSize: Int { 256 }

  private var chunks: [[Item]] = []
  private var starts: [Int] = []

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
    for (chunk, start) in zip(chunks, starts) {
      // IDs that are equal to Swift may differ in their bytes.
      if let offset = chunk.firstIndex(where: { $0.id == id && $0.key == key }) {
        return start + offset
      }
    }
    return nil
  }

  mutating func append(_ records: [Item]) {
    var rest = records[...]
    while !rest.isEmpty {
      if chunks.last.map({ $0.count >= Self.chunkSize }) ?? true {
        chunks.append([])
        starts.append(count)
      }
      let last = chunks.count - 1
      let part = rest.prefix(Self.chunkSize - chunks[last].count)
      chunks[last].append(contentsOf: part)
      rest = rest.dropFirst(part.count)
      count += part.count
    }
  }

  mutating func insert(_ record: Item, at index: Int) {
    guard index < count else { return append([record]) }
    let chunk = chunk(of: index)
    chunks[chunk].insert(record, at: index - starts[chunk])
    shift(after: chunk, by: 1)
  }

  mutating func remove(at index: Int) -> Item {
    let chunk = chunk(of: index)
    let record = chunks[chunk].remove(at: index - starts[chunk])
    shift(after: chunk, by: -1)
    if chunks[chunk].isEmpty {
      chunks.remove(at: chunk)
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
