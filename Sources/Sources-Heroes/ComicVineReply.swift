import AggregatorKit

/// The envelope of every response.
///
/// `results` is a list, or an object for a single character, and `[]` in every failure: it is read
/// only if `status_code` is 1.
struct ComicVineReply<Results: Decodable>: Decodable {
  /// `nil` if the object does not exist.
  let results: Results?
  /// The page size of the service, which may differ from the requested one.
  let limit: Int?

  private let total: Int?
  private let status: ComicVineStatus

  private enum CodingKeys: String, CodingKey {
    case results, limit, total = "number_of_total_results"
  }

  init(from decoder: any Decoder) throws {
    status = try ComicVineStatus(from: decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    limit = try? container.decode(Int.self, forKey: .limit)
    total = try? container.decode(Int.self, forKey: .total)
    results = status.isFine ? try container.decode(Results.self, forKey: .results) : nil
  }

  init(_ response: HTTPResponse, at now: Date) throws(SourceError) {
    self = try response.decoded(by: ComicVineStatus.service)
    guard status.isFine || status.meansNotFound else { throw status.failure(at: now) }
  }
}

extension ComicVineReply where Results == LossyArray<Hero.Wire> {
  /// A page of the list of all characters.
  ///
  /// The service may use its own page size, and need not say so: only the rows sent count. It ends at the total.
  func list(at position: RESTPosition) throws(SourceError) -> RESTResponse<Hero> {
    let rows = try rows()
    var response = RESTResponse(
      rows, total: total, hasMore: total == position.passed + rows.count ? false : nil,
      record: \.hero)
    response.changeMarks = rows.elements.map(\.lastUpdated)
    return response
  }

  /// A page of search results.
  ///
  /// The service may use a smaller page size than requested, and says so. Totals are unreliable: a search may
  /// report 945 rows and send none, or send more than reported. The end is an empty page, or a short one that
  /// exactly reaches the total.
  func search(at position: RESTPosition) throws(SourceError) -> RESTResponse<Hero> {
    let rows = try rows()
    let size = pageSize(for: position, sent: rows.count)
    let isLast = rows.count < size && total == position.passed + rows.count
    var response = RESTResponse(rows, total: total, hasMore: isLast ? false : nil, record: \.hero)
    response.size = size
    return response
  }

  /// The page size that the service used for a page of a search.
  ///
  /// If it does not say, a short first page that is not the last shows it.
  private func pageSize(for position: RESTPosition, sent count: Int) -> Int {
    let requested = position.size ?? count
    let sizes = 1...HeroesPlugin.largestPage
    if let limit, sizes ~= limit { return limit }
    let isCapped = position.number == 1 && sizes ~= count && (total ?? 0) > count
    return isCapped ? min(count, requested) : requested
  }

  private func rows() throws(SourceError) -> LossyArray<Hero.Wire> {
    guard let results else {
      throw SourceError(.rejected, "\(ComicVineStatus.service) has no such list")
    }
    return results
  }
}

/// The service's own status.
struct ComicVineStatus: Decodable {
  /// The service's name in messages.
  static let service = "Comic Vine"

  private let code: Int
  private let message: String?

  private enum CodingKeys: String, CodingKey { case code = "status_code", message = "error" }

  /// Throws what the service reports by a status of its own, which is more precise than one such as 401 or 420,
  /// and what its proxy reports.
  static func check(_ response: HTTPResponse, at now: Date) throws(SourceError) {
    guard !response.isLockout else {
      throw SourceError(
        .rejected, "\(service) has blocked this IP address because of abnormal traffic",
        remedy: "try again in a day or two, with fewer requests")
    }
    if !(200..<300 ~= response.status),
      let status = try? response.decoded(as: ComicVineStatus.self, by: service),
      let failure = status.knownFailure(at: now, retryAfter: response.retryAfter(from: now))
    {
      throw failure
    }
    _ = try response.checked(by: service, wantsKey: true, now: now)
  }

  var isFine: Bool { code == 1 }

  var meansNotFound: Bool { code == 101 }

  /// The error for a status code (API documentation, "Status Codes").
  ///
  /// `nil` if the HTTP status is as precise.
  func knownFailure(at now: Date, retryAfter: Duration?) -> SourceError? {
    switch code {
    case 100:
      return SourceError(
        .invalidKey, "invalid API key",
        remedy: "look up your key at https://comicvine.gamespot.com/api")
    case 105:
      return SourceError(.rejected, "Comic Vine requires a subscription for this request")
    case 107:
      let wait = retryAfter ?? Self.quotaWait(from: now)
      return SourceError(
        .rateLimited,
        "rate limited by Comic Vine: the hourly quota for this kind of request is used up",
        remedy: "try again in \(wait.text)", retryAfter: wait)
    default: return nil
    }
  }

