import AggregatorKit
import Testing

/// Pages by number, for a caller whose limit changes.
@Suite struct PagePositionTests {
  private let seal = CursorSeal("notes", for: nil)

  /// The numbers from 1 to `total` in pages of `limits`, as a service with pages of `largest` has them.
  private func walk(_ total: Int, limits: [Int], largest: Int) throws -> [Int] {
    var read: [Int] = []
    var cursor: Cursor?
    for limit in limits {
      let first = PagePosition(size: limit, largest: largest)
      let position = try first.opening(cursor, with: seal)
      let rows = (1...total).dropFirst((position.number - 1) * position.size).prefix(position.size)
      let records = Array(rows).dropFirst(position.skip).prefix(limit)
      read += records
      let next = position.next(
        after: records.endIndex, of: rows.count, isLast: rows.last ?? total == total)
      guard let next else { return read }
      cursor = try seal.close(next)
    }
    return read
  }

  @Test(arguments: [
    [10, 10, 10, 10, 10], [7, 3, 5, 100, 100, 100, 100, 100, 100], Array(repeating: 1, count: 99),
    [100, 100, 100], [3, 100, 1, 100, 1] + Array(repeating: 100, count: 20),
  ])
  func `reads every record once, whatever the limits`(limits: [Int]) throws {
    #expect(try walk(25, limits: limits, largest: 10) == Array(1...25))
  }

  @Test func `counts in pages of the size that the service used`() throws {
    let first = PagePosition(size: 50, largest: 100)
    let next = try #require(first.next(after: 20, of: 20, size: 20, isLast: false))
    #expect((next.number, next.size, next.skip) == (2, 20, 0))
    #expect(
      try PagePosition(size: 5, largest: 100).opening(seal.close(next), with: seal).size == 20)
  }

  @Test func `skips to the position that pages return`() throws {
    let first = PagePosition(size: 10, largest: 10)
    let part = try #require(first.next(after: 4, of: 10, isLast: false))
    let second = try #require(part.next(after: 10, of: 10, isLast: false))
    #expect(first.skipping(4) == part)
    #expect(first.skipping(10) == second)
    #expect(part.skipping(6) == second)
    #expect(part.skipping(.max) == nil)
  }

  @Test func `ends where the service refuses further pages`() throws {
    let first = PagePosition(size: 10, largest: 10, deepest: 25)
    let third = try #require(first.skipping(29))
    #expect(third.number == 3)
    #expect(third.next(after: 10, of: 10, isLast: false) == nil)
    #expect(first.skipping(30) == nil)
  }

  private struct Forged: Encodable { let p, n, s: Int }

  @Test(arguments: [
    (0, 10, 0), (-1, 10, 0), (.max, 10, 0), (1, 0, 0), (1, 11, 0), (1, -1, 0), (1, 10, -1),
    (1, 10, .max), (4, 10, 0), (.max, .max, .max), (.min, .min, .min),
  ])
  func `rejects forged positions`(page: Int, size: Int, skip: Int) throws {
    let cursor = try seal.close(Forged(p: page, n: size, s: skip))
    let error = #expect(throws: SourceError.self) {
      try PagePosition(size: 10, largest: 10, deepest: 30).opening(cursor, with: seal)
    }
    #expect(error?.code == .invalidCursor)
  }
}
