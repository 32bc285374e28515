import AggregatorKit

/// The products service of the nate challenge: pages by `skip` and `take`, sent with `POST`.
///
/// It has no total and no search. Servers up to February 2022 call the list `posts`, later ones
/// `products`, and the oldest send a bare array; all are in use.
struct ProductService: DataSource, CustomStringConvertible {
  /// The largest page to request; the service itself has no limit.
  static let largestPage = 100

  private static let service = "the products service"

  let url: URL
  let transport: any Transport
  let now: @Sendable () -> Date

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Product> {
    guard request.query == nil else {
      throw SourceError(.invalidRequest, "the products service has no search")
    }
    let skip = try seal.openOffset(request.cursor)
    let take = min(request.limit, Self.largestPage)
    let (reply, provenance) = try await ask(
      rows: \.rows.count,
      HTTPRequest(
        .post, url.appending(path: "products/offset"),
        headers: [.init("Content-Type", "application/json")],
        body: Data(#"{"skip":\#(skip),"take":\#(take)}"#.utf8)),
      as: ProductList.self)
    // Only an empty page is the last one: a service may send fewer rows than requested.
    let count = min(reply.rows.count, take)
    return Page(
      reply.rows.elements.prefix(take).map(\.product),
      next: count == 0 ? nil : try seal.close(skip + count),
      provenance: provenance, unreadable: reply.rows.unreadable)
  }

  func item(
    _ id: String, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Product> {
    // The ID becomes part of a URL, so that others could request anything else. A list may have them all
    // the same, so this is not `notFound`: the cached record can be shown.
    guard id.wholeMatch(of: /[A-Za-z0-9._~-]{1,64}/) != nil, id != ".", id != ".." else {
      throw SourceError(
        .unsupported, "\(Self.service) cannot look up the ID \"\(id.oneLine(atMost: 80))\"")
    }
    let (reply, provenance) = try await ask(
      HTTPRequest(.get, url.appending(path: "product").appending(component: id)),
      as: SingleProduct.self)
    guard let product = reply.product else { throw .notFound(id, in: "products") }
    guard product.id == id else {
      throw SourceError(.malformed, "\(Self.service) returned a different product than requested")
    }
    return LookupResult(product, provenance: provenance)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    request.query == nil ? seal.offset(skipping: count, from: request.cursor) : nil
  }

  var description: String { "ProductService(\(url.absoluteString))" }

  private var seal: CursorSeal { CursorSeal("products", for: nil) }

  /// - Parameter rows: The number of rows of a list; without any it may be an error with status 200.
  private func ask<Reply: Decodable>(
    rows: ((Reply) -> Int)? = nil, _ request: HTTPRequest, as type: Reply.Type
  ) async throws(SourceError) -> (Reply, Provenance) {
    let response = try await transport.send(request).checked(by: Self.service, now: now())
    let reply: Reply
    do throws(SourceError) { reply = try response.decoded(by: Self.service) } catch {
      throw response.reportedFailure(by: Self.service, hasRows: false) ?? error
    }
    if let rows, let failure = response.reportedFailure(by: Self.service, hasRows: rows(reply) > 0)
    {
      throw failure
    }
    return (reply, Provenance(.live, fetchedAt: now(), endpoint: request.endpoint))
  }
}

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

/// An unknown ID returns `{}` inside.
private struct SingleProduct: Decodable {
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
