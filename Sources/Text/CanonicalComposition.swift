// Unicode normalization forms C and D (UAX #15), which the standard library does not offer, and for which Foundation
// needs ICU on Linux.

extension String {
  /// The text in normalization form C.
  package var canonicallyComposed: String { Array(unicodeScalars).canonicallyComposed }

  /// The text in normalization form D.
  package var canonicallyDecomposed: String {
    String(UnicodeScalarView(Array(unicodeScalars).canonicalParts.map(\.scalar)))
  }
}

extension [Unicode.Scalar] {
  /// The text in normalization form C.
  package var canonicallyComposed: String {
    // The first character that combines with the one before it is U+0300.
    guard contains(where: { $0.value >= 0x300 }) else {
      return String(String.UnicodeScalarView(self))
    }
    let parts = canonicalParts
    var composed: [Unicode.Scalar] = []
    composed.reserveCapacity(parts.count)
    // The last character of class 0, and the class of the last character.
    var (starter, last): (Int?, UInt8) = (nil, 0)
    for (scalar, combiningClass) in parts {
      if let starter, starter == composed.count - 1 || last < combiningClass,
        let both = composed[starter].composed(with: scalar)
      {
        composed[starter] = both
        continue
      }
      if combiningClass == 0 { starter = composed.count }
      last = combiningClass
      composed.append(scalar)
    }
    return String(String.UnicodeScalarView(composed))
  }

  /// The characters of normalization form D, with their combining classes.
  fileprivate var canonicalParts: [(scalar: Unicode.Scalar, combiningClass: UInt8)] {
    var parts: [(scalar: Unicode.Scalar, combiningClass: UInt8)] = []
    parts.reserveCapacity(count)
    var run = 0  // where the marks at the end begin
    for scalar in self {
      scalar.forEachPart { part in
        let combiningClass = part.combiningClass
        if combiningClass == 0 {
          if parts.count - run > 1 {
            parts[run...].sort { $0.combiningClass < $1.combiningClass }
          }
          run = parts.count + 1
        }
        parts.append((part, combiningClass))
      }
    }
    if parts.count - run > 1 { parts[run...].sort { $0.combiningClass < $1.combiningClass } }
    return parts
  }
}

extension Unicode.Scalar {
  /// Calls `body` with each character of the canonical decomposition; with this one if it has none.
  fileprivate func forEachPart(_ body: (Unicode.Scalar) -> Void) {
    // The first character that decomposes is U+00C0.
    guard value >= 0xC0 else { return body(self) }
    if let parts = Hangul.parts(of: value) { return parts.forEach(body) }
    guard let (first, second) = UnicodeTables.decomposition(of: self) else { return body(self) }
    first.forEachPart(body)
    // Second parts do not decompose.
    if let second { body(second) }
  }

  /// The first character of the canonical decomposition; this one if it has none.
  ///
  /// A Hangul syllable counts as one that has none.
  var firstPart: Unicode.Scalar {
    guard value >= 0xC0, let (first, _) = UnicodeTables.decomposition(of: self) else { return self }
    return first.firstPart
  }

  fileprivate func composed(with second: Unicode.Scalar) -> Unicode.Scalar? {
    // The first second part is U+0300.
    guard second.value >= 0x300 else { return nil }
    return Hangul.syllable(of: value, second.value)
      ?? UnicodeTables.composition(of: self, second)
  }

  var combiningClass: UInt8 {
    // The first combining mark is U+0300.
    guard value >= 0x300 else { return 0 }
    let combiningClass = properties.canonicalCombiningClass.rawValue
    return combiningClass == 0 || !isKnown ? 0 : combiningClass
  }

  /// True if the tables know it.
  ///
  /// The contents of a store must not depend on the version of the standard library.
  package var isKnown: Bool { properties.age.map { $0.major <= UnicodeTables.version } ?? false }
}

/// Syllables of Hangul, which are computed (The Unicode Standard, section 3.12).
private enum Hangul {
  private static let syllables: Range<UInt32> = 0xAC00..<0xD7A4
  private static let leading: Range<UInt32> = 0x1100..<0x1113
  private static let vowels: Range<UInt32> = 0x1161..<0x1176
  /// Of the syllables of one leading consonant and one vowel, the first has no trailing consonant.
  private static let trailing: Range<UInt32> = 0x11A8..<0x11C3
  private static let perVowel: UInt32 = 28

