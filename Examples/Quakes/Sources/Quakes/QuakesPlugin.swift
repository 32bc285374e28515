public import AggregatorKit

/// The quakes as a source.
public struct QuakesPlugin: Plugin {
  public let name = "quakes"
  public let summary = "recent earthquakes with place and time"
  public let example = PluginExample(query: "ridge", id: "ex0001")
  public let settings = [url]
  public let fields: [Field<Quake>] = [
    Field(\.id, about: "ID assigned by the service."),
    Field(\.place, isSearchable: true),
    Field(\.occurredAt, "Time", about: "Time in UTC."),
  ]
  public let policy = Policy(readOrder: .liveFirst(freshFor: .seconds(300)))
  public let bundled: any DataSource<Quake>

  private static let url = Setting(
    "QUAKES_URL", .url, default: "https://quakes.example/quakes", about: "URL of the quake service")

  public init() { bundled = BundledSource("quakes", json: bundledQuakes, fields: fields) }

  public func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Quake>
  {
    let url = try environment.settings.url(Self.url)
    return RESTSource(
      name, in: environment, list: HTTPRequest(.get, url),
      paging: RESTPaging(.link, size: (.query("size"), 20)), rows: "quakes", next: .member("next")
    )
    .searching(by: .query("q"))
    .item(below: url)
  }
}
