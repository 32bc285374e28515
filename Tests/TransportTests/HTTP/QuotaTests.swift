import AggregatorKit
import Foundation
import Testing

/// The pauses that header fields of a quota demand.
struct QuotaTests {
  private static let now = Date(timeIntervalSince1970: 1_700_000_000)

  private static func response(_ fields: [(String, String)], status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, headers: fields.map { (name: $0.0, value: $0.1) })
  }

  private static let day = Duration.seconds(86_400)

  static let fields: [([(String, String)], Duration?)] = [
    // The draft of the IETF, in its present form and in earlier ones.
    ([("RateLimit", #""p";r=0;t=30"#)], .seconds(30)),
    ([("RateLimit", #""p"; r=0; t=30"#)], .seconds(30)),
    ([("RateLimit", #""p";r=0;pk=:cGs=:;t=30"#)], .seconds(30)),
    ([("RateLimit", "default;r=0;t=30")], .seconds(30)),
    ([("RateLimit", #""a;r=0;t=9,b";r=1;t=30"#)], nil),
    ([("RateLimit", #""a\";r=0;t=9";r=1;t=30"#)], nil),
    ([("RateLimit", #""burst";r=0;t=5, "day";r=90;t=4000"#)], .seconds(5)),
    ([("RateLimit", #""burst";r=0;t=5"#), ("RateLimit", #""day";r=0;t=4000"#)], .seconds(4000)),
    ([("RateLimit", #""p";r=1;t=30"#)], nil),
    ([("RateLimit", #""p";r=0"#)], nil),
    ([("RateLimit", "limit=100, remaining=0, reset=30")], .seconds(30)),
    ([("RateLimit", "limit=100, remaining=7, reset=30")], nil),
    ([("RateLimit-Remaining", "0"), ("RateLimit-Reset", "30")], .seconds(30)),
    ([("RateLimit-Remaining", "1"), ("RateLimit-Reset", "30")], nil),
    // The older fields: seconds, or a time.
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "30")], .seconds(30)),
    ([("X-RateLimit-Remaining", " 00 "), ("X-RateLimit-Reset", " 30 ")], .seconds(30)),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "0.4")], .seconds(1)),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1700000030")], .seconds(30)),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1700000030.5")], .seconds(31)),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1700000030000")], .seconds(30)),
    (
      [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "2023-11-14T22:13:50Z")], .seconds(30)
    ),
    (
      [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "Tue, 14 Nov 2023 22:13:50 GMT")],
      .seconds(30)
    ),
    ([("X-Rate-Limit-Remaining", "0"), ("X-Rate-Limit-Reset", "1700000030")], .seconds(30)),
    ([("X-RateLimit-Remaining", "0")], nil),
    ([("X-RateLimit-Reset", "30")], nil),
    // Several quotas.
    (
      [
        ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "30"),
        ("RateLimit", #""p";r=0;t=40"#),
      ], .seconds(40)
    ),
    // What is past, or no number, or too large.
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1699999990")], nil),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1600000000")], nil),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "0")], nil),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "-30")], nil),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "soon")], nil),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "")], nil),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", ".")], nil),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1e3")], nil),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "nan")], nil),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "0x10")], nil),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "90000")], day),
    ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1800000000")], day),
    (
      [
        ("X-RateLimit-Remaining", "0"),
        ("X-RateLimit-Reset", String(repeating: "9", count: 5000)),
      ], day
    ),
    ([("RateLimit", "\"p\";r=0;t=\(String(repeating: "9", count: 5000))")], day),
    ([("X-RateLimit-Remaining", "-1"), ("X-RateLimit-Reset", "30")], nil),
    ([("X-RateLimit-Remaining", ""), ("X-RateLimit-Reset", "30")], nil),
    ([("X-RateLimit-Remaining", "٠"), ("X-RateLimit-Reset", "30")], nil),
    ([("RateLimit", #""p";r=-1;t=30"#)], nil), ([("RateLimit", #""p";r=0;t=-30"#)], nil),
    ([("RateLimit", #""p;r=0;t=30"#)], nil), ([("RateLimit", ";;=,;r==0")], nil),
    ([("RateLimit", "")], nil),
    // A field that is repeated.
    (
      [
        ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "30"),
      ], .seconds(30)
    ),
    (
      [
        ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Remaining", "8"), ("X-RateLimit-Reset", "30"),
      ], nil
    ),
    (
      [
        ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "30"), ("X-RateLimit-Reset", "40"),
      ], nil
    ),
  ]

  @Test(arguments: fields)
  func `a quota without anything left names its reset`(
    fields: [(String, String)], pause: Duration?
  ) {
    #expect(Self.response(fields).quotaPause(from: Self.now) == pause)
    // It is also the wait of a refusal, unless that has a field of its own.
    for status in [403, 429] {
      let refused = Self.response(fields, status: status)
      #expect(refused.retryAfter(from: Self.now) == pause)
      let error = #expect(throws: SourceError.self) {
        try refused.checked(by: "X", now: Self.now)
      }
      if pause != nil || status == 429 { #expect(error?.code == .rateLimited) }
      #expect(error?.retryAfter == pause)
      let precise = Self.response(fields + [("Retry-After", "7")], status: status)
      #expect(precise.retryAfter(from: Self.now) == .seconds(7))
      let unclear = Self.response(fields + [("Retry-After", "soon")], status: status)
      #expect(unclear.retryAfter(from: Self.now) == pause)
    }
  }

  @Test func `a refusal with quota left is none of a rate limit`() {
    let error = #expect(throws: SourceError.self) {
      try Self.response([("RateLimit", #""p";r=5;t=30"#)], status: 403).checked(
        by: "X", now: Self.now)
    }
    #expect(error?.code == .rejected)
  }
}
