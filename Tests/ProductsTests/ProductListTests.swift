import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import ProductsSource
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ProductListTests {
  private static let everything = (1...30).reversed().map(FakeProduct.id)

  @Test(arguments: [(1, 31), (7, 6), (10, 4), (20, 3), (29, 3), (30, 2), (31, 2), (1000, 2)])
  func `returns everything once, up to an empty page`(
    size: Int, requests: Int
  ) async throws {
    let service = try FakeProducts()
    let walk = try await service.products().wholeWalk(size: size)
    #expect(walk.ids == Self.everything)
    #expect(walk.end == .exhausted)
    #expect(service.requests.count == requests)
    #expect(walk.pages.allSatisfy { $0.total == nil && $0.unreadable == .none })
  }

  @Test(arguments: [1, 7, 8, 100])
  func `returns everything if the service sends fewer rows than requested`(size: Int) async throws {
    let walk = try await FakeProducts(quirks: [.capped]).products().wholeWalk(size: size)
    #expect(walk.ids == Self.everything)
    #expect(walk.end == .exhausted)
  }

  @Test(arguments: ProductsEra.allCases)
  func `reads the lists of every version of the service`(era: ProductsEra) async throws {
    let walk = try await FakeProducts(era: era).products().wholeWalk(size: 20)
    #expect(walk.ids == Self.everything)
  }

  @Test func `posts skip and take as JSON, in one request`() async throws {
    let service = try FakeProducts()
    let page = try await service.products().page(PageRequest(limit: 20))
    _ = try await service.products().page(PageRequest(after: page.next, limit: 5))
    #expect(service.requests.map(\.method) == ["POST", "POST"])
    #expect(service.requests.map(\.path) == ["/products/offset", "/products/offset"])
    #expect(
      service.requests.map { $0.header("content-type") }
        == Array(repeating: "application/json", count: 2))
    #expect(
      service.requests.map { String(decoding: $0.body, as: UTF8.self) } == [
        #"{"skip":0,"take":20}"#, #"{"skip":20,"take":5}"#,
      ])
  }

  @Test func `requests at most 100 rows, although the service has no limit`() async throws {
    let service = try FakeProducts((0..<250).reversed().map { FakeProduct($0, "Mug") })
    let walk = try await service.products().wholeWalk(size: 100_000)
    #expect(walk.pages.map(\.records.count) == [100, 100, 50, 0])
    #expect(Set(walk.ids).count == 250)
    #expect(
      service.requests.allSatisfy {
        String(decoding: $0.body, as: UTF8.self).hasSuffix(#","take":100}"#)
      })
  }

  @Test func `reports endpoint and date`() async throws {
    let service = try FakeProducts()
    let page = try await service.products().page(PageRequest())
    #expect(page.provenance.origin == .live)
    #expect(page.provenance.fetchedAt == Fixture.date)
    #expect(page.provenance.endpoint == "\(service.url)/products/offset")
  }

  @Test(arguments: ["/", "/shop", "/shop/"])
  func `accepts an address with a path or a trailing slash`(suffix: String) async throws {
    let service = try FakeProducts()
    service.fail(with: .json(#"{"products":[]}"#))
    let environment = service.environment(with: ["PRODUCTS_URL": "\(service.url)\(suffix)"])
    _ = try await ProductsPlugin().remote(in: environment).page(PageRequest())
    let prefix = suffix == "/" ? "" : "/shop"
    #expect(service.requests.map(\.path) == ["\(prefix)/products/offset"])
  }

  @Test func `keeps two products that differ only in their IDs`() async throws {
    let page = try await FakeProducts().products().page(PageRequest(limit: 2))
    #expect(page.records.map(\.title) == ["Juan Soto Jersey | Home", "Juan Soto Jersey | Home"])
    #expect(page.records.map(\.id) == [FakeProduct.id(30), FakeProduct.id(29)])
  }

  @Test func `accepts an empty list`() async throws {
    let service = try FakeProducts([])
    let page = try await service.products().page(PageRequest())
    #expect(page.records.isEmpty)
    #expect(page.next == nil)
    #expect(page.provenance.origin == .live)
  }

  // MARK: - Faults in lists

  @Test func `returns products once when new ones shift the pages`() async throws {
    let walk = try await FakeProducts(quirks: [.growing]).products().wholeWalk(size: 10)
    #expect(walk.pages.map(\.records.count) == [10, 10, 10, 3, 1, 1, 1])
    #expect(walk.ids == Self.everything)
  }

  @Test func `drops rows that cannot be read, and counts them`() async throws {
    let walk = try await FakeProducts(quirks: [.badRows]).products().wholeWalk(size: 20)
    #expect(walk.pages.map(\.unreadable.count) == [3, 3, 0])
    #expect(walk.pages.first?.unreadable.firstReason == "row 2: id is missing")
    #expect(walk.ids.count == 24)
    #expect(walk.end == .exhausted)
  }

  @Test func `continues after a full page with unreadable rows`() async throws {
    let page = try await FakeProducts(quirks: [.badRows]).products().page(PageRequest(limit: 20))
    #expect(page.records.count == 17)
    #expect(page.next != nil)
  }

  @Test func `returns at most the limit`() async throws {
    let walk = try await FakeProducts(quirks: [.generous]).products().wholeWalk(size: 7)
    #expect(walk.ids == Self.everything)
    #expect(walk.pages.allSatisfy { $0.records.count <= 7 })
  }

  @Test func `ends pagination if the service ignores skip`() async throws {
    let service = try FakeProducts(quirks: [.ignoresSkip])
    let walk = try await service.products().wholeWalk(size: 10)
    #expect(walk.end == .nothingNew(pages: 3))
    #expect(walk.ids == Array(Self.everything.prefix(10)))
    #expect(service.requests.count == 4)
  }
}

@Suite(.timeLimit(.minutes(10)))
struct ProductItemTests {
  @Test(arguments: ProductsEra.allCases)
  func `finds one product by its id, in one request`(era: ProductsEra) async throws {
    let service = try FakeProducts(era: era)
    let found = try await service.products().item(FakeProduct.id(24))
    #expect(found.item.title == "Table Lamp // Brass™")
    #expect(found.provenance.origin == .live)
    #expect(service.requests.map(\.method) == ["GET"])
    #expect(service.requests.map(\.path) == ["/product/\(FakeProduct.id(24))"])
  }

  @Test(arguments: ProductsEra.allCases)
  func `reports an empty object as an unknown ID`(era: ProductsEra) async throws {
    let service = try FakeProducts(era: era)
    let products = try service.products()
    let error = await #expect(throws: SourceError.self) {
      try await products.item(FakeProduct.id(99))
    }
    #expect(error?.code == .notFound)
    #expect(error?.message.contains(FakeProduct.id(99)) == true)
    #expect(service.requests.count == 1)
  }

  @Test(arguments: [
    "", " ", "..", "../x", "../products/offset", "%2e%2e", "%2F", "a/b", "?", "a?b", "a#b", "a b",
    "a\r\nb",
    "a\0", "é", ";", ".", String(repeating: "a", count: 10_000),
  ])
  func `sends no request for an ID that could request anything else`(id: String) async throws {
    let service = try FakeProducts()
    let products = try service.products()
    let error = await #expect(throws: SourceError.self) { try await products.item(id) }
    #expect(error?.code == .unsupported)
    #expect(service.requests.isEmpty)
    #expect(error.map { $0.message.count < 150 } == true)
  }

  @Test(arguments: ["abc.def", "...", "~a", "a_b-c", ".hidden"])
  func `finds a listed product with punctuation in its ID`(id: String) async throws {
    var product = FakeProduct(1, "Lamp")
    product.id = .string(id)
    let products = try FakeProducts([product]).products()
    #expect(try await products.page(PageRequest()).records.map(\.id) == [id])
    #expect(try await products.item(id).item.title == "Lamp")
  }

  @Test func `rejects a product with another ID`() async throws {
    let products = try FakeProducts(quirks: [.wrongProduct]).products()
    let error = await #expect(throws: SourceError.self) {
      try await products.item(FakeProduct.id(1))
    }
    #expect(error?.code == .malformed)
  }
}
