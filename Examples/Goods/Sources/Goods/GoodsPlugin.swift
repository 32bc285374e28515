public import AggregatorKit

/// DummyJSON's shop, as a source.
public struct GoodsPlugin: Plugin {
  public let name = "goods"
  public let summary = "goods of DummyJSON's shop"
  public let example = PluginExample(query: "kettle", id: "1")
  public let settings = [address]
  public let fields: [Field<Good>] = [
    Field("id", "Id", \.id, about: "The shop's number."),
    Field("title", "Title", \.title, about: "What it is.", isSearchable: true),
    Field("brand", "Brand", \.brand, about: "Who makes it.", isSearchable: true),
    Field("category", "Category", \.category, about: "What kind of thing it is."),
  ]
  public let layout = Layout<Good>(card: ["title", "brand", "category"])
  public let policy = Policy()
  public let bundled: any DataSource<Good>

  private static let address = Setting(
    "GOODS_URL", .url, default: "https://dummyjson.com", about: "where DummyJSON is")

  public init() { bundled = BundledSource("goods", json: bundledGoods, fields: fields) }

  public func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Good>
  {
    DummyJSON(
      url: try environment.settings.url(Self.address), transport: environment.transport,
      now: environment.now)
  }
}
