/// Where a value without a name is written: alone, or in a list.
protocol CanonicalPlace {
  /// The path of the value that comes next.
  var path: [any CodingKey] { get }

  /// Writes it.
  func write(_ value: CanonicalValue)
}

/// What containers of both kinds must have.
extension CanonicalPlace {
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
}
