import AggregatorCore
import AggregatorFoundation
import AggregatorHTTP

/// Signs the requests to one service, and sends all others as they are.
///
/// It belongs outside a transport that records: a recording then has the requests as they were sent, without their
/// secrets, and a replay needs none.
struct AuthorizingTransport: Transport {
  enum Signature: Sendable {
    /// The value of the `Authorization` field, and the settings that it was made from.
    case basic(field: Secret, keys: [String])
    case token(TokenChain)
    /// A replay, in which nothing is signed: it repeats a request after a 401 as the recorded run did, if that renewed a
    /// token.
    case replayed(isRenewed: Bool)
  }

  let base: any Transport
  let service: Address
  let signature: Signature

  /// Sends a request with the present access token, and once more with a new one if the service says 401.
  ///
  /// - Throws: ``SourceError`` as the other transport, as ``TokenChain/token(insteadOf:)``, and `invalidKey` for a 401.
  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    guard let address = Address(request.url), address.isSameService(as: service) else {
      return try await base.send(request)
    }
    switch signature {
    case .basic(let field, let keys):
      let response = try await base.send(request.signed(by: field))
      let names = keys.isEmpty ? "the user name and the password" : keys.joined(separator: " and ")
      return try accepted(response, or: "does not accept \(names)")
    case .token(let chain):
      let token = try await chain.token()
      let response = try await base.send(request.signed(by: token, of: chain))
      guard response.status == 401 else { return response }
      let other = try await chain.token(insteadOf: token)
      return try accepted(
        try await base.send(request.signed(by: other, of: chain)),
        or: "does not accept the access token of \(chain.grant.authority)")
    case .replayed(let isRenewed):
      var response = try await base.send(request)
      if isRenewed, response.status == 401 { response = try await base.send(request) }
      return try accepted(response, or: "does not accept the credentials")
    }
  }

  private func accepted(
    _ response: HTTPResponse, or refusal: String
  ) throws(SourceError) -> HTTPResponse {
    guard response.status == 401 else { return response }
    throw SourceError(
      .invalidKey, "\(service.authority) \(refusal) (401)\(response.excerpt)",
      remedy: "check them, and what they allow")
  }
}

extension Address {
  fileprivate func isSameService(as other: Address) -> Bool {
    scheme == other.scheme && host == other.host && port == other.port
  }
}

extension HTTPRequest {
  fileprivate func signed(by field: Secret, hiding others: [Secret] = []) -> HTTPRequest {
    var request = self
    request.headers.removeAll { $0.name.lowercased() == "authorization" }
    request.headers.append(.init("Authorization", .secret(field)))
    request.otherSecrets += others
    return request
  }

  /// The request with a bearer token (RFC 6750, section 2.1).
  fileprivate func signed(by token: AccessToken, of chain: TokenChain) -> HTTPRequest {
    signed(by: Secret(prefix: "Bearer ", token.secret), hiding: chain.secrets)
  }
}
