package import Foundation

extension JSON {
  /// The JSON value in bytes; `nil` if there is none.
  package init?(reading bytes: Data) {
    guard let read = try? JSONDecoder().decode(ReadJSON.self, from: bytes) else { return nil }
    self = read.value
  }
}

/// A JSON value, read with its members in alphabetical order.
private struct ReadJSON: Decodable {
  let value: JSON

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    // What is most frequent comes first: each failure costs much.
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      value = .null
    } else if let string = try? single.decode(String.self) {
      value = .string(string)
    } else if let object = try? decoder.container(keyedBy: Key.self) {
      let keys = object.allKeys.sorted { $0.stringValue < $1.stringValue }
      value = .object(
        try keys.map { key in
          JSON.Member(key.stringValue, try object.decode(ReadJSON.self, forKey: key).value)
        })
    } else if let integer = try? single.decode(Int.self) {
      value = .integer(integer)
    } else if let bool = try? single.decode(Bool.self) {
      value = .bool(bool)
    } else if let number = try? single.decode(Double.self) {
      value = .number(number)
    } else {
      var array = try decoder.unkeyedContainer()
      var elements: [JSON] = []
      while !array.isAtEnd { elements.append(try array.decode(ReadJSON.self).value) }
      value = .array(elements)
    }
  }
}
