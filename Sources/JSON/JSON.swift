package import AggregatorFoundation

/// A JSON value whose objects keep the order of their members.
///
/// Foundation's encoder orders keys differently from call to call and drops `nil`, but the output of the
/// command line needs a fixed order and explicit nulls.
public enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  /// A number; written as `null` if it is not finite.
  case number(Double)
  case string(String)
  case array([JSON])
  case object([Member])

  /// A member of an object.
  public struct Member: Hashable, Sendable {
    public let name: String
    public let value: JSON

    public init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// The value of the first member with this name; `nil` if there is none or this is not an object.
  public subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(nilLiteral: ()) { self = .null }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }
}

// MARK: - Writing

extension JSON {
  /// This value as JSON text on one line.
  ///
  /// Control characters, and every invisible character that can change how a terminal shows the text around
  /// it, are written as `\u` escapes, so that the text is safe to print.
  public var text: String {
    var text = ""
    write(to: &text)
    return text
  }

  public func write(to text: inout String) {
    var writer = JSONWriter(escaping: .invisible)
    writer.reserveCapacity(1024)  // of most records
    write(to: &writer)
    text += String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Writes this value as it is; if `isCanonical`, with numbers, all of them finite, as ``CanonicalJSON`` has them.
  package func write(to writer: inout JSONWriter, isCanonical: Bool = false) {
    switch self {
    case .null: writer.write(literal: "null")
    case .bool(let bool): writer.write(literal: bool ? "true" : "false")
    case .integer(let integer): writer.write(literal: String(integer))
    case .number(let number) where isCanonical: writer.write(literal: number.literal)
    case .number(let number): writer.write(literal: number.isFinite ? String(number) : "null")
    case .string(let string): writer.write(string: string)
    case .array(let values):
      writer.beginArray()
      // Iteration would retain each element.
      for index in values.indices {
        writer.beginElement()
        values[index].write(to: &writer, isCanonical: isCanonical)
      }
      writer.endArray()
    case .object(let members):
      writer.beginObject()
      for index in members.indices {
        writer.beginMember(members[index].name)
        members[index].value.write(to: &writer, isCanonical: isCanonical)
      }
      writer.endObject()
    }
  }
}

// MARK: - Parts

extension JSON {
  /// The text; `nil` for any other value.
  package var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The elements of an array; `nil` for any other value.
  package var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }

  /// The members of an object; none of any other value.
  package var members: [Member] { if case .object(let members) = self { members } else { [] } }

  /// The elements of an array, or the values of an object.
  package var children: [JSON] { array ?? members.map(\.value) }

  package var isObject: Bool { if case .object = self { true } else { false } }
}

// MARK: - Coding

extension JSON {
  /// Reads a JSON text, with members in alphabetical order; `nil` if it is invalid.
  package init?(reading bytes: Data) {
    guard let read = try? JSONText(bytes)?.read(JSON.self) else { return nil }
    self = read
  }

  /// Reads a JSON text, with members in the order of the text.
  ///
  /// An integer that does not fit `Int` becomes a number. Without coders it is several times as fast.
  package init(_ text: JSONText) {
    var reader = TreeReader(text, isCanonical: false)
    self = reader.value()
  }

  /// This value in the form in which it is read from its ``CanonicalJSON``: members in alphabetical order,
  /// each name once, and whole numbers as integers; null for a number that is not finite.
  package var canonical: JSON {
    switch self {
    case .null, .bool, .integer, .string: self
    case .number(let number): Self.canonical(number)
    case .array(let elements): .array(elements.map(\.canonical))
    case .object(let members):
      .object(members.map { Member($0.name, $0.value.canonical) }.canonical)
    }
  }

  static func canonical(_ number: Double) -> JSON {
    // From 2^53 on a fraction can no longer be detected.
    if number.magnitude < 0x1p53, let integer = Int(exactly: number) { return .integer(integer) }
    return number.isFinite ? .number(number) : .null
  }

  /// Reads a JSON text in its ``canonical`` form, in one pass.
  package init(canonical text: JSONText) {
    var reader = TreeReader(text, isCanonical: true)
    self = reader.value()
  }
}

/// Coders do not keep the order of members: they are read in alphabetical order.
extension JSON: Codable {
  private struct MemberKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  public init(from decoder: any Decoder) throws {
    // Every stored record of a declared source is read here, and containers would cost the most.
    if let decoder = decoder as? JSONReader {
      var reader = TreeReader(decoder.text, at: decoder.index, isCanonical: true)
      let value = reader.value()
      if reader.isFinite {
        self = value
        return
      }
    }
    // The most frequent kinds first: each failure is expensive.
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      self = .null
    } else if let string = try? single.decode(String.self) {
      self = .string(string)
    } else if let object = try? decoder.container(keyedBy: MemberKey.self) {
      let keys = object.allKeys.sorted { $0.stringValue < $1.stringValue }
      self = .object(
        try keys.map { key in
          Member(key.stringValue, try object.decode(JSON.self, forKey: key))
        })
    } else if let integer = try? single.decode(Int.self) {
      self = .integer(integer)
    } else if let bool = try? single.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? single.decode(Double.self) {
      self = .number(number)
    } else {
      var array = try decoder.unkeyedContainer()
      var elements: [JSON] = []
      while !array.isAtEnd { elements.append(try array.decode(JSON.self)) }
      self = .array(elements)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    if case .object(let members) = self {
      var object = encoder.container(keyedBy: MemberKey.self)
      // Of several members with one name the first, as in reading by name: an encoder keeps the last.
      for member in members.reversed() {
        try object.encode(member.value, forKey: MemberKey(stringValue: member.name))
      }
      return
    }
    var single = encoder.singleValueContainer()
    switch self {
    case .null, .object: try single.encodeNil()
    case .bool(let bool): try single.encode(bool)
    case .integer(let integer): try single.encode(integer)
    case .number(let number): try single.encode(number)
    case .string(let string): try single.encode(string)
    case .array(let elements): try single.encode(elements)
    }
  }
}

extension JSON {
  /// Not sanitized; empty for null, the elements of a list joined by a comma and a space.
  package var cell: String {
    switch self {
    case .null: ""
    case .string(let text): text
    case .array(let values): values.map(\.cell).joined(separator: ", ")
    case .bool, .integer, .number, .object: text
    }
  }

  /// The ``cell`` in a table for people: a number with at most 15 significant digits, which do not show that it is binary.
  package func shownCell(null: String? = nil) -> String {
    if case .null = self { return null ?? "" }
    guard case .number(let number) = self, number != 0 else { return cell }
    let exponent = 14 - log10(abs(number)).rounded(.down)
    // Powers of ten are exact up to 10^22.
    guard abs(exponent) <= 22 else { return cell }
    let scale = pow(10, abs(exponent))
    let digits = (exponent < 0 ? number / scale : number * scale).rounded()
    return JSON.number(exponent < 0 ? digits * scale : digits / scale).cell
  }
}
