package import Foundation

extension JSON {
  /// The JSON value in bytes, with its members in alphabetical order; `nil` if there is none.
  package init?(reading bytes: Data) {
    guard let read = try? JSONText(bytes)?.read(JSON.self) else { return nil }
    self = read
  }
}

/// Coders keep no order of members: they come back in alphabetical order.
extension JSON: Codable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads any JSON value.
  public init(from decoder: any Decoder) throws {
    // What is most frequent comes first: each failure costs much.
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      self = .null
    } else if let string = try? single.decode(String.self) {
      self = .string(string)
    } else if let object = try? decoder.container(keyedBy: Key.self) {
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

  /// Writes the value.
  public func encode(to encoder: any Encoder) throws {
    var single = encoder.singleValueContainer()
    switch self {
    case .null: try single.encodeNil()
    case .bool(let bool): try single.encode(bool)
    case .integer(let integer): try single.encode(integer)
    case .number(let number): try single.encode(number)
    case .string(let string): try single.encode(string)
    case .array(let elements): try single.encode(elements)
    case .object(let members):
      // The first of several with one name is what reading by name gives.
      try single.encode(
        Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first })
    }
  }
}
