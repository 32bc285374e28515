import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorHTTP
@testable import AggregatorKit

/// ``JSONText`` accepts and decodes what Foundation's decoder does, with the exceptions that it documents.
@Suite(.timeLimit(.minutes(10)))
struct JSONTextTests {
  @Test(arguments: [
    "null", "true", "false", "0", "-0", "1.5", "-12e3", "1E+2", "1e-7", "\"\"", "\"a\"", "[]", "{}",
    " [ 1 , 2 ] ", "\n\t\r {\"a\" : [ ] , \"b\":{}}\n", "\u{FEFF}[1]", #""\"\\\/\b\f\n\r\t\u00e9""#,
    #""\ud83d\ude00""#, "\"\u{7F}é한😀\u{2028}\"", #"{"a":{"b":[1,{"c":null}]}}"#, #"{"a":1,"a":2}"#,
    #"{"\u0061":1}"#, "[[[[]]]]", #"[{"":1}]"#,
  ])
  func `scans JSON`(text: String) throws {
    try #require(JSONText(Data(text.utf8)) != nil)
    #expect(try read(JSON.self, text) == foundation(JSON.self, text))
  }

  @Test(arguments: [
    "", " ", "nul", "nulll", "tru", "+1", "01", "-", "1.", ".5", "1e", "1e+", "0x10", "NaN", "\"",
    "\"\\",
    "\"\\u", "\"\\u12", "\"\\u12g4\"", "\"\\x\"", "\"a\nb\"", "\"\u{0}\"", "[", "[1", "[1,", "[1,]",
    "[,1]",
    "[1 2]", "]", "{", "{}}", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1,}", "{a:1}", "{1:1}",
    "{\"a\" 1}",
    "1 2", "[] []", "\u{0}", "[1]\u{0}", "'a'", "/* */ 1", "// 1",
  ])
  func `rejects text that is not JSON`(text: String) {
    #expect(JSONText(Data(text.utf8)) == nil)
  }

  @Test func `rejects deep nesting`() {
    let depth = JSONText.maxDepth
    func nested(_ depth: Int) -> Data {
      Data((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    #expect(JSONText(nested(depth)) != nil)
    #expect(JSONText(nested(depth + 1)) == nil)
    #expect(JSONText(Data(String(repeating: #"{"a":"#, count: 1_000_000).utf8)) == nil)
  }

  @Test func `reads invalid characters as U+FFFD`() throws {
    let broken = Data(#"["a"#.utf8) + [0xFF, 0xC3] + Data(#"b", "\ud800", "\ude00x\ud83d"]"#.utf8)
    let texts = try #require(JSONText(broken)).read([String].self)
    #expect(texts == ["a\u{FFFD}\u{FFFD}b", "\u{FFFD}", "\u{FFFD}x\u{FFFD}"])
  }

  /// Values of every type that a decoder has a function for.
  struct Probe: Codable, Hashable {
    var text: String?
    var bool: Bool?
    var int: Int?
    var int8: Int8?
    var uint16: UInt16?
    var int32: Int32?
    var uint64: UInt64?
    var double: Double?
    var float: Float?
    var date: Date?
    var url: URL?
    var data: Data?
    var decimal: Decimal?
    var list: [Int]?
    var names: [String: Double]?
    var numbers: [Int: String]?
    var nested: [Probe]?
  }

  @Test(arguments: [
    "{}", #"{"text":"a"}"#, #"{"text":1}"#, #"{"text":null}"#, #"{"bool":true}"#, #"{"bool":0}"#,
    #"{"int":1.0}"#, #"{"int":1e2}"#, #"{"int":1.5}"#, #"{"int":9223372036854775807}"#,
    #"{"int":9223372036854775808}"#, #"{"int":"1"}"#, #"{"int8":127}"#, #"{"int8":128}"#,
    #"{"uint16":-1}"#, #"{"uint16":65535}"#, #"{"int32":-2147483648}"#,
    #"{"uint64":18446744073709551615}"#, #"{"double":1}"#, #"{"double":1e400}"#,
    #"{"double":-0.0}"#,
    #"{"double":123456789.123456789}"#, #"{"float":0.1}"#, #"{"float":1e39}"#, #"{"date":1.5}"#,
    #"{"date":"2020-01-01"}"#, #"{"url":"https://example.com/a?b=c"}"#, #"{"url":""}"#,
    #"{"url":7}"#,
    #"{"data":"AQID"}"#, #"{"data":"*"}"#, #"{"decimal":1.10}"#, #"{"decimal":"1"}"#,
    #"{"list":[1,2,3]}"#, #"{"list":[1,null]}"#, #"{"list":{}}"#, #"{"names":{"a":1,"b":2.5}}"#,
    #"{"names":{"a":"b"}}"#, #"{"numbers":{"1":"a"}}"#, #"{"numbers":{"x":"a"}}"#,
    #"{"nested":[{"int":1},{"nested":[{"text":"deep"}]}]}"#, #"{"nested":[{"int":true}]}"#, "[]",
    "null",
    "7",
  ])
  func `reads values as Foundation's decoder does`(text: String) {
    let expected = Result { try foundation(Probe.self, text) }
    let result = Result { try read(Probe.self, text) }
    switch (expected, result) {
    case (.success(let expected), .success(let read)): #expect(read == expected)
    case (.failure(let expected), .failure(let failure)):
      // Foundation has no path for numbers that do not fit, and no type for decimal numbers.
      if !"\(failure)".contains(JSONText.misfit), !text.contains("decimal") {
        #expect(failure.decodingReason(below: 0) == expected.decodingReason(below: 0))
      }
    default: Issue.record("\(text): \(result) instead of \(expected)")
    }
  }

  @Test(arguments: [1, 64, 65, 1000])
  func `finds every member, however many there are`(count: Int) throws {
    let members = (0..<count).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
    let text = #"{\#(members),"k0":-1}"#
    var expected = Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", $0) })
    expected["k0"] = try foundation([String: Int].self, text)["k0"]
    #expect(try read([String: Int].self, text) == expected)
  }

  @Test func `reports the path of an unreadable value`() {
    struct Row: Decodable { var tags: [[String: Int]] }
    let text = #"{"a":[],"rows":[{"tags":[]},{"x":{"y":[1,2]},"tags":[{"b":1},{"c":1,"d":"2"}]}]}"#
    let error = #expect(throws: DecodingError.self) { try read(Reply.self, text) }
    struct Reply: Decodable { var rows: [Row] }
    #expect(
      error?.decodingReason(below: 0) == "rows[1].tags[1].d is text instead of a whole number")
  }

  /// Quadratic time would take minutes here.
  @Test func `a wrong detail in each of many rows takes as long as a right one`() throws {
    struct Row: Decodable {
      let detail: String?
      private enum CodingKeys: CodingKey { case detail }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        detail = try? container.decode(String.self, forKey: .detail)
      }
    }
    let rows = Array(repeating: #"{"detail":1}"#, count: 200_000).joined(separator: ",")
    #expect(try read([Row].self, "[\(rows)]").allSatisfy { $0.detail == nil })
  }

  @Test func `agrees with Foundation on mutated JSON`() throws {
    var random = SeededGenerator(41)
    let sample = Array(
      #"{"a":[1,-2.5e3,"x\n\u00e9",true,null,{"b":"c"}],"d":{"e":[],"f":"\\\"g"},"h":0.1} "#.utf8)
    let spice = Array("{}[]\",:0123456789.eE+-\\untrfals \n/".utf8)
    var (accepted, refused) = (0, 0)
    for _ in 0..<20_000 {
      var bytes = sample
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let position = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes.remove(at: position)
        case 1: bytes.insert(spice.randomElement(using: &random) ?? 0, at: position)
        case 2: bytes[position] = spice.randomElement(using: &random) ?? 0
        default:
          let end = Int.random(in: position..<bytes.count, using: &random)
          bytes.insert(contentsOf: bytes[position..<end], at: position)
        }
      }
      let text = Data(bytes)
      let expected = try? JSONDecoder().decode(JSON.self, from: text)
      let read = try? JSONText(text)?.read(JSON.self)
      if read == nil { refused += 1 } else { accepted += 1 }
      let words = String(decoding: bytes, as: UTF8.self)
      // Lone surrogates are U+FFFD here and an error there, and trailing commas are accepted there.
      if expected != read, !words.contains(/\\u[dD][89a-fA-F]|,\s*\}/) {
        Issue.record(
          "\(words): \(String(describing: read)) instead of \(String(describing: expected))")
      }
    }
    #expect(accepted > 1000 && refused > 1000)
  }

  @Test func `finds whole numbers of which digits are lost`() throws {
    let kept =
      #"[9223372036854775807, -9223372036854775808, 10000000000000000000, 1.5e300, 0.12345678901234567891]"#
    #expect(try #require(JSONText(Data(kept.utf8))).roundedIntegers.isEmpty)
    let text = #"""
      {"n": 1, "list": [{"id": "a", "of": [[1], 9223372036854775808]}, {"id": "b", "deep": {"x": -12345678901234567891}}],
       "last": [12345678901234567891]}
      """#
    let lost = try #require(JSONText(Data(text.utf8)))
    let found = lost.roundedIntegers
    #expect(found.map(\.number) == [0x1p63, -1.2345678901234567891e19, 1.2345678901234567891e19])
    #expect(found.map { lost.nameOfMember(around: $0.index) } == ["of", "x", "last"])
    let alone = try #require(JSONText(Data("[\(String(repeating: "9", count: 400))]".utf8)))
    #expect(alone.roundedIntegers.map(\.number) == [.infinity])
    #expect(alone.nameOfMember(around: 1) == nil)
  }

  private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try #require(JSONText(Data(text.utf8))).read(type)
  }

  private func foundation<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }
}
