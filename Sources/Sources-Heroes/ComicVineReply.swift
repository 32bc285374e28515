import AggregatorKit
import Foundation

/// What Comic Vine wraps around every answer.
///
/// `results` is a list, or one object for a character alone, and `[]` in every failure: it is read only
/// after `status_code` said that all is well. The counts are what the service says, not what it sends.
struct ComicVineReply<Results: Decodable>: Decodable {
  /// `nil` where there is no such object.
  let results: Results?
  /// The size of the service's pages, which need not be the one asked for.
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

  /// Reads a response: first its HTTP status, then the first byte of its body, then the service's own
  /// status, then the rows.
  init(_ response: HTTPResponse, at now: Date) throws(SourceError) {
    let service = "Comic Vine"
    // The service's own words, where there are any, say more than a status such as 401 or 420.
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
        .rejected, "Comic Vine has locked this address out for abnormal traffic",
        remedy: "ask again in a day or two, and more slowly")
    }
    guard status.isFine || status.meansNotFound else { throw status.failure(at: now) }
  }

  /// The service's total, if what it sent agrees: no rows beyond it, and some before it.
  func total(after offset: Int, sent count: Int) -> Int? {
    total.flatMap { $0 == offset + count || $0 > offset + count && count > 0 ? $0 : nil }
  }

  /// The results of what cannot be missing, such as a list.
  func rows() throws(SourceError) -> Results {
    guard let results else { throw SourceError(.rejected, "Comic Vine knows no such list") }
    return results
  }
}

/// The service's own word on how it went.
struct ComicVineStatus: Decodable {
  private let code: Int
  private let message: String?

  private enum CodingKeys: String, CodingKey { case code = "status_code", message = "error" }

  var isFine: Bool { code == 1 }

  var meansNotFound: Bool { code == 101 }

  /// The failure that a code stands for (API documentation, "Status Codes").
  ///
  /// `nil` where the HTTP status tells as much.
  func knownFailure(at now: Date, retryAfter: Duration?) -> SourceError? {
    switch code {
    case 100:
      return SourceError(
        .invalidKey, "Comic Vine does not accept the key",
        remedy: "look it up at https://comicvine.gamespot.com/api")
    case 105:
      return SourceError(.rejected, "Comic Vine gives this to subscribers only")
    case 107:
      let wait = retryAfter ?? Self.quotaWait(from: now)
      return SourceError(
        .rateLimited, "Comic Vine's hourly quota for this kind of request is used up",
        remedy: "try again in \(wait.text)", retryAfter: wait)
    default: return nil
    }
  }

  /// The failure that any code other than 1 stands for.
  func failure(at now: Date) -> SourceError {
    let words = message.map { ": \($0.oneLine(atMost: 80))" } ?? ""
    return knownFailure(at: now, retryAfter: nil)
      ?? SourceError(.rejected, "Comic Vine refused the request (\(code)\(words))")
  }

  /// How long until the quota is new.
  ///
  /// It is counted by the clock hour, as far as anybody knows: the service does not say. Who asks again
  /// sooner than in minutes is locked out.
  private static func quotaWait(from now: Date) -> Duration {
    .seconds(max(300, 3600 - Int(now.timeIntervalSince1970.rounded(.down)) % 3600))
  }
}

extension HTTPResponse {
  /// Whether this is the page for addresses that asked too much, which has come with status 200.
  fileprivate var isLockout: Bool {
    body.prefix(4096).firstRange(of: Data("<title>Abnormal Traffic".utf8)) != nil
  }
}
