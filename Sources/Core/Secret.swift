/// Text that must never be shown, logged, cached or recorded, such as an API key.
///
/// Its description is redacted, so it cannot leak by being interpolated. Only ``reveal(_:)`` gives
/// it away, which makes every use easy to find.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let text: String

  /// A secret.
  ///
  /// - Parameter text: The text to keep.
  public init(_ text: String) { self.text = text }

  /// Gives the text to `body`, and to nobody else.
  ///
  /// - Parameter body: What needs the text, such as the writing of a request.
  /// - Returns: What `body` returns.
  public func reveal<Value>(_ body: (String) -> Value) -> Value { body(text) }

  /// What may be shown: `set (…a1f9)`, enough for its owner to tell two keys apart.
  ///
  /// The end is shown only of keys of 16 characters or more.
  public var description: String { text.count < 16 ? "set (…)" : "set (…\(text.suffix(4)))" }

  /// The same as ``description``.
  public var debugDescription: String { description }

  /// Hides the text from `dump` and other mirrors.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
