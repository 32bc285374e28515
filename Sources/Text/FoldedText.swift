/// Text normalized for matching: without case, diacritics, width, and punctuation that writers leave out.
///
/// `Curaçao`, `CURACAO` and `curacao` fold to the same text, in every locale; so do `Spider-Man` and
/// `spiderman`, `D.C.` and `DC`, `O’Brien` and `obrien`. Letters that Unicode does not decompose become
/// those that stand for them: `Sørensen` folds to `sorensen`. Folded texts are compared byte by byte.
public struct FoldedText: Hashable, Sendable {
  public let text: String

  public init(_ text: some StringProtocol) {
    // As one type: code for any type of text takes fifteen times as long.
    var text = String(text)
    self.text = text.withUTF8(Self.latin) ?? Self.folded(text)
  }

  /// The words of a text, divided also where folding leaves out a sign: `O’Brien` folds to `o brien`.
  package init(wordsOf text: String) {
    let words = text.unicodeScalars.split { $0.isIgnored || $0.properties.isWhitespace }
    self.init(words.map { String($0) }.joined(separator: " "))
  }

  /// True if `word` occurs in this text; an empty word always does.
  public func contains(_ word: FoldedText) -> Bool {
    var (text, word) = (text, word.text)
    return text.withUTF8 { text in word.withUTF8 { word in text.contains(word) } }
  }

  public func containsAll(_ words: [FoldedText]) -> Bool { words.allSatisfy(contains) }

  private static func folded(_ text: String) -> String {
    var folded: [Unicode.Scalar] = []
    for scalar in text.foldedScalars where !scalar.isIgnored {
      if let letters = scalar.latinSubstitute {
        folded.append(contentsOf: letters.unicodeScalars)
      } else {
        folded.append(scalar)
      }
    }
    // A comparison by bytes would notice whether 한 is one character or three.
    return folded.canonicallyComposed
  }

  /// Folds text of ASCII, Latin-1 and Latin Extended-A letters, up to `ſ` (U+017F); `nil` for text with
  /// any other letter or symbol.
  ///
  /// Most text qualifies, and this takes a fortieth of the time of the tables. The folding of each of these
  /// letters is independent of its neighbors, and the result is composed.
  private static func latin(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    var isLatin = true
    // No letter gets longer.
    let folded = String(unsafeUninitializedCapacity: bytes.count) { folded in
      var count = 0
      func append(_ byte: UInt8) {
        folded[count] = byte
        count += 1
      }
      var rest = bytes.makeIterator()
      while let byte = rest.next() {
        switch byte {
        case 0x41...0x5A: append(byte | 0x20)
        // ' , - . and `
        case 0x27, 0x2C...0x2E, 0x60: continue
        case ..<0x80: append(byte)
        case 0xC3...0xC5:
          // Text ends with a whole letter.
          latinLetters[Int(byte - 0xC3) << 6 | Int((rest.next() ?? 0) & 0x3F)].forEach(append)
        default:
          isLatin = false
          return 0
        }
      }
      return count
    }
    return isLatin ? folded : nil
  }

  /// The folded letters from `À` (U+00C0) to `ſ` (U+017F).
  private static let latinLetters = (0xC0...0x17F as ClosedRange<UInt32>)
    .compactMap(Unicode.Scalar.init).map { Array(folded(String($0)).utf8) }
}

extension UnsafeBufferPointer<UInt8> {
  /// True if `word` is a contiguous part of these bytes, or empty.
  ///
  /// The standard library's search of any collection takes a hundred times as long for short texts.
  fileprivate func contains(_ word: Self) -> Bool {
    guard let first = word.first else { return true }
    var rest = self[...]
    while rest.count >= word.count, let start = rest.firstIndex(of: first) {
      rest = rest[start...]
      if rest.starts(with: word) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}

extension Unicode.Scalar {
  /// True for apostrophes, hyphens and dashes, dots, commas, and the soft hyphen.
  fileprivate var isIgnored: Bool {
    switch self {
    case "'", "´", "`", "‘", "’", "‛", "ʹ", "ʻ", "ʼ", "′": true
    case "-", "‐", "‑", "‒", "–", "—", "―", "−", "\u{AD}": true
    case ".", "·", ",": true
    default: false
    }
  }
}

extension FoldedText {
  /// The place of a word in a text, the closest first: a whole word, the beginning of one, a part of one, or none.
  package enum Place: Int, Comparable {
    case word, beginning, part, none

    package static func < (left: Place, right: Place) -> Bool { left.rawValue < right.rawValue }
  }

  /// The closest way in which a folded word occurs in a folded text.
  package static func place(of word: [UInt8], in text: [UInt8]) -> Place {
    var closest = Place.none
    guard let first = word.first, let last = word.last, word.count <= text.count else {
      return closest
    }
    for start in 0...text.count - word.count
    where text[start] == first && text[start...].starts(with: word) {
      let end = start + word.count
      if first.isInWord, start > 0, text[start - 1].isInWord {
        closest = min(closest, .part)
      } else if last.isInWord, end < text.count, text[end].isInWord {
        closest = .beginning
      } else {
        return .word
      }
    }
    return closest
  }
}

extension UInt8 {
  /// True for a byte of a letter or digit of folded text: all but those of ASCII count as letters, and so does a zero byte,
  /// in whose place stores have a sign.
  package var isInWord: Bool {
    switch self {
    case 0, 0x30...0x39, 0x61...0x7A, 0x80...: true
    default: false
    }
  }
}
