import AggregatorKit

/// How the requests of a service are signed: the first way of a document that this program has.
struct SignIn: Sendable {
  /// The header fields of all requests, which may name secrets.
  var headers: [JSON.Member] = []
  /// The items of the query of all requests.
  var query: [String] = []
  /// The `auth` of a manifest.
  var auth: JSON?
  /// A note on it for people.
  var note: String?

  static let none = SignIn()
}

extension OpenAPIDocument {
  /// How requests are signed.
  ///
  /// - Parameter setting: The name of a setting for `key`, `token` and the like, as `${NAME}`.
  func signIn(
    at base: String, naming setting: (String) -> String
  ) throws(SourceError) -> SignIn {
    let root = documents.root
    let schemes = try root.member("components")?.member("securitySchemes")
    // Documents often say it of the operations only.
    var requirements = try root.member("security")?.elements() ?? []
    if requirements.isEmpty {
      for path in try root.member("paths")?.members() ?? [] {
        requirements = try path.value.member("get")?.member("security")?.elements() ?? []
        if !requirements.isEmpty { break }
      }
    }
    var unknown: [String] = []
    for requirement in requirements {
      var signIn = SignIn()
      var isKnown = true
      let names = try requirement.members()
      for scheme in names {
        guard let node = try schemes?.member(scheme.name) else { continue }
        // Two keys are two settings.
        let setting = { names.count > 1 && $0 == "key" ? setting(scheme.name) : setting($0) }
        let scopes = try scheme.value.elements().compactMap(\.string)
        let isAdded = try add(node, scopes, to: &signIn, base, setting)
        if !isAdded { unknown.append(scheme.name) }
        isKnown = isKnown && isAdded
      }
      if isKnown { return signIn }
    }
    guard !unknown.isEmpty else { return .none }
    return SignIn(
      note: "the document asks for a sign-in that is not known here: "
        + unknown.map { $0.oneLine(atMost: 40) }.joined(separator: ", ")
        + "; give what is needed by --header, --basic or --oauth-token-url")
  }

  /// Adds a way of signing in; false if it is not known.
  private func add(
    _ scheme: DocumentNode, _ scopes: [String], to signIn: inout SignIn, _ base: String,
    _ setting: (String) -> String
  ) throws(SourceError) -> Bool {
    switch try (scheme.text("type"), scheme.text("scheme")?.lowercased()) {
    case ("apiKey", _):
      // A name with a setting in it would send another secret than the one that is asked for.
      guard let name = try scheme.text("name"), !name.contains("${") else { return false }
      switch try scheme.text("in") {
      case "header": signIn.headers.append(.init(name, .string(setting("key"))))
      case "query": signIn.query.append("\(name.percentEncoded)=\(setting("key"))")
      case "cookie": signIn.headers.append(.init("Cookie", .string("\(name)=\(setting("key"))")))
      default: return false
      }
    case ("http", "basic"):
      signIn.auth = [
        "basic": ["user": .string(setting("user")), "password": .string(setting("password"))]
      ]
    case ("http", "bearer"), ("openIdConnect", _):
      signIn.headers.append(.init("Authorization", .string("Bearer \(setting("token"))")))
    case ("oauth2", _):
      let flows = try scheme.member("flows")
      if let url = try flows?.member("clientCredentials")?.text("tokenUrl") {
        var members: [JSON.Member] = [
          .init("token", .string(try tokenURL(url, from: base))),
          .init("grant", "client_credentials"), .init("id", .string(setting("id"))),
          .init("secret", .string(setting("secret"))),
        ]
        if !scopes.isEmpty, !scopes.contains(where: { $0.contains("${") }) {
          members.append(.init("scope", .string(scopes.joined(separator: " "))))
        }
        signIn.auth = ["oauth": .object(members)]
      } else {
        signIn.headers.append(.init("Authorization", .string("Bearer \(setting("token"))")))
        let url = try flows?.member("authorizationCode")?.text("tokenUrl") ?? "URL"
        signIn.note =
          "the tokens of the service may end; to have them renewed, use --oauth-token-url "
          + "\(url.oneLine(atMost: 200)) --oauth-refresh"
      }
    default: return false
    }
    return true
  }
}
