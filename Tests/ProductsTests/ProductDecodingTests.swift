import AggregatorFakeServices
import AggregatorKit
import Testing

@testable import ProductsSource

@Suite(.timeLimit(.minutes(10)))
struct ProductDecodingTests {
  private func read(_ product: FakeProduct) async throws -> Product {
    let page = try await FakeProducts([product]).products().page(PageRequest())
    #expect(page.unreadable == .none)
    return try #require(page.records.first)
  }

  @Test func `reads all that is known`() async throws {
    let product = try await read(
      FakeProduct(
        5, "Mug | “Noon” // 2™", merchant: "Café & Co", url: "https://shop.example/mug?a=1&b=2",
        images: ["https://cdn.example/a.jpg", "http://cdn.example/b.jpg"]))
    #expect(product.id == FakeProduct.id(5))
    #expect(product.title == "Mug | “Noon” // 2™")
    #expect(product.merchant == "Café & Co")
    #expect(product.url == "https://shop.example/mug?a=1&b=2")
    #expect(product.images == ["https://cdn.example/a.jpg", "http://cdn.example/b.jpg"])
    #expect(product.createdAt == "2020-08-14T20:00:00.025Z")
    #expect(product.updatedAt == product.createdAt)
  }

  @Test(arguments: [JSON.null, "", "  \n", .number(7.5), [], [:], true])
  func `treats null, empty and other values as unknown`(value: JSON) async throws {
    let product = try await read(FakeProduct(5, value, merchant: value, url: value, images: value))
    #expect(product == Product(id: FakeProduct.id(5)).created(like: product))
  }

  @Test func `reads a whole number as text`() async throws {
    let product = try await read(FakeProduct(5, 501, merchant: 7, url: 7, images: [7]))
    #expect(product.title == "501")
    #expect(product.merchant == "7")
    #expect(product.url == nil)
    #expect(product.images.isEmpty)
  }

  @Test(arguments: [
    "none", "javascript:alert(1)", "shop.example/mug", "/mug", "https://", "ftp://a.example/",
  ])
  func `ignores invalid addresses`(url: String) async throws {
    #expect(try await read(FakeProduct(5, "Mug", url: .string(url))).url == nil)
  }

  @Test(arguments: [
    ("", []), ("none", []), ("   ", []), ("https://", []), ("//", []),
    ("data:image/png;base64,AAAA", []),
    ("https://cdn.example/a.jpg", ["https://cdn.example/a.jpg"]),
    ("HTTPS://CDN.example/a.jpg", ["HTTPS://CDN.example/a.jpg"]),
    (" https://cdn.example/a.jpg\n", ["https://cdn.example/a.jpg"]),
    ("//cdn.example/a.jpg?v=1", ["https://cdn.example/a.jpg?v=1"]),
    (
      "//cdn.example/a.jpghttp://cdn.example/b.jpg",
      ["https://cdn.example/a.jpg", "http://cdn.example/b.jpg"]
    ),
    (
      "https://a.example/1.jpghttps://a.example/2.jpg?x=1,0http://b.example/3",
      ["https://a.example/1.jpg", "https://a.example/2.jpg?x=1,0", "http://b.example/3"]
    ),
    (
      "https://a.example/1.jpg, https://a.example/2.jpg",
      ["https://a.example/1.jpg", "https://a.example/2.jpg"]
    ),
    (
      "https://proxy.example/?url=https://a.example/1.jpg",
      ["https://proxy.example/?url=https://a.example/1.jpg"]
    ),
    (
      "https://archive.example/2020/https://a.example/1.jpg",
      ["https://archive.example/2020/https://a.example/1.jpg"]
    ),
    ("nonehttps://a.example/1.jpg", ["https://a.example/1.jpg"]),
  ])
  func `extracts the addresses of pictures`(
    text: String, images: [String]
  ) async throws {
    let product = try await read(FakeProduct(5, "Mug", images: [.string(text)]))
    #expect(product.images == images)
  }

  @Test func `keeps valid pictures beside invalid ones`() async throws {
    let images: JSON = ["", nil, 7, "https://a.example/1.jpg", ["x"], "none", "//a.example/2.jpg"]
    let product = try await read(FakeProduct(5, "Mug", images: images))
    #expect(product.images == ["https://a.example/1.jpg", "https://a.example/2.jpg"])
  }

  @Test func `reads the service's own oddities`() async throws {
    let page = try await FakeProducts().products().page(PageRequest(limit: 100))
    func count(_ isOdd: (Product) -> Bool) -> Int { page.records.count(where: isOdd) }
    #expect(count { $0.title == nil } == 4)
    #expect(count { $0.merchant == nil } == 3)
    #expect(count { $0.url == nil } == 2)
    #expect(count { $0.images.isEmpty } == 2)
    #expect(count { $0.images.count == 8 } == 1)
    #expect(count { $0.images.count == 9 } == 2)
  }

  @Test func `drops a row without an id`() async throws {
    var product = FakeProduct(5, "Mug")
    product.id = ""
    let page = try await FakeProducts([product]).products().page(PageRequest())
    #expect(page.records.isEmpty)
    #expect(page.unreadable.count == 1)
  }
}

extension Product {
  /// This product with the dates of another.
  fileprivate func created(like other: Product) -> Product {
    var product = self
    (product.createdAt, product.updatedAt) = (other.createdAt, other.updatedAt)
    return product
  }
}

@Suite struct ProductImageTests {
  @Test func `the first good address is the image`() async throws {
    let service = try FakeProducts()
    let plugin = ProductsPlugin()
    let settings = SourceSettings(service.settings)
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
          of: product, .small, in: SourceSettings([ProductsPlugin.url: "https://products.example"]))
      })
    #expect(try plugin.imageAddress(of: product, .small, in: SourceSettings()) != nil)
  }
}
