// Unicode normalization form C (UAX #15), which the standard library does not offer, and for which Foundation needs
// ICU on Linux.

extension Sequence<Unicode.Scalar> {
  /// The text in normalization form C.
  var canonicallyComposed: String {
    var composed = String.UnicodeScalarView()
    // From one starter (a character of class 0) to the next, which only combines with the one right before it.
    var starter: Unicode.Scalar?
    var marks: [Unicode.Scalar] = []
    var parts: [Unicode.Scalar] = []
    for scalar in self {
      parts.removeAll(keepingCapacity: true)
      scalar.appendDecomposition(to: &parts)
      for part in parts {
        if part.combiningClass > 0 {
          marks.append(part)
          continue
        }
        let rest = Self.combine(&starter, with: marks)
        marks.removeAll(keepingCapacity: true)
        if rest.isEmpty, let both = starter?.composed(with: part) {
          starter = both
          continue
        }
        if let starter { composed.append(starter) }
        composed.append(contentsOf: rest)
        starter = part
      }
    }
    let rest = Self.combine(&starter, with: marks)
    if let starter { composed.append(starter) }
    composed.append(contentsOf: rest)
    return String(composed)
  }

  /// Combines the starter with those marks that it combines with, and returns the others in canonical order.
  private static func combine(
    _ starter: inout Unicode.Scalar?, with marks: [Unicode.Scalar]
  ) -> [Unicode.Scalar] {
    var rest: [Unicode.Scalar] = []
    for mark in marks.sortedByCombiningClass {
      let blocking = rest.last?.combiningClass ?? 0
      if mark.combiningClass > blocking, let both = starter?.composed(with: mark) {
        starter = both
      } else {
        rest.append(mark)
      }
    }
    return rest
  }
}

extension [Unicode.Scalar] {
  /// The characters by their combining classes; those of one class in their order.
  var sortedByCombiningClass: [Unicode.Scalar] {
    if count < 2 { return self }
    return enumerated().map { (scalar: $1, key: ($1.combiningClass, $0)) }
      .sorted { $0.key < $1.key }.map(\.scalar)
  }
}

extension Unicode.Scalar {
  /// Appends the canonical decomposition to the scalars; this character alone if it has none.
  func appendDecomposition(to scalars: inout [Unicode.Scalar]) {
    // The first character that decomposes is U+00C0.
    if value < 0xC0 { return scalars.append(self) }
    if let parts = Hangul.parts(of: value) {
      return scalars += parts.compactMap(Unicode.Scalar.init)
    }
    guard let (first, second) = UnicodeTables.decomposition(of: value),
      let first = Unicode.Scalar(first)
    else { return scalars.append(self) }
    first.appendDecomposition(to: &scalars)
    // Second parts do not decompose.
    if second != 0, let second = Unicode.Scalar(second) { scalars.append(second) }
  }

  fileprivate func composed(with second: Unicode.Scalar) -> Unicode.Scalar? {
    (Hangul.syllable(of: value, second.value)
      ?? UnicodeTables.composition(of: value, second.value)).flatMap(Unicode.Scalar.init)
  }

  fileprivate var combiningClass: UInt8 {
    // The first combining mark is U+0300.
    value < 0x300 || !isKnown ? 0 : properties.canonicalCombiningClass.rawValue
  }

  /// True if the tables know it.
  ///
  /// What a store contains must not change with the version of the standard library.
  var isKnown: Bool { properties.age.map { $0.major <= UnicodeTables.version } ?? false }
}

/// Syllables of Hangul, which are computed (The Unicode Standard, section 3.12).
private enum Hangul {
  private static let syllables: Range<UInt32> = 0xAC00..<0xD7A4
  private static let leading: Range<UInt32> = 0x1100..<0x1113
  private static let vowels: Range<UInt32> = 0x1161..<0x1176
  /// Of the syllables of one leading consonant and one vowel, the first has no trailing consonant.
  private static let trailing: Range<UInt32> = 0x11A8..<0x11C3
  private static let perVowel: UInt32 = 28

  static func parts(of value: UInt32) -> [UInt32]? {
    guard syllables ~= value else { return nil }
    let (pair, last) = (value - syllables.lowerBound).quotientAndRemainder(dividingBy: perVowel)
    let (first, vowel) = pair.quotientAndRemainder(dividingBy: UInt32(vowels.count))
    return [leading.lowerBound + first, vowels.lowerBound + vowel]
      + (last == 0 ? [] : [trailing.lowerBound + last - 1])
  }

  static func syllable(of first: UInt32, _ second: UInt32) -> UInt32? {
    if leading ~= first, vowels ~= second {
      let pair =
        (first - leading.lowerBound) * UInt32(vowels.count) + second - vowels.lowerBound
      return syllables.lowerBound + pair * perVowel
    }
    guard syllables ~= first, (first - syllables.lowerBound) % perVowel == 0, trailing ~= second
    else { return nil }
    return first + second - trailing.lowerBound + 1
  }
}

extension UnicodeTables {
  private static let mask: UInt64 = 1 << 21 - 1

  /// The parts of a character; the second is 0 if there is only one.
  fileprivate static func decomposition(of value: UInt32) -> (first: UInt32, second: UInt32)? {
    let index = decompositions.partitionIndex { $0 >> 42 < UInt64(value) }
    guard index < decompositions.count, decompositions[index] >> 42 == UInt64(value) else {
      return nil
    }
    return (UInt32(decompositions[index] >> 21 & mask), UInt32(decompositions[index] & mask))
  }

  fileprivate static func composition(of first: UInt32, _ second: UInt32) -> UInt32? {
    let parts = UInt64(first) << 21 | UInt64(second)
    let index = compositions.partitionIndex { $0 >> 21 < parts }
    guard index < compositions.count, compositions[index] >> 21 == parts else { return nil }
    return UInt32(compositions[index] & mask)
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
