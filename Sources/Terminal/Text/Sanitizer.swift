import AggregatorKit

/// Copies scalars, and leaves out or replaces those that are not safe to show; see
/// ``Swift/String/safeLine`` for the rules.
struct Sanitizer {
  enum Breaks { case spaces, paragraphs, unchanged }

  private let breaks: Breaks
  private var output = String.UnicodeScalarView()
  private var previous: Unicode.Scalar?
  /// Written before the next visible character, so that none remains at the end.
  private var pendingBreak = ""
  /// A joiner or the selector of a keycap, written only if it affects the next character.
  private var pendingLink: Unicode.Scalar?
  private var marks = 0
  private var joiners = 0

  static func sanitize(_ text: String, breaks: Breaks) -> String {
    if text.isPrintableASCII { return text }
    var sanitizer = Sanitizer(breaks: breaks)
    for scalar in text.unicodeScalars { sanitizer.take(scalar) }
    return String(sanitizer.output)
  }

  private init(breaks: Breaks) { self.breaks = breaks }

  private mutating func take(_ scalar: Unicode.Scalar) {
    switch scalar.role {
    case .visible: write(scalar)
    case .replaced(let picture): write(picture)
    case .lineBreak: takeBreak(scalar)
    case .joiner: pendingLink = pendingLink ?? scalar
    case .selector: takeSelector(scalar)
    case .mark: takeMark(scalar)
    case .skinTone: if output.last?.properties.isEmojiModifierBase == true { takeMark(scalar) }
    case .hidden: break
    }
    previous = scalar
  }

  private mutating func takeBreak(_ scalar: Unicode.Scalar) {
    switch breaks {
    case .unchanged where scalar.isASCIIBreak: write(scalar)
    case .unchanged, .spaces: pendingBreak = " "
    case .paragraphs where scalar == "\t": if pendingBreak.isEmpty { pendingBreak = " " }
    case .paragraphs where scalar == "\n" && previous == "\r": break
    case .paragraphs:
      let isSecond = pendingBreak.hasPrefix("\n")
      pendingBreak = isSecond || scalar == "\u{2029}" ? "\n\n" : "\n"
    }
  }

  private mutating func takeSelector(_ scalar: Unicode.Scalar) {
    guard let base = output.last, pendingBreak.isEmpty else { return }
    if base.isKeycapBase, scalar == "\u{FE0F}" { return pendingLink = scalar }
    let isEmojiStyle = scalar == "\u{FE0E}" || scalar == "\u{FE0F}"
    guard !base.isASCII, !base.isSelector, !isEmojiStyle || base.properties.isEmoji else { return }
    takeMark(scalar)
  }

  private mutating func takeMark(_ scalar: Unicode.Scalar) {
    guard let base = output.last, pendingBreak.isEmpty, !base.properties.isWhitespace, marks < 4
    else { return }
    write(scalar, isBase: false)
    marks += 1
  }

  private mutating func write(_ scalar: Unicode.Scalar, isBase: Bool = true) {
    let isLinked = writeLink(before: scalar)
    if !pendingBreak.isEmpty {
      if scalar == " " { return }
      let isNeeded = !output.isEmpty && (pendingBreak != " " || output.last != " ")
      if isNeeded { output.append(contentsOf: pendingBreak.unicodeScalars) }
      pendingBreak = ""
    }
    output.append(scalar)
    if isBase {
      marks = 0
      if !isLinked { joiners = 0 }
    }
  }

  private mutating func writeLink(before next: Unicode.Scalar) -> Bool {
    guard let link = pendingLink else { return false }
    pendingLink = nil
    // The longest emoji sequences of Unicode have three.
    guard pendingBreak.isEmpty, joiners < 3, let base = output.last,
      link.links(base, to: next)
    else { return false }
    output.append(link)
    if next.isPictograph { joiners += 1 }
    return true
  }
}

