public import AggregatorKit

/// A product of the fake service of the nate challenge.
public struct FakeProduct: Sendable {
  /// Usually a UUID.
  public var id: JSON
  /// `null`, text, or an invalid value.
  public var title: JSON
  public var merchant: JSON
  public var url: JSON
  /// The URLs of its pictures, or an invalid value.
  public var images: JSON
  /// The creation time, in milliseconds after 2020-08-14 20:00.
  public var moment: Int

  /// - Parameter number: Determines the ID and the creation time: larger numbers are newer.
  public init(
    _ number: Int, _ title: JSON, merchant: JSON = "shop.example",
    url: JSON = "https://shop.example/p", images: JSON = ["https://cdn.example/1.jpg"]
  ) {
    id = .string(Self.id(number))
    self.title = title
    self.merchant = merchant
    self.url = url
    self.images = images
    moment = number * 5
  }

  /// A UUID of version 4.
  public static func id(_ number: Int) -> String {
    "00000000-0000-4000-8000-\(padded(number, 12))"
  }

  var json: JSON {
    let minute = Self.padded(moment / 60_000, 2)
    let second = Self.padded(moment / 1000 % 60, 2)
    let date = "2020-08-14T20:\(minute):\(second).\(Self.padded(moment % 1000, 3))Z"
    return [
      "id": id, "createdAt": .string(date), "updatedAt": .string(date), "title": title,
      "images": images, "url": url, "merchant": merchant,
    ]
  }

  private static func padded(_ number: Int, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}

extension FakeProduct {
  /// Several addresses in one text, as in two rows.
  static let joinedImages = (1...9).map {
    "https://images.example/is/image/jacket_\($0)?wid=1200&hei=1200&fmt=jpeg&qlt=90,0"
  }.joined()

  /// 30 products with the oddities of the real service, newest first.
  public static let catalog: [FakeProduct] =
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