  static func parts(of value: UInt32) -> [Unicode.Scalar]? {
    guard syllables ~= value else { return nil }
    let (pair, last) = (value - syllables.lowerBound).quotientAndRemainder(dividingBy: perVowel)
    let (first, vowel) = pair.quotientAndRemainder(dividingBy: UInt32(vowels.count))
    let parts = [leading.lowerBound + first, vowels.lowerBound + vowel]
    return (last == 0 ? parts : parts + [trailing.lowerBound + last - 1])
      .compactMap(Unicode.Scalar.init)
  }

  static func syllable(of first: UInt32, _ second: UInt32) -> Unicode.Scalar? {
    if leading ~= first, vowels ~= second {
      let pair =
        (first - leading.lowerBound) * UInt32(vowels.count) + second - vowels.lowerBound
      return Unicode.Scalar(syllables.lowerBound + pair * perVowel)
    }
    guard syllables ~= first, (first - syllables.lowerBound) % perVowel == 0, trailing ~= second
    else { return nil }
    return Unicode.Scalar(first + second - trailing.lowerBound + 1)
  }
}

extension UnicodeTables {
  /// The numbers that Scripts/make-unicode-tables packs: each as its difference from the one `columns` before it.
  package static func unpacked(_ text: String, columns: Int = 1) -> [UInt32] {
    var numbers = [UInt32](repeating: 0, count: columns)
    var rest: UInt32 = 0
    // All digits are greater than a line break.
    for byte in text.utf8 where byte >= 0x3F {
      rest = rest << 5 | UInt32(byte - 0x3F) & 31
      guard byte < 0x5F else { continue }
      let difference = rest >> 1 ^ (0 &- rest & 1)
      numbers.append(numbers[numbers.count - columns] &+ difference)
      rest = 0
    }
    return Array(numbers.dropFirst(columns))
  }

  /// The decompositions, and the compositions: three characters in 21 bits each; sorted.
  private static let (decompositions, compositions) = {
    let numbers = unpacked(steps, columns: 3)
    var (decompositions, compositions): ([UInt64], [UInt64]) = ([], [])
    for index in stride(from: 0, to: numbers.count, by: 3) {
      let (character, isComposed) = (UInt64(numbers[index] >> 1), numbers[index] & 1 == 1)
      let parts = UInt64(numbers[index + 1]) << 21 | UInt64(numbers[index + 2])
      decompositions.append(character << 42 | parts)
      if isComposed { compositions.append(parts << 21 | character) }
    }
    return (decompositions, compositions.sorted())
  }()

  private static let mask: UInt64 = 1 << 21 - 1

  /// The one or two parts of a character.
  fileprivate static func decomposition(
    of scalar: Unicode.Scalar
  ) -> (first: Unicode.Scalar, second: Unicode.Scalar?)? {
    let index = decompositions.partitionIndex { $0 >> 42 < UInt64(scalar.value) }
    guard index < decompositions.count, decompositions[index] >> 42 == UInt64(scalar.value),
      let first = Unicode.Scalar(UInt32(decompositions[index] >> 21 & mask))
    else { return nil }
    let second = UInt32(decompositions[index] & mask)
    return (first, second == 0 ? nil : Unicode.Scalar(second))
  }

  fileprivate static func composition(
    of first: Unicode.Scalar, _ second: Unicode.Scalar
  ) -> Unicode.Scalar? {
    let parts = UInt64(first.value) << 21 | UInt64(second.value)
    let index = compositions.partitionIndex { $0 >> 21 < parts }
    guard index < compositions.count, compositions[index] >> 21 == parts else { return nil }
    return Unicode.Scalar(UInt32(compositions[index] & mask))
  }

  /// True for a character that continues the one before it.
  static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    !marks.partitionIndex { $0 <= scalar.value }.isMultiple(of: 2)
  }
}

extension Array {
  /// The index of the first element for which the condition is false; it is true for all elements before that one.
  fileprivate func partitionIndex(where isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
