public import AggregatorKit

/// The products of the nate challenge's service.
public struct ProductsPlugin: Plugin {
  /// The name: `products`.
  public let name = "products"

  /// What there is.
  public let summary = "products of many merchants"

  /// A lamp, and a pad of the bundled data.
  public let example = PluginExample(query: "lamp", id: "11dbe913-2187-4bbd-ad3b-fdc9fffef03e")

  /// Where the service is.
  public static let address = Setting(
    "PRODUCTS_URL", .url, default: "http://localhost:3000", about: "where the products service is")

  /// How many products a sync asks for at a time.
  public static let pageSize = Setting(
    "PRODUCTS_PAGE_SIZE", .count(1...ProductService.largestPage), default: "100",
    about: "how many products sync asks for at a time")

  /// Address and page size.
  public let settings = [address, pageSize]

  /// What is known of a product.
  ///
  /// Titles and merchants are searchable.
  public let fields: [Field<Product>] = [
    Field("id", "Id", \.id, about: "The service's id."),
    Field("title", "Title", \.title, about: "What it is.", isSearchable: true),
    Field("merchant", "Merchant", \.merchant, about: "Who sells it.", isSearchable: true),
    Field("url", "Page", \.url, about: "The address of its page.", isShown: false),
    Field("images", "Images", \.images, about: "The addresses of its pictures.", isShown: false),
    Field("createdAt", "Created", \.createdAt, about: "When it was added.", isShown: false),
    Field("updatedAt", "Updated", \.updatedAt, about: "When it was changed last.", isShown: false),
  ]

  /// A table of titles; alone, a card of all that is known.
  public let layout = Layout<Product>(
    card: ["title", "merchant", "id", "url", "images", "createdAt", "updatedAt"], link: \.url,
    images: { product, _ in product.images })

  /// The service has no search, so a search reads through its pages.
  public let policy = Policy(
    largestPage: ProductService.largestPage, syncPageSize: .setting(pageSize),
    localSearchBound: 1000)

  /// The products in the binary.
  public let bundled: any DataSource<Product>

  /// The plugin.
  public init() {
    bundled = BundledSource("products", json: bundledProducts, fields: fields)
  }

  /// The service at `PRODUCTS_URL`.
  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Product> {
    ProductService(
      url: try environment.settings.url(Self.address), transport: environment.transport,
      now: environment.now)
  }
}
