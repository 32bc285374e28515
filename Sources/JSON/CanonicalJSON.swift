package import AggregatorFoundation

/// The canonical JSON of a value: on one line, with the members of objects in alphabetical order.
///
/// The store detects changes of a record by these bytes. They are those of Foundation's encoder with sorted
/// keys and unescaped slashes, in half its time, because nothing is turned into a dictionary on the way.
package enum CanonicalJSON {
  /// - Throws: `EncodingError` for a number that is not finite, or an error of `value`.
  package static func bytes(of value: some Encodable) throws -> Data {
    if let value = value as? any CanonicalJSONWritable {
      var writer = JSONWriter(escaping: .required)
      writer.reserveCapacity(1024)
      value.write(to: &writer)
      return Data(writer.bytes)
    }
    let node = CanonicalNode()
    try CanonicalEncoder(node: node, codingPath: []).encode(value)
    var writer = JSONWriter(escaping: .required)
    writer.reserveCapacity(512)
    node.write(to: &writer)
    return Data(writer.bytes)
  }

  package static func text(of value: some Encodable) throws -> String {
    String(decoding: try bytes(of: value), as: UTF8.self)
  }
}

/// A value that writes its canonical JSON itself: without coders it takes half the time.
package protocol CanonicalJSONWritable {
  /// Writes what ``CanonicalJSON`` would make of the value's `encode(to:)`.
  func write(to writer: inout JSONWriter)
}

// MARK: - Values

private enum CanonicalValue {
  case text(String)
  /// A number, a Boolean or null as it is written.
  case literal(String)
  /// A value that is still being encoded.
  case node(CanonicalNode)
  /// A value with sorted members; without coders it is several times as fast.
  case json(JSON)

  func write(to writer: inout JSONWriter) {
    switch self {
    case .text(let text): writer.write(string: text)
    case .literal(let literal): writer.write(literal: literal)
    case .node(let node): node.write(to: &writer)
    case .json(let json): json.write(to: &writer, isCanonical: true)
    }
  }
}

extension [JSON.Member] {
  /// These members in alphabetical order; of several with one name the first, as in reading by name.
  var canonical: [JSON.Member] {
    if zip(self, dropFirst()).allSatisfy({ $0.name < $1.name }) { return self }
    var sorted: [JSON.Member] = []
    // The sort is stable.
    for member in self.sorted(by: { $0.name < $1.name }) where sorted.last?.name != member.name {
      sorted.append(member)
    }
    return sorted
  }
}

extension JSON {
  /// This value with the members of all objects in alphabetical order, each name once.
  fileprivate var sorted: JSON {
    switch self {
    case .array(let elements): .array(elements.map(\.sorted))
    case .object(let members): .object(members.map { Member($0.name, $0.value.sorted) }.canonical)
    default: self
    }
  }

  /// A number that is not finite, which JSON cannot have.
  fileprivate var infiniteNumber: Double? {
    switch self {
    case .number(let number): if !number.isFinite { return number }
    case .array(let elements):
      for element in elements { if let number = element.infiniteNumber { return number } }
    case .object(let members):
      // Iteration would retain each member.
      for index in members.indices {
        if let number = members[index].value.infiniteNumber { return number }
      }
    default: break
    }
    return nil
  }
}

