import AggregatorKit
import Foundation

/// randomuser.me (https://randomuser.me/documentation): made-up people, in pages that never end.
///
/// A page is a function of seed, number and size, so seed and size must stay the same throughout a
/// walk: this source asks for pages of one size only, and gives a caller who wants fewer a part of
/// one. The service does not refuse what it cannot do but does something else, so its word on what it
/// did is checked.
struct RandomUser: DataSource, CustomStringConvertible {
  /// After this page the service begins again at page 1.
  static let lastPage = 10_000

  /// The most people that the service gives at a time; of more it gives one.
  static let largestPage = 5000

  private static let service = "randomuser.me"

  let url: URL
  /// Which collection of people.
  ///
  /// Never 18 characters long: the service reads those as something else.
  let seed: String
  let size: Int
  let transport: any Transport
  let now: @Sendable () -> Date

  func page(_ request: PageRequest) async throws(SourceError) -> Page<User> {
    guard request.query == nil else {
      throw SourceError(.badUsage, "randomuser.me has no search of its own")
    }
    let position = try position(of: request.cursor)
    let (reply, provenance) = try await fetch(position.page)
    // The service repeats addresses; one that comes again is the same user.
    var emails: Set<EmailAddress> = []
    let users = reply.results.elements.prefix(size).map(\.user).filter {
      emails.insert($0.email).inserted
    }
    let slice = users.dropFirst(position.skip).prefix(request.limit)
    var next: Position?
    if slice.endIndex < users.endIndex {
      next = Position(page: position.page, skip: slice.endIndex, size: size)
    } else if position.page < Self.lastPage {
      next = Position(page: position.page + 1, size: size)
    }
    return Page(
      Array(slice), next: try next.map { next throws(SourceError) in try seal.close(next) },
      provenance: provenance, unreadable: position.skip == 0 ? reply.results.unreadable : .none)
  }

  /// The service cannot look people up.
  func item(_ id: EmailAddress) async throws(SourceError) -> LookupResult<User> {
    throw SourceError(.unsupported, "randomuser.me cannot look up one person")
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    guard request.query == nil, let position = try? position(of: request.cursor),
      case let (sum, overflow) = position.skip.addingReportingOverflow(count), !overflow,
      sum / size <= Self.lastPage - position.page
    else { return nil }
    let ahead = Position(page: position.page + sum / size, skip: sum % size, size: size)
    return try? seal.close(ahead)
  }

  var description: String { "RandomUser(\(url.absoluteString), seed: \(seed), size: \(size))" }

  /// Another seed gives other people: its cursors are not ours.
  private var seal: CursorSeal { CursorSeal("users.\(seed)", for: nil) }

  private func position(of cursor: Cursor?) throws(SourceError) -> Position {
    guard let position = try seal.open(cursor, as: Position.self) else {
      return Position(size: size)
    }
    guard position.size == size else { throw .resized }
    guard 1...Self.lastPage ~= position.page, 0..<size ~= position.skip else {
      throw .damaged(cursor)
    }
    return position
  }

  private func fetch(_ page: Int) async throws(SourceError) -> (RandomUserReply, Provenance) {
    let request = HTTPRequest(
      .get, url,
      query: [
        .init("seed", .plain(seed)), .init("page", "\(page)"), .init("results", "\(size)"),
      ])
    let response = try await transport.send(request)
    if let failure = RandomUserFailure(response) { throw failure.error(at: now()) }
    let reply: RandomUserReply = try response.checked(by: Self.service, now: now())
      .decoded(by: Self.service)
    try reply.info?.check(seed: seed, page: page, size: size)
    return (reply, Provenance(.live, fetchedAt: now(), endpoint: request.endpoint))
  }

  /// A page of the service, and how many of its people were given already.
  private struct Position: Codable {
    var page = 1
    var skip = 0
    /// The page size that the page number counts in.
    var size: Int

    private enum CodingKeys: String, CodingKey { case page = "p", skip = "s", size = "n" }
  }
}

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
