public import AggregatorKit
import AggregatorSourceTesting
public import Foundation
import Synchronization

/// The products service of the nate challenge as it is, on 127.0.0.1.
///
/// It is stopped when nobody holds it any more.
public final class FakeProducts: FakeService {
  /// What answers.
  public let server: InterruptibleServer

  /// Starts the service.
  ///
  /// - Parameters:
  ///   - products: What it has, in its order.
  ///   - era: What it wraps around its rows.
  ///   - quirks: What is wrong with its lists.
  /// - Throws: ``SourceError`` with code `unreachable` if the system gives no socket.
  public init(
    _ products: [FakeProduct] = FakeProduct.recordStore, era: ProductsEra = .products,
    quirks: Set<ProductsQuirk> = []
  ) throws(SourceError) {
    let responder = ProductsHandler(products, era: era, quirks: quirks)
    server = try InterruptibleServer { responder.reply(to: $0) }
  }

  /// What `PRODUCTS_URL` has to be.
  public var url: URL { server.baseURL }

  /// The address.
  public var settings: [String: String] { ["PRODUCTS_URL": url.absoluteString] }
}

/// What can be wrong with the lists of the products service.
public enum ProductsQuirk: CaseIterable, Sendable {
  /// After every list a new product is there, in front of all others.
  case growing
  /// The second, third and fourth row of a list cannot be read: no id, a number for an id, null.
  case badRows
  /// Whatever is to be skipped, the first rows come.
  case ignoresSkip
  /// Sends three rows more than it was asked for.
  case generous
  /// A single product is always the same, whatever its id.
  case wrongProduct
}

/// What the service wraps around its rows: it changed over the years.
public enum ProductsEra: CaseIterable, Sendable {
  /// `{"products": […]}` and `{"product": {…}}`, since March 2022.
  case products
  /// `{"posts": […]}` and `{"post": {…}}`.
  case posts
  /// `[…]` and `{"post": {…}}`.
  case bare
}

/// Answers requests as Express and Prisma do.
final class ProductsHandler: Sendable {
  private let products: [FakeProduct]
  private let era: ProductsEra
  private let quirks: Set<ProductsQuirk>
  /// How many products have come while it ran.
  private let newcomers = Mutex(0)

  init(_ products: [FakeProduct], era: ProductsEra, quirks: Set<ProductsQuirk>) {
    self.products = products
    self.era = era
    self.quirks = quirks
  }

  /// What it says of everything that it catches.
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
    // A body of another type is not read, and then nothing is a number.
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
    let all = recordStore()
    let start = quirks.contains(.ignoresSkip) ? 0 : skip
    let count = abs(take) + (quirks.contains(.generous) && take != 0 ? 3 : 0)
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

  /// What is there now.
  private func recordStore() -> [FakeProduct] {
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

  /// What JavaScript's `Number()` makes of a value that is there.
  private struct Number: Decodable {
    /// `nil` for NaN and for what is not whole, which the database refuses.
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
