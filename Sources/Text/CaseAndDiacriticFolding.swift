extension String {
  /// The text without differences of case, diacritics and width, in part decomposed.
  ///
  /// The result is canonically equivalent to that of Foundation's `folding(options:locale:)` with
  /// `caseInsensitive`, `diacriticInsensitive` and `widthInsensitive` in Unicode 15, to the letter, and whatever
  /// the version of the standard library: stores contain text that was folded so, and searches compare by bytes.
  ///
  /// Marks of Latin, Greek and Cyrillic letters are diacritics. Those of other scripts, which may be vowels, stay,
  /// sorted by their combining classes, but for a first one of these three scripts, unless the letter itself was
  /// changed.
  package var foldedScalars: [Unicode.Scalar] {
    var folded: [Unicode.Scalar] = []
    var cluster = 0  // where the letter and its marks at the end begin
    // At the beginning of the text, and after a NUL, a mark is a letter of its own.
    var marks: MarkRule?
    for scalar in unicodeScalars {
      if let rule = marks, scalar.isMark {
        if rule == .keepAll || rule == .keepForeign && !scalar.isEuropean { folded.append(scalar) }
        if rule == .keepForeign { marks = .keepAll }
        continue
      }
      folded.sortMarks(from: cluster)
      cluster = folded.count
      let usual = scalar.widthFolded
      let first = usual.firstPart
      (first.isEuropean ? first : usual).appendCaseFolded(to: &folded)
      marks =
        switch folded[folded.count - 1] {
        case "\0": nil
        case let last where last.isEuropean: .dropAll
        case scalar where folded.count - cluster == 1 && !scalar.isWidthForm: .keepForeign
        default: .keepAll
        }
    }
    folded.sortMarks(from: cluster)
    return folded
  }
}

/// The marks after a letter that stay.
private enum MarkRule { case dropAll, keepForeign, keepAll }

extension [Unicode.Scalar] {
  fileprivate mutating func sortMarks(from index: Int) {
    guard count - index > 1 else { return }
    self[index...].sort { $0.combiningClass < $1.combiningClass }
  }
}

extension Unicode.Scalar {
  /// True for the Latin, Greek and Cyrillic letters of the first blocks, and their marks.
  fileprivate var isEuropean: Bool { value < 0x510 }

  fileprivate var isMark: Bool { value >= 0x300 && UnicodeTables.isMark(self) }

  /// True in the block of half-width and full-width forms.
  fileprivate var isWidthForm: Bool { 0xFF00..<0xFFF0 ~= value }

  fileprivate var widthFolded: Unicode.Scalar {
    guard isWidthForm else { return self }
    let folded = UnicodeTables.widthFoldings[Int(value - 0xFF00)]
    return folded == 0 ? self : Unicode.Scalar(folded) ?? self
  }

  fileprivate func appendCaseFolded(to scalars: inout [Unicode.Scalar]) {
    if value < 0x80 {
      scalars.append(0x41...0x5A ~= value ? Unicode.Scalar(UInt8(value | 0x20)) : self)
    } else if !properties.isCased {
      scalars.append(self)
    } else if let folded = UnicodeTables.caseFoldings[value] {
      scalars.append(contentsOf: folded.unicodeScalars)
    } else if properties.changesWhenLowercased, isKnown {
      scalars.append(contentsOf: properties.lowercaseMapping.unicodeScalars)
    } else {
      scalars.append(self)
    }
  }

  /// The letters that stand for a lower-case letter that Unicode does not decompose.
  package var latinSubstitute: String? {
    switch self {
    case "ø": "o"
    case "ł", "ŀ": "l"
    case "ı": "i"
    case "đ", "ð": "d"
    case "ħ": "h"
    case "ŧ": "t"
    case "ŋ": "n"
    case "ĸ": "k"
    case "æ": "ae"
    case "œ": "oe"
    case "ĳ": "ij"
    case "þ": "th"
    default: nil
    }
  }
}
