import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorCommand

/// Where `next` goes on, and what a file says of it.
@Suite struct PlaceTests {
  /// Countries `c0`, `c1` … as many as there are at the time.
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

  /// Goes a way as `next` does.
  private func go(
    _ nextPageRequest: NextPageRequest, in source: some DataSource<Country>, limit: Int
  ) async throws -> (ids: [String], place: SessionPosition) {
    var page = ShownPage(from: nextPageRequest.start)
    var ids: [String] = []
    let walk = source.leavingOut(nextPageRequest.leftOut).pages(
      after: nextPageRequest.start, size: limit, upTo: PaginationBound(items: limit))
    for try await step in walk {
      page.add(step)
      ids += step.items.map(\.id)
    }
    return (ids, nextPageRequest.place(after: page, limit: limit))
  }

  @Test func `pages follow each other forwards and backwards`() async throws {
    let source = growing { 7 }
    let first = try await go(.beginning(of: nil), in: source, limit: 3)
    #expect(first.place.back == nil)
    let second = try await go(
      try #require(first.place.continuation(goesOnAfterEnd: false)), in: source, limit: 2)
    let third = try await go(
      try #require(second.place.continuation(goesOnAfterEnd: false)), in: source, limit: 3)
    #expect(
      [first.ids, second.ids, third.ids] == [["c0", "c1", "c2"], ["c3", "c4"], ["c5", "c6"]])
    #expect(third.place.continuation(goesOnAfterEnd: false) == nil)

    let back = try #require(third.place.back)
    #expect(back.limit == 2)
    let again = try await go(back, in: source, limit: 2)
    #expect(again.ids == second.ids)
    #expect(again.place == second.place)
    let start = try await go(try #require(again.place.back), in: source, limit: 3)
    #expect(start.ids == first.ids)
    #expect(start.place == first.place)
  }

  @Test func `a source that grows is asked on from the last request`() async throws {
    let count = Mutex(5)
    let source = growing { count.withLock { $0 } }
    let first = try await go(.beginning(of: nil), in: source, limit: 3)
    let second = try await go(
      try #require(first.place.continuation(goesOnAfterEnd: true)), in: source, limit: 3)
    #expect(second.ids == ["c3", "c4"])
    #expect(second.place.next == nil)

    // Nothing has come yet: the place is where it was.
    let none = try await go(
      try #require(second.place.continuation(goesOnAfterEnd: true)), in: source, limit: 3)
    #expect(none.ids == [])
    #expect(none.place == second.place)

    count.withLock { $0 = 9 }
    let nextPageRequest = try #require(none.place.continuation(goesOnAfterEnd: true))
    #expect(nextPageRequest.start == first.place.next)
    let third = try await go(nextPageRequest, in: source, limit: 3)
    #expect(third.ids == ["c5", "c6", "c7"])
    let back = try await go(try #require(third.place.back), in: source, limit: 3)
    // As many as were wanted then, and more of them are there now.
    #expect(back.ids == ["c3", "c4", "c5"])
  }

  @Test func `a page without records moves on, and is none to go back to`() async throws {
    let source = growing { 4 }
    let first = try await go(.beginning(of: nil), in: source, limit: 4)
    var empty = ShownPage(from: first.place.next)
    let nextPageRequest = try #require(first.place.continuation(goesOnAfterEnd: true))
    empty.add(
      try #require(
        await ScriptedSource<Country>(pages: [
          .success(Page([], next: Cursor("later"), provenance: Provenance(.live)))
        ]).pages().first { _ in true }))
    let place = nextPageRequest.place(after: empty, limit: 4)
    #expect(place.next == Cursor("later"))
    #expect(place.latest == first.place.latest)
    #expect(place.earlier.isEmpty)
  }

  @Test func `two hundred pages and ten thousand ids are remembered`() async throws {
    let source = growing { 60 * 220 }
    var place = try await go(.beginning(of: nil), in: source, limit: 60).place
    for _ in 1..<220 {
      place = try await go(
        try #require(place.continuation(goesOnAfterEnd: false)), in: source, limit: 60
      ).place
    }
    #expect(place.earlier.count == 200)
    #expect(place.ids.digests.count == 10_000)
    #expect(place.ids.digests.last == ShownIDs.digest(of: "c13199"))
    #expect(place.ids.digests.first == ShownIDs.digest(of: "c3200"))
    #expect(place.bytes.count < SessionPosition.largestFile)
    #expect(try SessionPosition(place.bytes) == place)
    var pages = 0
    while let nextPageRequest = place.back {
      place = try await go(nextPageRequest, in: source, limit: 60).place
      pages += 1
    }
    #expect(pages == 200)
    #expect(place.hasForgotten)
    #expect(place.latest.start != nil)
  }

  @Test func `a place is read as it was written`() async throws {
    let query = try Query("spider \u{1}\"man\" 日本")
    var page = ShownPage(from: nil)
    let source = growing { 30 }
    for try await step in source.pages(matching: query, size: 20, upTo: PaginationBound(items: 20))
    {
      page.add(step)
    }
    let place = NextPageRequest.beginning(of: query).place(after: page, limit: 20)
    #expect(try SessionPosition(place.bytes) == place)
    #expect(place.query == query)
    #expect(place.ids.digests.count == 20)
  }

  static let good =
    #"{"version":1,"query":"a b","next":"cA","latest":{"limit":20,"count":1},"earlier":[],"#
    + #""ids":"AAAAAAAAAAE="}"#

  @Test func `what is needed is little`() throws {
    let place = try SessionPosition(Array(Self.good.utf8))
    #expect(place.next == Cursor("cA"))
    #expect(place.query?.text == "a b")
    #expect(place.ids == ShownIDs([1]))
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
  func `what nobody wrote is damaged`(index: Int) {
    let (part, other) = Self.damages[index]
    let text = Self.good.replacing(part, with: other)
    #expect(text != Self.good)
    #expect(throws: SessionPosition.Fault.damaged) { try SessionPosition(Array(text.utf8)) }
  }

  @Test(arguments: [0, 2, -1]) func `another version is told apart`(version: Int) {
    #expect(throws: SessionPosition.Fault.otherVersion) {
      try SessionPosition(Array(#"{"version":\#(version),"what":"comes later"}"#.utf8))
    }
  }
}
