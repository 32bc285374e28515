import AggregatorKit
import Testing

@Suite struct NearestTests {
  @Test(
    arguments: [
      ("heros", "heroes"), ("hero", "heroes"), ("HEROES", "heroes"), ("country", "countries"),
      ("uesrs", "users"), ("product", "products"), ("useres", "users"),
      ("xyz", nil), ("", nil), ("u", nil), ("banana", nil),
    ] as [(String, String?)])
  func `finds the nearest word`(word: String, expected: String?) {
    #expect(nearest(to: word, in: ["countries", "heroes", "products", "users"]) == expected)
  }

  @Test func `prefers the nearer word, and the first of equally near ones`() {
    #expect(nearest(to: "lists", in: ["lasts", "list", "fists"]) == "lasts")
    #expect(nearest(to: "list", in: ["last", "list"]) == "list")
    #expect(nearest(to: "abcd", in: ["abdc", "abcc"]) == "abdc")
    #expect(nearest(to: "fsh", in: ["bash", "zsh", "fish"]) == "fish")
  }

  @Test func `counts a swap of neighbours once`() {
    #expect(nearest(to: "nxet", in: ["next"]) == "next")
    #expect(nearest(to: "nxte", in: ["next"]) == nil)
  }

  @Test func `a number is near to words, and to no other number`() {
    #expect(nearest(to: "999999", in: ["9999", "99999"]) == nil)
    #expect(nearest(to: "2026", in: ["a2026", "2025"]) == "a2026")
  }

  @Test func `ignores very long words`() {
    #expect(
      nearest(to: String(repeating: "a", count: 65), in: [String(repeating: "a", count: 64)]) == nil
    )
    #expect(nearest(to: String(repeating: "a", count: 1_000_000), in: ["a"]) == nil)
    #expect(nearest(to: "a", in: [String(repeating: "a", count: 1_000_000)]) == nil)
    #expect(nearest(to: String(repeating: "e\u{301}", count: 100), in: ["e"]) == nil)
  }
}
