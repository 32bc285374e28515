public import AggregatorKit
public import AggregatorObservation
public import CountriesSource
public import Foundation
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

  /// The sources of the app, with its store and its images in the directory for caches.
  public static func ofApp() throws(SourceError) -> AppSources {
    let files = FileManager.default
    let parent = files.urls(for: .cachesDirectory, in: .userDomainMask).first
    let caches = (parent ?? files.temporaryDirectory).appending(path: "Screens")
    let environment = PluginEnvironment(
      settings: settings(), transport: HTTPTransport.standard,
      store: SQLiteStore(at: caches.appending(path: "store.sqlite")))
    return try AppSources(in: environment, cachingIn: caches.appending(path: "images"))
  }

  /// The settings that the app was built with: `COMIC_VINE_API_KEY` in the `Info.plist` is `$(COMIC_VINE_API_KEY)`, whose
  /// value is in an `.xcconfig` file that is not committed.
  public static func settings(of bundle: Bundle = .main) -> SourceSettings {
    let key = bundle.object(forInfoDictionaryKey: HeroesPlugin.key.key) as? String
    return SourceSettings(key.map { [HeroesPlugin.key: $0] } ?? [:])
  }

  /// Asks the services for their first pages, so that the app begins with fresh data, for at most the time that a background
  /// task has.
  public func refresh(within limit: Duration) async {
    let first = PageRequest(cachePolicy: .reload)
    async let heroes = try? heroes.timeout(limit).page(first)
    async let products = try? products.timeout(limit).page(first)
    _ = await (heroes, products)
  }

  /// Takes another key of Comic Vine: open lists load once more.
  public func changeKey(in environment: PluginEnvironment) throws(SourceError) {
    heroes.replace(with: try HeroesPlugin().source(in: environment))
  }
}

extension ThumbnailSize {
  /// The place of a portrait in a row, for a view with this `displayScale`.
  public static func portrait(at scale: Double) -> ThumbnailSize {
    ThumbnailSize(width: 44, height: 60, scale: scale, contentMode: .fill)
  }
}

extension PagedList {
  /// The text of a badge for data that stands in for that of the service; `nil` if the service was asked, or need not be.
  public var badge: String? {
    guard let provenance, let reason = provenance.reason else { return nil }
    var text = provenance.origin == .bundled ? "Sample data" : "Saved data"
    if provenance.origin == .cached, let age, age > .zero {
      text += ", \(age.formatted(.units(allowed: [.days, .hours, .minutes], width: .wide))) old"
    }
    return "\(text). \(reason.localizedDescription)"
  }
}
