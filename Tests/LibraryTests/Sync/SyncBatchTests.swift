import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorKit
@testable import AggregatorStore
@testable import AggregatorSync

struct SyncBatchTests {
  private let start = SyncCheckpoint(after: 0, at: .day())

  private func page(
    _ ids: Range<Int>, next: PageCursor? = .place(1), total: Int? = nil, unreadable: Int = 0
  ) throws -> Page<EncodedRecord<Note>> {
    Page(
      try ids.map { try EncodedRecord(Note($0), text: FoldedText("")) }, next: next, total: total,
      provenance: Provenance(.live),
      unreadable: UnreadableRows(count: unreadable, firstReason: "odd"))
  }

  @Test func `has the checkpoint that its pages lead to one by one`() throws {
    let pages = [
      try page(0..<3, next: .place(1), total: 9), try page(3..<5, next: .place(2), unreadable: 1),
      try page(5..<8, next: nil, total: 9),
    ]
    var batch = SyncBatch<Note>(from: start)
    var checkpoint = start
    for (number, page) in pages.enumerated() {
      let date = Date.day(Double(number))
      batch.add(page, at: date)
      checkpoint = checkpoint.after(page, at: date)
    }
    #expect(batch.checkpoint == checkpoint)
    #expect(batch.records.map(\.id) == Array(0..<8))
    #expect(batch.pages == 3 && batch.isLast && batch.unreadable.count == 1)
  }

  @Test func `has room for two thousand records or eight megabytes, up to the last page`() throws {
    var batch = SyncBatch<Note>(from: start)
    #expect(batch.hasRoom)
    batch.add(try page(0..<1999), at: .day())
    #expect(batch.hasRoom)
    batch.add(try page(1999..<2000), at: .day())
    #expect(!batch.hasRoom)
    batch = SyncBatch(from: start)
    batch.add(try page(0..<1, next: nil), at: .day())
    #expect(!batch.hasRoom)
    // However few they are: large records would take the memory of all of them twice.
    batch = SyncBatch(from: start)
    let large = Note(1, String(repeating: "x", count: 5 << 20))
    for hasRoom in [true, false] {
      batch.add(
        Page(
          [try EncodedRecord(large, text: FoldedText(""))], next: .place(1),
          provenance: Provenance(.live)), at: .day())
      #expect(batch.hasRoom == hasRoom)
    }
  }
}
