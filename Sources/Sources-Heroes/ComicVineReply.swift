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

  /// Checks, in this order, the HTTP status, the first byte of the body, the service's own status,
  /// and the rows.
  init(_ response: HTTPResponse, at now: Date) throws(SourceError) {
    let service = ComicVine.service
    // The service's own message, if any, is more precise than a status such as 401 or 420.
    if !(200..<300 ~= response.status),
      let status = try? response.decoded(as: ComicVineStatus.self, by: service),
      let failure = status.knownFailure(at: now, retryAfter: response.retryAfter(from: now))
    {
      throw failure
    }
    do {
      self = try response.checked(by: service, wantsKey: true, now: now).decoded(by: service)
    } catch  where response.isLockout {
      throw SourceError(
        .rejected, "Comic Vine has blocked this IP address because of abnormal traffic",
        remedy: "try again in a day or two, with fewer requests")
    }
    guard status.isFine || status.meansNotFound else { throw status.failure(at: now) }
  }

  /// The service's total if it is consistent with the rows sent; otherwise `nil`.
  func total(after offset: Int, sent count: Int) -> Int? {
    total.flatMap { $0 == offset + count || $0 > offset + count && count > 0 ? $0 : nil }
  }

  /// A warning if the service ends a list, or a search, before its own total.
  func shortfall(after sent: Int, in query: Query?) -> [Warning] {
    total.map { $0 > sent ? [.fewer(sent, than: $0, in: query)] : [] } ?? []
  }

  /// The page size that the service used for a page of a search.
  ///
  /// If it does not say, a short first page that is not the last shows it.
  func pageSize(for position: PagePosition, sent count: Int) -> Int {
    let sizes = 1...ComicVine.largestPage
    if let limit, sizes ~= limit { return limit }
    let isCapped = position.number == 1 && sizes ~= count && (total ?? 0) > count
    return isCapped ? min(count, position.size) : position.size
  }

  /// The results of a request that cannot be unknown, such as a list.
  func rows() throws(SourceError) -> Results {
    guard let results else { throw SourceError(.rejected, "Comic Vine has no such list") }
    return results
  }
}

/// The service's own status.
struct ComicVineStatus: Decodable {
  private let code: Int
  private let message: String?

  private enum CodingKeys: String, CodingKey { case code = "status_code", message = "error" }

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
    .seconds(max(300, 3600 - Int(now.timeIntervalSince1970.rounded(.down)) % 3600))
  }
}

extension HTTPResponse {
  /// True for the page shown to locked-out addresses, possibly with status 200.
  fileprivate var isLockout: Bool {
    body.prefix(4096).firstRange(of: Data("<title>Abnormal Traffic".utf8)) != nil
  }
}
