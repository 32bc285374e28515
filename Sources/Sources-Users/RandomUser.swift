import AggregatorKit

/// randomuser.me (https://randomuser.me/documentation): made-up people, in endless pages.
///
/// A page is a function of seed, number and size, so this source always requests pages of one size,
/// and returns parts of them for smaller limits. The service never rejects a request that it cannot
/// fulfil but does something else, so the parameters that it returns are checked.
struct RandomUser: DataSource, CustomStringConvertible {
  /// After this page the service restarts at page 1.
  static let lastPage = 10_000

  /// The largest page of the service; larger requests return one person.
  static let largestPage = 5000

  private static let service = "randomuser.me"

  let url: URL
  /// The collection of people.
  ///
  /// Never 18 characters long: the service gives such seeds another meaning.
  let seed: String
  let size: Int
  let transport: any Transport
  let now: @Sendable () -> Date

  func page(_ request: PageRequest) async throws(SourceError) -> Page<User> {
    guard request.query == nil else {
      throw SourceError(.invalidRequest, "randomuser.me has no search")
    }
    let position = try position(of: request.cursor)
    let (reply, provenance) = try await fetch(position.number)
    // The service repeats addresses; a repeated address is the same user.
    var emails: Set<EmailAddress> = []
    let users = reply.results.elements.prefix(size).map(\.user).filter {
      emails.insert($0.email).inserted
    }
    let slice = users.dropFirst(position.skip).prefix(request.limit)
    let next = position.next(after: slice.endIndex, of: users.count, isLast: false)
    return Page(
      Array(slice), next: try next.map { next throws(SourceError) in try seal.close(next) },
      provenance: provenance, unreadable: position.skip == 0 ? reply.results.unreadable : .none)
  }

  func item(
    _ id: EmailAddress, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<User> {
    throw SourceError(.unsupported, "randomuser.me does not support lookups")
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    guard request.query == nil, let position = try? position(of: request.cursor) else { return nil }
    return position.skipping(count).flatMap { try? seal.close($0) }
  }

  var description: String { "RandomUser(\(url.absoluteString), seed: \(seed), size: \(size))" }

  /// Another seed has other people, so its cursors are rejected.
  private var seal: CursorSeal { CursorSeal("users.\(seed)", for: nil) }

  private func position(of cursor: Cursor?) throws(SourceError) -> PagePosition {
    let first = PagePosition(
      size: size, largest: Self.largestPage, deepest: Self.lastPage * size)
    let position = try first.opening(cursor, with: seal)
    guard position.size == size else { throw .resized }
    guard position.skip < size else { throw .damaged(cursor) }
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
}

/// A successful response.
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
    func check(seed: String, page: Int, size: Int) throws(SourceError) {
      func refuse(_ what: String) -> SourceError {
        SourceError(.malformed, "randomuser.me returned different people than requested: \(what)")
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

/// An error message, with any status: `{"error": "…"}`.
struct RandomUserFailure {
  private let words: String
  private let response: HTTPResponse

  /// `nil` if the response is not an error message, or if its status is more precise.
  init?(_ response: HTTPResponse) {
    // A page of people is large and does not start with this key.
    guard response.body.prefix(64).firstRange(of: Data(#""error""#.utf8)) != nil,
      let envelope = try? response.decoded(as: Envelope.self, by: "randomuser.me")
    else { return nil }
    words = envelope.error
    self.response = response
    guard isAskedTooOften || 200..<300 ~= response.status else { return nil }
  }

  /// The error `rateLimited` or `serverError`, determined by the message, not the status.
  func error(at now: Date) -> SourceError {
    guard isAskedTooOften else {
      return SourceError(.serverError, "randomuser.me failed: \(words.oneLine(atMost: 80))")
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
