public import AggregatorKit

/// Superheroes and villains from Comic Vine.
public struct HeroesPlugin: Plugin {
  public let name = "heroes"

  public let summary = "superheroes and villains of Comic Vine"

  public let example = PluginExample(query: "spider", id: "1443")

  public static let key = Setting(
    "COMIC_VINE_API_KEY", .secret, about: "your key, from https://comicvine.gamespot.com/api")

  public static let address = Setting(
    "COMIC_VINE_URL", .url, default: "https://comicvine.gamespot.com/api",
    about: "where Comic Vine's API is")

  public static let rate = Setting(
    "COMIC_VINE_RATE", .rate, default: "1/s 200/h",
    about: "how often each kind of request is made, or 'off'")

  public static let pageSize = Setting(
    "COMIC_VINE_PAGE_SIZE", .count(1...ComicVine.largestPage), default: "100",
    about: "how many heroes sync asks for at a time")

  public let settings = [key, address, rate, pageSize]

  public let fields: [Field<Hero>] = [
    Field("id", "Id", \.id, about: "Comic Vine's number."),
    Field("name", "Name", \.name, about: "The name the character is known by.", isSearchable: true),
    Field(
      "realName", "Real name", \.realName, about: "The name behind the mask.", isSearchable: true),
    Field("publisher", "Publisher", \.publisher, about: "Who publishes it."),
    Field("powers", "Powers", \.powers, about: "What the character can do.", isShown: false),
    Field("teams", "Teams", \.teams, about: "Teams the character belongs to.", isShown: false),
    Field(
      "aliases", "Aliases", \.aliases, about: "Other names.", isShown: false, isSearchable: true),
    Field(
      "firstAppearance", "First appearance", \.firstAppearance,
      about: "The issue in which it appeared first.", isShown: false),
    Field("summary", "Summary", \.summary, about: "Who it is, in a line or two.", isShown: false),
    Field("biography", "Biography", \.biography, about: "Its life, as plain text.", isShown: false),
    Field("image", "Image", \.image, about: "The address of a picture.", isShown: false),
    Field("link", "Link", \.link, about: "The address of its page.", isShown: false),
  ]

  public let layout = Layout<Hero>(
    card: [
      "name", "realName", "publisher", "powers", "teams", "aliases", "firstAppearance", "biography",
      "image", "link",
    ], link: \.link, images: { $0.images($1) })

  /// A page may take 30 s: the service took 9.4 s for an uncached list.
  public let policy = Policy(
    deadline: .seconds(30), rate: rate, largestPage: ComicVine.largestPage,
    syncPageSize: .setting(pageSize),
    readOrder: .liveFirst(freshFor: .seconds(20 * 60)))

  public let bundled: any DataSource<Hero>

  public init() {
    bundled = BundledSource("heroes", json: bundledHeroes, fields: fields)
  }

  /// - Throws: `SourceError` with code `missingKey` if no key is set.
  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Hero> {
    guard let key = environment.settings.secret(Self.key) else {
      let isPlaceholder = environment.settings.isPlaceholder(Self.key)
      throw SourceError(
        .missingKey,
        isPlaceholder ? "\(Self.key.key) is still a placeholder" : "no \(Self.key.key)",
        remedy: "get a key at https://comicvine.gamespot.com/api and set it")
    }
    return ComicVine(
      url: try environment.settings.url(Self.address), key: key, transport: environment.transport,
      now: environment.now)
  }
}
