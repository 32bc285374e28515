import AggregatorKit
import Foundation
import Testing

@testable import AggregatorProgramTesting

@Suite struct ISO8601Tests {
  @Test(
    arguments: [
      (1_767_604_364.9, "2026-01-05T09:12:44Z"), (0, "1970-01-01T00:00:00Z"),
      (-0.5, "1969-12-31T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
      (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
      (-62_167_219_200, "0000-01-01T00:00:00Z"), (.infinity, "9999-12-31T23:59:59Z"),
      (.nan, "1970-01-01T00:00:00Z"), (-1e300, "0000-01-01T00:00:00Z"),
    ] as [(Double, String)])
  func `a moment is written in UTC to the second`(seconds: Double, text: String) {
    #expect(Date(timeIntervalSince1970: seconds).iso8601 == text)
  }
}
