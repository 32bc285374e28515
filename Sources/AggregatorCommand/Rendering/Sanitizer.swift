import AggregatorKit

/// Writes scalars one after the other, and leaves out or replaces what is not safe to show; see
/// ``Swift/String/safeLine`` for the rules.
struct Sanitizer {
  /// What becomes of line breaks and tabs.
  enum Breaks { case spaces, paragraphs, kept }

  private let breaks: Breaks
  private var output = String.UnicodeScalarView()
  private var previous: Unicode.Scalar?
  /// Written before the next visible character, so that none is left at the end.
  private var pendingBreak = ""
  /// A joiner or the selector of a keycap, written only if the next character makes sense of it.
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
    case .kept where scalar.isASCIIBreak: write(scalar)
    case .kept, .spaces: pendingBreak = " "
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
    // Three is what the longest emoji sequences of Unicode have.
    guard pendingBreak.isEmpty, joiners < 3, let base = output.last,
      link.links(base, to: next)
    else { return false }
    output.append(link)
    if next.isPictograph { joiners += 1 }
    return true
  }
}
