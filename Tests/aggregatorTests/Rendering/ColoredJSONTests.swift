import AggregatorKit
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

@Suite struct ColoredJSONTests {
  @Test func `keys, strings, numbers and words have colors, and punctuation has none`() {
    let text = #"{"a\\": "b\"c: 1", "d": [1, -2.5E+3, true, null, ""], "é": {}}"#
    let colored = text.coloredJSON(Style(isOn: true))
    let expected =
      #"{<1;34>"a\\"<>: <32>"b\"c: 1"<>, <1;34>"d"<>: [<36>1<>, <36>-2.5E+3<>, <36>true<>, <2>null<>, <32>""<>], <1;34>"é"<>: {}}"#
      .replacing("<>", with: "\u{1B}[0m")
      .replacing(/<([0-9;]+)>/) { "\u{1B}[\($0.1)m" }
    #expect(colored == expected)
    #expect(text.coloredJSON(Style(isOn: false)) == text)
  }

  @Test(arguments: ["--json", "--ndjson"])
  func `JSON has colors on a terminal and nowhere else`(format: String) async throws {
    let line = "countries list --offline -L 3 \(format)"
    let plain = try await Binary.run(line).output
    let terminal: [String: String?] = ["AGGREGATOR_FORCE_TTY": "80"]
    let colored = try await Binary.run(line, environment: terminal).output
    #expect(
      colored.contains("\u{1B}[1;34m\"code\"\u{1B}[0m:\u{1B}[32m\"AF\"\u{1B}[0m"), "\(colored)")
    #expect(colored.replacing(/\u{1B}\[[0-9;]+m/, with: "") == plain && !plain.contains("\u{1B}"))
    let filtered = try await Binary.run(
      "countries show FR --offline --jq .items[0].name", environment: terminal)
    #expect(filtered.output == "France\n")
  }
}
