/// What kind of values a ``Field`` has.
///
/// Any of them may also be null.
public enum FieldKind: String, Hashable, Sendable {
  /// Text.
  case text
  /// A whole number.
  case integer
  /// A number.
  case number
  /// Yes or no.
  case bool
  /// Several texts.
  case list
}

/// A type that a ``Field`` can read with a key path.
public protocol FieldValue: Sendable {
  /// The kind that this type's values have.
  static var fieldKind: FieldKind { get }

  /// The value.
  var json: JSON { get }
}

extension String: FieldValue {
  /// Text.
  public static var fieldKind: FieldKind { .text }
  /// The text.
  public var json: JSON { .string(self) }
}

extension Int: FieldValue {
  /// A whole number.
  public static var fieldKind: FieldKind { .integer }
  /// The number.
  public var json: JSON { .integer(self) }
}

extension Double: FieldValue {
  /// A number.
  public static var fieldKind: FieldKind { .number }
  /// The number; null if it is not finite.
  public var json: JSON { isFinite ? .number(self) : .null }
}

extension Bool: FieldValue {
  /// Yes or no.
  public static var fieldKind: FieldKind { .bool }
  /// The truth value.
  public var json: JSON { .bool(self) }
}

extension [String]: FieldValue {
  /// Several texts.
  public static var fieldKind: FieldKind { .list }
  /// The texts.
  public var json: JSON { .array(map(JSON.string)) }
}

extension Optional: FieldValue where Wrapped: FieldValue {
  /// The kind of the value that may be missing.
  public static var fieldKind: FieldKind { Wrapped.fieldKind }
  /// The value, or null.
  public var json: JSON { self?.json ?? .null }
}
