import AggregatorFoundation

/// A decoder of one value of a ``JSONText``.
///
/// It has three words, so that storing it in an existential allocates nothing.
struct JSONReader: Decoder {
  /// The array or object that has a value.
  final class Container: Sendable {
    let reader: JSONReader
    init(_ reader: JSONReader) { self.reader = reader }
  }

  let text: JSONText
  private let container: Container?
  private let shortIndex: UInt32
  /// The index in an array; `noOrdinal` for a member of an object.
  private let ordinal: UInt32

  private static var noOrdinal: UInt32 { .max }

  init(_ text: JSONText) {
    self.text = text
    container = nil
    (shortIndex, ordinal) = (0, Self.noOrdinal)
  }

  /// Reads the value at the part `index`, with its index in an array, `nil` for a member of an object.
  init(_ index: Int, ordinal: Int? = nil, in container: Container) {
    text = container.reader.text
    self.container = container
    shortIndex = UInt32(index)
    self.ordinal = ordinal.map(UInt32.init) ?? Self.noOrdinal
  }

  var index: Int { Int(shortIndex) }

  var part: JSONText.Part { text.parts[index] }

  /// Computed only for failures.
  var codingPath: [any CodingKey] {
    guard let container else { return [] }
    let key =
      ordinal == Self.noOrdinal
      ? JSONKey(stringValue: text.string(text.parts[index - 1])) : JSONKey(intValue: Int(ordinal))
    return container.reader.codingPath + [key]
  }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try JSONMembers<Key>(self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try JSONElements(self) }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func member(_ name: String) throws -> JSONReader {
    try JSONMembers<JSONKey>(self).value(JSONKey(stringValue: name))
  }
}

extension JSONReader: SingleValueDecodingContainer {
  func decodeNil() -> Bool { part.kind == .null }

  func decode(_ type: String.Type) throws -> String {
    let part = part
    guard part.kind == .text || part.kind == .escapedText else { throw mismatch(type) }
    return text.string(part)
  }

  func decode(_ type: Bool.Type) throws -> Bool {
    guard part.kind == .bool else { throw mismatch(type) }
    return text.bytes[Int(part.start)] == UInt8(ascii: "t")
  }

  func decode<Value: BinaryFloatingPoint & LosslessStringConvertible & Decodable>(
    _ type: Value.Type
  ) throws -> Value {
    let digits = try digits(type)
    guard let value = Value(digits), value.isFinite else { throw misfit(digits) }
    return value
  }

  func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
    let digits = try digits(type)
    if let value = Value(digits) { return value }
    // `1.0` and `1e2` are integers too; from 2^53 on a fraction can no longer be detected.
    guard let number = Double(digits), number.magnitude < 0x1p53, let value = Value(exactly: number)
    else { throw misfit(digits) }
    return value
  }

  /// Decodes URLs, data and decimal numbers as Foundation's decoder does by default.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value: Any?
    if type == URL.self {
      value = URL(string: try decode(String.self))
    } else if type == Data.self {
      value = Data(base64Encoded: try decode(String.self))
    } else if type == Decimal.self {
      value = Decimal(string: try digits(type), locale: nil)
    } else {
      return try Value(from: self)
    }
    guard let value = value as? Value else { throw corrupted("not a valid \(type)") }
    return value
  }

  private func digits(_ type: any Any.Type) throws -> String {
    guard part.kind == .number else { throw mismatch(type) }
    return text.string(part)
  }
}

extension JSONReader {
  /// The kind of the value in the words of Foundation's decoder.
  private var found: String {
    switch part.kind {
    case .null: "null"
    case .bool: "bool"
    case .number: "number"
    case .text, .escapedText: "a string"
    case .array: "an array"
    case .object: "a dictionary"
    }
  }

  func mismatch(_ type: any Any.Type) -> DecodingError {
    guard part.kind != .null else {
      return .valueNotFound(type, context("Cannot get value of type \(type) -- found null value"))
    }
    return .typeMismatch(
      type, context("Expected to decode \(type) but found \(found) instead."))
  }

  private func misfit(_ digits: String) -> DecodingError {
    corrupted("\(JSONText.misfit) \(digits) is not representable in Swift.")
  }

