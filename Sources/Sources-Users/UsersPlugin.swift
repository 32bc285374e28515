public import AggregatorKit
public import Foundation

/// Made-up people from randomuser.me.
public struct UsersPlugin: Plugin {
  public let name = "users"

  public let summary = "made-up people of randomuser.me"

  public let example = PluginExample(query: "aino", id: "aino.tormanen@example.com")

  public static let address = Setting(
    "RANDOM_USER_URL", .url, default: "https://randomuser.me/api/", about: "where randomuser.me is")

  public static let rate = Setting(
    "RANDOM_USER_RATE", .rate, default: "20000/5m", about: "how many people are asked for, or 'off'"
  )

  public static let pageSize = Setting(
    "RANDOM_USER_PAGE_SIZE", .count(1...RandomUser.largestPage), default: "100",
    about: "how many people to ask for at a time; other sizes give other people")

  /// The collection of people; never 18 characters, because the service gives such seeds another
  /// meaning.
  public static let seed = Setting(
    "RANDOM_USER_SEED", .text, default: "aggregator",
    about: "which people: another seed gives others"
  )

  public let settings = [address, rate, pageSize, seed]

  public let fields: [Field<User>]

  public let layout = Layout<User>(
    card: [
      "name", "email", "gender", "age", "birthDate", "nationality", "city", "state", "postcode",
      "country", "phone", "username", "registeredAt", "picture",
    ], images: { $0.images($1) })

  /// There is no search, and no end, so cached people come first.
  ///
  /// The people depend on the page size, so one size is always requested. Some have the same
  /// address.
  public let policy = Policy(
    rate: rate, rateUnit: .records, upstreamPageSize: .setting(pageSize), localSearchBound: 1000,
    readOrder: .localFirst, isEndless: true, repeatsRecords: true)

  public let verbs = [Verb.load]

  public let bundled: any DataSource<User>

  /// - Parameter now: The current date, for computing ages.
  public init(now: @escaping @Sendable () -> Date = { Now.current.date }) {
    fields = [
      Field(
        "email", "E-mail", \.email, about: "The e-mail address, which identifies the person.",
        isSearchable: true),
      Field("name", "Name", \.name, about: "Title, given name and family name.")
        .stored(at: nil),
      Field("title", "Title", \.title, about: "Mr, Ms, Madame.", isShown: false),
      Field(
        "firstName", "First name", \.firstName, about: "The given name.", isShown: false,
        isSearchable: true),
      Field(
        "lastName", "Last name", \.lastName, about: "The family name.", isShown: false,
        isSearchable: true),
      Field("gender", "Gender", \.gender, about: "male or female.", isShown: false),
      Field("age", "Age", .integer, about: "Years, computed from the day of birth.") { user in
        user.age(at: now()).json
      },
      Field("birthDate", "Born", \.birthDate, about: "The day of birth.", isShown: false),
      Field("nationality", "Nationality", \.nationality, about: "Two letters.", isShown: false),
      Field("city", "City", \.city, about: "The city."),
      Field("state", "State", \.state, about: "The state or province.", isShown: false),
      Field("postcode", "Post code", \.postcode, about: "The post code.", isShown: false),
      Field("country", "Country", \.country, about: "The country, in English."),
      Field("phone", "Phone", \.phone, about: "The phone number.", isShown: false),
      Field("username", "Username", \.username, about: "The login name.", isShown: false),
      Field("uuid", "UUID", \.uuid, about: "The service's own id.", isShown: false),
      Field(
        "registeredAt", "Registered", \.registeredAt, about: "The day of registration.",
        isShown: false),
      Field("picture", "Picture", \.picture, about: "The address of a portrait.", isShown: false),
    ]
    bundled = BundledSource("users", json: bundledUsers, fields: fields)
  }

  public func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<User>
  {
    RandomUser(
      url: try environment.settings.url(Self.address), seed: try seed(in: environment.settings),
      size: try environment.settings.count(Self.pageSize), transport: environment.transport,
      now: environment.now)
  }

  private func seed(in settings: Settings) throws(SourceError) -> String {
    let seed = settings.text(Self.seed) ?? ""
    guard 1...64 ~= seed.utf8.count, seed.utf8.count != 18,
      seed.utf8.allSatisfy({ Character(UnicodeScalar($0)).isPlain })
    else {
      throw SourceError(
        .badSettings, "\(Self.seed.key) is no seed: '\(seed.oneLine(atMost: 80))'",
        remedy: "use 1 to 64 letters, digits and dashes, but not 18")
    }
    return seed
  }
}

extension Character {
  fileprivate var isPlain: Bool { isASCII && (isLetter || isNumber) || self == "-" }
}

extension Verb<User> {
  /// Caches more people: `users load [COUNT]`.
  static let load = Verb(
    "load", "Fetch more users into the store",
    argument: Parameter(
      "count", "COUNT", in: 1...1_000_000,
      about: "how many new users to fetch at least, in whole pages; 100 by default")
  ) { call throws(SourceError) in
    guard let upstreamLoader = call.upstreamLoader else {
      throw SourceError(
        .storage, "there is no place to keep users", remedy: "set HOME or AGGREGATOR_HOME")
    }
    let count = call.values["count"] ?? 100
    let result = await upstreamLoader.take(count) { _ in }
    if let failure = result.failure, result.added == 0 { throw failure }
    let words =
      result.added == 1 ? "1 more user is stored" : "\(result.added) more users are stored"
    return .done(words, failure: result.failure ?? result.end.map(SourceError.stalled))
  }
}
