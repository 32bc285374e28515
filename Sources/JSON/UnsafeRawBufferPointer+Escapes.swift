extension UnsafeRawBufferPointer {
  /// The index of the first byte from `start` on that a JSON string must escape, a control character, a quote or a
  /// backslash; the end for none.
  package func firstEscaped(from start: Int = 0) -> Int {
    var index = start
    while index + 8 <= count {
      let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let marks = word.marksOfEscapedBytes
      // The lowest mark is right; one above may be that of a byte after it.
      if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < count, !self[index].isEscaped { index += 1 }
    return index
  }
}

extension UInt8 {
  fileprivate var isEscaped: Bool {
    self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
  }
}

extension UInt64 {
  private static let ones: UInt64 = 0x0101_0101_0101_0101

  /// The highest bit of each of its eight bytes that is escaped, and of some above one
  /// (https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord).
  fileprivate var marksOfEscapedBytes: UInt64 {
    let quotes = self ^ Self.ones * UInt64(UInt8(ascii: "\""))
    let backslashes = self ^ Self.ones * UInt64(UInt8(ascii: "\\"))
    let less =
      (self &- Self.ones * 0x20) & ~self | (quotes &- Self.ones) & ~quotes
      | (backslashes &- Self.ones) & ~backslashes
    return less & Self.ones << 7
  }
}
