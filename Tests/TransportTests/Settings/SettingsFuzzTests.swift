import AggregatorKit
import AggregatorSourceTesting
import Testing

/// Texts put together at random, the same ones in every run.
@Suite(.timeLimit(.minutes(10))) struct SettingsFuzzTests {
  private static let canary = "c4n4ry0123456789abcdef"

  private static let parts = [
    "COMIC_VINE_API_KEY", "COMIC_VINE_URL", "COUNTRIES_URL", "comic_vine_api_key", "A", "B", "_",
    " = ", "=", "[", "]", "[sdk=*]", "$", "$(", "${", ")", "}", "$()", "$(inherited)",
    "$(COMIC_VINE_API_KEY)", "$(COUNTRIES_URL)", "$(A)", "$(B)", "//", "/", "http:", "https://h",
    ";", "\"", "#include \"", "#include? \"", "root", "other", "\"\n", "\n", "\n", "\n", "\r\n",
    "\r",
    "\t", "\0", "\u{1B}", "\u{FEFF}", "é", "e\u{301}", "日本", "\u{202E}", "🇯🇵",
  ]

  private static let keys = ["COUNTRIES_URL", "COMIC_VINE_URL", "COMIC_VINE_API_KEY", "A", "B"]

  /// A few lines: mostly assignments of anything, now and then anything at all.
  private func text(_ random: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0..<12, using: &random) {
      if Int.random(in: 0..<4, using: &random) > 0,
        let key = Self.keys.randomElement(using: &random)
      {
        bytes += Array("\(key) = ".utf8)
      }
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        bytes += Array((Self.parts.randomElement(using: &random) ?? "").utf8)
      }
      if Int.random(in: 0..<20, using: &random) == 0 {
        bytes.append(.random(in: 0...255, using: &random))
      }
      bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
  }

  @Test func `reads any text, and moves no secret out of its own setting`() {
    var random = SeededGenerator(1)
    var expanded = 0
    for _ in 0..<4000 {
      let files = ["root": text(&random), "other": text(&random)]
      let secret = Array("COMIC_VINE_API_KEY = \(Self.canary)\n".utf8)
      let root = secret + (files["root"] ?? []) + "\n".utf8 + secret
      let layer = SettingsLayer(SettingsText("root", bytes: root)) { path in
        files[path].map { .text(SettingsText(path, bytes: $0)) } ?? .missing
      }
      var expansion = SettingsExpansion(of: layer, settings: Keys.byKey) { _ in "below" }
      for key in ["COUNTRIES_URL", "COMIC_VINE_URL"] {
        do throws(SourceError) {
          guard let value = try expansion.value(of: key) else { continue }
          #expect(!value.contains(Self.canary))
          expanded += 1
        } catch {
          #expect(!error.description.contains(Self.canary))
        }
      }
      #expect(!layer.diagnostics.description.contains(Self.canary))
    }
    #expect(expanded > 1000, "the texts are not all nonsense")
  }

  @Test func `edits any text and preserves the rest`() {
    var random = SeededGenerator(2)
    let values = ["$(", ")", "{", "/", "//", ";", "a", "日", "=", "#", "\"", "é", "$", "inherited"]
    for _ in 0..<4000 {
      let before = text(&random)
      let word = (0..<6).compactMap { _ in values.randomElement(using: &random) }.joined()
      let after = Xcconfig.setting("COUNTRIES_URL", to: word, in: before)
      let layer = SettingsLayer(SettingsText("f", bytes: after)) { _ in .missing }
      var expansion = SettingsExpansion(of: layer, settings: [:]) { _ in nil }
      let isQuoted = word.count > 1 && word.first == "\"" && word.last == "\""
      // UTF-16 texts have no lines; the editor reads them back and rejects them.
      guard !isQuoted, Xcconfig(before).lines.first?.number != nil || before.isEmpty else {
        continue
      }
      #expect((try? expansion.value(of: "COUNTRIES_URL")) == word, "\(before) \(word)")
      let same = zip(before, after).prefix { $0 == $1 }.count
      let tail = zip(before.reversed(), after.reversed()).prefix { $0 == $1 }.count
      #expect(same + tail >= before.count - replaced(in: before))
    }
  }
}

/// The number of bytes of a text that a new value of `COUNTRIES_URL` replaces.
private func replaced(in bytes: [UInt8]) -> Int {
  var count = 0
  for line in Xcconfig(bytes).lines {
    if case .assignment(let old) = line.statement, old.key == "COUNTRIES_URL", !old.isConditional {
      count = old.valueRange.count + (old.isCut ? old.commentRange.count : 0)
    }
  }
  return count
}
