import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// A checksum of rows: 128-bit FNV-1a (draft-eastlake-fnv) of all of their values.
package struct CopyChecksum: Equatable {
  private(set) var count = 0
  private(set) var value: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

  private static let prime: UInt128 = 0x0000_0000_0100_0000_0000_0000_0000_013b

  mutating func add(_ rows: [CopyRow]) {
    count += rows.count
    for value in rows.joined() {
      // The kind, and the length of a text, keep different rows from having the same bytes.
      switch value {
      case .null: add(UInt8(0))
      case .integer(let integer):
        add(UInt8(1))
        add(integer)
      case .text(let text):
        add(UInt8(2))
        add(Int64(text.count))
        text.withUnsafeBytes { add($0) }
      }
    }
  }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var value = value
    for byte in bytes { value = (value ^ UInt128(byte)) &* Self.prime }
    self.value = value
  }

  private mutating func add(_ integer: some FixedWidthInteger) {
    withUnsafeBytes(of: integer.littleEndian) { add($0) }
  }

  /// The value in 32 hexadecimal digits.
  var text: String { value.text(radix: 16, digits: 32) }
}
