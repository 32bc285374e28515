public import AggregatorKit
import AggregatorTestSupport
import Foundation
import Synchronization

/// The products service of the nate challenge on 127.0.0.1.
///
/// Deinitialisation stops it.
public final class FakeProducts: FakeService {
  public let server: InterruptibleServer

  public init(
    _ products: [FakeProduct] = FakeProduct.catalog, era: ProductsEra = .products,
    quirks: Set<ProductsQuirk> = []
  ) throws(SourceError) {
    let responder = ProductsHandler(products, era: era, quirks: quirks)
    server = try InterruptibleServer { responder.reply(to: $0) }
  }

  /// The value for `PRODUCTS_URL`.
  public var url: URL { server.baseURL }

  public var settings: [String: String] { ["PRODUCTS_URL": url.absoluteString] }
}

/// An oddity of the products service.
public enum ProductsQuirk: CaseIterable, Sendable {
  /// Every list adds a product in front of all others.
  case growing
  /// Rows 2 to 4 of a list are unreadable: no ID, a number as ID, null.
  case badRows
  /// Always sends the first rows.
  case ignoresSkip
  /// Sends three rows more than requested.
  case generous
  /// Sends at most seven rows.
  case capped
  /// Returns the same product for every ID.
  case wrongProduct
}

/// The envelope of the rows, which changed over the years.
public enum ProductsEra: CaseIterable, Sendable {
  /// `{"products": […]}` and `{"product": {…}}`, since March 2022.
  case products
  /// `{"posts": […]}` and `{"post": {…}}`.
  case posts
  /// `[…]` and `{"post": {…}}`.
  case bare
}

/// Replies like Express and Prisma.
final class ProductsHandler: Sendable {
  private let products: [FakeProduct]
  private let era: ProductsEra
  private let quirks: Set<ProductsQuirk>
  /// The number of products added so far.
  private let newcomers = Mutex(0)

  init(_ products: [FakeProduct], era: ProductsEra, quirks: Set<ProductsQuirk>) {
    self.products = products
    self.era = era
    self.quirks = quirks
  }

  /// The reply to every caught exception.
  static let failure = LoopbackReply.json("{}", status: 500)

  func reply(to request: LoopbackRequest) -> LoopbackReply {
    if request.method == "POST", request.path == "/products/offset" { return list(request) }
    let prefix = "/product/"
    if request.method == "GET", request.path.hasPrefix(prefix) {
      let id = request.path.dropFirst(prefix.count)
      if !id.isEmpty, !id.contains("/"), let id = id.removingPercentEncoding { return single(id) }
    }
    return .status(
      404,
      """
      <!DOCTYPE html>
      <html lang="en"><head><title>Error</title></head>
      <body><pre>Cannot \(request.method) \(request.path)</pre></body></html>
      """, headers: [("Content-Type", "text/html; charset=utf-8")])
  }

  private func list(_ request: LoopbackRequest) -> LoopbackReply {
    // A body of another type is not parsed, so nothing is a number.
    guard request.header("content-type")?.hasPrefix("application/json") == true else {
      return Self.failure
    }
    let body: Body
    do {
      body = try JSONDecoder().decode(Body.self, from: request.body)
    } catch {
      return .html(title: "Error", status: 400)
    }
    guard let skip = body.skip?.integer, let take = body.take?.integer, skip >= 0 else {
      return Self.failure
    }
    let all = currentProducts()
    let start = quirks.contains(.ignoresSkip) ? 0 : skip
    var count = abs(take) + (quirks.contains(.generous) && take != 0 ? 3 : 0)
    if quirks.contains(.capped) { count = min(count, 7) }
    var rows = (take < 0 ? all.reversed() : all).dropFirst(start).prefix(count).map(\.json)
    if quirks.contains(.badRows), rows.count > 3 {
      rows[1...3] = [["title": "Nobody"], ["id": 7, "title": "Seven"], nil]
    }
    switch era {
    case .products: return Self.ok(["products": .array(rows)])
    case .posts: return Self.ok(["posts": .array(rows)])
    case .bare: return Self.ok(.array(rows))
    }
  }

  private func currentProducts() -> [FakeProduct] {
    guard quirks.contains(.growing) else { return products }
    let count = newcomers.withLock { count in
      defer { count += 1 }
      return count
    }
    return (0..<count).reversed().map { FakeProduct(100 + $0, "Newcomer") } + products
  }

  private func single(_ id: String) -> LoopbackReply {
    let match =
      quirks.contains(.wrongProduct)
      ? products.first : products.first { $0.id == .string(id) }
    let product = match?.json ?? [:]
    return Self.ok(era == .products ? ["product": product] : ["post": product])
  }

  private static func ok(_ body: JSON) -> LoopbackReply { .json(body.text) }

  private struct Body: Decodable {
    let skip: Number?
    let take: Number?
  }

  /// A value converted by JavaScript's `Number()`.
  private struct Number: Decodable {
    /// `nil` for NaN and fractions, which the database rejects.
    let integer: Int?

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      let number =
        (try? container.decode(Double.self))
        ?? (try? container.decode(String.self)).flatMap { Double($0) }
      integer = number.flatMap { Int(exactly: $0) }
    }
  }
}
