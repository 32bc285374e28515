import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import ProductsSource
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ProductCursorTests {
  @Test(arguments: [1, 7, 20, 29])
  func `skips to the same cursor that a full page returns`(limit: Int) async throws {
    let products = try FakeProducts().products()
    var request = PageRequest(limit: limit)
    for _ in 1...3 {
      let page = try await products.page(request)
      guard let next = page.next, page.records.count == limit else { break }
      #expect(products.cursor(skipping: limit, from: request) == next)
      request = request.after(next)
    }
    #expect(request.cursor != nil)
  }

  @Test func `skips to a position that no page returned`() async throws {
    let products = try FakeProducts().products()
    let cursor = try #require(products.cursor(skipping: 25, from: PageRequest()))
    let page = try await products.page(PageRequest(after: cursor, limit: 3))
    #expect(page.records.map(\.id) == [5, 4, 3].map(FakeProduct.id))
  }

  @Test func `does not skip to impossible pages`() throws {
    let products = try FakeProducts().products()
    #expect(
      products.cursor(skipping: 20, from: PageRequest(matching: try SearchQuery("lamp"))) == nil)
    let start = products.cursor(skipping: 1, from: PageRequest())
    #expect(products.cursor(skipping: .max, from: PageRequest(after: start)) == nil)
    #expect(products.cursor(skipping: 1, from: PageRequest(after: try Self.seal.close(-5))) == nil)
  }

  private static let seal = CursorSeal("products", for: nil)

  private static let strangers: [PageCursor?] = [
    try? seal.close(-1), try? seal.close(Int.max), try? seal.close(1_000_000_001),
    try? seal.close("20"), try? seal.close(1.5), try? seal.close([20]),
    try? CursorSeal("users", for: nil).close(20),
    try? CursorSeal("products.bundled", for: nil).close(20),
    (try? SearchQuery("lamp")).flatMap { try? CursorSeal("products", for: $0).close(20) },
    PageCursor("x"), PageCursor("ok.x"), PageCursor("cMjA.000000000"),
  ]

  @Test(arguments: strangers)
  func `rejects foreign cursors`(cursor: PageCursor?) async throws {
    let cursor = try #require(cursor)
    let service = try FakeProducts()
    let products = try service.products()
    let error = await #expect(throws: SourceError.self) {
      try await products.page(PageRequest(after: cursor))
    }
    #expect(error?.code == .invalidCursor)
    #expect(service.requests.isEmpty)
  }

  @Test func `accepts its own cursors in another process`() async throws {
    let next = try await FakeProducts().products().page(PageRequest(limit: 28)).next
    let cursor = try #require(next.flatMap { PageCursor($0.description) })
    let page = try await FakeProducts().products().page(PageRequest(after: cursor, limit: 28))
    #expect(page.records.map(\.id) == [2, 1].map(FakeProduct.id))
  }
}
