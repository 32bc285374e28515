import AggregatorCore
import AggregatorSourceTesting
import AggregatorText
import Foundation
import Testing

@Suite struct PercentCodingTests {
  @Test func `encodes every byte but unreserved ones`() {
    let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    for value in UInt32(0)...0x7FF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = String(scalar)
      #expect(text.percentEncoded == text.addingPercentEncoding(withAllowedCharacters: unreserved))
      #expect(text.percentEncoded.percentDecoded == text)
    }
  }

  @Test func `decodes every byte as Foundation does`() {
    // Of all bytes that are no UTF-8, Foundation replaces this one alone by U+FFFD.
    #expect("%A9".percentDecoded == nil && "%A9".removingPercentEncoding == "\u{FFFD}")
    for byte in UInt8.min ... .max where byte != 0xA9 {
      let digits = String(byte, radix: 16)
      for text in [
        "%\(digits)", "%0\(digits)", "%\(digits.uppercased())z", "%C3%\(digits)", "%\(digits)%BF",
        "%E2%82%\(digits)", "a%\(digits)%", "%%\(digits)", "%4\(UnicodeScalar(byte))",
        "%\(UnicodeScalar(byte))4", "\(UnicodeScalar(byte))",
      ] {
        #expect(text.percentDecoded == text.removingPercentEncoding, "\(text.debugDescription)")
      }
    }
  }

  @Test func `decodes texts as Foundation does`() {
    var random = SeededGenerator(7)
    let pieces = [
      "%", "4", "1", "C3", "%C3%A9", "%f0%9f%98%80", "a", "é", "+", "%2B", "%00", "%zz",
    ]
    for _ in 0..<20_000 {
      let text = (0..<6).compactMap { _ in pieces.randomElement(using: &random) }.joined()
      #expect(text.percentDecoded == text.removingPercentEncoding, "\(text)")
    }
  }

  @Test func `reads a plus sign as a space only where asked to`() {
    #expect("a+b%2B".utf8.decodingPercents(plusIsSpace: true) == "a b+")
    #expect("a+b%2B".percentDecoded == "a+b+")
  }
}
