import AggregatorCore
import AggregatorText
import Foundation
import Testing

@Suite struct TrimmedTests {
  @Test func `removes the characters that Foundation calls white space`() {
    var different: [UInt32] = []
    for scalar in (UInt32(0)...0x10FFFF).lazy.compactMap(Unicode.Scalar.init) {
      let text = "\(scalar)a\(scalar)b\(scalar)"
      if text.trimmed != text.trimmingCharacters(in: .whitespacesAndNewlines) {
        different.append(scalar.value)
      }
    }
    #expect(different.isEmpty)
  }

  @Test(arguments: [
    ("", ""), (" \t\n", ""), (" a b ", "a b"), ("\r\na", "a"), (" \u{301}a", "\u{301}a"),
  ])
  func `keeps white space inside`(text: String, trimmed: String) {
    #expect(text.trimmed == trimmed)
  }

  @Test(arguments: [
    ("no records", "No records"), ("note: two", "Note: two"), ("", ""),
    ("localhost:8000 failed (429)", "localhost:8000 failed (429)"),
    ("localhost timed out", "localhost timed out"),
    ("api.example.com failed", "api.example.com failed"),
  ])
  func `a sentence begins with a capital letter, but no host does`(text: String, sentence: String) {
    #expect(text.capitalizedFirst == sentence)
  }
}
