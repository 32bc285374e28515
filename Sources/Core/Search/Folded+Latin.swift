extension Folded {
  /// Folds text whose letters are all among ASCII, Latin-1 and Latin Extended-A, up to `ſ` (U+017F).
  ///
  /// Most text is that, and Foundation's folding is some forty times slower. None of these letters is
  /// folded in another way for what stands beside it, and what results is composed.
  ///
  /// - Parameter bytes: UTF-8.
  /// - Returns: `nil` if there is another letter in it, or a symbol.
  static func latin(_ bytes: some Collection<UInt8>) -> String? {
    var folded: [UInt8] = []
    folded.reserveCapacity(bytes.count)
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case 0x41...0x5A: folded.append(byte | 0x20)
      case ..<0x80: folded.append(byte)
      case 0xC3...0xC5:
        guard let second = rest.next() else { return nil }
        folded += letters[Int(byte - 0xC3) << 6 | Int(second & 0x3F)]
      default: return nil
      }
    }
    return String(decoding: folded, as: UTF8.self)
  }

  /// What Foundation makes of the letters from `À` (U+00C0) to `ſ` (U+017F).
  private static let letters = """
    a a a a a a æ c e e e e i i i i ð n o o o o o × ø u u u u y þ ss a a a a a a æ c e e e e \
    i i i i ð n o o o o o ÷ ø u u u u y þ y a a a a a a c c c c c c c c d d đ đ e e e e e e \
    e e e e g g g g g g g g h h ħ ħ i i i i i i i i i ı ĳ ĳ j j k k ĸ l l l l l l ŀ ŀ ł ł n \
    n n n n n ʼn ŋ ŋ o o o o o o œ œ r r r r r r s s s s s s s s t t t t ŧ ŧ u u u u u u u u \
    u u u u w w y y y z z z z z z s
    """.split(separator: " ").map { Array($0.utf8) }
}
