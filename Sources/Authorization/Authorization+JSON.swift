package import AggregatorCore
import AggregatorFoundation
import AggregatorHTTP
import AggregatorSettings
import AggregatorText

/// The form in manifests: `{"basic": {…}}` or `{"oauth": {…}}`.
extension Authorization {
  /// A mistake in the JSON form.
  package struct FormatError: Error {
    /// The names of the members that lead to it.
    package let path: [String]
    package let message: String
  }

  private enum Key {
    static let basic = ["user", "password"]
    static let oauth = [
      "token", "grant", "id", "secret", "refresh", "scope", "send", "parameters",
    ]
  }

  /// Reads the JSON form, in which `${NAME}` is a secret setting.
  package init(reading json: JSON) throws(FormatError) {
    let members = try FormReader(json, at: [], allowing: ["basic", "oauth"])
    switch (members["basic"], members["oauth"]) {
    case (let basic?, nil):
      let form = try FormReader(basic, at: ["basic"], allowing: Key.basic)
      self = .basic(
        user: try form.required("user", form.value("user")),
        // Services that take a key as the user name want no password.
        password: try form.secret("password") ?? .text(""))
    case (nil, let oauth?):
      self = try Self.oauth(FormReader(oauth, at: ["oauth"], allowing: Key.oauth))
    default: throw FormatError(path: [], message: "must have either \"basic\" or \"oauth\"")
    }
  }

  private static func oauth(_ form: FormReader) throws(FormatError) -> Authorization {
    let address = try form.required("token", form.text("token"))
    guard !address.contains("${"), let url = URL(string: address), Address(url) != nil else {
      throw form.failure("token", "must be an http or https URL without secrets")
    }
    let grant = try form.required("grant", form.text("grant"))
    let sending = try form.text("send").map { text throws(FormatError) in
      guard let sending = Sending(rawValue: text) else {
        throw form.failure("send", "must be \"basic\", \"basic-raw\" or \"body\"")
      }
      return sending
    }
    var client = Client(
      token: url, id: try form.required("id", form.value("id")), secret: try form.secret("secret"),
      scope: try form.text("scope"), sending: sending ?? .basic)
    client.parameters = try form.texts("parameters")
    if client.scope?.contains("${") == true { throw form.failure("scope", "must have no secrets") }
    let refresh = try form.secret("refresh")
    switch grant {
    case "client_credentials":
      guard refresh == nil else {
        throw form.failure("refresh", "needs the grant \"refresh_token\"")
      }
      _ = try form.required("secret", client.secret)
      return .clientCredentials(client)
    case "refresh_token":
      return .refreshToken(try form.required("refresh", refresh), of: client)
    default:
      throw form.failure("grant", "must be \"client_credentials\" or \"refresh_token\"")
    }
  }

  /// The JSON form, without what is the default.
  package var json: JSON {
    func member(_ name: String, _ value: Value?) -> [JSON.Member] {
      switch value {
      case nil, .text("")?: []
      case .text(let text)?: [JSON.Member(name, .string(text))]
      case .setting(let setting)?: [JSON.Member(name, .string("${\(setting.key)}"))]
      }
    }
    func oauth(_ client: Client, _ refresh: Value?) -> JSON {
      let grant = refresh == nil ? "client_credentials" : "refresh_token"
      var members = [
        JSON.Member("token", .string(client.token.absoluteString)),
        JSON.Member("grant", .string(grant)),
      ]
      members += member("id", client.id) + member("secret", client.secret)
      members += member("refresh", refresh)
      if let scope = client.scope { members.append(.init("scope", .string(scope))) }
      if client.sending != .basic {
        members.append(.init("send", .string(client.sending.rawValue)))
      }
      if !client.parameters.isEmpty {
        let parameters = client.parameters.sorted { $0.key < $1.key }
        members.append(
          .init("parameters", .object(parameters.map { .init($0.key, .string($0.value)) })))
      }
      return .object([.init("oauth", .object(members))])
    }
    switch method {
    case .basic(let user, let password):
      return .object([
        .init("basic", .object(member("user", user) + member("password", password)))
      ])
    case .clientCredentials(let client): return oauth(client, nil)
    case .refreshToken(let token, let client): return oauth(client, token)
    }
  }
}

/// Reads the members of an object.
private struct FormReader {
  private static let maxTextBytes = 4096

  private let members: [JSON.Member]
  private let path: [String]

  init(
    _ json: JSON, at path: [String], allowing keys: [String]
  ) throws(Authorization.FormatError) {
    guard case .object(let members) = json else {
      throw Authorization.FormatError(path: path, message: "must be an object")
    }
    self.members = members
    self.path = path
    for (index, member) in members.enumerated() {
      guard keys.contains(member.name) else {
        let near = nearest(to: member.name, in: keys).map { "; did you mean \"\($0)\"?" } ?? ""
        throw Authorization.FormatError(
          path: path + [member.name], message: "is an unknown key\(near)")
      }
      guard !members[..<index].contains(where: { $0.name == member.name }) else {
        throw failure(member.name, "is there twice")
      }
    }
  }

  subscript(key: String) -> JSON? { members.first { $0.name == key }?.value }

  func failure(_ key: String, _ message: String) -> Authorization.FormatError {
    Authorization.FormatError(path: path + [key], message: message)
  }

  func required<Value>(
    _ key: String, _ value: Value?
  ) throws(Authorization.FormatError) -> Value {
    guard let value else {
      throw Authorization.FormatError(path: path, message: "needs \"\(key)\"")
    }
    return value
  }

  func text(_ key: String) throws(Authorization.FormatError) -> String? {
    try self[key].map { json throws(Authorization.FormatError) in try text(json, key) }
  }

  private func text(_ json: JSON, _ key: String) throws(Authorization.FormatError) -> String {
    guard case .string(let text) = json, text.nonBlank != nil,
      text.utf8.count <= Self.maxTextBytes,
      !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
    else { throw failure(key, "must be a text of 1 to \(Self.maxTextBytes) characters") }
    return text
  }

  /// Text that may be shown, or `${NAME}`.
  func value(_ key: String) throws(Authorization.FormatError) -> Authorization.Value? {
    guard let text = try text(key) else { return nil }
    if let match = text.wholeMatch(of: /\$\{([A-Z][A-Z0-9_]*)\}/) {
      return .setting(Setting(String(match.output.1), .secret, about: ""))
    }
    guard !text.contains("${") else { throw failure(key, "must be a text, or ${NAME} alone") }
    return .text(text)
  }

  /// `${NAME}`.
  func secret(_ key: String) throws(Authorization.FormatError) -> Authorization.Value? {
    let value = try value(key)
    if case .text? = value { throw failure(key, "must be ${NAME}, a secret setting") }
    return value
  }

  /// The members of an object of texts.
  func texts(_ key: String) throws(Authorization.FormatError) -> [String: String] {
    guard let json = self[key] else { return [:] }
    guard case .object(let members) = json, members.count <= 16 else {
      throw failure(key, "must be an object of texts")
    }
    var texts: [String: String] = [:]
    for member in members {
      let text = try text(member.value, key)
      guard !text.contains("${") else { throw failure(key, "must have no secrets") }
      texts[member.name] = text
    }
    return texts
  }
}
