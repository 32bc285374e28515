import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorHTTP
@testable import AggregatorText

/// Details in the forms that services send; none of them loses a row.
@Suite struct LenientTests {
  struct Row: Decodable, Equatable {
    let id: Int
    @Lenient var text: String?
    @Lenient var count: Int?
    @Lenient var amount: Double?
    @Lenient var isOpen: Bool?
    @Lenient var tags: [String]?
    @Lenient var time: Date?
  }

  private func row(_ members: String) throws -> Row {
    let body = Data(#"{"id": 1\#(members.isEmpty ? "" : ", ")\#(members)}"#.utf8)
    // Foundation's decoder, too, because a source may use its own.
    let row: Row = try HTTPResponse(status: 200, body: body).decoded(by: "it")
    let again: Row = try HTTPResponse(status: 200, body: body)
      .decoded(by: "it", with: JSONDecoder())
    #expect(row == again)
    return row
  }

  @Test(arguments: [
    "", #""text": null, "count": null, "amount": null, "isOpen": null, "tags": null, "time": null"#,
    #""text": "", "count": "", "amount": "", "isOpen": "", "tags": "", "time": """#,
    #""text": " \n", "count": " ", "amount": " ", "isOpen": " ", "tags": " ", "time": " ""#,
    #""text": {}, "count": {}, "amount": {}, "isOpen": {}, "tags": {}, "time": {}"#,
    #""text": true, "count": "three", "amount": "NaN", "isOpen": 2, "tags": false, "time": "now""#,
    #""text": 1.5, "count": 1.5, "amount": "inf", "isOpen": "on", "tags": 1.5, "time": "12""#,
    #""text": [], "count": [], "amount": [], "isOpen": [], "time": []"#,
  ])
  func `reads none, blank and other forms as nil`(members: String) throws {
    #expect(try row(members) == Row(id: 1))
  }

  @Test(arguments: [(#""a""#, "a"), (#"" a b\n""#, "a b"), ("90210", "90210"), ("-3", "-3")])
  func `reads text`(value: String, text: String) throws {
    #expect(try row(#""text": \#(value)"#).text == text)
  }

  @Test(arguments: [("3", 3), ("3.0", 3), (#""3""#, 3), (#"" -3 ""#, -3), ("0", 0)])
  func `reads whole numbers`(value: String, count: Int) throws {
    #expect(try row(#""count": \#(value)"#).count == count)
  }

  @Test(arguments: [("2.5", 2.5), (#""2.5""#, 2.5), ("7", 7), (#""1e3""#, 1000)])
  func `reads numbers`(value: String, amount: Double) throws {
    #expect(try row(#""amount": \#(value)"#).amount == amount)
  }

  @Test(arguments: [
    ("true", true), (#""True""#, true), ("1", true), (#""1""#, true), ("false", false),
    (#""false""#, false), ("0", false),
  ])
  func `reads flags`(value: String, isOpen: Bool) throws {
    #expect(try row(#""isOpen": \#(value)"#).isOpen == isOpen)
  }

  @Test(arguments: [
    (#"["a", "b"]"#, ["a", "b"]), (#""a""#, ["a"]), ("[]", []),
    (#"["a", null, {}, " ", 7]"#, ["a", "7"]),
  ])
  func `reads a list or a single value`(value: String, tags: [String]) throws {
    #expect(try row(#""tags": \#(value)"#).tags == tags)
  }

  @Test func `stops at a list of very many values of another form`() throws {
    let list = "[" + Array(repeating: "{}", count: 20_000).joined(separator: ",") + "]"
    #expect(try row(#""tags": \#(list)"#).tags == nil)
  }

  @Test(arguments: [
    (#""2026-03-14T06:12:09+02:00""#, "2026-03-14T04:12:09Z"),
    (#""2026-03-14T06:12:09Z""#, "2026-03-14T06:12:09Z"),
    (#""2026-03-14t06:12:09.987654z""#, "2026-03-14T06:12:09Z"),
    (#""2026-03-13 22:12-0800""#, "2026-03-14T06:12:00Z"),
    (#""2026-03-14T06:12:09+02""#, "2026-03-14T04:12:09Z"),
    (#""2026-03-14T06:12:09""#, "2026-03-14T06:12:09Z"),
    (#""2026-03-14""#, "2026-03-14T00:00:00Z"), (#""2024-02-29""#, "2024-02-29T00:00:00Z"),
    (#""0000-02-29""#, "0000-02-29T00:00:00Z"), (#""9999-12-31""#, "9999-12-31T00:00:00Z"),
    (#""Sat, 14 Mar 2026 06:12:09 GMT""#, "2026-03-14T06:12:09Z"),
    ("1773468729", "2026-03-14T06:12:09Z"), (#""1773468729""#, "2026-03-14T06:12:09Z"),
    ("1773468729000", "2026-03-14T06:12:09Z"), ("0", "1970-01-01T00:00:00Z"),
  ])
  func `reads times`(value: String, time: String) throws {
    #expect(try row(#""time": \#(value)"#).time?.iso8601 == time)
  }

  @Test(arguments: [
    "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-3-14", "26-03-14", "2026-03-14T",
    "2026-03-14T24:00", "2026-03-14T06:60", "2026-03-14T06:12:61", "2026-03-14T06:12:09+",
    "2026-03-14T06:12:09+2:00", "2026-03-14T06:12:09 CET", "2026-03-14T06:12:09.", "2026-03-14Z",
    "0000-01-01T00:00+01:00", "٢٠٢٦-03-14", "1e300", "-99999999999999999",
  ])
  func `reads no other text as a time`(text: String) throws {
    #expect(try row(#""time": "\#(text)""#).time == nil)
  }
}

extension LenientTests.Row {
  fileprivate init(id: Int) {
    self.init(id: id, text: nil, count: nil, amount: nil, isOpen: nil, tags: nil, time: nil)
  }
}
