package import AggregatorFoundation

/// A parameter of a statement, in PostgreSQL's binary format.
package enum PostgresValue: Sendable {
  case integer(Int64?)
  case bool(Bool)
  /// UTF-8 without zero bytes.
  case utf8(Data?)
  case integers([Int64?])
  /// UTF-8 without zero bytes.
  case utf8s([Data?])
  /// A text of the type that the statement demands; UTF-8 without zero bytes.
  case untyped(Data?)

  /// A text that may contain any character; see ``Swift/String/nulEscaped``.
  package static func text(_ text: String?) -> PostgresValue {
    .utf8(text.map { Data($0.nulEscaped.utf8) })
  }

  package static func texts(_ texts: [String]) -> PostgresValue {
    .utf8s(texts.map { Data($0.nulEscaped.utf8) })
  }

  package static func date(_ date: Date?) -> PostgresValue {
    .integer(date.map { Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded(.down)) ?? 0 })
  }

  /// True if it is sent in text format.
  var isText: Bool { if case .untyped = self { true } else { false } }

  /// The object ID of its type (`pg_type.dat` of PostgreSQL).
  var type: UInt32 {
    switch self {
    case .integer: Self.bigint
    case .bool: 16
    case .utf8: Self.text
    case .integers: 1016
    case .utf8s: 1009
    case .untyped: 0
    }
  }

  private static let bigint: UInt32 = 20
  private static let text: UInt32 = 25

  /// Appends the value to `bytes`; `false` for null.
  func append(to bytes: inout [UInt8]) -> Bool {
    switch self {
    case .integer(nil), .utf8(nil), .untyped(nil): return false
    case .integer(let value?): bytes.append(bigEndian: value)
    case .bool(let value): bytes.append(value ? 1 : 0)
    case .utf8(let value?): bytes.append(contentsOf: value)
    // In text format it ends with a zero byte.
    case .untyped(let value?): bytes.append(contentsOf: value + [0])
    case .integers(let values):
      Self.append(values, of: Self.bigint, to: &bytes) { value, bytes in
        bytes.append(bigEndian: Int32(value == nil ? -1 : 8))
        if let value { bytes.append(bigEndian: value) }
      }
    case .utf8s(let values):
      Self.append(values, of: Self.text, to: &bytes) { value, bytes in
        bytes.append(bigEndian: value.map { Int32($0.count) } ?? -1)
        if let value { bytes.append(contentsOf: value) }
      }
    }
    return true
  }

  /// The format of `array_recv`: the number of dimensions, whether there are nulls, the type, the size and first
  /// index of the dimension, and each element with its length.
  private static func append<Element>(
    _ values: [Element], of type: UInt32, to bytes: inout [UInt8],
    _ append: (Element, inout [UInt8]) -> Void
  ) {
    bytes.append(bigEndian: Int32(values.isEmpty ? 0 : 1))
    bytes.append(bigEndian: Int32(1))
    bytes.append(bigEndian: type)
    guard !values.isEmpty else { return }
    bytes.append(bigEndian: Int32(values.count))
    bytes.append(bigEndian: Int32(1))
    for value in values { append(value, &bytes) }
  }
}

extension [UInt8] {
  fileprivate mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}

extension String {
  /// The form in which PostgreSQL keeps a text: its texts cannot contain NUL.
  ///
  /// NUL becomes U+0001 and `0`, U+0001 becomes U+0001 and `1`: different texts stay different and in the same
  /// order.
  var nulEscaped: String {
    utf8.contains { $0 <= 1 } ? String(decoding: Data(utf8).nulEscaped, as: UTF8.self) : self
  }

  /// Decodes ``nulEscaped``.
  init(nulEscaped bytes: UnsafeRawBufferPointer) {
    if bytes.contains(1) {
      self.init(decoding: Data(nulEscaped: bytes), as: UTF8.self)
    } else {
      self.init(decoding: bytes, as: UTF8.self)
    }
  }
}

extension Data {
  /// The same of a text's UTF-8; see ``Swift/String/nulEscaped``.
  package var nulEscaped: Data {
    contains { $0 <= 1 } ? Data(flatMap { $0 <= 1 ? [1, UInt8(ascii: "0") + $0] : [$0] }) : self
  }

  /// Decodes ``nulEscaped``.
  package init(nulEscaped bytes: UnsafeRawBufferPointer) {
    guard bytes.contains(1) else {
      self.init(bytes)
      return
    }
    var decoded: [UInt8] = []
    var isEscaped = false
    for byte in bytes {
      if isEscaped {
        decoded.append(byte &- UInt8(ascii: "0"))
      } else if byte != 1 {
        decoded.append(byte)
      }
      isEscaped = byte == 1 && !isEscaped
    }
    self.init(decoded)
  }
}
