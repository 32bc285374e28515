import Core
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
    if !(200..<300 ~= response.status) {
      // The service's own words, where there are any, say more than the status.
      if let status = try? response.decoded(as: ComicVineStatus.self, by: service), !status.isFine {
        throw status.failure(at: now)
      }
    } else if response.body.prefix(4096).firstRange(of: Data("<title>Abnormal Traffic".utf8)) != nil {
      throw SourceError(
        .rejected, "Comic Vine has locked this address out for abnormal traffic",
        remedy: "ask again in a day or two, and more slowly")
    }
    self = try response.checked(by: service, now: now).decoded(by: service)
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

  /// The failure that a code other than 1 stands for (API documentation, "Status Codes").
  func failure(at now: Date) -> SourceError {
    switch code {
    case 100:
      return SourceError(
        .invalidKey, "Comic Vine does not accept the key",
        remedy: "look it up at https://comicvine.gamespot.com/api")
    case 107:
      // The quota is counted by the clock hour, and the service does not say when it is over.
      let wait = 3600 - Int(now.timeIntervalSince1970.rounded(.down)) % 3600
      return SourceError(
        .rateLimited, "Comic Vine's hourly quota for this kind of request is used up",
        remedy: "try again in \(wait / 60 + 1) min", retryAfter: .seconds(wait))
    case 105:
      return SourceError(.rejected, "Comic Vine gives this to subscribers only")
    default:
      let words = message.map { ": \($0.prefix(80))" } ?? ""
      return SourceError(.rejected, "Comic Vine refused the request (\(code)\(words))")
    }
  }
}
