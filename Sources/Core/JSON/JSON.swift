/// A JSON value whose objects keep the order of their members.
///
/// Foundation's encoder orders keys differently from call to call and drops `nil`; what people and
/// programs read from the command line needs a fixed order and explicit nulls.
public enum JSON: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A whole number.
  case integer(Int)
  /// A number; one that is not finite is written as `null`.
  case number(Double)
  /// Text.
  case string(String)
  /// Values in order.
  case array([JSON])
  /// Members in order.
  case object([Member])

  /// One member of an object.
  public struct Member: Hashable, Sendable {
    /// The key.
    public let name: String
    /// The value.
    public let value: JSON

    /// A member.
    ///
    /// - Parameters:
    ///   - name: The key.
    ///   - value: The value.
    public init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// The value of the first member called `name`; `nil` if there is none or this is no object.
  public subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral,
  ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int) { self = .integer(value) }
  /// `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// `null`.
  public init(nilLiteral: ()) { self = .null }
  /// Values in order.
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  /// Members in order.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }
}
