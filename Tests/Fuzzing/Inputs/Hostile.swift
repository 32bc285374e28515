import AggregatorKit
import AggregatorSourceTesting

/// Inputs that have caused trouble in parsers before.
enum Hostile {
  static let texts = [
    "", " ", "a", "Z", "0", "-", "=", "'", "\"", ",", "\\", "/", "//", ":", "@", "%", "%00", "%zz",
    "#", "?", "&", "<", ">", "$", "(", ")", "[", "]", "{", "}", ";", "+", ".", "..", "*", "!", "|",
    "\0", "\t", "\n", "\r", "\r\n", "\u{B}", "\u{1B}[31m", "\u{1B}]8;;", "\u{7}", "\u{7F}",
    "\u{80}", "\u{85}", "\u{9B}31m", "\u{A0}", "\u{AD}", "\u{300}", "\u{301}", "e\u{301}", "é",
    "İ", "ı", "ß", "ẞ", "Σ", "ς", "\u{212A}", "\u{212B}", "ﬁ", "ǆ", "\u{34F}", "\u{600}", "\u{61C}",
    "م", "ی",
    "क्", "ष", "\u{D4E}", "กำ", "\u{1100}", "\u{1161}", "\u{11A8}", "한", "\u{115F}", "\u{180E}",
    "\u{200B}", "\u{200C}", "\u{200D}", "\u{200F}", "\u{202E}", "\u{2028}", "\u{2029}", "\u{2066}",
    "\u{20E3}", "1\u{FE0F}\u{20E3}", "\u{3164}", "、", "日", "語", "（", "Ａ", "ｶ", "ﾞ", "\u{E000}",
    "\u{FB1D}", "\u{FE0E}", "\u{FE0F}", "\u{FEFF}", "\u{FFF9}", "\u{FFFD}", "\u{FFFF}", "❤️", "🏽",
    "👩🏽‍🚀", "👩", "🚀", "©", "🇫", "🇫🇷", "\u{1D173}", "\u{E0001}", "\u{E0041}", "\u{E0100}",
    "\u{10FFFF}", "null", "true", "none", "NaN", "-inf", "0x1p-2", "1e999", "2026-02-30", "GMT",
    "http://", "https://h", "https://u:p@h/", "http://[::1", "http://h:99999", "javascript:x",
    "=1+1", "@SUM", "REDACTED", "offline", "page", "id",
  ]

  /// Integers at the edges.
  static let integers = [
    0, 1, -1, 2, 9, 100, 101, 127, 128, 255, 256, 999, 1000, 5000, 5001, 10_000, 10_001, 65_535,
    65_536, 999_999, 1_000_000, 1_000_001, 999_999_999, 1_000_000_000, 1_000_000_001,
    2_147_483_647, 2_147_483_648, 4_294_967_295, 4_294_967_296, 253_402_300_800,
    1_767_604_364_000, 9_007_199_254_740_993, .max, .max - 1, .min, .min + 1,
  ]

  /// JSON that `JSON` cannot represent, and invalid JSON.
  static let json: [String] =
    [
      "1e309", "-1e309", "1.5", "-0", "-0.0", "1E5", "1e0", "0.1e-400", "9223372036854775808",
      "-9223372036854775809", "18446744073709551616", "01", "+1", "1.", ".5", "NaN", "Infinity",
      "tru", "'x'", #""\x""#, "/**/1", "[1,]", "{,}", #"{"a":1,"a":2}"#, #""\ud800""#,
      #""\udc00\ud800""#, #""\ud83d\ude00""#, #""\u0000""#, #""\u202e""#, #""\u001b[2J""#, "\"\n\"",
      "\"", "[", "]", "{", #"{"a""#, String(repeating: "9", count: 400),
      "0." + String(repeating: "0", count: 400) + "1",
      "\"" + String(repeating: "a", count: 20_000) + "\"",
      "\"" + String(repeating: "\u{301}", count: 3000) + "\"",
      "\"" + String(repeating: "<", count: 5000) + "\"",
    ] + [8, 64, 65, 500, 512, 513, 3000].flatMap(nested)

  /// A few pieces of text; sometimes many.
  static func text(_ random: inout SeededGenerator) -> String {
    let isLong = Int.random(in: 0..<40, using: &random) == 0
    let pieces = (0..<Int.random(in: 0...6, using: &random)).map { _ in
      texts.randomElement(using: &random) ?? ""
    }
    return isLong ? String(repeating: pieces.joined(), count: 300) : pieces.joined()
  }

  static func number(_ random: inout SeededGenerator) -> String {
    Bool.random(using: &random)
      ? integers.randomElement(using: &random).map(String.init) ?? ""
      : ["1e309", "-0", "1.5", "00", "+1", "٣", "１", "0x10", "1_000"].randomElement(using: &random)
        ?? ""
  }

  private static func nested(_ depth: Int) -> [String] {
    [("[", "]"), (#"{"a":"#, "}")].map { open, close in
      String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
    }
  }
}
