public import AggregatorKit
public import AggregatorObservation
public import CountriesSource
import Foundation
public import HeroesSource
public import ProductsSource
public import UsersSource

/// The sources of the app: each chain is built once, and all screens share it.
public struct AppSources: Sendable {
  public let heroes: ReplaceableSource<Hero>
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
    heroes = ReplaceableSource(try HeroesPlugin().source(in: environment))
    heroImages = HeroesPlugin().images(
      in: environment, files: caches.map { ImageDiskCache(in: $0) })
    countries = try CountriesPlugin().source(in: environment)
    products = try ProductsPlugin().source(in: environment)
    let plugin = UsersPlugin()
    users = try plugin.source(in: environment)
    userRecords = environment.store.map { plugin.recordStore(in: $0) }
  }

  /// Takes another key of Comic Vine: open lists load once more.
  public func changeKey(in environment: PluginEnvironment) throws(SourceError) {
    heroes.replace(with: try HeroesPlugin().source(in: environment))
  }
}

extension PagedList {
  /// The text of a badge; `nil` for live data, which needs none.
  public var badge: String? {
    guard let provenance, provenance.origin != .live else { return nil }
    var text = provenance.origin == .bundled ? "Sample data" : "Saved data"
    if provenance.origin == .cached, let age, age > .zero {
      text += ", \(age.formatted(.units(allowed: [.days, .hours, .minutes], width: .wide))) old"
    }
    return provenance.reason.map { "\(text). \($0.localizedDescription)" } ?? text
  }
}
