package import AggregatorAPI
import AggregatorFiles
package import AggregatorKit
package import AggregatorServer
import AggregatorTerminal

/// Decides which requests are answered: those with the access token, for a name of this server, and from a page of
/// its own.
///
/// A web page of another site can make a browser send requests here, and by DNS rebinding under a name of its own:
/// so `Host` and `Origin` are checked besides the token.
package struct Access: Sendable {
  /// The secrets of a server, which survive a restart.
  package struct Secrets: Hashable, Sendable {
    /// The token that programs send as `Authorization: Bearer`.
    package let token: String
    /// The value of a browser's cookie, so that the token itself is never in a page or a cookie.
    package let session: String

    /// A name of this machine that nobody else's server has.
    ///
    /// Cookies ignore ports: one for 127.0.0.1 is sent to the servers of all users of this machine. The name stays as
    /// long as the cookie, so that bookmarks do. It has 64 of the 256 bits of its secret at most.
    package var hostName: String {
      "\("\(session) host".fnv1a.text(radix: 16, digits: 16)).localhost"
    }
  }

  /// The names of every server of this machine.
  package static let loopbackNames = ["127.0.0.1", "localhost", "[::1]"]

  /// A name under which clients ask for a server, maybe through a proxy that speaks TLS.
  package struct Name {
    let host: String
    /// `nil` for the port at which the server listens.
    var port: Int?
    var isSecure = false

    /// A name, or an address with IPv6 in brackets.
    package init(host: String) { self.host = host.lowercased() }

    /// Reads `NAME`, `NAME:PORT` or an origin such as `https://NAME`, whose default port is that of its scheme; `nil` for
    /// anything else.
    package init?(_ text: String) {
      let form = /(?:(http|https):\/\/)?([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?/
      guard let match = text.lowercased().wholeMatch(of: form) else { return nil }
      host = String(match.2)
      isSecure = match.1 == "https"
      port = match.3.flatMap { Int($0) } ?? match.1.map { _ in isSecure ? 443 : 80 }
      guard port.map({ 1...65535 ~= $0 }) ?? true else { return nil }
    }
  }

  /// The origin of the server's own pages under a value of `Host`, and the cookie there.
  fileprivate struct OwnOrigin {
    let text: String
    /// The name of the cookie: cookies ignore ports, so that it contains the port that the browser sees.
    let cookie: String
    let isSecure: Bool
  }

  /// `nil` if everyone may access the server.
  package let secrets: Secrets?
  /// By the values of `Host` that are this server's, in lower case.
  private let ownOrigins: [String: OwnOrigin]
  /// The values of every server of this machine.
  private let sharedHosts: Set<String>
  /// ``Secrets/hostName`` with the port; `nil` if it is not a name of this server.
  private let sessionHost: String?
  /// Other origins whose pages may use the API, in lower case.
  package let allowedOrigins: Set<String>
  /// True if records may be deleted, restored and downloaded.
  package let mayChange: Bool

  /// - Parameter port: The port at which the server listens.
  package init(
    secrets: Secrets?, names: [Name], port: Int, allowedOrigins: Set<String>,
    mayChange: Bool
  ) {
    self.secrets = secrets
    func origins(_ names: [Name]) -> [String: OwnOrigin] {
      var origins: [String: OwnOrigin] = [:]
      for name in names {
        let port = name.port ?? port
        let isDefault = port == (name.isSecure ? 443 : 80)
        let text = "\(name.isSecure ? "https" : "http")://\(name.host)"
        let origin = OwnOrigin(
          text: isDefault ? text : "\(text):\(port)", cookie: "aggregator_\(port)",
          isSecure: name.isSecure)
        origins["\(name.host):\(port)"] = origin
        if isDefault { origins[name.host] = origin }
      }
      return origins
    }
    ownOrigins = origins(names)
    sharedHosts = Set(origins(Self.loopbackNames.map(Name.init(host:))).keys)
    sessionHost = secrets.map(\.hostName).flatMap { host in
      names.contains { $0.host == host } ? "\(host):\(port)" : nil
    }
    self.allowedOrigins = allowedOrigins
    self.mayChange = mayChange
  }

  private func ownOrigin(of request: ServerRequest) -> OwnOrigin? {
    request.header("Host").flatMap { ownOrigins[$0.lowercased()] }
  }

  /// The address of the server, as the client of a request knows it.
  func origin(for request: ServerRequest) -> String { ownOrigin(of: request)?.text ?? "" }

  /// Refuses a request that another site could have caused.
  package func check(_ request: ServerRequest) throws(Problem) {
    guard request.header("Host") != nil else {
      throw Problem(400, "invalidRequest", "the request has no Host")
    }
    // Other names are those of a page that wants to look like this server.
    guard ownOrigin(of: request) != nil else {
      throw Problem(
        421, "unknownHost", "this server does not answer for the host of the request",
        hint: "use the address that it printed, or name the host with --host")
    }
    if let origin = request.header("Origin") {
      guard isOwn(origin) || allows(origin) else {
        throw Problem(
          403, "foreignOrigin", "requests from pages of \(origin.oneLine(atMost: 80)) are refused",
          hint: "allow the origin with --allow-origin")
      }
    } else if request.isChange, !hasToken(request) {
      guard admits(request) else { throw .unauthorized }
      // A browser names the origin of every change.
      throw Problem(403, "foreignOrigin", "a change without Origin and bearer token is refused")
    }
  }

  func admits(_ request: ServerRequest) -> Bool {
    guard let secrets else { return true }
    if hasToken(request) { return true }
    guard let origin = ownOrigin(of: request) else { return false }
    return request.cookies(named: origin.cookie).contains {
      $0.isEqualInConstantTime(to: secrets.session)
    }
  }

  /// The origin that may read the response, for `Access-Control-Allow-Origin`; `nil` for this server's own pages.
  func foreignOrigin(of request: ServerRequest) -> String? {
    request.header("Origin").flatMap { allows($0) ? $0 : nil }
  }

  /// The redirect that takes the token out of the address and gives the browser its cookie; `nil` if the address
  /// has no token, and a refusal if it is wrong.
  ///
  /// A browser that finds ``Secrets/hostName`` is first redirected to it, with the token, and loses its cookie for
  /// the name that all servers of this machine share.
  func exchange(_ request: ServerRequest) throws(Problem) -> ServerResponse? {
    guard let secrets, request.method == "GET", let token = request.parameter("token") else {
      return nil
    }
    guard token.isEqualInConstantTime(to: secrets.token) else { throw .unauthorized }
    guard let host = request.header("Host")?.lowercased(), let origin = ownOrigins[host] else {
      return nil
    }
    if let sessionHost, sharedHosts.contains(host), request.resolvesNamesOfLocalhost {
      let address = request.address(replacing: "token", by: token)
      return origin.redirect(
        303, "Location", "http://\(sessionHost)\(address)", cookie: "", maxAge: 0)
    }
    let address = request.address(replacing: "token", by: nil)
    let year = 31_536_000
    // After a redirect from another host, Firefox sends no strict cookie on any further one.
    return host == sessionHost
      ? origin.redirect(200, "Refresh", "0; url=\(address)", cookie: secrets.session, maxAge: year)
      : origin.redirect(303, "Location", address, cookie: secrets.session, maxAge: year)
  }

  private func hasToken(_ request: ServerRequest) -> Bool {
    guard let secrets else { return true }
    guard let field = request.header("Authorization"), field.lowercased().hasPrefix("bearer ")
    else { return false }
    return String(field.dropFirst(7)).isEqualInConstantTime(to: secrets.token)
  }

  /// True unless a page of another origin has sent a request, also an allowed one.
  func isOwn(_ request: ServerRequest) -> Bool { request.header("Origin").map(isOwn) ?? true }

  private func isOwn(_ origin: String) -> Bool {
    let origin = origin.lowercased()
    return ownOrigins.values.contains { $0.text == origin }
  }

  private func allows(_ origin: String) -> Bool { allowedOrigins.contains(origin.lowercased()) }
}

extension Access.OwnOrigin {
  fileprivate func redirect(
    _ status: Int, _ field: String, _ target: String, cookie value: String, maxAge: Int
  ) -> ServerResponse {
    let rules =
      "Path=/; Max-Age=\(maxAge); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    return ServerResponse(
      status, "text/plain; charset=utf-8", [],
      headers: [
        .init(field, target), .init("Cache-Control", "no-store"),
        .init("Set-Cookie", "\(cookie)=\(value); \(rules)"),
      ])
  }
}

extension Problem {
  static let unauthorized = Problem(
    401, "unauthorized", "the access token is missing or wrong",
    hint: """
      open the address that the command serve printed: it signs the browser in under one name of this machine, and \
      others stay locked; programs send Authorization: Bearer TOKEN
      """)
}

extension ServerRequest {
  var isChange: Bool { !["GET", "HEAD", "OPTIONS"].contains(method) }

  /// True for a browser that takes each name that ends in `.localhost` for this machine (RFC 6761, section 6.3), and
  /// does not ask the resolver, which may not know it: of the families of Chromium and Firefox, which have other names
  /// on iOS, where they cannot.
  var resolvesNamesOfLocalhost: Bool {
    header("User-Agent")?.contains(/(?:Chrome|Firefox)\/[0-9]/) == true
  }
}

extension Access.Secrets {
  private static let maxFileSize = 4096

  package static func random() -> Access.Secrets {
    Access.Secrets(token: .randomHexadecimal(), session: .randomHexadecimal())
  }

  /// The secrets in a file, which is made with random ones if it is missing or `renews`.
  package static func saved(at path: String, renewing renews: Bool) throws(SourceError)
    -> Access.Secrets
  {
    let file = PrivateFile(path: path)
    if !renews, let bytes = try file.contents(atMost: maxFileSize) {
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      if lines.count == 2, lines.allSatisfy({ $0.utf8.count == 64 }) {
        return Access.Secrets(token: lines[0], session: lines[1])
      }
    }
    let secrets = random()
    try file.write(Array("\(secrets.token)\n\(secrets.session)\n".utf8))
    return secrets
  }

  /// The secrets in a file of the user's: the token in the first line, with at least 16 characters, and in the second the
  /// value of the cookies, with at least 32.
  ///
  /// Servers of several machines that have the same file accept each other's cookies. Without a second line cookies last as
  /// long as the server.
  package static func shared(in path: String) throws(SourceError) -> Access.Secrets {
    guard let bytes = try PrivateFile(path: path).contents(atMost: maxFileSize) else {
      throw SourceError(.storage, "no file at \(path)", remedy: "write a token into it")
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    guard let token = lines.first, token.utf8.count >= 16,
      token.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else {
      throw SourceError(
        .invalidSettings, "invalid token in \(path)",
        remedy: "write a line of 16 or more visible ASCII characters")
    }
    guard let session = lines.dropFirst().first else {
      return Access.Secrets(token: token, session: .randomHexadecimal())
    }
    // Other characters have a meaning in a cookie (RFC 6265, section 4.1.1).
    guard session.wholeMatch(of: /[A-Za-z0-9._~+\/=-]{32,}/) != nil, session != token else {
      throw SourceError(
        .invalidSettings, "invalid secret for cookies in the second line of \(path)",
        remedy: "remove it, or write 32 or more letters and digits that are not the token")
    }
    return Access.Secrets(token: token, session: session)
  }
}

extension String {
  /// Takes as long for a nearly equal text as for any other of the length, so that time does not tell how much
  /// of a secret was right.
  fileprivate func isEqualInConstantTime(to other: String) -> Bool {
    let (first, second) = (Array(utf8), Array(other.utf8))
    guard first.count == second.count else { return false }
    return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

// Requests of pages of other origins (https://fetch.spec.whatwg.org/#http-cors-protocol).

extension ServerResponse {
  /// The answer to the question whether a page may send a request; ``allow(_:)`` names the page's origin.
  package static func preflight(for request: ServerRequest) -> ServerResponse {
    .noContent(
      headers: [
        .init("Access-Control-Allow-Methods", "GET, POST, DELETE"),
        .init(
          "Access-Control-Allow-Headers",
          request.header("Access-Control-Request-Headers") ?? "Authorization"),
        .init("Access-Control-Max-Age", "600"),
      ])
  }

  /// Lets the pages of an origin read it; cookies are not for them.
  package mutating func allow(_ origin: String) {
    set("Access-Control-Allow-Origin", origin)
    let names =
      ["Age", "Allow", "ETag", "Link", "Retry-After", "X-Aggregator-Origin"]
      + ListingSummary.headerNames
    set("Access-Control-Expose-Headers", names.joined(separator: ", "))
    headers.append(.init("Vary", "Origin"))
  }
}
