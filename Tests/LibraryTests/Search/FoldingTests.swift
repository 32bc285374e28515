import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorText

/// Folding and composition against Foundation's, which folded the text of stores before.
@Suite(.timeLimit(.minutes(10)))
struct FoldingTests {
  /// Bases and marks of many scripts, and what surrounds them: in ASCII, Latin, Greek, Cyrillic, Hebrew, Arabic,
  /// Devanagari, Tamil, Thai, kana, Hangul, symbols, emoji, and beyond the first plane.
  private static let alphabet: [Unicode.Scalar] = {
    let ranges: [ClosedRange<UInt32>] = [
      0x00...0x17F, 0x1C4...0x1F5, 0x300...0x36F, 0x370...0x3FF, 0x400...0x4FF, 0x500...0x51F,
      0x587...0x5C7, 0x622...0x670, 0x915...0x963, 0xB94...0xBCD, 0xE01...0xE4E, 0xF40...0xF84,
      0x1100...0x1112, 0x1161...0x1175, 0x11A8...0x11C2, 0x13A0...0x13FD, 0x1C80...0x1C88,
      0x1E00...0x1EFF,
      0x1F00...0x1FFF, 0x200B...0x2019, 0x20D0...0x20F0, 0x2126...0x212B, 0x3041...0x309A,
      0xAB70...0xAB7F, 0xF900...0xF910, 0xFB00...0xFB4F, 0xFE00...0xFE0F,
      0xFE20...0xFE2F, 0xFF00...0xFFEF, 0x1109A...0x110BA, 0x1D15E...0x1D16E, 0x1F1E6...0x1F1EA,
      0x1F3FB...0x1F3FF, 0x1F466...0x1F469, 0x2F800...0x2F805,
    ]
    return ranges.flatMap { $0.compactMap(Unicode.Scalar.init) }
  }()

  /// Characters that Foundation composes differently from UAX #15: it puts marks that decompose into two last of
  /// their class, takes U+11A7 and U+11C3 after a syllable for trailing consonants, and U+11F41 for U+1F41.
  private static let wrongInFoundation: Set<Unicode.Scalar> = [
    "\u{F73}", "\u{F75}", "\u{F76}", "\u{F78}", "\u{F81}", "\u{11A7}", "\u{11C3}", "\u{11F41}",
  ]

  @Test func `makes no letter of Latin longer`() {
    for letter in (0x80...0x17F as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init) {
      #expect(FoldedText(String(letter)).text.utf8.count <= 2)
    }
  }

  /// `count` texts of one to `length` scalars: some of any script, some of one base and marks.
  private static func texts(_ count: Int, length: Int, seed: UInt64) -> [String] {
    let alphabet = alphabet.filter { !wrongInFoundation.contains($0) }
    let marks = alphabet.filter { $0.properties.canonicalCombiningClass.rawValue > 0 }
    var random = SeededGenerator(seed)
    return (0..<count).map { _ in
      let scalars = (0..<Int.random(in: 1...length, using: &random)).compactMap { _ in
        (Bool.random(using: &random) ? alphabet : marks).randomElement(using: &random)
      }
      return String(String.UnicodeScalarView(scalars))
    }
  }

  /// All that are assigned, and some of the others, of which none is folded or composed: there are six times as many.
  private static let allCharacters = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init).filter {
    let category = $0.properties.generalCategory
    return category != .unassigned && category != .privateUse || $0.value.isMultiple(of: 61)
  }

  private func scalars(_ text: some StringProtocol) -> [UInt32] { text.unicodeScalars.map(\.value) }

  /// The text as Foundation folds and composes it, and as this library does.
  private func folded(_ text: String) -> (expected: [UInt8], found: [UInt8]) {
    let expected = text.folding(
      options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    return (
      Array(expected.precomposedStringWithCanonicalMapping.utf8),
      Array(text.foldedScalars.canonicallyComposed.utf8)
    )
  }

  /// Seconds of work on both threads of the pool would let requests of other tests run into their deadlines.
  private func letOthersRun(after count: Int) async {
    if count.isMultiple(of: 1000) { await Task.yield() }
  }

  @Test func `composes every character as Foundation does`() async {
    var different: [UInt32] = []
    for (count, scalar) in Self.allCharacters.enumerated() {
      await letOthersRun(after: count)
      let text = String(scalar)
      if scalars(Array(text.unicodeScalars).canonicallyComposed)
        != scalars(text.precomposedStringWithCanonicalMapping)
      {
        different.append(scalar.value)
      }
    }
    #expect(different.isEmpty)
  }

  @Test func `composes texts as Foundation does`() async {
    for (count, text) in Self.texts(50_000, length: 8, seed: 1).enumerated() {
      await letOthersRun(after: count)
      let composed = Array(text.unicodeScalars).canonicallyComposed
      #expect(
        scalars(composed) == scalars(text.precomposedStringWithCanonicalMapping), "\(scalars(text))"
      )
      #expect(scalars(Array(composed.unicodeScalars).canonicallyComposed) == scalars(composed))
    }
  }

  @Test(arguments: ["", "a", "\u{915}", "\u{1112}\u{1161}", "\u{301}", "\0"])
  func `folds every character as Foundation does`(after start: String) async {
    let characters = Self.allCharacters.filter { !Self.wrongInFoundation.contains($0) }
    // Many to a text, which takes a fraction of the time; alone a character must stand alone.
    let size = start.isEmpty ? 1 : 200
    for first in stride(from: 0, to: characters.count, by: size) {
      await letOthersRun(after: first)
      let some = characters[first..<min(first + size, characters.count)]
      let (expected, found) = folded(some.map { start + String($0) }.joined(separator: "\n"))
      #expect(expected == found, "in \(some.map(\.value))")
    }
  }

  @Test func `folds texts as Foundation does`() async {
    for (count, text) in Self.texts(50_000, length: 8, seed: 2).enumerated() {
      await letOthersRun(after: count)
      let (expected, found) = folded(text)
      #expect(expected == found, "\(scalars(text))")
    }
  }

  @Test func `keeps a long run of marks in linear time`() {
    let marks = String(repeating: "\u{5B0}\u{591}\u{5C1}", count: 100_000)
    let text = FoldedText("\u{5D0}" + marks).text
    #expect(text.unicodeScalars.count == 300_001)
    #expect(text.unicodeScalars.dropFirst().prefix(100_000).allSatisfy { $0 == "\u{5B0}" })
  }
}
