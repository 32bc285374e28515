import AggregatorKit
import Foundation
import Testing

@Suite
struct PageCursorTests {
  @Test(arguments: [
    "a", "Z", "cMQ.ab12", "a-b_c.d", String(repeating: "a", count: 512),
  ])
  func `reads a token`(token: String) {
    #expect(PageCursor(token)?.description == token)
  }

  @Test(arguments: [
    "", "1a", ".a", "-a", "_a", " a", "a ", "a b", "a/b", "a+b", "a=b", "a\n", "a\0", "é", "aé",
    "a\u{301}", "ａ", String(repeating: "a", count: 513),
  ])
  func `rejects text that is not a token`(text: String) {
    #expect(PageCursor(text) == nil)
  }

  @Test func `contains only characters of its alphabet`() {
    let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".unicodeScalars)
    let others = Set("0123456789._-".unicodeScalars)
    for value in 0..<0x250 {
      guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
      #expect((PageCursor(String(scalar)) != nil) == letters.contains(scalar))
      #expect((PageCursor("a\(scalar)") != nil) == letters.union(others).contains(scalar))
    }
  }

  @Test func `is encoded and decoded as its token`() throws {
    let cursor = try #require(PageCursor("cMQ.ab12"))
    let json = try JSONEncoder().encode([cursor])
    #expect(String(decoding: json, as: UTF8.self) == #"["cMQ.ab12"]"#)
    #expect(try JSONDecoder().decode([PageCursor].self, from: json) == [cursor])
    for wrong in [#"[""]"#, #"["1"]"#, "[1]", "[null]"] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode([PageCursor].self, from: Data(wrong.utf8))
      }
    }
  }
}
