public import Core
public import Foundation
public import SourceTesting

/// The products service of the nate challenge as it is, on 127.0.0.1.
///
/// It is stopped when nobody holds it any more.
public final class FakeProducts: FakeService {
  private let server: LoopbackServer
  private let interruption = Interruption()

  /// Starts the service.
  ///
  /// - Parameters:
  ///   - products: What it has, in its order.
  ///   - era: What it wraps around its rows.
  ///   - quirks: What is wrong with its lists.
  /// - Throws: ``SourceError`` with code `unreachable` if the system gives no socket.
  public init(
    _ products: [FakeProduct] = FakeProduct.shelf, era: ProductsEra = .products,
    quirks: Set<ProductsQuirk> = []
  ) throws(SourceError) {
    let desk = ProductsDesk(products, era: era, quirks: quirks)
    server = try LoopbackServer { [interruption] request in
      interruption.next() ?? desk.reply(to: request)
    }
  }

  /// What `PRODUCTS_URL` has to be.
  public var url: URL { server.baseURL }

  /// The address.
  public var settings: [String: String] { ["PRODUCTS_URL": url.absoluteString] }

  /// The real transport, which keeps this service alive.
  public var transport: some Transport { KeepingTransport(service: self) }

  /// All requests so far.
  public var requests: [LoopbackRequest] { server.requests }

  /// Waits until so many requests have come.
  ///
  /// - Parameter count: How many.
  /// - Returns: All requests so far.
  public func requests(atLeast count: Int) async -> [LoopbackRequest] {
    await server.requests(atLeast: count)
  }

  /// Answers the next requests with something else, whatever they ask for.
  ///
  /// - Parameters:
  ///   - reply: What to answer.
  ///   - times: How many requests; all that come by default.
  ///   - count: How many are answered well before that.
  public func fail(with reply: LoopbackReply, times: Int = .max, after count: Int = 0) {
    interruption.begin(reply, times, after: count)
  }

  /// Answers well again.
  public func recover() { interruption.end() }

  /// Closes the port.
  public func stop() { server.stop() }
}
