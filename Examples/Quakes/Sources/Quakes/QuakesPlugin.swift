public import AggregatorKit

/// The quakes as a source.
public struct QuakesPlugin: Plugin {
  public let name = "quakes"
  public let summary = "recent earthquakes with place and time"
  public let example = PluginExample(query: "ridge", id: "ex0001")
  public let settings = [address]
  public let fields: [Field<Quake>] = [
    Field("id", "ID", \.id, about: "ID assigned by the service."),
    Field("place", "Place", \.place, about: "Place name.", isSearchable: true),
    Field("time", "Time", \.time, about: "Time in UTC."),
  ]
  public let layout = Layout<Quake>(card: ["id", "place", "time"])
  public let policy = Policy(readOrder: .liveFirst(freshFor: .seconds(300)))
  public let bundled: any DataSource<Quake>

  private static let address = Setting(
    "QUAKES_URL", .url, default: "https://quakes.example/quakes", about: "URL of the quake service")

  public init() { bundled = BundledSource("quakes", json: bundledQuakes, fields: fields) }

  public func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Quake>
  {
    QuakeService(
      url: try environment.settings.url(Self.address), transport: environment.transport,
      now: environment.now)
  }
}
