import AggregatorKit
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

/// What randomuser.me says when it gives nothing, with any status: `{"error": "…"}`.
struct RandomUserFailure {
  private let words: String
  private let response: HTTPResponse

  /// `nil` if the reply is no such failure, or one that its status tells better.
  init?(_ response: HTTPResponse) {
    // A page of people is large and has no such key at its start.
    guard response.body.prefix(64).firstRange(of: Data(#""error""#.utf8)) != nil,
      let envelope = try? response.decoded(as: Envelope.self, by: "randomuser.me")
    else { return nil }
    words = envelope.error
    self.response = response
    guard isAskedTooOften || 200..<300 ~= response.status else { return nil }
  }

  /// The failure, which the service tells by its words and not by its status.
  ///
  /// - Parameter now: The date from which a `Retry-After` counts.
  /// - Returns: `rateLimited`, or `serverError`.
  func error(at now: Date) -> SourceError {
    guard isAskedTooOften else {
      return SourceError(.serverError, "randomuser.me failed: \(words.oneLine(atMost: 80))")
    }
    // It counts in windows of five minutes.
    return SourceError(
      .rateLimited, "randomuser.me gives no more people for now", remedy: "try again in 5 minutes",
      retryAfter: response.retryAfter(from: now) ?? .seconds(300))
  }

  private var isAskedTooOften: Bool { Folded(words).contains(Folded("ease up")) }

  private struct Envelope: Decodable { let error: String }
}

extension Double {
  /// Without `.0`.
  fileprivate var formatted: String {
    self == rounded() && magnitude < 1e15 ? "\(Int(self))" : "\(self)"
  }
}
