import AggregatorCore
import AggregatorFoundation
import AggregatorHTTP
import AggregatorText

/// An access token, and when to renew it.
struct AccessToken: Hashable, Sendable {
  let secret: Secret

  /// The date from which it is renewed; `nil` to use it until the service refuses it.
  let renewal: Date?

  func isFresh(at now: Date) -> Bool { renewal.map { now < $0 } ?? true }
}

// MARK: - Request

extension Grant {
  /// The longest time for a renewal.
  static let maxTime = Duration.seconds(30)

  private static let maxReply = 1 << 20

  /// The request of a token (RFC 6749, sections 4.4.2 and 6).
  func request(refreshing refresh: Secret?) -> HTTPRequest {
    var fields = [("grant_type", refresh == nil ? "client_credentials" : "refresh_token")]
    if let refresh { fields.append(("refresh_token", refresh.reveal(\.self))) }
    if let scope { fields.append(("scope", scope)) }
    fields += parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    var headers = [
      HTTPRequest.Item("Content-Type", "application/x-www-form-urlencoded"),
      HTTPRequest.Item("Accept", "application/json"),
    ]
    switch (sending, secret) {
    case (.basic, let secret?):
      let credentials = "\(id.text.percentEncoded):\(secret.text.percentEncoded)"
      headers.append(
        .init("Authorization", .secret(Authorization.basicField(credentials))))
    case (.basicRaw, let secret?):
      let field = Authorization.basicField("\(id.text):\(secret.text)")
      headers.append(.init("Authorization", .secret(field)))
    case (.body, let secret?):
      fields += [("client_id", id.text), ("client_secret", secret.text)]
    // A public client says who it is (RFC 6749, section 3.2.1).
    case (_, nil): fields.append(("client_id", id.text))
    }
    let body = fields.map { "\($0.0.percentEncoded)=\($0.1.percentEncoded)" }
    var limits = HTTPLimits.standard
    (limits.bodyBytes, limits.idle, limits.overall) = (Self.maxReply, Self.maxTime, Self.maxTime)
    var request = HTTPRequest(
      .post, token, headers: headers, body: Data(body.joined(separator: "&").utf8), limits: limits)
    request.otherSecrets = secrets + [refresh].compactMap(\.self)
    request.receivesCredentials = true
    return request
  }
}

// MARK: - Reply

/// The tokens of a successful reply (RFC 6749, section 5.1).
struct TokenReply: Sendable {
  let access: AccessToken

  /// The refresh token that replaces the one that was sent; `nil` to keep it.
  let refresh: Secret?

  private static let maxTokenBytes = 16 << 10

  /// The longest lifetime that is believed: ten years.
  private static let maxLifetime = 315_360_000.0

  /// The longest time before its end at which a token is renewed, in seconds.
  private static let maxMargin = 30.0

  /// Reads the reply to a request that was sent at a date.
  ///
  /// - Throws: ``SourceError``: `invalidKey` if the client or the refresh token is refused, and as
  ///   ``HTTPResponse/checked(by:wantsKey:now:)``. No text of the reply is in it but the reason of the refusal.
  init(
    _ response: HTTPResponse, to grant: Grant, refreshing refresh: Secret?, at date: Date
  ) throws(SourceError) {
    let document = JSONText(response.body).map { JSON($0) } ?? .null
    guard 200..<300 ~= response.status, document["error"]?.nonEmptyText == nil else {
      let scanner = SecretScanner(grant.secrets + [refresh].compactMap(\.self))
      // Once more, because a message is without the control characters that a service put into a secret.
      throw scanner.redacted(grant.refusal(response, document, hiding: scanner, at: date))
    }
    let service = grant.authority
    guard let access = document["access_token"]?.nonEmptyText, access.isToken else {
      throw SourceError(.malformed, "\(service) sent no access token")
    }
    if let type = document["token_type"]?.nonEmptyText, type.lowercased() != "bearer" {
      let scanner = SecretScanner(grant.secrets + [refresh, Secret(access)].compactMap(\.self))
      let shown = scanner.redacted(type).oneLine(atMost: 20)
      throw SourceError(.malformed, "\(service) sent an access token of the type \"\(shown)\"")
    }
    let lifetime = document["expires_in"]?.lifetime.map { min($0, Self.maxLifetime) }
    self.access = AccessToken(
      secret: Secret(access),
      renewal: lifetime.map { date.addingTimeInterval($0 - min(Self.maxMargin, $0 / 2)) })
    let new = document["refresh_token"]?.nonEmptyText
    guard new.map({ $0.utf8.count <= Self.maxTokenBytes }) ?? true else {
      throw SourceError(.malformed, "\(service) sent a refresh token that is too long")
    }
    self.refresh = new.map { Secret($0) }
  }
}

extension String {
  /// True for text that a header field can have: visible ASCII, up to 16 KiB.
  fileprivate var isToken: Bool {
    utf8.count <= 16 << 10 && utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }
}

extension JSON {
  fileprivate var nonEmptyText: String? {
    if case .string(let text) = self, !text.isEmpty { text } else { nil }
  }

  /// A lifetime in seconds, which some services send as text; zero often means that there is no end.
  fileprivate var lifetime: Double? {
    let number: Double? =
      switch self {
      case .integer(let integer): Double(integer)
      case .number(let number): number
      case .string(let text): Double(text)
      default: nil
      }
    return number.flatMap { $0 >= 1 && $0.isFinite ? $0 : nil }
  }
}

// MARK: - Refusals

extension Grant {
  /// The errors by which services refuse the client (RFC 6749, section 5.2).
  private static let clientErrors: Set = [
    "invalid_client", "unauthorized_client", "incorrect_client_credentials",
  ]

  /// The errors by which services refuse the refresh token.
  private static let grantErrors: Set = ["invalid_grant", "bad_refresh_token"]

  fileprivate func refusal(
    _ response: HTTPResponse, _ document: JSON, hiding scanner: SecretScanner, at date: Date
  ) -> SourceError {
    // Cut afterwards: a part of a secret would not be found.
    let reason = document["error"]?.nonEmptyText.map { scanner.redacted($0).oneLine(atMost: 40) }
    let words = document["error_description"]?.nonEmptyText.map {
      ": \(scanner.redacted($0).oneLine(atMost: 120))"
    }
    let said = "(\(reason ?? "\(response.status)"))\(words ?? "")"
    if let refresh = self.refresh, Self.grantErrors.contains(reason ?? "") {
      return SourceError(
        .invalidKey,
        "\(authority) does not accept the refresh token of \(refresh.key ?? "this source") any more \(said): "
          + "it was revoked, has expired, or was used on another machine; sign in again",
        remedy: "sign in at the service on this machine, and set the new refresh token")
    }
    if Self.clientErrors.contains(reason ?? "") || Self.grantErrors.contains(reason ?? "")
      || reason == nil && response.status == 401
    {
      let names = [id.key, secret?.key].compactMap(\.self).joined(separator: " and ")
      return SourceError(
        .invalidKey,
        "\(authority) does not accept \(names.isEmpty ? "the client" : names) \(said)",
        remedy: "check the ID and the secret of the client, and how they are sent")
    }
    if let reason, response.status < 429 {
      return SourceError(
        .rejected, "\(authority) refuses to issue a token \(said)",
        remedy: reason == "invalid_scope" ? "check the scope" : nil)
    }
    do {
      _ = try scanner.redacted(response).checked(by: authority, now: date)
      return SourceError(.malformed, "\(authority) sent no access token")
    } catch { return error }
  }
}
