import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import ProductsSource
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ProductChainTests {
  @Test func `falls back to bundled data when the connection is refused`() async throws {
    let port = try RefusingPort()
    let chain = try FakeProducts().chain(with: ["PRODUCTS_URL": port.baseURL.absoluteString])
    let page = try await chain.page(PageRequest(limit: 5))
    #expect(page.records.count == 5)
    #expect(page.provenance.origin == .bundled)
    #expect(page.provenance.reason?.code == .unreachable)
    let more = try await chain.page(PageRequest(after: page.next, limit: 5))
    #expect(more.provenance.origin == .bundled)
    #expect(Set(more.records.map(\.id)).isDisjoint(with: page.records.map(\.id)))
    let found = try await chain.item(ProductsPlugin().example.id)
    #expect(found.provenance.reason?.code == .unreachable)
  }

  @Test func `reports a refused connection, not an unknown ID`() async throws {
    let port = try RefusingPort()
    let chain = try FakeProducts().chain(with: ["PRODUCTS_URL": port.baseURL.absoluteString])
    let error = await #expect(throws: SourceError.self) { try await chain.item("unknown") }
    #expect(error?.code == .unreachable)
  }

  @Test func `retries a failed POST, which is idempotent`() async throws {
    let service = try FakeProducts()
    service.fail(with: .json("{}", status: 500), times: 2)
    let page = try await service.chain().page(PageRequest())
    #expect(page.provenance.origin == .live)
    #expect(service.requests.count == 3)
  }

  @Test func `falls back to bundled data when the service keeps failing`() async throws {
    let service = try FakeProducts()
    service.fail(with: .json("{}", status: 500))
    let page = try await service.chain().page(PageRequest())
    #expect(page.provenance.origin == .bundled)
    #expect(page.provenance.reason?.code == .serverError)
    #expect(service.requests.count == 3)
  }

  @Test func `does not fall back if the database is empty`() async throws {
    let service = try FakeProducts([])
    let page = try await service.chain().page(PageRequest())
    #expect(page.records.isEmpty)
    #expect(page.next == nil)
    #expect(page.provenance.origin == .live)
    #expect(page.provenance.reason == nil)
    #expect(service.requests.count == 1)
  }

  @Test func `does not look up unknown IDs in the bundled data`() async throws {
    let chain = try FakeProducts().chain()
    let example = ProductsPlugin().example.id
    let error = await #expect(throws: SourceError.self) { try await chain.item(example) }
    #expect(error?.code == .notFound)
  }

  @Test(arguments: [7, 20, 100])
  func `returns the products of the service, not the bundled ones`(size: Int) async throws {
    let walk = try await FakeProducts().chain().wholeWalk(size: size)
    #expect(walk.ids == (1...30).reversed().map(FakeProduct.id))
  }

  // MARK: - Search

  @Test(arguments: [
    ("LAMP", [24]), ("lumiere", [24]), ("Lumière lamp", [24]), ("brass™ //", [24]), ("CAFE", [23]),
    ("fanshop jersey", [30, 29]), ("mug No. 1", [10, 1]), ("lamp mug", []), ("cdn.example", []),
  ])
  func `finds by title and merchant, whatever the case and the accents`(
    query: String, numbers: [Int]
  ) async throws {
    let walk = try await FakeProducts().chain().wholeWalk(matching: query, size: 20)
    #expect(walk.ids == numbers.map(FakeProduct.id))
    #expect(walk.pages.map(\.total) == [numbers.count])
    #expect(walk.pages.allSatisfy { $0.warnings.isEmpty })
  }

  @Test func `scans 1000 products with a warning, and continues on demand`() async throws {
    let service = try FakeProducts(
      (0..<1250).reversed().map { FakeProduct($0, $0 == 3 ? "Needle" : "Hay") })
    let chain = try service.chain()
    let query = try SearchQuery("needle")
    let page = try await chain.page(PageRequest(matching: query, limit: 5))
    #expect(page.records.isEmpty)
    #expect(page.total == nil)
    #expect(page.warnings.map(\.message) == ["searched only the first 1,000 records"])
    #expect(service.requests.count == 10)
    let rest = try await chain.page(PageRequest(matching: query, after: page.next, limit: 5))
    #expect(rest.records.map(\.id) == [FakeProduct.id(3)])
    #expect(rest.next == nil)
    #expect(service.requests.count == 14)
  }
}
