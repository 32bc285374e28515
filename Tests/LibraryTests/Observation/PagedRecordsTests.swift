import AggregatorKit
import Testing

@testable import AggregatorObservation

struct PagedRecordsTests {
  @Test func `is a collection of all pages`() {
    var records = PagedRecords<Note>()
    for first in stride(from: 0, to: 1000, by: 37) {
      records.append((first..<min(first + 37, 1000)).map { Note($0) })
    }
    #expect(records.count == 1000)
    #expect(records.map(\.id) == Array(0..<1000))
    #expect([0, 255, 256, 511, 999].map { records[$0].id } == [0, 255, 256, 511, 999])
    #expect(records.index(of: 700) == 700 && records.index(of: 1000) == nil)
    #expect(records == PagedRecords((0..<1000).map { Note($0) }))
    #expect(records != PagedRecords((1...1000).map { Note($0) }))
  }

  @Test func `inserts and removes at any index, as an array does`() {
    var random = SeededGenerator(7)
    var records = PagedRecords((0..<600).map { Note($0) })
    var array = Array(records)
    for id in 600..<2000 {
      if id.isMultiple(of: 3) {
        let index = Int.random(in: 0...array.count, using: &random)
        records.insert(Note(id), at: index)
        array.insert(Note(id), at: index)
      } else if !array.isEmpty {
        let index = Int.random(in: 0..<array.count, using: &random)
        #expect(records.remove(at: index) == array.remove(at: index))
      }
      #expect(records.count == array.count)
    }
    #expect(Array(records) == array)
  }

  @Test func `leaves copies as they were`() {
    var records = PagedRecords((0..<300).map { Note($0) })
    let copy = records
    records.append([Note(300)])
    _ = records.remove(at: 0)
    #expect(copy.map(\.id) == Array(0..<300))
  }
}

struct RemovedRecordsTests {
  /// Removes some of ten records, and puts them back in another order.
  @Test func `puts records back in their places, in any order`() {
    var random = SeededGenerator(11)
    for _ in 0..<200 {
      let all = (0..<10).map { Note($0) }
      var list = all
      var removed = RemovedRecords<Note>()
      for id in Array(0..<10).shuffled(using: &random).prefix(6) {
        guard let index = list.firstIndex(where: { $0.id == id }) else { continue }
        removed.insert(list.remove(at: index), from: index)
      }
      for id in Array(0..<10).shuffled(using: &random) {
        guard let (record, index) = removed.take(id) else { continue }
        list.insert(record, at: index)
        #expect(list.map(\.id) == list.map(\.id).sorted())
      }
      #expect(list == all && removed.isEmpty)
    }
  }
}
