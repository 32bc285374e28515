public import AggregatorKit

/// Products from the service of the nate challenge.
public struct ProductsPlugin: Plugin {
  public let name = "products"

  public let summary = "products from many merchants"

  public let example = PluginExample(query: "lamp", id: "11dbe913-2187-4bbd-ad3b-fdc9fffef03e")

  public static let url = Setting(
    "PRODUCTS_URL", .url, default: "http://localhost:3000", about: "URL of the products service")

  public static let pageSize = Setting(
    "PRODUCTS_PAGE_SIZE", .count(1...ProductService.largestPage), default: "100",
    about: "page size of sync")

  public let settings = [url, pageSize]

  public var fields: [Field<Product>] { Self.fields }

  private static let fields: [Field<Product>] = [
    Field("id", "ID", \.id, about: "ID assigned by the service."),
    Field("title", "Title", \.title, about: "Name of the product.", isSearchable: true),
    Field("merchant", "Merchant", \.merchant, about: "Seller.", isSearchable: true),
    Field("url", "Page", \.url, about: "URL of the product page.", isShown: false),
    Field("images", "Images", \.images, about: "URLs of the images.", isShown: false),
    Field("createdAt", "Created", \.createdAt, about: "Date added.", isShown: false),
    Field("updatedAt", "Updated", \.updatedAt, about: "Date of the last change.", isShown: false),
  ]

  public var layout: Layout<Product> {
    Layout(
      card: ["title", "merchant", "id", "url", "images", "createdAt", "updatedAt"], link: \.url,
      images: { product, _ in product.images })
  }

  /// The service has no search, so searches scan its pages.
  public let policy = Policy(
    largestPage: ProductService.largestPage, syncPageSize: .setting(pageSize),
    localSearchBound: 1000)

  public var bundled: any DataSource<Product> { Self.bundled }

  private static let bundled = BundledSource("products", json: bundledProducts, fields: fields)

  public init() {}

  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Product> {
    ProductService(
      url: try environment.settings.url(Self.url), transport: environment.transport,
      now: environment.now)
  }
}
