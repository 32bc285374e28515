public import AggregatorKit

/// Goods from DummyJSON's shop.
public struct GoodsPlugin: Plugin {
  public let name = "goods"
  public let summary = "goods from DummyJSON"
  public let example = PluginExample(query: "kettle", id: "1")
  public let settings = [url]
  public let fields: [Field<Good>] = [
    Field("id", "ID", \.id, about: "ID assigned by the shop."),
    Field("title", "Title", \.title, about: "Name of the product.", isSearchable: true),
    Field("brand", "Brand", \.brand, about: "Manufacturer.", isSearchable: true),
    Field("category", "Category", \.category, about: "Category of the product."),
  ]
  public let layout = RecordLayout<Good>(card: ["title", "brand", "category"])
  public let policy = Policy()
  public let bundled: any DataSource<Good>

  private static let url = Setting(
    "GOODS_URL", .url, default: "https://dummyjson.com", about: "URL of DummyJSON")

  public init() { bundled = BundledSource("goods", json: bundledGoods, fields: fields) }

  public func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Good>
  {
    DummyJSON(
      url: try environment.settings.url(Self.url), transport: environment.transport,
      now: environment.now)
  }
}
