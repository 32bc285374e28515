import AggregatorFakeServices
import AggregatorKit
import Testing

@testable import ProductsSource

@Suite struct ProductImageTests {
  @Test func `the first good address is the image`() async throws {
    let service = try FakeProducts()
    let plugin = ProductsPlugin()
    let settings = Settings(service.settings)
    let source = try plugin.remote(
      in: PluginEnvironment(settings: settings, transport: service.transport))
    var addresses: [String?] = []
    for number in 12...18 {
      let product = try await source.item(FakeProduct.id(number)).item
      addresses.append(
        try plugin.imageAddress(of: product, .medium, in: settings)?.description)
    }
    #expect(
      addresses == [
        "https://images.example/is/image/jacket_1?wid=1200&hei=1200&fmt=jpeg&qlt=90,0",
        "https://images.example/is/image/jacket_1?wid=1200&hei=1200&fmt=jpeg&qlt=90,0",
        "http://cdn.example/boots.jpg", "https://cdn.example/gloves.jpg?v=15", nil,
        "https://cdn.example/socks.jpg", nil,
      ])
  }

  @Test func `a public service names no image of this machine`() throws {
    var product = Product(id: "1")
    product.images = ["http://localhost:6379/"]
    let plugin = ProductsPlugin()
    #expect(
      throws: SourceError.self,
      performing: {
        try plugin.imageAddress(
          of: product, .small, in: Settings(["PRODUCTS_URL": "https://products.example"]))
      })
    #expect(try plugin.imageAddress(of: product, .small, in: Settings()) != nil)
  }
}
