import Foundation

/// Reads one value of a ``JSONText``.
///
/// It has three words, so that it is no allocation where any decoder can be.
struct JSONReader: Decoder {
  /// The list or object that a value is in.
  final class Container: Sendable {
    let reader: JSONReader
    init(_ reader: JSONReader) { self.reader = reader }
  }

  let text: JSONText
  private let container: Container?
  private let shortIndex: UInt32
  /// Which value of a list it is; `nobody` for a member of an object.
  private let ordinal: UInt32

  private static var nobody: UInt32 { .max }

  /// Reads the whole text.
  init(_ text: JSONText) {
    self.text = text
    container = nil
    (shortIndex, ordinal) = (0, Self.nobody)
  }

  /// Reads a value within another.
  ///
  /// - Parameters:
  ///   - index: Which part it is.
  ///   - ordinal: Which value of a list it is; `nil` for a member of an object.
  ///   - container: The list or object.
  init(_ index: Int, ordinal: Int? = nil, in container: Container) {
    text = container.reader.text
    self.container = container
    shortIndex = UInt32(index)
    self.ordinal = ordinal.map(UInt32.init) ?? Self.nobody
  }

  /// Which part it is.
  var index: Int { Int(shortIndex) }

  var part: JSONText.Part { text.parts[index] }

  /// The keys that lead here; made only for failures.
  var codingPath: [any CodingKey] {
    guard let container else { return [] }
    let key =
      ordinal == Self.nobody
      ? JSONKey(stringValue: text.string(text.parts[index - 1])) : JSONKey(intValue: Int(ordinal))
    return container.reader.codingPath + [key]
  }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try JSONMembers<Key>(self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try JSONElements(self) }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
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

  func decode(_ type: Double.Type) throws -> Double { try number(type) }
  func decode(_ type: Float.Type) throws -> Float { try number(type) }
  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

  /// Any other value.
  ///
  /// Addresses, bytes and decimal numbers are read as Foundation's decoder reads them by default.
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
    guard let value = value as? Value else { throw corrupted("it is no \(type)") }
    return value
  }

  private func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
    let digits = try digits(type)
    if let value = Value(digits) { return value }
    // `1.0` and `1e2` are whole numbers too; from 2^53 on a fraction can no longer be told.
    guard let number = Double(digits), number.magnitude < 0x1p53, let value = Value(exactly: number)
    else { throw misfit(digits) }
    return value
  }

  private func number<Value: BinaryFloatingPoint & LosslessStringConvertible>(
    _ type: Value.Type
  ) throws -> Value {
    let digits = try digits(type)
    guard let value = Value(digits), value.isFinite else { throw misfit(digits) }
    return value
  }

  /// What stands there for a number.
  private func digits(_ type: any Any.Type) throws -> String {
    guard part.kind == .number else { throw mismatch(type) }
    return text.string(part)
  }
}

extension JSONReader {
  /// The words of Foundation's decoder for what is found in the place of something else.
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
  /// How the description of the failure to represent a number begins.
  package static let misfit = "Number"
}
