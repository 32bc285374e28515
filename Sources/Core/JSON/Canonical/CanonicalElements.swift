/// The values of a list that is written.
struct CanonicalElements: UnkeyedEncodingContainer, CanonicalPlace {
  private let node: CanonicalNode
  let codingPath: [any CodingKey]

  /// A second container of the same value goes on where the first stopped.
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

  /// The path of the value that comes next.
  var path: [any CodingKey] { codingPath + [JSONKey(intValue: count)] }

  private func encoder() -> CanonicalEncoder {
    let child = CanonicalNode()
    let path = path
    write(.node(child))
    return CanonicalEncoder(node: child, codingPath: path)
  }

  func write(_ value: CanonicalValue) { node.elements.append(value) }
}
