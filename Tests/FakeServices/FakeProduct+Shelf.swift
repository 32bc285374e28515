import AggregatorKit

extension FakeProduct {
  /// What two rows have instead of several addresses: all of them in one text.
  static let joinedImages = (1...9).map {
    "https://images.example/is/image/jacket_\($0)?wid=1200&hei=1200&fmt=jpeg&qlt=90,0"
  }.joined()

  /// 30 products with the oddities of the service's own, the newest first.
  public static let recordStore: [FakeProduct] =
    [
      FakeProduct(30, "Juan Soto Jersey | Home", merchant: "fanshop.example", url: soto),
      FakeProduct(29, "Juan Soto Jersey | Home", merchant: "fanshop.example", url: soto),
      FakeProduct(28, ""), FakeProduct(27, ""), FakeProduct(26, ""), FakeProduct(25, nil),
      FakeProduct(24, "Table Lamp // Brass™", merchant: "Lumière & Co"),
      FakeProduct(23, "Café Press", merchant: ""), FakeProduct(22, "Kettle", merchant: ""),
      FakeProduct(21, "Toaster", merchant: nil), FakeProduct(20, "Umbrella", url: ""),
      FakeProduct(19, "Raincoat", url: nil), FakeProduct(18, "Poster", images: []),
      FakeProduct(17, "Socks", images: ["", "https://cdn.example/socks.jpg"]),
      FakeProduct(16, "Scarf", images: ["none"]),
      FakeProduct(15, "Gloves", images: ["//cdn.example/gloves.jpg?v=15"]),
      FakeProduct(14, "Boots", images: ["http://cdn.example/boots.jpg"]),
      FakeProduct(13, "Jacket", images: [.string(joinedImages)]),
      FakeProduct(12, "Parka", images: [.string(joinedImages)]),
      FakeProduct(
        11, "Tent", images: .array((1...8).map { .string("http://cdn.example/tent-\($0).jpg") })),
    ] + (1...10).reversed().map { FakeProduct($0, .string("Mug No. \($0)")) }

  private static let soto: JSON = "https://fanshop.example/juan-soto-jersey"
}
