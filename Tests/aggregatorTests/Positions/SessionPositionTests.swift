import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorQueries

/// The position at which `next` continues, and its file.
@Suite struct SessionPositionTests {
  /// Countries `c0`, `c1` …, as many as there are at the time of a request.
  private func growing(_ count: @escaping @Sendable () -> Int) -> some DataSource<Country> {
    ScriptedSource<Country>(page: { request throws(SourceError) in
      let seal = CursorSeal("growing", for: request.query)
      let start = try seal.openOffset(request.cursor)
      let end = min(start + request.limit, count())
      let records = (start..<max(start, end)).map { Country(id: "c\($0)") }
      return Page(
        records, next: end < count() ? try seal.close(end) : nil, provenance: Provenance(.live))
    })
  }

  /// Fetches a page as `next` does.
  private func go(
    _ nextPageRequest: NextRequest, in source: some DataSource<Country>, limit: Int
  ) async throws -> (ids: [String], position: SessionPosition) {
    var page = ShownRecords(from: nextPageRequest.start)
    var ids: [String] = []
    let walk = source.excluding(nextPageRequest.excluded).pages(
      after: nextPageRequest.start, size: limit, upTo: PaginationBound(items: limit))
    for try await step in walk {
      page.add(step)
      ids += step.items.map(\.id)
    }
    return (ids, nextPageRequest.position(after: page, limit: limit))
  }