  /// The error for any status code except 1.
  func failure(at now: Date) -> SourceError {
    let details = message.map { ": \($0.oneLine(atMost: 80))" } ?? ""
    return knownFailure(at: now, retryAfter: nil)
      ?? SourceError(.rejected, "Comic Vine rejected the request (\(code)\(details))")
  }

  /// The time until the quota resets.
  ///
  /// Apparently it resets every clock hour; the service does not say. Clients that retry within
  /// minutes are locked out.
  private static func quotaWait(from now: Date) -> Duration {
    let passed = now.timeIntervalSince1970.rounded(.down).truncatingRemainder(dividingBy: 3600)
    return .seconds(max(300, 3600 - Int(passed)))
  }
}

extension HTTPResponse {
  /// True for the page shown to locked-out addresses, possibly with status 200.
  fileprivate var isLockout: Bool {
    // A reply may mention it.
    body.first != UInt8(ascii: "{")
      && body.prefix(4096).firstRange(of: Data("<title>Abnormal Traffic".utf8)) != nil
  }
}

extension Hero {
  /// A character as a list, a search or a lookup returns it.
  ///
  /// Only `id` and `name` are always present. Details of an unexpected type count as unknown, so
  /// that no row is lost.
  struct Wire: Decodable {
    let hero: Hero
    /// `yyyy-MM-dd HH:mm:ss` in Pacific time, without a zone; `nil` if it was not requested.
    let lastUpdated: String?

    private enum CodingKeys: String, CodingKey {
      case id, name, aliases, powers, teams, deck, description, publisher, image
      case lastUpdated = "date_last_updated"
      case realName = "real_name"
      case firstIssue = "first_appeared_in_issue"
      case link = "site_detail_url"
    }

    /// A publisher, power or team.
    fileprivate struct Named: Decodable {
      @Lenient var name: String?
    }

    fileprivate struct Issue: Decodable {
      @Lenient var name: String?
      @Lenient var number: String?
      private enum CodingKeys: String, CodingKey { case name, number = "issue_number" }
    }

    fileprivate struct Image: Decodable {
      let medium: String?
      private enum CodingKeys: String, CodingKey { case medium = "medium_url" }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      func detail<Value: Decodable>(_ key: CodingKeys, as type: Value.Type = Value.self) -> Value? {
        // Unreadable details count as unknown.
        (try? container.decodeIfPresent(Value.self, forKey: key)) ?? nil
      }
      let name = try container.decode(String.self, forKey: .name).nonBlank
      guard let name else {
        throw DecodingError.dataCorruptedError(
          forKey: .name, in: container, debugDescription: "the name is empty")
      }
      var hero = Hero(id: try container.decode(Int.self, forKey: .id), name: name)
      hero.realName = container.lenient(.realName)
      hero.publisher = detail(.publisher, as: Named.self)?.name
      // `null` means none; a missing field means unknown.
      let hasNoAlias = (try? container.decodeNil(forKey: .aliases)) ?? false
      hero.aliases = hasNoAlias ? [] : detail(.aliases, as: String.self)?.nonEmptyLines
      hero.powers = detail(.powers, as: LossyArray<Named>.self)?.names
      hero.teams = detail(.teams, as: LossyArray<Named>.self)?.names
      hero.firstAppearance = detail(.firstIssue, as: Issue.self)?.text
      hero.summary = container.lenient(.deck)
      hero.biography = detail(.description, as: String.self)?.strippingHTML().nonBlank
      hero.image = detail(.image, as: Image.self)?.url
      hero.link = detail(.link, as: String.self).flatMap(\.webAddress)
      self.hero = hero
      lastUpdated = detail(.lastUpdated)
    }
  }
}

extension LossyArray<Hero.Wire.Named> {
  fileprivate var names: [String] { elements.compactMap(\.name) }
}

extension Hero.Wire.Issue {
  /// The issue as text: `Spider-Man! (issue 15)`.
  ///
  /// Issue numbers are text, such as ½ and 200014. Name or number may be missing.
  fileprivate var text: String? {
    switch (name, number) {
    case (let name?, let number?): "\(name) (issue \(number))"
    case (let name?, nil): name
    case (nil, let number?): "issue \(number)"
    case (nil, nil): nil
    }
  }
}

extension Hero.Wire.Image {
  /// `nil` for Comic Vine's blank placeholder image.
  fileprivate var url: String? {
    medium.flatMap { $0.hasSuffix("-blank.png") ? nil : $0.webAddress }
  }
}

extension String {
  /// The lines that are not blank.
  ///
  /// Comic Vine ends them with `\n` or `\r\n`.
  fileprivate var nonEmptyLines: [String] {
    split(whereSeparator: \.isNewline).compactMap { String($0).nonBlank }
  }
}
