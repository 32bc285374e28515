/// Text that must never be shown, logged, cached or recorded, such as an API key.
///
/// Its description is redacted, so it cannot leak by interpolation. Only ``reveal(_:)`` exposes it,
/// which makes every use easy to find.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// Stands for a secret in records and messages.
  package static let mark = "REDACTED"

  private let prefix: String
  private let token: String
  /// Other texts that are secret, too.
  private var parts: Set<String> = []

  public init(_ text: String) { self.init(prefix: "", text) }

  /// A secret of several parts, as in `Basic USER:PASSWORD`.
  ///
  /// A response that repeats one of the parts alone is redacted, too.
  public init(_ text: String, containing parts: [Secret]) {
    self.init(prefix: "", text)
    self.parts = Set(parts.map { $0.prefix + $0.token })
  }

  /// A secret after public text, as in a header field: `Secret(prefix: "Bearer ", token)`.
  ///
  /// A response that repeats the token alone is redacted, too; after `Basic `, also one that repeats the
  /// decoded credentials.
  public init(prefix: String, _ token: String) {
    self.prefix = prefix
    self.token = token
  }

  public init(prefix: String, _ token: Secret) {
    self.init(prefix: prefix + token.prefix, token.token)
  }

  /// Passes the whole text, with the prefix, to `body` and returns its result.
  public func reveal<Value>(_ body: (String) -> Value) -> Value { body(prefix + token) }

  /// Passes the text without the prefix to `body` and returns its result.
  package func revealToken<Value>(_ body: (_ prefix: String, _ token: String) -> Value) -> Value {
    body(prefix, token)
  }

  /// Passes the parts to `body` and returns its result.
  package func revealParts<Value>(_ body: (Set<String>) -> Value) -> Value { body(parts) }

  /// The redacted text: `set (…a1f9)`, enough for its owner to tell two keys apart.
  ///
  /// Shows the last four characters of keys of 16 characters or more.
  public var description: String { token.count < 16 ? "set (…)" : "set (…\(token.suffix(4)))" }

  public var debugDescription: String { description }

  /// Hides the text from `dump` and other mirrors.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
