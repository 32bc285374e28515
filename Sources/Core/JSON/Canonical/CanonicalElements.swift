/// The values of a list that is written.
struct CanonicalElements: UnkeyedEncodingContainer {
  private let node: CanonicalNode
  let codingPath: [any CodingKey]

  /// A second container of the same value goes on where the first stopped.
  init(_ node: CanonicalNode, _ codingPath: [any CodingKey]) {
    self.node = node
    self.codingPath = codingPath
    node.kind = .array
  }

  var count: Int { node.elements.count }

  func encodeNil() { write(.null) }
  func encode(_ value: String) { write(.text(value)) }
  func encode(_ value: Bool) { write(CanonicalValue(value)) }
  func encode(_ value: Double) throws { write(try CanonicalValue(value, at: path)) }
  func encode(_ value: Float) throws { write(try CanonicalValue(value, at: path)) }
  func encode(_ value: Int) { write(CanonicalValue(value)) }
  func encode(_ value: Int8) { write(CanonicalValue(value)) }
  func encode(_ value: Int16) { write(CanonicalValue(value)) }
  func encode(_ value: Int32) { write(CanonicalValue(value)) }
  func encode(_ value: Int64) { write(CanonicalValue(value)) }
  func encode(_ value: UInt) { write(CanonicalValue(value)) }
  func encode(_ value: UInt8) { write(CanonicalValue(value)) }
  func encode(_ value: UInt16) { write(CanonicalValue(value)) }
  func encode(_ value: UInt32) { write(CanonicalValue(value)) }
  func encode(_ value: UInt64) { write(CanonicalValue(value)) }
  func encode(_ value: some Encodable) throws { write(try CanonicalValue(of: value, at: path)) }

  func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) -> KeyedEncodingContainer<Key> { encoder().container(keyedBy: type) }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }

  func superEncoder() -> any Encoder { encoder() }

  /// The path of the value that comes next.
  private var path: [any CodingKey] { codingPath + [JSONKey(intValue: count)] }

  private func encoder() -> CanonicalEncoder {
    let child = CanonicalNode()
    let path = path
    write(.node(child))
    return CanonicalEncoder(node: child, codingPath: path)
  }

  private func write(_ value: CanonicalValue) { node.elements.append(value) }
}
