import Foundation
import Testing
import UsersSource

@Suite struct EmailAddressTests {
  @Test(arguments: ["a@b", "Aino.Törmänen@Example.COM", "آوا@example.com"])
  func `is the same address in any case`(text: String) throws {
    let address = try #require(EmailAddress(text))
    #expect(address == EmailAddress(text.uppercased()))
    #expect(address.description == text.lowercased())
    #expect(EmailAddress(address.description) == address)
  }

  @Test(arguments: [
    "", "@", "a", "a@", "@b", "a@b@c", "a b@c", "a@b\n", String(repeating: "a", count: 253) + "@b",
    // İ takes a byte more in lower case.
    String(repeating: "İ", count: 126) + "@b",
  ])
  func `is text around one sign`(text: String) {
    #expect(EmailAddress(text) == nil)
  }

  @Test func `is written as text, and read from text in any case`() throws {
    let read = try JSONDecoder().decode([EmailAddress].self, from: Data(#"["A@B.c"]"#.utf8))
    #expect(read.map(\.description) == ["a@b.c"])
    let written = try JSONEncoder().encode(read)
    #expect(String(decoding: written, as: UTF8.self) == #"["a@b.c"]"#)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([EmailAddress].self, from: Data(#"["a"]"#.utf8))
    }
  }
}
