import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorHTTP
@testable import AggregatorKit

@Suite
struct DecodedTests {
  struct Reply: Decodable, Equatable {
    var results: [Row]
    var total: Int?
  }

  struct Row: Decodable, Equatable {
    var name: String
    var age: Int?
    var link: URL?
  }

  @Test func `reads invalid UTF-8 as U+FFFD, and loses no row`() throws {
    let body = Data(#"{"results": [{"name": "An\#u{1}n"}, {"name": "Bob"}]}"#.utf8)
    let broken = Data(body.map { $0 == 1 ? 0xFF : $0 })
    let reply: Reply = try HTTPResponse(status: 200, body: broken).decoded(by: "it")
    #expect(reply == Reply(results: [Row(name: "An\u{FFFD}n"), Row(name: "Bob")]))
  }

  @Test(arguments: ["", "\u{FEFF}", " \n\t"])
  func `reads JSON, also after blanks and a byte order mark`(prefix: String) throws {
    let reply = try decode(prefix + #"{"results": [{"name": "Ann"}]}"#)
    #expect(reply == Reply(results: [Row(name: "Ann")]))
  }

  @Test(arguments: [
    (#"{"results": [{"name": "a"}, {"age": 1}]}"#, "results[1].name is missing"),
    (#"{"results": [{"name": null}]}"#, "results[0].name is null"),
    (#"{"results": [{"name": 7}]}"#, "results[0].name is a number instead of text"),
    (
      #"{"results": [{"name": "a", "age": "7"}]}"#,
      "results[0].age is text instead of a whole number"
    ),
    (#"{"results": [{"name": []}]}"#, "results[0].name is a list instead of text"),
    (#"{"results": {}}"#, "results is an object instead of a list"),
    (#"{"results": [true]}"#, "results[0] is true or false instead of an object"),
    (#"{"results": [{"name": "a", "link": ""}]}"#, "results[0].link has an invalid format"),
    ("{}", "results is missing"), ("[]", "the value is a list instead of an object"),
    (
      #"{"results": [], "total": 1.5}"#,
      "total is a number that is not whole or out of range"
    ),
  ])
  func `reports path and reason`(body: String, reason: String) {
    let error = #expect(throws: SourceError.self) { try decode(body) }
    #expect(error?.code == .malformed)
    #expect(error?.message == "invalid response from Countries: \(reason)")
    #expect(error?.cause is DecodingError)
  }

  @Test(arguments: [
    ("", "an empty response instead of JSON"), (" \n", "an empty response instead of JSON"),
    ("\u{FEFF} <html><title>Oops</title>", #"an HTML page instead of JSON: "Oops""#),
    ("<a>", "an HTML page instead of JSON"),
    ("Not Found", #"something that is not JSON: "Not Found""#),
    (#"{"results": ["#, "JSON that ends early"), (#"{"a": "b"#, "JSON that ends early"),
    ("[1, x]", "something that is not JSON"),
    (String(repeating: "[", count: 100_000), "something that is not JSON"),
  ])
  func `reports data that is not JSON`(body: String, what: String) {
    let error = #expect(throws: SourceError.self) { try decode(body) }
    #expect(error?.code == .malformed)
    #expect(error?.message == "Countries sent \(what)")
  }

  @Test func `keeps hostile keys short and harmless`() {
    let body = #"{"a\u001b[31m\#(String(repeating: "k", count: 500))": 1}"#
    let error = #expect(throws: SourceError.self) {
      try HTTPResponse(status: 200, body: Data(body.utf8)).decoded(
        as: [String: String].self, by: "X")
    }
    #expect(error?.message.contains("\u{1B}") == false)
    #expect((error?.message.count ?? 0) < 200)
  }

  @Test func `reads with a decoder of other strategies`() throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    struct Born: Decodable, Equatable { var birthDay: String }
    let body = Data(#"{"birth_day": "An\#u{1}n"}"#.utf8).map { $0 == 1 ? 0xFF : $0 }
    let born = try HTTPResponse(status: 200, body: Data(body)).decoded(
      as: Born.self, by: "it", with: decoder)
    #expect(born == Born(birthDay: "An\u{FFFD}n"))
  }

  @Test func `passes on the errors that a type throws`() {
    struct Picky: Decodable {
      init(from decoder: any Decoder) throws { throw SourceError(.invalidKey, "no such key") }
    }
    let error = #expect(throws: SourceError.self) {
      try HTTPResponse(status: 200, body: Data("{}".utf8)).decoded(as: Picky.self, by: "X")
    }
    #expect(error?.code == .invalidKey)
  }

  private func decode(_ body: String) throws -> Reply {
    try HTTPResponse(status: 200, body: Data(body.utf8)).decoded(by: "Countries")
  }
}

@Suite(.timeLimit(.minutes(10)))
struct LossyArrayTests {
  @Test func `stops at a million invalid rows`() throws {
    let body = "[0" + String(repeating: ",0", count: 999_999) + "]"
    let error = #expect(throws: SourceError.self) {
      let response = HTTPResponse(status: 200, body: Data(body.utf8))
      _ = try response.decoded(as: LossyArray<DecodedTests.Row>.self, by: "it")
    }
    #expect(error?.code == .malformed)
    #expect(error?.message.hasPrefix("10000 rows could not be read (row 1: ") == true)
  }

  @Test(.timeLimit(.minutes(10)))
  func `reads thousands of bad rows after a million good ones in linear time`() throws {
    let good = #"{"name":""},"#
    let body =
      "[" + String(repeating: good, count: 1_000_000) + String(repeating: "{},", count: 9_998)
    let text = try #require(JSONText(Data((body + "{}]").utf8)))
    let rows = try text.read(LossyArray<Row>.self)
    #expect(rows.elements.count == 1_000_000)
    #expect(rows.unreadable.count == 9_999)
    #expect(rows.unreadable.firstReason == "row 1000001: name is missing")
  }

  struct Row: Decodable, Equatable {
    var name: String
    var age: Int?
  }

  @Test(arguments: [
    ("[]", [], UnreadableRows.none),
    (#"[{"name": "a"}, {"name": "b"}]"#, ["a", "b"], .none),
    (
      #"[{"name": "a"}, null, {"name": "c"}]"#, ["a", "c"],
      .init(count: 1, firstReason: "row 2: the value is null")
    ),
    (
      #"[{"name": "a"}, {"name": "b"}, {}, 7, [[]], {"name": 1}, {"name": "g"}]"#, ["a", "b", "g"],
      .init(count: 4, firstReason: "row 3: name is missing")
    ),
    (
      #"["x", {"name": "b"}]"#, ["b"],
      .init(count: 1, firstReason: "row 1: the value is text instead of an object")
    ),
    (
      #"[{"name": "a", "age": 1.5}]"#, [],
      .init(
        count: 1,
        firstReason: "row 1: age is a number that is not whole or out of range")
    ),
  ])
  func `keeps the good rows and counts the others`(
    json: String, names: [String], unreadable: UnreadableRows
  ) throws {
    let rows = try #require(JSONText(Data(json.utf8))).read(LossyArray<Row>.self)
    #expect(rows.elements.map(\.name) == names)
    #expect(rows.unreadable == unreadable)
  }

  @Test func `reports the path within the row, wherever the list is`() throws {
    let json = #"{"data": {"rows": [{"name": true}]}}"#
    let reply = try #require(JSONText(Data(json.utf8)))
      .read([String: [String: LossyArray<Row>]].self)
    let unreadable = reply["data"]?["rows"]?.unreadable
    #expect(unreadable?.firstReason == "row 1: name is true or false instead of text")
  }

  @Test(arguments: ["{}", "7", "\"a\""])
  func `fails without an array`(json: String) {
    #expect(throws: DecodingError.self) {
      try #require(JSONText(Data(json.utf8))).read(LossyArray<Row>.self)
    }
  }
}
