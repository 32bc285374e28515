/// Text that must never be shown, logged, cached or recorded, such as an API key.
///
/// Its description is redacted, so it cannot leak by interpolation. Only ``reveal(_:)`` exposes it,
/// which makes every use easy to find.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let text: String

  public init(_ text: String) { self.text = text }

  /// Passes the text to `body` and returns its result.
  public func reveal<Value>(_ body: (String) -> Value) -> Value { body(text) }

  /// The redacted text: `set (…a1f9)`, enough for its owner to tell two keys apart.
  ///
  /// Shows the last four characters of keys of 16 characters or more.
  public var description: String { text.count < 16 ? "set (…)" : "set (…\(text.suffix(4)))" }

  public var debugDescription: String { description }

  /// Hides the text from `dump` and other mirrors.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
