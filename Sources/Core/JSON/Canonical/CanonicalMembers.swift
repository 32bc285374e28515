/// The members of an object that is written.
struct CanonicalMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let node: CanonicalNode
  let codingPath: [any CodingKey]

  /// A second container of the same value goes on where the first stopped.
  init(_ node: CanonicalNode, _ codingPath: [any CodingKey]) {
    self.node = node
    self.codingPath = codingPath
    node.kind = .object
  }

  func encodeNil(forKey key: Key) { write(.null, key) }
  func encode(_ value: String, forKey key: Key) { write(.text(value), key) }
  func encode(_ value: Bool, forKey key: Key) { write(CanonicalValue(value), key) }
  func encode(_ value: Double, forKey key: Key) throws {
    write(try CanonicalValue(value, at: codingPath + [key]), key)
  }
  func encode(_ value: Float, forKey key: Key) throws {
    write(try CanonicalValue(value, at: codingPath + [key]), key)
  }
  func encode(_ value: Int, forKey key: Key) { write(CanonicalValue(value), key) }
  func encode(_ value: Int8, forKey key: Key) { write(CanonicalValue(value), key) }
  func encode(_ value: Int16, forKey key: Key) { write(CanonicalValue(value), key) }
  func encode(_ value: Int32, forKey key: Key) { write(CanonicalValue(value), key) }
  func encode(_ value: Int64, forKey key: Key) { write(CanonicalValue(value), key) }
  func encode(_ value: UInt, forKey key: Key) { write(CanonicalValue(value), key) }
  func encode(_ value: UInt8, forKey key: Key) { write(CanonicalValue(value), key) }
  func encode(_ value: UInt16, forKey key: Key) { write(CanonicalValue(value), key) }
  func encode(_ value: UInt32, forKey key: Key) { write(CanonicalValue(value), key) }
  func encode(_ value: UInt64, forKey key: Key) { write(CanonicalValue(value), key) }

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
