public import AggregatorKit

/// The paintings as a source.
public struct PaintingsPlugin: Plugin {
  public let name = "paintings"
  public let summary = "paintings of a museum with artist and year"
  public let example = PluginExample(query: "iris", id: "1")

  public static let key = Setting(
    "PAINTINGS_KEY", .secret, about: "API key from https://museum.example/developers")

  public static let url = Setting(
    "PAINTINGS_URL", .url, default: "https://museum.example/v1/paintings", about: "URL of the API")

  public static let rate = Setting(
    "PAINTINGS_RATE", .rate, default: "5/s", about: "rate limit, or \"off\"")

  public let settings = [key, url, rate]

  public let fields: [Field<Painting>] = [
    Field(\.objectID, "ID", about: "Object number of the museum."),
    Field(\.title, isSearchable: true),
    Field(\.artist, "Artists", about: "Names of the artists.", isSearchable: true),
    Field(\.year, about: "Year of completion."),
    Field(\.picture, about: "URL of a picture.", isShown: false),
  ]

  public let layout = RecordLayout<Painting>(images: { $0.pictures($1) })

  public let policy = Policy(rate: rate)

  public let bundled: any DataSource<Painting>

  public init() { bundled = BundledSource("paintings", json: bundledPaintings, fields: fields) }

  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Painting> {
    let url = try environment.settings.url(Self.url)
    let key = try environment.settings.required(
      Self.key, remedy: "get a key at https://museum.example/developers")
    return RESTSource(
      name, in: environment,
      list: HTTPRequest(
        .get, url, headers: [.init("X-Api-Key", .secret(key)), .init("Accept-Language", "en")]),
      paging: RESTPaging(
        .page(.query("page"), start: 1), size: (.query("per_page"), 50), honorsSize: true),
      rows: "data", total: .member("total")
    )
    .searching(by: .query("q"))
    .item(below: url)
  }
}
