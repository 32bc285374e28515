import AggregatorKit

// For `Substring` and `String`, not for `StringProtocol`: generic code is not specialised for other
// modules, which would cost a call for each byte.

extension Substring {
  /// The cells of one line, 4 for 日本; controls count as 0 (see ``Swift/String/safeLine``).
  package var displayWidth: Int {
    if isPrintableASCII { return utf8.count }
    return reduce(0) { $0 + $1.displayWidth }
  }

  /// `true` if every byte is one harmless character of one cell, as in nearly all text.
  package var isPrintableASCII: Bool { utf8.allSatisfy { $0 &- 0x20 < 0x5F } }
}

extension String {
  package var displayWidth: Int { self[...].displayWidth }

  package var isPrintableASCII: Bool { self[...].isPrintableASCII }
}

extension Character {
  /// The sum of its scalars, so that a letter of Thai or Devanagari has room for all its parts; two
  /// for a sequence shown as one emoji: with variation selector 16, a skin tone, joiners, a flag, a
  /// keycap.
  package var displayWidth: Int {
    var width = 0
    var previous: Unicode.Scalar?
    /// The cells of the latest scalar that has any, with those merged into it.
    var latest = 0
    for scalar in unicodeScalars {
      if let previous, previous.makesOneEmoji(with: scalar) {
        width += 2 - latest
        latest = 2
      } else if scalar.displayWidth > 0 {
        latest = scalar.displayWidth
        width += latest
      }
      previous = scalar
    }
    return width
  }
}

extension Unicode.Scalar {
  /// 0, 1 or 2; 1 if Unicode calls the width ambiguous.
  package var displayWidth: Int {
    // Before the combining marks, only controls are not one cell wide.
    if value < 0x300 { return value < 0x20 || 0x7F..<0xA0 ~= value ? 0 : 1 }
    if WidthTable.wide.hasRange(with: value) { return 2 }
    return WidthTable.zero.hasRange(with: value) ? 0 : 1
  }

  /// `true` if variation selector 16 makes this narrow character a wide emoji: ❤ and ❤️.
  private var isEmojiWithSelector: Bool { WidthTable.emoji.hasRange(with: value) }

  fileprivate func makesOneEmoji(with next: Unicode.Scalar) -> Bool {
    if next == "\u{FE0F}" { return isEmojiWithSelector }
    if self == "\u{200D}" { return next.isPictograph }
    if next.properties.isEmojiModifier { return properties.isEmojiModifierBase }
    return isRegionalIndicator && next.isRegionalIndicator
  }

  /// `true` for a possible part of an emoji, except for digits.
  var isPictograph: Bool { value > 0x7F && properties.isEmoji }

  private var isRegionalIndicator: Bool { 0x1F1E6...0x1F1FF ~= value }
}

extension [UInt32] {
  /// `true` if one of these sorted inclusive ranges (first, last, first, last …) contains `value`.
  fileprivate func hasRange(with value: UInt32) -> Bool {
    var low = 0
    var high = count / 2
    while low < high {
      let middle = (low + high) / 2
      if value > self[2 * middle + 1] { low = middle + 1 } else { high = middle }
    }
    return 2 * low < count && self[2 * low] <= value
  }
}
