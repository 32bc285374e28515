import AggregatorKit

/// A page of people.
///
/// The service never rejects a request that it cannot fulfil but does something else, so the parameters that it
/// returns are checked.
struct RandomUserReply: Decodable {
  let results: LossyArray<User.Wire>

  /// `nil` if the service does not send it.
  let info: Info?

  /// The parameters that the service used, which may differ from the requested ones.
  struct Info: Decodable {
    let seed: String?
    /// A `Double`, because the service accepts page 1.5.
    let page: Double?
    let results: Double?

    /// Rejects a response to other parameters.
    fileprivate func check(
      seed: String, page: Int?, size: Int?
    ) throws(SourceError) {
      func refuse(_ what: String) -> SourceError {
        SourceError(.malformed, "randomuser.me returned different people than requested: \(what)")
      }
      if let page, let given = self.page, given != Double(page) {
        throw refuse("page \(given.formatted) instead of \(page)")
      }
      if let size, let given = self.results, given != Double(size) {
        throw refuse("\(given.formatted) instead of \(size)")
      }
      if let given = self.seed, given != seed { throw refuse("another seed") }
    }
  }
}

extension RandomUserReply {
  /// The service's name in messages.
  static let service = "randomuser.me"

  /// After this page the service restarts at page 1.
  static let lastPage = 10_000

  /// The people of a page; a repeated address is the same user.
  ///
  /// - Throws: ``SourceError`` with code `malformed` for other people than requested, or none.
  func response(
    at position: RESTPosition, seed: String
  ) throws(SourceError) -> RESTResponse<User> {
    try info?.check(seed: seed, page: position.number, size: position.size)
    guard results.count > 0 else {
      throw SourceError(.malformed, "\(Self.service) sent an empty page of a list without an end")
    }
    let users = results.elements.prefix(position.size ?? results.count).map(\.user)
    var emails: Set<EmailAddress> = []
    let unique = users.filter { emails.insert($0.email).inserted }
    var response = RESTResponse(
      unique, unreadable: results.unreadable,
      hasMore: position.number == Self.lastPage ? false : nil)
    response.hidden = users.count - unique.count
    return response
  }
}

/// An error message, with any status: `{"error": "…"}`.
struct RandomUserFailure {
  private let words: String
  private let response: HTTPResponse

  /// Throws the failure that a response reports, by its message or its status.
  static func check(_ response: HTTPResponse, at now: Date) throws(SourceError) {
    if let failure = RandomUserFailure(response) { throw failure.error(at: now) }
    _ = try response.checked(by: RandomUserReply.service, now: now)
  }

  /// `nil` if the response is not an error message, or if its status is more precise.
  private init?(_ response: HTTPResponse) {
    // A page of people is large and does not start with this key.
    guard response.body.prefix(64).firstRange(of: Data(#""error""#.utf8)) != nil,
      let envelope = try? response.decoded(as: Envelope.self, by: RandomUserReply.service)
    else { return nil }
    words = envelope.error
    self.response = response
    guard isAskedTooOften || 200..<300 ~= response.status else { return nil }
  }

  /// The error `rateLimited` or `serverError`, determined by the message, not the status.
  private func error(at now: Date) -> SourceError {
    guard isAskedTooOften else {
      return SourceError(.serverError, "randomuser.me failed: \"\(words.oneLine(atMost: 80))\"")
    }
    // The limit applies to windows of five minutes.
    return SourceError(
      .rateLimited, "rate limited by randomuser.me", remedy: "try again in 5 minutes",
      retryAfter: response.retryAfter(from: now) ?? .seconds(300))
  }

  private var isAskedTooOften: Bool { FoldedText(words).contains(FoldedText("ease up")) }

  private struct Envelope: Decodable { let error: String }
}

extension Double {
  /// Without `.0`.
  fileprivate var formatted: String {
    self == rounded() && magnitude < 1e15 ? "\(Int(self))" : "\(self)"
  }
}

extension User {
  /// A person as randomuser.me sends it.
  ///
  /// Only name and email are required; other details are read if they have the expected type.
  /// `id.value`, which may be null or nonsense, and `dob.age`, which is true only today, are not
  /// used.
  struct Wire: Decodable {
    let user: User

    /// The keys of a person and of the nested objects.
    fileprivate enum CodingKeys: String, CodingKey {
      case email, name, gender, nat, location, dob, registered, phone, login, picture
      case title, first, last
      case city, state, country, postcode
      case date
      case uuid, username
      case large
    }

    init(from decoder: any Decoder) throws {
      let person = try decoder.container(keyedBy: CodingKeys.self)
      let email = try person.decode(EmailAddress.self, forKey: .email)
      let name = try person.nestedContainer(keyedBy: CodingKeys.self, forKey: .name)
      var user = User(
        email: email, firstName: try name.decode(String.self, forKey: .first),
        lastName: try name.decode(String.self, forKey: .last))
      user.title = name.lenient(.title)
      user.gender = person.lenient(.gender)
      user.nationality = person.lenient(.nat)
      let location = person.part(.location)
      user.city = location?.lenient(.city)
      user.state = location?.lenient(.state)
      user.country = location?.lenient(.country)
      user.postcode = location?.lenient(.postcode)
      user.birthDate = person.part(.dob)?.day(.date)
      user.registeredAt = person.part(.registered)?.day(.date)
      user.phone = person.lenient(.phone)
      let login = person.part(.login)
      user.uuid = login?.lenient(.uuid)
      user.username = login?.lenient(.username)
      user.picture = person.part(.picture)?.lenient(.large, as: String.self)?.webAddress
      self.user = user
    }
  }
}

/// Nested containers and text: separate types for each detail would double the decoding time.
extension KeyedDecodingContainer<User.Wire.CodingKeys> {
  /// A nested object; `nil` if there is none.
  fileprivate func part(_ key: Key) -> Self? {
    try? nestedContainer(keyedBy: Key.self, forKey: key)
  }

  /// The day of `1967-07-23T09:18:33.666Z`; `nil` if it is invalid.
  fileprivate func day(_ key: Key) -> String? {
    let day = lenient(key, as: String.self).map { String($0.prefix(10)) }
    return day?.isDay == true ? day : nil
  }
}
