package import AggregatorKit
package import AggregatorTestSupport
import Foundation
import Synchronization

/// A service that issues tokens (RFC 6749) on 127.0.0.1: for one client, with or without a refresh token.
///
/// Deinitialisation stops it.
package final class FakeLogin: Sendable {
  /// The credentials of the client, whose characters are different when they are form-encoded.
  package static let id = "shop client:1"
  package static let secret = "s3cret/of+the=client"
  /// The refresh token of the person who signed in.
  package static let refresh = "refresh-token-number-0"

  /// The parts of the login that tests change.
  package struct Behavior: Sendable {
    /// The lifetime that replies name; `nil` to name none.
    package var lifetime: JSON? = 3600
    /// True to replace the refresh token at each use.
    package var isRotating = false
    /// The requests that an access token is good for; `nil` for no limit.
    package var uses: Int?
    /// The place of the client's credentials.
    package var sending = Authorization.Sending.basic
    /// A reply instead of a token.
    package var reply: LoopbackReply?
    /// Runs before a reply, on the thread of the connection.
    package var pause: (@Sendable () -> Void)?
    /// The name of the next access token, before its number.
    package var prefix = "access-token-number-"
  }

  fileprivate struct State {
    var behavior = Behavior()
    var refresh = FakeLogin.refresh
    var issued = 0
    var rotations = 0
    var isRevoked = false
    /// The access tokens, when they end, and how often they were used.
    var tokens: [String: (end: Date?, uses: Int)] = [:]
  }

  fileprivate final class Issuer: Sendable {
    let state = Mutex(State())
    let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date) { self.now = now }
  }

  fileprivate let issuer: Issuer
  package let server: LoopbackServer

  package init(now: @escaping @Sendable () -> Date = { Date() }) throws(SourceError) {
    let issuer = Issuer(now: now)
    self.issuer = issuer
    server = try LoopbackServer { issuer.reply(to: $0) }
  }

  /// The URL at which tokens are issued.
  package var url: URL { server.baseURL.appending(path: "/oauth/token") }

  package var issued: Int { issuer.state.withLock(\.issued) }

  /// The refresh token that is good now.
  package var refresh: String { issuer.state.withLock(\.refresh) }

  /// The number of refresh tokens that have been replaced.
  package var rotations: Int { issuer.state.withLock(\.rotations) }

  /// All access tokens that were issued.
  package var accessTokens: [String] { issuer.state.withLock { Array($0.tokens.keys) } }

  package func change(_ body: (inout Behavior) -> Void) {
    issuer.state.withLock { body(&$0.behavior) }
  }

  /// Ends the grant of the person, or of everybody.
  package func revoke() { issuer.state.withLock { $0.isRevoked = true } }

  /// The person signs in again, with another refresh token.
  package func signIn(with refresh: String) {
    issuer.state.withLock { state in
      state.refresh = refresh
      state.isRevoked = false
    }
  }

  /// Ends all access tokens.
  package func expire() {
    issuer.state.withLock { state in
      state.tokens = state.tokens.mapValues { (.distantPast, $0.uses) }
    }
  }

  /// True if a field `Authorization` has an access token that is good for one more request.
  package func accepts(_ field: String?) -> Bool {
    guard let field, field.hasPrefix("Bearer ") else { return false }
    return issuer.accepts(String(field.dropFirst("Bearer ".count)))
  }
}

extension FakeLogin.Issuer {
  func accepts(_ token: String) -> Bool {
    state.withLock { state in
      guard let known = state.tokens[token], known.end.map({ now() < $0 }) ?? true,
        state.behavior.uses.map({ known.uses < $0 }) ?? true
      else { return false }
      state.tokens[token]?.uses += 1
      return true
    }
  }

