import AggregatorKit
import Testing

@Suite struct SettingsExpansionTests {
  private func expansion(_ text: String, below: [String: String] = [:]) -> SettingsExpansion {
    SettingsExpansion(
      of: SettingsLayer(SettingsText("f", bytes: Array(text.utf8))) { _ in .missing },
      settings: Keys.byKey
    ) { below[$0.key] }
  }

  private func value(
    _ text: String, below: [String: String] = [:]
  ) -> Result<String?, SourceError> {
    var expansion = expansion(text, below: below)
    do throws(SourceError) {
      return .success(try expansion.value(of: "COUNTRIES_URL"))
    } catch {
      return .failure(error)
    }
  }

  @Test(
    arguments: [
      ("COUNTRIES_URL = a", "a"),
      ("COUNTRIES_URL = a\nCOUNTRIES_URL = b", "b"),
      ("COUNTRIES_URL = http:/$()/h", "http://h"),
      ("COUNTRIES_URL = http:/${}/h", "http://h"),
      ("H = host\nCOUNTRIES_URL = $(H)/a", "host/a"),
      ("COUNTRIES_URL = $(H)/a\nH = host", "host/a"),
      ("H = 1\nCOUNTRIES_URL = $(H)\nH = 2", "2"),
      ("COUNTRIES_URL = <$(NOBODY)>", "<>"),
      ("COUNTRIES_URL = <$(inherited)>", "<below>"),
      ("COUNTRIES_URL = a\nCOUNTRIES_URL = $(inherited)b\nCOUNTRIES_URL = $(inherited)c", "abc"),
      ("COUNTRIES_URL = $(COMIC_VINE_RATE)", "7/s"),
      ("COMIC_VINE_RATE = 8/s\nCOUNTRIES_URL = $(COMIC_VINE_RATE)", "8/s"),
      ("COUNTRIES_URL[sdk=*] = x\nCOUNTRIES_URL = a", "a"),
      ("COUNTRIES_URL = a\nCOUNTRIES_URL[sdk=*] = x", "a"),
      ("COUNTRIES_URL[sdk=*] = x", nil),
      ("OTHER = x", nil),
      ("COUNTRIES_URL =", ""),
    ] as [(String, String?)])
  func `expands`(text: String, expected: String?) throws {
    let below = ["COUNTRIES_URL": "below", "COMIC_VINE_RATE": "7/s"]
    #expect(try value(text, below: below).get() == expected)
  }

  @Test(arguments: [
    (
      "COUNTRIES_URL = https://host",
      "f:1: the URL in COUNTRIES_URL is cut off, because // starts a comment (write https:/$()/host for https://host)"
    ),
    (
      "H = http://h\nCOUNTRIES_URL = $(H)",
      "f:1: the URL in H is cut off, because // starts a comment (write https:/$()/host for https://host)"
    ),
    (
      "COUNTRIES_URL = $(COUNTRIES_URL)",
      "f:1: COUNTRIES_URL refers to itself (write $(inherited) for its earlier value)"
    ),
    (
      "A = $(B)\nB = $(A)\nCOUNTRIES_URL = $(A)",
      "f:1: A refers to itself (write $(inherited) for its earlier value)"
    ),
    ("COUNTRIES_URL = $(A", "f:1: the value has a $( without its ) (write $(KEY))"),
    (
      "COUNTRIES_URL = \"a\"",
      "f:1: the value of COUNTRIES_URL is quoted; quotes would become part of the value (remove the quotes)"
    ),
    (
      "COUNTRIES_URL = 'a'",
      "f:1: the value of COUNTRIES_URL is quoted; quotes would become part of the value (remove the quotes)"
    ),
  ])
  func `reports errors with location and remedy`(text: String, expected: String) {
    guard case .failure(let diagnostic) = value(text) else {
      Issue.record("no diagnostic")
      return
    }
    #expect(diagnostic.description == expected)
  }

  @Test func `rejects a text that doubles itself`() {
    let lines = (1...40).map { "A\($0) = $(A\($0 - 1))$(A\($0 - 1))" }
    let text = "A0 = aaaaaaaa\n\(lines.joined(separator: "\n"))\nCOUNTRIES_URL = $(A40)"
    guard case .failure(let diagnostic) = value(text) else {
      Issue.record("no diagnostic")
      return
    }
    #expect(diagnostic.description == "f:12: the value of A11 is longer than 8192 bytes")
  }

  @Test func `expands a text that doubles an empty value quickly`() throws {
    let lines = (1...40).map { "A\($0) = $(A\($0 - 1))$(A\($0 - 1))" }
    #expect(try value("\(lines.joined(separator: "\n"))\nCOUNTRIES_URL = $(A40)").get() == "")
  }

  @Test(arguments: [(62, true), (63, false), (100_000, false)])
  func `follows references 64 deep`(depth: Int, isRead: Bool) {
    let lines = (1...depth).map { "A\($0) = $(A\($0 - 1))" }
    let text = "A0 = a\n\(lines.joined(separator: "\n"))\nCOUNTRIES_URL = $(A\(depth))"
    #expect((try? value(text).get()) == (isRead ? "a" : nil))
  }

  @Test func `follows inherited values 64 deep`() {
    let text = String(repeating: "COUNTRIES_URL = $(inherited)a\n", count: 10_000)
    #expect((try? value(text).get()) == nil)
  }

  @Test func `finds the parts of a secret quickly, however long the chain`() {
    let lines = (0..<20_000).reversed().map { "A\($0) = $(A\($0 + 1))" }
    let expansion = expansion("\(lines.joined(separator: "\n"))\nCOMIC_VINE_API_KEY = $(A0)")
    #expect(expansion.isConfidential("A20000"))
    #expect(!expansion.isConfidential("A20001"))
  }
}
