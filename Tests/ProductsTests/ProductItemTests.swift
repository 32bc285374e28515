import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import ProductsSource
import Testing

@Suite(.timeLimit(.minutes(5)))
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
  func `takes an empty object for unknown`(era: ProductsEra) async throws {
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
    "a\0", "é", ";", "a.b", String(repeating: "a", count: 10_000),
  ])
  func `never asks for what is no id`(id: String) async throws {
    let service = try FakeProducts()
    let products = try service.products()
    let error = await #expect(throws: SourceError.self) { try await products.item(id) }
    #expect(error?.code == .notFound)
    #expect(service.requests.isEmpty)
    #expect(error.map { $0.message.count < 150 } == true)
  }

  @Test func `does not take another product for the one asked for`() async throws {
    let products = try FakeProducts(quirks: [.wrongProduct]).products()
    let error = await #expect(throws: SourceError.self) {
      try await products.item(FakeProduct.id(1))
    }
    #expect(error?.code == .malformed)
  }
}
