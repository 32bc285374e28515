public import AggregatorKit
public import AggregatorObservation
public import CountriesSource
public import HeroesSource
public import ProductsSource
public import UsersSource

/// The sources of the app: each chain is built once, and all screens share it.
public struct AppSources: Sendable {
  public let heroes: any DataSource<Hero>
  public let countries: any DataSource<Country>
  public let products: any DataSource<Product>
  public let users: any DataSource<User>

  public let heroImages: RecordImages<Hero>

  /// `nil` without a store.
  public let userRecords: RecordStore<User>?

  /// - Parameter caches: The directory of cached images; `nil` to cache them in memory only.
  public init(
    in environment: PluginEnvironment, cachingIn caches: URL? = nil
  ) throws(SourceError) {
    heroes = try HeroesPlugin().source(in: environment)
    heroImages = HeroesPlugin().images(
      in: environment, files: caches.map { ImageDiskCache(in: $0) })
    countries = try CountriesPlugin().source(in: environment)
    products = try ProductsPlugin().source(in: environment)
    let plugin = UsersPlugin()
    users = try plugin.source(in: environment)
    userRecords = environment.store.map { plugin.recordStore(in: $0) }
  }
}

extension Provenance {
  /// The text of a badge; `nil` for live data, which needs none.
  public var badge: String? {
    let text: String
    switch origin {
    case .live: return nil
    case .cached: text = "Saved data"
    case .bundled: text = "Sample data"
    }
    return reason.map { "\(text): \($0.message)" } ?? text
  }
}
