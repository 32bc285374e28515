import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// A checksum of rows: 128-bit FNV-1a (draft-eastlake-fnv) of all of their values.
package struct CopyChecksum: Equatable {
  private(set) var count = 0
  /// The halves of the value: arithmetic with UInt128 calls functions that nobody specialized for each byte.
  private var high: UInt64 = 0x6c62_272e_07bb_0142
  private var low: UInt64 = 0x62b8_2175_6295_c58d

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
    var (high, low) = (high, low)
    for byte in bytes {
      // The prime is 2^88 + 0x13b.
      low ^= UInt64(byte)
      let product = low.multipliedFullWidth(by: 0x13b)
      high = high &* 0x13b &+ low &<< 24 &+ product.high
      low = product.low
    }
    (self.high, self.low) = (high, low)
  }

  private mutating func add(_ integer: some FixedWidthInteger) {
    withUnsafeBytes(of: integer.littleEndian) { add($0) }
  }

  /// The value in 32 hexadecimal digits.
  var text: String { high.text(radix: 16, digits: 16) + low.text(radix: 16, digits: 16) }
}
