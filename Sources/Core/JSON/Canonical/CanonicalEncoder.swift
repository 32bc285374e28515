import Foundation

/// Writes one value into its place.
struct CanonicalEncoder: Encoder {
  let node: CanonicalNode
  let codingPath: [any CodingKey]

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(CanonicalMembers<Key>(node, codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { CanonicalElements(node, codingPath) }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension CanonicalEncoder: SingleValueEncodingContainer, CanonicalPlace {
  var path: [any CodingKey] { codingPath }

  func write(_ value: CanonicalValue) { node.kind = .single(value) }
}

extension CanonicalValue {
  static var null: CanonicalValue { .word("null") }

  init(_ value: Bool) { self = .word(value ? "true" : "false") }

  init(_ value: some FixedWidthInteger) { self = .word(String(value)) }

  /// A number, without `.0`, as Foundation writes it.
  init(
    _ number: some BinaryFloatingPoint & LosslessStringConvertible, at path: [any CodingKey]
  ) throws {
    guard number.isFinite else {
      throw EncodingError.invalidValue(
        number,
        EncodingError.Context(
          codingPath: path, debugDescription: "JSON has no number for \(number)."))
    }
    let text = number.description
    self = .word(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  /// Any value.
  ///
  /// Addresses, bytes and decimal numbers are written as Foundation's encoder writes them by default.
  init<Value: Encodable>(of value: Value, at path: [any CodingKey]) throws {
    if Value.self == URL.self, let url = value as? URL {
      self = .text(url.absoluteString)
    } else if Value.self == Data.self, let bytes = value as? Data {
      self = .text(bytes.base64EncodedString())
    } else if Value.self == Decimal.self, let decimal = value as? Decimal {
      self = .word(decimal.description)
    } else {
      let node = CanonicalNode()
      try value.encode(to: CanonicalEncoder(node: node, codingPath: path))
      if case .single(let value) = node.kind { self = value } else { self = .node(node) }
    }
  }
}
