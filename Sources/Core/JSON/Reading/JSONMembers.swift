/// The members of an object of a ``JSONText``.
struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  /// A member is looked for among so many; where there are more, their places are noted first.
  private static var mostSearched: Int { 64 }

  private let container: JSONReader.Container
  private let places: [String: Int]?

  init(_ object: JSONReader) throws {
    guard object.part.kind == .object else { throw object.mismatch([String: Any].self) }
    container = JSONReader.Container(object)
    guard Int(object.part.end) > Self.mostSearched else {
      places = nil
      return
    }
    let text = object.text
    places = Dictionary(
      text.names(in: object.index).map { (text.string(text.parts[$0]), $0 + 1) },
      uniquingKeysWith: { first, _ in first })
  }

  var codingPath: [any CodingKey] { object.codingPath }

  private var object: JSONReader { container.reader }

  var allKeys: [Key] {
    let text = object.text
    var seen: Set<String> = []
    return text.names(in: object.index).compactMap { index in
      let name = text.string(text.parts[index])
      return seen.insert(name).inserted ? Key(stringValue: name) : nil
    }
  }

  func contains(_ key: Key) -> Bool { index(of: key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).decodeNil() }

  func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key).decode(type) }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key).decode(type) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key).decode(type) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key).decode(type) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key).decode(type) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(key).decode(type) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(key).decode(type) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(key).decode(type) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(key).decode(type) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(key).decode(type) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(key).decode(type) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(key).decode(type) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(key).decode(type) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(key).decode(type) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try value(key).decode(type)
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key)?.decode(type)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try present(key)?.decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try value(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try value(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    try value(name: "super", JSONKey(stringValue: "super"))
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }

  /// The value of a member; `nil` for none, and for null.
  private func present(_ key: Key) -> JSONReader? {
    let value = index(of: key).map { JSONReader($0, in: container) }
    return value?.decodeNil() == false ? value : nil
  }

  private func index(of key: Key) -> Int? { index(ofName: key.stringValue) }

  private func index(ofName name: String) -> Int? {
    if let places { return places[name] }
    return object.text.index(of: name, in: object.index)
  }

  private func value(_ key: Key) throws -> JSONReader { try value(name: key.stringValue, key) }

  private func value(name: String, _ key: any CodingKey) throws -> JSONReader {
    guard let index = index(ofName: name) else {
      throw DecodingError.keyNotFound(
        key,
        DecodingError.Context(
          codingPath: codingPath, debugDescription: "No value associated with key '\(name)'."))
    }
    return JSONReader(index, in: container)
  }
}
