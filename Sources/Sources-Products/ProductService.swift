import Core
import Foundation

/// The products service of the nate challenge: pages by `skip` and `take`, sent with `POST`.
///
/// It has no total and no search. Servers up to February 2022 call the list `posts`, later ones
/// `products`, and the oldest send it bare; all are in use.
struct ProductService: DataSource, CustomStringConvertible {
  private static let service = "the products service"

  let url: URL
  let transport: any Transport
  let now: @Sendable () -> Date

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Product> {
    guard request.query == nil else {
      throw SourceError(.badUsage, "the products service has no search of its own")
    }
    let seal = CursorSeal("products", for: nil)
    let skip = try seal.open(request.cursor, as: Int.self) ?? 0
    guard skip >= 0 else { throw .damaged(request.cursor) }
    let take = request.limit
    let (reply, provenance) = try await ask(
      HTTPRequest(
        .post, url.appending(path: "products/offset"),
        headers: [.init("Content-Type", "application/json")],
        body: Data(#"{"skip":\#(skip),"take":\#(take)}"#.utf8)),
      as: ProductList.self)
    let (end, overflow) = skip.addingReportingOverflow(take)
    // A short page is the last one, and so is an empty one.
    let isLast = reply.rows.count < take || overflow
    return Page(
      reply.rows.elements.prefix(take).map(\.product), next: isLast ? nil : try seal.close(end),
      provenance: provenance, unreadable: reply.rows.unreadable)
  }

  func item(_ id: String) async throws(SourceError) -> Found<Product> {
    // An id is a part of an address here: what is none must not ask for something else.
    guard id.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil else { throw .notFound(id, in: "products") }
    let (reply, provenance) = try await ask(
      HTTPRequest(.get, url.appending(path: "product").appending(component: id)),
      as: SingleProduct.self)
    guard let product = reply.product else { throw .notFound(id, in: "products") }
    return Found(product, provenance: provenance)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    let seal = CursorSeal("products", for: nil)
    guard request.query == nil, let skip = try? seal.open(request.cursor, as: Int.self) ?? 0 else {
      return nil
    }
    let (sum, overflow) = skip.addingReportingOverflow(count)
    return overflow ? nil : try? seal.close(sum)
  }

  var description: String { "ProductService(\(url.absoluteString))" }

  private func ask<Reply: Decodable>(
    _ request: HTTPRequest, as type: Reply.Type
  ) async throws(SourceError) -> (Reply, Provenance) {
    let response = try await transport.send(request).checked(by: Self.service, now: now())
    let reply: Reply = try response.decoded(by: Self.service)
    return (reply, Provenance(.live, fetchedAt: now(), endpoint: request.endpoint))
  }
}

/// `{"products": […]}`, `{"posts": […]}` or `[…]`.
private struct ProductList: Decodable {
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

/// `{"product": {…}}` or `{"post": {…}}`, with `{}` inside for an unknown id.
private struct SingleProduct: Decodable {
  let product: Product?

  private enum CodingKeys: String, CodingKey { case product, post }

  /// No key is wanted: it only tells whether there is any.
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
