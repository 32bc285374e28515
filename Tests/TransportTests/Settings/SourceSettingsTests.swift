import AggregatorKit
import Foundation
import Testing

@Suite struct SourceSettingsTests {
  @Test(arguments: [
    "http://h", "https://h/api/", "HTTPS://h:8080/a", "http://127.0.0.1:1", "http://[::1]:8080",
    "http://h:65535", "http://h/a:0", "http://h:",
  ])
  func `accepts http(s) URLs`(text: String) throws {
    #expect(
      try SourceSettings(["COUNTRIES_URL": text]).url(Keys.countriesURL).absoluteString == text)
  }

  @Test(arguments: [
    "", "h", "http:", "https:", "http://", "ftp://h", "file:///etc", "http://h?a=b", "http://h#a",
    "http://me@h", "http://me:pw@h", "http://:pw@h", "javascript:alert(1)",
    "http://h:0", "http://h:65536", "http://h:99999/a", "http://[::1]:0",
    "https://h:99999999999999999999", "https://h:99999999999999999999/a",
  ])
  func `rejects other URLs`(text: String) {
    let error = #expect(throws: SourceError.self) {
      try SourceSettings(["COUNTRIES_URL": text]).url(Keys.countriesURL)
    }
    #expect(error?.code == .invalidSettings)
    #expect(error?.message.contains("pw") == false)
  }

  @Test func `explains a URL that a comment cut off`() {
    let error = #expect(throws: SourceError.self) {
      try SourceSettings(["COUNTRIES_URL": "https:"]).url(Keys.countriesURL)
    }
    #expect(error?.remedy == "in an .xcconfig file, // starts a comment: write https:/$()/host")
  }

  @Test(arguments: [("off", nil), ("OFF", nil), ("2/s", Rate("2/s"))] as [(String, Rate?)])
  func `reads rates`(text: String, rate: Rate?) throws {
    #expect(try SourceSettings(["COMIC_VINE_RATE": text]).rate(Keys.rate) == rate)
  }

  @Test(arguments: ["0", "101", "-1", "1.5", "ten", "99999999999999999999", "1 "])
  func `rejects counts out of range`(text: String) {
    #expect(throws: SourceError.self) {
      try SourceSettings(["COMIC_VINE_PAGE_SIZE": text]).count(Keys.pageSize)
    }
  }

  @Test(
    arguments: [
      ([:], "not set"),
      (["COMIC_VINE_API_KEY": ""], "not set"),
      (["COMIC_VINE_API_KEY": "your_api_key_here"], "placeholder"),
      (["COMIC_VINE_API_KEY": "<your key>"], "placeholder"),
      (["COMIC_VINE_API_KEY": "short"], "set (…)"),
      (["COMIC_VINE_API_KEY": "0123456789aba1f9"], "set (…a1f9)"),
    ] as [([String: String], String)])
  func `shows only that a secret is set`(values: [String: String], shown: String) {
    let settings = SourceSettings(values)
    #expect(settings.shown(Keys.apiKey).description == shown)
    #expect(settings.text(Keys.apiKey) == nil)
  }

  @Test(
    arguments: [
      ([:], "COMIC_VINE_API_KEY is not set"),
      (["COMIC_VINE_API_KEY": ""], "COMIC_VINE_API_KEY is not set"),
      (["COMIC_VINE_API_KEY": "your_key"], "COMIC_VINE_API_KEY is still the example placeholder"),
    ] as [([String: String], String)])
  func `names a required secret that is missing, and the remedy`(
    values: [String: String], message: String
  ) {
    let error = #expect(throws: SourceError.self) {
      try SourceSettings(values).required(Keys.apiKey, remedy: "get a key")
    }
    #expect(error?.code == .missingKey)
    #expect(error?.message == message)
    #expect(error?.remedy == "get a key")
  }

  @Test func `returns a required secret that is set`() throws {
    let settings = SourceSettings(["COMIC_VINE_API_KEY": "short"])
    #expect(try settings.required(Keys.apiKey) == Secret("short"))
  }

  @Test func `takes values of settings and of names`() throws {
    let settings = SourceSettings([Keys.apiKey: "short", Keys.rate: "2/s"])
    #expect(settings.secret(Keys.apiKey) == Secret("short"))
    #expect(try settings.rate(Keys.rate) == Rate(2, per: .seconds(1)))
    #expect(settings.origin(of: Keys.rate) == .option)
    #expect(SourceSettings([:]).origin(of: Keys.rate) == .standard)
  }

  @Test func `shows other values as they are`() {
    #expect(SourceSettings().shown(Keys.rate) == .text("1/s 200/h"))
    #expect(SourceSettings(["COMIC_VINE_RATE": "your_own"]).shown(Keys.rate) == .text("your_own"))
    #expect(SourceSettings().shown(Keys.home) == .notSet)
  }

  @Test func `hides values in its description and its mirror`() {
    let settings = SourceSettings(["COMIC_VINE_API_KEY": "0123456789abcdefghij"])
    var words = "\(settings) \(String(reflecting: settings)) \(settings.shown(Keys.apiKey))"
    dump(settings, to: &words)
    dump(settings.shown(Keys.apiKey), to: &words)
    #expect(!words.contains("0123456789"))
  }
}
