import AggregatorCore
import AggregatorFoundation
import AggregatorHTTP
import AggregatorSettings
import AggregatorText

/// A value of an ``Authorization``, and the setting that has it.
struct Credential: Hashable, Sendable {
  let secret: Secret

  /// The key of the setting; `nil` for text.
  let key: String?

  /// - Throws: ``SourceError`` with code `missingKey` if the setting has no value.
  init(_ value: Authorization.Value, in settings: SourceSettings) throws(SourceError) {
    switch value {
    case .text(let text): (secret, key) = (Secret(text), nil)
    case .setting(let setting) where setting.isSecret:
      (secret, key) = (try settings.required(setting), setting.key)
    case .setting(let setting):
      guard let text = settings.text(setting) else {
        throw SourceError(.missingKey, "\(setting.key) is not set")
      }
      (secret, key) = (Secret(text), setting.key)
    }
  }

  var text: String { secret.reveal(\.self) }
}

extension Authorization {
  /// The value of the `Authorization` field for a user name and a password (RFC 7617, section 2).
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` for characters that it cannot have.
  static func basicField(_ user: Credential, _ password: Credential) throws(SourceError) -> Secret {
    let name = user.key ?? "the user name"
    guard !user.text.contains(":") else {
      throw SourceError(.invalidSettings, "\(name) must not contain a colon")
    }
    for (text, name) in [(user.text, name), (password.text, password.key ?? "the password")]
    where text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw SourceError(.invalidSettings, "\(name) must not contain control characters")
    }
    return basicField("\(user.text):\(password.text)")
  }

  static func basicField(_ credentials: String) -> Secret {
    Secret(prefix: "Basic ", Data(credentials.utf8).base64EncodedString())
  }
}

/// A grant of tokens, with the values of its settings.
struct Grant: Hashable, Sendable {
  let token: URL
  let id: Credential
  let secret: Credential?
  /// The refresh token that the settings have; `nil` for client credentials.
  let refresh: Credential?
  let scope: String?
  let sending: Authorization.Sending
  let parameters: [String: String]

  /// - Throws: ``SourceError``: `missingKey`, or `invalidSettings` if the token URL is invalid.
  init(
    _ client: Authorization.Client, refreshing refresh: Authorization.Value?,
    in settings: SourceSettings
  ) throws(SourceError) {
    guard Address(client.token) != nil else {
      throw SourceError(
        .invalidSettings, "invalid token URL: must be an http(s) URL without user name")
    }
    token = client.token
    id = try Credential(client.id, in: settings)
    secret = try client.secret.map { value throws(SourceError) in
      try Credential(value, in: settings)
    }
    self.refresh = try refresh.map { value throws(SourceError) in
      try Credential(value, in: settings)
    }
    (scope, sending, parameters) = (client.scope, client.sending, client.parameters)
  }

  /// The host and port at which tokens are issued.
  var authority: String { Address(token)?.authority ?? "" }

  /// The secrets of the settings.
  var secrets: [Secret] { [id.key == nil ? nil : id, secret, refresh].compactMap { $0?.secret } }

  /// The text that names the grant on this machine: another value of the setting that it began with is another grant.
  ///
  /// Sources with one refresh token share it, whatever their scopes: after the service has replaced it, there is only one
  /// that is valid.
  var identity: String {
    let own = [token.absoluteString, id.text]
    guard let refresh else { return (["client"] + own + request).joined(separator: "\0") }
    return (["refresh"] + own + [refresh.text]).joined(separator: "\0")
  }

  /// The text by which an access token belongs to the present secret of the client, and to the scope.
  var accessIdentity: String { ([id.text] + request).joined(separator: "\0") }

  private var request: [String] {
    [secret?.text ?? "", scope ?? ""]
      + parameters.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
  }
}
