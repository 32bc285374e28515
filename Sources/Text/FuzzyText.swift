/// A text that a ``FuzzyPattern`` is compared with, letter by letter.
///
/// A letter is a number: a scalar without case and diacritics, a bit for a capital, and its ``Kind``.
package struct FuzzyText: Sendable {
  /// The bonus of a letter depends on its kind and on that of the letter before.
  enum Kind: UInt32 {
    case white, punctuation, delimiter, lower, upper, letter, number
  }

  /// More letters are left out.
  package static let maxLength = 1024

  static let scalarMask: UInt32 = 0x1F_FFFF
  static let capital: UInt32 = 0x20_0000
  static let kindShift: UInt32 = 24

  package private(set) var letters: [UInt32] = []

  /// The number of the character to which each letter belongs.
  package private(set) var characters: [Int] = []

  package init(_ text: String) {
    for (number, character) in text.enumerated() {
      let count = letters.count
      Self.append(character, to: &letters)
      characters += repeatElement(number, count: letters.count - count)
      guard letters.count < Self.maxLength else { break }
    }
  }

  /// Appends the letters of a text.
  static func append(_ text: String, to letters: inout [UInt32]) {
    let end = letters.count + maxLength
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      for byte in text.utf8.prefix(maxLength) { letters.append(ascii[Int(byte)]) }
      return
    }
    for character in text where letters.count < end { append(character, to: &letters) }
  }

  private static func append(_ character: Character, to letters: inout [UInt32]) {
    if let byte = character.utf8.first, byte < 0x80, character.utf8.count == 1 {
      letters.append(ascii[Int(byte)])
      return
    }
    guard let first = character.unicodeScalars.first else { return }
    let kind = Kind(first)
    for folded in String(character).foldedScalars {
      guard let substitute = folded.latinSubstitute else {
        letters.append(letter(folded, kind))
        continue
      }
      for scalar in substitute.unicodeScalars { letters.append(letter(scalar, kind)) }
    }
  }

  /// True for a letter or a digit.
  static func isInWord(_ letter: UInt32) -> Bool { letter >> kindShift >= Kind.lower.rawValue }

  private static func letter(_ scalar: Unicode.Scalar, _ kind: Kind) -> UInt32 {
    scalar.value | (kind == .upper ? capital : 0) | kind.rawValue << kindShift
  }

  private static let ascii = (0..<0x80 as Range<UInt8>).map { byte in
    let scalar = Unicode.Scalar(byte)
    return letter(
      Unicode.Scalar(0x41...0x5A ~= byte ? byte | 0x20 : byte), Kind(scalar))
  }
}

extension FuzzyText.Kind {
  init(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "a"..."z": self = .lower
    case "A"..."Z": self = .upper
    case "0"..."9": self = .number
    case "/", ",", ":", ";", "|": self = .delimiter
    case " ", "\t", "\n", "\r": self = .white
    case _ where scalar.isASCII: self = .punctuation
    default:
      let properties = scalar.properties
      self =
        if properties.isUppercase {
          .upper
        } else if properties.isLowercase {
          .lower
        } else if properties.isAlphabetic {
          .letter
        } else if properties.numericType != nil {
          .number
        } else {
          properties.isWhitespace ? .white : .punctuation
        }
    }
  }
}

/// Texts of which those that match a ``FuzzyPattern`` are found, the best first.
package struct FuzzyList: Sendable {
  private var letters: [UInt32] = []
  private var ends: [Int] = []

  /// The texts between two looks whether the search was cancelled.
  private static let stride = 1024

  package init() {}

  package var count: Int { ends.count }

  /// Appends a text, of which the first ``FuzzyText/maxLength`` letters count.
  package mutating func append(_ text: String) {
    FuzzyText.append(text, to: &letters)
    ends.append(letters.count)
  }

  /// The numbers of the texts that match: words and their beginnings first, then the better place, whole words, the higher score,
  /// the end of a word, the shorter fields, the earlier.
  ///
  /// - Returns: `nil` if it was cancelled.
  package func matches(of pattern: FuzzyPattern, isCancelled: () -> Bool) -> [Int]? {
    // The order is that of these numbers, which sorts faster than a comparison of five.
    var keys: [UInt64] = []
    var scratch = FuzzyScratch()
    var wasCancelled = false
    letters.withUnsafeBufferPointer { letters in
      var start = 0
      for (number, end) in ends.enumerated() {
        if number % Self.stride == 0, isCancelled() {
          wasCancelled = true
          return
        }
        let text = UnsafeBufferPointer(rebasing: letters[start..<end])
        start = end
        guard let (place, score) = pattern.score(of: text, &scratch) else { continue }
        // The words of a pattern have less than 2^15 points, and more than 2^11 letters of their fields are rare.
        let (isOther, isWithin) = (scratch.fit >> 1, scratch.fit & 1)
        let kind = isOther << 31 | place.rawValue << 28 | (isOther == 0 ? isWithin << 27 : 0)
        let rank = kind | UInt64(0x7FFF - min(score, 0x7FFF)) << 12
        let length = isWithin << 11 | UInt64(min(scratch.length, 0x7FF))
        keys.append((rank | length) << 32 | UInt64(UInt32(truncatingIfNeeded: number)))
      }
    }
    guard !wasCancelled else { return nil }
    keys.sort()
    return keys.map { Int($0 & 0xFFFF_FFFF) }
  }
}
