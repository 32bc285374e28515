import AggregatorKit
import Foundation

/// JSON of any kind.
extension FuzzTarget {
  static let json = [jsonValue, jsonReading, canonicalJSON, jsonSpacing, lossyArray]

  private static let documents = [
    #"{"b":[1,-2.5e3,true,null,"\u00e9\ud83d\ude00"],"a":{"":"x"},"c":[]}"#, "[[1,2],[3]]", "\"x\"",
  ].map { Array($0.utf8) }

  private static let jsonTokens = [
    "{", "}", "[", "]", ":", ",", "\"", "\\u", "\\ud800", "1e", "null",
  ]

  private static let jsonValue = FuzzTarget("json", samples: documents, tokens: jsonTokens) {
    bytes in
    guard let json = JSON(reading: Data(bytes)) else { return }
    let text = json.text
    let bad = text.unicodeScalars.first(where: \.isInvisible)
    try expect(bad == nil, "the text has U+\(String(bad?.value ?? 0, radix: 16))")
    try expect(JSON(reading: Data(text.utf8))?.text == text, "written and read it is another value")
  }

  /// Compares with Foundation, except for the differences documented in ``JSONText``.
  private static let jsonReading = FuzzTarget(
    "json-reading", samples: documents + Samples.replies("Heroes"), tokens: jsonTokens
  ) { bytes in
    let data = Data(bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    let theirs = try? JSONDecoder().decode([String: Small].self, from: data)
    let ours = try? JSONText(data)?.read([String: Small].self)
    // Foundation ignores values that are not decoded.
    let isForeign =
      JSONFormatter.compact(bytes) == nil || String(validating: bytes, as: UTF8.self) == nil
      || text.contains(/\\u[dD][89a-fA-F]/)
      || text.contains(/[eE]-[0-9]{3}|0\.0{300}|[eE]\+?0*[1-9][0-9]|[0-9]{16}[.eE]/)
    try expect(isForeign || theirs == ours, "Foundation reads something else")
  }

  /// Decodes each value as every type that it may have.
  private struct Small: Decodable, Equatable {
    let texts: [String]?
    let integer: Int?
    let byte: UInt8?
    let number: Double?
    let isTrue: Bool?
    let isNull: Bool
    let members: [String: String]?

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      texts = (try? value.decode(String.self)).map { [$0] } ?? (try? value.decode([String].self))
      integer = try? value.decode(Int.self)
      byte = try? value.decode(UInt8.self)
      number = try? value.decode(Double.self)
      isTrue = try? value.decode(Bool.self)
      isNull = value.decodeNil()
      members = try? value.decode([String: String].self)
    }
  }

  private static let canonicalJSON = FuzzTarget(
    "canonical-json", samples: documents, tokens: jsonTokens
  ) { bytes in
    guard let json = JSON(reading: Data(bytes)) else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // It rejects deep nesting.
    guard let theirs = try? encoder.encode(json) else { return }
    let ours = try CanonicalJSON.bytes(of: json)
    try expect(
      JSON(reading: ours) == JSON(reading: theirs),
      "Foundation writes \(Array(theirs).escaped), not \(Array(ours).escaped)")
    let again = try JSON(reading: ours).map { try CanonicalJSON.bytes(of: $0) }
    try expect(again == ours, "written again it is another text")
  }

  private static let jsonSpacing = FuzzTarget(
    "json-spacing", samples: documents, tokens: jsonTokens
  ) { bytes in
    guard let compact = JSONFormatter.compact(bytes) else {
      return try expect(
        JSONFormatter.indented(bytes) == nil, "invalid JSON was indented")
    }
    guard let indented = JSONFormatter.indented(bytes) else {
      throw BrokenInvariant("not indented")
    }
    try expect(JSONFormatter.compact(indented) == compact, "indented it is another text")
    try expect(JSONFormatter.compact(compact) == compact, "compact it is another text")
    try expect(JSONFormatter.indented(indented) == indented, "indented again it is another text")
  }

  private struct Row: Decodable {
    let id: Int
    let name: String?
    let tags: LossyArray<String>?
    let size: Double?
    let kind: JSON?
  }

  private static let lossyArray = FuzzTarget(
    "lossy-array",
    samples: [#"[{"id":1,"name":"a","tags":["x",null],"size":1.5,"kind":{}},{"id":2},{"id":"3"}]"#]
      .map { Array($0.utf8) }, tokens: jsonTokens
  ) { bytes in
    let reply = HTTPResponse(status: 200, body: Data(bytes))
    let rows: LossyArray<Row>
    do throws(SourceError) { rows = try reply.decoded(by: "a service") } catch {
      return try expectHarmless(error)
    }
    try expect(rows.count == rows.elements.count + rows.unreadable.count, "a row is lost")
    let hasReason = rows.unreadable.firstReason != nil
    try expect(hasReason == (rows.unreadable.count > 0), "a row is lost without a reason")
  }
}
