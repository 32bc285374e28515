import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorKit

/// The store compares bytes, and those of older stores are from Foundation's encoder.
@Suite
struct CanonicalJSONTests {
  @Test(arguments: [
    "null", "true", "0", "-7", "1.5", "1e20", "-0.0", "1e-7", "123456789.123",
    "9223372036854775807",
    "[]", "[1,[2,[]]]", "{}", #"{"b":1,"a":{"é":2,"z":3,"Z":4,"a b":[null]}}"#,
    #"{"a10":1,"a9":2,"_":3,"":4}"#,
  ])
  func `writes the bytes of Foundation's encoder`(text: String) throws {
    let value = JSON(try #require(JSONText(Data(text.utf8))))
    #expect(try CanonicalJSON.bytes(of: value) == foundation(value))
    #expect(try CanonicalJSON.bytes(of: ["in": value]) == foundation(["in": value]))
  }

  @Test(arguments: [
    #"{"b":[{"d":1.0,"c":2}],"a":"x","b":7}"#, "[1e999,{\"z\":-0.0,\"é\":1e20}]",
    "9007199254740993",
    "null", #"{"a":{},"A":[]}"#,
  ])
  func `reads the canonical form in one pass`(text: String) throws {
    let parts = try #require(JSONText(Data(text.utf8)))
    let value = JSON(canonical: parts)
    #expect(value == JSON(parts).canonical)
    #expect(value.canonical == value)
    #expect(try JSON(reading: CanonicalJSON.bytes(of: value)) == value)
  }

  @Test func `reads the objects of a list as it reads each of them`() throws {
    var random = SeededGenerator(7)
    // Also two compositions of one letter, an escape, and so many names that they are those of a map.
    let names =
      ["b", "a", "é", "e\u{301}", #"\u0061"#, "the longest name of all", ""]
      + (0..<120).map { "key \($0)" }
    func value(_ depth: Int) -> String {
      switch Int.random(in: 0..<(depth > 3 ? 4 : 8), using: &random) {
      case 0: "null"
      case 1: "-\(Int.random(in: 0...Int.max, using: &random))"
      case 2: "1.50"
      case 3: #""text""#
      case 4: "[" + (0..<2).map { _ in value(depth + 1) }.joined(separator: ",") + "]"
      default: object(depth + 1, Int.random(in: 0..<6, using: &random))
      }
    }
    func object(_ depth: Int, _ count: Int) -> String {
      let known = depth == 2 && count == 5 ? names[...] : names.prefix(7)
      let members = (0..<count * (known.count > 7 ? 30 : 1)).map { _ in
        "\"\(known.randomElement(using: &random) ?? "")\":\(value(depth + 1))"
      }
      return "{\(members.joined(separator: ","))}"
    }
    for _ in 0..<300 {
      let objects = (0..<8).map { _ in object(1, Int.random(in: 0..<7, using: &random)) }
      let list = try #require(JSONText(Data("[\(objects.joined(separator: ","))]".utf8)))
      let each = try objects.map { JSON(try #require(JSONText(Data($0.utf8)))) }
      #expect(Array(JSON(list).text.utf8) == Array(JSON.array(each).text.utf8))
      let canonical = JSON.array(each.map(\.canonical))
      #expect(Array(JSON(canonical: list).text.utf8) == Array(canonical.text.utf8))
    }
  }

  @Test func `writes the first of several members with one name`() throws {
    let value = JSON(try #require(JSONText(Data(#"{"b":1,"a":2,"b":{"d":3},"a":4}"#.utf8))))
    #expect(try CanonicalJSON.text(of: value) == #"{"a":2,"b":1}"#)
  }

  @Test(arguments: ["", "a/b", "\"\\", "\u{8}\u{C}\n\r\t\u{1}\u{1F}\u{7F}", "é한😀\u{2028}"])
  func `writes text as Foundation's encoder does`(text: String) throws {
    #expect(try CanonicalJSON.bytes(of: text) == foundation(text))
    #expect(try CanonicalJSON.bytes(of: [text: text]) == foundation([text: text]))
  }

  @Test func `writes every type as Foundation's encoder does`() throws {
    let probe = JSONTextTests.Probe(
      text: "x", bool: false, int: -1, int8: .min, uint16: 7, int32: 8, uint64: .max, double: 0.1,
      float: 0.1, date: Date(timeIntervalSinceReferenceDate: 12.25),
      url: URL(string: "https://example.com/a b?c=d"), data: Data([1, 2, 255]), decimal: 1.10,
      list: [3, 1, 2], names: ["b": 1, "a": 2], numbers: [2: "b", 1: "a"],
      nested: [.init(text: "in"), .init()])
    #expect(try CanonicalJSON.bytes(of: probe) == foundation(probe))
    #expect(try JSONText(CanonicalJSON.bytes(of: probe))?.read() == probe)
  }

  /// Fills containers alternately, and uses super encoders.
  private struct Interleaved: Encodable {
    enum Key: String, CodingKey { case a, b, list, object, same }

    func encode(to encoder: any Encoder) throws {
      var first = encoder.container(keyedBy: Key.self)
      var list = first.nestedUnkeyedContainer(forKey: .list)
      var object = first.nestedContainer(keyedBy: Key.self, forKey: .object)
      try list.encode(1)
      try object.encode("x", forKey: .b)
      try first.encodeNil(forKey: .b)
      try list.encodeNil()
      var inner = list.nestedContainer(keyedBy: Key.self)
      try inner.encode(true, forKey: .a)
      var innermost = list.nestedUnkeyedContainer()
      try innermost.encode(["k": 1.0])
      try 5.encode(to: list.superEncoder())
      try "up".encode(to: first.superEncoder())
      try [1].encode(to: object.superEncoder(forKey: .a))
      var second = encoder.container(keyedBy: Key.self)
      try second.encode(1, forKey: .same)
      try second.encode(2, forKey: .same)
      try second.encodeIfPresent(nil as Int?, forKey: .a)
    }
  }

  @Test func `encodes containers that are filled alternately`() throws {
    let text = String(decoding: try CanonicalJSON.bytes(of: Interleaved()), as: UTF8.self)
    #expect(
      text == #"{"b":null,"list":[1,null,{"a":true},[{"k":1}],5],"object":{"a":[1],"b":"x"},"#
        + #""same":2,"super":"up"}"#)
    #expect(try CanonicalJSON.bytes(of: Interleaved()) == foundation(Interleaved()))
  }

  private struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }

  @Test func `encodes a value without contents as an empty object`() throws {
    #expect(try CanonicalJSON.bytes(of: Nothing()) == Data("{}".utf8))
    #expect(try CanonicalJSON.bytes(of: [Nothing()]) == foundation([Nothing()]))
  }

  @Test(arguments: [Double.nan, .infinity])
  func `rejects numbers that JSON does not have`(number: Double) {
    let error = #expect(throws: EncodingError.self) {
      try CanonicalJSON.bytes(of: ["a": [number]])
    }
    #expect(throws: EncodingError.self) {
      try CanonicalJSON.bytes(of: ["a": [.object([.init("b", .number(number))])]] as JSON)
    }
    guard case .invalidValue(_, let context) = error else { return }
    #expect(context.codingPath.map(\.stringValue).first == "a")
  }

  private func foundation(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }
}
