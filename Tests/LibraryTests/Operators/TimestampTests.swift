import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorKit

@Suite
struct MomentTests {
  @Test(
    arguments: [
      (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
      (.milliseconds(1_753_000_000_123), 1_753_000_000_123), (.seconds(Int64.max), 1 << 53),
      (.microseconds(-1500), -1), (.seconds(Int64.min), -(1 << 53)),
    ] as [(Duration, Int64)])
  func `is rounded up to whole milliseconds`(time: Duration, milliseconds: Int64) {
    #expect(Timestamp(time).milliseconds == milliseconds)
  }

  @Test(arguments: ["9007199254740993", "-9007199254740993", "9223372036854775807", "1.5", #""1""#])
  func `rejects text that is not a time`(text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Timestamp.self, from: Data(text.utf8))
    }
  }
}
