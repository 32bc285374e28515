public import AggregatorKit

/// Products from the service of the nate challenge: pages by `skip` and `take`, sent with `POST`.
///
/// It has no total and no search.
public struct ProductsPlugin: Plugin {
  public let name = "products"

  public let summary = "products from many merchants"

  public let example = PluginExample(query: "lamp", id: "11dbe913-2187-4bbd-ad3b-fdc9fffef03e")

  /// The largest page to request; the service itself has no limit.
  private static let largestPage = 100

  public static let url = Setting(
    "PRODUCTS_URL", .url, default: "http://localhost:3000", about: "URL of the products service")

  public static let pageSize = Setting(
    "PRODUCTS_PAGE_SIZE", .count(1...largestPage), default: "100",
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

  public var layout: RecordLayout<Product> {
    RecordLayout(
      card: ["title", "merchant", "id", "url", "images", "createdAt", "updatedAt"], link: \.url,
      images: { product, _ in product.images })
  }

  /// The service has no search, so searches scan its pages.
  public let policy = Policy(
    largestPage: largestPage, syncPageSize: .setting(pageSize),
    localSearchBound: 1000)

  public let decoderVersion: String? = "1"

  public var bundled: any DataSource<Product> { Self.bundled }

  private static let bundled = BundledSource("products", json: bundledProducts, fields: fields)

  public init() {}

  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Product> {
    let (url, now) = (try environment.settings.url(Self.url), environment.now)
    let service = "the products service"
    var source = RESTSource<Product>(
      name, of: service, in: environment,
      list: HTTPRequest(
        posting: ["skip": 0, "take": 0], to: url.appending(path: "products/offset")),
      // Without a total: only an empty page is the last.
      paging: RESTPaging(
        .offset(.body(["skip"]), start: 0), size: (.body(["take"]), Self.largestPage),
        followsLimit: true, predictsCursors: true),
      decoding: ProductList.self
    ) { list in
      RESTResponse(list.rows, record: \.product)
    }
    .item { id throws(SourceError) in
      // The ID becomes part of a URL, so that others could request anything else. A list may have them all
      // the same, so this is not `notFound`: the cached record can be shown.
      guard id.wholeMatch(of: /[A-Za-z0-9._~-]{1,64}/) != nil, id != ".", id != ".." else {
        throw SourceError(
          .unsupported, "\(service) cannot look up the ID \"\(id.oneLine(atMost: 80))\"")
      }
      return HTTPRequest(.get, url.appending(path: "product").appending(component: id))
    } decoding: { response, _ throws(SourceError) in
      try response.decoded(as: SingleProduct.self, by: service).product
    }
    // It answers unknown IDs with an empty object: 404 is another service's.
    source.check = { response throws(SourceError) in
      _ = try response.checked(by: service, now: now())
    }
    return source
  }
}
