import AggregatorKit
import ProductsSource
import Testing

@Suite struct BundledProductsTests {
  private let plugin = ProductsPlugin()

  private func all() async throws -> [Product] {
    try await plugin.bundled.page(PageRequest(limit: 10_000)).records
  }

  @Test func `has enough products of enough merchants`() async throws {
    let products = try await all()
    #expect(products.count >= 60)
    #expect(Set(products.map(\.id)).count == products.count)
    #expect(Set(products.compactMap(\.merchant)).count >= 10)
    #expect(
      products.allSatisfy {
        $0.id.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil
      })
    #expect(products.allSatisfy { $0.title != nil && $0.merchant != nil })
  }

  @Test func `has no price anywhere`() async throws {
    let price =
      /(?i)price|\bcosts?\b|[$€£¥₹]|\b(usd|eur|gbp)\b|\d+[.,]\d\d\b(?! ?(cm|mm|m|kg|g|l|ml|oz|in)\b)/
    for product in try await all() {
      let texts =
        [product.title, product.merchant, product.url].compactMap(\.self) + product.images
      #expect(texts.allSatisfy { $0.firstMatch(of: price) == nil }, "\(product)")
    }
    #expect(!plugin.fields.contains { $0.name.lowercased().contains("price") })
  }

  @Test func `has example addresses only`() async throws {
    for address in try await all().flatMap({ [$0.url].compactMap(\.self) + $0.images }) {
      #expect(address.firstMatch(of: /^https:\/\/[a-z0-9.-]+\.example(\/|$)/) != nil, "\(address)")
    }
  }

  @Test func `contains the examples of the help`() async throws {
    let query = try SearchQuery(plugin.example.query)
    let page = try await plugin.bundled.page(PageRequest(matching: query))
    #expect(!page.records.isEmpty)
    let found = try await plugin.bundled.item(plugin.example.id)
    #expect(found.provenance.origin == .bundled)
  }

  @Test func `shows only existing fields on a card`() {
    #expect(Set(plugin.fields.map(\.name)).count == plugin.fields.count)
    #expect(Set(plugin.layout.card).isSubset(of: plugin.fields.map(\.name)))
    #expect(plugin.layout.link?(Product(id: "x")) == .some(nil))
  }
}
