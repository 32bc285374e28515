public import AggregatorKit

/// Made-up people from randomuser.me.
public struct UsersPlugin: Plugin {
  public let name = "users"

  public let summary = "made-up people from randomuser.me"

  public let example = PluginExample(query: "aino", id: "aino.tormanen@example.com")

  /// The largest page of the service; larger requests return one person.
  private static let largestPage = 5000

  public static let url = Setting(
    "RANDOM_USER_URL", .url, default: "https://randomuser.me/api/",
    about: "URL of the randomuser.me API")

  public static let rate = Setting(
    "RANDOM_USER_RATE", .rate, default: "20000/5m", about: "rate limit in people, or \"off\""
  )

  public static let pageSize = Setting(
    "RANDOM_USER_PAGE_SIZE", .count(1...largestPage), default: "100",
    about: "people per request; a different size yields different people")

  /// The collection of people; never 18 characters, because the service gives such seeds another
  /// meaning.
  public static let seed = Setting(
    "RANDOM_USER_SEED", .text, default: "aggregator",
    about: "seed of the generated people"
  )

  public let settings = [url, rate, pageSize, seed]

  public var fields: [Field<User>] { now.map(User.fields(at:)) ?? User.fields }

  public var layout: RecordLayout<User> {
    RecordLayout(
      card: [
        "name", "email", "gender", "age", "birthDate", "nationality", "city", "state", "postcode",
        "country", "phone", "username", "registeredAt", "picture",
      ], images: { $0.images($1) })
  }

  /// There is no search, and no end, so cached people come first.
  ///
  /// The people depend on the page size, so one size is always requested. Some have the same
  /// address.
  public let policy = Policy(
    rate: rate, rateUnit: .records, upstreamPageSize: .setting(pageSize), localSearchBound: 1000,
    readOrder: .localFirst, isEndless: true, repeatsRecords: true)

  public var verbs: [Verb<User>] { [.load] }

  public var bundled: any DataSource<User> {
    now == nil ? Self.bundled : Self.bundled(with: fields)
  }

  private let now: (@Sendable () -> Date)?

  /// - Parameter now: The clock for ages; by default that of the task.
  public init(now: (@Sendable () -> Date)? = nil) { self.now = now }

  private static let bundled = bundled(with: User.fields)

  private static func bundled(with fields: [Field<User>]) -> BundledSource<User> {
    BundledSource("users", json: bundledUsers, fields: fields)
  }

  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<User> {
    let (settings, now) = (environment.settings, environment.now)
    let (seed, size) = (try seed(in: settings), try settings.count(Self.pageSize))
    // A page is a function of seed, number and size, so pages of one size are requested, and cut.
    var source = RESTSource<User>(
      name, of: RandomUserReply.service, in: environment,
      list: HTTPRequest(
        .get, try settings.url(Self.url), query: [.init("seed", .plain(seed))]),
      paging: RESTPaging(
        .page(.query("page"), start: 1), size: (.query("results"), size), predictsCursors: true,
        deepest: RandomUserReply.lastPage * size),
    ) { response, position throws(SourceError) in
      try response.decoded(as: RandomUserReply.self, by: RandomUserReply.service)
        .response(at: position, seed: seed)
    }
    source.collection = seed
    source.check = { response throws(SourceError) in
      try RandomUserFailure.check(response, at: now())
    }
    return source
  }

  private func seed(in settings: SourceSettings) throws(SourceError) -> String {
    let seed = settings.text(Self.seed) ?? ""
    guard 1...64 ~= seed.utf8.count, seed.utf8.count != 18,
      seed.utf8.allSatisfy({ Character(UnicodeScalar($0)).isPlain })
    else {
      throw SourceError(
        .invalidSettings, "invalid value \"\(seed.oneLine(atMost: 80))\" for \(Self.seed.key)",
        remedy: "use 1 to 64 letters, digits and dashes, but not exactly 18")
    }
    return seed
  }
}

extension Character {
  fileprivate var isPlain: Bool { isASCII && (isLetter || isNumber) || self == "-" }
}
