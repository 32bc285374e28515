public import AggregatorKit

/// Made-up people from randomuser.me.
public struct UsersPlugin: Plugin {
  public let name = "users"

  public let summary = "made-up people from randomuser.me"

  public let example = PluginExample(query: "aino", id: "aino.tormanen@example.com")

  public static let url = Setting(
    "RANDOM_USER_URL", .url, default: "https://randomuser.me/api/",
    about: "URL of the randomuser.me API")

  public static let rate = Setting(
    "RANDOM_USER_RATE", .rate, default: "20000/5m", about: "rate limit in people, or \"off\""
  )

  public static let pageSize = Setting(
    "RANDOM_USER_PAGE_SIZE", .count(1...RandomUser.largestPage), default: "100",
    about: "people per request; a different size yields different people")

  /// The collection of people; never 18 characters, because the service gives such seeds another
  /// meaning.
  public static let seed = Setting(
    "RANDOM_USER_SEED", .text, default: "aggregator",
    about: "seed of the generated people"
  )

  public let settings = [url, rate, pageSize, seed]

  public var fields: [Field<User>] { now.map(Self.fields(at:)) ?? Self.fields }

  public var layout: Layout<User> {
    Layout(
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

  private static let bundled = bundled(with: fields)

  private static func bundled(with fields: [Field<User>]) -> BundledSource<User> {
    BundledSource("users", json: bundledUsers, fields: fields)
  }

  private static let fields = fields(at: { Now.current.date })

  private static func fields(at now: @escaping @Sendable () -> Date) -> [Field<User>] {
    [
      Field(
        "email", "Email", \.email, about: "Email address, used as the ID.",
        isSearchable: true),
      Field("name", "Name", \.name, about: "Title, first name and last name.")
        .stored(at: nil).computed(inSQL: User.nameInSQL, inPostgres: User.nameInPostgres),
      Field("title", "Title", \.title, about: "Mr, Ms, Madame.", isShown: false),
      Field(
        "firstName", "First name", \.firstName, about: "First name.", isShown: false,
        isSearchable: true),
      Field(
        "lastName", "Last name", \.lastName, about: "Last name.", isShown: false,
        isSearchable: true),
      Field("gender", "Gender", \.gender, about: "male or female.", isShown: false),
      Field("age", "Age", .integer, about: "Age in years.") { user in
        user.age(at: now()).json
      }.computed(inSQL: User.ageInSQL, inPostgres: User.ageInPostgres),
      Field("birthDate", "Born", \.birthDate, about: "Date of birth.", isShown: false),
      Field(
        "nationality", "Nationality", \.nationality, about: "Two-letter country code.",
        isShown: false),
      Field("city", "City", \.city, about: "City."),
      Field("state", "State", \.state, about: "State or province.", isShown: false),
      Field("postcode", "Postcode", \.postcode, about: "Postal code.", isShown: false),
      Field("country", "Country", \.country, about: "Country, in English."),
      Field("phone", "Phone", \.phone, about: "Phone number.", isShown: false),
      Field("username", "Username", \.username, about: "Login name.", isShown: false),
      Field("uuid", "UUID", \.uuid, about: "ID assigned by the service.", isShown: false),
      Field(
        "registeredAt", "Registered", \.registeredAt, about: "Date of registration.",
        isShown: false),
      Field("picture", "Picture", \.picture, about: "URL of a portrait.", isShown: false),
    ]
  }

  public func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<User>
  {
    RandomUser(
      url: try environment.settings.url(Self.url), seed: try seed(in: environment.settings),
      size: try environment.settings.count(Self.pageSize), transport: environment.transport,
      now: environment.now)
  }

  private func seed(in settings: Settings) throws(SourceError) -> String {
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

extension Verb<User> {
  /// The most pages in flight; the rate limit says how soon.
  private static var pagesAtOnce: Int { 4 }

  /// Caches more people: `users load [COUNT]`.
  static let load = Verb(
    "load", "Download more users",
    argument: Parameter(
      "count", "COUNT", in: 1...1_000_000,
      about: "the minimum number of new users (default 100), rounded up to whole pages"),
    requiresService: true, role: .loadsMore,
    notes: [
      "Continues after the last download, as sync does. To limit by pages instead, use sync "
        + "--max-pages N."
    ]
  ) { call throws(SourceError) in
    guard let upstreamLoader = call.upstreamLoader else {
      throw SourceError(
        .storage, "no directory for the store", remedy: Remedy("set HOME", .moveStore))
    }
    let count = call.values["count"] ?? 100
    let result = await upstreamLoader.take(count, jobs: pagesAtOnce) { _ in }
    if let failure = result.failure, result.added == 0 { throw failure }
    let summary =
      result.added == 1 ? "1 more user cached" : "\(result.added) more users cached"
    return .done(summary, failure: result.failure ?? result.end.map(SourceError.noProgress))
  }
}
