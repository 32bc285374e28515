import AggregatorKit

/// A page of products.
///
/// Servers up to February 2022 call the list `posts`, later ones `products`, and the oldest send a bare array;
/// all are in use.
struct ProductList: Decodable {
  let rows: LossyArray<Product.Wire>

  private enum CodingKeys: String, CodingKey { case products, posts }

  init(from decoder: any Decoder) throws {
    guard let container = try? decoder.container(keyedBy: CodingKeys.self) else {
      rows = try LossyArray(from: decoder)
      return
    }
    let key: CodingKeys = container.contains(.posts) ? .posts : .products
    rows = try container.decode(LossyArray<Product.Wire>.self, forKey: key)
  }
}

/// A product; an unknown ID returns `{}` inside.
struct SingleProduct: Decodable {
  let product: Product?

  private enum CodingKeys: String, CodingKey { case product, post }

  /// Accepts any key, to detect an empty object.
  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let key: CodingKeys = container.contains(.post) ? .post : .product
    let isEmpty = try container.nestedContainer(keyedBy: AnyKey.self, forKey: key).allKeys.isEmpty
    product = isEmpty ? nil : try container.decode(Product.Wire.self, forKey: key).product
  }
}
