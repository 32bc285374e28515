import AggregatorKit

extension Unicode.Scalar {
  /// What a scalar means to somebody who makes text safe.
  enum Role {
    case visible, lineBreak, joiner, selector, mark, skinTone, hidden
    case replaced(by: Unicode.Scalar)
  }

  var role: Role {
    switch value {
    case 0x20..<0x7F: return .visible
    case 0x09...0x0D, 0x85, 0x2028, 0x2029: return .lineBreak
    // Pictures of control characters: ␀ … ␟ and ␡.
    case 0..<0x20: return .replaced(by: Unicode.Scalar(0x2400 + value) ?? "\u{FFFD}")
    case 0x7F: return .replaced(by: "\u{2421}")
    case 0x200C, 0x200D: return .joiner
    case 0x1F3FB...0x1F3FF: return .skinTone
    // Jamo that merge into the syllable before them behave as marks.
    case 0x1161...0x11FF, 0xD7B0...0xD7FB: return .mark
    case _ where isSelector: return .selector
    default: break
    }
    return switch properties.generalCategory {
    case .control, .privateUse, .surrogate, .unassigned: .replaced(by: "\u{FFFD}")
    case _ where isInvisible: .hidden
    case .nonspacingMark, .enclosingMark, .spacingMark: .mark
    default: .visible
    }
  }

  /// Whether this varies the character before it: of emoji, of Mongolian and of ideographs.
  var isSelector: Bool {
    switch value {
    case 0xFE00...0xFE0F, 0xE0100...0xE01EF, 0x180B...0x180D, 0x180F: true
    default: false
    }
  }

  /// Whether this is a tab, a line feed or a carriage return.
  var isASCIIBreak: Bool { value == 0x09 || value == 0x0A || value == 0x0D }

  /// Whether this and an enclosing keycap make an emoji: 1️⃣.
  var isKeycapBase: Bool { 0x30...0x39 ~= value || self == "#" || self == "*" }

  /// Whether this joiner, non-joiner or keycap selector changes what is seen of two characters.
  func links(_ base: Unicode.Scalar, to next: Unicode.Scalar) -> Bool {
    switch value {
    case 0xFE0F: base.isKeycapBase && next == "\u{20E3}"
    case 0x200D where next.isPictograph: base.isPictograph || base == "\u{FE0F}"
    default: base.isOfJoiningScript && next.isOfJoiningScript
    }
  }

  /// Whether this is a letter or mark of a script whose writers type joiners: Arabic and its kin,
  /// those of India and Sri Lanka, Burmese, Khmer, Mongolian.
  private var isOfJoiningScript: Bool {
    switch value {
    case 0x0620...0x0DFF, 0x1000...0x109F, 0x1780...0x18AA:
      switch properties.generalCategory {
      case .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark: true
      default: false
      }
    default: false
    }
  }
}
