public import AggregatorKit

/// The countries of the world: code, name, region and capital.
///
/// The live list is a file that never changes and is at most 80 KB, so one request serves every page and
/// every search.
public struct CountriesPlugin: Plugin {
  /// The word `countries`.
  public let name = "countries"

  /// What there is.
  public let summary = "countries and territories with code, region and capital"

  /// France, and its capital.
  public let example = PluginExample(query: "paris", id: "FR")

  /// Where the list is.
  public static let address = Setting(
    "COUNTRIES_URL", .url,
    default: "https://gist.githubusercontent.com/peymano-wmt/32dcb892b06648910ddd40406e37fdab/raw/"
      + "db25946fd77c5873b0303b858e861ce724e0dcd0/countries.json",
    about: "where the list of countries is")

  /// The address.
  public let settings = [address]

  /// Code, name, region, capital.
  ///
  /// Names and capitals are searchable.
  public let fields: [Field<Country>] = [
    Field("code", "Code", \.code, about: "The two-letter code of ISO 3166-1."),
    Field("name", "Name", \.name, about: "The country's name.", isSearchable: true),
    Field("region", "Region", \.region, about: "The continent's two-letter code."),
    Field("capital", "Capital", \.capital, about: "The capital.", isSearchable: true),
  ]

  /// Name and region, the code at the right edge, the capital below.
  public let layout = Layout<Country>(
    .block(
      heading: { [$0.name, $0.region].compactMap(\.self).joined(separator: ", ") },
      badge: \.code.description, detail: \.capital),
    card: ["code", "name", "region", "capital"])

  /// One request for the whole list, out of which pages are cut and in which searches look.
  ///
  /// The list hardly ever changes, so a week-old one is good.
  public let policy = Policy(
    largestPage: 500, upstreamPageSize: .fixed(500), localSearchBound: 500,
    readOrder: .liveFirst(freshFor: .seconds(7 * 86_400)))

  /// The verb `deal`.
  public let verbs = [Verb.deal]

  /// The countries in the binary.
  public let bundled: any DataSource<Country>

  /// The plugin.
  public init() {
    bundled = BundledSource("countries", json: bundledCountries, fields: fields)
  }

  /// The list at `COUNTRIES_URL`.
  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Country> {
    CountryList(
      url: try environment.settings.url(Self.address), transport: environment.transport,
      now: environment.now)
  }
}
