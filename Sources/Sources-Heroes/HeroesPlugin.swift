public import AggregatorKit

/// Superheroes and villains from Comic Vine (https://comicvine.gamespot.com/api/documentation): lists by offset,
/// searches by page number, characters by ID.
public struct HeroesPlugin: Plugin {
  public let name = "heroes"

  public let summary = "superheroes and villains from Comic Vine"

  public let example = PluginExample(query: "spider", id: "1443")

  /// The largest page of the service.
  static let largestPage = 100

  public static let key = Setting(
    "COMIC_VINE_API_KEY", .secret, about: "API key from https://comicvine.gamespot.com/api")

  public static let url = Setting(
    "COMIC_VINE_URL", .url, default: "https://comicvine.gamespot.com/api",
    about: "URL of the Comic Vine API")

  public static let rate = Setting(
    "COMIC_VINE_RATE", .rate, default: "1/s 200/h",
    about: "rate limit for each kind of request, or \"off\"")

  public static let pageSize = Setting(
    "COMIC_VINE_PAGE_SIZE", .count(1...largestPage), default: "100",
    about: "page size of sync")

  public let settings = [key, url, rate, pageSize]

  public var fields: [Field<Hero>] { Hero.fields }

  public var layout: RecordLayout<Hero> {
    RecordLayout(
      card: [
        "name", "realName", "publisher", "summary", "firstAppearance", "powers", "teams", "aliases",
        "image", "link", "biography",
      ], link: \.link, images: { $0.images($1) })
  }

  /// A page may take 30 s: the service took 9.4 s for an uncached list.
  public let policy = Policy(
    deadline: .seconds(30), rate: rate, rateUnit: .callsOfEachKind, largestPage: largestPage,
    syncPageSize: .setting(pageSize),
    readOrder: .liveFirst(freshFor: .seconds(20 * 60)))

  /// The times of Comic Vine are Pacific without a zone, so an hour of theirs comes twice each autumn.
  public let changes: ChangeTracking? = ChangeTracking(
    "filter=date_last_updated", order: .ascending, lookback: .seconds(3 * 3600))

  public let decoderVersion: String? = "1"

  public var bundled: any DataSource<Hero> { Self.bundled }

  private static let bundled = BundledSource("heroes", json: bundledHeroes, fields: Hero.fields)

  public init() {}

  /// - Throws: `SourceError` with code `missingKey` if no key is set.
  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Hero> {
    try remote(in: environment, listing: Self.listFields)
  }

  public func remote(
    in environment: PluginEnvironment, changedSince mark: String?
  ) throws(SourceError) -> any DataSource<Hero> {
    // The service wants both ends of a range.
    let changed: [HTTPRequest.Item] =
      mark.map {
        [
          .init("filter", .plain("date_last_updated:\($0)|2100-01-01 00:00:00")),
          .init("sort", "date_last_updated:asc"),
        ]
      } ?? []
    return try remote(
      in: environment, listing: Self.listFields + ",date_last_updated", changed, of: mark)
  }

  private func remote(
    in environment: PluginEnvironment, listing fields: String, _ selection: [HTTPRequest.Item] = [],
    of collection: String? = nil
  ) throws(SourceError) -> any DataSource<Hero> {
    let key = try environment.settings.required(
      Self.key, remedy: "get a key at https://comicvine.gamespot.com/api")
    let (url, now) = (try environment.settings.url(Self.url), environment.now)
    @Sendable func request(
      _ path: String, _ fields: String, _ query: [HTTPRequest.Item] = []
    ) -> HTTPRequest {
      // Without the trailing slash the service redirects.
      HTTPRequest(
        .get, url.appending(path: path, directoryHint: .isDirectory),
        query: [
          .init("api_key", .secret(key)), .init("format", "json"),
          .init("field_list", .plain(fields)),
        ] + query)
    }
    func paging(_ step: RESTPaging.Step) -> RESTPaging {
      RESTPaging(
        step, size: (.query("limit"), Self.largestPage), followsLimit: true, predictsCursors: true)
    }
    var source = RESTSource<Hero>(
      name, of: ComicVineStatus.service, in: environment,
      list: request("characters", fields, selection),
      paging: paging(.offset(.query("offset"), start: 0))
    ) { response, position throws(SourceError) in
      var page = try ComicVineReply(response, at: now()).list(at: position)
      // No later sync would find changes that a total hides here.
      if collection != nil, page.records.count >= position.size ?? 1 { page.hasMore = nil }
      return page
    }
    .searching(
      paging: paging(.page(.query("page"), start: 1)),
      decoding: { response, position throws(SourceError) in
        try ComicVineReply(response, at: now()).search(at: position)
      }
    ) { query in
      request(
        "search", Self.listFields,
        [.init("query", .plain(query.text)), .init("resources", "character")])
    }
    .item { id in
      // The service reports other addresses as malformed, not as unknown. Characters are `4005-1443` in them.
      id > 0 ? request("character/4005-\(id)", Self.listFields + ",powers,teams,description") : nil
    } decoding: { response, _ throws(SourceError) in
      try ComicVineReply<Hero.Wire>(response, at: now()).results?.hero
    }
    source.collection = collection
    source.check = { response throws(SourceError) in
      try ComicVineStatus.check(response, at: now())
    }
    return source
  }

  private static let listFields =
    "id,name,real_name,aliases,deck,publisher,first_appeared_in_issue,image,site_detail_url"
}
