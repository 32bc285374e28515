/// The values of a list of a ``JSONText``, one after the other.
struct JSONElements: UnkeyedDecodingContainer {
  private let container: JSONReader.Container
  /// Which part comes next.
  private var next: Int
  private(set) var currentIndex = 0

  init(_ array: JSONReader) throws {
    guard array.part.kind == .array else { throw array.mismatch([Any].self) }
    container = JSONReader.Container(array)
    next = array.index + 1
  }

  var codingPath: [any CodingKey] { array.codingPath }
  var count: Int? { Int(array.part.end) }
  private var array: JSONReader { container.reader }
  var isAtEnd: Bool { currentIndex == Int(array.part.end) }

  mutating func decodeNil() throws -> Bool {
    guard try value(Never.self).decodeNil() else { return false }
    advance()
    return true
  }

  mutating func decode(_ type: String.Type) throws -> String { try read { try $0.decode(type) } }
  mutating func decode(_ type: Bool.Type) throws -> Bool { try read { try $0.decode(type) } }
  mutating func decode(_ type: Double.Type) throws -> Double { try read { try $0.decode(type) } }
  mutating func decode(_ type: Float.Type) throws -> Float { try read { try $0.decode(type) } }
  mutating func decode(_ type: Int.Type) throws -> Int { try read { try $0.decode(type) } }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try read { try $0.decode(type) } }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try read { try $0.decode(type) } }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try read { try $0.decode(type) } }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try read { try $0.decode(type) } }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try read { try $0.decode(type) } }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try read { try $0.decode(type) } }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try read { try $0.decode(type) } }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try read { try $0.decode(type) } }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try read { try $0.decode(type) } }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try read { try $0.decode(type) }
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> { try read { try $0.container(keyedBy: type) } }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try read { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try read(\.self) }

  /// Reads the next value, and stays before it if it cannot be read.
  private mutating func read<Value>(_ body: (JSONReader) throws -> Value) throws -> Value {
    let value = try body(try value(Value.self))
    advance()
    return value
  }

  private func value(_ type: any Any.Type) throws -> JSONReader {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(
          codingPath: codingPath + [JSONKey(intValue: currentIndex)],
          debugDescription: "Unkeyed container is at end."))
    }
    return JSONReader(next, ordinal: currentIndex, in: container)
  }

  private mutating func advance() {
    next = Int(array.text.parts[next].next)
    currentIndex += 1
  }
}
