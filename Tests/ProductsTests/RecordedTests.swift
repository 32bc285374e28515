import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import ProductsSource
import Testing

/// Replays recorded replies of the products service.
@Suite(.timeLimit(.minutes(10))) struct RecordedTests {
  private static let plugin = ProductsPlugin()
  private static let working = Fixture("working")
  private static let failing = Fixture("failing")
  private static let unknown = FakeProduct.id(404)

  /// Every third product: 30, 27, 24 and so on.
  private static let catalog = FakeProduct.catalog.enumerated()
    .filter { $0.offset.isMultiple(of: 3) }.map(\.element)

  private func chain(
    _ fixture: Fixture, _ cachePolicy: CachePolicy = .normal
  ) throws -> any DataSource<Product> {
    try Self.plugin.source(in: fixture.environment(for: Self.plugin)).cachePolicy(cachePolicy)
  }

  // MARK: - Recording

  @Test func `recording the service again changes nothing`() async throws {
    let service = try FakeProducts(Self.catalog)
    let files = try await Self.working.recordedAnew(from: service, for: Self.plugin) { products in
      for size in [1, 2, 7, 10, 20, 100] {
        _ = try await products.wholeWalk(size: size, upTo: PaginationBound(pages: 3))
      }
      for number in [30, 24] { _ = try await products.item(FakeProduct.id(number)) }
      _ = try? await products.item(Self.unknown)
    }
    #expect(try files == Self.working.files())
  }

  @Test func `recording a failure again changes nothing`() async throws {
    let service = try FakeProducts()
    // The service's reply to every internal error.
    service.fail(with: .json("{}", status: 500))
    let files = try await Self.failing.recordedAnew(from: service, for: Self.plugin) { products in
      _ = try? await products.page(PageRequest(limit: 20))
    }
    #expect(try files == Self.failing.files())
  }

  // MARK: - Replaying

  @Test func `lists`() async throws {
    let page = try await chain(Self.working).page(PageRequest(limit: 20))
    #expect(page.records.map(\.id) == [30, 27, 24, 21, 18, 15, 12, 9, 6, 3].map(FakeProduct.id))
    #expect(
      page.records.map(\.title) == [
        "Juan Soto Jersey | Home", nil, "Table Lamp // Brass™", "Toaster", "Poster", "Gloves",
        "Parka", "Mug No. 9", "Mug No. 6", "Mug No. 3",
      ])
    #expect(page.next != nil)
    #expect(page.unreadable == .none)
    #expect(page.provenance.origin == .live)
    #expect(page.provenance.endpoint == "http://localhost:3000/products/offset")
    let fetchedAt = try #require(page.provenance.fetchedAt)
    #expect(0..<30 ~= fetchedAt.timeIntervalSince(Fixture.date))
  }

  @Test func `lists page by page`() async throws {
    let walk = try await chain(Self.working).wholeWalk(size: 7)
    #expect(walk.pages.map(\.records.count) == [7, 3, 0])
    #expect(walk.end == .exhausted)
  }

  @Test func `searches`() async throws {
    let walk = try await chain(Self.working).wholeWalk(matching: "mug", size: 2)
    #expect(walk.ids == [9, 6, 3].map(FakeProduct.id))
    let lamp = try await chain(Self.working).page(
      PageRequest(matching: SearchQuery("lumiere"), limit: 5))
    #expect(lamp.records.map(\.id) == [FakeProduct.id(24)])
  }

  @Test func `shows`() async throws {
    let product = try await chain(Self.working).item(FakeProduct.id(24)).item
    #expect(product.merchant == "Lumière & Co")
    #expect(product.url == "https://shop.example/p")
    #expect(product.images == ["https://cdn.example/1.jpg"])
    #expect(product.createdAt == "2020-08-14T20:00:00.120Z")
  }

  @Test func `reports an unknown ID`() async throws {
    let error = await #expect(throws: SourceError.self) {
      try await chain(Self.working).item(Self.unknown)
    }
    #expect(error?.code == .notFound)
  }

  @Test func `keeps the laws`() async throws {
    var products = try LawSubject(
      remoteOf: Self.plugin, in: Self.working.environment(for: Self.plugin))
    products.sizes = [7, 20, 100]
    products.unknown = Self.unknown
    // These laws fetch more records and pages than were recorded.
    let others: Set = ["skip-consistent", "one-state", "merge-keeps"]
    let laws = Law.all.filter { !others.contains($0.name) }
    let report = await expectLaws(of: products, laws)
    #expect(
      report.notApplicable.map(\.law.name) == [
        "list-complete", "search-matches", "search-uses-words", "search-pages",
        "search-within-list", "search-complete", "fields-filled", "no-secret",
      ])
  }

  @Test func `reports the failure and the fallback`() async throws {
    let page = try await chain(Self.failing).page(PageRequest(limit: 20))
    #expect(page.provenance.origin == .bundled)
    #expect(page.provenance.reason?.code == .serverError)
    let error = await #expect(throws: SourceError.self) {
      try await chain(Self.failing, .noFallback).page(PageRequest(limit: 20))
    }
    #expect(error?.code == .serverError)
  }
}
