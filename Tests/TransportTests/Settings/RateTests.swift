import AggregatorKit
import Testing

@Suite struct RateTests {
  @Test(
    arguments: [
      ("1/s", "1/s", [(1, 1)]),
      ("1/s 200/h", "1/s 200/h", [(1, 1), (200, 3600)]),
      ("  1/s\t200/h ", "1/s 200/h", [(1, 1), (200, 3600)]),
      ("20000/5m", "20000/5m", [(20_000, 300)]),
      ("60/60s", "60/m", [(60, 60)]),
      ("1/90m", "1/90m", [(1, 5400)]),
      // A quotient of durations would be a little less than 127.
      ("2/127h", "2/127h", [(2, 457_200)]),
      ("999999999/999999h", "999999999/999999h", [(999_999_999, 3_599_996_400)]),
    ] as [(String, String, [(Int, Int64)])])
  func `reads a rate and writes its shortest form`(
    text: String, short: String, bounds: [(Int, Int64)]
  )
    throws
  {
    let rate = try #require(Rate(text))
    #expect(rate.bounds.map(\.count) == bounds.map(\.0))
    #expect(rate.bounds.map(\.period) == bounds.map { .seconds($0.1) })
    #expect(rate.description == short)
    #expect(Rate(rate.description) == rate)
  }

  @Test func `is made of numbers`() {
    #expect(Rate(5, per: .seconds(1)) == Rate("5/s"))
    #expect(
      Rate(.init(1, per: .seconds(60)), .init(999_999_999, per: .seconds(999_999)))
        == Rate("1/m 999999999/999999s"))
    let longest = Rate(1, per: .seconds(999_999))
    #expect(Rate(longest.description) == longest)
  }

  @Test(arguments: [
    "", " ", "1", "1/", "/s", "0/s", "1/0s", "-1/s", "+1/s", "1/+5s", "1/d", "1/s/s", "1 /s",
    "1.5/s",
    "1/S", "off", "1000000000/s", "1/1000000s", "١/s", "1/s,2/h", "99999999999999999999/s",
  ])
  func `rejects other text`(text: String) {
    #expect(Rate(text) == nil)
  }
}
