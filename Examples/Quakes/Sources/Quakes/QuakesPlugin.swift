public import AggregatorKit

/// The quakes as a source.
public struct QuakesPlugin: Plugin {
  public let name = "quakes"
  public let summary = "recent earthquakes with place and time"
  public let example = PluginExample(query: "ridge", id: "ex0001")
  public let settings = [url]
  public let fields: [Field<Quake>] = [
    Field("id", "ID", \.id, about: "ID assigned by the service."),
    Field("place", "Place", \.place, about: "Place name.", isSearchable: true),
    Field("time", "Time", \.time, about: "Time in UTC."),
  ]
  public let layout = Layout<Quake>(card: ["id", "place", "time"])
  public let policy = Policy(
    upstreamPageSize: .fixed(20), readOrder: .liveFirst(freshFor: .seconds(300)))
  public let bundled: any DataSource<Quake>

  private static let url = Setting(
    "QUAKES_URL", .url, default: "https://quakes.example/quakes", about: "URL of the quake service")

  public init() { bundled = BundledSource("quakes", json: bundledQuakes, fields: fields) }

  public func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Quake>
  {
    let url = try environment.settings.url(Self.url)
    return RESTSource(
      name, list: HTTPRequest(.get, url), paging: RESTPaging(.link, size: (.query("size"), 20)),
      transport: environment.transport, now: environment.now, decoding: QuakeList.self
    ) { list in
      RESTResponse(list.quakes, next: list.next.map { .link($0) }, record: Quake.init)
    }
    .searching(by: .query("q"))
    .item(below: url, decoding: Quake.Wire.self, record: Quake.init)
  }
}
