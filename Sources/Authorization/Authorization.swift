public import AggregatorFoundation
public import AggregatorSettings

/// The method and the credentials by which a source signs in to its service.
///
/// ```swift
/// let client = Authorization.Client(
///   token: login, id: .setting(Self.id), secret: .setting(Self.secret), scope: "read")
/// let environment = try environment.authorized(by: .clientCredentials(client), for: service)
/// return RESTSource(name, in: environment, list: HTTPRequest(.get, service), paging: paging)
/// ```
///
/// The environment's transport then adds the `Authorization` field to each request to the host of the service, and
/// to no other.
public struct Authorization: Hashable, Sendable {
  /// A user name, a client ID, a password or a token.
  public enum Value: Hashable, Sendable {
    /// Text that may be shown.
    case text(String)
    /// The value of a setting, which errors name.
    case setting(Setting)
  }

  package enum Method: Hashable, Sendable {
    case basic(user: Value, password: Value)
    case clientCredentials(Client)
    case refreshToken(Value, Client)
  }

  package let method: Method

  /// A user name and a password in each request (RFC 7617).
  public static func basic(user: Value, password: Value) -> Authorization {
    Authorization(method: .basic(user: user, password: password))
  }

  /// An access token that the client gets with its own ID and secret (RFC 6749, section 4.4).
  public static func clientCredentials(_ client: Client) -> Authorization {
    Authorization(method: .clientCredentials(client))
  }

  /// An access token that the client gets with a refresh token of the user (RFC 6749, section 6).
  ///
  /// A service may replace the refresh token at each use. The new one is kept in
  /// ``PluginEnvironment/tokenDirectory``, and is used until the setting has another value.
  public static func refreshToken(_ token: Value, of client: Client) -> Authorization {
    Authorization(method: .refreshToken(token, client))
  }

  /// A client of an OAuth 2 service (RFC 6749, section 2).
  public struct Client: Hashable, Sendable {
    /// The URL at which tokens are issued.
    public var token: URL
    public var id: Value
    /// The secret; `nil` for a public client, which only has an ID.
    public var secret: Value?
    /// The scopes, separated by spaces; `nil` for those that the service grants by itself.
    public var scope: String?
    public var sending: Sending
    /// Further parameters of the token request, such as `audience`; they may be shown.
    public var parameters: [String: String] = [:]

    /// Creates a client; its ID and secret are sent as RFC 6749 recommends, by default.
    public init(
      token: URL, id: Value, secret: Value?, scope: String? = nil, sending: Sending = .basic
    ) {
      self.token = token
      self.id = id
      self.secret = secret
      self.scope = scope
      self.sending = sending
    }
  }

  /// The place of the client's ID and secret in a token request.
  public enum Sending: String, CaseIterable, Sendable {
    /// The `Authorization` field, form-encoded first (RFC 6749, section 2.3.1).
    case basic
    /// The `Authorization` field as they are, for services that do not decode them.
    case basicRaw = "basic-raw"
    /// The body: `client_id` and `client_secret`.
    case body
  }
}

extension Authorization {
  package var client: Client? {
    switch method {
    case .basic: nil
    case .clientCredentials(let client), .refreshToken(_, let client): client
    }
  }

  /// The client or user that signs in: its ID, or `${NAME}` for one in a setting; never a secret.
  ///
  /// Sources with the same host and account share a rate limit; see `Plugin.account`.
  public var account: String {
    switch method {
    // Some services take a key as the user name, without a password.
    case .basic(.text, .text): ""
    case .basic(let user, _): user.name
    case .clientCredentials(let client), .refreshToken(_, let client): client.id.name
    }
  }

  /// The settings that it reads, in the order in which they are asked for.
  package var settings: [Setting] {
    let values: [Value?] =
      switch method {
      case .basic(let user, let password): [user, password]
      case .clientCredentials(let client): [client.id, client.secret]
      case .refreshToken(let token, let client): [client.id, client.secret, token]
      }
    return values.compactMap { value in
      if case .setting(let setting)? = value { setting } else { nil }
    }
  }
}

extension Authorization.Value {
  /// Text that may be shown and stored, also of a secret.
  fileprivate var name: String {
    switch self {
    case .text(let text): text
    case .setting(let setting): "${\(setting.key)}"
    }
  }
}
