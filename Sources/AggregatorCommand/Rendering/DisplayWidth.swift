import AggregatorKit

// Written for `Substring` and `String`, not for `StringProtocol`: what is generic is not specialised
// for other modules, and then costs a call for each byte.

extension Substring {
  /// How many cells this text takes on a terminal: 日本 takes 4.
  ///
  /// The text is one line without controls (see ``Swift/String/safeLine``), which count as 0.
  package var displayWidth: Int {
    if isPrintableASCII { return utf8.count }
    return reduce(0) { $0 + $1.displayWidth }
  }

  /// Whether every byte is one harmless character of one cell, as of nearly all text.
  package var isPrintableASCII: Bool { utf8.allSatisfy { $0 &- 0x20 < 0x5F } }
}

extension String {
  /// How many cells this text takes on a terminal; see ``Swift/Substring/displayWidth``.
  package var displayWidth: Int { self[...].displayWidth }

  /// Whether every byte is one harmless character of one cell, as of nearly all text.
  package var isPrintableASCII: Bool { self[...].isPrintableASCII }
}

extension Character {
  /// How many cells this character takes on a terminal.
  ///
  /// The sum of its scalars, so that a letter of Thai or Devanagari has room for all its parts; two
  /// for whatever is shown as one emoji: a sequence with variation selector 16, a skin tone, joiners,
  /// a flag, a keycap.
  package var displayWidth: Int {
    var width = 0
    var previous: Unicode.Scalar?
    /// The cells of the latest scalar that has any, with what merged into it.
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
  /// How many cells this scalar takes alone: 0, 1 or 2; 1 where Unicode calls the width ambiguous.
  ///
  /// From the files that ``WidthTable`` names, by binary search.
  package var displayWidth: Int {
    // Nothing before the combining marks is wide or empty, but controls.
    if value < 0x300 { return value < 0x20 || 0x7F..<0xA0 ~= value ? 0 : 1 }
    if WidthTable.wide.hasRange(with: value) { return 2 }
    return WidthTable.zero.hasRange(with: value) ? 0 : 1
  }

  /// Whether variation selector 16 makes a wide emoji of this narrow character: ❤ and ❤️.
  private var isEmojiOnRequest: Bool { WidthTable.emoji.hasRange(with: value) }

  fileprivate func makesOneEmoji(with next: Unicode.Scalar) -> Bool {
    if next == "\u{FE0F}" { return isEmojiOnRequest }
    if self == "\u{200D}" { return next.isPictograph }
    if next.properties.isEmojiModifier { return properties.isEmojiModifierBase }
    return isRegionalIndicator && next.isRegionalIndicator
  }

  /// Whether this may be part of an emoji and is no digit.
  var isPictograph: Bool { value > 0x7F && properties.isEmoji }

  private var isRegionalIndicator: Bool { 0x1F1E6...0x1F1FF ~= value }
}

extension [UInt32] {
  /// Whether one of these sorted inclusive ranges (first, last, first, last …) holds `value`.
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