extension CustomStringConvertible where Self: BinaryFloatingPoint {
  /// The number as Foundation writes it: a whole one without `.0`.
  var literal: String {
    let text = description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

/// A container being filled: containers may be filled in any order, so all is written at the end.
///
/// It is used by one encoder only, and so never concurrently.
private final class CanonicalNode {
  enum Kind {
    /// An object without members also stands for a value that encodes nothing, as in Foundation.
    case object
    case array
    case single(CanonicalValue)
  }

  var kind = Kind.object
  var elements: [CanonicalValue] = []
  var members: [(name: String, value: CanonicalValue)] = []

  func write(to writer: inout JSONWriter) {
    switch kind {
    case .single(let value): value.write(to: &writer)
    case .array:
      writer.beginArray()
      for value in elements {
        writer.beginElement()
        value.write(to: &writer)
      }
      writer.endArray()
    case .object:
      writer.beginObject()
      // Sorting is stable, so of several members with one name the last is the last here too.
      let sorted = members.sorted { $0.name < $1.name }
      for (index, member) in sorted.enumerated()
      where index + 1 == sorted.count || sorted[index + 1].name != member.name {
        writer.beginMember(member.name)
        member.value.write(to: &writer)
      }
      writer.endObject()
    }
  }
}

extension CanonicalValue {
  static var null: CanonicalValue { .literal("null") }

  init(_ value: Bool) { self = .literal(value ? "true" : "false") }

  init(_ value: some FixedWidthInteger) { self = .literal(String(value)) }

  init(
    _ number: some BinaryFloatingPoint & LosslessStringConvertible, at path: [any CodingKey]
  ) throws {
    guard number.isFinite else { throw Self.noNumber(for: number, at: path) }
    self = .literal(number.literal)
  }

  private static func noNumber(
    for number: some BinaryFloatingPoint, at path: [any CodingKey]
  ) -> EncodingError {
    EncodingError.invalidValue(
      number,
      EncodingError.Context(
        codingPath: path, debugDescription: "JSON has no number for \(number)."))
  }

  /// Encodes URLs, data and decimal numbers as Foundation's encoder does by default.
  init<Value: Encodable>(of value: Value, at path: [any CodingKey]) throws {
    if Value.self == URL.self, let url = value as? URL {
      self = .text(url.absoluteString)
    } else if Value.self == Data.self, let bytes = value as? Data {
      self = .text(bytes.base64EncodedString())
    } else if Value.self == Decimal.self, let decimal = value as? Decimal {
      self = .literal(decimal.description)
    } else if Value.self == JSON.self, let json = value as? JSON {
      if let number = json.infiniteNumber { throw Self.noNumber(for: number, at: path) }
      self = .json(json.sorted)
    } else {
      let node = CanonicalNode()
      try value.encode(to: CanonicalEncoder(node: node, codingPath: path))
      if case .single(let value) = node.kind { self = value } else { self = .node(node) }
    }
  }
}

// MARK: - Encoder and containers

private struct CanonicalEncoder: Encoder {
  let node: CanonicalNode
  let codingPath: [any CodingKey]

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(CanonicalMembers<Key>(node, codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { CanonicalElements(node, codingPath) }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension CanonicalEncoder: SingleValueEncodingContainer, UnnamedContainer {
  var path: [any CodingKey] { codingPath }

  func write(_ value: CanonicalValue) { node.kind = .single(value) }
}

/// A container of values without names: a single value or a list.
private protocol UnnamedContainer {
  var path: [any CodingKey] { get }

  func write(_ value: CanonicalValue)
}

extension UnnamedContainer {
  func encodeNil() { write(.null) }
  func encode(_ value: String) { write(.text(value)) }
  func encode(_ value: Bool) { write(CanonicalValue(value)) }
  func encode(_ value: some FixedWidthInteger & Encodable) { write(CanonicalValue(value)) }
  func encode(
    _ value: some BinaryFloatingPoint & LosslessStringConvertible & Encodable
  ) throws { write(try CanonicalValue(value, at: path)) }
  func encode(_ value: some Encodable) throws {
    // An array does not know that its elements are texts, each of which would have a path and a node.
    if let text = value as? String { return encode(text) }
    write(try CanonicalValue(of: value, at: path))
  }
}

private struct CanonicalElements: UnkeyedEncodingContainer, UnnamedContainer {
  private let node: CanonicalNode
  let codingPath: [any CodingKey]

  /// A second container of the same value continues the first.
  init(_ node: CanonicalNode, _ codingPath: [any CodingKey]) {
    self.node = node
    self.codingPath = codingPath
    node.kind = .array
  }

  var count: Int { node.elements.count }

  func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) -> KeyedEncodingContainer<Key> { encoder().container(keyedBy: type) }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }

  func superEncoder() -> any Encoder { encoder() }

  var path: [any CodingKey] { codingPath + [JSONKey(intValue: count)] }

  private func encoder() -> CanonicalEncoder {
    let child = CanonicalNode()
    let path = path
    write(.node(child))
    return CanonicalEncoder(node: child, codingPath: path)
  }

  func write(_ value: CanonicalValue) { node.elements.append(value) }
}

private struct CanonicalMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let node: CanonicalNode
  let codingPath: [any CodingKey]

  init(_ node: CanonicalNode, _ codingPath: [any CodingKey]) {
    self.node = node
    self.codingPath = codingPath
    node.kind = .object
  }

  func encodeNil(forKey key: Key) { write(.null, key) }
  func encode(_ value: String, forKey key: Key) { write(.text(value), key) }
  func encode(_ value: Bool, forKey key: Key) { write(CanonicalValue(value), key) }
  func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) {
    write(CanonicalValue(value), key)
  }
  func encode(
    _ value: some BinaryFloatingPoint & LosslessStringConvertible & Encodable, forKey key: Key
  ) throws { write(try CanonicalValue(value, at: codingPath + [key]), key) }
  func encode(_ value: some Encodable, forKey key: Key) throws {
    write(try CanonicalValue(of: value, at: codingPath + [key]), key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { encoder(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder(JSONKey(stringValue: "super")) }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

  private func encoder(_ key: some CodingKey) -> CanonicalEncoder {
    let child = CanonicalNode()
    write(.node(child), key)
    return CanonicalEncoder(node: child, codingPath: codingPath + [key])
  }

  private func write(_ value: CanonicalValue, _ key: some CodingKey) {
    if node.members.isEmpty { node.members.reserveCapacity(16) }
    node.members.append((key.stringValue, value))
  }
}
