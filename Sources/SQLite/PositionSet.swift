/// A set of positions of records.
///
/// Those of a source follow one another, so that a million take 128 KB.
struct PositionSet {
  private static let blockBits: Int64 = 16

  /// A bit for each position of a block.
  private var blocks: [Int64: [UInt64]] = [:]

  private(set) var count = 0

  func contains(_ position: Int64) -> Bool {
    let (word, bit) = Self.place(of: position)
    return blocks[position >> Self.blockBits].map { $0[word] & bit != 0 } ?? false
  }

  mutating func insert(_ position: Int64) {
    let (word, bit) = Self.place(of: position)
    let isNew =
      blocks[
        position >> Self.blockBits,
        default: [UInt64](repeating: 0, count: 1 << (Self.blockBits - 6))
      ]
      .insert(bit, at: word)
    if isNew { count += 1 }
  }

  /// Inserts the positions of a JSON array, as `jsonArray` writes it.
  mutating func insert(listed array: String) {
    for number in array.utf8.split(whereSeparator: { !(0x30...0x39 ~= $0) }) {
      if let position = Int64(Substring(number)) { insert(position) }
    }
  }

  private static func place(of position: Int64) -> (word: Int, bit: UInt64) {
    let place = Int(position & (1 << blockBits - 1))
    return (place >> 6, 1 << UInt64(place & 63))
  }
}

extension [UInt64] {
  /// Sets a bit of a word; false if it was set.
  fileprivate mutating func insert(_ bit: UInt64, at word: Int) -> Bool {
    defer { self[word] |= bit }
    return self[word] & bit == 0
  }
}
