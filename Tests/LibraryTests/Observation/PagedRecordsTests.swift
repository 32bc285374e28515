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

  @Test func `takes any number of records at one index`() {
    var records = PagedRecords((0..<300).map { Note($0) })
    var array = Array(records)
    for id in 300..<2000 {
      records.insert(Note(id), at: 100)
      array.insert(Note(id), at: 100)
    }
    #expect(Array(records) == array)
    #expect([0, 100, 1000, 1999].allSatisfy { records.index(of: array[$0].id) == $0 })
    records.append([Note(2000)])
    #expect(records.count == 2001 && records[2000].id == 2000 && records[1999] == array[1999])
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
  /// Removes some of ten records, alone or several at once, and puts them back in another order.
  @Test func `puts records back in their places, in any order`() {
    var random = SeededGenerator(11)
    for round in 0..<400 {
      let size = round % 4 + 1
      let all = (0..<10).map { Note($0) }
      var list = all
      var removed = RemovedRecords<Note>()
      var rest = Array(0..<10).shuffled(using: &random).prefix(6)
      while !rest.isEmpty {
        let ids = rest.prefix(size)
        rest = rest.dropFirst(size)
        let gone = list.enumerated().filter { ids.contains($1.id) }
        removed.insert(gone.map { (record: $0.element, index: $0.offset) })
        list.removeAll { ids.contains($0.id) }
        #expect(all.allSatisfy { removed.contains($0.key) != list.contains($0) })
      }
      var order = Array(0..<10).shuffled(using: &random)[...]
      while !order.isEmpty {
        let keys = Set(order.prefix(size).map { RecordKey($0) })
        order = order.dropFirst(size)
        for (record, index) in removed.take(keys) { list.insert(record, at: index) }
        #expect(list.map(\.id) == list.map(\.id).sorted())
        #expect(all.allSatisfy { removed.contains($0.key) != list.contains($0) })
      }
      #expect(list == all && removed.isEmpty)
    }
  }

  @Test func `forgets the records that a list has again`() {
    var removed = RemovedRecords<Note>()
    removed.insert([(Note(1), 0), (Note(3), 2), (Note(4), 3)])
    removed.forget([Note(2), Note(3)])
    #expect((1...4).map { removed.contains(RecordKey($0)) } == [true, false, false, true])
    let taken = removed.take([RecordKey(1), RecordKey(3), RecordKey(4)])
    #expect(taken.map(\.record.id) == [1, 4] && removed.isEmpty)
  }
}
