public import AggregatorKit
import AggregatorSourceTesting
public import Foundation

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
