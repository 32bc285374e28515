import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorHTTP

@Suite struct RecordingSpacingTests {
  private func indented(_ text: String, atMost limit: Int = .max) -> String? {
    JSONFormatter.indented(Array(text.utf8), atMost: limit).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private func compact(_ text: String) -> String? {
    JSONFormatter.compact(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `puts every member on a line and keeps every token`() {
    let text =
      #" {"b":[1.50,-0E+07,{}, [ ]],"a":"x\/\u00e9\"}","a":123456789012345678901234567890}"#
    #expect(
      indented(text) == #"""
        {
          "b": [
            1.50,
            -0E+07,
            {},
            []
          ],
          "a": "x\/\u00e9\"}",
          "a": 123456789012345678901234567890
        }
        """#)
  }

  @Test(arguments: [
    "", " ", "{", "}", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "[1 2]",
    "[1]]",
    "01", "+1", "1.", ".5", "1e", "-", "--1", "nul", "nulll", "True", "\"a", "\"\\x\"",
    "\"\\u12g4\"",
    "\"\\u12\"", "\"\u{1}\"", "\"\n\"", "'a'", "NaN", "// x\n1", "\u{FEFF}1", "\"\\",
  ])
  func `rejects invalid JSON`(text: String) {
    #expect(indented(text) == nil)
    #expect(compact(text) == nil)
  }

  @Test func `rejects nesting that would grow without bound`() {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(indented(nested(JSONFormatter.maxDepth + 1)) != nil)
    #expect(indented(nested(JSONFormatter.maxDepth + 2)) == nil)
    #expect(indented(nested(1_000_000)) == nil)
    #expect(indented("[1,2]", atMost: 12) == "[\n  1,\n  2\n]")
    #expect(indented("[1,2]", atMost: 11) == nil)
  }

  /// Random values, spaced at random: the spacing comes and goes, the tokens stay.
  @Test(arguments: 0..<200) func `moves white space only`(seed: UInt64) throws {
    var random = SeededGenerator(seed)
    let spaced = Self.value(&random, depth: 0, isSpaced: true)
    var same = SeededGenerator(seed)
    let bare = Self.value(&same, depth: 0, isSpaced: false)
    let pretty = try #require(indented(spaced))
    #expect(compact(spaced) == bare)
    #expect(compact(pretty) == bare)
    #expect(indented(pretty) == pretty)
  }

  /// Damaged at random: accepted text is JSON to Foundation too.
  @Test(arguments: 0..<200) func `is not more lenient than a decoder`(seed: UInt64) {
    var random = SeededGenerator(seed)
    var bytes = Array(Self.value(&random, depth: 0, isSpaced: true).utf8)
    for _ in 0...Int.random(in: 0...2, using: &random) {
      bytes[Int.random(in: bytes.indices, using: &random)] =
        Array(#"{}[]",:\0e-. tx"#.utf8).randomElement(using: &random) ?? 0
    }
    guard String(validating: bytes, as: UTF8.self) != nil, JSONFormatter.compact(bytes) != nil
    else {
      return
    }
    #expect(throws: Never.self) { try JSONDecoder().decode(SkippedValue.self, from: Data(bytes)) }
  }

  /// Random white space does not change which value comes.
  private static func value(_ random: inout SeededGenerator, depth: Int, isSpaced: Bool) -> String {
    func space() -> String {
      let text = ["", " ", "\n", "\t \r\n"].randomElement(using: &random) ?? ""
      return isSpaced ? text : ""
    }
    func string() -> String {
      let pieces = ["a", "é", "日", #"\""#, #"\\"#, #"\u0041"#, "{", "]", ":", ",", "  ", "#"]
      return "\""
        + (0..<Int.random(in: 0...4, using: &random)).map { _ in
          pieces.randomElement(using: &random) ?? ""
        }.joined() + "\""
    }
    let count = Int.random(in: 0...3, using: &random)
    let text: String
    switch Int.random(in: 0...(depth < 5 ? 7 : 4), using: &random) {
    case 0: text = ["true", "false", "null"].randomElement(using: &random) ?? ""
    case 1, 2:
      text =
        ["0", "-0", "1.50", "1e400", "-12E-3", "12345678901234567890"]
        .randomElement(using: &random) ?? ""
    case 3, 4: text = string()
    case 5:
      text =
        "[\(count == 0 ? space() : "")"
        + (0..<count).map { _ in value(&random, depth: depth + 1, isSpaced: isSpaced) }
        .joined(separator: ",") + "]"
    default:
      text =
        "{\(count == 0 ? space() : "")"
        + (0..<count).map { _ in
          "\(space())\(string())\(space()):\(value(&random, depth: depth + 1, isSpaced: isSpaced))"
        }.joined(separator: ",") + "}"
    }
    return space() + text + space()
  }
}