  func reply(to request: LoopbackRequest) -> LoopbackReply {
    state.withLock(\.behavior).pause?()
    let form = request.form
    return state.withLock { state in
      if let reply = state.behavior.reply { return reply }
      guard isClient(request, form, state.behavior.sending) else {
        return .error(401, "invalid_client")
      }
      let isRefreshing = form["grant_type"] == "refresh_token"
      if isRefreshing, state.isRevoked || form["refresh_token"] != state.refresh {
        return .error(400, "invalid_grant")
      }
      state.issued += 1
      let token = "\(state.behavior.prefix)\(state.issued)"
      var members: [JSON.Member] = [
        .init("access_token", .string(token)), .init("token_type", "bearer"),
      ]
      var end: Date?
      if let lifetime = state.behavior.lifetime {
        members.append(.init("expires_in", lifetime))
        end = Double(lifetime.text.filter { $0 != "\"" }).map { now().addingTimeInterval($0) }
      }
      if isRefreshing {
        if state.behavior.isRotating {
          state.rotations += 1
          state.refresh = "refresh-token-number-\(state.rotations)"
        }
        members.append(.init("refresh_token", .string(state.refresh)))
      }
      state.tokens[token] = (end, 0)
      return .json(JSON.object(members).text)
    }
  }

  private func isClient(
    _ request: LoopbackRequest, _ form: [String: String], _ sending: Authorization.Sending
  ) -> Bool {
    let (id, secret) = (FakeLogin.id, FakeLogin.secret)
    if sending == .body { return form["client_id"] == id && form["client_secret"] == secret }
    guard let field = request.header("Authorization"), field.hasPrefix("Basic "),
      let data = Data(base64Encoded: String(field.dropFirst("Basic ".count)))
    else { return false }
    let text = String(decoding: data, as: UTF8.self)
    if sending == .basicRaw { return text == "\(id):\(secret)" }
    let parts = text.split(separator: ":").map { $0.removingPercentEncoding }
    return parts == [id, secret]
  }
}

extension LoopbackRequest {
  /// The fields of a form.
  package var form: [String: String] {
    let items = String(decoding: body, as: UTF8.self).split(separator: "&").map { item in
      item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        $0.replacing("+", with: " ").removingPercentEncoding ?? ""
      }
    }
    return Dictionary(items.map { ($0[0], $0.dropFirst().first ?? "") }) { first, _ in first }
  }
}

extension LoopbackReply {
  /// A refusal (RFC 6749, section 5.2).
  static func error(_ status: Int, _ code: String) -> LoopbackReply {
    let body = #"{"error": "\#(code)", "error_description": "no entry for \#(FakeLogin.refresh)"}"#
    return .status(status, body, headers: [("Content-Type", "application/json")])
  }
}

/// A shop whose list of orders, eight pages of five, needs an access token of a ``FakeLogin``, or a password.
package final class FakeShop: Sendable {
  package static let user = "mary"
  package static let password = "open sesame, please"
  package static let count = 40
  package static let pageSize = 5

  package let server: LoopbackServer

  /// - Parameter pause: Runs before each page, on the thread of the connection.
  package init(
    _ login: FakeLogin?, pause: @escaping @Sendable (LoopbackRequest) -> Void = { _ in }
  ) throws(SourceError) {
    server = try LoopbackServer { request in
      let field = request.header("Authorization")
      let basic = Data("\(Self.user):\(Self.password)".utf8).base64EncodedString()
      guard login?.accepts(field) ?? (field == "Basic \(basic)") else {
        return .status(401, #"{"error": "who are you?"}"#)
      }
      pause(request)
      let page = max(1, request.query["page"].flatMap { Int($0) } ?? 1)
      let limit = request.query["limit"].flatMap { Int($0) } ?? Self.pageSize
      let size = max(1, min(limit, Self.pageSize))
      let rows = (0..<Self.count).dropFirst((page - 1) * size).prefix(size).map { number in
        // Careless services repeat what they were sent.
        #"{"id": \#(number), "name": "order \#(number)", "note": "by \#(field ?? "")"}"#
      }
      return .json(
        #"{"items": [\#(rows.joined(separator: ","))], "total": \#(Self.count)}"#)
    }
  }

  package var url: URL { server.baseURL.appending(path: "/orders") }

  /// The pages that were requested and sent, in order.
  package var pages: [String] { server.requests.map { $0.query["page"] ?? "1" } }
}