  private func corrupted(_ words: String) -> DecodingError { .dataCorrupted(context(words)) }

  private func context(_ words: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: codingPath, debugDescription: words)
  }
}

extension JSONText {
  /// The beginning of the description of a number that does not fit its type.
  package static let misfit = "Number"
}

/// The members of an object of a ``JSONText``.
struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  /// Objects with more members get an index by name; in others members are searched linearly.
  private static var maxSearched: Int { 64 }

  private let container: JSONReader.Container
  private let indices: [String: Int]?

  init(_ object: JSONReader) throws {
    guard object.part.kind == .object else { throw object.mismatch([String: Any].self) }
    container = JSONReader.Container(object)
    guard Int(object.part.end) > Self.maxSearched else {
      indices = nil
      return
    }
    let text = object.text
    indices = Dictionary(
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

  func contains(_ key: Key) -> Bool { index(of: key.stringValue) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).decodeNil() }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    isLenient ? try lenient(key) : try value(key).decode(type)
  }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    isLenient ? try lenient(key) : try value(key).decode(type)
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    isLenient ? try lenient(key) : try value(key).decode(type)
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    isLenient ? try lenient(key) : try value(key).decode(type)
  }
  func decode<Value: BinaryFloatingPoint & LosslessStringConvertible & Decodable>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value { try value(key).decode(type) }
  func decode<Value: FixedWidthInteger & Decodable>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value { try value(key).decode(type) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    let value = try value(key)
    guard isLenient, let type = type as? any LenientDecodable.Type else {
      return try value.decode(type)
    }
    guard let lenient = type.init(lenient: value) as? Value else { throw value.mismatch(type) }
    return lenient
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    isLenient ? present(key).flatMap(String.init(lenient:)) : try present(key)?.decode(type)
  }
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    isLenient ? present(key).flatMap(Bool.init(lenient:)) : try present(key)?.decode(type)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    isLenient ? present(key).flatMap(Int.init(lenient:)) : try present(key)?.decode(type)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    isLenient ? present(key).flatMap(Double.init(lenient:)) : try present(key)?.decode(type)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let value = present(key) else { return nil }
    guard isLenient else { return try value.decode(type) }
    guard let type = type as? any LenientDecodable.Type else { return try? value.decode(type) }
    return type.init(lenient: value) as? Value
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try value(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try value(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try value(JSONKey(stringValue: "super")) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }

  /// The value of a member; `nil` if it is missing or null.
  private func present(_ key: Key) -> JSONReader? {
    let value = index(of: key.stringValue).map { JSONReader($0, in: container) }
    return value?.decodeNil() == false ? value : nil
  }

  private func index(of name: String) -> Int? {
    if let indices { indices[name] } else { object.text.index(of: name, in: object.index) }
  }

  private var isLenient: Bool { object.text.isLenient }

  /// The value of a member in one of its usual forms; a blank text counts as missing.
  private func lenient<Value: LenientDecodable>(_ key: Key) throws -> Value {
    let value = try value(key)
    if let lenient = Value(lenient: value) { return lenient }
    let isText = [.text, .escapedText].contains(value.part.kind)
    throw isText && Value.self == String.self ? missing(key) : value.mismatch(Value.self)
  }

  func value(_ key: some CodingKey) throws -> JSONReader {
    guard let index = index(of: key.stringValue) else { throw missing(key) }
    return JSONReader(index, in: container)
  }

  private func missing(_ key: some CodingKey) -> DecodingError {
    .keyNotFound(
      key,
      DecodingError.Context(
        codingPath: codingPath,
        debugDescription: "No value associated with key '\(key.stringValue)'."))
  }
}

/// The elements of an array of a ``JSONText``.
struct JSONElements: UnkeyedDecodingContainer {
  private let container: JSONReader.Container
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
  mutating func decode<Value: BinaryFloatingPoint & LosslessStringConvertible & Decodable>(
    _ type: Value.Type
  ) throws -> Value { try read { try $0.decode(type) } }
  mutating func decode<Value: FixedWidthInteger & Decodable>(
    _ type: Value.Type
  ) throws -> Value { try read { try $0.decode(type) } }

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

  /// Reads the next value, and advances only if it can be read.
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
