import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite
struct JSONWritingTests {
  @Test(
    arguments: [
      (JSON.null, "null"), (true, "true"), (false, "false"), (0, "0"),
      (.integer(.min), "\(Int.min)"),
      (.integer(.max), "\(Int.max)"), (.number(1.5), "1.5"), (.number(-0.1), "-0.1"),
      (.number(1e300), "1e+300"), (.number(.leastNonzeroMagnitude), "5e-324"),
      (.number(.nan), "null"),
      (.number(.infinity), "null"), (.number(-.infinity), "null"), ("", #""""#), ([], "[]"),
      ([:], "{}"), ([1, nil, "a", [true]], #"[1,null,"a",[true]]"#),
      (["b": 1, "a": nil, "b": []], #"{"b":1,"a":null,"b":[]}"#),
    ] as [(JSON, String)])
  func `writes one line`(json: JSON, text: String) {
    #expect(json.text == text)
  }

  @Test(
    arguments: [
      ("\"", #"\""#), ("\\", #"\\"#), ("\n", #"\n"#), ("\r", #"\r"#), ("\t", #"\t"#),
      ("\r\n", #"\r\n"#), ("/", "/"), ("\0", #"\u0000"#), ("\u{8}", #"\u0008"#),
      ("\u{1B}[31m", #"\u001b[31m"#), ("\u{7F}", #"\u007f"#), ("\u{85}", #"\u0085"#),
      ("\u{9B}", #"\u009b"#), ("\u{AD}", #"\u00ad"#), ("\u{61C}", #"\u061c"#),
      ("\u{200B}", #"\u200b"#), ("\u{200E}", #"\u200e"#), ("\u{202E}", #"\u202e"#),
      ("\u{2028}", #"\u2028"#), ("\u{2029}", #"\u2029"#), ("\u{2066}", #"\u2066"#),
      ("\u{FEFF}", #"\ufeff"#), ("\u{E000}", #"\ue000"#), ("\u{E0041}", #"\udb40\udc41"#),
      ("\u{10FFFF}", #"\udbff\udfff"#), ("\u{1D173}", #"\ud834\udd73"#), ("é日本🇦🇽", "é日本🇦🇽"),
      ("e\u{301}", "e\u{301}"), ("👍🏽", "👍🏽"), ("\u{A0}", "\u{A0}"),
    ] as [(String, String)])
  func `escapes control and invisible characters`(text: String, escaped: String) {
    #expect(JSON.string(text).text == "\"\(escaped)\"")
    #expect(JSON.object([JSON.Member(text, 1)]).text == "{\"\(escaped)\":1}")
  }

  @Test func `every character can be read back`() throws {
    for first in stride(from: UInt32(0), to: 0x3_0000, by: 0x400) {
      let scalars = (first..<first + 0x400).compactMap(Unicode.Scalar.init)
      // A letter between them, so that nothing combines.
      let text = scalars.map { "a\($0)" }.joined()
      let written = JSON.string(text).text
      let read = try JSONDecoder().decode(String.self, from: Data(written.utf8))
      #expect(read.unicodeScalars.elementsEqual(text.unicodeScalars))
      #expect(written.unicodeScalars.allSatisfy { !$0.isInvisible })
    }
  }

  @Test func `every number can be read back`() throws {
    var random = SeededGenerator(11)
    for _ in 0..<2000 {
      let number = Double(bitPattern: random.next())
      guard number.isFinite else { continue }
      let written = Data(JSON.number(number).text.utf8)
      #expect(try JSONDecoder().decode(Double.self, from: written) == number)
    }
  }

  @Test func `returns the first member of a name`() {
    let json: JSON = ["a": 1, "b": nil, "a": 2]
    #expect(json["a"] == 1)
    #expect(json["b"] == .some(.null))
    #expect(json["c"] == nil)
    #expect(JSON.array([1])["a"] == nil)
  }
}
