public import AggregatorKit

/// Countries of the world, with code, name, region and capital.
///
/// The live list is a file of at most 80 KB that never changes, so one request serves all pages and
/// searches.
public struct CountriesPlugin: Plugin {
  public let name = "countries"

  public let summary = "countries and territories with code, region and capital"

  public let example = PluginExample(query: "paris", id: "FR")

  public static let url = Setting(
    "COUNTRIES_URL", .url,
    default: "https://gist.githubusercontent.com/peymano-wmt/32dcb892b06648910ddd40406e37fdab/raw/"
      + "db25946fd77c5873b0303b858e861ce724e0dcd0/countries.json",
    about: "URL of the country list")

  public let settings = [url]

  public var fields: [Field<Country>] { Self.fields }

  private static let fields: [Field<Country>] = [
    Field("code", "Code", \.code, about: "Two-letter ISO 3166-1 code.", isSearchable: true),
    Field("name", "Name", \.name, about: "Name of the country.", isSearchable: true),
    Field("region", "Region", \.region, about: "Two-letter continent code."),
    Field("capital", "Capital", \.capital, about: "Name of the capital.", isSearchable: true),
  ]

  public var layout: RecordLayout<Country> {
    RecordLayout(
      .block(
        heading: { [$0.name, $0.region].compactMap(\.self).joined(separator: ", ") },
        badge: \.code.description, detail: \.capital))
  }

  /// One request for the whole list, which is cut into pages and searched locally.
  ///
  /// The default list is pinned, but `COUNTRIES_URL` may name another, so it stays fresh for a week.
  public let policy = Policy(
    largestPage: 500, upstreamPageSize: .fixed(500), localSearchBound: 500,
    readOrder: .liveFirst(freshFor: .seconds(7 * 86_400)))

  public var verbs: [Verb<Country>] { [.deal] }

  public var bundled: any DataSource<Country> { Self.bundled }

  private static let bundled = BundledSource("countries", json: bundledCountries, fields: fields)

  public init() {}

  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Country> {
    RESTSource(
      name, of: "the country list", in: environment,
      list: HTTPRequest(.get, try environment.settings.url(Self.url)),
      paging: RESTPaging(.single, predictsCursors: true))
  }
}
