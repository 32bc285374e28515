public import AggregatorKit

/// The quakes as a source.
public struct QuakesPlugin: Plugin {
  public let name = "quakes"
  public let summary = "earthquakes, where and when they were"
  public let example = PluginExample(query: "ridge", id: "ex0001")
  public let settings = [address]
  public let fields: [Field<Quake>] = [
    Field("id", "Id", \.id, about: "The service's id."),
    Field("place", "Place", \.place, about: "Where it was.", isSearchable: true),
    Field("time", "Time", \.time, about: "When it was, in UTC."),
  ]
  public let layout = Layout<Quake>(card: ["id", "place", "time"])
  public let policy = Policy(readOrder: .liveFirst(freshFor: .seconds(300)))
  public let bundled: any DataSource<Quake>

  private static let address = Setting(
    "QUAKES_URL", .url, default: "https://quakes.example/quakes", about: "where the quakes are")

  public init() { bundled = BundledSource("quakes", json: bundledQuakes, fields: fields) }

  public func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Quake>
  {
    QuakeService(
      url: try environment.settings.url(Self.address), transport: environment.transport,
      now: environment.now)
  }
}
