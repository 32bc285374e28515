public import AggregatorSourceTesting

/// What randomuser.me, or what stands in front of it, says instead of people.
public enum RandomUserFault: CaseIterable, Sendable {
  /// More people were asked for than is liked: 429, JSON; or 503, as before August 2020; or even 200.
  case tooMany, tooManyAs503, tooManyAs200
  /// Something has gone wrong: 500, JSON; or 200.
  case wrong, wrongAs200
  /// 500, plain text.
  case broken
  /// 404, plain text.
  case unknownVersion
  /// The address is not liked: 403, HTML of Cloudflare.
  case blocked
  /// 503, HTML.
  case outage
  /// A page for people: 200, HTML.
  case page

  /// The reply.
  public var reply: LoopbackReply {
    switch self {
    case .tooMany: .json(Self.easeUp, status: 429)
    case .tooManyAs503: .json(Self.easeUp, status: 503)
    case .tooManyAs200: .json(Self.easeUp)
    case .wrong: .json(Self.uhOh, status: 500)
    case .wrongAs200: .json(Self.uhOh)
    case .broken: .status(500, "Internal Server Error", headers: Self.text)
    case .unknownVersion: .status(404, "Not Found", headers: Self.text)
    case .blocked: .html(title: "Attention Required! | Cloudflare", status: 403)
    case .outage: .html(title: "503 Service Unavailable", status: 503)
    case .page: .html(title: "Random User Generator | Home")
    }
  }

  private static let text = [("Content-Type", "text/plain; charset=utf-8")]

  private static let easeUp = """
    {"error":"Whoa, ease up there cowboy. You've requested 20192 users in the last minute. Help us \
    keep this service free and spare some bandwidth for other users please :)"}
    """
  private static let uhOh = """
    {"error":"Uh oh, something has gone wrong. Please tweet us @randomapi about the issue. Thank you."}
    """
}

/// What can be wrong with a page of people that says that all is well.
public enum RandomUserQuirk: CaseIterable, Sendable {
  /// There is no `info`.
  case withoutInfo
  /// `info` says page 1.5.
  case halfPage
  /// `info` names another seed.
  case otherSeed
  /// Sends three people more than it says.
  case generous
  /// The second, third and fourth row cannot be read: no e-mail address, no name, null.
  case badRows
  /// The first row is as in version 1.2.
  case oldRow
  /// Nobody comes.
  case nobody
  /// The first half of a page is the second half of the page before.
  case repeating
}
