import AggregatorText
import Testing

@Suite struct DurationUnitTests {
  private static let units: [DurationUnit] = [.milliseconds, .seconds, .minutes, .hours]

  private func duration(_ text: String) -> Duration? {
    Duration(
      text, numbers: 0...999, units: Self.units, maxDecimals: 3, defaultUnit: .seconds)
  }

  @Test(
    arguments: [
      ("30s", .seconds(30)), ("500ms", .milliseconds(500)), ("5m", .seconds(300)),
      ("2h", .seconds(7200)), ("10", .seconds(10)), ("1.5h", .seconds(5400)),
      ("0.25", .milliseconds(250)), ("007s", .seconds(7)), ("999.999", .milliseconds(999_999)),
    ] as [(String, Duration)])
  func `reads a number and a unit`(text: String, expected: Duration) {
    #expect(duration(text) == expected)
  }

  @Test(
    arguments: [
      "", "s", "-1s", "+1s", "1 s", " 1s", "1S", "1.s", ".5s", "1.2.3s", "1.2345s", "1000s", "2d",
      "1min", "٣s", "½s", "99999999999999999999s",
    ])
  func `refuses everything else`(text: String) {
    #expect(duration(text) == nil)
  }

  @Test func `needs a unit and whole numbers unless told otherwise`() {
    for text in ["10", "1.5s"] {
      #expect(Duration(text, numbers: 1...99, units: [.seconds]) == nil, "\(text)")
    }
    #expect(Duration("2w", numbers: 1...99, units: [.weeks]) == .seconds(14 * 86_400))
  }

  @Test(arguments: [(5400, "90m"), (7200, "2h"), (90, "90s"), (86_400, "24h")])
  func `writes the largest unit`(seconds: Int, expected: String) {
    #expect(Duration.seconds(seconds).text(in: Self.units) == expected)
  }
}
