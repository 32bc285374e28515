public import AggregatorKit

/// The four services, each with a server of its own, for the tests and previews of an app that has all sources.
///
/// ```swift
/// let services = try FakeServices(servesPictures: true)
/// let environment = PluginEnvironment(
///   settings: SourceSettings(services.settings), transport: services.transport,
///   store: InMemoryStore())
/// services.heroes.fail(with: ComicVineFault.broken.reply)
/// ```
///
/// Deinitialisation stops them.
public final class FakeServices: Sendable {
  public let countries: FakeCountries
  public let heroes: FakeComicVine
  public let products: FakeProducts
  public let users: FakeRandomUser

  /// - Parameter servesPictures: True if the services of heroes and users have their pictures; else these are at hosts that
  ///   do not exist.
  /// - Throws: `SourceError` with code `unreachable` if there is no free socket.
  public init(servesPictures: Bool = false) throws(SourceError) {
    countries = try FakeCountries()
    heroes = try FakeComicVine(servesPictures: servesPictures)
    products = try FakeProducts()
    users = try FakeRandomUser(servesPictures: servesPictures)
  }

  /// Settings with their URLs and the key, and without rate limits.
  public var settings: [String: String] {
    [countries.settings, heroes.settings, products.settings, users.settings].reduce(into: [:]) {
      $0.merge($1) { $1 }
    }
  }

  /// The real transport, which retains these services.
  public var transport: some Transport { KeepingTransport(service: self) }

  /// Closes all ports.
  public func stop() {
    countries.stop()
    heroes.stop()
    products.stop()
    users.stop()
  }
}
