import AggregatorKit
import Testing

@Suite
struct DurationWordsTests {
  @Test(arguments: [
    (Duration.seconds(-5), "0 s"), (.zero, "0 s"), (.nanoseconds(1), "1 ms"),
    (.milliseconds(500), "500 ms"), (.microseconds(500_001), "501 ms"),
    (.milliseconds(999), "999 ms"),
    (.microseconds(999_001), "1 s"), (.seconds(1), "1 s"), (.milliseconds(1001), "1.1 s"),
    (.milliseconds(1400), "1.4 s"),
    (.milliseconds(1950), "2 s"), (.milliseconds(9950), "10 s"), (.seconds(9), "9 s"),
    (.seconds(119), "119 s"), (.milliseconds(119_001), "2 min"), (.seconds(120), "2 min"),
    (.seconds(121), "3 min"),
    (.seconds(7140), "119 min"), (.seconds(7199), "2 h"), (.seconds(7200), "2 h"),
    (.seconds(7201), "3 h"),
    (.seconds(86_400), "24 h"), (.seconds(Int64.max), "a very long time"),
  ])
  func `is rounded up in words`(duration: Duration, words: String) {
    #expect(duration.text == words)
  }
}
