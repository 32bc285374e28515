import Core
import Foundation

/// What randomuser.me sends when all is well.
struct RandomUserReply: Decodable {
  let results: LossyArray<User.Wire>

  /// What the service did; `nil` if it does not say.
  let info: Info?

  /// What the service did, which may be something else than what it was asked.
  struct Info: Decodable {
    let seed: String?
    /// A number, as the service sends it: asked for page 1.5 it says 1.5.
    let page: Double?
    let results: Double?

    /// Refuses a reply to something that was not asked.
    func check(seed: String, page: Int, size: Int) throws(SourceError) {
      func refuse(_ what: String) -> SourceError {
        SourceError(.malformed, "randomuser.me gave other people than it was asked for: \(what)")
      }
      if let given = self.page, given != Double(page) {
        throw refuse("page \(given.formatted) instead of \(page)")
      }
      if let given = self.results, given != Double(size) {
        throw refuse("\(given.formatted) instead of \(size)")
      }
      if let given = self.seed, given != seed { throw refuse("another seed") }
    }
  }
}

/// What randomuser.me sends when something is wrong, with any status: `{"error": "…"}`.
struct RandomUserFailure: Decodable {
  let error: SourceError

  private enum CodingKeys: String, CodingKey { case error }

  /// `nil` if the body is no such failure.
  init?(_ response: HTTPResponse) {
    // A page of people is large and has no such key at its start.
    guard response.body.prefix(64).firstRange(of: Data(#""error""#.utf8)) != nil,
      let failure = try? response.decoded(as: Self.self, by: "randomuser.me")
    else { return nil }
    self = failure
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let words = try container.decode(String.self, forKey: .error)
    error =
      if words.localizedStandardContains("ease up") {
        SourceError(
          .rateLimited, "randomuser.me gives no more people for now",
          remedy: "try again in 5 minutes", retryAfter: .seconds(300))
      } else {
        SourceError(.serverError, "randomuser.me failed: \(words.prefix(120))")
      }
  }
}

extension Double {
  /// Without `.0`.
  fileprivate var formatted: String { self == rounded() && magnitude < 1e15 ? "\(Int(self))" : "\(self)" }
}
