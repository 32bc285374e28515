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
  var foldedScalars: [Unicode.Scalar] {
    var folded: [Unicode.Scalar] = []
    var cluster: [Unicode.Scalar] = []
    var parts: [Unicode.Scalar] = []
    // At the beginning of the text, and after a NUL, a mark is a letter of its own.
    var marks: MarkRule?
    for scalar in unicodeScalars {
      if let rule = marks, scalar.isMark {
        if rule == .keepAll || rule == .keepForeign && !scalar.isEuropean { cluster.append(scalar) }
        if rule == .keepForeign { marks = .keepAll }
        continue
      }
      folded += cluster.sortedByCombiningClass
      cluster.removeAll(keepingCapacity: true)
      parts.removeAll(keepingCapacity: true)
      let usual = scalar.widthFolded
      usual.appendDecomposition(to: &parts)
      let letter = parts[0].isEuropean ? parts[0] : usual
      let letters = letter.caseFolded
      cluster.append(contentsOf: letters)
      marks =
        switch letters.last {
        case "\0", nil: nil
        case let last? where last.isEuropean: .dropAll
        case let last?:
          last == scalar && letters.count == 1 && !scalar.isOfWidth ? .keepForeign : .keepAll
        }
    }
    return folded + cluster.sortedByCombiningClass
  }
}

/// The marks after a letter that stay.
private enum MarkRule { case dropAll, keepForeign, keepAll }

extension Unicode.Scalar {
  /// True for the Latin, Greek and Cyrillic letters of the first blocks, and their marks.
  fileprivate var isEuropean: Bool { value < 0x510 }

  fileprivate var isMark: Bool { value >= 0x300 && UnicodeTables.isMark(self) }

  /// True in the block of half-width and full-width forms.
  fileprivate var isOfWidth: Bool { 0xFF00..<0xFFF0 ~= value }

  fileprivate var widthFolded: Unicode.Scalar {
    guard isOfWidth else { return self }
    let folded = UnicodeTables.widthFoldings[Int(value - 0xFF00)]
    return folded == 0 ? self : Unicode.Scalar(folded) ?? self
  }

  fileprivate var caseFolded: String.UnicodeScalarView {
    if value < 0x80 {
      return String(0x41...0x5A ~= value ? Unicode.Scalar(UInt8(value | 0x20)) : self)
        .unicodeScalars
    }
    if let folded = UnicodeTables.caseFoldings[value] { return folded.unicodeScalars }
    return (isKnown ? properties.lowercaseMapping : String(self)).unicodeScalars
  }
}