  @Test func `pages forwards and backwards`() async throws {
    let source = growing { 7 }
    let first = try await go(.beginning(of: nil), in: source, limit: 3)
    #expect(first.position.back == nil)
    let second = try await go(
      try #require(first.position.continuation(goesOnAfterEnd: false)), in: source, limit: 2)
    let third = try await go(
      try #require(second.position.continuation(goesOnAfterEnd: false)), in: source, limit: 3)
    #expect(
      [first.ids, second.ids, third.ids] == [["c0", "c1", "c2"], ["c3", "c4"], ["c5", "c6"]])
    #expect(third.position.continuation(goesOnAfterEnd: false) == nil)

    let back = try #require(third.position.back)
    #expect(back.limit == 2)
    let again = try await go(back, in: source, limit: 2)
    #expect(again.ids == second.ids)
    #expect(again.position == second.position)
    let start = try await go(try #require(again.position.back), in: source, limit: 3)
    #expect(start.ids == first.ids)
    #expect(start.position == first.position)
  }

  @Test func `a growing source continues from the last request`() async throws {
    let count = Mutex(5)
    let source = growing { count.withLock { $0 } }
    let first = try await go(.beginning(of: nil), in: source, limit: 3)
    let second = try await go(
      try #require(first.position.continuation(goesOnAfterEnd: true)), in: source, limit: 3)
    #expect(second.ids == ["c3", "c4"])
    #expect(second.position.next == nil)

    // Nothing new yet: the position is unchanged.
    let none = try await go(
      try #require(second.position.continuation(goesOnAfterEnd: true)), in: source, limit: 3)
    #expect(none.ids == [])
    #expect(none.position == second.position)

    count.withLock { $0 = 9 }
    let nextPageRequest = try #require(none.position.continuation(goesOnAfterEnd: true))
    #expect(nextPageRequest.start == first.position.next)
    let third = try await go(nextPageRequest, in: source, limit: 3)
    #expect(third.ids == ["c5", "c6", "c7"])
    let back = try await go(try #require(third.position.back), in: source, limit: 3)
    // The same limit as before, with the records that are new since.
    #expect(back.ids == ["c3", "c4", "c5"])
  }

  @Test func `a page without records advances, and --back skips it`() async throws {
    let source = growing { 4 }
    let first = try await go(.beginning(of: nil), in: source, limit: 4)
    var empty = ShownRecords(from: first.position.next)
    let nextPageRequest = try #require(first.position.continuation(goesOnAfterEnd: true))
    empty.add(
      try #require(
        await ScriptedSource<Country>(pages: [
          .success(Page([], next: PageCursor("later"), provenance: Provenance(.live)))
        ]).pages().first { _ in true }))
    let position = nextPageRequest.position(after: empty, limit: 4)
    #expect(position.next == PageCursor("later"))
    #expect(position.latest == first.position.latest)
    #expect(position.earlier.isEmpty)
  }

  @Test func `remembers two hundred pages and ten thousand IDs`() async throws {
    let source = growing { 60 * 220 }
    var position = try await go(.beginning(of: nil), in: source, limit: 60).position
    for _ in 1..<220 {
      position = try await go(
        try #require(position.continuation(goesOnAfterEnd: false)), in: source, limit: 60
      ).position
    }
    #expect(position.earlier.count == 200)
    #expect(position.ids.digests.count == 10_000)
    #expect(position.ids.digests.last == ShownIDs.digest(of: "c13199"))
    #expect(position.ids.digests.first == ShownIDs.digest(of: "c3200"))
    #expect(position.bytes.count < SessionPosition.maxFileSize)
    #expect(try SessionPosition(position.bytes) == position)
    var pages = 0
    while let nextPageRequest = position.back {
      position = try await go(nextPageRequest, in: source, limit: 60).position
      pages += 1
    }
    #expect(pages == 200)
    #expect(position.isTruncated)
    #expect(position.latest.start != nil)
  }

  @Test func `reads the position that was written`() async throws {
    let query = try SearchQuery("spider \u{1}\"man\" 日本")
    var page = ShownRecords(from: nil)
    let source = growing { 30 }
    for try await step in source.pages(matching: query, size: 20, upTo: PaginationBound(items: 20))
    {
      page.add(step)
    }
    let position = NextRequest.beginning(of: query).position(after: page, limit: 20)
    #expect(try SessionPosition(position.bytes) == position)
    #expect(position.query == query)
    #expect(position.ids.digests.count == 20)
  }

  static let good =
    #"{"version":1,"query":"a b","next":"cA","latest":{"limit":20,"count":1},"earlier":[],"#
    + #""ids":"AAAAAAAAAAE="}"#

  @Test func `most members are optional`() throws {
    let position = try SessionPosition(Array(Self.good.utf8))
    #expect(position.next == PageCursor("cA"))
    #expect(position.query?.text == "a b")
    #expect(position.ids == ShownIDs([1]))
  }

  static let damages: [(String, String)] = [
    (good, ""), (good, "null"), (good, "[]"), (good, "{"), (good, "\u{0}"),
    (good, String(repeating: "[", count: 100_000)),
    (#""version":1"#, #""version":"1""#),
    (#""query":"a b""#, #""query":"""#), (#""query":"a b""#, #""query":" a b""#),
    (#""query":"a b""#, #""query":7"#),
    (#""next":"cA""#, #""next":"1A""#), (#""next":"cA""#, #""next":"c A""#),
    (#""next":"cA""#, #""next":"\#(String(repeating: "c", count: 513))""#),
    (#""limit":20"#, #""limit":0"#), (#""limit":20"#, #""limit":-1"#),
    (#""limit":20"#, #""limit":1000000001"#), (#""limit":20"#, #""limit":1e40"#),
    (#""count":1"#, #""count":-1"#), (#""count":1"#, #""count":1.5"#),
    (#""latest":{"limit":20,"count":1},"#, ""),
    (#""earlier":[]"#, #""earlier":[{"limit":20,"count":-7}]"#),
    (
      #""earlier":[]"#,
      #""earlier":[\#(Array(repeating: #"{"limit":1,"count":1}"#, count: 201).joined(separator: ","))]"#
    ),
    ("AAAAAAAAAAE=", "AAAA"), ("AAAAAAAAAAE=", "!"),
    ("AAAAAAAAAAE=", Data(count: 8 * 10_001).base64EncodedString()),
  ]

  @Test(arguments: damages.indices)
  func `rejects damaged files`(index: Int) {
    let (part, other) = Self.damages[index]
    let text = Self.good.replacing(part, with: other)
    #expect(text != Self.good)
    #expect(throws: SessionPosition.FormatError.damaged) { try SessionPosition(Array(text.utf8)) }
  }

  @Test(arguments: [0, 2, -1]) func `detects other versions`(version: Int) {
    #expect(throws: SessionPosition.FormatError.otherVersion) {
      try SessionPosition(Array(#"{"version":\#(version),"member":"of later versions"}"#.utf8))
    }
  }
}