extension Unicode.Scalar {
  package enum Role {
    case visible, lineBreak, joiner, selector, mark, skinTone, hidden
    case replaced(by: Unicode.Scalar)
  }

  package var role: Role {
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

  /// `true` for variation selectors: of emoji, Mongolian and ideographs.
  var isSelector: Bool {
    switch value {
    case 0xFE00...0xFE0F, 0xE0100...0xE01EF, 0x180B...0x180D, 0x180F: true
    default: false
    }
  }

  /// The picture of a control character in the place of it, as ``role`` has it; a tab or a line break stays.
  var withoutControl: Unicode.Scalar {
    guard properties.generalCategory == .control, case .replaced(let picture) = role else {
      return self
    }
    return picture
  }

  var isASCIIBreak: Bool { value == 0x09 || value == 0x0A || value == 0x0D }

  /// `true` if this and an enclosing keycap make an emoji: 1️⃣.
  var isKeycapBase: Bool { 0x30...0x39 ~= value || self == "#" || self == "*" }

  /// `true` if this joiner, non-joiner or keycap selector changes the appearance of two characters.
  package func links(_ base: Unicode.Scalar, to next: Unicode.Scalar) -> Bool {
    switch value {
    case 0xFE0F: base.isKeycapBase && next == "\u{20E3}"
    case 0x200D where next.isPictograph: base.isPictograph || base == "\u{FE0F}"
    default: base.isOfJoiningScript && next.isOfJoiningScript
    }
  }

  /// `true` for letters and marks of scripts that are written with joiners: Arabic and its
  /// relatives, the scripts of India and Sri Lanka, Burmese, Khmer, Mongolian.
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

extension String {
  /// This text sanitized for one line that a person reads.
  ///
  /// Text from services is hostile until it is sanitized. The result shows its true content, moves
  /// no cursor, reorders nothing, and hides nothing:
  ///
  /// - C0 controls become their pictures (the escape character `␛`), so that an escape sequence is
  ///   plain text; C1 controls, private use and unassigned code points become `�`.
  /// - Line and paragraph breaks and tabs become one space, and are trimmed at the ends.
  /// - Bidirectional controls, zero-width and other format characters, fillers and tags are
  ///   removed.
  /// - Joiners stay where they affect the appearance: between emoji (three at most, as in the
  ///   longest sequence of Unicode) and between letters of Arabic, Indic and similar scripts.
  ///   Variation selectors stay behind characters that they can vary, one each.
  /// - A letter keeps four combining marks; a mark without a letter is removed, as is a skin tone
  ///   without a matching emoji.
  ///
  /// Right-to-left letters stay, although terminals may reorder a whole line, columns included: the
  /// only cures are the controls that are removed here.
  package var safeLine: String { Sanitizer.sanitize(self, breaks: .spaces) }

  /// This text on one line for a pipe, where a person may read it later: like ``safeLine``, but all other characters than
  /// controls and breaks are what they were.
  var lineWithoutControls: String {
    if isPrintableASCII { return self }
    var text = String.UnicodeScalarView()
    for part in split(whereSeparator: { $0.isNewline || $0 == "\t" }) {
      if !text.isEmpty { text.append(" ") }
      text.append(contentsOf: part.unicodeScalars.lazy.map(\.withoutControl))
    }
    return String(text)
  }

  /// Lines and columns of text, each of them a ``safeLine``.
  package var safeLines: String {
    split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false)
        .map { String($0).safeLine }.joined(separator: "\t")
    }.joined(separator: "\n")
  }

  /// Like ``safeLine``, but breaks become `\n`: at most one blank line, and none at the ends.
  package var safeParagraphs: String { Sanitizer.sanitize(self, breaks: .paragraphs) }

  /// Like ``safeLine``, but with tabs, CR and LF unchanged, for formats that quote them.
  package var safeCell: String { Sanitizer.sanitize(self, breaks: .unchanged) }
}
