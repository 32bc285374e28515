public import AggregatorKit

/// Superheroes and villains from Comic Vine.
public struct HeroesPlugin: Plugin {
  public let name = "heroes"

  public let summary = "superheroes and villains from Comic Vine"

  public let example = PluginExample(query: "spider", id: "1443")

  public static let key = Setting(
    "COMIC_VINE_API_KEY", .secret, about: "API key from https://comicvine.gamespot.com/api")

  public static let url = Setting(
    "COMIC_VINE_URL", .url, default: "https://comicvine.gamespot.com/api",
    about: "URL of the Comic Vine API")

  public static let rate = Setting(
    "COMIC_VINE_RATE", .rate, default: "1/s 200/h",
    about: "rate limit for each kind of request, or \"off\"")

  public static let pageSize = Setting(
    "COMIC_VINE_PAGE_SIZE", .count(1...ComicVine.largestPage), default: "100",
    about: "page size of sync")

  public let settings = [key, url, rate, pageSize]

  public var fields: [Field<Hero>] { Self.fields }

  private static let fields: [Field<Hero>] = [
    Field("id", "ID", \.id, about: "Comic Vine ID."),
    Field("name", "Name", \.name, about: "Name of the character.", isSearchable: true),
    Field(
      "realName", "Real name", \.realName, about: "Real name.", isSearchable: true),
    Field("publisher", "Publisher", \.publisher, about: "Publisher."),
    Field("powers", "Powers", \.powers, about: "Powers of the character.", isShown: false)
      .onlyInDetails(),
    Field("teams", "Teams", \.teams, about: "Teams of the character.", isShown: false)
      .onlyInDetails(),
    Field(
      "aliases", "Aliases", \.aliases, about: "Other names.", isShown: false, isSearchable: true),
    Field(
      "firstAppearance", "First appearance", \.firstAppearance,
      about: "Issue of the first appearance.", isShown: false),
    Field("summary", "Summary", \.summary, about: "Short summary.", isShown: false),
    Field("biography", "Biography", \.biography, about: "Biography as plain text.", isShown: false)
      .onlyInDetails(),
    Field("image", "Image", \.image, about: "URL of an image.", isShown: false),
    Field("link", "Link", \.link, about: "URL of the web page.", isShown: false),
  ]

  public var layout: Layout<Hero> {
    Layout(
      card: [
        "name", "realName", "publisher", "summary", "firstAppearance", "powers", "teams", "aliases",
        "image", "link", "biography",
      ], link: \.link, images: { $0.images($1) })
  }

  /// A page may take 30 s: the service took 9.4 s for an uncached list.
  public let policy = Policy(
    deadline: .seconds(30), rate: rate, largestPage: ComicVine.largestPage,
    syncPageSize: .setting(pageSize),
    readOrder: .liveFirst(freshFor: .seconds(20 * 60)))

  public var bundled: any DataSource<Hero> { Self.bundled }

  private static let bundled = BundledSource("heroes", json: bundledHeroes, fields: fields)

  public init() {}

  /// - Throws: `SourceError` with code `missingKey` if no key is set.
  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Hero> {
    let key = try environment.settings.required(
      Self.key, remedy: "get a key at https://comicvine.gamespot.com/api")
    return ComicVine(
      url: try environment.settings.url(Self.url), key: key, transport: environment.transport,
      now: environment.now)
  }
}
