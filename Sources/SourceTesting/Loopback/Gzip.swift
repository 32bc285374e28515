import Foundation

/// The little of gzip (RFC 1952) that tests need, without a library.
enum Gzip {
  /// Zeros, packed as tightly as deflate can: two bits for each 258 of them.
  ///
  /// One block with codes of its own (RFC 1951, section 3.2.7): literal 0 is `10`, the end is `11`, a
  /// match of 258 bytes is `0`, and so is its distance of 1. Four matches are one zero byte. The checksum
  /// is wrong: whoever gets that far has read too much.
  static func zeros(_ count: Int) -> Data {
    var bits = Bits()
    bits.append(1, 1)  // the last block
    bits.append(2, 2)  // with codes of its own,
    bits.append(29, 5)  // 286 for literals and lengths,
    bits.append(0, 5)  // 1 for distances,
    bits.append(14, 4)  // whose lengths are written in 18 codes:
    for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] {
      bits.append([18: 1, 1: 2, 2: 2][symbol] ?? 0, 3)
    }
    bits.append(0b11, 2)  // literal 0 has 2 bits,
    bits.appendZeroLengths(138)
    bits.appendZeroLengths(117)
    bits.append(0b11, 2)  // the end has 2 bits,
    bits.appendZeroLengths(28)
    bits.append(0b01, 2)  // length 258 has 1 bit,
    bits.append(0b01, 2)  // distance 1 has 1 bit
    for _ in 0...count % 258 { bits.append(0b01, 2) }
    let matches = count / 258
    let inBytes = matches / 4
    for _ in 0..<(matches - inBytes * 4) { bits.append(0, 2) }
    return header + bits.finished(withZeroBytes: inBytes, end: 0b11) + Data(count: 8)
  }

  private static let header = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])

  /// Bits in deflate's order: the lowest of each byte first.
  private struct Bits {
    private var bytes: [UInt8] = []
    private var current: UInt8 = 0
    private var used = 0

    mutating func append(_ value: Int, _ count: Int) {
      for bit in 0..<count {
        current |= UInt8(value >> bit & 1) << used
        used += 1
        if used == 8 {
          bytes.append(current)
          (current, used) = (0, 0)
        }
      }
    }

    /// A run of 11 to 138 lengths that are 0.
    mutating func appendZeroLengths(_ count: Int) {
      append(0, 1)
      append(count - 11, 7)
    }

    /// All bytes, with a run of zero bytes before the last code of two bits.
    consuming func finished(withZeroBytes count: Int, end: Int) -> Data {
      // The run of zero bits may begin in the middle of a byte: the rest of the byte in front moves on.
      let tail = current
      let shift = used
      var data = Data(bytes)
      if count > 0 {
        data.append(tail)
        data.append(Data(count: count - 1))
        (current, used, bytes) = (0, shift, [])
      } else {
        bytes = []
      }
      append(end, 2)
      if used > 0 { append(0, 8 - used) }
      return data + Data(bytes)
    }
  }
}
