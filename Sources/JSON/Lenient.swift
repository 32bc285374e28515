import AggregatorText

/// A detail of a row that services send in several forms: a number as text, `""` for none, one value instead
/// of a list, a date in one of the usual formats.
///
/// ```swift
/// struct Wire: Decodable {
///   let id: String
///   @Lenient var population: Int?  // 3, 3.0, "3"
///   @Lenient var tags: [String]?  // ["a", "b"], "a"
///   @Lenient var updated: Date?  // "2026-03-14T06:12:09+02:00", 1773461529
/// }
/// ```
///
/// It is `nil` if the value is missing, null, blank or of another form, so that a detail never loses a row.
@propertyWrapper
public struct Lenient<Value: LenientDecodable>: Decodable, Sendable {
  public var wrappedValue: Value?

  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Decoder) { wrappedValue = Value(lenient: decoder) }
}

extension Lenient: Equatable where Value: Equatable {}
extension Lenient: Hashable where Value: Hashable {}

extension KeyedDecodingContainer {
  /// The value of a key in one of the forms of ``Lenient``; `nil` if it has none.
  public func lenient<Value: LenientDecodable>(
    _ key: Key, as type: Value.Type = Value.self
  ) -> Value? {
    Value.lenient(key, in: self)
  }

  /// Called by the synthesized `init(from:)` of a type with a ``Lenient`` property: the key may be missing.
  public func decode<Value>(_ type: Lenient<Value>.Type, forKey key: Key) -> Lenient<Value> {
    Lenient(wrappedValue: lenient(key))
  }
}

/// A type whose values ``Lenient`` reads.
public protocol LenientDecodable: Sendable {
  /// Reads a value in any of its usual forms; `nil` if it has none of them.
  init?(lenient decoder: any Decoder)

  /// The value of a key; `nil` if it has none of the usual forms. The default calls ``init(lenient:)``.
  static func lenient<Key>(_ key: Key, in container: KeyedDecodingContainer<Key>) -> Self?

  /// The elements of a list in one of the usual forms, without those that have none of them; `nil` where each has to be
  /// read by ``init(lenient:)``, as the default says.
  static func list(lenient decoder: any Decoder) -> [Self]?
}

extension LenientDecodable {
  public static func lenient<Key>(_ key: Key, in container: KeyedDecodingContainer<Key>) -> Self? {
    (try? container.decodeIfPresent(Lenient<Self>.self, forKey: key))?.wrappedValue
  }

  public static func list(lenient decoder: any Decoder) -> [Self]? { nil }
}

extension String: LenientDecodable {
  /// Text that is not blank, or a whole number, as some services send postal codes.
  public init?(lenient decoder: any Decoder) {
    guard let container = try? decoder.singleValueContainer() else { return nil }
    // Nearly all values are text, and a failed attempt is expensive.
    do {
      guard let text = try container.decode(String.self).nonBlank else { return nil }
      self = text
    } catch {
      guard let number = try? container.decode(Int.self) else { return nil }
      self = String(number)
    }
  }

  /// The same without a decoder of its own, which would take twice as long: most details are text.
  public static func lenient<Key>(
    _ key: Key, in container: KeyedDecodingContainer<Key>
  ) -> String? {
    do {
      return try container.decodeIfPresent(String.self, forKey: key)?.nonBlank
    } catch {
      return (try? container.decode(Int.self, forKey: key)).map { String($0) }
    }
  }

  /// A list of texts alone, without a decoder for each.
  public static func list(lenient decoder: any Decoder) -> [String]? {
    guard var container = try? decoder.unkeyedContainer() else { return nil }
    var list: [String] = []
    while !container.isAtEnd {
      guard let text = try? container.decode(String.self) else { return nil }
      if let text = text.nonBlank { list.append(text) }
    }
    return list
  }
}

extension Int: LenientDecodable {
  /// A whole number, also as text.
  public init?(lenient decoder: any Decoder) {
    guard let number = decoder.number({ Int($0) }) else { return nil }
    self = number
  }
}

extension Double: LenientDecodable {
  /// A finite number, also as text.
  public init?(lenient decoder: any Decoder) {
    let number = decoder.number { text in Double(text).flatMap { $0.isFinite ? $0 : nil } }
    guard let number else { return nil }
    self = number
  }
}

extension Decoder {
  /// A number, also as text.
  fileprivate func number<Value: Decodable>(_ parse: (String) -> Value?) -> Value? {
    guard let container = try? singleValueContainer() else { return nil }
    return (try? container.decode(Value.self))
      ?? (try? container.decode(String.self))?.nonBlank.flatMap(parse)
  }
}

extension Bool: LenientDecodable {
  /// `true`, `false`, 1 or 0, also as text.
  public init?(lenient decoder: any Decoder) {
    guard let container = try? decoder.singleValueContainer() else { return nil }
    if let bool = try? container.decode(Bool.self) {
      self = bool
    } else {
      switch String(lenient: decoder)?.lowercased() {
      case "true", "1": self = true
      case "false", "0": self = false
      default: return nil
      }
    }
  }
}
