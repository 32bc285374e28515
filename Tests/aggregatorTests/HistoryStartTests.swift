import AggregatorKit
import AggregatorTerminal
import Foundation
import Testing

@testable import AggregatorQueries

/// The points of `--since` and of the form on the page of changes.
@Suite struct HistoryStartTests {
  /// 2026-03-04T05:06:07Z.
  private static let now = Date(timeIntervalSince1970: 1_772_600_767)

  private static let times: [(String, Double)] = [
    ("2026-01-31", 1_769_817_600), ("2026-01-31 14:30", 1_769_869_800),
    ("2026-01-31T14:30:05Z", 1_769_869_805), ("31 Jan 2026", 1_769_817_600),
    ("31 Jan 2026, 14:30 UTC", 1_769_869_800), ("1 january 2026 04:05:06", 1_767_240_306),
    ("today", 1_772_582_400), ("yesterday", 1_772_496_000), ("10m", 1_772_600_167),
  ]

  @Test(arguments: times)
  func `dates and times are accepted as people type them and pages write them`(
    text: String, seconds: Double
  ) throws {
    let start = try HistoryStart(typed: text, now: Self.now)
    #expect(start == .date(Date(timeIntervalSince1970: seconds)), "\(text)")
  }

  @Test(arguments: ["soon", "32 Jan 2026", "31 Foo 2026", "31 Jan 2026, 25:00", "31 Jan 2027"])
  func `others are refused`(text: String) {
    #expect(throws: CommandError.self) { _ = try HistoryStart(typed: text, now: Self.now) }
  }
}
