import AggregatorKit
import Foundation

@testable import AggregatorAuthorization

/// The replies of services that issue tokens.
extension FuzzTarget {
  static let signingIn = [tokenReply]

  private static let date = Date(timeIntervalSince1970: 1_800_000_000)

  private static let tokenReply = FuzzTarget(
    "token-reply",
    samples: [
      #"{"access_token": "abcdefghijkl", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "mnopqrstuvwx"}"#,
      #"{"access_token": "abc.def-ghi", "expires_in": "1e400", "scope": "a b"}"#,
      #"{"error": "invalid_grant", "error_description": "no entry for a-refresh-token-of-4711"}"#,
      #"{"error": {"code": 7}, "access_token": ""}"#, "<html><title>Sign in</title></html>", "",
    ].map { Array($0.utf8) },
    tokens: [
      "\"access_token\":", "\"expires_in\":", "\"error\":\"invalid_client\"", "-1", "0", "1e99",
      "\"mac\"", "\\u000a", "\\ud800", "null",
    ]
  ) { bytes in
    guard let url = URL(string: "https://login.example/token") else { return }
    let secret = Setting("FUZZ_SECRET", .secret, about: "")
    let refresh = "a-refresh-token-of-4711"
    let client = Authorization.Client(token: url, id: .text("id"), secret: .setting(secret))
    let grant = try Grant(
      client, refreshing: .setting(secret), in: SourceSettings([secret: "a-secret-of-the-client"]))
    for status in [200, 400, 401, 503] {
      let response = HTTPResponse(status: status, body: Data(bytes))
      let reply: TokenReply
      do throws(SourceError) {
        reply = try TokenReply(response, to: grant, refreshing: Secret(refresh), at: date)
      } catch {
        try expectHarmless(error)
        try expect(!error.message.contains(refresh), "an error with the refresh token")
        continue
      }
      try expect(status == 200, "a token with the status \(status)")
      let isVisible = reply.access.secret.reveal { text in
        !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
      }
      try expect(isVisible, "a token that no header field can have")
      try expect(reply.access.renewal.map { $0 > date } ?? true, "a token that ends at once")
    }
  }
}
